// The shared objects that are mapped: which library a return address lies in.
#pragma once

#include <cstdint>

namespace gpuspy::sink {

class ObjectMap {
public:
    constexpr ObjectMap() noexcept = default;

    /// Whether an object was loaded or unloaded since the last snapshot (by the loader's counters, without a walk).
    bool changed() noexcept;
    /// Calls `visit(self, begin, end, path)` for every object that was not there, at the same place, at the last snapshot.
    void snapshot(void (*visit)(void* self, std::uint64_t begin, std::uint64_t end, const char* path) noexcept,
                  void* self) noexcept;
    /// Everything counts as new again.
    void forget() noexcept;

    static constexpr std::uint32_t kMaxObjects = 8192;

private:
    struct Seen {
        std::uint64_t begin;
        std::uint64_t end;
        std::uint64_t path_hash;
    };
    Seen* seen_ = nullptr;
    std::uint32_t seen_count_ = 0;
    std::uint64_t adds_ = 0;
    std::uint64_t subs_ = 0;
};

}  // namespace gpuspy::sink
