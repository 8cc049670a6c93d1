// Device times: CUPTI, opened in the host process once the host uses the device.
#pragma once

#include <cstdint>

#include "collector/sink/drain.hpp"
#include "interpose/record/call.hpp"
#include "interpose/table/cuda_headers.hpp"

namespace gpuspy::hook {

/// Around the original of a driver call that makes device work. The first one of the process, once the host has initialised
/// the driver, opens CUPTI (set-up).
void device_call_begins(CallFrame& frame) noexcept;

/// Takes the correlation id that CUPTI gave to the call, or says why there is none (untimed, captured). `per_thread`: the
/// call's stream 0 is the thread's own.
void device_call_ends(const CallFrame& frame, CallParts& parts, bool per_thread) noexcept;

/// In its next pass the drain thread has CUPTI give back all that it holds.
void device_flush_next() noexcept;

/// What the drain thread asks for device records.
sink::DeviceSource device_source() noexcept;

/// The high half of graphNodeId in device records of this executable graph; 0 without device times.
std::uint64_t cupti_exec_id(CUgraphExec exec) noexcept;

/// In a forked child: as if never opened, or off if the parent had opened CUPTI.
void device_forget_after_fork() noexcept;

/// The host uses a CUPTI that we cannot share: device times end, host events go on. Written to the trace with the reason.
void device_yield(const char* reason) noexcept;

/// The host is about to call cuptiFinalize, which takes CUPTI away from everybody in the process. True: device times were recorded;
/// calls meanwhile wait (device_call_begins).
bool device_detach(const char* reason) noexcept;
/// It has, or CUPTI refused. The next device call opens CUPTI anew, if it was open before.
void device_detached(bool was_on, bool succeeded) noexcept;

/// After device_yield(): CUPTI refuses the host's copy as long as ours is attached to the driver. Detaches it. False: it was not.
bool device_let_go() noexcept;

/// Returns when no thread is opening CUPTI, or after two seconds: so that the host and we do not take it at the same moment.
void wait_for_device() noexcept;

}  // namespace gpuspy::hook
