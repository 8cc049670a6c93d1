#include "analysis/passes/verdict.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "analysis/passes/ratio.hpp"

namespace gpuspy::analysis {
namespace {

/// The numbers, and for each kind of idle time the calls in which it was spent (kNone: outside).
struct Evidence {
    Verdict numbers;
    std::map<Bound, std::map<std::uint32_t, std::uint64_t>> calls;
};

bool loads(const Model& model, std::uint32_t api) {
    const abi::ApiClass what = model.index.symbols.api(api).api_class;
    return what == abi::ApiClass::kModule || what == abi::ApiClass::kContext;
}

void add_part(Evidence& evidence, const Model& model, const Gap& gap, const GapPart& part) {
    Verdict& numbers = evidence.numbers;
    const std::uint64_t own_ns = part.time_ns - part.after_wait_ns;
    numbers.sync_ns += part.after_wait_ns;
    if (part.after_wait_ns != 0) {
        evidence.calls[Bound::kSync][gap.wait_api] += part.after_wait_ns;
    }
    const auto count = [&](std::uint64_t Verdict::*field, Bound bound) {
        numbers.*field += own_ns;
        evidence.calls[bound][part.api] += own_ns;
    };
    switch (part.cause) {
        case IdleCause::kSync:
            return count(&Verdict::sync_ns, Bound::kSync);
        case IdleCause::kCopy:
            return count(&Verdict::copy_calls_ns, Bound::kCopy);
        case IdleCause::kLatency:
            numbers.latency_ns += own_ns;
            [[fallthrough]];
        case IdleCause::kLaunch:
            return count(&Verdict::launch_ns, Bound::kLaunch);
        case IdleCause::kOutside:
            numbers.outside_ns += own_ns;
            [[fallthrough]];
        case IdleCause::kOtherCall:
            numbers.loading_ns += part.api != kNone && loads(model, part.api) ? own_ns : 0;
            return count(&Verdict::host_ns, Bound::kHost);
        case IdleCause::kQueued:
            return count(&Verdict::queued_ns, Bound::kDependency);
        case IdleCause::kNotRecorded:
        case IdleCause::kNotKnown:
            return count(&Verdict::not_known_ns, Bound::kNotKnown);
        case IdleCause::kStart:
        case IdleCause::kEnd:
            return;  // outside of the span
    }
}

void add_device(Evidence& evidence, const Model& model, const DeviceIdle& device) {
    Verdict& numbers = evidence.numbers;
    numbers.kernels_ns += device.kernel_busy_ns;
    numbers.copies_ns += device.busy_ns - device.kernel_busy_ns;
    numbers.span_ns += device.busy_ns;
    numbers.wall_ns += device.wall_ns;
    numbers.kernels += device.kernels;
    for (const Gap& gap : device.gaps) {
        if (gap.before == kNone || gap.after == kNone) {
            continue;
        }
        numbers.span_ns += gap.length_ns();
        numbers.longest_gap_ns = std::max(numbers.longest_gap_ns, gap.length_ns());
        for (const GapPart& part : gap.parts) {
            add_part(evidence, model, gap, part);
        }
    }
}

Bound decide(const Verdict& numbers) {
    if (numbers.span_ns == 0) {
        return Bound::kNotKnown;
    }
    const std::uint64_t busy_ns = numbers.kernels_ns + numbers.copies_ns;
    if (ratio(busy_ns, numbers.span_ns) >= kBusyShare) {
        return numbers.copies_ns > numbers.kernels_ns ? Bound::kCopy : Bound::kGpu;
    }
    const std::array waits = {
        std::pair(numbers.launch_ns, Bound::kLaunch),
        std::pair(numbers.host_ns, Bound::kHost),
        std::pair(numbers.sync_ns, Bound::kSync),
        std::pair(numbers.copies_ns + numbers.copy_calls_ns, Bound::kCopy),
        std::pair(numbers.queued_ns, Bound::kDependency),
        std::pair(numbers.not_known_ns, Bound::kNotKnown),
    };
    return std::max_element(waits.begin(), waits.end(), [](const auto& a, const auto& b) { return a.first < b.first; })
        ->second;
}

Verdict finished(const Model& model, Evidence evidence) {
    Verdict result = std::move(evidence.numbers);
    result.bound = decide(result);
    const auto found = evidence.calls.find(result.bound);
    if (found != evidence.calls.end()) {
        const auto most = std::max_element(found->second.begin(), found->second.end(),
                                           [](const auto& a, const auto& b) { return a.second < b.second; });
        if (most->first != kNone) {
            result.call = model.index.symbols.api(most->first).name;
        }
    }
    return result;
}

}  // namespace

std::vector<Verdict> verdicts(const Model& model, const Idle& idle) {
    std::vector<Verdict> results;
    for (const DeviceIdle& device : idle.devices) {
        Evidence evidence;
        evidence.numbers.device = device.ordinal;
        add_device(evidence, model, device);
        results.push_back(finished(model, std::move(evidence)));
    }
    return results;
}

Verdict verdict(const Model& model, const Idle& idle) {
    Evidence evidence;
    for (const DeviceIdle& device : idle.devices) {
        add_device(evidence, model, device);
    }
    return finished(model, std::move(evidence));
}

Verdict verdict(const Model& model, const Timeline& timeline) {
    return verdict(model, idle(model, timeline));
}

const char* bound_text(Bound bound) {
    switch (bound) {
        case Bound::kGpu:
            return "GPU-bound";
        case Bound::kCopy:
            return "copy-bound";
        case Bound::kSync:
            return "sync-bound";
        case Bound::kLaunch:
            return "launch-bound";
        case Bound::kHost:
            return "host-bound";
        case Bound::kDependency:
            return "dependency-bound";
        case Bound::kNotKnown:
            break;
    }
    return "not known";
}

}  // namespace gpuspy::analysis
