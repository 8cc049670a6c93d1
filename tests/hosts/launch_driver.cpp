// Launches by every function of the driver that launches kernels, bound by the dynamic linker.
#include <cuda.h>

#include "tests/hosts/host.hpp"

extern "C" {
CUresult cuLaunchKernel_ptsz(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                             void**, void**);
CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig*, CUfunction, void**, void**);
}

int main() {
    CUdevice device = 0;
    CUcontext context = nullptr;
    CUmodule module = nullptr;
    CUfunction first = nullptr;
    CUfunction second = nullptr;
    host::must("cuInit", cuInit(0));
    host::must("cuDeviceGet", cuDeviceGet(&device, 0));
    host::must("cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain(&context, device));
    host::must("cuCtxSetCurrent", cuCtxSetCurrent(context));
    host::must("cuModuleLoadData", cuModuleLoadData(&module, "image"));
    host::must("cuModuleGetFunction", cuModuleGetFunction(&first, module, "triton_poi_fused_0"));
    host::must("cuModuleGetFunction", cuModuleGetFunction(&second, module, "triton_red_fused_1"));
    CUlaunchConfig config{};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = 128;
    config.blockDimY = config.blockDimZ = 1;
    for (int i = 0; i < 4; ++i) {
        host::must("cuLaunchKernel", cuLaunchKernel(first, 8, 1, 1, 128, 1, 1, 0, nullptr, nullptr, nullptr));
    }
    for (int i = 0; i < 3; ++i) {
        host::must("cuLaunchKernelEx", cuLaunchKernelEx(&config, second, nullptr, nullptr));
    }
    host::must("cuLaunchKernel_ptsz", cuLaunchKernel_ptsz(first, 8, 1, 1, 128, 1, 1, 0, nullptr, nullptr, nullptr));
    host::must("cuLaunchKernelEx_ptsz", cuLaunchKernelEx_ptsz(&config, second, nullptr, nullptr));
    host::must("cuLaunchCooperativeKernel", cuLaunchCooperativeKernel(first, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr));
    // A kernel of a library, launched as a function.
    CUlibrary library = nullptr;
    CUkernel kernel = nullptr;
    host::must("cuLibraryLoadData", cuLibraryLoadData(&library, "image", nullptr, nullptr, 0, nullptr, nullptr, 0));
    host::must("cuLibraryGetKernel", cuLibraryGetKernel(&kernel, library, "from_library"));
    host::must("cuLaunchKernel",
               cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr));
    host::must("cuCtxSynchronize", cuCtxSynchronize());
    std::printf("launched 11\n");
    return 0;
}
