// The upper half of the text report: what ran, whether all is there, where the time went.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/render/display_text.hpp"
#include "analysis/render/text_sections.hpp"
#include "analysis/render/verdict_text.hpp"

namespace gpuspy::analysis::text {
namespace {

std::string command_line(const ProcessRecord& process) {
    std::string text;
    for (const std::string& argument : process.argv) {
        text += text.empty() ? argument : " " + argument;
    }
    return text.empty() ? process.exe : text;
}

std::string gpu_text(const DeviceRecord& device) {
    std::string text = fmt::format("{}: {}", device.ordinal, device.name);
    if (device.sm_count != 0) {
        text += fmt::format(", {} SMs, compute {}.{}", device.sm_count, device.cc_major, device.cc_minor);
    }
    if (device.memory_bytes != 0) {
        text += ", " + bytes_text(device.memory_bytes);
    }
    return text;
}

std::string versions_text(const RunInfo& run) {
    std::string text;
    for (const auto& [key, value] : run.info) {
        if (key.ends_with("_version")) {
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", key.substr(0, key.size() - 8), value);
        }
    }
    return text;
}

/// A field that a person wants to read to its end: on as many lines as it takes.
void long_field(std::string& out, const char* label, const std::string& value) {
    constexpr std::size_t kValueColumn = 18;
    std::string lines;
    paragraph(lines, printable(value), kValueColumn);
    // An empty value makes an empty line, without the indent.
    out += fmt::format("  {:<16}{}", label, lines.substr(std::min(kValueColumn, lines.size() - 1)));
}

void zero_launches(std::string& out, const Findings& findings) {
    const RunInfo& run = findings.run;
    if (run.kept && run.kept->dropped.calls != 0) {
        paragraph(out, "NO KERNEL LAUNCH IN WHAT WAS KEPT: those before it were not kept (GPUSPY_LAST)", 2);
        return;
    }
    paragraph(out, "NO KERNEL LAUNCH WAS RECORDED. Likely reasons:", 2);
    if (findings.completeness.launches.device_records != 0) {
        paragraph(out, "- kernels ran, but were launched by a route that gpuspy does not see", 4);
    }
    if (run.reading.partial()) {
        paragraph(out, "- the part of the trace that holds the launches cannot be read", 4);
    }
    if (findings.api.calls == 0) {
        paragraph(
            out,
            "- the program made no CUDA call that gpuspy records: it did not use the GPU, or stopped before it did", 4);
        paragraph(out, "- the work was done by another process: look for trace.<pid>.bin beside this file", 4);
        paragraph(
            out,
            "- the program reaches CUDA in a way that a preloaded library cannot see (RTLD_DEEPBIND, a set-user-id "
            "program, a statically linked program)",
            4);
    } else {
        paragraph(out, "- the program only set the GPU up, or copied and waited, while it was recorded", 4);
        paragraph(out, "- its kernels are launched by another process: look for trace.<pid>.bin beside this file", 4);
    }
    if (!run.ended_cleanly) {
        paragraph(out, "- the process died before its first launch, or still runs", 4);
    }
}

void share_row(std::string& out, const char* label, std::uint64_t time_ns, double share, const std::string& remark) {
    out += fmt::format("  {:<26}{:>10}  {:>8}", label, duration_text(time_ns), percent_text(share));
    out += remark.empty() ? "\n" : "   " + remark + "\n";
}

double of_wall(std::uint64_t time_ns, const Findings& findings) {
    return findings.run.wall_ns == 0 ? 0 : static_cast<double>(time_ns) / static_cast<double>(findings.run.wall_ns);
}

}  // namespace

void run_section(std::string& out, const Findings& findings, const std::string& trace_path) {
    const RunInfo& run = findings.run;
    out += "gpuspy report of " + cut_middle(printable(trace_path), kColumns - 17) + "\n";
    if (run.reading.partial()) {
        paragraph(out, "PARTIAL: " + run.reading.describe() + ".", 0);
    }
    heading(out, "What ran");
    if (run.process) {
        field(out, "command", command_line(*run.process));
        field(out, "process",
              fmt::format("pid {} on {}{}, {} thread{} with CUDA calls", run.process->pid, run.process->host,
                          run.process->rank >= 0 ? fmt::format(", rank {}", run.process->rank) : "", run.threads,
                          run.threads == 1 ? "" : "s"));
    } else {
        field(out, "command", "not known: the trace does not say");
    }
    for (const DeviceRecord& device : run.devices) {
        field(out, "GPU", gpu_text(device));
    }
    if (run.devices.empty()) {
        field(out, "GPU", "not known: the trace names none");
    }
    if (const std::string versions = versions_text(run); !versions.empty()) {
        long_field(out, "versions", versions);
    }
    if (const auto nvtx = run.info.find("nvtx"); nvtx != run.info.end()) {
        long_field(out, "NVTX ranges", nvtx->second);
    }
    std::string libraries;
    for (const FrameworkLibrary& library : run.libraries) {
        libraries +=
            (libraries.empty() ? "" : ", ") + library.name + (library.version.empty() ? "" : " " + library.version);
    }
    if (!libraries.empty()) {
        long_field(out, "libraries", libraries);
    }
    field(out, "wall time", duration_text(run.wall_ns));
    long_field(out, "end", run.end_text);
    if (run.kept) {
        long_field(out, "kept", run.kept->text);
    }
    for (const std::string& notice : run.notices) {
        long_field(out, "notice", notice);
    }
}

void completeness_section(std::string& out, const Findings& findings, std::size_t top) {
    const Completeness& all = findings.completeness;
    const LaunchCounts& n = all.launches;
    heading(out, "Completeness");
    if (n.host == 0) {
        zero_launches(out, findings);
    }
    if (all.complete) {
        paragraph(out,
                  fmt::format("complete: {} expected kernel records, all matched; no record without a launch",
                              count_text(n.expected)),
                  2);
    } else {
        paragraph(out, "NOT COMPLETE:", 2);
        for (const std::string& reason : all.reasons) {
            paragraph(out, "- " + reason, 4);
        }
    }
    out +=
        fmt::format("  launches {}: captured {}, failed {}, without device times {}, graph launches {} of {} kernels\n",
                    count_text(n.host), count_text(n.captured), count_text(n.failed), count_text(n.untimed),
                    count_text(n.graph_launches), count_text(n.graph_nodes));
    out += fmt::format("  kernel records expected {}, matched {}, came {}", count_text(n.expected),
                       count_text(n.matched), count_text(n.device_records));
    if (all.untimed_records != 0) {
        out += fmt::format(" (device records without a usable time: {})", count_text(all.untimed_records));
    }
    out += "\n";
    for (const LossRow& loss : all.losses) {
        if (loss.cause == "unmapped_pointer") {
            paragraph(out, fmt::format("not a loss: {} {}", count_text(loss.count), loss.text), 2);
        }
    }
    if (all.unmatched.empty()) {
        return;
    }
    out += fmt::format("  {:>14} {:>14} {:>14}  kernel\n", "without record", "without launch", "not returned");
    std::size_t shown = 0;
    for (const UnmatchedRow& row : all.unmatched) {
        if (shown++ == top) {
            out += fmt::format("  ... and {} more kernels\n", count_text(all.unmatched.size() - top));
            break;
        }
        out += fmt::format("  {:>14} {:>14} {:>14}  {}\n", count_text(row.launches), count_text(row.records),
                           count_text(row.not_returned), cut_middle(printable(demangled(row.mangled)), 50));
    }
}

void times_section(std::string& out, const Findings& findings) {
    heading(out, "Time");
    out += fmt::format("  {:<26}{:>10}  {:>8}\n", "", "time", "of wall");
    const DeviceTime& gpu = findings.gpu.all;
    if (findings.completeness.device_times) {
        share_row(out, "GPU time, kernels", gpu.kernel_ns, of_wall(gpu.kernel_ns, findings), "sum of durations");
        share_row(out, "GPU time, all activities", gpu.time_ns, of_wall(gpu.time_ns, findings), "with copies and sets");
        for (const DeviceTime& device : findings.gpu.devices) {
            const std::string label = fmt::format("GPU {} busy", device.ordinal);
            share_row(out, label.c_str(), device.busy_ns, device.utilisation,
                      fmt::format("concurrency {:.2f} while busy", device.concurrency));
        }
    } else {
        out += "  GPU time and GPU busy are not known: device times were not recorded\n";
    }
    share_row(out, "API time", findings.api.time_ns, findings.api.share_of_wall,
              fmt::format("{} calls on {} thread{}", count_text(findings.api.calls), findings.api.threads,
                          findings.api.threads == 1 ? "" : "s"));
    const CpuTime& cpu = findings.cpu;
    if (cpu.known) {
        share_row(out, "CPU time", cpu.user_ns + cpu.system_ns, cpu.share_of_wall,
                  fmt::format("user {}, system {}{}", duration_text(cpu.user_ns), duration_text(cpu.system_ns),
                              cpu.since_process_start ? ", since the process began" : ""));
    } else {
        out += "  CPU time is not known: the trace holds no sample of it\n";
    }
    const Sync& sync = findings.sync;
    std::string remark = sync.threads.size() > 1 ? fmt::format("on {} threads; ", sync.threads.size()) : "";
    if (sync.gpu_known && sync.time_ns != 0) {
        remark += fmt::format("GPU busy {}, idle {}", duration_text(sync.gpu_busy_ns), duration_text(sync.gpu_idle_ns));
    }
    share_row(out, "Synchronisation time", sync.time_ns, sync.share_of_wall, remark);
}

void verdict_section(std::string& out, const Findings& findings) {
    if (!findings.completeness.device_times) {
        return;
    }
    heading(out, "Verdict", "--view idle and phases say more");
    if (!findings.verdict) {
        out += "  not computed for so long a trace: --view idle, phases\n";
        return;
    }
    paragraph(out, "whole run: " + verdict_text(*findings.verdict), 2);
    if (findings.steady_verdict) {
        const std::vector<Iteration>& rows = findings.iterations->rows;
        const auto warm = std::count_if(rows.begin(), rows.end(),
                                        [](const Iteration& row) { return row.kind == IterationKind::kWarmUp; });
        paragraph(out,
                  fmt::format("steady state, {} of {} iterations ({} launch{} and {} each, median): {}",
                              count_text(rows.size() - static_cast<std::size_t>(warm)), count_text(rows.size()),
                              count_text(findings.iterations->launches), findings.iterations->launches == 1 ? "" : "es",
                              duration_text(findings.iterations->median_ns), verdict_text(*findings.steady_verdict)),
                  2);
    }
}

}  // namespace gpuspy::analysis::text
