// Names of function handles over time: a handle is given out again after its module was unloaded.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/model/mixed_hash.hpp"
#include "analysis/reader/records.hpp"

namespace gpuspy::analysis {

class HandleNames {
public:
    void add(const NameRecord& record);
    void finish();

    /// The name (Symbols::text()) that `handle` had at `ticks`; its first one if it was named later only: a name can be
    /// asked for after the first launch.
    [[nodiscard]] std::optional<std::uint32_t> name_at(std::uint64_t handle, std::uint64_t ticks) const;

private:
    struct Name {
        std::uint64_t ticks;
        std::uint32_t name;
    };
    std::unordered_map<std::uint64_t, std::vector<Name>, MixedHash> names_;
};

}  // namespace gpuspy::analysis
