#include "analysis/arrow/row_tables.hpp"

#include <algorithm>
#include <array>

namespace gpuspy::analysis {
namespace {

constexpr std::array kTables = {
    RowTable{"calls", "hooked calls: API, thread, time, status, the call around it", calls_rows},
    RowTable{"copies", "copies on a device: bytes, kind, time, the call that asked for it", copies_rows},
    RowTable{"devices", "GPUs that the process saw", devices_rows},
    RowTable{"kernels", "kernels that ran on a device: name, grid, time, owner, the call that launched it",
             kernels_rows},
    RowTable{"launches", "launching calls, and what ran on a device because of each", launches_rows},
    RowTable{"processes", "the recorded process: command, host, rank, when the recording began", processes_rows},
    RowTable{"ranges", "NVTX ranges and marks: name, domain, thread, time", ranges_rows},
    RowTable{"sets", "memsets on a device: bytes, time, the call that asked for it", sets_rows},
    RowTable{"threads", "threads that made hooked calls", threads_rows},
};

}  // namespace

std::span<const RowTable> row_tables() {
    return kTables;
}

const RowTable* find_row_table(std::string_view name) {
    const auto found =
        std::find_if(kTables.begin(), kTables.end(), [&](const auto& table) { return name == table.name; });
    return found == kTables.end() ? nullptr : &*found;
}

}  // namespace gpuspy::analysis
