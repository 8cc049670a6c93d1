#include "analysis/export/nested_tracks.hpp"

#include <limits>

namespace gpuspy::analysis {

void NestedTracks::end_until(std::int64_t moment_ns) {
    while (!ends_.empty() && ends_.top().first <= moment_ns) {
        const std::size_t sibling = ends_.top().second;
        ends_.pop();
        std::vector<std::int64_t>& open = open_[sibling];
        // Of a sibling the innermost ends first, so the slice that ends here is the one on top.
        end_(sibling, open.back());
        open.pop_back();
        set_room(sibling);
    }
}

void NestedTracks::set_room(std::size_t sibling) {
    const std::vector<std::int64_t>& open = open_[sibling];
    room_.set(sibling, open.empty() ? std::numeric_limits<std::int64_t>::min() : -open.back());
}

void NestedTracks::add(std::uint32_t position, std::int64_t begin_ns, std::int64_t end_ns) {
    end_until(begin_ns);
    const std::size_t sibling = room_.first_at_most(-end_ns);
    if (sibling >= open_.size()) {
        open_.emplace_back();
    }
    begin_(sibling, position);
    open_[sibling].push_back(end_ns);
    ends_.emplace(end_ns, sibling);
    set_room(sibling);
}

void NestedTracks::finish() {
    end_until(std::numeric_limits<std::int64_t>::max());
}

}  // namespace gpuspy::analysis
