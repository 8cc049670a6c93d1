#include "analysis/passes/library_by_name.hpp"

#include <algorithm>
#include <array>

namespace gpuspy::analysis {
namespace {

struct Rule {
    std::string_view begins;    // how the name begins; empty: does not matter
    std::string_view contains;  // what it holds; empty: does not matter
    std::string_view library;
};

/// The first one that fits decides. Names that end in "_cudnn" or "_cublas" say for which library they were compiled, which
/// may launch them for another.
constexpr std::array kRules = {
    Rule{"_ZN5cudnn", "", "cudnn"},
    Rule{"", "5cudnn", "cudnn"},
    Rule{"cudnn", "", "cudnn"},
    Rule{"", "_cudnn", "cudnn"},
    Rule{"", "scudnn", "cudnn"},
    Rule{"", "implicit_convolve_sgemm", "cudnn"},
    Rule{"", "wgrad_alg", "cudnn"},
    Rule{"", "dgrad_engine", "cudnn"},
    Rule{"", "wgrad2d_", "cudnn"},
    Rule{"", "dgrad2d_", "cudnn"},
    Rule{"", "xmma_fprop", "cudnn"},
    Rule{"", "xmma_dgrad", "cudnn"},
    Rule{"", "xmma_wgrad", "cudnn"},
    Rule{"", "8cublasLt", "cublaslt"},
    Rule{"nvjet_", "", "cublaslt"},
    Rule{"_ZN6cublas", "", "cublas"},
    Rule{"cublas", "", "cublas"},
    Rule{"", "_cublas", "cublas"},
    Rule{"", "cublasGemv", "cublas"},
    Rule{"", "xmma_gemm", "cublas"},
    Rule{"maxwell_", "gemm", "cublas"},
    Rule{"volta_", "gemm", "cublas"},
    Rule{"turing_", "gemm", "cublas"},
    Rule{"ampere_", "gemm", "cublas"},
    Rule{"_Z", "ncclKernel", "nccl"},
    Rule{"_Z", "ncclDevKernel", "nccl"},
    Rule{"nccl", "Kernel", "nccl"},
    Rule{"_Z10vector_fft", "", "cufft"},
    Rule{"_Z11regular_fft", "", "cufft"},
    Rule{"_ZN8cusparse", "", "cusparse"},
    Rule{"_Z20generate_seed_pseudo", "", "curand"},
    Rule{"_Z13gen_sequenced", "", "curand"},
};

}  // namespace

std::string_view library_by_name(std::string_view mangled) {
    const auto* const rule = std::find_if(kRules.begin(), kRules.end(), [mangled](const Rule& candidate) {
        return mangled.starts_with(candidate.begins) && mangled.find(candidate.contains) != std::string_view::npos;
    });
    return rule == kRules.end() ? std::string_view{} : rule->library;
}

}  // namespace gpuspy::analysis
