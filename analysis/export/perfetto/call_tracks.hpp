// A thread's calls as slices of tracks on which slices nest.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/model/timeline.hpp"

namespace gpuspy::analysis::perfetto {

/// Calls of a thread nest; those of a damaged trace may not, and one that reaches beyond the call around it goes to a
/// sibling of the track, as deep as needed.
class CallTracks {
public:
    /// `begin(sibling, call)` and `end(sibling, end_ns)`, of each sibling in the order in which a reader must get them.
    CallTracks(std::function<void(std::size_t, std::uint32_t)> begin,
               std::function<void(std::size_t, std::int64_t)> end)
        : begin_(std::move(begin)), end_(std::move(end)) {}

    /// By begin, outer calls first.
    void add(std::uint32_t position, std::int64_t begin_ns, std::int64_t end_ns);
    /// Ends what is open.
    void finish();

private:
    void end_until(std::size_t sibling, std::int64_t moment_ns);

    std::function<void(std::size_t, std::uint32_t)> begin_;
    std::function<void(std::size_t, std::int64_t)> end_;
    std::vector<std::vector<std::int64_t>> open_;  ///< By sibling: when the open calls end, the innermost last.
};

}  // namespace gpuspy::analysis::perfetto
