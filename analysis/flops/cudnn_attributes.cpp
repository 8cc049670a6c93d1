#include "analysis/flops/cudnn_attributes.hpp"

#include <algorithm>
#include <iterator>

namespace gpuspy::analysis {
namespace {

struct AttributeRange {
    std::int64_t first, last;
    DescriptorKind kind;
};
constexpr AttributeRange kRanges[] = {
    {0, 9, DescriptorKind::kPointwise},
    {100, 106, DescriptorKind::kConvolution},
    {200, 204, DescriptorKind::kHeuristics},
    {300, 304, DescriptorKind::kEngineConfig},
    {400, 407, DescriptorKind::kPlan},
    {700, 705, DescriptorKind::kConvolutionForward},
    {706, 711, DescriptorKind::kConvolutionBackwardData},
    {712, 717, DescriptorKind::kConvolutionBackwardFilter},
    {750, 758, DescriptorKind::kPointwiseOperation},
    {770, 774, DescriptorKind::kOperationWithoutProducts},  // statistics of a tensor
    {780, 796, DescriptorKind::kOperationWithoutProducts},  // batch normalisation: its statistics
    {800, 804, DescriptorKind::kOperationGraph},
    {900, 913, DescriptorKind::kTensor},
    {1300, 1308, DescriptorKind::kEngine},
    {1500, 1503, DescriptorKind::kMatmul},
    {1520, 1527, DescriptorKind::kMatrixMultiply},
    {1610, 1612, DescriptorKind::kOperationWithoutProducts},  // reduction
    {1620, 1630, DescriptorKind::kOperationWithoutProducts},  // batch normalisation: backward, weights
    {1710, 1716, DescriptorKind::kOperationWithoutProducts},  // resampling (pooling), forward
    {1720, 1727, DescriptorKind::kOperationWithoutProducts},  // and backward
    {1800, 1803, DescriptorKind::kOperationWithoutProducts},  // concatenation
    {1900, 1904, DescriptorKind::kOperationWithoutProducts},  // signal
    {1950, 1953, DescriptorKind::kOperationWithoutProducts},  // load of a paged cache
    {2000, 2014, DescriptorKind::kOperationWithoutProducts},  // normalisation, forward
    {2100, 2110, DescriptorKind::kOperationWithoutProducts},  // and backward
    {2200, 2201, DescriptorKind::kOperationWithoutProducts},  // reshape
    {2250, 2257, DescriptorKind::kOperationWithoutProducts},  // band matrix: expand
    {2270, 2276, DescriptorKind::kOperationWithoutProducts},  // and contract
    {2310, 2313, DescriptorKind::kOperationWithoutProducts},  // random numbers
    {2500, 2504, DescriptorKind::kOperationWithoutProducts},  // quantisation by blocks
    {2600, 2605, DescriptorKind::kOperationWithoutProducts},  // and back
    {2800, 2810, DescriptorKind::kAttentionForward},
    {2851, 2862, DescriptorKind::kAttentionBackward},
};

}  // namespace

DescriptorKind kind_of_attribute(std::int64_t attribute) {
    const auto found = std::find_if(std::begin(kRanges), std::end(kRanges), [attribute](const AttributeRange& range) {
        return attribute >= range.first && attribute <= range.last;
    });
    return found == std::end(kRanges) ? DescriptorKind::kOther : found->kind;
}

int level_of(DescriptorKind kind) {
    switch (kind) {
        case DescriptorKind::kOther:
        case DescriptorKind::kPointwise:
        case DescriptorKind::kTensor:
        case DescriptorKind::kConvolution:
        case DescriptorKind::kMatmul:
            return 0;
        case DescriptorKind::kConvolutionForward:
        case DescriptorKind::kConvolutionBackwardData:
        case DescriptorKind::kConvolutionBackwardFilter:
        case DescriptorKind::kMatrixMultiply:
        case DescriptorKind::kAttentionForward:
        case DescriptorKind::kAttentionBackward:
        case DescriptorKind::kPointwiseOperation:
        case DescriptorKind::kOperationWithoutProducts:
            return 1;
        case DescriptorKind::kOperationGraph:
            return 2;
        case DescriptorKind::kHeuristics:
        case DescriptorKind::kEngine:
            return 3;
        case DescriptorKind::kEngineConfig:
            return 4;
        case DescriptorKind::kPlan:
            return 5;
    }
    return 0;
}

}  // namespace gpuspy::analysis
