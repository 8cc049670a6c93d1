#include "analysis/report/selection_arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include <array>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/passes/iterations.hpp"
#include "analysis/render/display_text.hpp"
#include "analysis/report/pattern.hpp"
#include "analysis/report/quantity.hpp"

namespace gpuspy::report {
namespace {

constexpr const char* kTimes = "say 1.5, 1.5s, 200ms, 30us (since the beginning)";
constexpr const char* kNumber = "say a number, as views show it";
constexpr const char* kPattern = "say a regular expression; without --filter all kernels are shown";

/// By name and value, in the order in which --help has them.
std::array<std::pair<const char*, const std::string*>, 5> values_of(const SelectionArguments& arguments) {
    return {{{"--filter", &arguments.filter},
             {"--device", &arguments.device},
             {"--stream", &arguments.stream},
             {"--from", &arguments.from},
             {"--to", &arguments.to}}};
}

}  // namespace

std::string SelectionArguments::words() const {
    std::vector<std::string> given;
    for (const auto& [option, value] : values_of(*this)) {
        if (!value->empty()) {
            given.push_back(fmt::format("{} {}", option, *value));
        }
    }
    if (steady) {
        given.emplace_back("--steady");
    }
    return fmt::format("{}", fmt::join(given, " "));
}

std::string SelectionArguments::first() const {
    for (const auto& [option, value] : values_of(*this)) {
        if (!value->empty()) {
            return option;
        }
    }
    return steady ? "--steady" : "";
}

void add_selection_options(CLI::App& app, SelectionArguments& arguments, const std::string& of) {
    const auto add = [&](const char* name, std::string& into, const char* about, const char* instead) {
        // An empty value is a variable of a script that was not set: not the same as no option.
        app.add_option(name, into, of + about)->check([instead](const std::string& text) {
            return text.empty() ? std::string("the value is empty: ") + instead : std::string();
        });
    };
    add("--filter", arguments.filter, "kernels whose name matches this regular expression", kPattern);
    add("--device", arguments.device, "this device alone", kNumber);
    add("--stream", arguments.stream, "this stream alone", kNumber);
    add("--from", arguments.from, "what begins at or after this time, since the beginning (2, 500ms)", kTimes);
    add("--to", arguments.to, "what begins before this time", kTimes);
    app.add_flag("--steady", arguments.steady,
                 of + "the steady state alone: from the first to the last iteration that is not warm-up")
        ->excludes("--from")
        ->excludes("--to");
}

std::optional<std::string> read_selection(const SelectionArguments& arguments, analysis::Selection& selection) {
    for (const auto& [option, text, into] : {std::tuple("--from", &arguments.from, &selection.from_ns),
                                             std::tuple("--to", &arguments.to, &selection.to_ns)}) {
        if (text->empty()) {
            continue;
        }
        *into = parse_duration_ns(*text);
        if (!*into) {
            return fmt::format("{} \"{}\" is no time: {}", option, analysis::printable(*text), kTimes);
        }
    }
    if (selection.from_ns && selection.to_ns && *selection.from_ns >= *selection.to_ns) {
        return "--from must be before --to";
    }
    for (const auto& [option, text, into] : {std::tuple("--device", &arguments.device, &selection.device),
                                             std::tuple("--stream", &arguments.stream, &selection.stream)}) {
        if (text->empty()) {
            continue;
        }
        *into = parse_whole_number(*text);
        if (!*into) {
            return fmt::format("{} \"{}\" is no number", option, analysis::printable(*text));
        }
    }
    if (!arguments.filter.empty()) {
        std::string fault;
        const auto pattern = Pattern::compile(arguments.filter, fault);
        if (pattern == nullptr) {
            return fmt::format("--filter \"{}\" is no regular expression: {}", analysis::printable(arguments.filter),
                               fault);
        }
        selection.wants_kernel = [pattern](const std::string& mangled) {
            return pattern->is_in(analysis::demangled(mangled));
        };
    }
    return std::nullopt;
}

std::optional<std::string> select_steady(const analysis::Model& model, analysis::Selection& selection) {
    const auto steady = analysis::iterations(model, *model.timeline).steady(*model.timeline);
    if (!steady) {
        return "--steady: no iterations were found; give a range with --from and --to";
    }
    selection.from_ns = steady->from_ns;
    selection.to_ns = steady->to_ns;
    selection.calls_from_ns = steady->calls_from_ns;
    selection.calls_to_ns = steady->calls_to_ns;
    return std::nullopt;
}

}  // namespace gpuspy::report
