#include "analysis/report/output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace gpuspy::report {
namespace {

/// errno of the first write that failed, 0 if all was written.
int write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0) {
            if (errno == EINTR) {
                continue;
            }
            return errno;
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

}  // namespace

std::optional<std::string> write_report(std::string_view text, const std::string& path) {
    if (path.empty()) {
        std::signal(SIGPIPE, SIG_IGN);
        const int error = write_all(STDOUT_FILENO, text);
        if (error == 0 || error == EPIPE) {
            return std::nullopt;
        }
        return std::string("standard output cannot be written: ") + std::strerror(error);
    }
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int error = descriptor < 0 ? errno : write_all(descriptor, text);
    if (descriptor >= 0 && ::close(descriptor) != 0 && error == 0) {
        error = errno;
    }
    return error == 0 ? std::nullopt : std::optional(path + ": cannot be written: " + std::strerror(error));
}

bool same_file(const std::string& a, const std::string& b) {
    struct stat first {};
    struct stat second {};
    return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

}  // namespace gpuspy::report
