// The kept arguments of one call, asked for by name.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/reader/arguments.hpp"

namespace gpuspy::analysis {

class CallArguments {
public:
    CallArguments(std::span<const ArgumentField> fields, std::span<const std::int64_t> words)
        : arguments_(match_arguments(fields, words)) {}

    [[nodiscard]] std::optional<std::int64_t> value(std::string_view name) const {
        return find_argument(arguments_, name);
    }
    [[nodiscard]] std::int64_t value_or(std::string_view name, std::int64_t otherwise) const {
        return value(name).value_or(otherwise);
    }
    /// Empty: not kept, or no array.
    [[nodiscard]] std::span<const std::int64_t> array(std::string_view name) const {
        for (const Argument& argument : arguments_) {
            if (argument.field->name == name && argument.field->is_array()) {
                return argument.words;
            }
        }
        return {};
    }

private:
    std::vector<Argument> arguments_;
};

}  // namespace gpuspy::analysis
