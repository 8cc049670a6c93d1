#include "collector/run/traces.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>

#include "collector/sink/file_header.hpp"
#include "collector/sink/flight_recorder.hpp"
#include "collector/sink/salvage.hpp"

namespace gpuspy::run {

namespace fs = std::filesystem;

namespace {

bool is_trace_of(const fs::path& path, std::uint64_t run_id) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0) {
        return false;
    }
    sink::TraceIdentity identity;
    const bool is_ours = sink::read_trace_identity(fd, &identity) && identity.run_id == run_id && !identity.is_snapshot;
    close(fd);
    return is_ours;
}

/// What is worth a line of the reasons why a ring was not emptied; nullptr: nothing went wrong, or it is not of
/// this run (rings of another version: those of this run are of ours).
const char* explain(sink::SalvageReason reason) {
    switch (reason) {
        // kOtherVersion: not of this run, whose library is ours; another gpuspy's, who cannot be asked whose they are.
        case sink::SalvageReason::kNoTrace:
            return "its trace is gone";
        case sink::SalvageReason::kBeingTaken:
        case sink::SalvageReason::kTraceBusy:
            return "another process holds its trace";
        default:
            return nullptr;
    }
}

std::string format_bytes(std::uint64_t bytes) {
    constexpr const char* kUnits[] = {"KiB", "MiB", "GiB"};
    if (bytes < 1024) {
        return fmt::format("{} B", bytes);
    }
    double value = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    for (; value >= 1023.95 && unit + 1 < std::size(kUnits); ++unit) {
        value /= 1024;
    }
    return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

}  // namespace

std::vector<std::string> find_traces(const std::string& output, std::uint64_t run_id) {
    const fs::path path(output);
    const std::string stem = path.stem().string();
    std::vector<std::string> traces;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(path.parent_path(), error)) {
        const fs::path& candidate = entry.path();
        if (candidate.filename().string().rfind(stem, 0) == 0 && entry.is_regular_file(error) &&
            is_trace_of(candidate, run_id)) {
            traces.push_back(candidate.string());
        }
    }
    // What a process that outlives the command is about to go on with, as a flight recorder.
    const auto is_successor = [&](const std::string& candidate) {
        return std::any_of(traces.begin(), traces.end(), [&](const std::string& trace) {
            return sink::is_successor_path(trace.c_str(), candidate.c_str());
        });
    };
    std::vector<std::string> whole;
    std::remove_copy_if(traces.begin(), traces.end(), std::back_inserter(whole), is_successor);
    std::sort(whole.begin(), whole.end(), [&](const std::string& left, const std::string& right) {
        return std::pair(left != output, left) < std::pair(right != output, right);
    });
    return whole;
}

std::string describe_traces(const std::vector<std::string>& traces, const std::string& folder) {
    constexpr std::size_t kNamed = 4;
    std::string line = "wrote ";
    for (std::size_t i = 0; i < std::min(traces.size(), kNamed); ++i) {
        std::error_code error;
        const std::uint64_t bytes = fs::file_size(traces[i], error);
        const std::string prefix = folder + "/";
        const bool is_below = traces[i].rfind(prefix, 0) == 0;
        line += fmt::format("{}{} ({})", i == 0 ? "" : ", ", is_below ? traces[i].substr(prefix.size()) : traces[i],
                            error ? error.message() : format_bytes(bytes));
    }
    return traces.size() > kNamed ? fmt::format("{} and {} more beside them", line, traces.size() - kNamed) : line;
}

std::vector<std::string> salvage_run(const std::string& ring_directory, std::uint64_t run_id) {
    std::vector<std::string> problems;
    sink::SalvageFilter filter;
    filter.run_id = run_id;
    const auto report = [](void* self, const sink::SalvageResult& result) {
        const char* reason =
            result.reason == sink::SalvageReason::kFailed ? std::strerror(result.error) : explain(result.reason);
        if (reason != nullptr) {
            static_cast<std::vector<std::string>*>(self)->push_back(fmt::format(
                "the last events of process {} are missing from {}: {}", result.pid, result.trace_path, reason));
        }
    };
    sink::salvage_directory(ring_directory.c_str(), filter, report, &problems);
    // And what dead processes of other runs left, whose runs cannot tell any more.
    sink::SalvageFilter any;
    any.removes_older = true;
    std::uint64_t removed_bytes = 0;
    const auto count = [](void* self, const sink::SalvageResult& result) {
        *static_cast<std::uint64_t*>(self) += result.removed_bytes;
    };
    sink::salvage_directory(ring_directory.c_str(), any, count, &removed_bytes);
    if (removed_bytes != 0) {
        problems.push_back(fmt::format("{} {}", removed_bytes, sink::kRemovedUnreadText));
    }
    return problems;
}

std::vector<std::string> note_wait_status(const std::vector<std::string>& traces, pid_t pid, int wait_status) {
    std::vector<std::string> problems;
    for (const std::string& trace : traces) {
        const int error = sink::append_wait_status(trace.c_str(), static_cast<std::uint32_t>(pid), wait_status);
        // EAGAIN: a process of the run outlives the command and is still writing.
        if (error != 0 && error != EAGAIN) {
            problems.push_back(fmt::format("cannot note the exit status in {}: {}", trace, std::strerror(error)));
        }
    }
    return problems;
}

}  // namespace gpuspy::run
