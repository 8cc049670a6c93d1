// What lasts on the host, a thread's calls or ranges, as slices of tracks on which slices nest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "analysis/model/first_fit.hpp"

namespace gpuspy::analysis {

/// What reaches beyond the slice around it (start/end ranges do, calls of a damaged trace may) goes to a sibling of the
/// track, as deep as needed.
class NestedTracks {
public:
    /// `begin(sibling, position)` and `end(sibling, end_ns)`, of each sibling in the order in which a reader must get them.
    NestedTracks(std::function<void(std::size_t, std::uint32_t)> begin,
                 std::function<void(std::size_t, std::int64_t)> end)
        : begin_(std::move(begin)), end_(std::move(end)) {}

    /// By begin, the enclosing one first.
    void add(std::uint32_t position, std::int64_t begin_ns, std::int64_t end_ns);
    /// Ends what is open.
    void finish();

private:
    void end_until(std::int64_t moment_ns);
    void set_room(std::size_t sibling);

    std::function<void(std::size_t, std::uint32_t)> begin_;
    std::function<void(std::size_t, std::int64_t)> end_;
    using End = std::pair<std::int64_t, std::size_t>;  // When, of which sibling.

    std::vector<std::vector<std::int64_t>> open_;  // By sibling: when the open slices end, the innermost last.
    std::priority_queue<End, std::vector<End>, std::greater<>> ends_;  // Of all that is open.
    FirstFit room_;  // By sibling: minus the end of its innermost slice, which is the last moment for one inside it.
};

}  // namespace gpuspy::analysis
