#include "analysis/export/perfetto/range_slices.hpp"

#include <algorithm>
#include <utility>

#include "analysis/export/nested_tracks.hpp"

namespace gpuspy::analysis::perfetto {
namespace {

using gpuspy::perfetto::TrackEvent;

std::string track_name(const char* what, const std::string& domain) {
    return domain.empty() ? what : what + (": " + domain);
}

}  // namespace

void RangeSlices::write(std::uint64_t process_track, const std::map<std::uint32_t, std::uint64_t>& thread_tracks) {
    const std::vector<HostRange>& ranges = model_.timeline->ranges;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> of_threads;  // by thread, domain
    std::map<std::uint32_t, std::vector<std::uint32_t>> of_process;                            // by domain
    for (std::uint32_t position = 0; position < ranges.size(); ++position) {
        const HostRange& range = ranges[position];
        (range.kind == Range::Kind::kStartEnd ? of_process[range.domain] : of_threads[{range.thread, range.domain}])
            .push_back(position);
    }
    for (const auto& [key, positions] : of_threads) {
        write_tracks(thread_tracks.at(key.first), track_name("NVTX", model_.index.symbols.text(key.second)), positions);
    }
    for (const auto& [domain, positions] : of_process) {
        write_tracks(process_track, track_name("NVTX start/end", model_.index.symbols.text(domain)), positions);
    }
}

void RangeSlices::write_tracks(std::uint64_t parent, const std::string& name,
                               const std::vector<std::uint32_t>& ranges) {
    std::vector<std::uint64_t> tracks = {out_.named_track(parent, name)};
    NestedTracks nested(
        [&](std::size_t sibling, std::uint32_t position) {
            if (sibling == tracks.size()) {
                tracks.push_back(out_.named_track(parent, name));
            }
            begin(TrackEvent::TYPE_SLICE_BEGIN, tracks[sibling], model_.timeline->ranges[position]);
        },
        [&](std::size_t sibling, std::int64_t end_ns) { out_.end_slice(tracks[sibling], end_ns); });
    for (const std::uint32_t position : ranges) {
        if (!out_.good()) {
            return;
        }
        const HostRange& range = model_.timeline->ranges[position];
        if (range.kind == Range::Kind::kMark) {
            begin(TrackEvent::TYPE_INSTANT, tracks.front(), range);
        } else {
            nested.add(position, range.begin_ns, std::max(range.begin_ns, range.end_ns));
        }
    }
    nested.finish();
}

void RangeSlices::begin(TrackEvent::Type type, std::uint64_t track, const HostRange& range) {
    out_.event(type, track, range.begin_ns);
    out_.name(model_.index.symbols.text(range.name));
    out_.category("nvtx");
    if (range.open) {
        out_.annotate("never ended", std::uint64_t{1});
    }
    out_.write();
}

}  // namespace gpuspy::analysis::perfetto
