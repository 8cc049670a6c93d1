#include "analysis/passes/libraries.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/passes/ratio.hpp"

namespace gpuspy::analysis {

std::vector<LibraryRow> library_table(const std::vector<KernelRow>& kernels) {
    std::map<std::pair<std::string, std::string>, LibraryRow> owners;
    std::uint64_t total_ns = 0;
    for (const KernelRow& kernel : kernels) {
        LibraryRow& row = owners[{kernel.library, kernel.owner}];
        row.library = kernel.library;
        row.owner = kernel.owner;
        ++row.kernels;
        row.count += kernel.count;
        row.time_ns += kernel.duration.time_ns;
        total_ns += kernel.duration.time_ns;
    }
    std::vector<LibraryRow> rows;
    for (auto& [key, row] : owners) {
        row.share_of_kernels = ratio(row.time_ns, total_ns);
        rows.push_back(std::move(row));
    }
    std::stable_sort(rows.begin(), rows.end(), [](const LibraryRow& a, const LibraryRow& b) {
        return std::tie(b.time_ns, b.count) < std::tie(a.time_ns, a.count);
    });
    return rows;
}

}  // namespace gpuspy::analysis
