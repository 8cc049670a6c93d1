// The work of BLAS routines by their names and sizes: cuBLAS (all interfaces but cublasLt) and cublasXt.
#pragma once

#include <optional>
#include <string_view>

#include "analysis/flops/call_arguments.hpp"
#include "analysis/flops/number_format.hpp"
#include "analysis/flops/work.hpp"

namespace gpuspy::analysis {

struct BlasRoutine;  // a row of the table

/// A function's name taken apart: cublasCgemm3mStridedBatched_64 is gemm, complex, batched.
struct BlasName {
    const BlasRoutine* routine = nullptr;
    std::optional<NumberFormat> format;  ///< By the letters before the routine; nullopt: an argument says it.
    bool mixed = false;                  ///< Complex vectors, real scalars (Csscal, Zdrot).
    bool batched = false, grouped = false;
    bool obeys_math_mode = false;  ///< Its handle has a math mode, by which it may use TF32.
};

/// nullopt: no name of a BLAS routine.
std::optional<BlasName> parse_blas_name(std::string_view function);

/// `math_mode`: of its handle (cublasMath_t); nullopt: not known.
WorkAnswer blas_work(const BlasName& name, const CallArguments& arguments, std::optional<std::int64_t> math_mode);

}  // namespace gpuspy::analysis
