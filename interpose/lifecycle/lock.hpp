// The set-up lock: held for short, by set-up code alone, never across a call of the host's libraries.
#pragma once

#include "collector/ring/mutex.hpp"

namespace gpuspy::hook {

using ring::Locked;
using SetUpLock = ring::Mutex;

}  // namespace gpuspy::hook
