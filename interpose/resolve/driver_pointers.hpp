// Pointers to driver functions: which hook stands for which address.
#pragma once

#include "interpose/table/cuda_headers.hpp"

namespace gpuspy::hook {

/// What the host asked for, as cuGetProcAddress takes it.
struct DriverQuestion {
    const char* name;
    int version;  ///< 0: not told.
    cuuint64_t flags;
};

/// The arguments of cuGetProcAddress, cuGetProcAddress_v2 and cudaGetDriverEntryPointByVersion; and of cudaGetDriverEntryPoint.
template <class Version, class... Rest>
DriverQuestion question_of(const char* name, void**, Version version, unsigned long long flags, Rest...) noexcept {
    return {name, static_cast<int>(version), flags};
}
template <class Status>
DriverQuestion question_of(const char* name, void**, unsigned long long flags, Status*) noexcept {
    return {name, 0, flags};
}

/// A wrapper bound to `pointer`, which the driver, or a library that stands in front of it, gave as the answer; `pointer` itself
/// when it is no function of the table (counted when it is a form of one).
void* hook_for_driver_pointer(void* pointer, const DriverQuestion& question) noexcept;

/// After an unload: which function lay where in a library that is gone says nothing of what will lie there.
void forget_unloaded_driver_pointers() noexcept;

}  // namespace gpuspy::hook
