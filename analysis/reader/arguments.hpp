// The kept arguments of a call, by name.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuspy::analysis {

struct ArgumentField {
    std::string name;
    char type = 'w';        ///< As in abi::ApiEntry::fields: i, u, l, w, p, *, %, @, #, B, x.
    char element_type = 0;  ///< Of an array (@): i, l.

    [[nodiscard]] bool is_array() const { return type == '@' || type == '#' || type == 'B'; }
};

/// The fields that an API says it keeps, streams left out (they are no words). Text that makes no sense gives the
/// fields before it.
std::vector<ArgumentField> parse_argument_fields(std::string_view text);

/// An argument and its words: one, or the elements of an array.
struct Argument {
    const ArgumentField* field;
    std::span<const std::int64_t> words;
};

/// `words` by `fields`. What the words do not hold is left out.
std::vector<Argument> match_arguments(std::span<const ArgumentField> fields, std::span<const std::int64_t> words);

/// The value of the argument with this name; nullopt: not kept, or an array.
std::optional<std::int64_t> find_argument(std::span<const Argument> arguments, std::string_view name);

}  // namespace gpuspy::analysis
