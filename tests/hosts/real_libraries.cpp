// The toolkit's own runtime and cuDNN on a machine without a driver: every call says so, the same with a preloaded
// library.
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <dlfcn.h>

#include <cstdio>

namespace {

void use_runtime(void* library) {
    const auto malloc_on_device = reinterpret_cast<cudaError_t (*)(void**, std::size_t)>(dlsym(library, "cudaMalloc"));
    const auto launch = reinterpret_cast<cudaError_t (*)(const void*, dim3, dim3, void**, std::size_t, cudaStream_t)>(
        dlsym(library, "cudaLaunchKernel"));
    const auto count_devices = reinterpret_cast<cudaError_t (*)(int*)>(dlsym(library, "cudaGetDeviceCount"));
    const auto last = reinterpret_cast<cudaError_t (*)()>(dlsym(library, "cudaGetLastError"));
    const auto name_of = reinterpret_cast<const char* (*)(cudaError_t)>(dlsym(library, "cudaGetErrorName"));
    const auto synchronize = reinterpret_cast<cudaError_t (*)()>(dlsym(library, "cudaDeviceSynchronize"));
    const auto copy = reinterpret_cast<cudaError_t (*)(void*, const void*, std::size_t, cudaMemcpyKind)>(
        dlsym(library, "cudaMemcpy"));
    void* pointer = nullptr;
    int count = -1;
    char bytes[8] = {};
    std::printf("cudaGetDeviceCount %s", name_of(count_devices(&count)));
    std::printf(", last %s, count %d\n", name_of(last()), count);
    std::printf("cudaMalloc %s", name_of(malloc_on_device(&pointer, 16)));
    std::printf(", last %s\n", name_of(last()));
    std::printf("cudaLaunchKernel %s", name_of(launch(bytes, dim3(1), dim3(1), nullptr, 0, nullptr)));
    std::printf(", last %s\n", name_of(last()));
    std::printf("cudaMemcpy %s", name_of(copy(bytes, bytes, 8, cudaMemcpyHostToDevice)));
    std::printf(", last %s\n", name_of(last()));
    std::printf("cudaDeviceSynchronize %s", name_of(synchronize()));
    std::printf(", last %s\n", name_of(last()));
}

void use_cudnn(void* library) {
    const auto create = reinterpret_cast<cudnnStatus_t (*)(cudnnHandle_t*)>(dlsym(library, "cudnnCreate"));
    const auto version = reinterpret_cast<std::size_t (*)()>(dlsym(library, "cudnnGetVersion"));
    const auto name_of = reinterpret_cast<const char* (*)(cudnnStatus_t)>(dlsym(library, "cudnnGetErrorString"));
    const auto execute =
        reinterpret_cast<cudnnStatus_t (*)(cudnnHandle_t, cudnnBackendDescriptor_t, cudnnBackendDescriptor_t)>(
            dlsym(library, "cudnnBackendExecute"));
    const auto convolve =
        reinterpret_cast<decltype(&cudnnConvolutionForward)>(dlsym(library, "cudnnConvolutionForward"));
    const auto make_descriptor =
        reinterpret_cast<cudnnStatus_t (*)(cudnnTensorDescriptor_t*)>(dlsym(library, "cudnnCreateTensorDescriptor"));
    cudnnHandle_t handle = nullptr;
    cudnnTensorDescriptor_t descriptor = nullptr;
    std::printf("cudnnGetVersion %s\n", version() > 0 ? "known" : "none");
    std::printf("cudnnCreate %s\n", name_of(create(&handle)));
    std::printf("cudnnCreateTensorDescriptor %s\n", name_of(make_descriptor(&descriptor)));
    std::printf("cudnnBackendExecute %s\n", name_of(execute(nullptr, nullptr, nullptr)));
    std::printf("cudnnConvolutionForward %s\n",
                name_of(convolve(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                 CUDNN_CONVOLUTION_FWD_ALGO_GEMM, nullptr, 0, nullptr, nullptr, nullptr)));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        return 2;
    }
    void* runtime = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    void* cudnn = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
    if (runtime == nullptr || cudnn == nullptr) {
        std::printf("cannot open: %s\n", dlerror());
        return 3;
    }
    use_runtime(runtime);
    use_cudnn(cudnn);
    return 0;
}
