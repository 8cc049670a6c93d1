// gpuspy-run --check: whether a program will be recorded, and how its calls will be seen, without running it.
#pragma once

#include <functional>
#include <string>

#include "collector/run/library_search.hpp"
#include "collector/run/preload_obstacle.hpp"

namespace gpuspy::run {

enum class Verdict {
    kRecorded,     ///< What the program does on a GPU will be recorded.
    kNotRecorded,  ///< It cannot be; the text says why.
    kNoProgram,    ///< There is no such program.
};

struct CheckResult {
    Verdict verdict = Verdict::kNoProgram;
    std::string text;  ///< Lines, each ended.
};

struct CheckRequest {
    std::string program;  ///< As it is typed: PATH is searched.
    Caller caller;
    LoaderPaths loader;
    std::function<std::string(const char* name)> variable;  ///< The environment; "" for what is not set.
};

CheckResult check_program(const CheckRequest& request);

/// check_program() for this process's environment and user.
CheckResult check_program_here(const std::string& program);

/// Whether a value of GPUSPY_DISABLE means that nothing is recorded.
bool is_disabled(const std::string& value);

}  // namespace gpuspy::run
