// Element types of operands, as the libraries number them -> their arithmetic and size.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/flops/count.hpp"
#include "analysis/flops/work.hpp"

namespace gpuspy::analysis {

struct NumberFormat {
    MathType type = MathType::kOther;  ///< kFp32 for 32-bit floats, whatever they are rounded to for a product.
    bool complex = false;
    std::uint8_t bits = 0;  ///< Of an element, both parts of a complex one.

    /// FLOPs of a multiply-add.
    [[nodiscard]] std::int64_t multiply_add_flops() const { return complex ? 8 : 2; }
    [[nodiscard]] Count bytes(Count elements) const { return (elements * Count(bits) + Count(7)) / 8; }
};

/// cudaDataType_t (library_types.h, CUDA 13.0). nullopt: a value that no release has.
std::optional<NumberFormat> cuda_format(std::int64_t type);
/// cudnnDataType_t (cudnn_graph.h, cuDNN 9.19).
std::optional<NumberFormat> cudnn_format(std::int64_t type);

/// The arithmetic of cuBLAS by the type of A and cublasComputeType_t, or, up to CUDA 10, a cudaDataType_t as the type of
/// the computation. `tf32_by_mode`: the call obeys the math mode of its handle, by which 32-bit floats may become TF32.
MathType cublas_math(const NumberFormat& format, std::int64_t compute_type, bool tf32_by_mode);

/// The arithmetic of a convolution or matrix multiplication of cuDNN, by the type of its inputs. 32-bit floats may run as
/// TF32 by default.
MathType cudnn_math(const NumberFormat& format);

}  // namespace gpuspy::analysis
