// What NVTX (versions 2 and 3) and a tool that it injects say to each other, as nvtxDetail/nvtxTypes.h has it. Written down
// here, because the headers are not part of every CUDA installation; tests/hosts/nvtx_protocol.cpp compares.
//
// Each object of the program that carries NVTX opens the file that NVTX_INJECTION64_PATH names, at its own first NVTX call,
// and calls InitializeInjectionNvtx2 there, once. The tool puts its functions where the object's tables say; what it leaves
// out does nothing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpuspy::hook::nvtx {

using Function = void (*)();

enum ExportTable : std::uint32_t { kCallbacks = 1, kVersionInfo = 3 };
enum Module : int { kCore = 1, kCore2 = 5 };

using GetExportTable = const void* (*)(std::uint32_t table);

struct CallbackTables {
    std::size_t bytes;
    /// `table`: where the pointers to the module's functions lie, by callback id; `size`: ids below it are there. 0: no such
    /// module.
    int (*get)(int module, Function*** table, unsigned* size);
};

struct VersionInfo {
    std::size_t bytes;
    std::uint32_t version;
    std::uint32_t reserved;
    void (*set_injection_version)(std::uint32_t version);
};

inline constexpr std::uint32_t kVersion = 3;

/// NvtxCallbackIdCore
enum CoreId : unsigned {
    kMarkEx = 1,
    kMarkA = 2,
    kMarkW = 3,
    kRangeStartEx = 4,
    kRangeStartA = 5,
    kRangeStartW = 6,
    kRangeEnd = 7,
    kRangePushEx = 8,
    kRangePushA = 9,
    kRangePushW = 10,
    kRangePop = 11,
};

/// NvtxCallbackIdCore2
enum Core2Id : unsigned {
    kDomainMarkEx = 1,
    kDomainRangeStartEx = 2,
    kDomainRangeEnd = 3,
    kDomainRangePushEx = 4,
    kDomainRangePop = 5,
    kDomainRegisterStringA = 10,
    kDomainRegisterStringW = 11,
    kDomainCreateA = 12,
    kDomainCreateW = 13,
    kDomainDestroy = 14,
};

enum MessageType : std::int32_t { kAscii = 1, kUnicode = 2, kRegistered = 3 };

/// nvtxEventAttributes_t; version 1 had the same layout.
struct EventAttributes {
    std::uint16_t version;
    std::uint16_t bytes;
    std::uint32_t category;
    std::int32_t color_type;
    std::uint32_t color;
    std::int32_t payload_type;
    std::int32_t reserved;
    std::uint64_t payload;
    std::int32_t message_type;
    const void* message;
};
static_assert(sizeof(EventAttributes) == 48 && offsetof(EventAttributes, message) == 40);

/// What a push or a pop returns when no tool keeps count: NVTX_NO_PUSH_POP_TRACKING.
inline constexpr int kNoTracking = -2;

}  // namespace gpuspy::hook::nvtx
