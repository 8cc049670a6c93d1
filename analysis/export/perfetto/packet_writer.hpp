// Packets of a Perfetto trace, one after the other to a sink: no more than one is held.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analysis/export/byte_sink.hpp"
#include "analysis/export/perfetto/trace.pb.h"

namespace gpuspy::analysis::perfetto {

/// Names are sent once and numbered from then on. All packets are of one sequence, in ns of CLOCK_MONOTONIC.
class PacketWriter {
public:
    /// `realtime_ns`: the date at the moment `monotonic_ns`.
    PacketWriter(ByteSink& sink, std::uint64_t monotonic_ns, std::uint64_t realtime_ns);

    /// A track, with a uuid of its own; the rest is the caller's to add, then write().
    gpuspy::perfetto::TrackDescriptor& track();
    /// Writes a track that is a child of another; its uuid.
    std::uint64_t named_track(std::uint64_t parent, const std::string& name);
    /// An event; name() and the rest are the caller's to add, then write().
    gpuspy::perfetto::TrackEvent& event(gpuspy::perfetto::TrackEvent::Type type, std::uint64_t track_uuid,
                                        std::int64_t monotonic_ns);
    /// Ends the innermost open slice of a track.
    void end_slice(std::uint64_t track_uuid, std::int64_t monotonic_ns);
    void name(std::string_view name);
    void category(std::string_view name);
    void annotate(std::string_view name, std::uint64_t value) { annotation(name).set_uint_value(value); }
    void annotate(std::string_view name, std::int64_t value) { annotation(name).set_int_value(value); }
    void annotate(std::string_view name, double value) { annotation(name).set_double_value(value); }
    void annotate(std::string_view name, const std::string& value);
    /// Ends the packet that track() or event() began.
    void write();

    /// False: nothing more can be written.
    bool flush();
    [[nodiscard]] bool good() const { return good_; }

private:
    using Names = std::unordered_map<std::string, std::uint64_t>;
    using NewNames =
        google::protobuf::RepeatedPtrField<gpuspy::perfetto::InternedString>* (gpuspy::perfetto::InternedData::*)();

    gpuspy::perfetto::TracePacket& begin();
    gpuspy::perfetto::DebugAnnotation& annotation(std::string_view name);
    /// The number of a name, which is told in the packet's `new_names` where it had none.
    std::uint64_t number(Names& names, std::string_view name, NewNames new_names);

    ByteSink& sink_;
    gpuspy::perfetto::Trace trace_;  // Of one packet: traces may be put one behind the other.
    std::string buffer_;
    Names names_, categories_, annotation_names_;
    std::uint64_t tracks_ = 0;
    bool good_ = true;
};

}  // namespace gpuspy::analysis::perfetto
