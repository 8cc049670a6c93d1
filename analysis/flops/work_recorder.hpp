// The work of every call of a trace. The file holds calls by thread, a drain at a time, so two threads' calls need not stand
// in the order in which they were made; descriptors are shared and their addresses given out again, so the order matters.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "analysis/flops/work.hpp"
#include "analysis/reader/records.hpp"
#include "analysis/reader/symbols.hpp"

namespace gpuspy::analysis {

/// Keeps what is needed of the calls that matter (40 bytes and 8 for each argument word), until finish().
class WorkRecorder {
public:
    static constexpr std::uint32_t kNoAnswer = std::numeric_limits<std::uint32_t>::max();

    explicit WorkRecorder(const Symbols& symbols) : symbols_(symbols) {}

    /// Where the call's answer will stand; kNoAnswer: it computes nothing.
    std::uint32_t add(const CallRecord& call);
    /// The answers.
    [[nodiscard]] std::vector<WorkAnswer> finish();

private:
    struct Noted {
        std::uint64_t begin_ticks;
        std::size_t first_word;
        std::uint32_t words, thread, api, flags, answer;
    };

    const Symbols& symbols_;
    std::vector<Noted> calls_;
    std::vector<std::int64_t> words_;
    std::uint32_t answers_ = 0;
};

}  // namespace gpuspy::analysis
