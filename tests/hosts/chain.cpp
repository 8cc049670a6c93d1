// A library to be preloaded that stands in front of the runtime's and the driver's launches, finds what comes next by
// RTLD_NEXT, and says at the end how many it saw.
#include <cuda.h>

#include "tests/hosts/host.hpp"

namespace {

int runtime_launches = 0;

struct Report {
    ~Report() { std::fprintf(stderr, "chain: %d\n", runtime_launches); }
};
const Report report;

}  // namespace

extern "C" __attribute__((visibility("default"))) cudaError_t cudaLaunchKernel(const void* function, dim3 grid,
                                                                               dim3 block, void** arguments,
                                                                               std::size_t bytes, cudaStream_t stream) {
    static const auto next = reinterpret_cast<decltype(&cudaLaunchKernel)>(dlsym(RTLD_NEXT, "cudaLaunchKernel"));
    ++runtime_launches;
    return next(function, grid, block, arguments, bytes, stream);
}
