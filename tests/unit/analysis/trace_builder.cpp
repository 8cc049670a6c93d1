#include "tests/unit/analysis/trace_builder.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include <cstddef>
#include <cstring>
#include <stdexcept>

namespace gpuspy::test {

using abi::Tag;

std::string varint(std::uint64_t value) {
    std::string bytes;
    do {
        const auto low = static_cast<unsigned char>(value & 0x7fU);
        value >>= 7;
        bytes += static_cast<char>(value != 0 ? low | 0x80U : low);
    } while (value != 0);
    return bytes;
}

std::string svarint(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    return varint(value < 0 ? ~(bits << 1) : bits << 1);
}

std::string text_field(std::string_view text) {
    return varint(text.size()) + std::string(text);
}

namespace {

std::string varints(std::initializer_list<std::uint64_t> values) {
    std::string bytes;
    for (const std::uint64_t value : values) {
        bytes += varint(value);
    }
    return bytes;
}

template <class T>
std::string bytes_of(const T& object) {
    std::string bytes(sizeof object, '\0');
    std::memcpy(bytes.data(), &object, sizeof object);
    return bytes;
}

std::string delta(std::uint64_t now, std::uint64_t& before) {
    const std::string bytes = svarint(static_cast<std::int64_t>(now - before));
    before = now;
    return bytes;
}

}  // namespace

void TraceBuilder::record(std::uint64_t tag, std::string_view payload) {
    payload_ += varint(tag) + varint(payload.size()) + std::string(payload);
}

std::uint64_t TraceBuilder::value_index(std::uint64_t value) {
    if (value == 0) {
        return 0;
    }
    const auto [found, added] = values_.try_emplace(value, values_.size() + 1);
    if (added) {
        record(Tag::kValue, varint(value));
    }
    return found->second;
}

std::uint64_t TraceBuilder::text_index(std::string_view text) {
    if (text.empty()) {
        return 0;
    }
    const auto [found, added] = texts_.try_emplace(std::string(text), texts_.size() + 1);
    if (added) {
        record(Tag::kText, text);
    }
    return found->second;
}

std::uint64_t TraceBuilder::api_number(const Api& api) {
    const auto [found, added] = apis_.try_emplace({api.library, api.name}, apis_.size() + 100);
    if (added) {
        record(Tag::kApi, varints({found->second, static_cast<std::uint64_t>(api.level),
                                   static_cast<std::uint64_t>(api.api_class), api.attributes}) +
                              text_field(api.library) + text_field(api.name) +
                              (api.fields.empty() ? std::string() : text_field(api.fields)));
    }
    return found->second;
}

void TraceBuilder::thread(std::uint32_t ring, std::uint32_t tid, std::string_view name) {
    record(Tag::kThread, varints({ring, tid}) + text_field(name));
    current_ = &previous_[{ring, tid}];
}

void TraceBuilder::call(const Call& call) {
    std::uint32_t flags = call.flags;
    const std::uint64_t api = api_number(call.api);
    std::string optional;
    const auto add = [&](bool present, abi::CallFlags flag, const std::string& field) {
        if (present || (call.flags & flag) != 0) {
            flags |= flag;
            optional += field;
        }
    };
    add(call.status != 0, abi::kCallStatus, svarint(call.status));
    add(call.caller != 0, abi::kCallCaller, varint(value_index(call.caller)));
    add(call.stream != 0, abi::kCallStream, varint(value_index(call.stream)));
    if (call.correlation != 0) {
        add(true, abi::kCallCorrelation, delta(call.correlation, current_->correlation));
    }
    add(call.launch_id != 0, abi::kCallLaunchId, varint(call.launch_id));
    add(call.function != 0, abi::kCallKernel, varint(value_index(call.function)) + varints({2, 1, 1, 128, 1, 1, 64}));
    add(call.copy_bytes != 0, abi::kCallCopy, varints({call.copy_bytes, call.copy_kind}));
    add(call.exec != 0, abi::kCallGraph, varint(value_index(call.exec)));
    std::string arguments = varint(call.arguments.size());
    for (const std::int64_t argument : call.arguments) {
        arguments += svarint(argument);
    }
    add(!call.arguments.empty(), abi::kCallArguments, arguments);
    record(Tag::kCall, varints({flags, api, call.depth}) + delta(call.begin, current_->begin) +
                           varint(call.end - call.begin) + optional);
}

void TraceBuilder::activity(const Activity& activity) {
    std::string kind_fields;
    switch (activity.tag) {
        case Tag::kKernel:
            kind_fields = varint(text_index(activity.name)) +
                          varints({activity.grid[0], activity.grid[1], activity.grid[2], activity.block[0],
                                   activity.block[1], activity.block[2], activity.registers,
                                   activity.static_shared_bytes, activity.dynamic_shared_bytes});
            break;
        case Tag::kMemcpy:
            kind_fields =
                varints({activity.bytes, activity.copy_kind, activity.source_memory, activity.destination_memory});
            break;
        case Tag::kMemset:
            kind_fields = varints({activity.bytes, activity.destination_memory});
            break;
        default:
            throw std::logic_error("not a device record");
    }
    const std::uint32_t flags = activity.flags | (activity.graph_exec_id != 0 ? std::uint32_t{abi::kDeviceGraph} : 0);
    std::string fields = varints({flags, activity.device, 1, activity.stream});
    fields += delta(activity.correlation, activity_correlation_);
    fields += delta(activity.start, activity_start_);
    fields += varint(activity.duration);
    if (activity.graph_exec_id != 0) {
        fields += varints({activity.graph_exec_id, activity.graph_node});
    }
    record(activity.tag, fields + kind_fields);
}

void TraceBuilder::range(const RangeEvent& range) {
    const std::string texts = varint(text_index(range.domain)) + varint(text_index(range.name));
    Previous& previous = current_ != nullptr ? *current_ : nobody_;
    record(Tag::kRange, varints({static_cast<std::uint64_t>(range.kind), range.depth}) +
                            delta(range.ticks, previous.range) + varint(range.id) + texts);
}

void TraceBuilder::anchor(std::uint64_t ticks, std::uint64_t monotonic_ns, std::uint64_t device_clock_ns) {
    record(Tag::kAnchor, varints({ticks, monotonic_ns, monotonic_ns + 1'600'000'000'000'000'000, device_clock_ns, 50}));
}

void TraceBuilder::object(std::uint64_t ticks, std::uint64_t begin, std::uint64_t end, std::string_view path,
                          std::string_view version) {
    record(Tag::kObject, varints({ticks, begin, end}) + text_field(path) + text_field(version));
}

void TraceBuilder::device(std::uint64_t ordinal, std::string_view name) {
    record(Tag::kDevice, varint(ordinal) + text_field(name) + text_field(std::string(16, '\x11')) +
                             varints({9, 0, 132, 1'980'000, 2'619'000, 6016, 150'754'820'096}) +
                             text_field("0000:18:00.0"));
}

void TraceBuilder::info(std::string_view key, std::string_view value) {
    record(Tag::kInfo, text_field(key) + text_field(value));
}

void TraceBuilder::name(std::uint64_t ticks, std::uint64_t handle, std::string_view name) {
    record(Tag::kName, varints({ticks, handle}) + text_field(name));
}

void TraceBuilder::graph_exec(std::uint64_t ticks, std::uint64_t exec, std::uint64_t cupti_exec_id,
                              std::uint64_t kernel_nodes, std::uint64_t flags, std::uint64_t memcpy_nodes) {
    record(Tag::kGraphExec, varints({ticks, exec, cupti_exec_id, kernel_nodes, memcpy_nodes, 0, 0, flags}));
}

void TraceBuilder::graph_nodes(std::uint64_t ticks, std::uint64_t exec, const std::vector<abi::GraphNode>& nodes) {
    std::string fields = varints({ticks, exec, nodes.size()});
    for (const abi::GraphNode& node : nodes) {
        fields += varints({node.index, node.type, node.function, node.launch_id});
    }
    record(Tag::kGraphNodes, fields);
}

void TraceBuilder::kept(const Kept& kept) {
    record(Tag::kKept, varints({kept.ticks, kept.calls, kept.device_records, kept.ranges, kept.blocks, kept.bytes,
                                kept.correlation, kept.limit_ns, kept.limit_bytes}));
}

void TraceBuilder::origin(std::uint64_t launch_id, const Api& library, std::uint64_t caller, std::uint64_t ticks) {
    const std::uint64_t api = library.name.empty() ? 0 : api_number(library) + 1;
    record(Tag::kOrigin, varints({launch_id, api, caller, ticks}));
}

void TraceBuilder::span(std::uint64_t ticks, abi::SpanKind what, bool on, std::string_view reason) {
    record(Tag::kSpan, varints({ticks, static_cast<std::uint64_t>(what), on ? 1U : 0U}) + text_field(reason));
}

void TraceBuilder::loss(abi::LossCause cause, std::uint64_t count, std::uint64_t thread) {
    record(Tag::kLoss, varints({static_cast<std::uint64_t>(cause), count, thread}));
}

void TraceBuilder::cpu(std::uint64_t ticks, std::uint64_t user_ns, std::uint64_t system_ns, std::uint64_t own_ns,
                       std::uint64_t callback_ns) {
    record(Tag::kCpu, varints({ticks, user_ns, system_ns, own_ns, callback_ns}));
}

void TraceBuilder::end(std::uint64_t ticks, abi::EndKind kind, std::int64_t detail, std::uint64_t pid) {
    record(Tag::kEnd, varints({ticks, static_cast<std::uint64_t>(kind)}) + svarint(detail) + varint(pid));
}

void TraceBuilder::cost(std::uint64_t calls, std::uint64_t call_ps) {
    record(Tag::kCost, varints({calls, call_ps}));
}

void TraceBuilder::notice(std::uint64_t ticks, std::string_view text) {
    record(Tag::kNotice, varint(ticks) + text_field(text));
}

void TraceBuilder::end_block() {
    if (payload_.empty()) {
        return;
    }
    std::string stored = payload_;
    abi::BlockHeader block{};
    block.magic = abi::kBlockMagic;
    block.flags = extra_block_flags_ | (block_index_ == 0 ? std::uint32_t{abi::kBlockSegmentStart} : 0) |
                  (compressed_ ? 0 : std::uint32_t{abi::kBlockStored});
    if (compressed_) {
        stored.resize(ZSTD_compressBound(payload_.size()));
        stored.resize(ZSTD_compress(stored.data(), stored.size(), payload_.data(), payload_.size(), 1));
    }
    block.segment = segment_;
    block.index = block_index_++;
    block.raw_bytes = static_cast<std::uint32_t>(payload_.size());
    block.stored_bytes = static_cast<std::uint32_t>(stored.size());
    block.ticks = block_ticks_;
    const std::string summed = bytes_of(block).substr(0, offsetof(abi::BlockHeader, checksum)) + stored;
    block.checksum = XXH64(summed.data(), summed.size(), 0);
    blocks_.push_back(bytes_of(block) + stored);
    payload_.clear();
}

void TraceBuilder::new_segment() {
    end_block();
    ++segment_;
    block_index_ = 0;
    values_.clear();
    texts_.clear();
    apis_.clear();
    previous_.clear();
    current_ = nullptr;
    activity_correlation_ = activity_start_ = 0;
}

std::string TraceBuilder::header_bytes() const {
    std::string process =
        varints({header.pid, 1, header.pid, 1'600'000'000'000'000'000, header.start_monotonic_ns, header.tick_hz, 77}) +
        svarint(header.rank);
    for (const std::string_view text :
         {"node-a", "boot", "/usr/bin/python3", "/home/ana", "/dev/shm/gpuspy.4242.1", "0.1.0"}) {
        process += text_field(text);
    }
    process += varint(header.argv.size());
    for (const std::string& argument : header.argv) {
        process += text_field(argument);
    }
    process += varint(1) + text_field("CUDA_VISIBLE_DEVICES=0");
    const std::string records = varint(static_cast<std::uint64_t>(Tag::kProcess)) + varint(process.size()) + process;

    abi::FileHeader file{};
    std::memcpy(file.magic, abi::kFileMagic, sizeof file.magic);
    file.major = header.major;
    file.minor = header.minor;
    file.header_bytes = static_cast<std::uint32_t>(sizeof file + records.size());
    file.required_features = header.required_features;
    file.optional_features = header.optional_features;
    file.nonce = 0x1234;
    file.start_ticks = header.start_ticks;
    const std::string summed = bytes_of(file) + records;
    file.checksum = XXH64(summed.data(), summed.size(), 0);
    return bytes_of(file) + records;
}

std::string TraceBuilder::bytes() {
    end_block();
    std::string file = header_bytes();
    for (const std::string& block : blocks_) {
        file += block;
    }
    return file;
}

std::vector<std::size_t> TraceBuilder::block_ends() const {
    std::vector<std::size_t> ends;
    std::size_t at = header_bytes().size();
    for (const std::string& block : blocks_) {
        ends.push_back(at += block.size());
    }
    return ends;
}

}  // namespace gpuspy::test
