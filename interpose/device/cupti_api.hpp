// CUPTI, loaded into the host process at run time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "interpose/table/cuda_headers.hpp"

namespace gpuspy::hook {

// FUNCTION(member, exact symbol)
#define GPUSPY_CUPTI_FUNCTIONS(FUNCTION)                         \
    FUNCTION(get_version, cuptiGetVersion)                       \
    FUNCTION(get_timestamp, cuptiGetTimestamp)                   \
    FUNCTION(get_result_string, cuptiGetResultString)            \
    FUNCTION(subscribe, cuptiSubscribe)                          \
    FUNCTION(unsubscribe, cuptiUnsubscribe)                      \
    FUNCTION(enable_callback, cuptiEnableCallback)               \
    FUNCTION(enable_domain, cuptiEnableDomain)                   \
    FUNCTION(register_callbacks, cuptiActivityRegisterCallbacks) \
    FUNCTION(enable, cuptiActivityEnable)                        \
    FUNCTION(disable, cuptiActivityDisable)                      \
    FUNCTION(flush_all, cuptiActivityFlushAll)                   \
    FUNCTION(get_next_record, cuptiActivityGetNextRecord)        \
    FUNCTION(get_dropped, cuptiActivityGetNumDroppedRecords)

// Not in every version that we can use.
#define GPUSPY_CUPTI_OPTIONAL_FUNCTIONS(FUNCTION)      \
    FUNCTION(finalize, cuptiFinalize)                  \
    FUNCTION(get_attribute, cuptiActivityGetAttribute) \
    FUNCTION(get_graph_exec_id, cuptiGetGraphExecId)

struct CuptiApi {
#define GPUSPY_MEMBER(member, symbol) decltype(&::symbol) member;
    GPUSPY_CUPTI_FUNCTIONS(GPUSPY_MEMBER)
    GPUSPY_CUPTI_OPTIONAL_FUNCTIONS(GPUSPY_MEMBER)
#undef GPUSPY_MEMBER
    std::uint32_t version;  ///< As cuptiGetVersion gives it.
    char path[1024];        ///< Where it was loaded from.
};

/// Finds the libcupti that fits this process, loads it and fills `api`. In this order: GPUSPY_CUPTI; the one that the host uses;
/// one that is loaded; beside
/// the loaded cudart (toolkits and wheels); CUDA_HOME, CUDA_PATH, /usr/local/cuda; the loader's path. Of the major version of
/// the loaded cudart, else of the driver, then older ones, then newer ones up to the driver's. False: none; `reason` says
/// what was tried.
bool load_cupti(CuptiApi& api, char* reason, std::size_t reason_bytes) noexcept;

}  // namespace gpuspy::hook
