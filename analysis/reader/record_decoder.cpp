#include "analysis/reader/record_decoder.hpp"

#include <limits>

namespace gpuspy::analysis {

using abi::Tag;

namespace {

bool is_of_device(Tag tag) {
    return tag == Tag::kKernel || tag == Tag::kMemcpy || tag == Tag::kMemset;
}

}  // namespace

void RecordDecoder::begin_segment() {
    segment_lost_ = false;
    values_.assign(1, 0);
    texts_.assign(1, symbols_.intern_text(""));
    apis_.clear();
    threads_.clear();
    thread_state_ = nullptr;
    activity_correlation_ = 0;
    activity_start_ns_ = 0;
    activities_lost_ = false;
}

void RecordDecoder::decode(std::string_view payload) {
    // What is nobody's record is counted by one of two decoders.
    const bool counts_all = records_ != Records::kDevice;
    Cursor cursor(payload);
    while (!cursor.at_end()) {
        const std::uint64_t tag = cursor.varint();
        const std::uint64_t length = cursor.varint();
        if (!cursor.ok() || length > abi::kMaxRecordBytes || length > cursor.rest().size()) {
            // Without its length nothing after it can be found, and what it defined is missing.
            summary_.bad_records += counts_all ? 1 : 0;
            lose_segment();
            return;
        }
        Cursor fields(cursor.bytes(length));
        if (tag > std::numeric_limits<std::uint32_t>::max()) {
            summary_.unknown_records += counts_all ? 1 : 0;
            continue;
        }
        if (!concerns(static_cast<Tag>(tag))) {
            continue;
        }
        summary_.records += counts_all || is_of_device(static_cast<Tag>(tag)) ? 1 : 0;
        if (!decode_record(static_cast<Tag>(tag), fields)) {
            ++summary_.bad_records;
        }
    }
}

bool RecordDecoder::concerns(Tag tag) const {
    const bool of_device = is_of_device(tag);
    switch (records_) {
        case Records::kAll:
            return true;
        case Records::kHost:
            return !of_device;
        case Records::kDevice:
            break;
    }
    return of_device || tag == Tag::kText;  // Their names.
}

bool RecordDecoder::decode_record(Tag tag, Cursor& fields) {
    switch (tag) {
        case Tag::kProcess:
            return decode_process(fields);
        case Tag::kValue: {
            const std::uint64_t value = fields.varint();
            // Kept even if unreadable: the numbering must go on.
            values_.push_back(value);
            return fields.ok();
        }
        case Tag::kText:
            texts_.push_back(symbols_.intern_text(fields.rest()));
            return true;
        case Tag::kApi:
            return decode_api(fields);
        case Tag::kThread:
            return decode_thread(fields);
        case Tag::kCall:
            return decode_call(fields);
        case Tag::kGraphNodes:
            return decode_graph_nodes(fields);
        case Tag::kOrigin:
            return decode_origin(fields);
        case Tag::kDevice:
            return decode_device(fields);
        case Tag::kKernel:
        case Tag::kMemcpy:
        case Tag::kMemset:
            return decode_activity(tag, fields);
        case Tag::kRange:
            return decode_range(fields);
        default:
            return decode_statement(tag, fields);
    }
}

bool RecordDecoder::decode_process(Cursor& fields) {
    ProcessRecord record;
    record.pid = fields.varint();
    record.ppid = fields.varint();
    record.pgid = fields.varint();
    record.start_realtime_ns = fields.varint();
    record.start_monotonic_ns = fields.varint();
    record.tick_hz = fields.varint();
    record.run_id = fields.varint();
    record.rank = fields.svarint();
    for (std::string* text :
         {&record.host, &record.boot_id, &record.exe, &record.cwd, &record.ring_path, &record.gpuspy_version}) {
        *text = fields.string();
    }
    for (std::vector<std::string>* list : {&record.argv, &record.environment}) {
        const std::uint64_t count = fields.varint();
        for (std::uint64_t i = 0; i < count && fields.ok(); ++i) {
            list->emplace_back(fields.string());
        }
    }
    if (fields.ok()) {
        visitor_.on_process(record);
    }
    return fields.ok();
}

bool RecordDecoder::decode_api(Cursor& fields) {
    const std::uint64_t number = fields.varint();
    const std::uint64_t level = fields.varint();
    const std::uint64_t api_class = fields.varint();
    const std::uint64_t attributes = fields.varint();
    ApiInfo info;
    info.library = fields.string();
    info.name = fields.string();
    if (!fields.at_end()) {  // Since format 1.1.
        info.fields = fields.string();
    }
    if (!fields.ok() || level > 2) {
        return false;
    }
    info.level = static_cast<abi::ApiLevel>(level);
    // A class of a later version is "other" to us; so are its attributes that we do not know.
    info.api_class = api_class <= static_cast<std::uint64_t>(abi::kLastApiClass) ? static_cast<abi::ApiClass>(api_class)
                                                                                 : abi::ApiClass::kOther;
    info.attributes = static_cast<std::uint8_t>(attributes & (abi::kApiBlocking | abi::kApiNoStatus));
    if (number >= kMaxApis) {
        return false;  // A ring has 16 bits for it.
    }
    if (number >= apis_.size()) {
        apis_.resize(static_cast<std::size_t>(number) + 1, kNoApi);
    }
    const std::optional<std::uint32_t> known = symbols_.intern_api(std::move(info));
    apis_[static_cast<std::size_t>(number)] = known.value_or(kNoApi);
    return known.has_value();
}

bool RecordDecoder::decode_thread(Cursor& fields) {
    const std::uint32_t ring = fields.varint32();
    const std::uint32_t tid = fields.varint32();
    const std::string_view name = fields.string();
    if (!fields.ok()) {
        thread_state_ = nullptr;  // The calls that follow belong to nobody that we know.
        return false;
    }
    const std::optional<std::uint32_t> known = symbols_.intern_thread(ring, tid, name);
    thread_ = known.value_or(0);
    thread_state_ = known ? &threads_[thread_] : nullptr;
    return known.has_value();
}

bool RecordDecoder::decode_device(Cursor& fields) {
    DeviceRecord record;
    record.ordinal = fields.varint();
    record.name = fields.string();
    record.uuid = fields.string();
    for (std::uint64_t* field : {&record.cc_major, &record.cc_minor, &record.sm_count, &record.sm_clock_khz,
                                 &record.memory_clock_khz, &record.bus_width_bits, &record.memory_bytes}) {
        *field = fields.varint();
    }
    record.pci = fields.string();
    if (fields.ok()) {
        visitor_.on_device(record);
    }
    return fields.ok();
}

std::uint32_t RecordDecoder::dictionary_text(Cursor& fields) {
    const std::uint64_t index = fields.varint();
    return index < texts_.size() ? texts_[static_cast<std::size_t>(index)] : static_cast<std::uint32_t>(fields.fail());
}

bool RecordDecoder::decode_call(Cursor& fields) {
    if (segment_lost_ || (thread_state_ != nullptr && thread_state_->lost)) {
        ++summary_.orphan_records;
        return true;
    }
    if (thread_state_ == nullptr) {
        return false;
    }
    CallRecord record;
    record.thread = thread_;
    record.flags = fields.varint32();
    const std::uint64_t api = fields.varint();
    record.depth = fields.varint32();
    record.begin_ticks = thread_state_->begin_ticks + static_cast<std::uint64_t>(fields.svarint());
    const std::uint64_t duration_ticks = fields.varint();
    if (record.has(abi::kCallStatus)) {
        record.status = fields.svarint();
    }
    if (record.has(abi::kCallCaller)) {
        record.caller = dictionary_value(fields);
    }
    if (record.has(abi::kCallStream)) {
        record.stream = dictionary_value(fields);
    }
    if (record.has(abi::kCallCorrelation)) {
        record.correlation = thread_state_->correlation + static_cast<std::uint64_t>(fields.svarint());
    }
    if (record.has(abi::kCallLaunchId)) {
        record.launch_id = fields.varint();
    }
    if (record.has(abi::kCallKernel)) {
        record.function = dictionary_value(fields);
        fields.skip(7);  // Grid, block, dynamic shared memory: no pass uses them yet.
    }
    if (record.has(abi::kCallCopy)) {
        record.copy_bytes = fields.varint();
        record.copy_kind = fields.varint();
    }
    if (record.has(abi::kCallGraph)) {
        record.graph_exec = dictionary_value(fields);
    }
    arguments_.clear();
    if (record.has(abi::kCallArguments)) {
        const std::uint64_t count = fields.varint();
        for (std::uint64_t i = 0; i < count && fields.ok(); ++i) {
            arguments_.push_back(fields.svarint());
        }
        record.arguments = arguments_;
    }
    record.end_ticks = record.begin_ticks + duration_ticks;
    if (!fields.ok()) {
        thread_state_->lost = true;
        return false;
    }
    thread_state_->begin_ticks = record.begin_ticks;
    if (record.has(abi::kCallCorrelation)) {
        thread_state_->correlation = record.correlation;
    }
    const std::uint32_t known = api_at(api);
    if (known == kNoApi || record.depth > kMaxDepth || record.end_ticks < record.begin_ticks) {
        return false;
    }
    record.api = known;
    visitor_.on_call(record);
    return true;
}

bool RecordDecoder::decode_graph_nodes(Cursor& fields) {
    const std::uint64_t ticks = fields.varint();
    const std::uint64_t exec = fields.varint();
    const std::uint64_t count = fields.varint();
    nodes_.clear();
    for (std::uint64_t i = 0; i < count && fields.ok(); ++i) {
        abi::GraphNode node{};
        node.index = fields.varint32();
        node.type = fields.varint32();
        node.function = fields.varint();
        node.launch_id = fields.varint();
        nodes_.push_back(node);
    }
    if (fields.ok()) {
        visitor_.on_graph_nodes(exec, ticks, nodes_);
    }
    return fields.ok();
}

bool RecordDecoder::decode_activity(Tag tag, Cursor& fields) {
    if (segment_lost_ || activities_lost_) {
        ++summary_.orphan_records;
        return true;
    }
    ActivityRecord record;
    record.kind = tag == Tag::kKernel   ? ActivityKind::kKernel
                  : tag == Tag::kMemcpy ? ActivityKind::kMemcpy
                                        : ActivityKind::kMemset;
    record.flags = fields.varint32();
    record.device = fields.varint();
    record.context = fields.varint();
    record.stream = fields.varint();
    record.correlation = activity_correlation_ + static_cast<std::uint64_t>(fields.svarint());
    record.start_ns = activity_start_ns_ + static_cast<std::uint64_t>(fields.svarint());
    record.duration_ns = fields.varint();
    if (record.has(abi::kDeviceGraph)) {
        record.graph_exec_id = fields.varint();
        record.graph_node = fields.varint();
    }
    if (record.kind == ActivityKind::kKernel) {
        record.name = dictionary_text(fields);
        for (auto* sizes : {&record.grid, &record.block}) {
            for (std::uint32_t& size : *sizes) {
                size = fields.varint32();
            }
        }
        record.registers = fields.varint32();
        record.static_shared_bytes = fields.varint32();
        record.dynamic_shared_bytes = fields.varint32();
    } else {
        record.bytes = fields.varint();
        record.copy_kind =
            record.kind == ActivityKind::kMemcpy ? fields.varint() : static_cast<std::uint64_t>(abi::CopyKind::kSet);
        record.source_memory = fields.varint32();
        record.destination_memory = record.kind == ActivityKind::kMemcpy ? fields.varint32() : record.source_memory;
    }
    if (!fields.ok()) {
        activities_lost_ = true;
        return false;
    }
    activity_correlation_ = record.correlation;
    activity_start_ns_ = record.start_ns;
    visitor_.on_activity(record);
    return true;
}

bool RecordDecoder::decode_origin(Cursor& fields) {
    OriginRecord record;
    record.launch_id = fields.varint();
    const std::uint64_t library = fields.varint();
    record.caller = fields.varint();
    record.ticks = fields.varint();
    if (!fields.ok()) {
        return false;
    }
    if (library != 0) {
        const std::uint32_t api = api_at(library - 1);
        if (api == kNoApi) {
            if (segment_lost_) {
                ++summary_.orphan_records;
            }
            return segment_lost_;
        }
        record.library_api = api;
    }
    visitor_.on_origin(record);
    return true;
}

bool RecordDecoder::decode_range(Cursor& fields) {
    if (segment_lost_ || (thread_state_ != nullptr && thread_state_->ranges_lost)) {
        ++summary_.orphan_records;
        return true;
    }
    if (thread_state_ == nullptr) {
        return false;
    }
    RangeRecord record;
    record.thread = thread_;
    const std::uint64_t kind = fields.varint();
    record.depth = fields.varint32();
    record.ticks = thread_state_->range_ticks + static_cast<std::uint64_t>(fields.svarint());
    record.id = fields.varint();
    record.domain = dictionary_text(fields);
    record.name = dictionary_text(fields);
    if (!fields.ok()) {
        thread_state_->ranges_lost = true;
        return false;
    }
    thread_state_->range_ticks = record.ticks;
    if (kind > static_cast<std::uint64_t>(abi::kLastRangeKind)) {
        ++summary_.unknown_records;  // Of a later version.
        return true;
    }
    if (record.depth > kMaxDepth) {
        return false;
    }
    record.kind = static_cast<abi::RangeKind>(kind);
    visitor_.on_range(record);
    return true;
}

bool RecordDecoder::decode_statement(Tag tag, Cursor& fields) {
    const auto next = [&fields] { return fields.varint(); };
    // Braced initialisers evaluate from left to right: the order of the fields in the file.
    switch (tag) {
        case Tag::kAnchor: {
            const AnchorRecord record{next(), next(), next(), next(), next()};
            fields.ok() ? visitor_.on_anchor(record) : void();
            break;
        }
        case Tag::kObject: {
            const ObjectRecord record{next(), next(), next(), fields.string(), fields.string()};
            fields.ok() ? visitor_.on_object(record) : void();
            break;
        }
        case Tag::kInfo: {
            const std::string_view key = fields.string();
            const std::string_view value = fields.string();
            fields.ok() ? visitor_.on_info(key, value) : void();
            break;
        }
        case Tag::kName: {
            const std::uint64_t ticks = next();
            const std::uint64_t handle = next();
            const std::string_view name = fields.string();
            fields.ok() ? visitor_.on_name({ticks, handle, symbols_.intern_text(name)}) : void();
            break;
        }
        case Tag::kGraphExec: {
            const GraphExecRecord record{next(), next(), next(), next(), next(), next(), next(), next()};
            fields.ok() ? visitor_.on_graph_exec(record) : void();
            break;
        }
        case Tag::kKept: {
            const KeptRecord record{next(), next(), next(), next(), next(), next(), next(), next(), next()};
            fields.ok() ? visitor_.on_kept(record) : void();
            break;
        }
        case Tag::kSpan: {
            const SpanRecord record{next(), next(), next(), fields.string()};
            fields.ok() ? visitor_.on_span(record) : void();
            break;
        }
        case Tag::kLoss: {
            const LossRecord record{next(), next(), next()};
            fields.ok() ? visitor_.on_loss(record) : void();
            break;
        }
        case Tag::kCpu: {
            const CpuRecord record{next(), next(), next(), next(), next()};
            fields.ok() ? visitor_.on_cpu(record) : void();
            break;
        }
        case Tag::kEnd: {
            const EndRecord record{next(), next(), fields.svarint(), next()};
            fields.ok() ? visitor_.on_end(record) : void();
            break;
        }
        case Tag::kCost: {
            const CostRecord record{next(), next()};
            fields.ok() ? visitor_.on_cost(record) : void();
            break;
        }
        case Tag::kNotice: {
            const std::uint64_t ticks = next();
            const std::string_view text = fields.string();
            fields.ok() ? visitor_.on_notice(ticks, text) : void();
            break;
        }
        default:
            ++summary_.unknown_records;
            break;
    }
    return fields.ok();
}

}  // namespace gpuspy::analysis
