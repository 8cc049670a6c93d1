// The host as a user of CUPTI: who it is, and which copy of the library it uses.
//
// CUPTI has one subscriber and one set of activity callbacks in a process. Where the host uses the same copy as we do, both are
// shared (shared_subscriber.hpp, shared_buffers.hpp); where it uses another, we give way (device.hpp).
#pragma once

#include <cstddef>

namespace gpuspy::hook {

/// Whether a hooked call of CUPTI is the host's, and device times are wanted in this process: else it goes to its original, as it
/// is. `caller`: an address in the code that calls. The first such caller is the holder.
bool is_hosts_cupti_call(const void* caller) noexcept;

/// Whether `function` belongs to the copy that is shared, which is the first one that the host or we used.
bool is_shared_copy(const void* function) noexcept;

/// Path of that copy; "" before any was used.
const char* shared_copy_path() noexcept;

/// The library that a callback of the host's is in stays loaded from now on: CUPTI, which the host would have switched off before it
/// unloads it, goes on for us.
void keep_loaded(const void* callback) noexcept;

/// The library of the host that was first to use CUPTI; "" when none was seen to.
const char* cupti_holder() noexcept;

}  // namespace gpuspy::hook
