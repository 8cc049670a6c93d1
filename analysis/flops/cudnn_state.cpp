#include "analysis/flops/cudnn_state.hpp"

#include <algorithm>
#include <iterator>

#include "analysis/flops/number_format.hpp"

namespace gpuspy::analysis {
namespace {

constexpr std::int64_t kDefaultMath = 0, kFmaMath = 3;  // cudnnMathType_t (cudnn_graph.h)

/// A convolution's call: which of its arguments are the input's and the output's tensor, and the filter's.
struct ConvolutionCall {
    std::string_view function;
    Operation operation;
    std::string_view input, filter, output;  ///< As forward has them: backward's are their gradients.
};
constexpr ConvolutionCall kConvolutions[] = {
    {"cudnnConvolutionForward", Operation::kConvolutionForward, "xDesc", "wDesc", "yDesc"},
    {"cudnnConvolutionBiasActivationForward", Operation::kConvolutionForward, "xDesc", "wDesc", "yDesc"},
    {"cudnnConvolutionBackwardData", Operation::kConvolutionBackwardData, "dxDesc", "wDesc", "dyDesc"},
    {"cudnnConvolutionBackwardFilter", Operation::kConvolutionBackwardFilter, "xDesc", "dwDesc", "dyDesc"},
};

/// What the other calls are, by how their names begin; the first that fits.
struct Beginning {
    std::string_view text;
    bool zero;  ///< No sums of products.
    Unknown cause = Unknown::kNoFormula;
};
constexpr Beginning kBeginnings[] = {
    {"cudnnConvolutionBackwardBias", true},
    {"cudnnConvolution", false, Unknown::kNotKept},  // of cuDNN 5: with other arguments, which are not kept
    {"cudnnFind", false, Unknown::kTrials},
    {"cudnnActivation", true},
    {"cudnnAddTensor", true},
    {"cudnnBatchNormalization", true},
    {"cudnnCTCLoss", true},
    {"cudnnDivisiveNormalization", true},
    {"cudnnDropout", true},
    {"cudnnIm2Col", true},
    {"cudnnLRN", true},
    {"cudnnNormalization", true},
    {"cudnnOpTensor", true},
    {"cudnnPooling", true},
    {"cudnnReduceTensor", true},
    {"cudnnReorderFilter", true},
    {"cudnnRestoreDropout", true},
    {"cudnnScaleTensor", true},
    {"cudnnSetDropout", true},
    {"cudnnSetTensor", true},
    {"cudnnSoftmax", true},
    {"cudnnSpatialTf", true},
    {"cudnnTransform", true},
    {"cudnnMultiHeadAttn", false, Unknown::kNotKept},
};

constexpr std::string_view kRnn = "cudnnRNN", kSetsRnn = "cudnnSetRNN";

Count elements(const std::vector<std::int64_t>& dimensions) {
    Count count = 1;
    for (const std::int64_t dimension : dimensions) {
        count = count * dimension;
    }
    return count;
}

}  // namespace

std::vector<std::int64_t> CudnnState::dimensions_of(const CallArguments& arguments, std::string_view array,
                                                    std::string_view single) {
    const auto values = arguments.array(array);
    std::vector<std::int64_t> dimensions(values.begin(), values.end());
    if (dimensions.empty()) {
        for (std::size_t i = 0; i < single.size(); ++i) {
            if (const auto value = arguments.value(single.substr(i, 1))) dimensions.push_back(*value);
        }
    }
    return dimensions;
}

void CudnnState::describe(std::string_view function, const CallArguments& arguments) {
    if (function.substr(0, kSetsRnn.size()) == kSetsRnn) {
        rnns_.describe(function, arguments);
    } else if (const auto tensor = arguments.value("tensorDesc")) {
        tensors_[*tensor] = {arguments.value_or("dataType", -1), dimensions_of(arguments, "dimA", "nchw")};
    } else if (const auto filter = arguments.value("filterDesc")) {
        // k, c, h, w whatever the format says of their order in memory.
        filters_[*filter] = {arguments.value_or("dataType", -1), dimensions_of(arguments, "filterDimA", "kchw")};
    } else if (const auto convolution = arguments.value("convDesc")) {
        if (function == "cudnnSetConvolutionMathType") {
            math_types_[*convolution] = arguments.value_or("mathType", kDefaultMath);
        } else if (function != "cudnnSetConvolutionGroupCount") {
            math_types_[*convolution] = kDefaultMath;  // described anew: another descriptor at the same address
        }
    }
}

const CudnnState::Shape* CudnnState::find(const std::unordered_map<std::int64_t, Shape>& shapes,
                                          const CallArguments& arguments, std::string_view name) {
    const auto handle = arguments.value(name);
    const auto found = handle ? shapes.find(*handle) : shapes.end();
    return found == shapes.end() ? nullptr : &found->second;
}

WorkAnswer CudnnState::work(std::string_view function, const CallArguments& arguments) const {
    if (function.substr(0, kRnn.size()) == kRnn) {
        return rnns_.work(arguments, [this](std::int64_t handle) -> std::optional<RnnInput> {
            const auto found = tensors_.find(handle);
            if (found == tensors_.end() || found->second.dimensions.size() < 2) return std::nullopt;
            return RnnInput{found->second.type, found->second.dimensions[0], found->second.dimensions[1]};
        });
    }
    const auto call = std::find_if(std::begin(kConvolutions), std::end(kConvolutions),
                                   [function](const ConvolutionCall& row) { return row.function == function; });
    if (call == std::end(kConvolutions)) {
        const auto beginning =
            std::find_if(std::begin(kBeginnings), std::end(kBeginnings),
                         [function](const auto& row) { return function.substr(0, row.text.size()) == row.text; });
        if (beginning == std::end(kBeginnings)) return WorkAnswer::unknown(Unknown::kNoFormula);
        return beginning->zero ? WorkAnswer::zero() : WorkAnswer::unknown(beginning->cause);
    }
    const Shape* const input = find(tensors_, arguments, call->input);
    const Shape* const filter = find(filters_, arguments, call->filter);
    const Shape* const output = find(tensors_, arguments, call->output);
    if (input == nullptr || filter == nullptr || output == nullptr) {
        return WorkAnswer::unknown(Unknown::kNoDescriptor);
    }
    const auto format = cudnn_format(input->type);
    const auto filter_format = cudnn_format(filter->type);
    const auto output_format = cudnn_format(output->type);
    if (!format || !filter_format || !output_format || filter->dimensions.size() < 3) {
        return WorkAnswer::unknown(Unknown::kSenselessSizes);
    }
    // Each element of the output is a sum of (c / groups) x r x s products; of the gradients, each element of the output's
    // gradient takes part in as many.
    const Count products = elements({filter->dimensions.begin() + 1, filter->dimensions.end()});
    const Count flops = elements(output->dimensions) * products * format->multiply_add_flops();
    const Count bytes = format->bytes(elements(input->dimensions)) +
                        filter_format->bytes(elements(filter->dimensions)) +
                        output_format->bytes(elements(output->dimensions));
    if (!flops.valid() || !bytes.valid()) {
        return WorkAnswer::unknown(Unknown::kSenselessSizes);
    }
    const auto convolution = arguments.value("convDesc");
    const auto math_type = convolution ? math_types_.find(*convolution) : math_types_.end();
    const bool fma_only = math_type != math_types_.end() && math_type->second == kFmaMath;
    return WorkAnswer::known({.flops = flops.value(),
                              .type = fma_only ? format->type : cudnn_math(*format),
                              .least_bytes = bytes.value(),
                              .operation = call->operation});
}

}  // namespace gpuspy::analysis
