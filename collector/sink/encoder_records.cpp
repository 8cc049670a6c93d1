// The encoder's other records: devices and what ran on them, where and when, and about the recording.
#include "collector/sink/encoder_bounds.hpp"

namespace gpuspy::sink {

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
