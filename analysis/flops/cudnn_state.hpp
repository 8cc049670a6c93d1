// cuDNN's calls with descriptors of their own for tensors, filters and convolutions (all of its interface up to version 7):
// the descriptors as they stand, and the work of convolutions by them.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/flops/call_arguments.hpp"
#include "analysis/flops/cudnn_rnn.hpp"
#include "analysis/flops/work.hpp"

namespace gpuspy::analysis {

class CudnnState {
public:
    /// A call that describes; it succeeded.
    void describe(std::string_view function, const CallArguments& arguments);
    /// Any call that computes, but those of the graph interface.
    [[nodiscard]] WorkAnswer work(std::string_view function, const CallArguments& arguments) const;

private:
    struct Shape {
        std::int64_t type = -1;
        std::vector<std::int64_t>
            dimensions;  ///< n, c, then space; filters: k, c / groups, then space. In no other order.
    };

    static std::vector<std::int64_t> dimensions_of(const CallArguments& arguments, std::string_view array,
                                                   std::string_view single);
    static const Shape* find(const std::unordered_map<std::int64_t, Shape>& shapes, const CallArguments& arguments,
                             std::string_view name);

    std::unordered_map<std::int64_t, Shape> tensors_, filters_;  // by handle
    CudnnRnnState rnns_;
    std::unordered_map<std::int64_t, std::int64_t> math_types_;  // of convolutions, by handle: cudnnMathType_t
};

}  // namespace gpuspy::analysis
