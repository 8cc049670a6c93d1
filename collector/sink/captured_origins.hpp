// Whose work captured launches are: what a replayed graph's kernels take their owners from (analysis/model/owners.hpp says
// how). A flight recorder keeps it, since the calls themselves may lie before the part that is kept.
//
// Fixed memory from the kernel, touched as used: the last kMost captured launches. For one thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/abi/event.hpp"
#include "collector/abi/ring_layout.hpp"

namespace gpuspy::sink {

struct CapturedOrigin {
    std::uint64_t launch_id;
    std::uint64_t caller;  ///< Of the outermost call around it, or its own.
    std::uint64_t ticks;   ///< When that call began.
    std::uint32_t ring;
    std::uint16_t library_api;  ///< Of the outermost library call around it + 1; 0: none.
    std::uint8_t depth;         ///< Of the outermost call so far: calls around it are seen after it.
};

class CapturedOrigins {
public:
    constexpr CapturedOrigins() noexcept = default;
    CapturedOrigins(const CapturedOrigins&) = delete;
    CapturedOrigins& operator=(const CapturedOrigins&) = delete;

    /// `apis` as for the encoder. 0 or an errno value.
    int init(const abi::ApiEntry* apis, std::uint32_t api_count) noexcept;
    void destroy() noexcept;

    /// A call of ring `ring`, in the order of the ring.
    void note(std::uint32_t ring, const abi::CallEvent& call) noexcept;

    template <class Visit>
    void visit(Visit&& visit) const noexcept {
        for (std::uint64_t at = oldest(); at < count_; ++at) {
            visit(origins_[at % kMost]);
        }
    }

    static constexpr std::uint64_t kMost = 1U << 18;

private:
    /// Launches of a ring whose outermost call has not returned: among origins_[first, end).
    struct Open {
        std::uint64_t first, end;
    };
    std::uint64_t oldest() const noexcept { return count_ < kMost ? 0 : count_ - kMost; }

    CapturedOrigin* origins_ = nullptr;
    Open* open_ = nullptr;  ///< By ring.
    std::uint64_t count_ = 0;
    const abi::ApiEntry* apis_ = nullptr;
    std::uint32_t api_count_ = 0;
};

}  // namespace gpuspy::sink
