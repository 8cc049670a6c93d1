#include "analysis/passes/run_info.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <set>
#include <string_view>

namespace gpuspy::analysis {
namespace {

bool is_framework(std::string_view basename) {
    static constexpr std::array<std::string_view, 24> kPrefixes = {
        "libcuda.so",     "libcudart",   "libcudnn.so", "libcublas.so",    "libcublasLt.so", "libcufft.so",
        "libcusparse.so", "libcusolver", "libnccl",     "libcupti",        "libtorch_cuda",  "libtorch_cpu",
        "libtensorflow",  "_pywrap_ten", "libmxnet",    "libcaffe2",       "libtvm",         "libonnxruntime",
        "libnvinfer.so",  "libtriton",   "libpaddle",   "xla_cuda_plugin", "libjax",         "libcupy"};
    return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                       [basename](std::string_view prefix) { return basename.starts_with(prefix); });
}

std::vector<FrameworkLibrary> framework_libraries(const ObjectIndex& objects) {
    std::set<std::pair<std::string, std::string>> found;
    for (const SharedObject& object : objects.objects()) {
        const std::string name = object.basename();
        if (is_framework(name)) {
            found.emplace(name, object.version);
        }
    }
    std::vector<FrameworkLibrary> result;
    for (const auto& [name, version] : found) {
        // Mapped in several pieces, not each with its version.
        if (!version.empty() && !result.empty() && result.back().name == name && result.back().version.empty()) {
            result.pop_back();
        }
        result.push_back({name, version});
    }
    return result;
}

std::string time_of_day(std::uint64_t realtime_ns) {
    const auto seconds = static_cast<std::time_t>(realtime_ns / 1'000'000'000);
    std::tm parts{};
    std::array<char, 32> text{};
    if (gmtime_r(&seconds, &parts) == nullptr ||
        std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts) == 0) {
        return "?";
    }
    return fmt::format("{}.{:03} UTC", text.data(), realtime_ns / 1'000'000 % 1000);
}

std::string limit_text(const KeptRecord& kept) {
    std::string text = kept.limit_ns != 0 ? fmt::format("{} s", static_cast<double>(kept.limit_ns) / 1e9) : "";
    if (kept.limit_bytes != 0) {
        text += fmt::format("{}{} MiB", text.empty() ? "" : ", ", kept.limit_bytes >> 20);
    }
    return text;
}

KeptInfo kept_info(const Model& model) {
    const KeptRecord& record = *model.index.kept;
    KeptInfo kept;
    kept.dropped = record;
    kept.length_ns = model.wall_ns();
    if (const auto& process = model.index.process; process && process->start_realtime_ns != 0) {
        const auto realtime = [&process](std::int64_t monotonic_ns) {
            return process->start_realtime_ns + static_cast<std::uint64_t>(monotonic_ns) - process->start_monotonic_ns;
        };
        kept.from_realtime_ns = realtime(model.first_ns);
        kept.to_realtime_ns = realtime(model.last_ns);
    }
    kept.text = fmt::format(
        "the last {:.3f} s of the recording{}; {} calls, {} device records and {} range events before it ({} blocks, "
        "{} "
        "bytes) were dropped by the limit asked for ({})",
        static_cast<double>(kept.length_ns) / 1e9,
        kept.from_realtime_ns == 0
            ? ""
            : fmt::format(", from {} to {}", time_of_day(kept.from_realtime_ns), time_of_day(kept.to_realtime_ns)),
        record.calls, record.device_records, record.ranges, record.blocks, record.bytes, limit_text(record));
    const LaunchCounts& launches = model.launches;
    if (launches.launched_before_kept != 0 || launches.returned_before_kept != 0) {
        kept.text += fmt::format(
            "; outside the kept span: the launches of {} kernel records, and the records of {} launches that began "
            "before it",
            launches.launched_before_kept, launches.returned_before_kept);
    }
    return kept;
}

std::string in_words(const RunInfo& run, bool is_snapshot) {
    const bool is_cut = !run.ended_cleanly && !is_snapshot && run.reading.write_error != 0;
    std::string text = run.ended_cleanly ? "ended cleanly"
                       : is_snapshot     ? "a snapshot: the process went on"
                       : is_cut          ? fmt::format("not recorded to its end: the trace could not be written ({})",
                                                       ::strerror(run.reading.write_error))
                       : run.salvaged || run.wait_status ? "ended without notice"
                                                         : "ended without notice, or still running";
    if (run.wait_status) {
        if (run.wait_pid != 0) {
            text += fmt::format("; the command (pid {}) ended", run.wait_pid);
        } else if (is_cut) {
            text += "; the process ended";
        }
        const int status = static_cast<int>(*run.wait_status);
        if (WIFEXITED(status)) {
            text += fmt::format(", exit status {}", WEXITSTATUS(status));
        } else if (WIFSIGNALED(status)) {
            const char* name = ::strsignal(WTERMSIG(status));
            text += fmt::format(", by signal {} ({})", WTERMSIG(status), name == nullptr ? "?" : name);
        } else {
            text += fmt::format(", wait status {:#x}", status);
        }
    }
    if (run.salvaged) {
        text += "; its last events were salvaged";
    }
    return text;
}

}  // namespace

RunInfo run_info(const Model& model) {
    const TraceIndex& index = model.index;
    RunInfo run;
    run.process = index.process;
    for (const auto& [ordinal, device] : index.devices) {
        run.devices.push_back(device);
    }
    run.info = index.info;
    run.libraries = framework_libraries(index.objects);
    run.wall_ns = model.wall_ns();
    run.ended_cleanly = index.ended_cleanly();
    run.salvaged = index.salvaged();
    if (const auto end = index.ends.find(static_cast<std::uint64_t>(abi::EndKind::kWaitStatus));
        end != index.ends.end()) {
        run.wait_status = end->second.detail;
        const std::uint64_t pid = end->second.pid;
        run.wait_pid = run.process && run.process->pid == pid ? 0 : pid;
    }
    run.reading = index.reading;
    run.end_text = in_words(run, index.is_snapshot());
    if (index.kept) {
        run.kept = kept_info(model);
    }
    for (const Notice& notice : index.notices) {
        run.notices.push_back(notice.text);
    }
    for (std::size_t what = 0; what < std::size(index.spans); ++what) {
        const bool is_device = what == static_cast<std::size_t>(abi::SpanKind::kDevice);
        for (const SpanChange& change : index.spans[what]) {
            // Off after the last call, as at the end of a recording, hides nothing.
            if (!change.on && !change.reason.empty() && change.ticks <= index.last_call_ticks) {
                run.notices.push_back((is_device ? "device times off: " : "recording off: ") + change.reason);
            }
        }
    }
    run.threads = static_cast<std::uint64_t>(
        std::count_if(model.threads.begin(), model.threads.end(), [](const ThreadStats& t) { return t.calls != 0; }));
    run.anchors = index.anchors;
    run.dropped_anchors = index.dropped_anchors;
    return run;
}

}  // namespace gpuspy::analysis
