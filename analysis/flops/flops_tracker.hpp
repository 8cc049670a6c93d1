// The work of library calls, from their recorded arguments and those of the calls that described it before.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/flops/blas_routines.hpp"
#include "analysis/flops/cublaslt_state.hpp"
#include "analysis/flops/cudnn_graph.hpp"
#include "analysis/flops/cudnn_state.hpp"
#include "analysis/flops/work.hpp"
#include "analysis/reader/records.hpp"
#include "analysis/reader/symbols.hpp"

namespace gpuspy::analysis {

/// Fed with every call of a trace in the order of time: a handle is an address, and stands for what it was last described
/// as. A call that failed changes nothing and does nothing.
class FlopsTracker {
public:
    /// `api` is the call's: Symbols::api(call.api). What a call inside another library call does is that call's work, too:
    /// adding up is the caller's business.
    WorkAnswer add(const CallRecord& call, const ApiInfo& api);

    /// Whether add() answers anything but WorkAnswer::Kind::kComputesNothing for calls of this API, or remembers them.
    static bool concerns(const ApiInfo& api);

private:
    enum class Handler : std::uint8_t {
        kIgnored,
        kBlas,
        kBlasMode,
        kLtDescribe,
        kLtMatmul,
        kCudnnDescribe,
        kCudnnCall,
        kGraphDescribe,
        kGraphResults,
        kGraphExecute,
        kGraphPopulate,
        kZero,
        kNoFormula,
    };
    /// What an API is, found out at its first call.
    struct Prepared {
        Handler handler = Handler::kIgnored;
        std::vector<ArgumentField> fields;
        std::optional<BlasName> blas;
    };
    struct NamedHandler;

    static const NamedHandler kHandlers[];
    static Prepared prepare(const ApiInfo& api);
    /// Of the call's handle; nullopt: it was made before the recording and not set since, or is not kept.
    [[nodiscard]] std::optional<std::int64_t> math_mode_of(const CallArguments& arguments) const;

    std::unordered_map<std::uint32_t, Prepared> apis_;           // by Symbols::apis()
    std::unordered_map<std::int64_t, std::int64_t> math_modes_;  // of cuBLAS, by handle: cublasMath_t
    CublasLtState cublaslt_;
    CudnnState cudnn_;
    CudnnGraphState graphs_;
};

}  // namespace gpuspy::analysis
