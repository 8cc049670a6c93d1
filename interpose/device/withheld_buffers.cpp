#include "interpose/device/withheld_buffers.hpp"

#include <atomic>

namespace gpuspy::hook {
namespace {

constexpr std::uint32_t kMaxWithheld = 256;
enum Place : std::uint32_t { kFree, kWritten, kThere };
struct Withheld {
    std::atomic<std::uint32_t> place;
    FullBuffer full;
};
constinit Withheld withheld[kMaxWithheld]{};

}  // namespace

bool withhold(const FullBuffer& full) noexcept {
    for (Withheld& one : withheld) {
        std::uint32_t expected = kFree;
        if (!one.place.compare_exchange_strong(expected, kWritten, std::memory_order_acquire)) continue;
        one.full = full;
        one.place.store(kThere, std::memory_order_release);
        return true;
    }
    return false;
}

void hand_on_withheld(void (*hand_on)(const FullBuffer& full) noexcept) noexcept {
    for (Withheld& one : withheld) {
        std::uint32_t expected = kThere;
        if (!one.place.compare_exchange_strong(expected, kWritten, std::memory_order_acquire)) continue;
        const FullBuffer full = one.full;
        one.place.store(kFree, std::memory_order_release);
        hand_on(full);
    }
}

void forget_withheld() noexcept {
    for (Withheld& one : withheld) one.place.store(kFree, std::memory_order_relaxed);
}

}  // namespace gpuspy::hook
