#include "analysis/export/activity_names.hpp"

#include <fmt/format.h>

#include "analysis/passes/copies.hpp"
#include "analysis/render/kernel_name.hpp"

namespace gpuspy::analysis {
namespace {

/// As the kind is called elsewhere, with capitals: "Device Static".
std::string memory_name(std::uint32_t kind) {
    std::string name = memory_kind_name(kind);
    if (name.starts_with("kind ")) {
        name = memory_kind_name(0);  // The readers know no others.
    }
    for (std::size_t at = 0; at < name.size(); ++at) {
        if ((at == 0 || name[at - 1] == ' ') && name[at] >= 'a' && name[at] <= 'z') {
            name[at] = static_cast<char>(name[at] - 'a' + 'A');
        }
    }
    return name;
}

}  // namespace

std::string activity_name(const Model& model, const ActivityRecord& record) {
    switch (record.kind) {
        case ActivityKind::kKernel:
            return kernel_name(model.kernel_name(record.name), NameForm::kFull);
        case ActivityKind::kMemcpy:
            return fmt::format("Memcpy {} ({} -> {})", direction_name(record.copy_kind),
                               memory_name(record.source_memory), memory_name(record.destination_memory));
        case ActivityKind::kMemset:
            return fmt::format("Memset ({})", memory_name(record.destination_memory));
    }
    return {};
}

}  // namespace gpuspy::analysis
