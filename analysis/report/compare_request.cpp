#include "analysis/report/compare_request.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>
#include <variant>

#include "analysis/render/display_text.hpp"
#include "analysis/report/output.hpp"

namespace gpuspy::report {
namespace {

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(at, begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

bool exists(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0;
}

/// "dir/a.bin" -> "a".
std::string label_of(const std::string& path) {
    std::string name = path.substr(path.find_last_of('/') + 1);
    constexpr std::string_view kEnding = ".bin";
    if (name.size() > kEnding.size() && name.ends_with(kEnding)) {
        name.resize(name.size() - kEnding.size());
    }
    return name;
}

/// More than 0.
std::optional<double> read_number(const std::string& text) {
    double value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    const bool whole = error == std::errc{} && rest == text.data() + text.size() && std::isfinite(value);
    return whole && value > 0 ? std::optional(value) : std::nullopt;
}

/// Labels of the groups; or what is wrong with those that were given.
std::optional<std::string> read_labels(const CompareArguments& arguments, CompareRequest& request) {
    request.labels = arguments.labels;
    if (!request.labels.empty() && request.labels.size() != request.groups.size()) {
        return fmt::format("--label names {}, and {} compared", request.labels.size(),
                           request.groups.size() == 1 ? "1 is" : fmt::format("{} are", request.groups.size()));
    }
    for (auto label = request.labels.begin(); label != request.labels.end(); ++label) {
        if (label->empty()) {
            return "--label has an empty name";
        }
        if (std::find(request.labels.begin(), label, *label) != label) {
            return fmt::format("--label has the name \"{}\" twice: what is compared is told apart by it",
                               analysis::printable(*label));
        }
    }
    if (!request.labels.empty()) {
        return std::nullopt;
    }
    for (const std::vector<std::string>& group : request.groups) {
        request.labels.push_back(label_of(group.front()));
    }
    for (std::size_t i = 0; i < request.labels.size(); ++i) {
        // Files of the same name in different folders are told apart by their paths.
        if (std::count(request.labels.begin(), request.labels.end(), label_of(request.groups[i].front())) > 1) {
            request.labels[i] = request.groups[i].front();
        }
    }
    return std::nullopt;
}

std::optional<std::string> read_images(const CompareArguments& arguments, CompareRequest& request) {
    for (const std::string& text : arguments.images) {
        constexpr double kMostImages = 1e15;  // each whole number below is one of double's
        request.images.push_back(read_number(text));
        const std::optional<double>& count = request.images.back();
        if (!count || *count < 1 || *count > kMostImages || *count != std::floor(*count)) {
            return fmt::format("--images \"{}\" is no number of images: say a whole one, from 1 to 10^15",
                               analysis::printable(text));
        }
    }
    if (request.images.size() > 1 && request.images.size() != request.groups.size()) {
        return fmt::format("--images takes one number, or one for each of the {} compared", request.groups.size());
    }
    const std::optional<double> all = request.images.empty() ? std::nullopt : request.images.back();
    request.images.resize(request.groups.size(), all);
    return std::nullopt;
}

}  // namespace

std::optional<std::string> read_compare_request(const CompareArguments& arguments, CompareRequest& request) {
    for (const std::string& text : arguments.traces) {
        request.groups.push_back(exists(text) ? std::vector{text} : split(text, ','));
        for (const std::string& path : request.groups.back()) {
            if (!arguments.output.empty() && same_file(arguments.output, path)) {
                return arguments.output + ": is one of the traces; give -o another file";
            }
        }
    }
    for (const auto& fault : {read_labels(arguments, request), read_images(arguments, request),
                              read_selection(arguments.part, request.selection)}) {
        if (fault) {
            return fault;
        }
    }
    const std::string& threshold = arguments.threshold;
    const bool is_share = !threshold.empty() && threshold.back() == '%';
    const auto number = read_number(is_share ? threshold.substr(0, threshold.size() - 1) : std::string());
    if (!number && threshold != "0%") {
        return fmt::format("--threshold \"{}\" is no share: say 10%", analysis::printable(threshold));
    }
    request.threshold = number.value_or(0) / 100;
    for (const std::string& text : arguments.conditions) {
        auto condition = analysis::parse_condition(text);
        if (const auto* fault = std::get_if<std::string>(&condition)) {
            return "--fail-if " + *fault;
        }
        request.conditions.push_back(std::get<analysis::Condition>(std::move(condition)));
        if (request.conditions.back().kind == analysis::BoundKind::kOfFirst && request.groups.size() == 1) {
            return fmt::format("--fail-if \"{}\" needs another trace to compare with", analysis::printable(text));
        }
    }
    if (arguments.curve && arguments.images.empty()) {
        return "--curve needs --images: how many images each run worked through";
    }
    return std::nullopt;
}

}  // namespace gpuspy::report
