// What a reading of a trace met that it could not read.
#pragma once

#include <cstdint>
#include <string>

namespace gpuspy::analysis {

struct ReadSummary {
    std::uint64_t file_bytes = 0;
    std::uint32_t format_major = 0, format_minor = 0;
    std::uint64_t nonce = 0;
    std::uint64_t start_ticks = 0;  ///< 0 when the header is damaged.
    std::uint64_t blocks = 0, salvaged_blocks = 0;
    std::uint64_t records = 0;

    // Anything but 0 below makes the report a partial one.
    bool header_damaged = false;
    std::uint64_t bad_blocks = 0;      ///< Places where no valid block stood: skipped up to the next valid one.
    std::uint64_t skipped_bytes = 0;   ///< In them.
    std::uint64_t tail_bytes = 0;      ///< After the last whole block: one was being written, or the file was cut.
    std::uint64_t missing_blocks = 0;  ///< Jumps in the numbering of blocks.
    std::uint64_t bad_records = 0;     ///< Records that break the format.
    std::uint64_t orphan_records = 0;  ///< Calls and device records whose dictionary was in a part that is missing.
    bool gave_up = false;              ///< So damaged that looking for more blocks was ended.

    int write_error = 0;  ///< errno value of the first write that failed when it was recorded; 0: none.

    // Not a fault: a newer minor version.
    std::uint64_t unknown_records = 0;

    [[nodiscard]] bool partial() const {
        return header_damaged || bad_blocks != 0 || tail_bytes != 0 || missing_blocks != 0 || bad_records != 0 ||
               orphan_records != 0 || gave_up;
    }

    /// One line that says what is missing; empty if nothing is.
    [[nodiscard]] std::string describe() const;
};

}  // namespace gpuspy::analysis
