#include "analysis/flops/number_format.hpp"

#include <algorithm>
#include <iterator>

namespace gpuspy::analysis {
namespace {

struct NumberedFormat {
    std::int64_t number;
    NumberFormat format;
};

constexpr NumberedFormat kCudaFormats[] = {
    {0, {MathType::kFp32, false, 32}},    // CUDA_R_32F
    {1, {MathType::kFp64, false, 64}},    // CUDA_R_64F
    {2, {MathType::kFp16, false, 16}},    // CUDA_R_16F
    {3, {MathType::kInt8, false, 8}},     // CUDA_R_8I
    {4, {MathType::kFp32, true, 64}},     // CUDA_C_32F
    {5, {MathType::kFp64, true, 128}},    // CUDA_C_64F
    {6, {MathType::kFp16, true, 32}},     // CUDA_C_16F
    {7, {MathType::kInt8, true, 16}},     // CUDA_C_8I
    {8, {MathType::kInt8, false, 8}},     // CUDA_R_8U
    {9, {MathType::kInt8, true, 16}},     // CUDA_C_8U
    {10, {MathType::kOther, false, 32}},  // CUDA_R_32I
    {14, {MathType::kBf16, false, 16}},   // CUDA_R_16BF
    {15, {MathType::kBf16, true, 32}},    // CUDA_C_16BF
    {16, {MathType::kOther, false, 4}},   // CUDA_R_4I
    {18, {MathType::kOther, false, 4}},   // CUDA_R_4U
    {28, {MathType::kFp8, false, 8}},     // CUDA_R_8F_E4M3
    {29, {MathType::kFp8, false, 8}},     // CUDA_R_8F_E5M2
    {31, {MathType::kOther, false, 6}},   // CUDA_R_6F_E2M3
    {32, {MathType::kOther, false, 6}},   // CUDA_R_6F_E3M2
    {33, {MathType::kFp4, false, 4}},     // CUDA_R_4F_E2M1
};

constexpr NumberedFormat kCudnnFormats[] = {
    {0, {MathType::kFp32, false, 32}},    // CUDNN_DATA_FLOAT
    {1, {MathType::kFp64, false, 64}},    // CUDNN_DATA_DOUBLE
    {2, {MathType::kFp16, false, 16}},    // CUDNN_DATA_HALF
    {3, {MathType::kInt8, false, 8}},     // CUDNN_DATA_INT8
    {4, {MathType::kOther, false, 32}},   // CUDNN_DATA_INT32
    {5, {MathType::kInt8, false, 8}},     // CUDNN_DATA_INT8x4: dimensions count single elements
    {6, {MathType::kInt8, false, 8}},     // CUDNN_DATA_UINT8
    {7, {MathType::kInt8, false, 8}},     // CUDNN_DATA_UINT8x4
    {8, {MathType::kInt8, false, 8}},     // CUDNN_DATA_INT8x32
    {9, {MathType::kBf16, false, 16}},    // CUDNN_DATA_BFLOAT16
    {10, {MathType::kOther, false, 64}},  // CUDNN_DATA_INT64
    {11, {MathType::kOther, false, 8}},   // CUDNN_DATA_BOOLEAN
    {12, {MathType::kFp8, false, 8}},     // CUDNN_DATA_FP8_E4M3
    {13, {MathType::kFp8, false, 8}},     // CUDNN_DATA_FP8_E5M2
    {15, {MathType::kOther, false, 8}},   // CUDNN_DATA_FP8_E8M0
    {16, {MathType::kFp4, false, 4}},     // CUDNN_DATA_FP4_E2M1
    {17, {MathType::kOther, false, 4}},   // CUDNN_DATA_INT4
    {18, {MathType::kOther, false, 4}},   // CUDNN_DATA_UINT4
    {19, {MathType::kOther, false, 32}},  // CUDNN_DATA_UINT32
    {20, {MathType::kFp32, true, 64}},    // CUDNN_DATA_COMPLEX_FP32
    {21, {MathType::kFp64, true, 128}},   // CUDNN_DATA_COMPLEX_FP64
};

template <std::size_t N>
std::optional<NumberFormat> find_format(const NumberedFormat (&formats)[N], std::int64_t number) {
    const auto found = std::find_if(std::begin(formats), std::end(formats),
                                    [number](const NumberedFormat& row) { return row.number == number; });
    return found == std::end(formats) ? std::nullopt : std::optional(found->format);
}

}  // namespace

std::optional<NumberFormat> cuda_format(std::int64_t type) {
    return find_format(kCudaFormats, type);
}

std::optional<NumberFormat> cudnn_format(std::int64_t type) {
    return find_format(kCudnnFormats, type);
}

MathType cublas_math(const NumberFormat& format, std::int64_t compute_type, bool tf32_by_mode) {
    if (format.type != MathType::kFp32) {
        return format.type;
    }
    switch (compute_type) {  // cublasComputeType_t, cublas_api.h
        case 69:             // CUBLAS_COMPUTE_32F_PEDANTIC
        case 78:             // CUBLAS_COMPUTE_32F_EMULATED_16BFX9: counted as the FP32 that it stands for
            return MathType::kFp32;
        case 74:  // CUBLAS_COMPUTE_32F_FAST_16F
            return MathType::kFp16;
        case 75:  // CUBLAS_COMPUTE_32F_FAST_16BF
            return MathType::kBf16;
        case 77:  // CUBLAS_COMPUTE_32F_FAST_TF32
            return MathType::kTf32;
        default:
            return tf32_by_mode ? MathType::kFp32OrTf32 : MathType::kFp32;
    }
}

MathType cudnn_math(const NumberFormat& format) {
    return format.type == MathType::kFp32 ? MathType::kFp32OrTf32 : format.type;
}

}  // namespace gpuspy::analysis
