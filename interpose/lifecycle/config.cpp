#include "interpose/lifecycle/config.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "interpose/lifecycle/lock.hpp"
#include "interpose/lifecycle/log.hpp"

namespace gpuspy::hook {
namespace {

constinit Config current;
constinit std::atomic<bool> is_read{false};
constinit SetUpLock read_lock;

/// Decimal or 0x; whole string, within bounds.
bool parse_number(const char* text, std::uint64_t lowest, std::uint64_t highest, std::uint64_t* value) noexcept {
    if (*text < '0' || *text > '9') return false;
    char* end = nullptr;
    const int saved_errno = errno;
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 0);
    const bool good = errno == 0 && *end == 0 && number >= lowest && number <= highest;
    errno = saved_errno;
    if (good) *value = number;
    return good;
}

bool is_power_of_two(std::uint64_t value) noexcept {
    return value != 0 && (value & (value - 1)) == 0;
}

/// A variable that takes a number. `complain`: say what is wrong with it.
bool read_number(const char* name, std::uint64_t lowest, std::uint64_t highest, bool power_of_two, bool complain,
                 std::uint64_t* value) noexcept {
    const char* text = getenv(name);
    if (text == nullptr || *text == 0) return false;
    std::uint64_t number = 0;
    const bool good = parse_number(text, lowest, highest, &number) && (!power_of_two || is_power_of_two(number));
    if (good)
        *value = number;
    else if (complain) {
        say("%s=%.80s is not %s from %llu to %llu; the default is used", name, text,
            power_of_two ? "a power of two" : "a number", static_cast<unsigned long long>(lowest),
            static_cast<unsigned long long>(highest));
    }
    return good;
}

void read_numbers(Config& into, bool complain) noexcept {
    std::uint64_t value = 0;
    if (read_number("GPUSPY_DISABLE", 0, 1, false, complain, &value)) into.disabled = value != 0;
    if (read_number("GPUSPY_DEVICE_TIMING", 0, 1, false, complain, &value)) into.device_timing = value != 0;
    if (read_number("GPUSPY_DRAIN_MS", 1, 1000, false, complain, &value))
        into.drain_ms = static_cast<std::uint32_t>(value);
    if (read_number("GPUSPY_RING_KIB", 16, 65536, true, complain, &value)) into.ring_bytes = value << 10;
    if (read_number("GPUSPY_RUN_ID", 1, UINT64_MAX, false, complain, &value)) into.run_id = value;
    if (read_number("GPUSPY_ONLY_PID", 1, INT32_MAX, false, complain, &value)) into.only_pid = value;
}

void read_kept(Config& into, bool complain) noexcept {
    const char* text = getenv("GPUSPY_LAST");
    if (text == nullptr || *text == 0) return;
    if (const char* problem = sink::parse_kept_limit(text, &into.kept); problem != nullptr && complain) {
        say("GPUSPY_LAST=%.80s %s; everything is kept", text, problem);
    }
}

void read_paths(Config& into) noexcept {
    if (getcwd(into.cwd, sizeof into.cwd) == nullptr) into.cwd[0] = 0;
    const char* output = getenv("GPUSPY_OUTPUT");
    if (output == nullptr || *output == 0) output = "trace.bin";
    const int written = *output == '/' ? snprintf(into.output, sizeof into.output, "%s", output)
                                       : snprintf(into.output, sizeof into.output, "%s/%s", into.cwd, output);
    if (written < 0 || static_cast<std::size_t>(written) >= sizeof into.output)
        into.output[0] = 0;  // too long: see session
    if (const char* cupti = getenv("GPUSPY_CUPTI")) snprintf(into.cupti, sizeof into.cupti, "%s", cupti);
    if (const char* nvtx = getenv("NVTX_INJECTION64_PATH")) {
        snprintf(into.nvtx_injection, sizeof into.nvtx_injection, "%s", nvtx);
    }
}

}  // namespace

const Config& config() noexcept {
    // Acquire pairs with the release below: a reader that sees is_read sees all of `current`.
    if (!is_read.load(std::memory_order_acquire)) {
        const Locked guard(read_lock);
        if (!is_read.load(std::memory_order_relaxed)) {
            const int saved_errno = errno;
            read_numbers(current, false);
            read_kept(current, false);
            read_paths(current);
            errno = saved_errno;
            is_read.store(true, std::memory_order_release);
        }
    }
    return current;
}

void report_bad_config() noexcept {
    Config unused;
    read_numbers(unused, true);
    read_kept(unused, true);
}

}  // namespace gpuspy::hook
