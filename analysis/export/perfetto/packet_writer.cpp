#include "analysis/export/perfetto/packet_writer.hpp"

#include <algorithm>

#include "analysis/render/display_text.hpp"

namespace gpuspy::analysis::perfetto {
namespace {

namespace pb = gpuspy::perfetto;

constexpr std::size_t kBufferBytes = 1 << 20;
constexpr std::uint32_t kSequence = 1;

}  // namespace

PacketWriter::PacketWriter(ByteSink& sink, std::uint64_t monotonic_ns, std::uint64_t realtime_ns) : sink_(sink) {
    pb::TracePacket& packet = *trace_.add_packet();
    packet.set_trusted_packet_sequence_id(kSequence);
    packet.set_sequence_flags(pb::SEQ_INCREMENTAL_STATE_CLEARED);
    packet.mutable_trace_packet_defaults()->set_timestamp_clock_id(pb::BUILTIN_CLOCK_MONOTONIC);
    pb::ClockSnapshot& snapshot = *packet.mutable_clock_snapshot();
    // Without it a reader looks for CLOCK_BOOTTIME, which the trace does not have.
    snapshot.set_primary_trace_clock(pb::BUILTIN_CLOCK_MONOTONIC);
    for (const auto& [clock, now_ns] :
         {std::pair(pb::BUILTIN_CLOCK_MONOTONIC, monotonic_ns), std::pair(pb::BUILTIN_CLOCK_REALTIME, realtime_ns)}) {
        pb::ClockSnapshot::Clock& added = *snapshot.add_clocks();
        added.set_clock_id(static_cast<std::uint32_t>(clock));
        added.set_timestamp(now_ns);
    }
    write();
}

pb::TracePacket& PacketWriter::begin() {
    trace_.Clear();
    pb::TracePacket& packet = *trace_.add_packet();
    packet.set_trusted_packet_sequence_id(kSequence);
    packet.set_sequence_flags(pb::SEQ_NEEDS_INCREMENTAL_STATE);
    return packet;
}

pb::TrackDescriptor& PacketWriter::track() {
    pb::TrackDescriptor& descriptor = *begin().mutable_track_descriptor();
    descriptor.set_uuid(++tracks_);
    return descriptor;
}

pb::TrackEvent& PacketWriter::event(pb::TrackEvent::Type type, std::uint64_t track_uuid, std::int64_t monotonic_ns) {
    pb::TracePacket& packet = begin();
    packet.set_timestamp(static_cast<std::uint64_t>(std::max<std::int64_t>(0, monotonic_ns)));
    pb::TrackEvent& event = *packet.mutable_track_event();
    event.set_type(type);
    event.set_track_uuid(track_uuid);
    return event;
}

std::uint64_t PacketWriter::named_track(std::uint64_t parent, const std::string& name) {
    pb::TrackDescriptor& made = track();
    made.set_parent_uuid(parent);
    made.set_name(printable(name));
    const std::uint64_t uuid = made.uuid();
    write();
    return uuid;
}

void PacketWriter::end_slice(std::uint64_t track_uuid, std::int64_t monotonic_ns) {
    event(pb::TrackEvent::TYPE_SLICE_END, track_uuid, monotonic_ns);
    write();
}

std::uint64_t PacketWriter::number(Names& names, std::string_view name, NewNames new_names) {
    const auto [found, added] = names.try_emplace(std::string(name), names.size() + 1);
    if (added) {
        pb::InternedString& string = *(trace_.mutable_packet(0)->mutable_interned_data()->*new_names)()->Add();
        string.set_iid(found->second);
        string.set_name(printable(name));  // Strings of protobuf are UTF-8.
    }
    return found->second;
}

void PacketWriter::name(std::string_view name) {
    const std::uint64_t iid = number(names_, name, &pb::InternedData::mutable_event_names);
    trace_.mutable_packet(0)->mutable_track_event()->set_name_iid(iid);
}

void PacketWriter::category(std::string_view name) {
    const std::uint64_t iid = number(categories_, name, &pb::InternedData::mutable_event_categories);
    trace_.mutable_packet(0)->mutable_track_event()->add_category_iids(iid);
}

pb::DebugAnnotation& PacketWriter::annotation(std::string_view name) {
    const std::uint64_t iid = number(annotation_names_, name, &pb::InternedData::mutable_debug_annotation_names);
    pb::DebugAnnotation& added = *trace_.mutable_packet(0)->mutable_track_event()->add_debug_annotations();
    added.set_name_iid(iid);
    return added;
}

void PacketWriter::annotate(std::string_view name, const std::string& value) {
    annotation(name).set_string_value(printable(value));
}

void PacketWriter::write() {
    trace_.AppendToString(&buffer_);
    if (buffer_.size() >= kBufferBytes) {
        flush();
    }
}

bool PacketWriter::flush() {
    good_ = good_ && sink_.write(buffer_);
    buffer_.clear();
    return good_;
}

}  // namespace gpuspy::analysis::perfetto
