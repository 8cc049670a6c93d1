#include "collector/sink/encoder.hpp"

#include <cerrno>
#include <cstring>

#include "collector/sink/memory.hpp"

namespace gpuspy::sink {

namespace {

constexpr std::uint32_t kThreadSlots = 1U << 13;
constexpr std::uint32_t kMaxThreads = kThreadSlots / 2;
constexpr std::uint32_t kKnownCallFlags = (abi::kCallArguments << 1) - 1;

// Upper bounds. A record is tag and length (at most 6 bytes together, since tags are small) and its body.
constexpr std::size_t kRecordHead = 6;
constexpr std::size_t kValueDefinition = kRecordHead + kMaxVarintBytes;
constexpr std::size_t kApiDefinition = kRecordHead + 4 * kMaxVarintBytes + sizeof(abi::ApiEntry) + 6;
/// Twelve flags' fields: 31 numbers at most, and the arguments.
constexpr std::size_t kCallRecord =
    kApiDefinition + 4 * kValueDefinition + kRecordHead + (31 + abi::kMaxArgumentWords) * kMaxVarintBytes;
constexpr std::size_t kDeviceRecord = kRecordHead + 24 * kMaxVarintBytes;
constexpr std::size_t kSmallRecord = kRecordHead + 12 * kMaxVarintBytes;

std::size_t text_bytes(const char* text) noexcept {
    return text == nullptr ? 0 : strnlen(text, Encoder::kMaxStringBytes);
}

void put_text(WireBuffer& record, const char* text) noexcept {
    record.string(text, text_bytes(text));
}

/// The next part of an event, as `const Part*`.
template <class Part>
const Part* take_part(const std::uint64_t*& at) noexcept {
    const auto* part = reinterpret_cast<const Part*>(at);
    at += sizeof(Part) / sizeof(std::uint64_t);
    return part;
}

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

bool Encoder::call(const abi::CallEvent* event) noexcept {
    const std::uint32_t api = event->header.api;
    if (api >= api_count_ || current_thread_ == nullptr) {
        return true;
    }
    if (!has_room(kCallRecord) || !has_values(4)) {
        return false;
    }
    define_api(api);
    const std::uint32_t flags = event->flags & kKnownCallFlags;
    std::uint8_t bytes[kCallRecord];
    WireBuffer record(bytes, sizeof bytes);
    record.varint(flags);
    record.varint(api);
    record.varint(event->header.depth);
    record.delta(event->begin_ticks, current_thread_->previous_begin);
    record.varint(event->end_ticks > event->begin_ticks ? event->end_ticks - event->begin_ticks : 0);
    current_thread_->previous_begin = event->begin_ticks;
    if ((flags & abi::kCallStatus) != 0) {
        record.svarint(event->status);
    }
    if ((flags & abi::kCallCaller) != 0) {
        record.varint(value_index(event->caller));
    }
    const auto* at = reinterpret_cast<const std::uint64_t*>(event + 1);
    if ((flags & abi::kCallStream) != 0) {
        record.varint(value_index(take_part<abi::StreamPart>(at)->stream));
    }
    if ((flags & abi::kCallCorrelation) != 0) {
        const std::uint64_t correlation = take_part<abi::CorrelationPart>(at)->correlation;
        record.delta(correlation, current_thread_->previous_correlation);
        current_thread_->previous_correlation = correlation;
        const auto id = static_cast<std::uint32_t>(correlation);
        counts_.correlation = static_cast<std::int32_t>(id - counts_.correlation) > 0 ? id : counts_.correlation;
    }
    if ((flags & abi::kCallLaunchId) != 0) {
        record.varint(take_part<abi::LaunchIdPart>(at)->launch_id);
    }
    if ((flags & abi::kCallKernel) != 0) {
        const auto* kernel = take_part<abi::KernelPart>(at);
        record.varint(value_index(kernel->function));
        for (const std::uint32_t size : kernel->grid) {
            record.varint(size);
        }
        for (const std::uint32_t size : kernel->block) {
            record.varint(size);
        }
        record.varint(kernel->dynamic_shared_bytes);
    }
    if ((flags & abi::kCallCopy) != 0) {
        const auto* copy = take_part<abi::CopyPart>(at);
        record.varint(copy->bytes);
        record.varint(copy->kind);
    }
    if ((flags & abi::kCallGraph) != 0) {
        record.varint(value_index(take_part<abi::GraphPart>(at)->exec));
    }
    if ((flags & abi::kCallArguments) != 0) {
        const std::uint64_t count = take_part<abi::ArgumentsPart>(at)->count;
        record.varint(count);
        for (std::uint64_t i = 0; i < count; ++i) {
            record.svarint(static_cast<std::int64_t>(at[i]));
        }
    }
    ++counts_.calls;
    return put(abi::Tag::kCall, record);
}

bool Encoder::name(const abi::NameEvent* event) noexcept {
    WireBuffer record = scratch();
    record.varint(event->ticks);
    record.varint(event->handle);
    record.string(reinterpret_cast<const char*>(event + 1), event->name_bytes);
    return put(abi::Tag::kName, record);
}

bool Encoder::graph_exec(const abi::GraphExecEvent* event) noexcept {
    std::uint8_t bytes[kSmallRecord];
    WireBuffer record(bytes, sizeof bytes);
    record.varint(event->ticks);
    record.varint(event->exec);
    record.varint(event->cupti_exec_id);
    record.varint(event->kernel_nodes);
    record.varint(event->memcpy_nodes);
    record.varint(event->memset_nodes);
    record.varint(event->other_nodes);
    record.varint(event->flags);
    return put(abi::Tag::kGraphExec, record);
}

bool Encoder::graph_nodes(const abi::GraphNodesEvent* event) noexcept {
    WireBuffer record = scratch();
    record.varint(event->ticks);
    record.varint(event->exec);
    record.varint(event->count);
    const auto* nodes = reinterpret_cast<const abi::GraphNode*>(event + 1);
    for (std::uint32_t i = 0; i < event->count; ++i) {
        record.varint(nodes[i].index);
        record.varint(nodes[i].type);
        record.varint(nodes[i].function);
        record.varint(nodes[i].launch_id);
    }
    return put(abi::Tag::kGraphNodes, record);
}

bool Encoder::range(const abi::RangeEvent* event) noexcept {
    if (current_thread_ == nullptr) {
        return true;
    }
    const std::size_t text_bytes = event->text_bytes < kMaxStringBytes ? event->text_bytes : kMaxStringBytes;
    const std::size_t bytes_of_both = event->domain_bytes + text_bytes;
    if (!has_texts(bytes_of_both, 2) || !has_room(kSmallRecord + 2 * kRecordHead + bytes_of_both)) {
        return false;
    }
    const char* texts = reinterpret_cast<const char*>(event + 1);
    const std::uint32_t domain = text_index(texts, event->domain_bytes);
    const std::uint32_t name = text_index(texts + event->domain_bytes, text_bytes);
    std::uint8_t bytes[kSmallRecord];
    WireBuffer record(bytes, sizeof bytes);
    record.varint(static_cast<std::uint8_t>(event->kind));
    record.varint(event->header.depth);
    record.delta(event->ticks, current_thread_->previous_range);
    record.varint(event->id);
    record.varint(domain);
    record.varint(name);
    current_thread_->previous_range = event->ticks;
    ++counts_.ranges;
    return put(abi::Tag::kRange, record);
}

bool Encoder::event(const abi::EventHeader* header) noexcept {
    switch (header->type) {
        case abi::EventType::kCall:
            return call(reinterpret_cast<const abi::CallEvent*>(header));
        case abi::EventType::kName:
            return name(reinterpret_cast<const abi::NameEvent*>(header));
        case abi::EventType::kGraphExec:
            return graph_exec(reinterpret_cast<const abi::GraphExecEvent*>(header));
        case abi::EventType::kGraphNodes:
            return graph_nodes(reinterpret_cast<const abi::GraphNodesEvent*>(header));
        case abi::EventType::kRange:
            return range(reinterpret_cast<const abi::RangeEvent*>(header));
        case abi::EventType::kPadding:
        case abi::EventType::kThread:
            break;
    }
    return true;
}

bool Encoder::anchor(const Anchor& anchor) noexcept {
    std::uint8_t bytes[kSmallRecord];
    WireBuffer record(bytes, sizeof bytes);
    record.varint(anchor.ticks);
    record.varint(anchor.monotonic_ns);
    record.varint(anchor.realtime_ns);
    record.varint(anchor.device_clock_ns);
    record.varint(anchor.uncertainty_ns);
    return put(abi::Tag::kAnchor, record);
}

bool Encoder::object(const MappedObject& object) noexcept {
    WireBuffer record = scratch();
    record.varint(object.ticks);
    record.varint(object.begin);
    record.varint(object.end);
    put_text(record, object.path);
    put_text(record, object.version);
    return put(abi::Tag::kObject, record);
}

bool Encoder::device(const DeviceInfo& device) noexcept {
    WireBuffer record = scratch();
    record.varint(device.ordinal);
    put_text(record, device.name);
    record.string(reinterpret_cast<const char*>(device.uuid), device.uuid == nullptr ? 0 : 16);
    record.varint(device.cc_major);
    record.varint(device.cc_minor);
    record.varint(device.sm_count);
    record.varint(device.sm_clock_khz);
    record.varint(device.memory_clock_khz);
    record.varint(device.bus_width_bits);
    record.varint(device.memory_bytes);
    put_text(record, device.pci);
    return put(abi::Tag::kDevice, record);
}

bool Encoder::info(const char* key, const char* value) noexcept {
    WireBuffer record = scratch();
    put_text(record, key);
    put_text(record, value);
    return put(abi::Tag::kInfo, record);
}

/// The fields that every device record begins with. Times that mean nothing are left where the previous record's were.
void Encoder::device_fields(const DeviceRecord& device, WireBuffer& record) noexcept {
    const bool untimed = device.untimed || device.end_ns < device.start_ns;
    const std::uint64_t start_ns = untimed ? previous_device_start_ : device.start_ns;
    record.varint((untimed ? abi::kDeviceUntimed : 0U) | (device.from_graph ? abi::kDeviceGraph : 0U) |
                  (device.asynchronous ? abi::kDeviceAsync : 0U));
    record.varint(device.device);
    record.varint(device.context);
    record.varint(device.stream);
    record.delta(device.correlation, previous_device_correlation_);
    record.delta(start_ns, previous_device_start_);
    record.varint(untimed ? 0 : device.end_ns - device.start_ns);
    if (device.from_graph) {
        record.varint(device.graph_exec_id);
        record.varint(device.graph_node);
    }
    previous_device_correlation_ = device.correlation;
    previous_device_start_ = start_ns;
    ++counts_.device_records;
}

bool Encoder::kernel(const KernelRecord& kernel) noexcept {
    const std::size_t name_bytes = text_bytes(kernel.name);
    if (!has_texts(name_bytes, 1) || !has_room(kDeviceRecord + kRecordHead + name_bytes)) {
        return false;
    }
    const std::uint32_t name = text_index(kernel.name, name_bytes);
    std::uint8_t bytes[kDeviceRecord];
    WireBuffer record(bytes, sizeof bytes);
    device_fields(kernel, record);
    record.varint(name);
    for (const std::uint32_t size : kernel.grid) {
        record.varint(size);
    }
    for (const std::uint32_t size : kernel.block) {
        record.varint(size);
    }
    record.varint(kernel.registers);
    record.varint(kernel.static_shared_bytes);
    record.varint(kernel.dynamic_shared_bytes);
    return put(abi::Tag::kKernel, record);
}

bool Encoder::memcpy(const MemcpyRecord& copy) noexcept {
    if (!has_room(kDeviceRecord)) {
        return false;
    }
    std::uint8_t bytes[kDeviceRecord];
    WireBuffer record(bytes, sizeof bytes);
    device_fields(copy, record);
    record.varint(copy.bytes);
    record.varint(copy.kind);
    record.varint(copy.source_kind);
    record.varint(copy.destination_kind);
    return put(abi::Tag::kMemcpy, record);
}

bool Encoder::memset(const MemsetRecord& set) noexcept {
    if (!has_room(kDeviceRecord)) {
        return false;
    }
    std::uint8_t bytes[kDeviceRecord];
    WireBuffer record(bytes, sizeof bytes);
    device_fields(set, record);
    record.varint(set.bytes);
    record.varint(set.memory_kind);
    return put(abi::Tag::kMemset, record);
}

bool Encoder::span(std::uint64_t ticks, abi::SpanKind what, bool on, const char* reason) noexcept {
    WireBuffer record = scratch();
    record.varint(ticks);
    record.varint(static_cast<std::uint32_t>(what));
    record.varint(on ? 1 : 0);
    put_text(record, reason);
    return put(abi::Tag::kSpan, record);
}

bool Encoder::loss(abi::LossCause cause, std::uint64_t count, std::uint32_t thread) noexcept {
    std::uint8_t bytes[kSmallRecord];
    WireBuffer record(bytes, sizeof bytes);
    record.varint(static_cast<std::uint8_t>(cause));
    record.varint(count);
    record.varint(thread == kNoThread ? 0 : std::uint64_t{thread} + 1);
    return put(abi::Tag::kLoss, record);
}

bool Encoder::cpu(const CpuTimes& times) noexcept {
    std::uint8_t bytes[kSmallRecord];
    WireBuffer record(bytes, sizeof bytes);
    record.varint(times.ticks);
    record.varint(times.user_ns);
    record.varint(times.system_ns);
    record.varint(times.own_ns);
    record.varint(times.callback_ns);
    return put(abi::Tag::kCpu, record);
}

bool Encoder::end(std::uint64_t ticks, abi::EndKind kind, std::int64_t detail, std::uint32_t pid) noexcept {
    std::uint8_t bytes[kSmallRecord];
    WireBuffer record(bytes, sizeof bytes);
    record.varint(ticks);
    record.varint(static_cast<std::uint32_t>(kind));
    record.svarint(detail);
    record.varint(pid);
    return put(abi::Tag::kEnd, record);
}

bool Encoder::cost(std::uint64_t calls, std::uint64_t call_ps) noexcept {
    std::uint8_t bytes[kSmallRecord];
    WireBuffer record(bytes, sizeof bytes);
    record.varint(calls);
    record.varint(call_ps);
    return put(abi::Tag::kCost, record);
}

bool Encoder::notice(std::uint64_t ticks, const char* text) noexcept {
    WireBuffer record = scratch();
    record.varint(ticks);
    put_text(record, text);
    return put(abi::Tag::kNotice, record);
}

bool Encoder::fact(abi::Tag tag, const std::uint8_t* fields, std::size_t bytes) noexcept {
    WireBuffer record = scratch();
    record.raw(fields, bytes);
    return put(tag, record);
}

bool Encoder::origin(const CapturedOrigin& origin) noexcept {
    if (!has_room(kApiDefinition + kSmallRecord)) {
        return false;
    }
    if (origin.library_api != 0) {
        define_api(origin.library_api - 1U);
    }
    std::uint8_t bytes[kSmallRecord];
    WireBuffer record(bytes, sizeof bytes);
    record.varint(origin.launch_id);
    record.varint(origin.library_api);
    record.varint(origin.caller);
    record.varint(origin.ticks);
    return put(abi::Tag::kOrigin, record);
}

bool Encoder::kept(const KeptPart& part) noexcept {
    std::uint8_t bytes[kSmallRecord];
    WireBuffer record(bytes, sizeof bytes);
    record.varint(part.ticks);
    record.varint(part.calls);
    record.varint(part.device_records);
    record.varint(part.ranges);
    record.varint(part.blocks);
    record.varint(part.bytes);
    record.varint(part.correlation);
    record.varint(part.limit_ns);
    record.varint(part.limit_bytes);
    return put(abi::Tag::kKept, record);
}

}  // namespace gpuspy::sink
