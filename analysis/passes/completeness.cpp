#include "analysis/passes/completeness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>

namespace gpuspy::analysis {
namespace {

struct CauseName {
    const char* name;
    const char* text;
};

constexpr std::array<CauseName, abi::kLossCauseCount> kCauses = {{
    {"ring_full", "events dropped because a ring was full"},
    {"cupti_dropped", "device records that CUPTI says it dropped"},
    {"scratch_buffer", "buffers of device records lost because none was free"},
    {"no_ring", "calls of threads that got no ring"},
    {"no_slot", "look-ups passed through because a hook had no free slot: calls through them are not seen"},
    {"unmapped_pointer", "driver entry points passed through that are in no hook table"},
    {"graph_nodes_dropped", "graph nodes whose description did not fit"},
    {"write_failed", "bytes that could not be written to the trace"},
    {"unparsed_record", "device records of a kind or size that could not be read"},
    {"after_end",
     "calls after the recording had ended (of any thread, each level), as of exit handlers and destructors"},
}};

std::vector<LossRow> loss_rows(const Model& model) {
    std::vector<LossRow> rows;
    for (const auto& [cause, count] : model.index.losses) {
        if (count == 0) {
            continue;
        }
        if (cause < kCauses.size()) {
            const CauseName& known = kCauses[static_cast<std::size_t>(cause)];
            rows.push_back({known.name, known.text, count});
        } else {
            rows.push_back(
                {fmt::format("cause_{}", cause), "losses of a cause that this version does not know", count});
        }
    }
    return rows;
}

std::vector<UnmatchedRow> unmatched_rows(const Model& model) {
    std::vector<UnmatchedRow> rows;
    for (const auto& [name, kernel] : model.unmatched) {
        rows.push_back({model.kernel_name(name), kernel.launches, kernel.records, kernel.not_returned});
    }
    std::sort(rows.begin(), rows.end(), [](const UnmatchedRow& a, const UnmatchedRow& b) {
        const std::uint64_t in_a = a.launches + a.records + a.not_returned;
        const std::uint64_t in_b = b.launches + b.records + b.not_returned;
        return std::tie(in_b, a.mangled) < std::tie(in_a, b.mangled);
    });
    return rows;
}

std::string plural(std::uint64_t count, const char* one, const char* many) {
    return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace

Completeness completeness(const Model& model) {
    Completeness result;
    const TraceIndex& index = model.index;
    const LaunchCounts& launches = model.launches;
    result.launches = launches;
    result.device_times = index.ever_on(abi::SpanKind::kDevice) || !model.devices.empty();
    for (const auto& [ordinal, device] : model.devices) {
        result.untimed_records += device.untimed;
    }
    result.losses = loss_rows(model);
    result.unmatched = unmatched_rows(model);

    const auto has_loss = [&](const char* cause) {
        return std::any_of(result.losses.begin(), result.losses.end(),
                           [&](const LossRow& loss) { return loss.cause == cause; });
    };
    const int write_error = index.reading.write_error;
    // Which launch they hit nobody can say.
    const std::string not_written = write_error == 0 ? "" : fmt::format(" ({})", ::strerror(write_error));
    const bool is_unwritten = has_loss("write_failed") || write_error != 0;
    const bool has_no_end = !index.ended_cleanly() && !index.salvaged() && !index.is_snapshot();

    std::vector<std::string>& reasons = result.reasons;
    // One dropped event can be both: that of a launch's inner call, which bears the id. Nothing tells which record it was of.
    const bool dropped = has_loss("ring_full");
    if (launches.unmatched_launches != 0) {
        reasons.push_back(plural(launches.unmatched_launches, "kernel launch has", "kernel launches have") +
                          (dropped        ? " no device record; the events that name it may be among those dropped"
                           : is_unwritten ? " no device record: it may be in what could not be written" + not_written
                                          : " no device record and no known cause"));
    }
    if (launches.unmatched_records != 0) {
        reasons.push_back(plural(launches.unmatched_records, "kernel record has", "kernel records have") +
                          (dropped        ? " no launch; the events that name it may be among those dropped"
                           : is_unwritten ? " no launch: it may be in what could not be written" + not_written
                                          : " no launch"));
    }
    if (launches.not_returned != 0) {
        reasons.push_back(plural(launches.not_returned, "kernel's record", "kernels' records") +
                          (has_no_end && write_error != 0
                               ? " came, if at all, when the trace could not be written any more" + not_written
                               : " had not come back when the trace ends"));
    }
    if (!result.device_times) {
        const bool is_said = !index.spans[static_cast<std::size_t>(abi::SpanKind::kDevice)].empty();
        reasons.emplace_back(index.reading.partial() && !is_said
                                 ? "whether device times were recorded is not known: what says so cannot be read"
                                 : "device times were not recorded: host calls only");
    } else if (launches.untimed != 0) {
        reasons.push_back(plural(launches.untimed, "launch was", "launches were") +
                          " made while device times were not recorded");
    }
    if (launches.unknown_graphs != 0) {
        reasons.push_back(plural(launches.unknown_graphs, "graph launch is", "graph launches are") +
                          " of graphs made before the recording began: their kernels are not known");
    }
    if (launches.conditional_graphs != 0) {
        reasons.push_back(plural(launches.conditional_graphs, "graph launch is", "graph launches are") +
                          " of graphs with conditional nodes: their kernels are a lower bound");
    }
    for (const LossRow& loss : result.losses) {
        if (loss.cause != "unmapped_pointer") {
            reasons.push_back(fmt::format("{} {}", loss.count, loss.text));
        }
    }
    if (has_no_end && write_error != 0) {
        reasons.push_back("the trace has no end: it could not be written any more" + not_written);
    } else if (has_no_end) {
        reasons.emplace_back(
            "the trace has no end: the process died or still runs, and its last events were not salvaged");
    }
    if (index.reading.partial()) {
        reasons.push_back("the file can be read in part only: " + index.reading.describe());
    }
    result.complete = reasons.empty();
    return result;
}

}  // namespace gpuspy::analysis
