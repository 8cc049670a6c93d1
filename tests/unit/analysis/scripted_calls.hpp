// Library calls in a test, by name and with arguments by name, as the hook tables keep them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/flops/flops_tracker.hpp"
#include "tests/unit/analysis/trace_builder.hpp"

namespace gpuspy::test {

/// A hooked API as interpose/table declares it; the test fails if there is none of this name.
Api hooked(const std::string& name);

struct NamedArgument {
    std::string name;
    std::vector<std::int64_t> values;  ///< One, or the elements of an array.

    NamedArgument(std::string of, std::int64_t value) : name(std::move(of)), values{value} {}
    NamedArgument(std::string of, std::vector<std::int64_t> elements)
        : name(std::move(of)), values(std::move(elements)) {}
};
using NamedArguments = std::vector<NamedArgument>;

/// The words of a call with these arguments; others are 0 or empty. Fails the test if the API does not keep one of them.
std::vector<std::int64_t> words_of(const Api& api, const NamedArguments& arguments);

/// Gives a tracker calls, in order.
class ScriptedCalls {
public:
    std::uint32_t thread = 0;
    std::int64_t status = 0;

    analysis::WorkAnswer operator()(const std::string& name, const NamedArguments& arguments);
    /// Of an API as an older trace declares it.
    analysis::WorkAnswer as(const Api& api, const NamedArguments& arguments);

    /// cudnnBackendSetAttribute with numbers, with other descriptors, with one data type.
    void set(std::int64_t descriptor, std::int64_t attribute, const std::vector<std::int64_t>& numbers);
    void link(std::int64_t descriptor, std::int64_t attribute, const std::vector<std::int64_t>& descriptors);

private:
    analysis::FlopsTracker tracker_;
    std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace gpuspy::test
