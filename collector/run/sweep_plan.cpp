#include "collector/run/sweep_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace gpuspy::run {

namespace {

bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_name(const std::string& text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), is_name_character);
}

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(at, begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

/// "{batch}, {lr}".
std::string placeholders(const Setting& setting) {
    std::vector<std::string> names;
    for (const auto& [name, value] : setting) {
        names.push_back("{" + name + "}");
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string read_parameter(const std::string& text, Parameter* parameter) {
    const std::size_t equals = text.find('=');
    parameter->name = text.substr(0, equals);
    if (equals == std::string::npos || !is_name(parameter->name)) {
        return fmt::format("--param \"{}\": say NAME=VALUE,VALUE,..., the name of letters, digits and _: batch=1,8,32",
                           text);
    }
    parameter->values = split(text.substr(equals + 1), ',');
    for (auto value = parameter->values.begin(); value != parameter->values.end(); ++value) {
        if (value->empty()) {
            return fmt::format("--param \"{}\" has an empty value: say {}=VALUE,VALUE,...", text, parameter->name);
        }
        if (std::find(parameter->values.begin(), value, *value) != value) {
            return fmt::format("--param \"{}\" has the value {} twice: --repeat N runs each setting N times", text,
                               *value);
        }
    }
    return "";
}

std::vector<Setting> settings_of(const std::vector<Parameter>& parameters) {
    std::vector<Setting> settings = {{}};
    for (const Parameter& parameter : parameters) {
        std::vector<Setting> longer;
        for (const Setting& setting : settings) {
            for (const std::string& value : parameter.values) {
                longer.push_back(setting);
                longer.back().emplace_back(parameter.name, value);
            }
        }
        settings = std::move(longer);
    }
    return settings;
}

std::string describe(const Setting& setting) {
    std::vector<std::string> parts;
    for (const auto& [name, value] : setting) {
        parts.push_back(name + "=" + value);
    }
    return fmt::format("{}", fmt::join(parts, " "));
}

std::string trace_name(const Setting& setting, std::size_t number, std::size_t run, std::size_t runs) {
    constexpr std::size_t kLongest = 100;
    std::string name = describe(setting).substr(0, kLongest);
    for (char& c : name) {
        c = is_name_character(c) || c == '=' || c == '.' || c == '-' || c == '+' ? c : '_';
    }
    return fmt::format("{:02}_{}{}.bin", number + 1, name, runs > 1 ? fmt::format(".run{}", run + 1) : "");
}

std::string fill(const std::string& text, const Setting& setting, std::string* filled) {
    filled->clear();
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (c != '{' && c != '}') {
            *filled += c;
            continue;
        }
        if (text.compare(at, 2, std::string(2, c)) == 0) {
            *filled += c;
            ++at;
            continue;
        }
        const std::size_t end = c == '{' ? text.find('}', at) : std::string::npos;
        const std::string name = end == std::string::npos ? "" : text.substr(at + 1, end - at - 1);
        if (!is_name(name)) {
            return fmt::format("\"{}\": a brace stands for a parameter ({}), or is written twice for itself ({})", text,
                               placeholders(setting), std::string(2, c));
        }
        const auto found =
            std::find_if(setting.begin(), setting.end(), [&](const auto& entry) { return entry.first == name; });
        if (found == setting.end()) {
            return fmt::format("\"{}\": there is no parameter {{{}}}; there are: {}", text, name,
                               placeholders(setting));
        }
        *filled += found->second;
        at = end;
    }
    return "";
}

double image_count(const std::string& text) {
    double product = 1;
    for (const std::string& factor : split(text, '*')) {
        double value = 0;
        const auto [rest, error] =
            std::from_chars(factor.data(), factor.data() + factor.size(), value, std::chars_format::fixed);
        if (error != std::errc{} || rest != factor.data() + factor.size() || !(value > 0) || !std::isfinite(value)) {
            return 0;
        }
        product *= value;
    }
    return std::isfinite(product) ? product : 0;
}

}  // namespace gpuspy::run
