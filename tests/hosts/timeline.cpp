// A timeline whose numbers are known, with SIM_CLOCK=manual. All times in ns of the simulated device.
//   stream A: long 0..5000, short 5000..6000
//   stream B: long 2000..7000                  busy 0..7000, sum 11000
//   pause to 10000; default stream: short 10000..11000, copy 11000..11500 (500), set 11500..11750 (250)
#include "tests/hosts/host.hpp"

namespace {
constexpr host::Kernel kLong{"_Z11long_kernelv"};
constexpr host::Kernel kShort{"_Z12short_kernelv"};
}  // namespace

int main() {
    host::register_kernels({&kLong, &kShort});
    host::set_duration(kLong.name, 5000);
    host::set_duration(kShort.name, 1000);
    void* memory = nullptr;
    cudaStream_t first = nullptr;
    cudaStream_t second = nullptr;
    host::must("cudaMalloc", cudaMalloc(&memory, 4096));
    host::must("cudaStreamCreate", cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    host::must("cudaStreamCreate", cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    host::must("launch", host::launch(kLong, first));
    host::must("launch", host::launch(kShort, first));
    host::advance_ns(2000);
    host::must("launch", host::launch(kLong, second));
    host::must("cudaDeviceSynchronize", cudaDeviceSynchronize());  // At 7000.
    host::advance_ns(3000);
    host::must("launch", host::launch(kShort));
    host::must("cudaMemcpyAsync",
               cudaMemcpyAsync(static_cast<char*>(memory) + 1024, memory, 1000, cudaMemcpyDeviceToDevice, nullptr));
    host::must("cudaMemsetAsync", cudaMemsetAsync(memory, 0, 512, nullptr));
    host::must("cudaStreamSynchronize", cudaStreamSynchronize(nullptr));
    std::printf("done\n");
    return 0;
}
