// Kinds of records that the host has enabled, and where: a kind is the host's until nothing of it is enabled any more.
#pragma once

#include <cstddef>
#include <cstdint>

#include "interpose/device/cupti_api.hpp"

namespace gpuspy::hook {

/// A set of kinds of records. Those beyond 62, of a CUPTI newer than our headers, are one.
using Kinds = std::uint64_t;

constexpr Kinds bit_of(std::uint32_t kind) noexcept {
    return Kinds{1} << (kind < 63 ? kind : 63);
}
static_assert(CUPTI_ACTIVITY_KIND_COUNT < 63);

/// Those that we enable.
inline constexpr CUpti_ActivityKind kOurKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                                   CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET};
inline constexpr Kinds kOurKindBits =
    bit_of(kOurKinds[0]) | bit_of(kOurKinds[1]) | bit_of(kOurKinds[2]) | bit_of(kOurKinds[3]);

/// What of a kind is enabled or disabled by a call.
struct KindScope {
    enum Of : std::uint32_t {
        kEverywhere,  ///< All of it: cuptiActivityEnable.
        kContext,     ///< Of one context: cuptiActivityEnableContext.
        kFunction,    ///< Records of one function's calls: cuptiActivityEnableDriverApi.
    };
    Of of = kEverywhere;
    std::uint64_t id = 0;  ///< The context, or the function's callback id.

    bool operator==(const KindScope&) const = default;
};

/// Kinds that the host has enabled.
Kinds hosts_kinds() noexcept;

/// Returns whether it is new, and not yet enabled in this scope.
bool add_hosts_kind(CUpti_ActivityKind kind, KindScope scope) noexcept;

/// What remains: kinds that the host has enabled.
Kinds remove_hosts_kind(CUpti_ActivityKind kind, KindScope scope) noexcept;

/// A kind of records that the host has enabled at some time: not ours to read, nor to miss.
bool is_hosts_kind(CUpti_ActivityKind kind) noexcept;

/// CUPTI was finalised, or this is a forked child.
void forget_hosts_kinds() noexcept;

}  // namespace gpuspy::hook
