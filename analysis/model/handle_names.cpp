#include "analysis/model/handle_names.hpp"

#include <algorithm>

namespace gpuspy::analysis {

void HandleNames::add(const NameRecord& record) {
    std::vector<Name>& names = names_[record.handle];
    // The same told again. Between two others, in the order of time, it is news: a trace holds one thread after the other.
    if (names.empty() || names.back().name != record.name || names.back().ticks != record.ticks) {
        names.push_back({record.ticks, record.name});
    }
}

void HandleNames::finish() {
    for (auto& [handle, names] : names_) {
        std::stable_sort(names.begin(), names.end(), [](const Name& a, const Name& b) { return a.ticks < b.ticks; });
        names.erase(
            std::unique(names.begin(), names.end(), [](const Name& a, const Name& b) { return a.name == b.name; }),
            names.end());
    }
}

std::optional<std::uint32_t> HandleNames::name_at(std::uint64_t handle, std::uint64_t ticks) const {
    const auto found = names_.find(handle);
    if (found == names_.end()) {
        return std::nullopt;
    }
    const std::vector<Name>& names = found->second;
    const auto after = std::upper_bound(names.begin(), names.end(), ticks,
                                        [](std::uint64_t value, const Name& name) { return value < name.ticks; });
    return after == names.begin() ? names.front().name : (after - 1)->name;
}

}  // namespace gpuspy::analysis
