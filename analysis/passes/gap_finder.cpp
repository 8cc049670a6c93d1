#include "analysis/passes/gap_finder.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace gpuspy::analysis {
namespace {

IdleCause cause_of(HostState state) {
    switch (state) {
        case HostState::kSync:
            return IdleCause::kSync;
        case HostState::kLaunch:
            return IdleCause::kLaunch;
        case HostState::kCopy:
            return IdleCause::kCopy;
        case HostState::kOther:
            return IdleCause::kOtherCall;
        case HostState::kOutside:
            break;
    }
    return IdleCause::kOutside;
}

/// When calls or device times were not recorded after they had been.
IntervalSet not_recorded(const TraceIndex& index, std::int64_t until_ns) {
    IntervalSet result;
    for (const std::vector<SpanChange>& changes : index.spans) {
        bool was_on = false;
        for (std::size_t i = 0; i < changes.size(); ++i) {
            if (was_on && !changes[i].on) {
                const bool last = i + 1 == changes.size();
                result.add(index.host_clock.at(changes[i].ticks),
                           last ? until_ns : index.host_clock.at(changes[i + 1].ticks));
            }
            was_on = was_on || changes[i].on;
        }
    }
    return result;
}

/// Whether a gap's part would have been over sooner had the host come sooner.
bool host_decides(IdleCause cause) {
    switch (cause) {
        case IdleCause::kSync:
        case IdleCause::kLaunch:
        case IdleCause::kCopy:
        case IdleCause::kOtherCall:
        case IdleCause::kOutside:
            return true;
        default:
            return false;
    }
}

}  // namespace

GapFinder::GapFinder(const Model& model, const Timeline& timeline)
    : model_(model),
      timeline_(timeline),
      whole_(model.timeline == nullptr ? timeline : *model.timeline),
      host_(model, whole_),
      not_recorded_(not_recorded(model.index, whole_.end_ns)) {}

Gap GapFinder::gap(std::int64_t begin_ns, std::int64_t end_ns, std::uint32_t before, std::uint32_t after,
                   const BusySince& busy_since) const {
    Gap result{begin_ns, end_ns, before, after, kNone, kNone, {}};
    const HostCall* launch = after == kNone || before == kNone ? nullptr : launch_of(after);
    std::int64_t wait_end_ns = begin_ns;
    if (launch != nullptr) {
        result.thread = launch->thread;
        if (const HostCall* wait = wait_at(launch->thread, begin_ns, before)) {
            result.wait_api = wait->api;
            wait_end_ns += static_cast<std::int64_t>(std::min(busy_since(wait->begin_ns), result.length_ns()));
        }
    }
    std::map<std::pair<IdleCause, std::uint32_t>, GapPart> parts;
    const auto add = [&](IdleCause cause, std::uint32_t api, std::int64_t from_ns, std::int64_t to_ns) {
        if (from_ns >= to_ns) {
            return;
        }
        GapPart& part = parts[{cause, api}];
        part.cause = cause;
        part.api = api;
        part.time_ns += static_cast<std::uint64_t>(to_ns - from_ns);
        if (host_decides(cause)) {
            part.after_wait_ns += static_cast<std::uint64_t>(std::clamp(wait_end_ns, from_ns, to_ns) - from_ns);
        }
    };
    std::int64_t at_ns = begin_ns;
    const auto explain = [&](std::int64_t until_ns) {
        if (before == kNone || after == kNone) {
            add(before == kNone ? IdleCause::kStart : IdleCause::kEnd, kNone, at_ns, until_ns);
        } else if (launch == nullptr) {
            add(IdleCause::kNotKnown, kNone, at_ns, until_ns);
        } else {
            const std::int64_t queued_ns = std::clamp(launch->end_ns, at_ns, std::max(at_ns, until_ns));
            host_.between(launch->thread, at_ns, queued_ns, [&](const HostStretch& stretch) {
                add(cause_of(stretch.state), stretch.call == kNone ? kNone : whole_.calls[stretch.call].api,
                    stretch.begin_ns, stretch.end_ns);
            });
            const bool is_short = static_cast<std::uint64_t>(until_ns - queued_ns) < kLatencyLimitNs;
            add(is_short ? IdleCause::kLatency : IdleCause::kQueued, kNone, queued_ns, until_ns);
        }
    };
    for (const Interval& off : off_inside(begin_ns, end_ns)) {
        explain(off.begin_ns);
        add(IdleCause::kNotRecorded, kNone, off.begin_ns, off.end_ns);
        at_ns = off.end_ns;
    }
    explain(end_ns);
    for (const auto& [key, part] : parts) {
        result.parts.push_back(part);
    }
    std::stable_sort(result.parts.begin(), result.parts.end(),
                     [](const GapPart& a, const GapPart& b) { return a.time_ns > b.time_ns; });
    return result;
}

std::vector<Interval> GapFinder::off_inside(std::int64_t begin_ns, std::int64_t end_ns) const {
    std::vector<Interval> inside;
    const std::vector<Interval>& all = not_recorded_.merged();
    auto next = std::upper_bound(all.begin(), all.end(), begin_ns,
                                 [](std::int64_t moment, const Interval& off) { return moment < off.end_ns; });
    for (; next != all.end() && next->begin_ns < end_ns; ++next) {
        inside.push_back({std::max(begin_ns, next->begin_ns), std::min(end_ns, next->end_ns)});
    }
    return inside;
}

/// Also of what was launched before a range that was selected: a selection keeps such calls.
const HostCall* GapFinder::launch_of(std::uint32_t position) const {
    const std::uint32_t call = timeline_.activities[position].call;
    return call == kNone ? nullptr : &timeline_.calls[call];
}

/// The call in which the thread was waiting for the device at that moment. A copy that ran until then was waited for by
/// the call that made it, whatever the call's name says: "asynchronous" copies from pageable memory are not.
const HostCall* GapFinder::wait_at(std::uint32_t thread, std::int64_t moment_ns, std::uint32_t ended) const {
    const HostCall* call = host_.call_at(thread, moment_ns);
    if (call == nullptr || model_.index.symbols.api(call->api).blocking()) {
        return call;
    }
    const DeviceActivity& last = timeline_.activities[ended];
    const HostCall* made_by = last.record.kind == ActivityKind::kMemcpy ? launch_of(ended) : nullptr;
    const bool own = made_by != nullptr && made_by->thread == thread && made_by->begin_ns >= call->begin_ns &&
                     made_by->end_ns <= call->end_ns;
    return own ? call : nullptr;
}

}  // namespace gpuspy::analysis
