// NVTX ranges on tracks of their own: of a thread and domain below the thread's, those that start and end anywhere below the
// process's.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/export/perfetto/packet_writer.hpp"
#include "analysis/model/model.hpp"

namespace gpuspy::analysis::perfetto {

class RangeSlices {
public:
    /// The model has a timeline.
    RangeSlices(const Model& model, PacketWriter& out) : model_(model), out_(out) {}

    /// `thread_tracks`: of every thread with a range, by Symbols::threads().
    void write(std::uint64_t process_track, const std::map<std::uint32_t, std::uint64_t>& thread_tracks);

private:
    /// `ranges`: by begin, the enclosing one first. What does not nest goes to further tracks of that name, which a viewer
    /// puts together.
    void write_tracks(std::uint64_t parent, const std::string& name, const std::vector<std::uint32_t>& ranges);
    void begin(gpuspy::perfetto::TrackEvent::Type type, std::uint64_t track, const HostRange& range);

    const Model& model_;
    PacketWriter& out_;
};

}  // namespace gpuspy::analysis::perfetto
