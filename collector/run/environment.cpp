#include "collector/run/environment.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <vector>

#include "collector/sink/file_header.hpp"
#include "collector/sink/kept_limit.hpp"

namespace gpuspy::run {

namespace fs = std::filesystem;

namespace {

constexpr const char* kOnlyPid = "GPUSPY_ONLY_PID";

std::string first_existing(const std::vector<fs::path>& candidates) {
    for (const fs::path& candidate : candidates) {
        std::error_code error;
        if (fs::is_regular_file(candidate, error)) {
            return candidate.lexically_normal().string();
        }
    }
    return "";
}

}  // namespace

Installation find_installation(const std::string& program, const std::string& library_folder) {
    const fs::path folder = fs::path(program).parent_path();
    Installation installation;
    installation.folder = folder.string();
    std::vector<std::string> looked;
    std::vector<fs::path> candidates;
    for (const std::string& below : {library_folder, std::string("../lib"), std::string("../lib/x86_64-linux-gnu"),
                                     std::string("../lib64"), std::string("../lib/gpuspy"), std::string(".")}) {
        const std::string place = (folder / below).lexically_normal().string();
        if (std::find(looked.begin(), looked.end(), place) == looked.end()) {
            looked.push_back(place);
            candidates.push_back(fs::path(place) / "libgpuspy.so");
        }
    }
    installation.looked = fmt::format("{}", fmt::join(looked, ", "));
    installation.library = first_existing(candidates);
    installation.report = first_existing({folder / "gpuspy-report"});
    return installation;
}

std::string preload_problem(const std::string& library) {
    if (library.find_first_of(" :") == std::string::npos) {
        return "";
    }
    return "the path of " + library +
           " has a space or a colon in it, which LD_PRELOAD cannot say; install gpuspy elsewhere";
}

std::string preload_value(const std::string& library, const char* before) {
    if (before == nullptr || *before == '\0') {
        return library;
    }
    std::string value = library;
    const std::string rest = before;
    for (std::size_t at = 0; at <= rest.size();) {
        const std::size_t end = std::min(rest.find_first_of(" :", at), rest.size());
        const std::string entry = rest.substr(at, end - at);
        if (!entry.empty() && entry != library) {
            value += ":" + entry;
        }
        at = end + 1;
    }
    return value;
}

std::string absolute_path(const std::string& path, const std::string& folder) {
    return path.empty() || path.front() == '/' ? path : folder + "/" + path;
}

std::string kept_limit_problem(const std::string& what, const std::string& text) {
    sink::KeptLimit unused;
    const char* problem = text.empty() ? nullptr : sink::parse_kept_limit(text.c_str(), &unused);
    return problem == nullptr ? "" : fmt::format("{}{} {}", what, text, problem);
}

namespace {

/// Of a regular file that is there: an older trace is moved away, and nothing else is touched.
std::string existing_file_problem(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    sink::TraceIdentity identity;
    std::error_code error;
    const bool is_trace = fd >= 0 && sink::read_trace_identity(fd, &identity);
    if (fd >= 0) {
        close(fd);
    }
    if (fd >= 0 && !is_trace && fs::file_size(path, error) != 0) {
        return "cannot write " + path + ": a file that is not a trace stands there; remove it or use -o FILE";
    }
    const std::string parent = fs::path(path).parent_path().string();
    if (is_trace && access(parent.c_str(), W_OK | X_OK) != 0) {
        return "cannot write " + path + ": the older trace there cannot be moved away (" + std::strerror(errno) +
               "); use -o FILE";
    }
    return "";
}

}  // namespace

std::string output_problem(const std::string& path) {
    std::error_code error;
    if (fs::is_symlink(fs::symlink_status(path, error))) {
        return "cannot write " + path + ": it is a symbolic link; name the file that it leads to (" +
               fs::read_symlink(path, error).string() + ") with -o";
    }
    if (fs::is_directory(path, error)) {
        return "cannot write " + path + ": it is a directory; name a file with -o";
    }
    if (fs::exists(path, error)) {
        return access(path.c_str(), W_OK) != 0 ? "cannot write " + path + ": " + std::strerror(errno) + "; use -o FILE"
               : fs::is_regular_file(path, error) ? existing_file_problem(path)
                                                  : "";
    }
    const std::string parent = fs::path(path).parent_path().string();
    if (!fs::is_directory(parent, error)) {
        return "cannot write " + path + ": there is no directory " + parent + "; create it or use -o FILE";
    }
    return access(parent.c_str(), W_OK | X_OK) == 0
               ? ""
               : "cannot write " + path + ": " + std::strerror(errno) + "; use -o FILE";
}

std::string nvtx_problem(const std::string& library, const char* before) {
    std::error_code error;
    if (before == nullptr || *before == '\0' || library == before || fs::equivalent(library, before, error)) {
        return "";
    }
    return fmt::format("{} names {}: NVTX ranges go there, and are not recorded; unset it to record them",
                       kNvtxInjection, before);
}

EnvironmentChange child_environment(const Settings& settings, const char* preload_before, const char* nvtx_before) {
    EnvironmentChange change;
    change.set = {
        {"LD_PRELOAD", preload_value(settings.library, preload_before)},
        {"GPUSPY_OUTPUT", settings.output},
        {"GPUSPY_RUN_ID", std::to_string(settings.run_id)},
    };
    if (nvtx_problem(settings.library, nvtx_before).empty()) {
        change.set.emplace_back(kNvtxInjection, settings.library);
    }
    if (settings.device_timing.has_value()) {
        change.set.emplace_back("GPUSPY_DEVICE_TIMING", *settings.device_timing ? "1" : "0");
    }
    if (settings.asan_options.has_value()) {
        const std::string& before = *settings.asan_options;
        change.set.emplace_back(kAsanOptions, before + (before.empty() ? "" : ":") + "verify_asan_link_order=0");
    }
    if (!settings.last.empty()) {
        change.set.emplace_back("GPUSPY_LAST", settings.last);
    }
    if (settings.follow_children) {
        change.unset.push_back(kOnlyPid);  // We may be a child of a gpuspy-run that follows none.
    } else {
        change.set_to_pid = kOnlyPid;
    }
    return change;
}

std::uint64_t make_run_id() {
    std::uint64_t id = 0;
    if (getrandom(&id, sizeof id, 0) != sizeof id) {
        id = static_cast<std::uint64_t>(getpid()) << 32 ^ static_cast<std::uint64_t>(std::time(nullptr));
    }
    return id == 0 ? 1 : id;
}

}  // namespace gpuspy::run
