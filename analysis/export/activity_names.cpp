#include "analysis/export/activity_names.hpp"

#include <fmt/format.h>

#include <array>

#include "analysis/passes/copies.hpp"
#include "analysis/render/kernel_name.hpp"

namespace gpuspy::analysis {
namespace {

/// CUpti_ActivityMemoryKind (cupti_activity.h).
const char* memory_name(std::uint32_t kind) {
    static constexpr std::array kNames = {"Unknown", "Pageable", "Pinned",        "Device",
                                          "Array",   "Managed",  "Device Static", "Managed Static"};
    return kind < kNames.size() ? kNames[kind] : kNames[0];
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
