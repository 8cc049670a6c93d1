#include "analysis/export/nested_tracks.hpp"

#include <limits>

namespace gpuspy::analysis {

void NestedTracks::end_until(std::size_t sibling, std::int64_t moment_ns) {
    std::vector<std::int64_t>& open = open_[sibling];
    while (!open.empty() && open.back() <= moment_ns) {
        end_(sibling, open.back());
        open.pop_back();
    }
}

void NestedTracks::add(std::uint32_t position, std::int64_t begin_ns, std::int64_t end_ns) {
    for (std::size_t sibling = 0;; ++sibling) {
        if (sibling == open_.size()) {
            open_.emplace_back();
        }
        end_until(sibling, begin_ns);
        if (open_[sibling].empty() || open_[sibling].back() >= end_ns) {
            begin_(sibling, position);
            open_[sibling].push_back(end_ns);
            return;
        }
    }
}

void NestedTracks::finish() {
    for (std::size_t sibling = 0; sibling < open_.size(); ++sibling) {
        end_until(sibling, std::numeric_limits<std::int64_t>::max());
    }
}

}  // namespace gpuspy::analysis
