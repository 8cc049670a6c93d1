// Time that threads spend waiting for the device, and what the GPU did meanwhile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/model/model.hpp"

namespace gpuspy::analysis {

struct SyncThread {
    std::uint32_t tid = 0;
    std::string name;
    std::uint64_t time_ns = 0;  ///< Union of its outermost blocking calls.
    double share_of_wall = 0;   ///< At most 1.
};

struct SyncCall {
    std::string name, library;
    std::uint64_t time_ns = 0;  ///< Of the outermost blocking calls of this API, a union per thread, summed.
    double share_of_wall = 0;
    std::uint64_t gpu_busy_ns = 0;  ///< Of that, while some device was busy: waiting for work.
};

struct Sync {
    std::uint64_t time_ns = 0;        ///< Sum over threads.
    double share_of_wall = 0;         ///< Above 1 only with several threads.
    std::uint64_t any_thread_ns = 0;  ///< Some thread was waiting.
    bool gpu_known = false;           ///< The device's clock is related to the host's.
    std::uint64_t gpu_busy_ns = 0;    ///< Of time_ns, while some device was busy: waiting for work.
    std::uint64_t gpu_idle_ns = 0;    ///< The rest: the wait's own latency.
    std::vector<SyncThread> threads;  ///< Those that waited, longest first.
    std::vector<SyncCall> calls;      ///< Longest first.
};

Sync synchronisation(const Model& model);

}  // namespace gpuspy::analysis
