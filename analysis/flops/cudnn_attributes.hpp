// cuDNN's backend attributes: what is described, by the number of the attribute that is set. Numbers of
// cudnnBackendAttributeName_t and cudnnBackendAttributeType_t (cudnn_graph.h, cuDNN 8.5 to 9.19; append-only there).
#pragma once

#include <cstdint>

namespace gpuspy::analysis {

/// What kind of descriptor an attribute belongs to. Operations that compute no sums of products are one kind.
enum class DescriptorKind : std::uint8_t {
    kOther,  ///< Its attributes say nothing of the work; also attributes of releases to come.
    kPointwise,
    kTensor,
    kConvolution,
    kMatmul,
    kConvolutionForward,
    kConvolutionBackwardData,
    kConvolutionBackwardFilter,
    kMatrixMultiply,
    kAttentionForward,
    kAttentionBackward,
    kPointwiseOperation,
    kOperationWithoutProducts,
    kOperationGraph,
    kHeuristics,
    kEngine,
    kEngineConfig,
    kPlan,
};

DescriptorKind kind_of_attribute(std::int64_t attribute);

/// How many descriptors lie beneath one of this kind at most: a plan is of a configuration, that of an engine, that of a
/// graph, that of operations, these of tensors.
int level_of(DescriptorKind kind);

namespace cudnn {
inline constexpr std::int64_t kBackendDescriptorType = 15;  // CUDNN_TYPE_BACKEND_DESCRIPTOR: an array of handles

inline constexpr std::int64_t kPointwiseMode = 0;
inline constexpr std::int64_t kHeuristicsGraph = 201, kHeuristicsResults = 202;
inline constexpr std::int64_t kEngineConfigEngine = 300;
inline constexpr std::int64_t kPlanEngineConfig = 401;
inline constexpr std::int64_t kPlanJson = 405;
inline constexpr std::int64_t kConvolutionForwardW = 703, kConvolutionForwardX = 704, kConvolutionForwardY = 705;
inline constexpr std::int64_t kConvolutionBackwardDataW = 709, kConvolutionBackwardDataDx = 710,
                              kConvolutionBackwardDataDy = 711;
inline constexpr std::int64_t kConvolutionBackwardFilterDw = 715, kConvolutionBackwardFilterX = 716,
                              kConvolutionBackwardFilterDy = 717;
inline constexpr std::int64_t kPointwiseDescriptor = 750, kPointwiseX = 751, kPointwiseB = 752, kPointwiseY = 753;
inline constexpr std::int64_t kGraphOperations = 801;
inline constexpr std::int64_t kTensorDataType = 901, kTensorDimensions = 902, kTensorVectorCount = 904;
inline constexpr std::int64_t kTensorIsVirtual = 907, kTensorIsByValue = 908, kTensorRaggedOffset = 913;
inline constexpr std::int64_t kEngineGraph = 1300;
inline constexpr std::int64_t kMatmulA = 1520, kMatmulB = 1521, kMatmulC = 1522;
inline constexpr std::int64_t kMatmulMOverride = 1525, kMatmulNOverride = 1526, kMatmulKOverride = 1527;
inline constexpr std::int64_t kAttentionForwardQ = 2800, kAttentionForwardK = 2801, kAttentionForwardV = 2802;
inline constexpr std::int64_t kAttentionForwardBlockMask = 2806;
inline constexpr std::int64_t kAttentionForwardLengthQ = 2809, kAttentionForwardLengthKv = 2810;
inline constexpr std::int64_t kAttentionBackwardQ = 2851, kAttentionBackwardK = 2852, kAttentionBackwardV = 2853;
inline constexpr std::int64_t kAttentionBackwardLengthQ = 2857, kAttentionBackwardLengthKv = 2858;

// cudnnPointwiseMode_t
inline constexpr std::int64_t kFirstComparison = 300, kLastComparison = 305;  // CMP_EQ to CMP_LE
inline constexpr std::int64_t kGenerateIndex = 501;
}  // namespace cudnn

}  // namespace gpuspy::analysis
