#include "interpose/device/host_kinds.hpp"

#include <atomic>

#include "interpose/lifecycle/lock.hpp"
#include "interpose/record/thread.hpp"

namespace gpuspy::hook {
namespace {

constinit std::atomic<Kinds> kinds{0};
constinit std::atomic<Kinds> all_kinds{0};  ///< That were enabled at any time.

/// A kind that is enabled in part.
struct Part {
    CUpti_ActivityKind kind;
    KindScope scope;
};

// Under the lock.
constinit SetUpLock parts_lock;
constinit Kinds everywhere = 0;
constexpr std::uint32_t kMaxParts = 2048;  ///< CUPTI knows some 1,200 functions of driver and runtime together.
constinit Part parts[kMaxParts]{};
constinit std::uint32_t part_count = 0;

std::uint32_t find_part(CUpti_ActivityKind kind, KindScope scope) noexcept {
    std::uint32_t i = 0;
    while (i < part_count && !(parts[i].kind == kind && parts[i].scope == scope)) ++i;
    return i;
}

void remove_part(std::uint32_t index) noexcept {
    parts[index] = parts[--part_count];
}

/// The kind as a whole overrides what was chosen of its functions, says CUPTI.
void remove_functions(CUpti_ActivityKind kind) noexcept {
    for (std::uint32_t i = part_count; i-- > 0;) {
        if (parts[i].kind == kind && parts[i].scope.of == KindScope::kFunction) remove_part(i);
    }
}

bool has_part(CUpti_ActivityKind kind) noexcept {
    for (std::uint32_t i = 0; i < part_count; ++i) {
        if (bit_of(parts[i].kind) == bit_of(kind)) return true;
    }
    return false;
}

}  // namespace

Kinds hosts_kinds() noexcept {
    return kinds.load(std::memory_order_acquire);
}

bool add_hosts_kind(CUpti_ActivityKind kind, KindScope scope) noexcept {
    const SignalsHeld no_signals;
    const Locked guard(parts_lock);
    all_kinds.fetch_or(bit_of(kind), std::memory_order_relaxed);
    kinds.fetch_or(bit_of(kind), std::memory_order_acq_rel);
    if (scope.of == KindScope::kEverywhere) {
        remove_functions(kind);
        const bool is_new = (everywhere & bit_of(kind)) == 0;
        everywhere |= bit_of(kind);
        return is_new;
    }
    if (find_part(kind, scope) < part_count) return false;
    if (part_count == kMaxParts) {
        // More than are counted: the host's until it disables the kind everywhere.
        everywhere |= bit_of(kind);
        return false;
    }
    parts[part_count++] = {kind, scope};
    return true;
}

Kinds remove_hosts_kind(CUpti_ActivityKind kind, KindScope scope) noexcept {
    const SignalsHeld no_signals;
    const Locked guard(parts_lock);
    if (scope.of == KindScope::kEverywhere) {
        // What was enabled for a context stays: it supersedes what holds everywhere, says CUPTI.
        remove_functions(kind);
        everywhere &= ~bit_of(kind);
    } else if (const std::uint32_t index = find_part(kind, scope); index < part_count) {
        remove_part(index);
    }
    if ((everywhere & bit_of(kind)) == 0 && !has_part(kind)) kinds.fetch_and(~bit_of(kind), std::memory_order_acq_rel);
    return hosts_kinds();
}

bool is_hosts_kind(CUpti_ActivityKind kind) noexcept {
    // Enabled with the other one, and not by itself.
    const CUpti_ActivityKind by =
        kind == CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE ? CUPTI_ACTIVITY_KIND_GRAPH_TRACE : kind;
    return (all_kinds.load(std::memory_order_relaxed) & bit_of(by)) != 0;
}

void forget_hosts_kinds() noexcept {
    const SignalsHeld no_signals;
    const Locked guard(parts_lock);
    everywhere = 0;
    part_count = 0;
    kinds.store(0, std::memory_order_relaxed);
}

}  // namespace gpuspy::hook
