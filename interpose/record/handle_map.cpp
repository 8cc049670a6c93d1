#include "interpose/record/handle_map.hpp"

#include "interpose/lifecycle/memory.hpp"

namespace gpuspy::hook {
namespace {

constexpr unsigned kEntryBits = 20;
constexpr std::size_t kEntryCount = std::size_t{1} << kEntryBits;
constexpr std::size_t kMaxProbes = 64;

}  // namespace

/// The handle's entry, or an empty one; nullptr: no memory, or no room near its place.
HandleMap::Entry* HandleMap::find(std::uint64_t handle) noexcept {
    if (entries_ == nullptr) return nullptr;
    // Handles are addresses: their lowest bits say nothing.
    std::size_t at = static_cast<std::size_t>((handle >> 4) * 0x9e3779b97f4a7c15U >> (64 - kEntryBits));
    for (std::size_t probe = 0; probe < kMaxProbes; ++probe, at = (at + 1) % kEntryCount) {
        if (entries_[at].handle == handle || entries_[at].handle == 0) return &entries_[at];
    }
    return nullptr;
}

void HandleMap::set(std::uint64_t handle, std::uint64_t value) noexcept {
    const Locked guard(lock_);
    if (entries_ == nullptr) entries_ = static_cast<Entry*>(map_memory(kEntryCount * sizeof(Entry)));
    if (Entry* entry = find(handle)) *entry = {handle, value};
}

std::uint64_t HandleMap::get(std::uint64_t handle) noexcept {
    const Locked guard(lock_);
    const Entry* entry = find(handle);
    return entry != nullptr && entry->handle == handle ? entry->value : 0;
}

}  // namespace gpuspy::hook
