#include "analysis/reader/arguments.hpp"

#include <algorithm>

namespace gpuspy::analysis {
namespace {

constexpr std::string_view kTypes = "iulwp*%@#Bxs!=";

}  // namespace

std::vector<ArgumentField> parse_argument_fields(std::string_view text) {
    std::vector<ArgumentField> fields;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        const std::size_t colon = word.find(':');
        const std::size_t type = word.find_first_not_of("0123456789", colon + 1);
        if (colon == std::string_view::npos || type == std::string_view::npos || type == colon + 1 ||
            kTypes.find(word[type]) == std::string_view::npos) {
            break;
        }
        if (word[type] != 's' && word[type] != '!' && word[type] != '=') {
            fields.push_back({std::string(word.substr(0, colon)), word[type], word[type] == '@' ? word.back() : '\0'});
        }
    }
    return fields;
}

std::vector<Argument> match_arguments(std::span<const ArgumentField> fields, std::span<const std::int64_t> words) {
    std::vector<Argument> arguments;
    for (const ArgumentField& field : fields) {
        std::size_t count = 1;
        if (words.empty()) {
            break;
        }
        if (field.is_array()) {
            if (words[0] < 0 || static_cast<std::uint64_t>(words[0]) > words.size() - 1) {
                break;
            }
            count = static_cast<std::size_t>(words[0]);
            words = words.subspan(1);
        }
        arguments.push_back({&field, words.first(count)});
        words = words.subspan(count);
    }
    return arguments;
}

std::optional<std::int64_t> find_argument(std::span<const Argument> arguments, std::string_view name) {
    for (const Argument& argument : arguments) {
        if (argument.field->name == name && !argument.field->is_array() && argument.words.size() == 1) {
            return argument.words[0];
        }
    }
    return std::nullopt;
}

}  // namespace gpuspy::analysis
