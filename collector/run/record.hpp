// Runs a command, records it, and brings what it left in order.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collector/run/child.hpp"
#include "collector/run/environment.hpp"
#include "collector/run/options.hpp"

namespace gpuspy::run {

/// The exit status that says: gpuspy-run itself failed.
inline constexpr int kOwnFailure = 125;

/// The parts of this installation.
Installation own_installation();

/// One run of a command.
struct RecordRequest {
    std::vector<std::string> command;
    std::string output;  ///< Absolute.
    std::optional<bool> device_timing;
    std::string last;  ///< "": as the environment says.
    bool follow_children = true;
};

struct Recorded {
    ChildResult child;
    std::vector<std::string> traces;  ///< The one at `output` first, if it is there.
};

/// "" or one line that says why nothing can be recorded here.
std::string record_problem(const Installation& installation, const std::string& output);
/// "" or what is wrong with how much the environment wants kept (GPUSPY_LAST).
std::string kept_problem();
/// Says so where the environment forbids any recording.
void warn_if_disabled();
/// Runs the command recorded; says on standard error what went wrong around it, but not how it ended. A command
/// that cannot be started is said too.
Recorded record_once(const Installation& installation, const RecordRequest& request);

/// `gpuspy-run [OPTIONS] -- COMMAND`. Says what it has to say on standard error. Returns the exit status.
int record(const Options& options);

}  // namespace gpuspy::run
