// Driver functions that we call ourselves: never through a hook. Each may be missing in an old driver.
#pragma once

#include "interpose/table/cuda_headers.hpp"

namespace gpuspy::hook {

// FUNCTION(member, exact symbol)
#define GPUSPY_DRIVER_FUNCTIONS(FUNCTION)                                     \
    FUNCTION(driver_get_version, cuDriverGetVersion)                          \
    FUNCTION(get_proc_address, cuGetProcAddress)                              \
    FUNCTION(get_proc_address_v2, cuGetProcAddress_v2)                        \
    FUNCTION(device_get_count, cuDeviceGetCount)                              \
    FUNCTION(device_get, cuDeviceGet)                                         \
    FUNCTION(device_get_name, cuDeviceGetName)                                \
    FUNCTION(device_get_uuid, cuDeviceGetUuid)                                \
    FUNCTION(device_get_attribute, cuDeviceGetAttribute)                      \
    FUNCTION(device_total_mem, cuDeviceTotalMem_v2)                           \
    FUNCTION(device_get_pci_bus_id, cuDeviceGetPCIBusId)                      \
    FUNCTION(stream_get_capture_info_v2, cuStreamGetCaptureInfo_v2)           \
    FUNCTION(stream_get_capture_info_v2_ptsz, cuStreamGetCaptureInfo_v2_ptsz) \
    FUNCTION(stream_get_capture_info_v3, cuStreamGetCaptureInfo_v3)           \
    FUNCTION(stream_get_capture_info_v3_ptsz, cuStreamGetCaptureInfo_v3_ptsz) \
    FUNCTION(graph_get_nodes, cuGraphGetNodes)                                \
    FUNCTION(graph_node_get_enabled, cuGraphNodeGetEnabled)                   \
    FUNCTION(graph_node_get_type, cuGraphNodeGetType)                         \
    FUNCTION(graph_kernel_node_get_params, cuGraphKernelNodeGetParams_v2)     \
    FUNCTION(graph_child_graph_node_get_graph, cuGraphChildGraphNodeGetGraph) \
    FUNCTION(func_get_name, cuFuncGetName)                                    \
    FUNCTION(kernel_get_name, cuKernelGetName)

struct DriverApi {
#define GPUSPY_MEMBER(member, symbol) decltype(&::symbol) member;
    GPUSPY_DRIVER_FUNCTIONS(GPUSPY_MEMBER)
#undef GPUSPY_MEMBER
};

/// From the libcuda whose functions the hooks stand in front of; all nullptr before the process has one.
const DriverApi& driver_api() noexcept;

/// After an unload: if it was that driver, the next one that the process opens has functions of its own.
void forget_unloaded_driver() noexcept;

/// Version of the driver API, as cuDriverGetVersion gives it (13000); 0: not known.
int driver_version() noexcept;

}  // namespace gpuspy::hook
