// CUPTI's subscriber callback: it tells each driver call that makes device work its correlation id.
#pragma once

#include "interpose/device/cupti_api.hpp"

namespace gpuspy::hook {

/// Subscribes, or shares the host's subscription, and enables the callback for every driver call of the table that makes device work.
CUptiResult subscribe(const CuptiApi& api) noexcept;
void unsubscribe(const CuptiApi& api) noexcept;

}  // namespace gpuspy::hook
