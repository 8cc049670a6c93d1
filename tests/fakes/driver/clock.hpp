// The device's clock, in nanoseconds since the epoch.
#pragma once

#include <cstdint>

namespace sim {

std::uint64_t now_ns();

/// Returns once the clock shows `time_ns`: a manual clock is moved there. A cancellation point when it waits.
void wait_until_ns(std::uint64_t time_ns);

}  // namespace sim
