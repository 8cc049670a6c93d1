// The driver functions that the runtime uses, fetched as the real one does: dlsym("cuGetProcAddress_v2") in a
// libcuda.so.1 that it opens, then each function by cuGetProcAddress_v2, once for the legacy and once for the
// per-thread default stream.
#pragma once

#include <cuda.h>
#include <cudaProfilerTypedefs.h>
#include <cudaTypedefs.h>

// clang-format off
#define SIM_RUNTIME_DRIVER_FUNCTIONS(X)                                                                                  \
    X(cuInit, 2000) X(cuDriverGetVersion, 2020) X(cuDeviceGet, 2000) X(cuDeviceGetCount, 2000) X(cuDeviceGetName, 2000)  \
    X(cuDeviceGetUuid, 11040) X(cuDeviceTotalMem, 3020) X(cuDeviceGetAttribute, 2000) X(cuDeviceGetPCIBusId, 4010)       \
    X(cuDevicePrimaryCtxRetain, 7000) X(cuCtxGetCurrent, 4000) X(cuCtxSetCurrent, 4000) X(cuCtxGetDevice, 2000)          \
    X(cuGetProcAddress, 12000) X(cuProfilerStart, 4000) X(cuProfilerStop, 4000)                                          \
    X(cuModuleLoadData, 2000) X(cuModuleGetFunction, 2000) X(cuModuleGetGlobal, 3020) X(cuModuleUnload, 2000)            \
    X(cuLibraryLoadData, 12000) X(cuLibraryUnload, 12000) X(cuLibraryGetKernel, 12000) X(cuLibraryGetGlobal, 12000)      \
    X(cuLibraryGetKernelCount, 12040) X(cuLibraryEnumerateKernels, 12040)                                                \
    X(cuKernelGetFunction, 12000) X(cuKernelGetName, 12030) X(cuFuncGetName, 12030) X(cuFuncGetAttribute, 2020)          \
    X(cuFuncSetAttribute, 9000)                                                                                          \
    X(cuLaunchKernel, 4000) X(cuLaunchKernelEx, 11060) X(cuLaunchCooperativeKernel, 9000) X(cuLaunchHostFunc, 10000)     \
    X(cuMemAlloc, 3020) X(cuMemFree, 3020) X(cuMemAllocPitch, 3020) X(cuMemAllocManaged, 6000) X(cuMemHostAlloc, 2020)   \
    X(cuMemFreeHost, 2000) X(cuMemHostRegister, 6050) X(cuMemHostUnregister, 4000) X(cuMemHostGetDevicePointer, 3020)    \
    X(cuMemGetInfo, 3020) X(cuMemAllocAsync, 11020) X(cuMemFreeAsync, 11020) X(cuPointerGetAttribute, 4000)              \
    X(cuArray3DCreate, 3020) X(cuArrayDestroy, 2000)                                                                     \
    X(cuMemcpy, 4000) X(cuMemcpyAsync, 4000) X(cuMemcpyHtoD, 3020) X(cuMemcpyHtoDAsync, 3020) X(cuMemcpyDtoH, 3020)      \
    X(cuMemcpyDtoHAsync, 3020) X(cuMemcpyDtoD, 3020) X(cuMemcpyDtoDAsync, 3020) X(cuMemcpy2D, 3020)                      \
    X(cuMemcpy2DAsync, 3020) X(cuMemcpy3D, 3020) X(cuMemcpy3DAsync, 3020) X(cuMemcpyPeer, 4000)                          \
    X(cuMemcpyPeerAsync, 4000)                                                                                           \
    X(cuMemsetD8, 3020) X(cuMemsetD8Async, 3020) X(cuMemsetD2D8, 3020) X(cuMemsetD2D8Async, 3020)                        \
    X(cuStreamCreateWithPriority, 5050) X(cuStreamDestroy, 4000) X(cuStreamSynchronize, 2000) X(cuStreamQuery, 2000)     \
    X(cuStreamWaitEvent, 3020) X(cuStreamGetFlags, 5050) X(cuStreamGetPriority, 5050) X(cuStreamGetId, 12000)            \
    X(cuStreamAddCallback, 5000) X(cuStreamBeginCapture, 10010) X(cuStreamBeginCaptureToGraph, 12030)                    \
    X(cuStreamEndCapture, 10000) X(cuStreamIsCapturing, 10000) X(cuStreamGetCaptureInfo, 12030)                          \
    X(cuStreamUpdateCaptureDependencies, 12030) X(cuThreadExchangeStreamCaptureMode, 10010)                              \
    X(cuEventCreate, 2000) X(cuEventDestroy, 4000) X(cuEventRecord, 2000) X(cuEventRecordWithFlags, 11010)               \
    X(cuEventSynchronize, 2000) X(cuEventQuery, 2000) X(cuEventElapsedTime, 2000)                                        \
    X(cuGraphCreate, 10000) X(cuGraphDestroy, 10000) X(cuGraphClone, 10000) X(cuGraphNodeFindInClone, 10000)             \
    X(cuGraphAddKernelNode, 12000) X(cuGraphAddMemcpyNode, 10000) X(cuGraphAddMemsetNode, 10000)                         \
    X(cuGraphAddHostNode, 10000) X(cuGraphAddChildGraphNode, 10000) X(cuGraphAddEmptyNode, 10000)                        \
    X(cuGraphGetNodes, 10000) X(cuGraphGetEdges, 12030) X(cuGraphNodeGetDependencies, 12030)                             \
    X(cuGraphNodeGetType, 10000) X(cuGraphChildGraphNodeGetGraph, 10000) X(cuGraphKernelNodeGetParams, 12000)            \
    X(cuGraphKernelNodeSetParams, 12000) X(cuGraphExecKernelNodeSetParams, 12000)                                        \
    X(cuGraphInstantiateWithFlags, 11040) X(cuGraphInstantiateWithParams, 12000) X(cuGraphExecUpdate, 12000)             \
    X(cuGraphExecDestroy, 10000) X(cuGraphLaunch, 10000) X(cuGraphUpload, 11010) X(cuGraphNodeSetEnabled, 11060)         \
    X(cuGraphNodeGetEnabled, 11060)
// clang-format on

namespace sim::runtime {

struct Table {
#define SIM_FIELD(name, version) PFN_##name##_v##version name = nullptr;
    SIM_RUNTIME_DRIVER_FUNCTIONS(SIM_FIELD)
#undef SIM_FIELD
    // The base name has different parameters by version; each runtime asks for its own.
#if SIM_CUDART_MAJOR >= 13
    PFN_cuCtxSynchronize_v13000 cuCtxSynchronize = nullptr;
#else
    PFN_cuCtxSynchronize_v2000 cuCtxSynchronize = nullptr;
#endif
};

enum class Binding { kLegacy, kPerThread };

/// The table, or nullptr if there is no driver.
const Table* find_table(Binding binding);

}  // namespace sim::runtime
