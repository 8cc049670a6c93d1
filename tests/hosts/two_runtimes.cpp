// The runtimes of CUDA 12 and CUDA 13 in one process, each opened with local scope: two originals of each name.
#include "tests/hosts/host.hpp"

namespace {

constexpr unsigned long long kImage[1] = {0};

void use(const char* soname, const char* kernel, int times) {
    void* library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        std::printf("no %s\n", soname);
        std::exit(3);
    }
    const auto load = host::find<void** (*)(void*)>(library, "__cudaRegisterFatBinary");
    const auto add = host::find<decltype(&__cudaRegisterFunction)>(library, "__cudaRegisterFunction");
    const auto launch = host::find<decltype(&cudaLaunchKernel)>(library, "cudaLaunchKernel");
    const auto synchronize = host::find<decltype(&cudaDeviceSynchronize)>(library, "cudaDeviceSynchronize");
    const auto version = host::find<decltype(&cudaRuntimeGetVersion)>(library, "cudaRuntimeGetVersion");
    static __fatBinC_Wrapper_t wrapper{FATBINC_MAGIC, FATBINC_VERSION, kImage, nullptr};
    void** binary = load(&wrapper);
    add(binary, kernel, const_cast<char*>(kernel), kernel, -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    for (int i = 0; i < times; ++i) {
        host::must("cudaLaunchKernel", launch(kernel, dim3(1), dim3(32), nullptr, 0, nullptr));
    }
    host::must("cudaDeviceSynchronize", synchronize());
    int number = 0;
    host::must("cudaRuntimeGetVersion", version(&number));
    std::printf("%s: version %d, launched %d\n", soname, number / 1000, times);
}

}  // namespace

int main() {
    use("libcudart.so.12", "kernel_of_12", 3);
    use("libcudart.so.13", "kernel_of_13", 4);
    use("libcudart.so.12", "kernel_of_12", 2);
    return 0;
}
