#include "analysis/report/output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace gpuspy::report {

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

Output::Output(std::string path) : path_(std::move(path)) {
    if (path_.empty()) {
        std::signal(SIGPIPE, SIG_IGN);
        descriptor_ = STDOUT_FILENO;
    }
}

Output::~Output() {
    if (replaced_ != nullptr) {  // finish() was not reached: what was there stays.
        replaced_.reset();
        descriptor_ = -1;
    }
    finish();
}

void Output::open() {
    struct stat there {};
    const bool exists = ::stat(path_.c_str(), &there) == 0;
    if (!exists || S_ISREG(there.st_mode)) {
        replaced_ = std::make_unique<ReplacedFile>(path_);
        descriptor_ = replaced_->descriptor();
        error_ = replaced_->error();
        if (descriptor_ >= 0 || !exists) {
            return;
        }
        replaced_.reset();  // No file can be made beside it: written over, as it is.
    }
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
    error_ = descriptor_ < 0 ? errno : 0;
}

bool Output::write(std::string_view text) {
    if (descriptor_ < 0 && error_ == 0) {
        open();
    }
    if (error_ == 0) {
        error_ = write_all(descriptor_, text);
    }
    return error_ == 0;
}

std::optional<std::string> Output::finish() {
    if (replaced_ != nullptr) {
        error_ = error_ == 0 ? replaced_->commit() : error_;
        replaced_.reset();
        descriptor_ = -1;
    }
    if (!path_.empty() && descriptor_ >= 0) {
        if (::close(descriptor_) != 0 && error_ == 0) {
            error_ = errno;
        }
        descriptor_ = -1;
    }
    if (error_ == 0 || (path_.empty() && error_ == EPIPE)) {
        return std::nullopt;
    }
    return (path_.empty() ? std::string("standard output cannot be written") : path_ + ": cannot be written") + ": " +
           std::strerror(error_);
}

bool same_file(const std::string& a, const std::string& b) {
    struct stat first {};
    struct stat second {};
    return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

}  // namespace gpuspy::report
