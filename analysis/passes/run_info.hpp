// What ran, where, and how it ended.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/model/model.hpp"

namespace gpuspy::analysis {

struct FrameworkLibrary {
    std::string name;     ///< Basename of the shared object.
    std::string version;  ///< Empty if not known.
};

/// The file is the last part of a recording (GPUSPY_LAST).
struct KeptInfo {
    std::uint64_t from_realtime_ns = 0, to_realtime_ns = 0;  ///< 0: the trace does not say when it is from.
    std::uint64_t length_ns = 0;
    KeptRecord dropped{};  ///< What came before; and what limit was asked for.
    std::string text;      ///< The same for a person.
};

struct RunInfo {
    std::optional<ProcessRecord> process;
    std::vector<DeviceRecord> devices;
    std::map<std::string, std::string> info;  ///< "driver_version", "runtime_version" ...
    std::vector<FrameworkLibrary> libraries;  ///< Those of CUDA and of known frameworks.
    std::uint64_t wall_ns = 0;
    bool ended_cleanly = false, salvaged = false;
    std::optional<std::int64_t> wait_status;  ///< As wait(2) gives it, when gpuspy-run was there.
    std::uint64_t wait_pid = 0;               ///< Of whom; 0: of the recorded process.
    std::string end_text;                     ///< How it ended, in words.
    std::optional<KeptInfo> kept;
    std::vector<std::string> notices;
    std::uint64_t threads = 0;
    std::size_t anchors = 0, dropped_anchors = 0;
    ReadSummary reading;
};

RunInfo run_info(const Model& model);

}  // namespace gpuspy::analysis
