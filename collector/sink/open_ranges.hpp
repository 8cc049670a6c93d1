// NVTX ranges that are open, as far as the rings were read. A flight recorder keeps them, since they may have begun before the part that is
// kept.
//
// Fixed memory from the kernel, touched as used: what is said again at the beginning of a file must not fill it. For one thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/abi/event.hpp"

namespace gpuspy::sink {

class OpenRanges {
public:
    constexpr OpenRanges() noexcept = default;
    OpenRanges(const OpenRanges&) = delete;
    OpenRanges& operator=(const OpenRanges&) = delete;

    /// 0 or an errno value.
    int init() noexcept;
    void destroy() noexcept;

    /// An event of ring `ring`, in the order of the ring.
    void note(std::uint32_t ring, std::uint32_t tid, const abi::RangeEvent& event) noexcept;
    /// The ring belongs to another thread from now on: nobody ends what the one before had pushed.
    void thread_ended(std::uint32_t ring) noexcept;

    /// visit(ring, tid, event that began it), the oldest first.
    template <class Visit>
    void visit(Visit&& visit) const noexcept {
        for (std::uint32_t i = 0; i < count_; ++i) {
            const Range& range = at(i);
            visit(range.ring, range.tid, range.event);
        }
    }
    /// Ranges that there was no room for.
    std::uint64_t refused() const noexcept { return refused_; }

    static constexpr std::size_t kBytes = 256U << 10;
    static constexpr std::uint32_t kMost = 4096;

private:
    /// The event's texts follow it.
    struct Range {
        std::uint32_t ring, tid;
        abi::RangeEvent event;
    };
    static constexpr std::uint32_t kEndsKept = 1024;

    const Range& at(std::uint32_t index) const noexcept {
        return *reinterpret_cast<const Range*>(bytes_ + offsets_[index]);
    }
    std::uint32_t end_of(std::uint32_t index) const noexcept {
        return index + 1 < count_ ? offsets_[index + 1] : used_;
    }
    void add(std::uint32_t ring, std::uint32_t tid, const abi::RangeEvent& event) noexcept;
    void remove(std::uint32_t index) noexcept;
    template <class Matches>
    void remove_if(Matches&& matches) noexcept;
    void close_from(std::uint32_t ring, std::uint32_t tid, const abi::RangeEvent& event) noexcept;
    bool is_known_start(std::uint64_t id) const noexcept;

    std::uint8_t* bytes_ = nullptr;  ///< Ranges, one behind the other,
    std::uint32_t used_ = 0;
    std::uint32_t* offsets_ = nullptr;  ///< and where each lies.
    std::uint32_t count_ = 0;
    std::uint64_t refused_ = 0;
    /// Ids that ended last: rings are read one after the other, so an end may come before its start, and a start twice.
    std::uint64_t ended_[kEndsKept] = {};
    std::uint32_t ended_count_ = 0;
};

}  // namespace gpuspy::sink
