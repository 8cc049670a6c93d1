// The table of communication.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/model/model.hpp"

namespace gpuspy::analysis {

struct CollectiveRow {
    std::string name, library;
    std::string datatype;            ///< "" when not known.
    std::uint64_t communicator = 0;  ///< Its number in the table, from 1, in the order of first use by handle.
    std::int64_t rank = -1;          ///< Of this process in the communicator; -1: not known.
    std::int64_t ranks = -1;
    std::uint64_t count = 0;
    std::uint64_t failed = 0;
    std::uint64_t bytes = 0;  ///< Elements given to the calls times their size.
    std::uint64_t host_ns = 0;
};

/// Most bytes first.
std::vector<CollectiveRow> collective_table(const Model& model);

}  // namespace gpuspy::analysis
