// What the environment asks for (docs/architecture.md lists the variables).
#pragma once

#include <cstdint>

#include "collector/sink/kept_limit.hpp"

namespace gpuspy::hook {

struct Config {
    bool disabled = false;
    bool device_timing = true;
    std::uint32_t drain_ms = 20;
    std::uint64_t ring_bytes = 1U << 20;
    std::uint64_t run_id = 0;
    sink::KeptLimit kept{};          ///< Of a flight recorder; all 0: everything is kept.
    std::uint64_t only_pid = 0;      ///< The one process that may record; 0: every one.
    char output[1024] = {};          ///< Absolute.
    char cupti[1024] = {};           ///< "" : to be found.
    char cwd[1024] = {};             ///< When we were loaded.
    char nvtx_injection[1024] = {};  ///< NVTX_INJECTION64_PATH, NVTX's own variable.
};

/// Reads the environment, once, as early as possible: a relative output path means the directory at load. Does not print.
const Config& config() noexcept;

/// One line on stderr for each variable that could not be read. When recording starts: a process without CUDA stays silent.
void report_bad_config() noexcept;

}  // namespace gpuspy::hook
