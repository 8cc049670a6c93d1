// What a library call computes: its algorithmic FLOPs, the arithmetic that they are done in, the bytes that it cannot do
// without. Algorithmic: those of the textbook's sums of products, whatever algorithm (Winograd, FFT, split K) runs.
#pragma once

#include <cstdint>
#include <string_view>

namespace gpuspy::analysis {

/// The arithmetic of the products. It decides which peak applies.
enum class MathType : std::uint8_t {
    kFp64,
    kFp32,
    kFp32OrTf32,  ///< FP32 data in a call that may round them to TF32: which, its arguments do not say.
    kTf32,
    kFp16,
    kBf16,
    kFp8,
    kFp4,
    kInt8,   ///< Operations, not FLOPs.
    kOther,  ///< A format that no peak is known of.
};
inline constexpr std::size_t kMathTypes = static_cast<std::size_t>(MathType::kOther) + 1;

enum class Operation : std::uint8_t {
    kConvolutionForward,
    kConvolutionBackwardData,
    kConvolutionBackwardFilter,
    kMatrixMultiply,  ///< BLAS level 3 without solves.
    kMatrixVector,    ///< BLAS level 2.
    kVector,          ///< BLAS level 1.
    kSolve,           ///< Triangular solves, factorisations, inverses.
    kAttentionForward,
    kAttentionBackward,
};

/// As reports and JSON name them.
std::string_view name_of(MathType type);
std::string_view name_of(Operation operation);

struct Work {
    std::uint64_t flops = 0;  ///< A multiply-add is 2; a complex one 8.
    MathType type = MathType::kOther;
    std::uint64_t least_bytes = 0;  ///< Each input read once and each output written once.
    Operation operation = Operation::kMatrixMultiply;
};

/// Why the work of a call is not known.
enum class Unknown : std::uint8_t {
    kNoDescriptor,    ///< A descriptor was described before the recording, or inside another recorded call.
    kNoPlan,          ///< So was its execution plan.
    kNotKept,         ///< An argument that the formula needs is not recorded.
    kOperation,       ///< A graph with an operation of unknown work, or with more operations than are recorded.
    kSizesOnDevice,   ///< The sizes lie in device memory (ragged or padded sequences).
    kTrials,          ///< It runs trials of its own: how many, its arguments do not say.
    kNoFormula,       ///< A call of a library, or of a kind, that no formula is here for.
    kSenselessSizes,  ///< Negative, or beyond 64 bits: a damaged record.
};
std::string_view reason_of(Unknown cause);

/// What is known of a call's work.
struct WorkAnswer {
    enum class Kind : std::uint8_t {
        kComputesNothing,  ///< No call that computes: it describes, failed, or is not of a library.
        kZero,  ///< Computes, but no sums of products: layout, bias, activation, pooling, softmax, normalisation, copies.
        kKnown,    ///< `work`.
        kUnknown,  ///< Computes; `cause` says why its work is not known.
    };
    Kind kind = Kind::kComputesNothing;
    Work work{};
    Unknown cause = Unknown::kNoFormula;
    bool into_graph = false;  ///< It puts its work into a CUDA graph and runs nothing itself.

    static WorkAnswer zero() { return {.kind = Kind::kZero}; }
    static WorkAnswer known(const Work& work) { return {.kind = Kind::kKnown, .work = work}; }
    static WorkAnswer unknown(Unknown cause) { return {.kind = Kind::kUnknown, .cause = cause}; }
};

}  // namespace gpuspy::analysis
