// interpose/nvtx/protocol.hpp is what the vendor's headers say. Compiled, never run.
#include "interpose/nvtx/protocol.hpp"

#include <nvtx3/nvToolsExt.h>

#include <cstddef>
#include <type_traits>

namespace ours = gpuspy::hook::nvtx;

template <class Id>
constexpr bool is_same(Id mine, int theirs) {
    return static_cast<int>(mine) == theirs;
}

static_assert(is_same(ours::kCallbacks, NVTX_ETID_CALLBACKS) && is_same(ours::kVersionInfo, NVTX_ETID_VERSIONINFO));
static_assert(is_same(ours::kCore, NVTX_CB_MODULE_CORE) && is_same(ours::kCore2, NVTX_CB_MODULE_CORE2));
static_assert(is_same(ours::kMarkEx, NVTX_CBID_CORE_MarkEx) && is_same(ours::kMarkA, NVTX_CBID_CORE_MarkA) &&
              is_same(ours::kMarkW, NVTX_CBID_CORE_MarkW));
static_assert(is_same(ours::kRangeStartEx, NVTX_CBID_CORE_RangeStartEx) &&
              is_same(ours::kRangeStartA, NVTX_CBID_CORE_RangeStartA) &&
              is_same(ours::kRangeStartW, NVTX_CBID_CORE_RangeStartW) &&
              is_same(ours::kRangeEnd, NVTX_CBID_CORE_RangeEnd));
static_assert(is_same(ours::kRangePushEx, NVTX_CBID_CORE_RangePushEx) &&
              is_same(ours::kRangePushA, NVTX_CBID_CORE_RangePushA) &&
              is_same(ours::kRangePushW, NVTX_CBID_CORE_RangePushW) &&
              is_same(ours::kRangePop, NVTX_CBID_CORE_RangePop));
static_assert(is_same(ours::kDomainMarkEx, NVTX_CBID_CORE2_DomainMarkEx) &&
              is_same(ours::kDomainRangeStartEx, NVTX_CBID_CORE2_DomainRangeStartEx) &&
              is_same(ours::kDomainRangeEnd, NVTX_CBID_CORE2_DomainRangeEnd) &&
              is_same(ours::kDomainRangePushEx, NVTX_CBID_CORE2_DomainRangePushEx) &&
              is_same(ours::kDomainRangePop, NVTX_CBID_CORE2_DomainRangePop));
static_assert(is_same(ours::kDomainRegisterStringA, NVTX_CBID_CORE2_DomainRegisterStringA) &&
              is_same(ours::kDomainRegisterStringW, NVTX_CBID_CORE2_DomainRegisterStringW) &&
              is_same(ours::kDomainCreateA, NVTX_CBID_CORE2_DomainCreateA) &&
              is_same(ours::kDomainCreateW, NVTX_CBID_CORE2_DomainCreateW) &&
              is_same(ours::kDomainDestroy, NVTX_CBID_CORE2_DomainDestroy));
static_assert(is_same(ours::kAscii, NVTX_MESSAGE_TYPE_ASCII) && is_same(ours::kUnicode, NVTX_MESSAGE_TYPE_UNICODE) &&
              is_same(ours::kRegistered, NVTX_MESSAGE_TYPE_REGISTERED));
static_assert(is_same(ours::kNoTracking, NVTX_NO_PUSH_POP_TRACKING));
static_assert(ours::kVersion == NVTX_VERSION);

static_assert(sizeof(ours::EventAttributes) == sizeof(nvtxEventAttributes_t));
static_assert(offsetof(ours::EventAttributes, bytes) == offsetof(nvtxEventAttributes_t, size));
static_assert(offsetof(ours::EventAttributes, message_type) == offsetof(nvtxEventAttributes_t, messageType));
static_assert(offsetof(ours::EventAttributes, message) == offsetof(nvtxEventAttributes_t, message));
static_assert(sizeof(ours::CallbackTables) == sizeof(NvtxExportTableCallbacks));
static_assert(offsetof(ours::CallbackTables, get) == offsetof(NvtxExportTableCallbacks, GetModuleFunctionTable));
static_assert(sizeof(ours::VersionInfo) == sizeof(NvtxExportTableVersionInfo));
static_assert(offsetof(ours::VersionInfo, set_injection_version) ==
              offsetof(NvtxExportTableVersionInfo, SetInjectionNvtxVersion));
static_assert(std::is_same_v<nvtxRangeId_t, std::uint64_t>);
