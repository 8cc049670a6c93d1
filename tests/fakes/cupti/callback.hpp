// The callback half: one subscriber, callbacks on the calling thread.
#pragma once

#include <cstdint>

#include "tests/fakes/driver/tracer.hpp"

namespace sim::cupti {

bool wants_call(std::uint32_t cbid);
void take_call(const ApiCall& call);

/// Enabling or disabling the whole kind DRIVER overrides what cuptiActivityEnableDriverApi chose.
void forget_single_apis();

}  // namespace sim::cupti
