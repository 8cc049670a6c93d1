#include "analysis/model/build_model.hpp"

#include <algorithm>

#include "analysis/flops/work_recorder.hpp"
#include "analysis/model/call_forest.hpp"
#include "analysis/model/launch_matcher.hpp"
#include "analysis/model/timeline_builder.hpp"

namespace gpuspy::analysis {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

std::uint64_t distance_ns(std::int64_t from, std::int64_t to) {
    return to > from ? static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from) : 0;
}

/// The visitor of the second pass.
class EventPass : public Visitor {
public:
    explicit EventPass(Model& model)
        : model_(model),
          timeline_(model),
          works_(model.index.symbols),
          matcher_(model, timeline_),
          forest_([this](std::span<const TreeNode> tree) { on_tree(tree); }),
          host_clock_(model.index.host_clock),
          device_clock_(model.index.device_clock) {
        const TraceIndex& index = model.index;
        make_room();
        model_.first_ns = index.host_clock.at(index.first_ticks);
        model_.last_ns = index.host_clock.at(index.last_ticks);
        // A record cannot begin before the recording nor end after the block that holds it was written. The slack is
        // for two clocks that are related by readings, or by a single one.
        const std::int64_t last = std::max(model_.last_ns, index.host_clock.at(index.last_block_ticks));
        const std::int64_t slack = kSecondNs + static_cast<std::int64_t>(distance_ns(model_.first_ns, last) / 100);
        earliest_ns_ = model_.first_ns - slack;
        latest_ns_ = last + slack;
    }

    void on_call(const CallRecord& call) override {
        if (call.api >= model_.apis.size() || call.thread >= model_.threads.size()) {
            make_room();  // Someone changed the file between the passes.
        }
        ApiStats& stats = model_.apis[call.api];
        TreeNode node{call};
        node.begin_ns = host_clock_.at(call.begin_ticks);
        node.end_ns = host_clock_.at(call.end_ticks);
        const std::uint64_t duration_ns = distance_ns(node.begin_ns, node.end_ns);
        stats.duration_ns.add(duration_ns);
        model_.collectives.add(call, model_.index.symbols.api(call.api), duration_ns);
        stats.failed += call.has(abi::kCallStatus) ? 1 : 0;
        ++model_.threads[call.thread].calls;
        if (model_.timeline != nullptr) {
            node.note = timeline_.note(call);
            node.work = works_.add(call);
        }
        forest_.add(std::move(node));
    }

    void on_activity(const ActivityRecord& record) override {
        DeviceStats& device = device_of(record);
        HostTimes host;
        const bool timed = has_usable_time(record, host);
        const std::uint32_t activity = timeline_.add_activity(record, timed);
        if (timed) {
            const auto start = static_cast<std::int64_t>(record.start_ns);
            device.busy.add(start, start + static_cast<std::int64_t>(record.duration_ns));
            if (!model_.index.device_clock.empty()) {
                model_.last_ns = std::max(model_.last_ns, host.end_ns);
                model_.first_ns = std::min(model_.first_ns, host.begin_ns);
            }
        } else {
            ++device.untimed;
        }
        const std::uint64_t duration_ns = timed ? record.duration_ns : 0;
        switch (record.kind) {
            case ActivityKind::kKernel:
                ++device.kernels;
                device.kernel_ns += duration_ns;
                matcher_.add_record(record, timed, activity);
                return;
            case ActivityKind::kMemcpy:
                ++device.copies;
                device.copy_ns += duration_ns;
                break;
            case ActivityKind::kMemset:
                ++device.sets;
                device.set_ns += duration_ns;
                break;
        }
        CopyStats& copy = model_.copies[record.copy_kind];
        ++copy.count;
        copy.bytes += record.bytes;
        if (timed) {
            copy.timed_bytes += record.bytes;
            copy.duration_ns.add(record.duration_ns);
        }
    }

    void on_range(const RangeRecord& record) override { timeline_.add_range(record); }

    void finish() {
        forest_.finish();
        matcher_.finish();
        timeline_.finish();
        model_.works = works_.finish();
    }

private:
    void make_room() {
        model_.apis.resize(model_.index.symbols.apis().size());
        model_.threads.resize(model_.index.symbols.threads().size());
        covered_until_.resize(model_.threads.size(), INT64_MIN);
    }

    DeviceStats& device_of(const ActivityRecord& record) {
        if (device_ == nullptr || record.device != device_ordinal_) {
            device_ordinal_ = record.device;
            device_ = &model_.devices[record.device];
        }
        return *device_;
    }

    /// Of a record, where the device's clock is related to the host's.
    struct HostTimes {
        std::int64_t begin_ns = 0, end_ns = 0;
    };

    [[nodiscard]] bool has_usable_time(const ActivityRecord& record, HostTimes& host) {
        constexpr std::uint64_t kMaxNs = std::uint64_t{1} << 61;
        if (record.has(abi::kDeviceUntimed) || record.start_ns == 0 || record.duration_ns == 0 ||
            record.start_ns > kMaxNs || record.duration_ns > distance_ns(earliest_ns_, latest_ns_)) {
            return false;
        }
        if (model_.index.device_clock.empty()) {
            return true;
        }
        host = {device_clock_.at(record.start_ns), device_clock_.at(record.start_ns + record.duration_ns)};
        return host.begin_ns >= earliest_ns_ && host.end_ns <= latest_ns_;
    }

    void on_tree(std::span<const TreeNode> tree) {
        find_contexts(tree, model_.index.symbols, contexts_);
        note_outermost(tree.back());
        first_of_tree_ = timeline_.add_tree(tree, contexts_);
        for (std::size_t i = 0; i < tree.size(); ++i) {
            const CallRecord& call = tree[i].call;
            const ApiInfo& api = model_.index.symbols.api(call.api);
            const CallContext& context = contexts_[i];
            if (context.blocking == static_cast<int>(i)) {
                model_.threads[call.thread].waiting[call.api].add(tree[i].begin_ns, tree[i].end_ns);
            }
            const bool copies = api.api_class == abi::ApiClass::kCopy || api.api_class == abi::ApiClass::kSet;
            if (api.launches() && !context.launch_inside) {
                note_launch(tree, i);
            } else if (copies && !context.copy_inside) {
                note_copy(call, api);
            } else if (!copies && !api.launches() && call.has(abi::kCallCorrelation)) {
                Launch other = launch_of(tree, i);
                other.kind = Launch::Kind::kOther;
                matcher_.add_launch(other);
            }
        }
    }

    /// A thread's calls come in the order in which they end, so what they cover is known from where the last one ended.
    void note_outermost(const TreeNode& node) {
        ++model_.apis[node.call.api].outermost;
        std::int64_t& covered = covered_until_[node.call.thread];
        model_.threads[node.call.thread].api_ns += distance_ns(std::max(node.begin_ns, covered), node.end_ns);
        covered = std::max(covered, node.end_ns);
    }

    Launch launch_of(std::span<const TreeNode> tree, std::size_t position) {
        const CallContext& context = contexts_[position];
        const CallRecord& call = tree[position].call;
        Launch launch;
        launch.timeline_call = first_of_tree_ == kNone ? kNone : first_of_tree_ + static_cast<std::uint32_t>(position);
        launch.expects_records = !untimed(call);
        launch.has_correlation = call.has(abi::kCallCorrelation);
        // A call that only CUPTI saw has no caller of its own; inside a library call it is the library's.
        if (!call.has(abi::kCallUnhooked) || context.library >= 0 || context.parent >= 0) {
            launch.owner =
                model_.owners.resolve(owner_evidence(tree, context), model_.index.symbols, model_.index.objects);
        }
        launch.thread = call.thread;
        launch.correlation = call.correlation;
        launch.stream = call.stream;
        launch.begin_ticks = call.begin_ticks;
        launch.function = call.function;
        return launch;
    }

    [[nodiscard]] bool untimed(const CallRecord& call) const {
        if (call.has(abi::kCallUntimed)) {
            return true;
        }
        // The call's own word decides where it has a correlation id; else the spans do.
        return !call.has(abi::kCallCorrelation) && (!model_.index.on_at(abi::SpanKind::kDevice, call.begin_ticks) ||
                                                    !model_.index.on_at(abi::SpanKind::kDevice, call.end_ticks));
    }

    void note_launch(std::span<const TreeNode> tree, std::size_t position) {
        const CallRecord& call = tree[position].call;
        const ApiInfo& api = model_.index.symbols.api(call.api);
        LaunchCounts& counts = model_.launches;
        ++counts.host;
        counts.unhooked += call.has(abi::kCallUnhooked) ? 1 : 0;
        if (call.has(abi::kCallStatus)) {
            ++counts.failed;
            return;
        }
        if (call.has(abi::kCallCaptured)) {
            ++counts.captured;
            return;
        }
        Launch launch = launch_of(tree, position);
        counts.untimed += launch.expects_records ? 0 : 1;
        if (api.api_class == abi::ApiClass::kMulti) {
            launch.kind = Launch::Kind::kMulti;
        } else if (api.api_class == abi::ApiClass::kGraphLaunch) {
            launch.kind = Launch::Kind::kGraph;
            launch.graph = model_.index.graphs.find(call.graph_exec, call.begin_ticks);
            ++counts.graph_launches;
            counts.graph_nodes += launch.graph == nullptr ? 0 : launch.graph->kernel_nodes;
            counts.unknown_graphs += launch.graph == nullptr ? 1 : 0;
            counts.conditional_graphs += launch.graph != nullptr && launch.graph->conditional() ? 1 : 0;
        }
        matcher_.add_launch(launch);
    }

    /// Copies are counted by their device records; where none will come, by their calls.
    void note_copy(const CallRecord& call, const ApiInfo& api) {
        if (call.has(abi::kCallStatus) || call.has(abi::kCallCaptured) || !call.has(abi::kCallCopy) || !untimed(call)) {
            return;
        }
        const bool set = api.api_class == abi::ApiClass::kSet;
        CopyStats& copy = model_.copies[set ? static_cast<std::uint64_t>(abi::CopyKind::kSet) : call.copy_kind];
        ++copy.count;
        copy.bytes += call.copy_bytes;
    }

    Model& model_;
    TimelineBuilder timeline_;
    WorkRecorder works_;
    LaunchMatcher matcher_;
    CallForest forest_;
    LinearMap::Near host_clock_, device_clock_;
    std::uint64_t device_ordinal_ = 0;  // Of device_, which is the last record's.
    DeviceStats* device_ = nullptr;
    std::vector<CallContext> contexts_;
    std::uint32_t first_of_tree_ = kNone;      // Timeline::calls: where the tree at hand begins.
    std::vector<std::int64_t> covered_until_;  // by thread
    std::int64_t earliest_ns_ = 0, latest_ns_ = 0;
};

}  // namespace

const std::string& Model::kernel_name(std::uint32_t name) const {
    static const std::string kUnnamed = "(name not known)";
    if (name == kNoName) {
        return kUnnamed;
    }
    const std::string& text = index.symbols.text(name);
    return text.empty() ? kUnnamed : text;
}

Result<std::unique_ptr<Model>> build_model(const ByteSource& source, const BuildOptions& options) {
    auto model = std::make_unique<Model>();
    TraceIndexBuilder index_builder(model->index);
    const Result<ReadSummary> first = read_trace(source, model->index.symbols, index_builder, options.reading);
    if (!first.ok()) {
        return first.fault();
    }
    index_builder.finish(first.value());
    if (options.timeline && model->index.events <= options.timeline_events) {
        model->timeline = std::make_unique<Timeline>();
    }
    EventPass events(*model);
    // The same bytes give the same numbers in `symbols`; the summary of the first pass stands.
    const Result<ReadSummary> second = read_trace(source, model->index.symbols, events, options.reading);
    if (!second.ok()) {
        return second.fault();
    }
    events.finish();
    return model;
}

}  // namespace gpuspy::analysis
