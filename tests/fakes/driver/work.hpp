// Work on the timeline: a stream runs its work in order, streams overlap, the legacy default stream and blocking
// streams wait for each other. All times are known when work is enqueued.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/fakes/driver/state.hpp"
#include "tests/fakes/driver/tracer.hpp"

namespace sim {

/// What to tell and to call once the lock is released: the tracer and host functions may call anything.
struct Aftermath {
    std::vector<Activity> activities;
    std::vector<Work> host_functions;
    std::uint64_t wait_until_ns = 0;

    /// Host functions run on the calling thread, before the call returns.
    void run();
};

/// When work that is enqueued now can start. Under the lock.
std::uint64_t earliest_start_ns(const CUstream_st& stream);

/// When all that `stream` waits for is complete: with the legacy stream, all blocking streams too. Under the lock.
std::uint64_t completion_ns(const CUstream_st& stream);
std::uint64_t context_completion_ns(const CUctx_st& context);

/// Does `work` from start_ns on and says when it ends. Under the lock. graph_exec 0: a stream's own work.
std::uint64_t perform(const Work& work, const CUstream_st& stream, std::uint64_t start_ns, std::uint32_t graph_exec,
                      std::uint64_t graph_node, Aftermath& after);

/// Runs `work` on the stream, or adds a node to its capture.
CUresult submit(CUstream handle, const Work& work);

/// The graph node that `work` becomes on a capturing stream. Under the lock.
CUgraphNode add_captured_node(CUstream_st& stream, const Work& work);

/// Fails, and invalidates the capture, if the stream is being captured or (legacy stream) a blocking stream is.
/// Under the lock.
CUresult refuse_in_capture(CUstream_st& stream);

/// Work with the copy's kind of memory filled in; `bytes` as one row.
Work linear_copy(const void* destination, const void* source, std::size_t bytes);
Work strided_copy(const CUDA_MEMCPY3D& copy);
Work memory_set(CUdeviceptr destination, unsigned value, unsigned element_bytes, std::size_t width, std::size_t height,
                std::size_t pitch);

}  // namespace sim
