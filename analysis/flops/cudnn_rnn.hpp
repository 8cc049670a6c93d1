// cuDNN's recurrent networks: their descriptors as they stand, and the work of calls by them. All of its interfaces: one descriptor
// for the data of all steps (cudnnRNNForward, ...Ex), and the older one with a tensor for each step.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "analysis/flops/call_arguments.hpp"
#include "analysis/flops/work.hpp"

namespace gpuspy::analysis {

/// What goes into the first layer.
struct RnnInput {
    std::int64_t type = -1;   ///< cudnnDataType_t
    std::int64_t steps = -1;  ///< Time steps of all sequences; -1: not known.
    std::int64_t size = -1;   ///< Elements of a step.
};

class CudnnRnnState {
public:
    /// A step's tensor, by its handle: its batch is `steps`.
    using TensorLookup = std::function<std::optional<RnnInput>(std::int64_t)>;

    /// cudnnSetRNN...; it succeeded.
    void describe(std::string_view function, const CallArguments& arguments);
    /// cudnnRNNForward..., cudnnRNNBackwardData..., cudnnRNNBackwardWeights...
    [[nodiscard]] WorkAnswer work(const CallArguments& arguments, const TensorLookup& tensor) const;

private:
    struct Network {
        std::int64_t cell = -1, directions = 1, layers = 0, hidden = 0, projected = 0;
        std::int64_t input = -1;  ///< -1: as the data say.
        std::int64_t type = -1;   ///< -1: as the data say.
        std::int64_t math_type = 0;
        bool skips_input = false;
    };

    [[nodiscard]] std::optional<RnnInput> input_of(const CallArguments& arguments, const TensorLookup& tensor) const;

    std::unordered_map<std::int64_t, Network> networks_;  // by handle, as are the data
    std::unordered_map<std::int64_t, RnnInput> data_;
};

}  // namespace gpuspy::analysis
