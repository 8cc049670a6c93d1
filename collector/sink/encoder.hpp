// Encodes events and records into the payload of a block (abi/trace_format.hpp). Knows no file and no thread.
//
// Each record function returns false when the record, with the dictionary entries it needs, does not fit: nothing was
// written then. The caller takes the block (finish_block), begins the next one, or a segment if wants_segment(), and
// repeats the call.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/abi/event.hpp"
#include "collector/abi/ring_layout.hpp"
#include "collector/abi/trace_format.hpp"
#include "collector/sink/captured_origins.hpp"
#include "collector/sink/dictionary.hpp"
#include "collector/sink/lasting_facts.hpp"
#include "collector/sink/records.hpp"
#include "collector/sink/wire.hpp"

namespace gpuspy::sink {

/// A payload and what its BlockHeader says of it.
struct Block {
    const std::uint8_t* payload = nullptr;
    std::uint32_t raw_bytes = 0;
    std::uint32_t flags = 0;  ///< BlockFlags; the writer adds kBlockStored.
    std::uint32_t segment = 0;
    std::uint32_t index = 0;
};

/// What was encoded so far.
struct EncodedCounts {
    std::uint64_t calls = 0, device_records = 0, ranges = 0;
    /// The highest correlation id of a call; ids of 32 bits may come round.
    std::uint32_t correlation = 0;
};

class Encoder {
public:
    constexpr Encoder() noexcept = default;
    Encoder(const Encoder&) = delete;
    Encoder& operator=(const Encoder&) = delete;

    /// `buffer` takes one block's payload: kMinBufferBytes to kMaxBlockRawBytes. `apis` is the mapping's table. Maps
    /// the dictionaries (about 12 MiB of address space, touched as used). 0 or an errno value.
    int init(std::uint8_t* buffer, std::size_t capacity, const abi::ApiEntry* apis, std::uint32_t api_count) noexcept;
    /// From now on `facts` gets a copy of each record that holds for the whole file; nullptr: no longer.
    void keep_facts_in(LastingFacts* facts) noexcept { facts_ = facts; }
    /// Gives the dictionaries' memory back.
    void destroy() noexcept;

    /// Empties every dictionary and begins a block. `segment` is its number; `extra_flags` (kBlockSalvaged) go with
    /// every block of the segment.
    void begin_segment(std::uint32_t segment, std::uint32_t extra_flags = 0) noexcept;
    /// The payload so far, and a new block of the same segment after it. The payload stays valid until the next record.
    /// After a block no thread is current: call thread() again.
    Block finish_block() noexcept;
    bool wants_segment() const noexcept { return wants_segment_; }
    std::uint32_t segment() const noexcept { return segment_; }
    /// The number for the next begin_segment(): this segment's own while it has no block.
    std::uint32_t next_segment() const noexcept { return block_index_ == 0 ? segment_ : segment_ + 1; }
    std::size_t payload_bytes() const noexcept { return out_.size(); }
    const EncodedCounts& counts() const noexcept { return counts_; }

    // -- host events
    // -----------------------------------------------------------------------------------------------------
    /// The calls that follow belong to this thread. `name` may be "".
    [[nodiscard]] bool thread(std::uint32_t index, std::uint32_t tid, const char* name) noexcept;
    bool is_current(std::uint32_t index, std::uint32_t tid) const noexcept {
        return current_thread_ != nullptr && current_thread_->key == thread_key(index, tid);
    }
    /// A sound event (ring::event_is_sound) of the current thread. One that names an API beyond the table is left out,
    /// and so is one while no thread is current.
    [[nodiscard]] bool call(const abi::CallEvent* event) noexcept;
    [[nodiscard]] bool name(const abi::NameEvent* event) noexcept;
    [[nodiscard]] bool graph_exec(const abi::GraphExecEvent* event) noexcept;
    [[nodiscard]] bool graph_nodes(const abi::GraphNodesEvent* event) noexcept;
    /// Left out while no thread is current.
    [[nodiscard]] bool range(const abi::RangeEvent* event) noexcept;
    /// Any of the above but kThread, by type.
    [[nodiscard]] bool event(const abi::EventHeader* header) noexcept;

    // -- where and when
    // --------------------------------------------------------------------------------------------------
    [[nodiscard]] bool anchor(const Anchor& anchor) noexcept;
    [[nodiscard]] bool object(const MappedObject& object) noexcept;
    [[nodiscard]] bool device(const DeviceInfo& device) noexcept;
    [[nodiscard]] bool info(const char* key, const char* value) noexcept;

    // -- device records
    // --------------------------------------------------------------------------------------------------
    [[nodiscard]] bool kernel(const KernelRecord& record) noexcept;
    [[nodiscard]] bool memcpy(const MemcpyRecord& record) noexcept;
    [[nodiscard]] bool memset(const MemsetRecord& record) noexcept;

    // -- about the recording
    // ---------------------------------------------------------------------------------------------
    [[nodiscard]] bool span(std::uint64_t ticks, abi::SpanKind what, bool on, const char* reason) noexcept;
    /// `count` is the total so far; `thread` is a ring index, or kNoThread.
    [[nodiscard]] bool loss(abi::LossCause cause, std::uint64_t count, std::uint32_t thread) noexcept;
    [[nodiscard]] bool cpu(const CpuTimes& times) noexcept;
    /// `pid`: of whom; 0: the recorded process.
    [[nodiscard]] bool end(std::uint64_t ticks, abi::EndKind kind, std::int64_t detail, std::uint32_t pid) noexcept;
    [[nodiscard]] bool cost(std::uint64_t calls, std::uint64_t call_ps) noexcept;
    [[nodiscard]] bool notice(std::uint64_t ticks, const char* text) noexcept;

    // -- a file that begins in the middle
    // --------------------------------------------------------------------------------
    /// A record that LastingFacts kept.
    [[nodiscard]] bool fact(abi::Tag tag, const std::uint8_t* fields, std::size_t bytes) noexcept;
    [[nodiscard]] bool origin(const CapturedOrigin& origin) noexcept;
    /// A range that began before the part that is kept: it was counted then.
    [[nodiscard]] bool open_range(const abi::RangeEvent* event) noexcept;
    [[nodiscard]] bool kept(const KeptPart& part) noexcept;

    static constexpr std::uint32_t kNoThread = 0xffffffffU;
    /// Holds the largest record that a ring event can make.
    static constexpr std::size_t kMinBufferBytes = 1U << 20;
    /// Longer strings are cut: paths, names and texts of a record.
    static constexpr std::size_t kMaxStringBytes = 64U << 10;

private:
    /// Previous values of a thread in this segment; keyed by (ring index, tid).
    struct ThreadState {
        std::uint64_t key;
        std::uint32_t generation;
        std::uint32_t reserved;
        std::uint64_t previous_begin;
        std::uint64_t previous_correlation;
        std::uint64_t previous_range;
    };

    static constexpr std::uint64_t thread_key(std::uint32_t index, std::uint32_t tid) noexcept {
        return std::uint64_t{index} << 32 | tid;
    }
    bool has_room(std::size_t bytes) const noexcept { return out_.room() >= bytes; }
    bool has_values(std::uint32_t count) noexcept;
    bool has_texts(std::size_t bytes, std::uint32_t count) noexcept;
    std::uint32_t text_index(const char* text, std::size_t bytes) noexcept;
    std::uint32_t value_index(std::uint64_t value) noexcept;
    void define_api(std::uint32_t api) noexcept;
    bool put(abi::Tag tag, const WireBuffer& record) noexcept;
    WireBuffer scratch() noexcept { return {scratch_, abi::kMaxRecordBytes}; }
    void device_fields(const DeviceRecord& record, WireBuffer& fields) noexcept;
    ThreadState* find_thread(std::uint64_t key) noexcept;

    WireBuffer out_;
    ValueDictionary values_;
    TextDictionary texts_;
    ThreadState* threads_ = nullptr;
    std::uint32_t thread_count_ = 0;
    ThreadState* current_thread_ = nullptr;
    const abi::ApiEntry* apis_ = nullptr;
    std::uint32_t api_count_ = 0;
    std::uint32_t* api_generations_ = nullptr;  ///< Per API: the segment generation that has its record.
    std::uint8_t* scratch_ = nullptr;           ///< One record, before its length is known.
    std::uint32_t generation_ = 0;
    std::uint32_t segment_ = 0;
    std::uint32_t block_index_ = 0;
    std::uint32_t segment_flags_ = 0;
    std::uint64_t previous_device_correlation_ = 0;
    std::uint64_t previous_device_start_ = 0;
    bool wants_segment_ = false;
    EncodedCounts counts_;
    LastingFacts* facts_ = nullptr;
};

}  // namespace gpuspy::sink
