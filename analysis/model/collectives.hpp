// Communication between processes: NCCL's collectives and point-to-point calls, and the communicators that they use.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/reader/arguments.hpp"
#include "analysis/reader/records.hpp"
#include "analysis/reader/symbols.hpp"

namespace gpuspy::analysis {

struct Communicator {
    std::int64_t rank = -1;  ///< -1: not known (made by a split, or before the recording).
    std::int64_t ranks = -1;
};

struct CollectiveStats {
    std::uint64_t count = 0;
    std::uint64_t failed = 0;
    std::uint64_t bytes = 0;    ///< Elements given to the call times their size, of the calls that did not fail.
    std::uint64_t host_ns = 0;  ///< Time in the calls.

    CollectiveStats& operator+=(const CollectiveStats& other);
    CollectiveStats& operator-=(const CollectiveStats& other);
};

/// Calls are added in the order in which they return. A collective that is made of others (ncclBcast calls ncclBroadcast)
/// counts once, as what the program called.
class Collectives {
public:
    /// API, datatype (-1: not said), communicator.
    using Key = std::tuple<std::uint32_t, std::int64_t, std::uint64_t>;

    void add(const CallRecord& call, const ApiInfo& api, std::uint64_t duration_ns);

    [[nodiscard]] const std::map<Key, CollectiveStats>& stats() const { return stats_; }
    /// By handle: as it was made last.
    [[nodiscard]] const std::map<std::uint64_t, Communicator>& communicators() const { return communicators_; }

private:
    /// A collective that one which returns later may contain.
    struct Recent {
        std::uint32_t depth;
        std::uint64_t begin_ticks;
        Key key;
        CollectiveStats counted;
    };

    static constexpr std::size_t kMaxRecent = 4096;

    void leave_out_inner(const CallRecord& call);

    std::map<Key, CollectiveStats> stats_;
    std::map<std::uint32_t, std::vector<Recent>> recent_;  ///< by thread; at most kMaxRecent
    std::map<std::uint64_t, Communicator> communicators_;
};

/// ncclDataType_t (nccl.h 2.28): its name without "nccl", "" when not known, and the bytes of an element, 0 when not known.
std::string_view nccl_type_name(std::int64_t type);
std::uint64_t nccl_type_bytes(std::int64_t type);

}  // namespace gpuspy::analysis
