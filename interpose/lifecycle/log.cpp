#include "interpose/lifecycle/log.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>

namespace gpuspy::hook {

void say(const char* format, ...) noexcept {
    const int saved_errno = errno;
    char line[1024] = "gpuspy: ";
    constexpr int kPrefix = 8;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line + kPrefix, sizeof line - kPrefix - 1, format, arguments);
    va_end(arguments);
    if (length < 0) length = 0;
    length += kPrefix;
    if (length > static_cast<int>(sizeof line) - 2) length = static_cast<int>(sizeof line) - 2;
    line[length++] = '\n';
    // A closed or full stderr is the host's business; there is nobody else to tell.
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, static_cast<std::size_t>(length));
    errno = saved_errno;
}

}  // namespace gpuspy::hook
