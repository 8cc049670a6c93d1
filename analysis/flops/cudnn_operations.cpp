#include "analysis/flops/cudnn_operations.hpp"

namespace gpuspy::analysis {
namespace {

const std::vector<std::int64_t>* dimensions_of(const BackendDescriptor* tensor) {
    if (tensor == nullptr) return nullptr;
    const auto found = tensor->values.find(cudnn::kTensorDimensions);
    return found == tensor->values.end() ? nullptr : &found->second;
}

/// Of the two factors of a product. Where they differ (softmax's results in 32 bits times half-precision values), the wider is
/// rounded to the narrower: tensor cores multiply numbers of one format.
std::optional<NumberFormat> format_of_factors(const BackendDescriptor* left, const BackendDescriptor* right) {
    const auto a = format_of(left), b = format_of(right);
    return !a || !b ? std::nullopt : a->bits <= b->bits ? a : b;
}

/// 2 x elements of the output (or its gradient) x the filter's elements but for its first dimension: a sum of
/// (c / groups) x r x s products for each.
ProductsAnswer convolution(const BackendDescriptor& operation, std::int64_t input_attribute,
                           std::int64_t filter_attribute, std::int64_t output_attribute, Operation kind) {
    const BackendDescriptor* const filter = operation.link(filter_attribute);
    const BackendDescriptor* const output = operation.link(output_attribute);
    const auto* filter_dimensions = dimensions_of(filter);
    // The factors are two of the three tensors; the third is the result.
    const BackendDescriptor* const input = operation.link(input_attribute);
    const auto format = kind == Operation::kConvolutionForward        ? format_of_factors(input, filter)
                        : kind == Operation::kConvolutionBackwardData ? format_of_factors(filter, output)
                                                                      : format_of_factors(input, output);
    if (filter_dimensions == nullptr || dimensions_of(output) == nullptr || !format) return {};
    Count sum = filter->value_or(cudnn::kTensorVectorCount, 1);
    for (std::size_t i = 1; i < filter_dimensions->size(); ++i) sum = sum * (*filter_dimensions)[i];
    return {Products{elements_of(*output) * sum, *format, kind}};
}

/// C (..., m, n) = A (..., m, k) x B (..., k, n).
ProductsAnswer matrix_multiply(const BackendDescriptor& operation) {
    for (const std::int64_t size : {cudnn::kMatmulMOverride, cudnn::kMatmulNOverride, cudnn::kMatmulKOverride}) {
        if (operation.has_link(size)) return {{}, Unknown::kSizesOnDevice};
    }
    const BackendDescriptor* const a = operation.link(cudnn::kMatmulA);
    const BackendDescriptor* const c = operation.link(cudnn::kMatmulC);
    const auto* a_dimensions = dimensions_of(a);
    const auto format = format_of_factors(a, operation.link(cudnn::kMatmulB));
    if (a_dimensions == nullptr || a_dimensions->empty() || dimensions_of(c) == nullptr || !format) return {};
    return {Products{elements_of(*c) * a_dimensions->back(), *format, Operation::kMatrixMultiply}};
}

struct AttentionAttributes {
    std::int64_t q, k, v, length_q, length_kv;
};

/// Q (b, h, sq, d_qk), K (b, h_k, sk, d_qk), V (b, h_v, sk, d_v). Forward is Q K' and P V; backward computes Q K' again, then
/// dO V', P' dO, dS K and dS' Q.
ProductsAnswer attention(const BackendDescriptor& operation, const AttentionAttributes& attributes, Operation kind) {
    const BackendDescriptor* const q = operation.link(attributes.q);
    const auto* q_dimensions = dimensions_of(q);
    const auto* k_dimensions = dimensions_of(operation.link(attributes.k));
    const auto* v_dimensions = dimensions_of(operation.link(attributes.v));
    const auto format = format_of(q);
    if (q_dimensions == nullptr || k_dimensions == nullptr || v_dimensions == nullptr || !format ||
        q_dimensions->size() != 4 || k_dimensions->size() != 4 || v_dimensions->size() != 4) {
        return {};
    }
    if ((kind == Operation::kAttentionForward && operation.has_link(cudnn::kAttentionForwardBlockMask)) ||
        operation.has_link(attributes.length_q) || operation.has_link(attributes.length_kv) ||
        q->has_link(cudnn::kTensorRaggedOffset)) {
        return {{}, Unknown::kSizesOnDevice};
    }
    const Count pairs = Count((*q_dimensions)[0]) * (*q_dimensions)[1] * (*q_dimensions)[2] * (*k_dimensions)[2];
    const Count d_qk = q_dimensions->back(), d_v = v_dimensions->back();
    const Count depth = kind == Operation::kAttentionForward ? d_qk + d_v : d_qk * 3 + d_v * 2;
    return {Products{pairs * depth, *format, kind}};
}

}  // namespace

Count elements_of(const BackendDescriptor& tensor) {
    Count count = tensor.value_or(cudnn::kTensorVectorCount, 1);
    if (const auto* dimensions = dimensions_of(&tensor)) {
        for (const std::int64_t dimension : *dimensions) count = count * dimension;
    }
    return count;
}

std::optional<NumberFormat> format_of(const BackendDescriptor* tensor) {
    return tensor == nullptr ? std::nullopt : cudnn_format(tensor->value_or(cudnn::kTensorDataType, -1));
}

ProductsAnswer products_of(const BackendDescriptor& operation) {
    switch (operation.kind) {
        case DescriptorKind::kConvolutionForward:
            return convolution(operation, cudnn::kConvolutionForwardX, cudnn::kConvolutionForwardW,
                               cudnn::kConvolutionForwardY, Operation::kConvolutionForward);
        case DescriptorKind::kConvolutionBackwardData:
            return convolution(operation, cudnn::kConvolutionBackwardDataDx, cudnn::kConvolutionBackwardDataW,
                               cudnn::kConvolutionBackwardDataDy, Operation::kConvolutionBackwardData);
        case DescriptorKind::kConvolutionBackwardFilter:
            return convolution(operation, cudnn::kConvolutionBackwardFilterX, cudnn::kConvolutionBackwardFilterDw,
                               cudnn::kConvolutionBackwardFilterDy, Operation::kConvolutionBackwardFilter);
        case DescriptorKind::kMatrixMultiply:
            return matrix_multiply(operation);
        case DescriptorKind::kAttentionForward:
            return attention(operation,
                             {cudnn::kAttentionForwardQ, cudnn::kAttentionForwardK, cudnn::kAttentionForwardV,
                              cudnn::kAttentionForwardLengthQ, cudnn::kAttentionForwardLengthKv},
                             Operation::kAttentionForward);
        case DescriptorKind::kAttentionBackward:
            return attention(operation,
                             {cudnn::kAttentionBackwardQ, cudnn::kAttentionBackwardK, cudnn::kAttentionBackwardV,
                              cudnn::kAttentionBackwardLengthQ, cudnn::kAttentionBackwardLengthKv},
                             Operation::kAttentionBackward);
        default:
            return {{}, Unknown::kOperation};
    }
}

}  // namespace gpuspy::analysis
