// Whose a kernel is, judged by its name: where no library's call was seen around its launch.
#pragma once

#include <string_view>

namespace gpuspy::analysis {

/// "cudnn", "cublas", "cublaslt", "nccl" ...; empty: the name does not tell. Kernels of header libraries (CUB, CUTLASS) are
/// nobody's: everyone compiles them in.
std::string_view library_by_name(std::string_view mangled);

}  // namespace gpuspy::analysis
