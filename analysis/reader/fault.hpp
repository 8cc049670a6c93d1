// What can go wrong with a trace, as values: nothing in the analysis library throws for bad input.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace gpuspy::analysis {

/// Exit status of gpuspy-report. Stable: docs/architecture.md lists them.
enum class ExitCode : int {
    kDone = 0,
    kNotWritten = 1,  ///< The report could not be written.
    kUsage = 2,
    kCannotOpen = 3,    ///< No such file, a directory, no permission.
    kNotATrace = 4,     ///< Not a trace, or nothing in it can be read.
    kNewerVersion = 5,  ///< Made by a newer gpuspy.
    kPartial = 6,       ///< The report was printed and says what is missing.
    kConditionMet = 7,  ///< Of compare: a condition of --fail-if was met, or its measure is not known.
};

/// Why a trace cannot be read at all. `message` says what is wrong and what to do, without the file's name.
struct Fault {
    ExitCode code;
    std::string message;
};

/// A value, or why there is none.
template <class T>
class Result {
public:
    Result(T value) : content_(std::move(value)) {}
    Result(Fault fault) : content_(std::move(fault)) {}

    [[nodiscard]] bool ok() const { return content_.index() == 0; }
    [[nodiscard]] T& value() { return std::get<0>(content_); }
    [[nodiscard]] const T& value() const { return std::get<0>(content_); }
    [[nodiscard]] const Fault& fault() const { return std::get<1>(content_); }

private:
    std::variant<T, Fault> content_;
};

}  // namespace gpuspy::analysis
