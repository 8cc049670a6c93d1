#include "analysis/passes/work_executions.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/model/interval_set.hpp"

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

class Collector {
public:
    Collector(const Model& model, const Timeline& timeline)
        : model_(model), timeline_(timeline), covering_(covering_calls(model, timeline)) {}

    WorkExecutions collect() {
        result_.input.wall_ns = timeline_.wall_ns();
        add_activities();
        add_calls_without_records();
        for (auto& [key, execution] : executions_) {
            result_.input.executions.push_back(execution);
        }
        for (std::size_t i = 0; i < busy_.size(); ++i) {
            result_.input.devices[i].busy_ns = busy_[i].length_ns();
        }
        return std::move(result_);
    }

private:
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

    WorkExecution execution_of(std::uint32_t call, std::size_t device) const {
        const ApiInfo& api = model_.index.symbols.api(timeline_.calls[call].api);
        WorkExecution execution;
        execution.library = api.library;
        execution.api = api.name;
        execution.answer = model_.works[timeline_.calls[call].work];
        execution.device = device;
        return execution;
    }

    void add_activities() {
        for (const DeviceActivity& activity : timeline_.activities) {
            const std::size_t device = device_of(activity.record.device);
            const std::uint64_t duration_ns = activity.timed ? activity.record.duration_ns : 0;
            const bool is_kernel = activity.record.kind == ActivityKind::kKernel;
            result_.input.devices[device].kernel_ns += is_kernel ? duration_ns : 0;
            if (activity.timed) {
                add_busy(busy_[device], activity);
            }
            const bool replayed = activity.captured_call != kNone;
            const std::uint32_t launched_by = replayed ? activity.captured_call : activity.call;
            const std::uint32_t call = launched_by == kNone ? kNone : covering_[launched_by];
            if (call == kNone) continue;
            const auto [found, added] =
                executions_.try_emplace({call, replayed, replayed ? activity.record.correlation : 0});
            WorkExecution& execution = found->second;
            if (added) execution = execution_of(call, device);
            execution.gpu_ns += duration_ns;
            execution.timed = execution.timed && activity.timed;
            if (is_kernel) {
                ++execution.kernels;
                execution.kernel_ns += duration_ns;
                tell_type(execution, activity.record.name);
            }
        }
    }

    /// In the device's own clock, or, where that is related to the host's, cut to the range.
    void add_busy(IntervalSet& busy, const DeviceActivity& activity) const {
        if (timeline_.device_clock_known) {
            busy.add(std::max(activity.begin_ns, timeline_.begin_ns), std::min(activity.end_ns, timeline_.end_ns));
        } else {
            busy.add(activity.begin_ns, activity.end_ns);
        }
    }

    void tell_type(WorkExecution& execution, std::uint32_t kernel) {
        MathType& type = execution.answer.work.type;
        if (execution.answer.kind != Kind::kKnown || type != MathType::kFp32OrTf32) return;
        type = told_by_kernel(type, model_.kernel_name(kernel));
        result_.told_by_kernels += type == MathType::kFp32OrTf32 ? 0 : 1;
    }

    void add_calls_without_records() {
        std::vector<bool> into_graph(timeline_.calls.size()), executed(timeline_.calls.size());
        for (std::uint32_t call = 0; call < timeline_.calls.size(); ++call) {
            if (covering_[call] != kNone && timeline_.calls[call].has(abi::kCallCaptured)) {
                into_graph[covering_[call]] = true;
            }
        }
        for (const auto& [key, execution] : executions_) {
            executed[std::get<0>(key)] = true;
        }
        const bool nothing_recorded = model_.timeline->activities.empty();
        // Of a part, records may lie outside.
        const bool is_whole = timeline_.activities.size() == model_.timeline->activities.size() &&
                              timeline_.calls.size() == model_.timeline->calls.size();
        for (std::uint32_t call = 0; call < timeline_.calls.size(); ++call) {
            if (covering_[call] != call || into_graph[call] || executed[call]) continue;
            const WorkAnswer& answer = model_.works[timeline_.calls[call].work];
            if (answer.into_graph) continue;
            if (nothing_recorded) {
                // Which device it ran on no record says: the first that the trace names.
                const auto first = model_.index.devices.begin();
                WorkExecution& execution = executions_[{call, false, 0}] =
                    execution_of(call, device_of(first == model_.index.devices.end() ? 0 : first->first));
                execution.timed = false;
            } else {
                result_.without_records += is_whole && answer.kind == Kind::kKnown ? 1 : 0;
            }
        }
    }

    const Model& model_;
    const Timeline& timeline_;
    std::vector<std::uint32_t> covering_;
    WorkExecutions result_;
    std::map<std::uint64_t, std::size_t> positions_;  // of devices, by ordinal
    std::vector<IntervalSet> busy_;                   // by position, in the device's own clock
    // By call, whether it was replayed, and the correlation id of the replay's launch.
    std::map<std::tuple<std::uint32_t, bool, std::uint64_t>, WorkExecution> executions_;
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
