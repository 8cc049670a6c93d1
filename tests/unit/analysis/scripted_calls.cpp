#include "tests/unit/analysis/scripted_calls.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "analysis/reader/arguments.hpp"
#include "collector/abi/event.hpp"

namespace gpuspy::test {
namespace {

using abi::ApiClass;
constexpr ApiClass kLibrary = ApiClass::kLibrary, kDescribe = ApiClass::kDescribe;
constexpr std::uint8_t kApiNoStatus = abi::kApiNoStatus;

const std::vector<Api>& apis() {
    static const std::vector<Api> all = {
#define CALL(symbol, api_class, attributes, stack, fields) \
    {#symbol, GPUSPY_LIBRARY, abi::ApiLevel::kLibrary, api_class, attributes, fields},
#define GPUSPY_LIBRARY "cudnn"
#include "interpose/table/cudnn.def"
#undef GPUSPY_LIBRARY
#define GPUSPY_LIBRARY "cublas"
#include "interpose/table/cublas.def"
#include "interpose/table/cublas_first.def"
#include "interpose/table/cublasxt.def"
#undef GPUSPY_LIBRARY
#define GPUSPY_LIBRARY "cublaslt"
#include "interpose/table/cublaslt.def"
#undef GPUSPY_LIBRARY
#define GPUSPY_LIBRARY "cufft"
#include "interpose/table/cufft.def"
#undef GPUSPY_LIBRARY
#undef CALL
    };
    return all;
}

}  // namespace

Api hooked(const std::string& name) {
    const auto found = std::find_if(apis().begin(), apis().end(), [&name](const Api& api) { return api.name == name; });
    INFO(name);
    REQUIRE(found != apis().end());
    return *found;
}

std::vector<std::int64_t> words_of(const Api& api, const NamedArguments& arguments) {
    std::vector<std::int64_t> words;
    std::size_t used = 0;
    for (const auto& field : analysis::parse_argument_fields(api.fields)) {
        const auto given = std::find_if(arguments.begin(), arguments.end(), [&field](const NamedArgument& argument) {
            return argument.name == field.name;
        });
        const auto values = given == arguments.end() ? std::vector<std::int64_t>() : given->values;
        used += given == arguments.end() ? 0 : 1;
        if (field.is_array()) {
            words.push_back(static_cast<std::int64_t>(values.size()));
            words.insert(words.end(), values.begin(), values.end());
        } else {
            words.push_back(values.empty() ? 0 : values[0]);
        }
    }
    INFO(api.name << " keeps \"" << api.fields << "\"");
    REQUIRE(used == arguments.size());
    return words;
}

analysis::WorkAnswer ScriptedCalls::operator()(const std::string& name, const NamedArguments& arguments) {
    return as(hooked(name), arguments);
}

analysis::WorkAnswer ScriptedCalls::as(const Api& api, const NamedArguments& arguments) {
    const std::vector<std::int64_t> words = words_of(api, arguments);
    analysis::CallRecord call;
    call.thread = thread;
    call.api = numbers_.try_emplace(api.name + api.fields, static_cast<std::uint32_t>(numbers_.size())).first->second;
    call.status = status;
    call.flags = status != 0 ? std::uint32_t{abi::kCallStatus} : 0;
    call.arguments = words;
    return tracker_.add(call, {api.name, api.library, api.level, api.api_class, api.attributes, api.fields});
}

void ScriptedCalls::set(std::int64_t descriptor, std::int64_t attribute, const std::vector<std::int64_t>& numbers) {
    (*this)("cudnnBackendSetAttribute", {{"descriptor", descriptor},
                                         {"attributeName", attribute},
                                         {"attributeType", 3},
                                         {"count", static_cast<std::int64_t>(numbers.size())},
                                         {"arrayOfElements", numbers}});
}

void ScriptedCalls::link(std::int64_t descriptor, std::int64_t attribute,
                         const std::vector<std::int64_t>& descriptors) {
    (*this)("cudnnBackendSetAttribute", {{"descriptor", descriptor},
                                         {"attributeName", attribute},
                                         {"attributeType", 15},
                                         {"count", static_cast<std::int64_t>(descriptors.size())},
                                         {"arrayOfElements", descriptors}});
}

}  // namespace gpuspy::test
