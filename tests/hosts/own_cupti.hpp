// What the programs that use CUPTI themselves share: activity records, taken as profilers inside frameworks do, and what they say of them.
#pragma once

#include <cupti.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "tests/hosts/host.hpp"

namespace own_cupti {

inline constexpr host::Kernel kBefore{"_Z6beforev"};
inline constexpr host::Kernel kWatched{"_Z7watchedv"};
inline constexpr host::Kernel kBetween{"_Z7betweenv"};

// -- activity records, taken as torch.profiler does: in the host's own flush, of buffers that CUPTI still held ------------------

inline std::mutex api_lock;  ///< Held by a host that enables and disables; its callbacks take it too.
inline std::mutex held_lock;
inline std::set<std::uint8_t*> held;
inline std::map<std::string, int> counts;
inline bool is_flushing = false;
inline bool takes_early = false;
inline bool counts_others = false;  ///< Calls by threads that the host did not make.

inline void CUPTIAPI request(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
    *bytes = std::size_t{64} << 10;
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, *bytes));
    *max_records = 0;
    const std::lock_guard guard(held_lock);
    held.insert(*buffer);
}

inline void read(std::uint8_t* buffer, std::size_t valid_bytes) {
    CUpti_Activity* record = nullptr;
    while (cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
        switch (record->kind) {
            case CUPTI_ACTIVITY_KIND_KERNEL:
            case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
                const auto* kernel = reinterpret_cast<CUpti_ActivityKernel10*>(record);
                ++counts[kernel->name];
                break;
            }
            case CUPTI_ACTIVITY_KIND_DRIVER:
                if (counts_others &&
                    reinterpret_cast<CUpti_ActivityAPI*>(record)->threadId != static_cast<std::uint32_t>(gettid())) {
                    ++counts["calls of other threads"];
                }
                // How many others there are is the runtime's affair.
                if (reinterpret_cast<CUpti_ActivityAPI*>(record)->cbid == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel) {
                    ++counts["calls"];
                }
                break;
            default:
                ++counts["kind " + std::to_string(record->kind)];
        }
    }
}

inline void CUPTIAPI complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid_bytes) {
    const std::lock_guard no_changes(api_lock);
    const std::lock_guard guard(held_lock);
    if (held.erase(buffer) != 1) {
        std::printf("a buffer that was never given\n");
        return;
    }
    if (is_flushing || takes_early) {
        read(buffer, valid_bytes);
    }
    if (!is_flushing) {
        ++counts["early buffer"];
    }
    std::free(buffer);
}

inline void flush(std::uint32_t flag = 0) {
    if (held.empty()) {
        ++counts["nothing to flush"];
        return;
    }
    is_flushing = true;
    host::must("cuptiActivityFlushAll", cuptiActivityFlushAll(flag));
    is_flushing = false;
}

inline void say_counts(const char* what) {
    std::printf("%s:", what);
    for (const auto& [name, count] : counts) {
        std::printf(" %s %d", name.c_str(), count);
    }
    std::printf("\n");
    counts.clear();
}

inline void disable(std::initializer_list<CUpti_ActivityKind> kinds) {
    const std::lock_guard no_callbacks(api_lock);
    for (const CUpti_ActivityKind kind : kinds) {
        host::must("cuptiActivityDisable", cuptiActivityDisable(kind));
    }
}

inline void start(std::initializer_list<CUpti_ActivityKind> kinds) {
    const std::lock_guard no_callbacks(api_lock);
    host::must("cuptiActivityRegisterCallbacks", cuptiActivityRegisterCallbacks(request, complete));
    for (const CUpti_ActivityKind kind : kinds) {
        host::must("cuptiActivityEnable", cuptiActivityEnable(kind));
    }
}

inline void stop(std::initializer_list<CUpti_ActivityKind> kinds, const char* what) {
    disable(kinds);
    flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    say_counts(what);
}

/// Where it depends on others whether CUPTI holds a buffer of the host's at all.
inline void stop_what_wrote_nothing(CUpti_ActivityKind kind, const char* what) {
    disable({kind});
    flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    counts.erase("nothing to flush");
    say_counts(what);
}

inline void launch(const host::Kernel& kernel, int times) {
    for (int i = 0; i < times; ++i) {
        host::must("launch", host::launch(kernel));
    }
    host::must("cudaDeviceSynchronize", cudaDeviceSynchronize());
}

inline void copy() {
    static char from[256];
    void* to = nullptr;
    host::must("cudaMalloc", cudaMalloc(&to, sizeof from));
    host::must("cudaMemcpy", cudaMemcpy(to, from, sizeof from, cudaMemcpyHostToDevice));
    host::must("cudaFree", cudaFree(to));
}

inline constexpr auto kKernels = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
inline constexpr auto kCopies = CUPTI_ACTIVITY_KIND_MEMCPY;
inline constexpr auto kDriver = CUPTI_ACTIVITY_KIND_DRIVER;

struct Mode {
    const char* name;
    void (*run)();
};

template <std::size_t Count>
int run(int argc, char** argv, const Mode (&modes)[Count]) {
    host::register_kernels({&kBefore, &kWatched, &kBetween});
    for (const Mode& mode : modes) {
        if (argc > 1 && std::strcmp(argv[1], mode.name) == 0) {
            mode.run();
            return 0;
        }
    }
    std::printf("%s: no such mode\n", argv[0]);
    return 2;
}

}  // namespace own_cupti
