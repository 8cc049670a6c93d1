// The encoder's host events: what rings hold.
#include "collector/sink/encoder_bounds.hpp"

namespace gpuspy::sink {

namespace {

constexpr std::uint32_t kKnownCallFlags = (abi::kCallArguments << 1) - 1;

/// The next part of an event, as `const Part*`.
template <class Part>
const Part* take_part(const std::uint64_t*& at) noexcept {
    const auto* part = reinterpret_cast<const Part*>(at);
    at += sizeof(Part) / sizeof(std::uint64_t);
    return part;
}

}  // namespace

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

bool Encoder::open_range(const abi::RangeEvent* event) noexcept {
    const std::uint64_t counted = counts_.ranges;
    const bool fits = range(event);
    counts_.ranges = counted;
    return fits;
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

}  // namespace gpuspy::sink
