#include "analysis/render/verdict_text.hpp"

#include <fmt/format.h>

#include <utility>

#include "analysis/passes/ratio.hpp"
#include "analysis/render/display_text.hpp"

namespace gpuspy::analysis {
namespace {

std::string of_span(const Verdict& verdict, std::uint64_t part_ns) {
    return fmt::format("{} ({})", percent_text(ratio(part_ns, verdict.span_ns)), duration_text(part_ns));
}

std::string mean_kernel(const Verdict& verdict) {
    return verdict.kernels == 0 ? std::string() : duration_text(verdict.kernels_ns / verdict.kernels);
}

std::string in_call(const Verdict& verdict) {
    return verdict.call.empty() ? std::string() : fmt::format(", most of it in {}", verdict.call);
}

/// All parts of the span, so that a close decision shows itself: "kernels 58.3 %, launches 23.0 %, ...".
std::string parts(const Verdict& v) {
    std::string text;
    for (const auto& [name, part_ns] : {std::pair("kernels", v.kernels_ns), std::pair("copies alone", v.copies_ns),
                                        std::pair("launches", v.launch_ns), std::pair("host", v.host_ns),
                                        std::pair("waits", v.sync_ns), std::pair("copy calls", v.copy_calls_ns),
                                        std::pair("queued", v.queued_ns), std::pair("not known", v.not_known_ns)}) {
        if (200 * part_ns >= v.span_ns) {  // 0.5 %
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, percent_text(ratio(part_ns, v.span_ns)));
        }
    }
    return text;
}

/// Why, and what helps.
std::string reason(const Verdict& v) {
    switch (v.bound) {
        case Bound::kGpu:
            return fmt::format("kernels run for {}. Faster kernels help, a faster host does not.",
                               of_span(v, v.kernels_ns));
        case Bound::kCopy:
            return fmt::format(
                "copies without a kernel beside them take {}, and the device idles for {} while the host is in copy "
                "calls{}. Fewer or pinned copies, and copies beside kernels, help.",
                of_span(v, v.copies_ns), of_span(v, v.copy_calls_ns), in_call(v));
        case Bound::kSync:
            return fmt::format(
                "for {} the device is idle because the host waited for it before launching more{}. Fewer waits help: "
                "work could be queued meanwhile.",
                of_span(v, v.sync_ns), in_call(v));
        case Bound::kLaunch:
            if (v.latency_ns > v.launch_ns / 2) {
                return fmt::format(
                    "launch latency takes {}, {} of it between launches that had returned and their start, for kernels "
                    "of {} on average. Fewer and longer kernels (fusion, larger batches) help.",
                    of_span(v, v.launch_ns), duration_text(v.latency_ns), mean_kernel(v));
            }
            return fmt::format(
                "launch calls and their latency take {} in which nothing runs{}, for kernels of {} on average. Fewer "
                "launches (CUDA graphs, fusion, larger batches) help.",
                of_span(v, v.launch_ns), in_call(v), mean_kernel(v));
        case Bound::kHost:
            return fmt::format(
                "for {} nothing is queued while the launching thread does something else: {} outside CUDA, {} in "
                "other calls{}. {}",
                of_span(v, v.host_ns), of_span(v, v.outside_ns), of_span(v, v.host_ns - v.outside_ns), in_call(v),
                2 * v.loading_ns > v.host_ns
                    ? fmt::format(
                          "Loading code takes {} of it and is paid once: look at a later part (--steady, --from).",
                          duration_text(v.loading_ns))
                    : std::string("A faster host helps, or more work for each step that it prepares."));
        case Bound::kDependency:
            return fmt::format(
                "for {} work was launched already and did not run: it waited for another stream or event, or the "
                "device "
                "stalled for a cause that is not visible here.",
                of_span(v, v.queued_ns));
        case Bound::kNotKnown:
            break;
    }
    return v.span_ns == 0 ? "nothing that is looked at has a device time that can be related to the host's clock."
                          : fmt::format("for {} nothing ran and no launch is known.", of_span(v, v.not_known_ns));
}

}  // namespace

std::string verdict_text(const Verdict& verdict) {
    std::string text = fmt::format("{}: ", bound_text(verdict.bound));
    if (verdict.span_ns != 0) {
        text +=
            fmt::format("of the {} between first and last activity the device is busy for {}; ",
                        duration_text(verdict.span_ns), percent_text(1 - ratio(verdict.idle_ns(), verdict.span_ns)));
    }
    text += reason(verdict);
    if (ratio(verdict.idle_ns(), verdict.span_ns) > 1 - kBusyShare && 2 * verdict.longest_gap_ns > verdict.idle_ns()) {
        text += fmt::format(" One gap alone lasts {}.", duration_text(verdict.longest_gap_ns));
    }
    if (verdict.span_ns != 0) {
        text += fmt::format(" In all: {}.", parts(verdict));
    }
    return text;
}

}  // namespace gpuspy::analysis
