// The tables of Nsight Systems' export that say what a number stands for (ENUM_*), with the numbers that we write.
#pragma once

#include <cstdint>

#include "analysis/export/nsys_sqlite/database.hpp"

namespace gpuspy::analysis::nsys {

/// ENUM_NSYS_EVENT_CLASS.
enum class EventClass : std::int64_t { kCudaRuntime = 0, kCudaDriver = 1, kCudnn = 28, kCublas = 29 };

/// ENUM_NSYS_EVENT_TYPE, the part of NVTX_EVENTS (Nsight Systems User Guide, "NVTX Event Type Values").
enum class NvtxType : std::int64_t { kMark = 34, kPushPopRange = 59, kStartEndRange = 60, kDomainCreate = 75 };

/// ENUM_CUPTI_SYNC_TYPE, whose values are CUpti_ActivitySynchronizationType's (cupti_activity.h).
enum class SyncType : std::int64_t {
    kUnknown = 0,
    kEventSynchronize = 1,
    kStreamWaitEvent = 2,
    kStreamSynchronize = 3,
    kContextSynchronize = 4,
};

/// ENUM_CUDA_MEM_KIND of a CUpti_ActivityMemoryKind (cupti_activity.h), which counts from 0 for unknown.
std::int64_t memory_kind(std::uint32_t cupti_kind);

void write_enums(Database& database);

}  // namespace gpuspy::analysis::nsys
