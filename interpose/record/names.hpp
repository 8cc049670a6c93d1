// Names of kernels by their handles, for traces without device records and for graph nodes.
#pragma once

#include <cstdint>

namespace gpuspy::hook {

/// `handle` (CUfunction, CUkernel) has this name from now on: writes a NameEvent. Starts recording if need be: a process
/// that asks for a kernel uses CUDA.
void remember_name(std::uint64_t handle, const char* name) noexcept;

/// `copy` is another handle of the kernel behind `kernel`, a CUkernel.
void copy_name(std::uint64_t kernel, std::uint64_t copy) noexcept;

/// Whether a name was written for this handle. Lock-free: on the path of every launch.
bool is_name_known(std::uint64_t handle) noexcept;

/// First use of a function or kernel whose name no hook saw: asks the driver (12.3 on). Holds from `since_ticks` on: when the use
/// began, which is before the answer.
void learn_name(std::uint64_t function, std::uint64_t since_ticks) noexcept;

/// A module was unloaded: any handle may come back as another kernel's. Or this is a forked child, whose trace has none.
void forget_names() noexcept;

/// Part of the trace could not be written, and names with it: from now on each is written whenever it comes.
void repeat_names() noexcept;

}  // namespace gpuspy::hook
