// CUPTI's subscriber callback: it tells each driver call that makes device work its correlation id.
#pragma once

#include "interpose/device/cupti_api.hpp"

namespace gpuspy::hook {

/// Subscribes and enables the callback for every driver call of the table that makes device work.
CUptiResult subscribe(const CuptiApi& api) noexcept;
void unsubscribe(const CuptiApi& api) noexcept;

/// Whether the host registered activity callbacks of its own: to register ours would silently replace them.
bool has_host_registered() noexcept;

/// The library of the host that subscribed to CUPTI or registered activity callbacks; "" when none was seen to.
const char* cupti_holder() noexcept;

/// The host is about to take CUPTI for itself. `caller`: an address in the library that does so; `function`: what it calls.
void host_takes_cupti(const void* caller, const char* function) noexcept;

}  // namespace gpuspy::hook
