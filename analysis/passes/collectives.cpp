#include "analysis/passes/collectives.hpp"

#include <algorithm>
#include <tuple>

namespace gpuspy::analysis {

std::vector<CollectiveRow> collective_table(const Model& model) {
    std::map<std::uint64_t, std::uint64_t> numbers;
    for (const auto& [key, stats] : model.collectives.stats()) {
        numbers.try_emplace(std::get<2>(key), numbers.size() + 1);
    }
    std::vector<CollectiveRow> rows;
    for (const auto& [key, stats] : model.collectives.stats()) {
        const auto& [api, type, handle] = key;
        const ApiInfo& info = model.index.symbols.api(api);
        const auto known = model.collectives.communicators().find(handle);
        const Communicator communicator =
            known == model.collectives.communicators().end() ? Communicator{} : known->second;
        rows.push_back({info.name, info.library, std::string(nccl_type_name(type)), numbers.at(handle),
                        communicator.rank, communicator.ranks, stats.count, stats.failed, stats.bytes, stats.host_ns});
    }
    std::sort(rows.begin(), rows.end(), [](const CollectiveRow& a, const CollectiveRow& b) {
        return std::tie(b.bytes, b.count, a.name, a.datatype, a.communicator) <
               std::tie(a.bytes, a.count, b.name, b.datatype, b.communicator);
    });
    return rows;
}

}  // namespace gpuspy::analysis
