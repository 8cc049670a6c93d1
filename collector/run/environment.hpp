// Where our other files are and what a recorded command finds in its environment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "collector/run/child.hpp"

namespace gpuspy::run {

/// The parts of an installation, found from the running program's own place.
struct Installation {
    std::string library;  ///< libgpuspy.so, "" if it is not there.
    std::string report;   ///< gpuspy-report, "" if it is not there.
    std::string folder;   ///< The program's.
    std::string looked;   ///< Where the library was looked for, for messages.
};

/// `program` is a resolved path. `library_folder`: where the library was to be installed, as seen from the program's folder
/// (so that a tree can be moved); then the folders that distributions use, and the program's own.
Installation find_installation(const std::string& program, const std::string& library_folder);

/// "" if the loader can preload the path, else why not: LD_PRELOAD knows no escape for a space or a colon.
std::string preload_problem(const std::string& library);

/// LD_PRELOAD with the library first, and what was there behind it; a library that is there already is not put twice.
std::string preload_value(const std::string& library, const char* before);

/// The path made absolute against `folder`, links and dots as they are.
std::string absolute_path(const std::string& path, const std::string& folder);

/// "" if a trace can be made at this path, else one line that says why not.
std::string output_problem(const std::string& path);

/// "" if the text is empty or says how much a flight recorder keeps, else one line; `what` stands before the text in it.
std::string kept_limit_problem(const std::string& what, const std::string& text);

struct Settings {
    std::string library;
    std::string output;  ///< Absolute.
    std::uint64_t run_id = 0;
    std::optional<bool> device_timing;
    std::string last;  ///< GPUSPY_LAST; "": as it is in ours.
    bool follow_children = true;
    /// Value of kAsanOptions before, if the program has the address sanitizer's shared runtime, which is told that we may come first.
    std::optional<std::string> asan_options;
};

inline constexpr const char* kAsanOptions = "ASAN_OPTIONS";

/// The variable that makes NVTX hand a program's ranges to a tool.
inline constexpr const char* kNvtxInjection = "NVTX_INJECTION64_PATH";

/// "" if NVTX can be given our library, else one line that says why not: the user's own choice, `before`, is another.
std::string nvtx_problem(const std::string& library, const char* before);

/// How the command's environment differs from ours. `preload_before`, `nvtx_before`: LD_PRELOAD and kNvtxInjection in ours,
/// nullptr where they are not set.
EnvironmentChange child_environment(const Settings& settings, const char* preload_before, const char* nvtx_before);

/// Not 0; random.
std::uint64_t make_run_id();

}  // namespace gpuspy::run
