#include "analysis/report/replaced_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace gpuspy::report {
namespace {

constexpr std::array kEndingSignals = {SIGHUP, SIGINT, SIGTERM};

/// What remove_and_end() removes; set before the handler is.
const char* volatile unfinished = nullptr;

void remove_and_end(int signal) {
    if (unfinished != nullptr) {
        ::unlink(unfinished);
    }
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

void remove_on_signals(const char* path) {
    unfinished = path;
    for (const int signal : kEndingSignals) {
        struct sigaction action {};
        // A signal that whoever started us wants ignored (nohup) stays ignored.
        if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) {
            std::signal(signal, path == nullptr ? SIG_DFL : remove_and_end);
        }
    }
}

mode_t mode_of_new_file() {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return 0666 & ~mask;
}

}  // namespace

ReplacedFile::ReplacedFile(const std::string& path) {
    std::error_code ignored;
    const std::filesystem::path target = std::filesystem::weakly_canonical(path, ignored);
    path_ = target.empty() ? path : target.string();
    const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
    temporary_ = (folder / ".gpuspy-export-XXXXXX").string();
    descriptor_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
    if (descriptor_ < 0) {
        error_ = errno;
        return;
    }
    remove_on_signals(temporary_.c_str());
    struct stat replaced {};
    const bool exists = ::stat(path_.c_str(), &replaced) == 0;
    if (::fchmod(descriptor_, exists ? replaced.st_mode & 07777 : mode_of_new_file()) != 0) {
        error_ = errno;
    }
}

ReplacedFile::~ReplacedFile() {
    if (descriptor_ >= 0) {
        ::unlink(temporary_.c_str());
        ::close(descriptor_);
        remove_on_signals(nullptr);
    }
}

int ReplacedFile::commit() {
    if (::fsync(descriptor_) != 0 || std::rename(temporary_.c_str(), path_.c_str()) != 0) {
        return errno;
    }
    remove_on_signals(nullptr);
    ::close(descriptor_);
    descriptor_ = -1;
    // The name is there; that it survives a power cut too is more than a file system may offer, so a failure is none of ours.
    const std::string folder = std::filesystem::path(path_).parent_path().string();
    const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (opened >= 0) {
        ::fsync(opened);
        ::close(opened);
    }
    return 0;
}

}  // namespace gpuspy::report
