#include "analysis/flops/flops_tracker.hpp"

#include <string_view>
#include <utility>

namespace gpuspy::analysis {

/// The handler of the calls of a library whose names begin so; the first row that fits.
struct FlopsTracker::NamedHandler {
    std::string_view library, beginning;
    abi::ApiClass api_class;
    Handler handler;
};

constexpr FlopsTracker::NamedHandler FlopsTracker::kHandlers[] = {
    {"cudnn", "cudnnBackendSetAttribute", abi::ApiClass::kDescribe, Handler::kGraphDescribe},
    {"cudnn", "cudnnBackendGetAttribute", abi::ApiClass::kDescribe, Handler::kGraphResults},
    {"cudnn", "cudnnSet", abi::ApiClass::kDescribe, Handler::kCudnnDescribe},
    {"cudnn", "cudnnBackendExecute", abi::ApiClass::kLibrary, Handler::kGraphExecute},
    {"cudnn", "cudnnBackend", abi::ApiClass::kLibrary, Handler::kGraphPopulate},
    {"cudnn", "cudnn", abi::ApiClass::kLibrary, Handler::kCudnnCall},
    {"cublaslt", "cublasLt", abi::ApiClass::kDescribe, Handler::kLtDescribe},
    {"cublaslt", "cublasLtMatmul", abi::ApiClass::kLibrary, Handler::kLtMatmul},
    {"cublaslt", "cublasLtMatrixTransform", abi::ApiClass::kLibrary, Handler::kZero},
    {"cublas", "cublas", abi::ApiClass::kLibrary, Handler::kBlas},
    {"cublas", "cublas", abi::ApiClass::kDescribe, Handler::kBlasMode},
    {"curand", "curand", abi::ApiClass::kLibrary, Handler::kZero},
    {"", "", abi::ApiClass::kLibrary, Handler::kNoFormula},
};

bool FlopsTracker::concerns(const ApiInfo& api) {
    return api.api_class == abi::ApiClass::kLibrary || api.api_class == abi::ApiClass::kDescribe;
}

FlopsTracker::Prepared FlopsTracker::prepare(const ApiInfo& api) {
    Prepared prepared;
    const std::string_view name = api.name;
    for (const NamedHandler& row : kHandlers) {
        if (row.api_class == api.api_class && (row.library.empty() || row.library == api.library) &&
            name.substr(0, row.beginning.size()) == row.beginning) {
            prepared.handler = row.handler;
            break;
        }
    }
    if (prepared.handler == Handler::kBlas) {
        prepared.blas = parse_blas_name(name);
        prepared.handler = prepared.blas ? Handler::kBlas : Handler::kNoFormula;
    }
    if (prepared.handler != Handler::kIgnored) {
        prepared.fields = parse_argument_fields(api.fields);
    }
    return prepared;
}

std::optional<std::int64_t> FlopsTracker::math_mode_of(const CallArguments& arguments) const {
    const auto handle = arguments.value("h");
    const auto found = handle ? math_modes_.find(*handle) : math_modes_.end();
    return found == math_modes_.end() ? std::nullopt : std::optional(found->second);
}

WorkAnswer FlopsTracker::add(const CallRecord& call, const ApiInfo& api) {
    if (!concerns(api)) return {};
    const auto [found, is_new] = apis_.try_emplace(call.api);
    Prepared& prepared = found->second;
    if (is_new) prepared = prepare(api);
    if (prepared.handler == Handler::kIgnored || call.has(abi::kCallStatus)) return {};
    const CallArguments arguments(prepared.fields, call.arguments);
    switch (prepared.handler) {
        case Handler::kIgnored:
            break;
        case Handler::kBlas:
            return blas_work(*prepared.blas, arguments, math_mode_of(arguments));
        case Handler::kBlasMode:
            if (const auto handle = arguments.value("h")) {
                math_modes_[*handle] = arguments.value_or("mode", 0);  // a new handle's is the default one
            }
            break;
        case Handler::kLtDescribe:
            cublaslt_.describe(api.name, arguments);
            break;
        case Handler::kLtMatmul:
            return cublaslt_.matmul(arguments);
        case Handler::kCudnnDescribe:
            cudnn_.describe(api.name, arguments);
            break;
        case Handler::kCudnnCall:
            return cudnn_.work(api.name, arguments);
        case Handler::kGraphDescribe:
            graphs_.set_attribute(call.thread, arguments);
            break;
        case Handler::kGraphResults:
            graphs_.get_results(arguments);
            break;
        case Handler::kGraphExecute:
            return graphs_.execute(arguments);
        case Handler::kGraphPopulate: {
            WorkAnswer answer = graphs_.execute(arguments);
            answer.into_graph = true;
            return answer;
        }
        case Handler::kZero:
            return WorkAnswer::zero();
        case Handler::kNoFormula:
            return WorkAnswer::unknown(Unknown::kNoFormula);
    }
    return {};
}

}  // namespace gpuspy::analysis
