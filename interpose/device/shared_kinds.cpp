#include "interpose/device/shared_kinds.hpp"

#include <atomic>

#include "interpose/device/host_session.hpp"
#include "interpose/device/shared_buffers.hpp"

namespace gpuspy::hook {
namespace {

constinit std::atomic<bool> has_whole_graphs{false};

}  // namespace

CUptiResult enable_our_kinds(const CuptiApi& api) noexcept {
    CUptiResult result = CUPTI_SUCCESS;
    const bool is_excluded = (hosts_kinds() & bit_of(CUPTI_ACTIVITY_KIND_KERNEL)) != 0;
    for (const CUpti_ActivityKind kind : kOurKinds) {
        if (result != CUPTI_SUCCESS) break;
        if (kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || !is_excluded) result = api.enable(kind);
    }
    return result;
}

bool disable_our_kinds(const CuptiApi& api) noexcept {
    const Kinds hosts = hosts_kinds();
    for (const CUpti_ActivityKind kind : kOurKinds) {
        if ((hosts & bit_of(kind)) == 0) api.disable(kind);
    }
    return (hosts & kOurKindBits) != kOurKindBits;
}

bool host_enables_kind(CUpti_ActivityKind kind, KindScope scope) noexcept {
    const CuptiApi* api = our_records();
    // Either form of kernel records excludes the other. The host wants kernels one by one: it gets what it would get alone.
    if (kind == CUPTI_ACTIVITY_KIND_KERNEL && api != nullptr &&
        (hosts_kinds() & bit_of(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)) == 0) {
        api->disable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    }
    if (kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE) has_whole_graphs.store(true, std::memory_order_relaxed);
    const bool is_new = add_hosts_kind(kind, scope);
    begin_session_if_due();
    return is_new;
}

bool may_disable_kind(CUpti_ActivityKind kind) noexcept {
    return our_records() == nullptr || (bit_of(kind) & kOurKindBits) == 0;
}

void host_disabled_kind(CUpti_ActivityKind kind, KindScope scope) noexcept {
    const Kinds before = hosts_kinds();
    const Kinds left = remove_hosts_kind(kind, scope);
    const CuptiApi* api = our_records();
    if (kind == CUPTI_ACTIVITY_KIND_KERNEL && (left & bit_of(kind)) == 0 && api != nullptr) {
        api->enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    }
    if (before == 0 || left != 0) return;
    end_session();
    // Another thread enabled one meanwhile, and found the session on.
    if (hosts_kinds() != 0) begin_session_if_due();
}

bool set_our_kinds_aside() noexcept {
    const CuptiApi* api = our_records();
    return api != nullptr && disable_our_kinds(*api);
}

void take_our_kinds_back() noexcept {
    if (const CuptiApi* api = our_records()) enable_our_kinds(*api);
}

bool take_whole_graphs() noexcept {
    return has_whole_graphs.load(std::memory_order_relaxed) &&
           has_whole_graphs.exchange(false, std::memory_order_relaxed);
}

}  // namespace gpuspy::hook
