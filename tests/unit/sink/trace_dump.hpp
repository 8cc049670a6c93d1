// Traces as lines of text, read back by the analysis library's reader: it shares no code with the encoder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuspy::test {

struct TraceDump {
    std::vector<std::string> lines;    ///< One for each record.
    std::vector<std::string> threads;  ///< Those that had calls.
    std::uint64_t blocks = 0;
    std::uint64_t salvaged_blocks = 0;
    bool partial = false;  ///< The reader missed or skipped something.
    std::string fault;     ///< Why nothing could be read; "" if something was.

    /// The lines that begin with `word`.
    [[nodiscard]] std::vector<std::string> of(std::string_view word) const;
    [[nodiscard]] bool has(std::string_view line) const;
};

TraceDump dump_bytes(const std::vector<std::uint8_t>& bytes);
TraceDump dump_file(const std::string& path);

}  // namespace gpuspy::test
