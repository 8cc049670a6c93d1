#include "interpose/device/buffers.hpp"

#include <atomic>

#include "interpose/lifecycle/memory.hpp"
#include "interpose/lifecycle/session.hpp"

namespace gpuspy::hook {
namespace {

enum BufferState : std::uint32_t { kFree, kFilling, kFull, kVisited };

struct Buffer {
    std::atomic<std::uint32_t> state;
    Filled filled;
    std::uint64_t order;  ///< When it was given back.
};

constinit Buffer buffers[kActivityBufferCount]{};
constinit std::uint8_t* memory = nullptr;
constinit std::uint8_t* scratch = nullptr;
constinit std::atomic<std::uint64_t> next_order{1};
constinit std::atomic<bool> zeroes{false};

std::uint8_t* bytes_of(std::size_t index) noexcept {
    return memory + index * kActivityBufferBytes;
}

}  // namespace

bool make_activity_buffers() noexcept {
    if (memory != nullptr) return true;
    auto* mapped = static_cast<std::uint8_t*>(map_memory((kActivityBufferCount + 1) * kActivityBufferBytes));
    if (mapped == nullptr) return false;
    scratch = mapped + kActivityBufferCount * kActivityBufferBytes;
    memory = mapped;
    return true;
}

std::uint8_t* take_activity_buffer() noexcept {
    for (std::size_t i = 0; i < kActivityBufferCount; ++i) {
        std::uint32_t expected = kFree;
        // Acquire pairs with the release that freed it: the drain thread has read what was there.
        if (buffers[i].state.compare_exchange_strong(expected, kFilling, std::memory_order_acquire)) {
            if (zeroes.load(std::memory_order_relaxed)) __builtin_memset(bytes_of(i), 0, kActivityBufferBytes);
            return bytes_of(i);
        }
    }
    return scratch;
}

void give_activity_buffer(std::uint8_t* buffer, const Filled& filled) noexcept {
    if (buffer == scratch) {
        if (filled.bytes > 0) count_loss(abi::LossCause::kScratchBuffer, 1);
        return;
    }
    Buffer& given = buffers[static_cast<std::size_t>(buffer - memory) / kActivityBufferBytes];
    given.filled = filled;
    given.order = next_order.fetch_add(1, std::memory_order_relaxed);
    // Pairs with the acquire in visit_activity_buffers(): publishes the records.
    given.state.store(kFull, std::memory_order_release);
}

bool is_activity_buffer(const std::uint8_t* buffer) noexcept {
    return memory != nullptr && buffer >= memory && buffer <= scratch;
}

bool is_scratch_buffer(const std::uint8_t* buffer) noexcept {
    return buffer == scratch;
}

void visit_activity_buffers(void (*visit)(void* context, std::uint8_t* buffer, const Filled& filled) noexcept,
                            void* context) noexcept {
    for (;;) {
        std::size_t oldest = kActivityBufferCount;
        for (std::size_t i = 0; i < kActivityBufferCount; ++i) {
            if (buffers[i].state.load(std::memory_order_acquire) != kFull) continue;
            if (oldest == kActivityBufferCount || buffers[i].order < buffers[oldest].order) oldest = i;
        }
        if (oldest == kActivityBufferCount) return;
        std::uint32_t expected = kFull;
        // Another thread may be at it: the one that takes CUPTI away, which waits for the drain thread for a limited time.
        if (!buffers[oldest].state.compare_exchange_strong(expected, kVisited, std::memory_order_acquire)) continue;
        visit(context, bytes_of(oldest), buffers[oldest].filled);
        buffers[oldest].state.store(kFree, std::memory_order_release);
    }
}

void zero_activity_buffers() noexcept {
    zeroes.store(true, std::memory_order_relaxed);
}

void forget_activity_buffers() noexcept {
    for (Buffer& buffer : buffers) buffer.state.store(kFree, std::memory_order_relaxed);
}

std::uint32_t activity_buffers_in_flight() noexcept {
    std::uint32_t count = 0;
    for (const Buffer& buffer : buffers) count += buffer.state.load(std::memory_order_relaxed) == kFilling ? 1 : 0;
    return count;
}

}  // namespace gpuspy::hook
