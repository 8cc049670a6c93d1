// What calls of the memory APIs say that they allocated and freed: from their kept arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/model/owners.hpp"
#include "analysis/reader/arguments.hpp"
#include "analysis/reader/records.hpp"
#include "analysis/reader/symbols.hpp"

namespace gpuspy::analysis {

enum class MemoryPlace : std::uint8_t {
    kDevice,
    kPinned,      ///< Host memory that the call allocated.
    kRegistered,  ///< Host memory of the program's own, pinned by the call.
    kManaged,
    kPhysical,  ///< Of cuMemCreate: known by a handle, mapped to addresses later.
};

enum class MemoryAction : std::uint8_t {
    kAllocate,
    kFree,
    kRelease,   ///< Of a handle: the memory goes with its last mapping.
    kMap,       ///< A handle to an address.
    kUnmap,     ///< A range of addresses.
    kNotKnown,  ///< Allocates, but its size or address is not in the trace.
};

struct MemoryEvent {
    std::int64_t at_ns = 0;                     ///< An allocation counts from its call's end, a free from its begin.
    std::uint32_t api = 0;                      ///< Symbols::apis()
    std::uint32_t site = OwnerTable::kUnknown;  ///< OwnerTable: the shared object that called.
    MemoryAction action = MemoryAction::kNotKnown;
    MemoryPlace place = MemoryPlace::kDevice;  ///< Of allocations.
    std::uint64_t address = 0;                 ///< Of physical memory, what is mapped apart: its handle.
    std::uint64_t handle = 0;                  ///< kMap: what is mapped.
    std::uint64_t bytes = 0;  ///< Of allocations and mappings. With a pitch the least: width times height.
};

class MemoryEventReader {
public:
    /// Without time and site. nullopt: no such call, or it failed, was captured, or freed nothing (address 0).
    std::optional<MemoryEvent> read(const CallRecord& call, const ApiInfo& api);

private:
    struct Prepared {
        bool concerns = false;
        MemoryAction action = MemoryAction::kNotKnown;
        MemoryPlace place = MemoryPlace::kDevice;
        std::vector<ArgumentField> fields;
    };
    static Prepared prepare(const ApiInfo& api);

    std::unordered_map<std::uint32_t, Prepared> apis_;  // by Symbols::apis()
};

}  // namespace gpuspy::analysis
