// The lower half of the text report: its tables.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/render/display_text.hpp"
#include "analysis/render/kernel_name.hpp"
#include "analysis/render/text_sections.hpp"

namespace gpuspy::analysis::text {
namespace {

/// "~" where a median is from a histogram.
std::string median_text(const DurationStats& duration) {
    return (duration.med_exact ? "" : "~") + duration_text(duration.med_ns);
}

std::string duration_columns(const DurationStats& duration) {
    if (duration.timed == 0) {
        return fmt::format("{:>9} {:>9} {:>9} {:>9}", "-", "-", "-", "-");
    }
    return fmt::format("{:>9} {:>9} {:>9} {:>9}", duration_text(duration.avg_ns), median_text(duration),
                       duration_text(duration.min_ns), duration_text(duration.max_ns));
}

std::string columns_head() {
    return fmt::format("{:>9} {:>9} {:>9} {:>9}", "avg", "med", "min", "max");
}

void more_rows(std::string& out, std::size_t all, std::size_t top) {
    if (all > top) {
        out += fmt::format("  ... and {} more (--top 0 shows all)\n", count_text(all - top));
    }
}

}  // namespace

void kernel_section(std::string& out, const Findings& findings, std::size_t top) {
    if (findings.kernels.empty()) {
        return;
    }
    heading(out, "Kernels",
            fmt::format("{} by name and owner; % kernels is of all kernel time", count_text(findings.kernels.size())));
    out +=
        fmt::format("  {:>9} {:>7} {:>10} {:>9} {}  owner\n", "% kernels", "% wall", "total", "count", columns_head());
    const std::size_t shown = std::min(top, findings.kernels.size());
    std::uint64_t by_graph_launch = 0;
    bool approximate = false;
    for (std::size_t i = 0; i < shown; ++i) {
        const KernelRow& row = findings.kernels[i];
        by_graph_launch += row.owner_by_graph_launch;
        approximate |= !row.duration.med_exact;
        out += fmt::format("  {:>9.1f} {:>7.1f} {:>10} {:>9} {}  {}{}\n", 100 * row.share_of_kernels,
                           100 * row.share_of_wall, row.duration.timed == 0 ? "-" : duration_text(row.duration.time_ns),
                           count_text(row.count), duration_columns(row.duration), cut_middle(printable(row.owner), 18),
                           row.owner_by_graph_launch != 0 ? "*" : "");
        out += "    " + fitted_name(printable(demangled(row.mangled)), kColumns - 4) + "\n";
    }
    more_rows(out, findings.kernels.size(), top);
    if (by_graph_launch != 0) {
        paragraph(
            out,
            fmt::format("* {} of these ran in graphs whose capture was not seen: the owner is who launched the graph",
                        count_text(by_graph_launch)),
            2);
    }
    if (approximate) {
        out += "  ~ within 1 %: more than 10,000 samples\n";
    }
}

void library_section(std::string& out, const Findings& findings, std::size_t top) {
    if (findings.libraries.empty()) {
        return;
    }
    heading(out, "GPU time by owner", "a library owns what is launched inside its calls, else the object that called");
    out += fmt::format("  {:>9} {:>10} {:>10} {:>8}  owner\n", "% kernels", "total", "launched", "kernels");
    const std::size_t shown = std::min(top, findings.libraries.size());
    for (std::size_t i = 0; i < shown; ++i) {
        const LibraryRow& row = findings.libraries[i];
        out += fmt::format("  {:>9.1f} {:>10} {:>10} {:>8}  {}{}\n", 100 * row.share_of_kernels,
                           duration_text(row.time_ns), count_text(row.count), count_text(row.kernels),
                           cut_middle(printable(row.owner), 40), row.library.empty() ? "" : " (library calls)");
    }
    more_rows(out, findings.libraries.size(), top);
}

void call_section(std::string& out, const Findings& findings, std::size_t top) {
    if (findings.calls.empty()) {
        return;
    }
    heading(out, "Calls", "times include the calls inside");
    out += fmt::format("  {:>10} {:>10} {}  {:<9} call\n", "total", "count", columns_head(), "library");
    const std::size_t shown = std::min(top, findings.calls.size());
    for (std::size_t i = 0; i < shown; ++i) {
        const CallRow& row = findings.calls[i];
        const std::string failed = row.failed == 0 ? "" : fmt::format(" ({} failed)", count_text(row.failed));
        out += fmt::format("  {:>10} {:>10} {}  {:<9} {}{}\n", duration_text(row.duration.time_ns),
                           count_text(row.count), duration_columns(row.duration), cut_middle(printable(row.library), 9),
                           cut_middle(printable(row.name), failed.empty() ? 26 : 14), cut_middle(failed, 12));
    }
    more_rows(out, findings.calls.size(), top);
}

void sync_section(std::string& out, const Findings& findings, std::size_t top) {
    const Sync& sync = findings.sync;
    if (sync.calls.empty()) {
        return;
    }
    heading(out, "Synchronisation", "outermost blocking calls; GPU busy: waiting for its work, idle: the wait itself");
    out +=
        fmt::format("  {:>10} {:>8} {:>10} {:>10}  {:<9} call\n", "time", "of wall", "GPU busy", "GPU idle", "library");
    const std::size_t shown = std::min(top, sync.calls.size());
    for (std::size_t i = 0; i < shown; ++i) {
        const SyncCall& call = sync.calls[i];
        out += fmt::format("  {:>10} {:>8} {:>10} {:>10}  {:<9} {}\n", duration_text(call.time_ns),
                           percent_text(call.share_of_wall), sync.gpu_known ? duration_text(call.gpu_busy_ns) : "-",
                           sync.gpu_known ? duration_text(call.time_ns - call.gpu_busy_ns) : "-",
                           cut_middle(printable(call.library), 9), cut_middle(printable(call.name), 40));
    }
    more_rows(out, sync.calls.size(), top);
    if (sync.threads.size() > 1) {
        const std::size_t threads = std::min(top, sync.threads.size());
        for (std::size_t i = 0; i < threads; ++i) {
            const SyncThread& thread = sync.threads[i];
            out += fmt::format("  {:>10} {:>8}  thread {} {}\n", duration_text(thread.time_ns),
                               percent_text(thread.share_of_wall), thread.tid, cut_middle(printable(thread.name), 40));
        }
        more_rows(out, sync.threads.size(), top);
    }
}

void collective_section(std::string& out, const Findings& findings, std::size_t top) {
    if (findings.collectives.empty()) {
        return;
    }
    heading(out, "Communication", "bytes: what the calls were given; time: of the host in the calls");
    out += fmt::format("  {:>11} {:>10} {:>10}  {:<12} {:>5} {:>11}  call\n", "bytes", "count", "time", "datatype",
                       "comm", "rank");
    const std::size_t shown = std::min(top, findings.collectives.size());
    for (std::size_t i = 0; i < shown; ++i) {
        const CollectiveRow& row = findings.collectives[i];
        const std::string rank = row.rank < 0 ? std::string("-") : fmt::format("{} of {}", row.rank, row.ranks);
        const std::string failed = row.failed == 0 ? "" : fmt::format(" ({} failed)", count_text(row.failed));
        out += fmt::format("  {:>11} {:>10} {:>10}  {:<12} {:>5} {:>11}  {}{}\n", bytes_text(row.bytes),
                           count_text(row.count), duration_text(row.host_ns), row.datatype.empty() ? "-" : row.datatype,
                           row.communicator, rank, cut_middle(printable(row.name), 24), failed);
    }
    more_rows(out, findings.collectives.size(), top);
}

void copy_section(std::string& out, const Findings& findings) {
    if (findings.copies.empty()) {
        return;
    }
    heading(out, "Copies");
    out += fmt::format("  {:<10} {:>10} {:>11} {:>10} {:>9}  {}\n", "direction", "count", "bytes", "total", "GB/s",
                       columns_head());
    for (const CopyRow& row : findings.copies) {
        const bool timed = row.duration.timed != 0;
        out += fmt::format("  {:<10} {:>10} {:>11} {:>10} {:>9}  {}\n", row.direction, count_text(row.count),
                           bytes_text(row.bytes), timed ? duration_text(row.duration.time_ns) : "-",
                           timed ? fmt::format("{:.2f}", row.gb_per_s) : "-", duration_columns(row.duration));
    }
}

void overhead_section(std::string& out, const Findings& findings) {
    const Overhead& cost = findings.overhead;
    heading(out, "What gpuspy cost", "an estimate");
    if (!cost.known) {
        out += "  not known: the trace does not say\n";
        return;
    }
    out += fmt::format("  {} in all, {} of wall: {} recorded calls x {:.1f} ns = {},\n", duration_text(cost.total_ns),
                       percent_text(cost.share_of_wall), count_text(cost.calls), cost.call_ns,
                       duration_text(cost.calls_ns));
    out += fmt::format("  drain thread {} of CPU, CUPTI callbacks {}\n", duration_text(cost.drain_ns),
                       duration_text(cost.callback_ns));
    out += "  not included: what CUPTI itself costs inside the driver and on the GPU\n";
}

}  // namespace gpuspy::analysis::text
