// What the report says of the GPUs and of the versions of CUDA.
#pragma once

#include "collector/sink/drain.hpp"
#include "interpose/device/cupti_api.hpp"

namespace gpuspy::hook {

/// Devices, driver and library versions, as the driver and the loaded libraries give them. On the drain thread, once, after
/// the host initialised CUDA. `cupti` may be nullptr.
void write_device_facts(sink::RecordSink& sink, const CuptiApi* cupti) noexcept;

}  // namespace gpuspy::hook
