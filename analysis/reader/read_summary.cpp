#include "analysis/reader/read_summary.hpp"

#include <fmt/format.h>

namespace gpuspy::analysis {

std::string ReadSummary::describe() const {
    std::string text;
    const auto add = [&text](const std::string& part) { text += text.empty() ? part : "; " + part; };
    if (header_damaged) {
        add("its header is damaged");
    }
    if (bad_blocks != 0) {
        add(fmt::format("{} damaged place{} ({} bytes) skipped", bad_blocks, bad_blocks == 1 ? "" : "s",
                        skipped_bytes));
    }
    if (missing_blocks != 0) {
        add(fmt::format("blocks are missing in {} place{}", missing_blocks, missing_blocks == 1 ? "" : "s"));
    }
    if (orphan_records != 0) {
        add(fmt::format("{} records cannot be read without the missing part", orphan_records));
    }
    if (bad_records != 0) {
        add(fmt::format("{} records break the format", bad_records));
    }
    if (tail_bytes != 0) {
        add(fmt::format("the last {} bytes are no whole block (cut off, or being written)", tail_bytes));
    }
    if (gave_up) {
        add("too damaged to look further");
    }
    return text;
}

}  // namespace gpuspy::analysis
