// Regular expressions that a person types: POSIX extended ones, as grep -E has them.
#pragma once

#include <regex.h>

#include <memory>
#include <string>

namespace gpuspy::report {

class Pattern {
public:
    /// nullptr, and why in `fault`, if `text` is no regular expression.
    static std::shared_ptr<const Pattern> compile(const std::string& text, std::string& fault);
    ~Pattern();
    Pattern(const Pattern&) = delete;
    Pattern& operator=(const Pattern&) = delete;

    [[nodiscard]] bool is_in(const std::string& text) const;

private:
    Pattern() = default;

    regex_t compiled_{};
};

}  // namespace gpuspy::report
