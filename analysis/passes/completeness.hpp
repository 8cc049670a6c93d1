// Are all launches and all device records accounted for? docs/metrics.md says what "complete" means.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/model/model.hpp"

namespace gpuspy::analysis {

struct LossRow {
    std::string cause;  ///< Name in the JSON report: "ring_full", "cupti_dropped" ...
    std::string text;   ///< The same for a person, with what is counted.
    std::uint64_t count = 0;
};

struct UnmatchedRow {
    std::string mangled;
    std::uint64_t launches = 0, records = 0, not_returned = 0;
};

struct Completeness {
    bool complete = false;
    bool device_times = false;  ///< Device times were recorded at any time.
    LaunchCounts launches;
    std::uint64_t untimed_records = 0;  ///< Kernel, copy and set records without a usable time.
    std::vector<LossRow> losses;        ///< Those that are not 0.
    std::vector<UnmatchedRow> unmatched;
    std::vector<std::string> reasons;  ///< Why it is not complete: one line each.
};

Completeness completeness(const Model& model);

}  // namespace gpuspy::analysis
