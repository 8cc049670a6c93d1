// The shared objects that are mapped: which library a return address lies in.
#pragma once

#include <cstddef>
#include <cstdint>

struct dl_phdr_info;

namespace gpuspy::sink {

class ObjectMap {
public:
    /// An object that is new since the last snapshot.
    using Visitor = void (*)(void* self, std::uint64_t begin, std::uint64_t end, const char* path,
                             const char* version) noexcept;

    constexpr ObjectMap() noexcept = default;

    /// Whether an object was loaded or unloaded since the last snapshot (by the loader's counters, without a walk).
    bool changed() const noexcept;
    /// Calls `visit` for every object that was not at its place at the last snapshot. The first call maps memory;
    /// without it, nothing is visited. `version` is what follows ".so." in the name of the file that the path leads to.
    void snapshot(Visitor visit, void* self) noexcept;
    /// Everything counts as new again.
    void forget() noexcept;
    /// In a forked child, or at the end: gives the memory back.
    void destroy() noexcept;

    static constexpr std::uint32_t kMaxObjects = 8192;

private:
    struct Object;
    struct Snapshot;
    static int take(dl_phdr_info* info, std::size_t size, void* data) noexcept;
    bool was_there(const Object& object) const noexcept;

    Snapshot* now_ = nullptr;
    Snapshot* before_ = nullptr;
    std::uint64_t adds_ = 0;
    std::uint64_t subs_ = 0;
};

}  // namespace gpuspy::sink
