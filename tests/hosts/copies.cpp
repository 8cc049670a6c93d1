// Copies and sets in all directions, with what they copied.
#include <cuda.h>

#include <cstring>

#include "tests/hosts/host.hpp"

namespace {

constexpr std::size_t kBytes = 1000;

void check(const char* what, bool right) {
    std::printf("%s: %s\n", what, right ? "right" : "WRONG");
}

}  // namespace

int main() {
    char source[kBytes];
    char result[kBytes] = {};
    std::memset(source, 7, sizeof source);
    void* first = nullptr;
    void* second = nullptr;
    void* pinned = nullptr;
    cudaStream_t stream = nullptr;
    host::must("cudaMalloc", cudaMalloc(&first, kBytes));
    host::must("cudaMalloc", cudaMalloc(&second, kBytes));
    host::must("cudaMallocHost", cudaMallocHost(&pinned, kBytes));
    host::must("cudaStreamCreate", cudaStreamCreate(&stream));

    // HtoD: 1000 + 500. DtoD: 1000. DtoH: 1000 + 500 + 100. Default: 10 HtoD.
    host::must("HtoD", cudaMemcpy(first, source, kBytes, cudaMemcpyHostToDevice));
    host::must("DtoD", cudaMemcpy(second, first, kBytes, cudaMemcpyDeviceToDevice));
    host::must("DtoH", cudaMemcpy(result, second, kBytes, cudaMemcpyDeviceToHost));
    check("round trip", std::memcmp(source, result, kBytes) == 0);
    std::memset(pinned, 9, kBytes);
    host::must("HtoD async", cudaMemcpyAsync(first, pinned, 500, cudaMemcpyHostToDevice, stream));
    host::must("DtoH async", cudaMemcpyAsync(pinned, second, 500, cudaMemcpyDeviceToHost, stream));
    host::must("cudaStreamSynchronize", cudaStreamSynchronize(stream));
    check("async", static_cast<char*>(pinned)[0] == 7 && static_cast<char*>(first)[499] == 9);
    host::must("default", cudaMemcpy(first, source, 10, cudaMemcpyDefault));
    host::must("cuMemcpyDtoH", cuMemcpyDtoH(result, reinterpret_cast<CUdeviceptr>(second), 100));
    // Two rows of 50 bytes, DtoD.
    host::must("2D", cudaMemcpy2D(first, 100, second, 200, 50, 2, cudaMemcpyDeviceToDevice));
    // Sets: 1000, 256 and 4 * 25 bytes.
    host::must("cudaMemset", cudaMemset(first, 1, kBytes));
    host::must("cudaMemsetAsync", cudaMemsetAsync(second, 2, 256, stream));
    host::must("cuMemsetD32", cuMemsetD32(reinterpret_cast<CUdeviceptr>(second), 0x05050505, 25));
    host::must("cudaDeviceSynchronize", cudaDeviceSynchronize());
    check("sets", static_cast<char*>(first)[999] == 1 && static_cast<char*>(second)[99] == 5 &&
                      static_cast<char*>(second)[100] == 2);
    // Nothing to copy is not a copy.
    host::must("empty", cudaMemcpy(first, source, 0, cudaMemcpyHostToDevice));
    host::must("cudaFree", cudaFree(first));
    host::must("cudaFree", cudaFree(second));
    host::must("cudaFreeHost", cudaFreeHost(pinned));
    return 0;
}
