#include "collector/sink/encoder.hpp"

#include <cerrno>

#include "collector/sink/encoder_bounds.hpp"
#include "collector/sink/memory.hpp"

namespace gpuspy::sink {

namespace {

constexpr std::uint32_t kThreadSlots = 1U << 13;
constexpr std::uint32_t kMaxThreads = kThreadSlots / 2;

}  // namespace

int Encoder::init(std::uint8_t* buffer, std::size_t capacity, const abi::ApiEntry* apis,
                  std::uint32_t api_count) noexcept {
    if (capacity < kMinBufferBytes || capacity > abi::kMaxBlockRawBytes) {
        return EINVAL;
    }
    out_ = WireBuffer(buffer, capacity);
    apis_ = apis;
    api_count_ = api_count;
    threads_ = map_memory<ThreadState>(kThreadSlots);
    api_generations_ = map_memory<std::uint32_t>(std::size_t{api_count} + 1);
    scratch_ = map_memory<std::uint8_t>(abi::kMaxRecordBytes);
    if (values_.init() != 0 || texts_.init() != 0 || threads_ == nullptr || api_generations_ == nullptr ||
        scratch_ == nullptr) {
        destroy();
        return ENOMEM;
    }
    begin_segment(0);
    return 0;
}

void Encoder::destroy() noexcept {
    values_.destroy();
    texts_.destroy();
    unmap_memory(threads_, kThreadSlots);
    unmap_memory(api_generations_, std::size_t{api_count_} + 1);
    unmap_memory(scratch_, abi::kMaxRecordBytes);
    threads_ = nullptr;
    api_generations_ = nullptr;
    scratch_ = nullptr;
    // Of a recording: a forked child begins another with this encoder.
    counts_ = {};
    facts_ = nullptr;
}

void Encoder::begin_segment(std::uint32_t segment, std::uint32_t extra_flags) noexcept {
    ++generation_;
    values_.clear();
    texts_.clear();
    thread_count_ = 0;
    current_thread_ = nullptr;
    previous_device_correlation_ = 0;
    previous_device_start_ = 0;
    segment_ = segment;
    segment_flags_ = extra_flags;
    block_index_ = 0;
    wants_segment_ = false;
    out_.clear();
}

Block Encoder::finish_block() noexcept {
    const Block block{out_.data(), static_cast<std::uint32_t>(out_.size()),
                      segment_flags_ | (block_index_ == 0 ? abi::kBlockSegmentStart : 0U), segment_, block_index_};
    ++block_index_;
    current_thread_ = nullptr;
    out_.clear();
    return block;
}

bool Encoder::put(abi::Tag tag, const WireBuffer& record) noexcept {
    if (record.overflowed()) {
        return true;  // Larger than any record may be: no block takes it.
    }
    if (!has_room(record.size() + kRecordHead)) {
        return false;
    }
    out_.varint(static_cast<std::uint32_t>(tag));
    out_.varint(record.size());
    out_.raw(record.data(), record.size());
    if (facts_ != nullptr) {
        facts_->keep(tag, record.data(), record.size());
    }
    return true;
}

bool Encoder::has_values(std::uint32_t count) noexcept {
    const bool room = values_.has_room(count);
    wants_segment_ = wants_segment_ || !room;
    return room;
}

bool Encoder::has_texts(std::size_t bytes, std::uint32_t count) noexcept {
    const bool room = texts_.has_room(bytes, count);
    wants_segment_ = wants_segment_ || !room;
    return room;
}

/// Index of a text, its definition written if it is new. The caller has checked for room.
std::uint32_t Encoder::text_index(const char* text, std::size_t bytes) noexcept {
    const DictionaryEntry entry = texts_.find_or_add(text, bytes);
    if (entry.is_new) {
        out_.varint(static_cast<std::uint32_t>(abi::Tag::kText));
        out_.string(text, bytes);
    }
    return entry.index;
}

/// Index of a value, its definition written if it is new. The caller has checked for room.
std::uint32_t Encoder::value_index(std::uint64_t value) noexcept {
    const DictionaryEntry entry = values_.find_or_add(value);
    if (entry.is_new) {
        std::uint8_t bytes[kMaxVarintBytes];
        WireBuffer record(bytes, sizeof bytes);
        record.varint(value);
        put(abi::Tag::kValue, record);
    }
    return entry.index;
}

void Encoder::define_api(std::uint32_t api) noexcept {
    if (api_generations_[api] == generation_) {
        return;
    }
    api_generations_[api] = generation_;
    const abi::ApiEntry& entry = apis_[api];
    std::uint8_t bytes[kApiDefinition];
    WireBuffer record(bytes, sizeof bytes);
    record.varint(api);
    record.varint(entry.level);
    record.varint(entry.api_class);
    record.varint(entry.attributes);
    record.string(entry.library, strnlen(entry.library, sizeof entry.library));
    record.string(entry.name, strnlen(entry.name, sizeof entry.name));
    if (entry.fields[0] != 0) {
        record.string(entry.fields, strnlen(entry.fields, sizeof entry.fields));
    }
    put(abi::Tag::kApi, record);
}

/// The state of a thread in this segment, fresh if it had none; nullptr when there are too many.
Encoder::ThreadState* Encoder::find_thread(std::uint64_t key) noexcept {
    for (std::uint64_t at = (key * 0x9e3779b97f4a7c15ULL) >> 51;; at = (at + 1) % kThreadSlots) {
        ThreadState& state = threads_[at];
        if (state.generation == generation_) {
            if (state.key == key) {
                return &state;
            }
            continue;
        }
        if (thread_count_ == kMaxThreads) {
            return nullptr;
        }
        ++thread_count_;
        state = {key, generation_, 0, 0, 0, 0};
        return &state;
    }
}

bool Encoder::thread(std::uint32_t index, std::uint32_t tid, const char* name) noexcept {
    ThreadState* state = find_thread(thread_key(index, tid));
    if (state == nullptr) {
        wants_segment_ = true;
        return false;
    }
    WireBuffer record = scratch();
    record.varint(index);
    record.varint(tid);
    put_text(record, name);
    if (!put(abi::Tag::kThread, record)) {
        return false;
    }
    current_thread_ = state;
    return true;
}

}  // namespace gpuspy::sink
