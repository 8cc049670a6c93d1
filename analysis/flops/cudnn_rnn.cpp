#include "analysis/flops/cudnn_rnn.hpp"

#include "analysis/flops/count.hpp"
#include "analysis/flops/number_format.hpp"

namespace gpuspy::analysis {
namespace {

// cudnn_adv.h
constexpr std::int64_t kBidirectional = 1;  // cudnnDirectionMode_t
constexpr std::int64_t kSkipInput = 1;      // cudnnRNNInputMode_t
constexpr std::int64_t kLstm = 2;           // cudnnRNNMode_t
constexpr std::int64_t kFmaMath = 3;        // cudnnMathType_t

/// Matrices of a cell that the input, and as many that its last output, are multiplied with (cuDNN's documentation of
/// cudnnRNNMode_t); 0: no cell that there is.
std::int64_t gates_of(std::int64_t cell) {
    switch (cell) {
        case 0:  // CUDNN_RNN_RELU
        case 1:  // CUDNN_RNN_TANH
            return 1;
        case kLstm:
            return 4;
        case 3:  // CUDNN_GRU
            return 3;
        default:
            return 0;
    }
}

}  // namespace

void CudnnRnnState::describe(std::string_view function, const CallArguments& arguments) {
    if (const auto data = arguments.value("rnnDataDesc")) {
        data_[*data] = {.type = arguments.value_or("dataType", -1),
                        .steps = arguments.value_or("steps", -1),
                        .size = arguments.value_or("vectorSize", -1)};
        return;
    }
    const auto handle = arguments.value("rnn");
    if (!handle) return;
    if (function == "cudnnSetRNNMatrixMathType") {
        networks_[*handle].math_type = arguments.value_or("mathType", 0);
    } else if (function == "cudnnSetRNNProjectionLayers") {
        networks_[*handle].projected = arguments.value_or("proj", 0);
    } else {
        Network& network = networks_[*handle];
        network = {.cell = arguments.value_or("cell", -1),
                   .directions = arguments.value("dir") == kBidirectional ? 2 : 1,
                   .layers = arguments.value_or("layers", -1),
                   .hidden = arguments.value_or("hidden", -1),
                   .projected = arguments.value_or("proj", 0),
                   .input = arguments.value_or("input", -1),
                   .type = arguments.value_or("dataType", -1),
                   .math_type = arguments.value_or("mathType", 0),
                   .skips_input = arguments.value("skip") == kSkipInput};
    }
}

std::optional<RnnInput> CudnnRnnState::input_of(const CallArguments& arguments, const TensorLookup& tensor) const {
    if (const auto steps = arguments.value("seqLength")) {
        auto tensors = arguments.array("xDesc");
        if (tensors.empty()) tensors = arguments.array("dxDesc");
        RnnInput input;
        if (*steps <= 0 || tensors.size() != static_cast<std::uint64_t>(*steps))
            return input;  // more than are recorded
        Count all = 0;
        for (const std::int64_t handle : tensors) {
            const auto step = tensor(handle);
            if (!step) return std::nullopt;
            all = all + Count(step->steps);
            input.type = step->type;
            input.size = step->size;
        }
        if (all.valid()) input.steps = static_cast<std::int64_t>(all.value());
        return input;
    }
    for (const char* name : {"xDesc", "dxDesc"}) {
        const auto handle = arguments.value(name);
        if (!handle) continue;
        const auto found = data_.find(*handle);
        return found == data_.end() ? std::nullopt : std::optional(found->second);
    }
    return std::nullopt;
}

WorkAnswer CudnnRnnState::work(const CallArguments& arguments, const TensorLookup& tensor) const {
    const auto handle = arguments.value("rnn");
    if (!handle) return WorkAnswer::unknown(Unknown::kNotKept);
    const auto found = networks_.find(*handle);
    const auto input = input_of(arguments, tensor);
    if (found == networks_.end() || found->second.cell < 0 || !input)
        return WorkAnswer::unknown(Unknown::kNoDescriptor);
    if (input->steps < 0) return WorkAnswer::unknown(Unknown::kNotKept);
    const Network& network = found->second;
    const auto format = cudnn_format(network.type >= 0 ? network.type : input->type);
    const std::int64_t gates = gates_of(network.cell);
    constexpr std::int64_t kMostLayers = 1 << 16;
    if (!format || gates == 0 || network.layers < 1 || network.layers > kMostLayers) {
        return WorkAnswer::unknown(Unknown::kSenselessSizes);
    }
    const bool projects = network.cell == kLstm && network.projected > 0 && network.projected != network.hidden;
    const Count hidden = network.hidden, output = projects ? network.projected : network.hidden;
    const Count first = network.input >= 0 ? network.input : input->size;
    // A step of a layer multiplies its input and its own last output with a matrix for each gate, in each direction. Each weight takes
    // part in one product a step; of the gradients, too: that of the data and that of the weights are a product each for each of forward's.
    Count weights = 0;
    for (std::int64_t layer = 0; layer < network.layers; ++layer) {
        const Count into = layer > 0 ? output * network.directions : network.skips_input ? Count(0) : first;
        weights = weights + hidden * gates * (into + output) * network.directions;
        if (projects) weights = weights + hidden * output * network.directions;
    }
    const Count steps = input->steps;
    const Count flops = weights * steps * format->multiply_add_flops();
    const Count bytes = format->bytes(weights + steps * (first + output * network.directions));
    if (!flops.valid() || !bytes.valid()) return WorkAnswer::unknown(Unknown::kSenselessSizes);
    return WorkAnswer::known({.flops = flops.value(),
                              .type = network.math_type == kFmaMath ? format->type : cudnn_math(*format),
                              .least_bytes = bytes.value(),
                              .operation = Operation::kMatrixMultiply});
}

}  // namespace gpuspy::analysis
