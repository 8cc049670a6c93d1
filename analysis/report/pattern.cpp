#include "analysis/report/pattern.hpp"

#include <array>

namespace gpuspy::report {

std::shared_ptr<const Pattern> Pattern::compile(const std::string& text, std::string& fault) {
    std::shared_ptr<Pattern> pattern(new Pattern);
    if (const int error = ::regcomp(&pattern->compiled_, text.c_str(), REG_EXTENDED | REG_NOSUB); error != 0) {
        std::array<char, 200> words{};
        ::regerror(error, &pattern->compiled_, words.data(), words.size());
        fault = words.data();
        return nullptr;
    }
    return pattern;
}

Pattern::~Pattern() {
    ::regfree(&compiled_);
}

bool Pattern::is_in(const std::string& text) const {
    return ::regexec(&compiled_, text.c_str(), 0, nullptr, 0) == 0;
}

}  // namespace gpuspy::report
