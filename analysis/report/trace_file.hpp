// What all commands of gpuspy-report share: opening traces, and how they fail.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "analysis/model/build_model.hpp"
#include "analysis/reader/byte_source.hpp"
#include "analysis/reader/fault.hpp"
#include "analysis/report/progress.hpp"

namespace gpuspy::report {

/// Says one line on standard error; the exit status.
int fail(const std::string& message, analysis::ExitCode code);
/// The same, for a trace of which some could not be read.
int partly_readable(const std::string& path, const analysis::ReadSummary& reading);

/// Empties the rings of the trace's process into it where that is dead, and says what rings of an older gpuspy were removed.
void salvage(const std::string& path);

enum class WithTimeline : std::uint8_t {
    kNo,
    kYes,
    kIfSmall,  ///< Of up to kSmallEvents calls and device records, some 200 MB: more must be asked for.
};
inline constexpr std::uint64_t kSmallEvents = 500'000;

/// The model of the trace at `path`, whose rings are emptied into it first where its owner is dead. nullptr after saying
/// why not, with the exit status in `status`. What takes long says how far it is.
std::unique_ptr<analysis::Model> load(const std::string& path, WithTimeline timeline, int& status,
                                      const ProgressTiming& progress_timing = {});

}  // namespace gpuspy::report
