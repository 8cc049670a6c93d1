#include "collector/sink/open_ranges.hpp"

#include <cerrno>
#include <cstring>

#include "collector/sink/memory.hpp"

namespace gpuspy::sink {

namespace {

bool is_same_domain(const abi::RangeEvent& a, const abi::RangeEvent& b) noexcept {
    return a.domain_bytes == b.domain_bytes && std::memcmp(&a + 1, &b + 1, a.domain_bytes) == 0;
}

}  // namespace

int OpenRanges::init() noexcept {
    bytes_ = map_memory<std::uint8_t>(kBytes);
    offsets_ = map_memory<std::uint32_t>(kMost);
    if (bytes_ == nullptr || offsets_ == nullptr) {
        destroy();
        return ENOMEM;
    }
    return 0;
}

void OpenRanges::destroy() noexcept {
    unmap_memory(bytes_, kBytes);
    unmap_memory(offsets_, kMost);
    bytes_ = nullptr;
    offsets_ = nullptr;
    used_ = 0;
    count_ = 0;
    refused_ = 0;
    for (std::uint64_t& id : ended_) {
        id = 0;
    }
    ended_count_ = 0;
}

void OpenRanges::note(std::uint32_t ring, std::uint32_t tid, const abi::RangeEvent& event) noexcept {
    switch (event.kind) {
        case abi::RangeKind::kPush:
            close_from(ring, tid, event);
            add(ring, tid, event);
            break;
        case abi::RangeKind::kPop:
            close_from(ring, tid, event);
            break;
        case abi::RangeKind::kStart:
            if (!is_known_start(event.id)) {
                add(ring, tid, event);
            }
            break;
        case abi::RangeKind::kEnd:
            ended_[ended_count_++ % kEndsKept] = event.id;
            remove_if([&](const Range& range) {
                return range.event.kind == abi::RangeKind::kStart && range.event.id == event.id;
            });
            break;
        case abi::RangeKind::kMark:
            break;
    }
}

void OpenRanges::thread_ended(std::uint32_t ring) noexcept {
    remove_if([&](const Range& range) { return range.ring == ring && range.event.kind == abi::RangeKind::kPush; });
}

/// A push or pop ends the pushes of its thread and domain that have its level or a higher one: their own pops did not come.
void OpenRanges::close_from(std::uint32_t ring, std::uint32_t tid, const abi::RangeEvent& event) noexcept {
    remove_if([&](const Range& range) {
        return range.ring == ring && range.tid == tid && range.event.kind == abi::RangeKind::kPush &&
               range.event.id >= event.id && is_same_domain(range.event, event);
    });
}

bool OpenRanges::is_known_start(std::uint64_t id) const noexcept {
    for (const std::uint64_t ended : ended_) {
        if (ended == id) {
            return true;
        }
    }
    for (std::uint32_t i = 0; i < count_; ++i) {
        if (at(i).event.kind == abi::RangeKind::kStart && at(i).event.id == id) {
            return true;
        }
    }
    return false;
}

void OpenRanges::add(std::uint32_t ring, std::uint32_t tid, const abi::RangeEvent& event) noexcept {
    const std::size_t event_bytes = std::size_t{event.header.words} * sizeof(std::uint64_t);
    const std::size_t bytes = offsetof(Range, event) + event_bytes;
    if (count_ == kMost || used_ + bytes > kBytes) {
        ++refused_;
        return;
    }
    std::uint8_t* place = bytes_ + used_;
    std::memcpy(place, &ring, sizeof ring);
    std::memcpy(place + sizeof ring, &tid, sizeof tid);
    std::memcpy(place + offsetof(Range, event), &event, event_bytes);
    offsets_[count_++] = used_;
    used_ += static_cast<std::uint32_t>(bytes);
}

void OpenRanges::remove(std::uint32_t index) noexcept {
    const std::uint32_t begin = offsets_[index];
    const std::uint32_t end = end_of(index);
    std::memmove(bytes_ + begin, bytes_ + end, used_ - end);
    for (std::uint32_t i = index + 1; i < count_; ++i) {
        offsets_[i - 1] = offsets_[i] - (end - begin);
    }
    used_ -= end - begin;
    --count_;
}

template <class Matches>
void OpenRanges::remove_if(Matches&& matches) noexcept {
    for (std::uint32_t i = count_; i-- > 0;) {
        if (matches(at(i))) {
            remove(i);
        }
    }
}

}  // namespace gpuspy::sink
