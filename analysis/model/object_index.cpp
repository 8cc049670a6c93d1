#include "analysis/model/object_index.hpp"

#include <algorithm>

namespace gpuspy::analysis {

std::string SharedObject::basename() const {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
}

void ObjectIndex::finish() {
    std::stable_sort(objects_.begin(), objects_.end(),
                     [](const SharedObject& a, const SharedObject& b) { return a.ticks < b.ticks; });
}

const SharedObject* ObjectIndex::find(std::uint64_t address, std::uint64_t ticks) const {
    const auto [found, added] = holders_.try_emplace(address);
    if (added) {
        for (const SharedObject& object : objects_) {
            if (address >= object.begin && address < object.end) {
                found->second.push_back(&object);
            }
        }
    }
    const std::vector<const SharedObject*>& holders = found->second;
    if (holders.empty()) {
        return nullptr;
    }
    const SharedObject* result = holders.front();
    for (const SharedObject* holder : holders) {
        if (holder->ticks <= ticks) {
            result = holder;
        }
    }
    return result;
}

}  // namespace gpuspy::analysis
