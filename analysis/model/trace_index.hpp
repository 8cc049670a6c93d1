// First pass over a trace: everything that the second pass looks things up in, and what is said once for the whole
// file.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/model/call_forest.hpp"
#include "analysis/model/graph_index.hpp"
#include "analysis/model/handle_names.hpp"
#include "analysis/model/linear_map.hpp"
#include "analysis/model/object_index.hpp"
#include "analysis/model/owners.hpp"
#include "analysis/reader/read_summary.hpp"
#include "analysis/reader/records.hpp"
#include "analysis/reader/symbols.hpp"

namespace gpuspy::analysis {

struct SpanChange {
    std::uint64_t ticks;
    bool on;
    std::string reason;
};

struct Notice {
    std::uint64_t ticks;
    std::string text;
};

/// No call that stands in a segment or behind it began before `call_ticks`, no device record before `device_ns`.
struct Horizon {
    std::uint64_t call_ticks = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t device_ns = std::numeric_limits<std::uint64_t>::max();
};

struct TraceIndex {
    ReadSummary reading;
    Symbols symbols;
    std::optional<ProcessRecord> process;
    std::map<std::uint64_t, DeviceRecord> devices;  ///< by ordinal
    std::map<std::string, std::string> info;
    ObjectIndex objects;
    HandleNames names;
    GraphIndex graphs;
    std::unordered_map<std::uint64_t, OwnerEvidence> captured;  ///< by launch id

    LinearMap host_clock;    ///< Ticks -> ns of CLOCK_MONOTONIC.
    LinearMap device_clock;  ///< ns of CUPTI's clock -> the same ns.
    std::size_t anchors = 0, dropped_anchors = 0;

    std::array<std::vector<SpanChange>, 2> spans;   ///< by abi::SpanKind, by time
    std::map<std::uint64_t, std::uint64_t> losses;  ///< abi::LossCause -> count
    std::vector<Notice> notices;
    std::map<std::uint64_t, EndRecord> ends;  ///< by abi::EndKind
    std::optional<CpuRecord> first_cpu, last_cpu;
    std::optional<CostRecord> cost;
    std::optional<KeptRecord> kept;  ///< The file is the last part of a recording; what it does not hold.

    // In ticks. What the process recorded, without what a salvager or gpuspy-run added later.
    std::uint64_t first_ticks = std::numeric_limits<std::uint64_t>::max(), last_ticks = 0;
    std::uint64_t events = 0;            ///< Calls and device records.
    std::uint64_t last_call_ticks = 0;   ///< When the last call began.
    std::vector<Horizon> horizons;       ///< By segment, as they stand in the file.
    std::uint64_t last_block_ticks = 0;  ///< No device record can have ended later.

    [[nodiscard]] bool ended_cleanly() const {
        return ends.count(static_cast<std::uint64_t>(abi::EndKind::kClean)) != 0;
    }
    /// The file is a copy of a recording that went on.
    [[nodiscard]] bool is_snapshot() const {
        return ends.count(static_cast<std::uint64_t>(abi::EndKind::kSnapshot)) != 0;
    }
    /// The id of a launch that was encoded before the part of the recording that is kept.
    [[nodiscard]] bool is_before_kept(std::uint64_t correlation) const {
        return kept && kept->correlation != 0 &&
               static_cast<std::int32_t>(static_cast<std::uint32_t>(correlation - kept->correlation)) <= 0;
    }
    [[nodiscard]] bool salvaged() const {
        return reading.salvaged_blocks != 0 || ends.count(static_cast<std::uint64_t>(abi::EndKind::kSalvaged)) != 0;
    }
    /// Whether `kind` was being recorded at `ticks`.
    [[nodiscard]] bool on_at(abi::SpanKind kind, std::uint64_t ticks) const;
    [[nodiscard]] bool ever_on(abi::SpanKind kind) const;
};

/// The visitor of the first pass. Call finish() once the trace is read, with the summary of the reading.
class TraceIndexBuilder : public Visitor {
public:
    explicit TraceIndexBuilder(TraceIndex& index);
    void finish(const ReadSummary& reading);

    void on_block(const BlockInfo& block) override;
    void on_process(const ProcessRecord& record) override { index_.process = record; }
    void on_anchor(const AnchorRecord& record) override;
    void on_object(const ObjectRecord& record) override { index_.objects.add(record); }
    void on_device(const DeviceRecord& record) override { index_.devices[record.ordinal] = record; }
    void on_info(std::string_view key, std::string_view value) override { index_.info[std::string(key)] = value; }
    void on_call(const CallRecord& call) override;
    void on_activity(const ActivityRecord& record) override {
        ++index_.events;
        if (!record.has(abi::kDeviceUntimed) && record.start_ns != 0) {
            Horizon& horizon = index_.horizons.back();
            horizon.device_ns = std::min(horizon.device_ns, record.start_ns);
        }
    }
    void on_name(const NameRecord& record) override { index_.names.add(record); }
    void on_graph_exec(const GraphExecRecord& record) override { index_.graphs.add(record); }
    void on_graph_nodes(std::uint64_t exec, std::uint64_t ticks, std::span<const abi::GraphNode> nodes) override {
        index_.graphs.add_nodes(exec, ticks, nodes);
    }
    void on_span(const SpanRecord& record) override;
    void on_loss(const LossRecord& record) override { losses_[{record.cause, record.thread}] = record.count; }
    void on_cpu(const CpuRecord& record) override;
    void on_end(const EndRecord& record) override;
    void on_cost(const CostRecord& record) override { index_.cost = record; }
    void on_origin(const OriginRecord& record) override {
        index_.captured[record.launch_id] = {record.library_api, record.caller, record.ticks};
    }
    void on_kept(const KeptRecord& record) override { index_.kept = record; }
    void on_notice(std::uint64_t ticks, std::string_view text) override;

private:
    void note_tree(std::span<const TreeNode> tree);
    void seen(std::uint64_t ticks);

    TraceIndex& index_;
    CallForest forest_;
    std::vector<CallContext> contexts_;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> losses_;  // by cause, thread: the last total
    bool in_salvaged_block_ = false;
};

}  // namespace gpuspy::analysis
