#include "interpose/record/owners.hpp"

#include <cstddef>

#include "interpose/lifecycle/lock.hpp"
#include "interpose/lifecycle/memory.hpp"

namespace gpuspy::hook {
namespace {

struct Entry {
    std::uint64_t node;
    std::uint64_t launch_id;
};

// 16 MiB of address space, touched as it fills.
constexpr std::size_t kEntryCount = std::size_t{1} << 20;
constexpr std::size_t kMaxProbes = 64;

constinit SpinLock owners_lock;
constinit Entry* entries = nullptr;

/// The node's entry, or an empty one; nullptr: no room near its place.
Entry* find(std::uint64_t node) noexcept {
    if (entries == nullptr) entries = static_cast<Entry*>(map_memory(kEntryCount * sizeof(Entry)));
    if (entries == nullptr) return nullptr;
    std::size_t at = static_cast<std::size_t>((node >> 4) * 0x9e3779b97f4a7c15U >> 44) & (kEntryCount - 1);
    for (std::size_t probe = 0; probe < kMaxProbes; ++probe, at = (at + 1) & (kEntryCount - 1)) {
        if (entries[at].node == node || entries[at].node == 0) return &entries[at];
    }
    return nullptr;
}

}  // namespace

void set_node_owner(std::uint64_t node, std::uint64_t launch_id) noexcept {
    const Locked guard(owners_lock);
    if (Entry* entry = find(node)) *entry = {node, launch_id};
}

std::uint64_t node_owner(std::uint64_t node) noexcept {
    const Locked guard(owners_lock);
    const Entry* entry = find(node);
    return entry != nullptr && entry->node == node ? entry->launch_id : 0;
}

}  // namespace gpuspy::hook
