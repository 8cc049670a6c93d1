// Achieved FLOP/s, what it is of the peak, arithmetic intensity: from executions of library calls whose work is known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/flops/peaks.hpp"
#include "analysis/flops/work.hpp"

namespace gpuspy::analysis {

/// A library call's work, executed once: by the call itself, or by one launch of a graph that it was captured into.
struct WorkExecution {
    std::string_view library, api;
    WorkAnswer answer;         ///< Not WorkAnswer::Kind::kComputesNothing.
    std::size_t device = 0;    ///< Position in FlopsInput::devices.
    std::uint64_t gpu_ns = 0;  ///< Sum over its device records, copies and sets included.
    std::uint64_t kernel_ns = 0, kernels = 0;
    bool timed = true;  ///< All of its device records have a usable time, and there are some.
    /// Of its device time, the part that was selected: what counts of its FLOPs and bytes.
    double share = 1;
};

struct FlopsDevice {
    std::string name;
    DevicePeaks peaks;
    std::uint64_t kernel_ns = 0;  ///< Sum over its kernels.
    std::uint64_t busy_ns = 0;    ///< Union of all its device records.
};

struct FlopsInput {
    std::vector<WorkExecution> executions;
    std::vector<FlopsDevice> devices;
    std::uint64_t wall_ns = 0;
};

/// Time of kernels by what is known of the work that it went into. They add up to `kernel_ns`.
struct CoveredTime {
    std::uint64_t kernel_ns = 0;
    std::uint64_t known_ns = 0;
    std::uint64_t zero_ns = 0;     ///< Library calls that compute no sums of products.
    std::uint64_t unknown_ns = 0;  ///< Library calls of unknown work.
    std::uint64_t other_ns = 0;    ///< Outside library calls.
};

/// FLOPs and bytes are numbers of any size: a GPU does 2^64 FLOPs in some hours. They are whole below 2^53, but for parts of
/// operations. Rates and shares of a peak are nullopt where they are not known: no work is known, or no peak, or no time.
struct FlopsTotal {
    std::string device;
    CoveredTime time;
    std::uint64_t busy_ns = 0;
    std::optional<double> covered;  ///< Share of the kernels' time in calls of known work.
    std::optional<double> flops;
    std::optional<double> per_s_of_wall, per_s_of_busy;
    /// The time that the work would take at the peaks of its types / wall, and / busy: of mixed types, too.
    std::optional<double> utilisation_of_wall, utilisation_of_busy;
};

struct FlopsRow {
    std::string library, api;
    Operation operation = Operation::kMatrixMultiply;
    MathType type = MathType::kOther;
    std::uint64_t executions = 0, kernels = 0, gpu_ns = 0;
    double flops = 0, least_bytes = 0;
    std::optional<double> per_s;          ///< flops / gpu_ns
    std::optional<double> intensity;      ///< flops / least_bytes
    std::optional<double> share_of_peak;  ///< Time at the peak / GPU time.
    std::optional<double> share_of_roof;  ///< The longer of time at the peak and time for the least bytes / GPU time.
    std::optional<bool> memory_bound;     ///< The bytes take longer.
};

struct TypeRow {
    std::string device;
    MathType type = MathType::kOther;
    double flops = 0;
    std::uint64_t gpu_ns = 0;
    std::optional<double> per_s, share_of_peak;
    Peak peak;
};

struct UnknownRow {
    std::string library, api;
    Unknown cause = Unknown::kNoFormula;
    std::uint64_t executions = 0, gpu_ns = 0;
    std::optional<double> share_of_kernels;  ///< Of the time of all kernels, that of its own.
};

struct FlopsReport {
    std::vector<FlopsTotal> totals;  ///< One for each device; of several, then of all.
    std::vector<FlopsRow> rows;      ///< Longest GPU time first, as are the next two.
    std::vector<TypeRow> types;
    std::vector<UnknownRow> unknown;
};

FlopsReport flops_report(const FlopsInput& input);

}  // namespace gpuspy::analysis
