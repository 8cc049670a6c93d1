// A bounded map from a handle of CUDA to a word of ours, for set-up hooks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "interpose/lifecycle/lock.hpp"

namespace gpuspy::hook {

/// Constant-initialised; its memory (16 MiB of address space, touched as it fills) is mapped at the first set().
class HandleMap {
public:
    constexpr HandleMap() noexcept = default;
    HandleMap(const HandleMap&) = delete;
    HandleMap& operator=(const HandleMap&) = delete;

    /// Replaces what was there: handles come back. When there is no room near the handle's place nothing is kept.
    void set(std::uint64_t handle, std::uint64_t value) noexcept;

    /// 0: not known.
    std::uint64_t get(std::uint64_t handle) noexcept;

private:
    struct Entry {
        std::uint64_t handle;
        std::uint64_t value;
    };

    Entry* find(std::uint64_t handle) noexcept;

    SetUpLock lock_;
    Entry* entries_ = nullptr;
};

}  // namespace gpuspy::hook
