// Launches in forms that today's frameworks leave to others: those of CUDA 2, several devices at once, the largest grid,
// graphs by the driver.
#include <cuda.h>

#include "tests/hosts/host.hpp"

extern "C" CUresult cuGraphLaunch_ptsz(CUgraphExec, CUstream);

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace {

CUfunction kernel_named(CUmodule module, const char* name) {
    CUfunction kernel = nullptr;
    host::must("cuModuleGetFunction", cuModuleGetFunction(&kernel, module, name));
    return kernel;
}

void launch_graph(CUfunction kernel) {
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    CUgraphExec exec = nullptr;
    CUDA_KERNEL_NODE_PARAMS parameters{};
    parameters.func = kernel;
    parameters.gridDimX = parameters.gridDimY = parameters.gridDimZ = 1;
    parameters.blockDimX = parameters.blockDimY = parameters.blockDimZ = 1;
    host::must("cuGraphCreate", cuGraphCreate(&graph, 0));
    host::must("cuGraphAddKernelNode", cuGraphAddKernelNode(&node, graph, nullptr, 0, &parameters));
    host::must("cuGraphInstantiate", cuGraphInstantiate(&exec, graph, 0));
    host::must("cuGraphLaunch", cuGraphLaunch(exec, nullptr));
    host::must("cuGraphLaunch_ptsz", cuGraphLaunch_ptsz(exec, nullptr));
    host::must("cuGraphLaunch_ptsz", cuGraphLaunch_ptsz(exec, nullptr));
}

}  // namespace

int main() {
    CUcontext context = nullptr;
    CUmodule module = nullptr;
    host::must("cuInit", cuInit(0));
    host::must("cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain(&context, 0));
    host::must("cuCtxSetCurrent", cuCtxSetCurrent(context));
    host::must("cuModuleLoadData", cuModuleLoadData(&module, "image"));
    const CUfunction old = kernel_named(module, "old_form");
    host::must("cuFuncSetBlockShape", cuFuncSetBlockShape(old, 32, 1, 1));
    host::must("cuLaunch", cuLaunch(old));
    host::must("cuLaunchGrid", cuLaunchGrid(old, 4, 2));
    host::must("cuLaunchGridAsync", cuLaunchGridAsync(old, 4, 2, nullptr));
    const CUfunction wide = kernel_named(module, "wide_grid");
    host::must("cuLaunchKernel",
               cuLaunchKernel(wide, 2147483647, 65535, 65535, 1024, 1, 1, 0, nullptr, nullptr, nullptr));
    CUstream stream = nullptr;
    host::must("cuStreamCreate", cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUDA_LAUNCH_PARAMS together[2] = {};
    for (CUDA_LAUNCH_PARAMS& one : together) {
        one.function = kernel_named(module, "several");
        one.gridDimX = one.gridDimY = one.gridDimZ = one.blockDimX = one.blockDimY = one.blockDimZ = 1;
        one.hStream = stream;
    }
    host::must("cuLaunchCooperativeKernelMultiDevice", cuLaunchCooperativeKernelMultiDevice(together, 2, 0));
    launch_graph(kernel_named(module, "in_graph"));
    host::must("cuCtxSynchronize", cuCtxSynchronize());
    std::printf("done\n");
    return 0;
}
