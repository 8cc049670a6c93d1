#include "analysis/passes/work_executions.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/model/interval_set.hpp"
#include "analysis/passes/activity_edges.hpp"
#include "analysis/passes/ratio.hpp"

namespace gpuspy::analysis {
namespace {

using Kind = WorkAnswer::Kind;

/// What vendors' kernels call the format of their products: sm80_xmma_fprop_implicit_gemm_tf32f32_..., ..._f32f32_f32f32_...,
/// cutlass_80_tensorop_s1688gemm_..., ampere_sgemm_.... The first row that fits. Asked only of work on 32-bit floats.
struct NameToType {
    std::string_view part;
    MathType type;
};
// clang-format off
constexpr NameToType kNames[] = {
    {"tf32", MathType::kTf32},
    {"s1688", MathType::kTf32},
    {"f32f32_f32f32", MathType::kFp32},
    {"cf32cf32_f32f32", MathType::kFp32},
    {"_ffma", MathType::kFp32},
    {"sgemm", MathType::kFp32},
    {"cgemm", MathType::kFp32},
    {"simt", MathType::kFp32},
    // cuDNN's engines of before tensor cores
    {"dgrad_engine", MathType::kFp32},
    {"wgrad_alg0_engine", MathType::kFp32},
    {"grouped_direct_kernel", MathType::kFp32},
};
// clang-format on

/// For each call the one whose work its device records are; kNone: of none.
std::vector<std::uint32_t> covering_calls(const Model& model, const Timeline& timeline) {
    const auto kind_of = [&](std::uint32_t call) {
        const std::uint32_t work = timeline.calls[call].work;
        return work < model.works.size() ? model.works[work].kind : Kind::kComputesNothing;
    };
    std::vector<std::uint32_t> covering(timeline.calls.size(), kNone);
    for (std::uint32_t call = 0; call < timeline.calls.size(); ++call) {  // a call stands before those inside it
        const std::uint32_t parent = timeline.calls[call].parent;
        const std::uint32_t around = parent == kNone ? kNone : covering[parent];
        if (around != kNone && (kind_of(around) == Kind::kKnown || kind_of(call) != Kind::kKnown)) {
            covering[call] = around;
        } else {
            covering[call] = kind_of(call) == Kind::kComputesNothing ? kNone : call;
        }
    }
    return covering;
}

/// Executions are put together from all device records of the recording; what of them was selected is weighed afterwards.
class Collector {
public:
    Collector(const Model& model, const Timeline& timeline)
        : model_(model), whole_(*model.timeline), timeline_(timeline), range_(range_of(timeline)) {}

    WorkExecutions collect() {
        result_.input.wall_ns = timeline_.wall_ns();
        if (whole_.activities.empty()) {
            add_calls_as_executed();
        } else {
            add_activities();
            finish_executions();
        }
        for (std::size_t i = 0; i < busy_.size(); ++i) {
            result_.input.devices[i].busy_ns = busy_[i].length_ns();
        }
        return std::move(result_);
    }

private:
    struct Parts {
        WorkExecution execution;  // of what was selected; without `share`
        std::uint64_t records = 0, selected_records = 0, whole_ns = 0;
        bool told = false;  // its type, by a kernel's name
    };

    std::size_t device_of(std::uint64_t ordinal) {
        const auto [found, added] = positions_.try_emplace(ordinal, result_.input.devices.size());
        if (added) {
            FlopsDevice& device = result_.input.devices.emplace_back();
            busy_.emplace_back();
            const auto record = model_.index.devices.find(ordinal);
            if (record != model_.index.devices.end()) {
                device.name = record->second.name;
                device.peaks = peaks_of(record->second);
            }
        }
        return found->second;
    }

    WorkExecution execution_of(const HostCall& call) const {
        const ApiInfo& api = model_.index.symbols.api(call.api);
        WorkExecution execution;
        execution.library = api.library;
        execution.api = api.name;
        execution.answer = model_.works[call.work];
        return execution;
    }

    [[nodiscard]] bool is_whole() const { return timeline_.selected_from.empty() && !timeline_.activities.empty(); }

    [[nodiscard]] std::vector<bool> selected() const {
        std::vector<bool> selected(whole_.activities.size(), is_whole());
        for (const std::uint32_t position : timeline_.selected_from) {
            selected[position] = true;
        }
        return selected;
    }

    /// Of an activity's duration, what lies in the range: of the device's own clock.
    [[nodiscard]] std::uint64_t selected_ns(const DeviceActivity& activity) const {
        const Interval part = cut_to(activity, range_);
        if (part.begin_ns >= part.end_ns) return 0;
        if (part.begin_ns == activity.begin_ns && part.end_ns == activity.end_ns) return activity.record.duration_ns;
        const double share =
            static_cast<double>(part.end_ns - part.begin_ns) / static_cast<double>(activity.end_ns - activity.begin_ns);
        return static_cast<std::uint64_t>(std::llround(share * static_cast<double>(activity.record.duration_ns)));
    }

    void add_activities() {
        const std::vector<std::uint32_t> covering = covering_calls(model_, whole_);
        const std::vector<bool> is_selected = selected();
        for (std::size_t i = 0; i < whole_.activities.size(); ++i) {
            const DeviceActivity& activity = whole_.activities[i];
            const bool replayed = activity.captured_call != kNone;
            const std::uint32_t launched_by = replayed ? activity.captured_call : activity.call;
            const std::uint32_t call = launched_by == kNone ? kNone : covering[launched_by];
            Parts* parts = nullptr;
            if (call != kNone) {
                const auto [found, added] =
                    executions_.try_emplace({call, replayed, replayed ? activity.record.correlation : 0});
                parts = &found->second;
                if (added) parts->execution = execution_of(whole_.calls[call]);
                add_record(*parts, activity);
            }
            if (is_selected[i]) add_selected(parts, activity);
        }
        if (is_whole()) count_calls_without_records(covering);
    }

    void add_record(Parts& parts, const DeviceActivity& activity) {
        ++parts.records;
        parts.whole_ns += activity.timed ? activity.record.duration_ns : 0;
        if (activity.record.kind == ActivityKind::kKernel) tell_type(parts, activity.record.name);
    }

    void add_selected(Parts* parts, const DeviceActivity& activity) {
        const std::size_t device = device_of(activity.record.device);
        const std::uint64_t time_ns = selected_ns(activity);
        const bool is_kernel = activity.record.kind == ActivityKind::kKernel;
        result_.input.devices[device].kernel_ns += is_kernel ? time_ns : 0;
        if (const Interval part = cut_to(activity, range_); part.begin_ns < part.end_ns) {
            busy_[device].add(part.begin_ns, part.end_ns);
        }
        if (parts == nullptr) return;
        WorkExecution& execution = parts->execution;
        if (parts->selected_records++ == 0) execution.device = device;
        execution.gpu_ns += time_ns;
        execution.timed = execution.timed && activity.timed;
        if (is_kernel) {
            ++execution.kernels;
            execution.kernel_ns += time_ns;
        }
    }

    void tell_type(Parts& parts, std::uint32_t kernel) {
        MathType& type = parts.execution.answer.work.type;
        if (parts.execution.answer.kind != Kind::kKnown || type != MathType::kFp32OrTf32) return;
        type = told_by_kernel(type, model_.kernel_name(kernel));
        parts.told = type != MathType::kFp32OrTf32;
    }

    void finish_executions() {
        for (auto& [key, parts] : executions_) {
            if (parts.selected_records == 0) continue;
            WorkExecution& execution = parts.execution;
            if (parts.selected_records != parts.records || execution.gpu_ns != parts.whole_ns) {
                execution.share = parts.whole_ns != 0 ? ratio(execution.gpu_ns, parts.whole_ns)
                                                      : ratio(parts.selected_records, parts.records);
                result_.in_part += execution.share < 1 ? 1 : 0;
            }
            result_.told_by_kernels += parts.told ? 1 : 0;
            result_.input.executions.push_back(std::move(execution));
        }
    }

    /// Calls that put their work into a graph, and execute nothing then.
    [[nodiscard]] static std::vector<bool> captured_calls(const Timeline& timeline,
                                                          const std::vector<std::uint32_t>& covering) {
        std::vector<bool> captured(timeline.calls.size());
        for (std::uint32_t call = 0; call < timeline.calls.size(); ++call) {
            if (covering[call] != kNone && timeline.calls[call].has(abi::kCallCaptured)) {
                captured[covering[call]] = true;
            }
        }
        return captured;
    }

    void count_calls_without_records(const std::vector<std::uint32_t>& covering) {
        std::vector<bool> accounted = captured_calls(whole_, covering);
        for (const auto& [key, parts] : executions_) {
            accounted[std::get<0>(key)] = true;
        }
        for (std::uint32_t call = 0; call < whole_.calls.size(); ++call) {
            if (covering[call] != call || accounted[call]) continue;
            const WorkAnswer& answer = model_.works[whole_.calls[call].work];
            result_.without_records += answer.kind == Kind::kKnown && !answer.into_graph ? 1 : 0;
        }
    }

    void add_calls_as_executed() {
        const std::vector<std::uint32_t> covering = covering_calls(model_, timeline_);
        const std::vector<bool> captured = captured_calls(timeline_, covering);
        for (std::uint32_t call = 0; call < timeline_.calls.size(); ++call) {
            if (covering[call] != call || captured[call] || model_.works[timeline_.calls[call].work].into_graph) {
                continue;
            }
            WorkExecution execution = execution_of(timeline_.calls[call]);
            // Which device it ran on no record says: the first that the trace names.
            const auto first = model_.index.devices.begin();
            execution.device = device_of(first == model_.index.devices.end() ? 0 : first->first);
            execution.timed = false;
            result_.input.executions.push_back(execution);
        }
    }

    const Model& model_;
    const Timeline& whole_;     // the recording's
    const Timeline& timeline_;  // what is looked at of it
    const Interval range_;
    WorkExecutions result_;
    std::map<std::uint64_t, std::size_t> positions_;  // of devices, by ordinal
    std::vector<IntervalSet> busy_;                   // by position
    // By call, whether it was replayed, and the correlation id of the replay's launch.
    std::map<std::tuple<std::uint32_t, bool, std::uint64_t>, Parts> executions_;
};

}  // namespace

MathType told_by_kernel(MathType type, std::string_view kernel) {
    if (type != MathType::kFp32OrTf32) return type;
    const auto found = std::find_if(std::begin(kNames), std::end(kNames), [kernel](const NameToType& row) {
        return kernel.find(row.part) != std::string_view::npos;
    });
    return found == std::end(kNames) ? type : found->type;
}

WorkExecutions work_executions(const Model& model, const Timeline& timeline) {
    return Collector(model, timeline).collect();
}

}  // namespace gpuspy::analysis
