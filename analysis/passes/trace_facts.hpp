// What of one trace can be compared with another: its totals by name, and what tells whether they may be.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/passes/findings.hpp"
#include "analysis/table/table.hpp"

namespace gpuspy::analysis {

enum class Better : std::uint8_t { kNeither, kLess, kMore };

/// A number of a whole trace: docs/comparing.md lists them.
struct Measure {
    std::string name;   ///< "gpu_time", "share.cudnn".
    std::string title;  ///< For a person.
    Unit unit = Unit::kCount;
    Better better = Better::kNeither;
    bool per_image = false;  ///< Known only of a trace whose number of images is.
};

/// What a trace has of one kernel or one API.
struct NamedTotal {
    std::uint64_t count = 0;
    std::optional<std::uint64_t> time_ns;  ///< nullopt: not known.
};

struct TraceFacts {
    std::string path, command;
    std::string host;                             ///< Name of the machine.
    std::vector<std::string> gpus;                ///< Names.
    std::map<std::string, std::string> versions;  ///< "driver", "cudnn", "libtorch_cuda.so" -> version.
    std::string format;                           ///< "1.3", of the file.
    std::string end;                              ///< How the process ended, in words.
    bool died = false;                            ///< Its trace has no clean end, or the command failed.
    std::vector<std::string> incomplete;          ///< Why completeness is not given; empty: complete.
    bool partial = false;                         ///< The file can be read in part only.
    bool device_times = false;                    ///< For any of it.
    std::string no_device_times = "no device times were recorded";  ///< Why not, where there are none.
    std::uint64_t untimed_launches = 0;                             ///< Launches made while there were none.
    bool cpu_since_process_start = false;
    std::optional<double> images;  ///< That the run, or the part of it, worked through, as it was told.
    std::string kept;              ///< What a flight recorder kept of the recording, in words; empty: all of it.
    std::string part;              ///< Which part of the trace this is of, in words; empty: all of it.

    std::map<std::string, double> values;         ///< Of fixed measures, by name; what is not known is not in it.
    std::map<std::string, double> kernel_shares;  ///< By library; "own", "unknown". Only with device times.
    std::map<std::string, double> library_calls;  ///< By library: outermost calls.
    std::map<std::string, NamedTotal> kernels;    ///< By mangled name, over owners.
    std::map<std::pair<std::string, std::string>, NamedTotal> calls;  ///< By library and name.

    /// nullopt: not known. Also of "share.X" and "calls.X", and of those for each image.
    [[nodiscard]] std::optional<double> value(std::string_view measure) const;
};

TraceFacts trace_facts(const Model& model, const Findings& findings);

/// What a kernel's time is counted under in `kernel_shares`: its library, "own" or "unknown".
std::string share_owner(const std::string& library, const std::string& owner);

/// Those that every trace has; those for each image are at the end.
std::span<const Measure> fixed_measures();
/// A measure by its name, "share.cudnn" and "calls.cudnn" too.
std::optional<Measure> find_measure(std::string_view name);

}  // namespace gpuspy::analysis
