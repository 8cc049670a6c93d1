#include "collector/run/sweep_options.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <CLI/CLI.hpp>
#include <memory>
#include <string_view>

#include "collector/run/option_values.hpp"
#include "collector/run/record.hpp"

namespace gpuspy::run {

namespace {

class HelpFormatter : public CLI::Formatter {
public:
    std::string make_usage(const CLI::App*, std::string) const override {
        return "Usage: gpuspy-run sweep --param NAME=VALUE,... [OPTIONS] -- COMMAND [ARGUMENTS...]\n";
    }
};

constexpr const char* kFooter =
    "{NAME} in COMMAND stands for the parameter's value; {{ and }} for a brace.\n"
    "gpuspy-run sweep --param batch=1,8,32 --images '{batch}*100' -- python infer.py --batch {batch} --steps 100\n"
    "Exit status: 0 all settings ran and were recorded; 1 one failed or left no trace (the others are compared);\n"
    "125 usage, or gpuspy-run itself failed; 126 and 127 the command cannot be run, or is not there;\n"
    "128 + signal when a signal ended the sweep (what was recorded until then is compared).";

/// As they are typed.
struct Words {
    std::vector<std::string> parameters;
    std::string images;
};

void add_options(CLI::App* app, SweepOptions* options, Words* words) {
    app->add_option("--param", words->parameters, "A parameter and its values; of several all combinations are run")
        ->type_name("NAME=VALUE,...")
        ->required()
        ->allow_extra_args(false);
    app->add_option("-o,--output", options->folder, "Folder for the traces, made anew (default: gpuspy-sweep)")
        ->check(names_a_file)
        ->type_name("DIR");
    app->add_option("--repeat", options->repeat, "Runs of each setting, of which medians are shown")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    app->add_option("--images", words->images,
                    "Images of a run, for totals per image and the saturation curve: 6400, '{batch}', '{batch}*100'")
        ->check(is_not_empty)
        ->type_name("N");
    app->add_option("--html", options->page, "Write the comparison as a page too (gpuspy-report compare --format html)")
        ->check(names_a_file)
        ->type_name("FILE");
    app->add_option("--device-timing", options->device_timing, "0: host events only, 1: device times too (default: 1)")
        ->check(CLI::IsMember({"0", "1"}))
        ->option_text("0|1");
    app->add_flag("--no-children", options->no_children, "Record the command alone, not what it forks or starts");
    app->add_flag("-q,--quiet", options->quiet, "Say nothing about the runs but what goes wrong");
}

std::string read_parameters(const std::vector<std::string>& texts, SweepOptions* options) {
    constexpr std::size_t kMost = 10'000;
    std::size_t product = 1;
    for (const std::string& text : texts) {
        Parameter parameter;
        if (std::string problem = read_parameter(text, &parameter); !problem.empty()) {
            return problem;
        }
        for (const Parameter& other : options->parameters) {
            if (other.name == parameter.name) {
                return fmt::format("--param {} is given twice; its values go behind one another: {}=VALUE,VALUE",
                                   parameter.name, parameter.name);
            }
        }
        product *= parameter.values.size();
        if (product > kMost) {
            return fmt::format("these are more than {} settings", kMost);
        }
        options->parameters.push_back(std::move(parameter));
    }
    options->settings = settings_of(options->parameters);
    return "";
}

/// A parameter that no word of the command has would make runs that differ in nothing.
std::string find_unused(const SweepOptions& options) {
    for (const Parameter& parameter : options.parameters) {
        const std::string place = "{" + parameter.name + "}";
        if (std::none_of(options.command.begin(), options.command.end(),
                         [&](const std::string& word) { return word.find(place) != std::string::npos; })) {
            return fmt::format("{} is nowhere in the command: its runs would not differ", place);
        }
    }
    return "";
}

std::string take_command(std::vector<std::string> words, SweepOptions* options) {
    if (!words.empty() && words.front() != "--" && words.front().rfind('-', 0) == 0) {
        return fmt::format("unknown option {}", words.front());
    }
    if (!words.empty() && words.front() == "--") {
        words.erase(words.begin());
    }
    if (words.empty()) {
        return "no command to run";
    }
    for (const Setting& setting : options->settings) {
        std::vector<std::string>& command = options->commands.emplace_back(words.size());
        for (std::size_t word = 0; word < words.size(); ++word) {
            if (std::string problem = fill(words[word], setting, &command[word]); !problem.empty()) {
                return problem;
            }
        }
    }
    options->command = std::move(words);
    return find_unused(*options);
}

std::string read_images(const std::string& text, SweepOptions* options) {
    for (const Setting& setting : options->settings) {
        std::string filled;
        if (text.empty()) {
            return "";
        }
        if (std::string problem = fill(text, setting, &filled); !problem.empty()) {
            return "--images " + problem;
        }
        options->images.push_back(image_count(filled));
        if (options->images.back() == 0) {
            return fmt::format("--images \"{}\" is no number of images: say 6400, {{batch}} or {{batch}}*100", filled);
        }
    }
    return "";
}

}  // namespace

bool is_sweep(int argc, const char* const* argv) {
    return argc > 1 && std::string_view(argv[1]) == "sweep";
}

bool read_sweep_options(int argc, const char* const* argv, SweepOptions* options, int* status) {
    CLI::App app("Runs COMMAND with each combination of the parameters, records the runs, and compares them.",
                 "gpuspy-run sweep");
    app.formatter(std::make_shared<HelpFormatter>());
    app.footer(kFooter);
    Words words;
    add_options(&app, options, &words);
    app.prefix_command();
    std::string problem;
    try {
        app.parse(argc, argv);
        problem = read_parameters(words.parameters, options);
        if (problem.empty()) {
            problem = take_command(app.remaining(), options);
        }
        if (problem.empty()) {
            problem = read_images(words.images, options);
        }
    } catch (const CLI::Success& request) {
        *status = app.exit(request);
        return false;
    } catch (const CLI::ParseError& error) {
        problem = error.what();
    }
    if (!problem.empty()) {
        spdlog::error("{}; see gpuspy-run sweep --help", problem);
        *status = kOwnFailure;
    }
    return problem.empty();
}

}  // namespace gpuspy::run
