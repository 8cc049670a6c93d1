#include "analysis/passes/host_states.hpp"

#include <algorithm>
#include <limits>

namespace gpuspy::analysis {
namespace {

struct Open {
    std::int64_t end_ns;
    HostState state;
    std::uint32_t call;
    bool says_something;  // The state is the call's own, not only "another call".
};

/// Walks through the calls of a thread in order, with those that are open on a stack.
class Flattener {
public:
    Flattener(const Model& model, std::vector<HostStretch>& out) : model_(model), out_(out) {}

    void add(std::uint32_t position, const HostCall& call) {
        close_until(call.begin_ns);
        emit_until(call.begin_ns);
        Open next = own_state(position, call);
        if (!open_.empty()) {
            const Open& around = open_.back();
            next.end_ns = std::min(next.end_ns, around.end_ns);
            if (!next.says_something || (around.says_something && around.state == next.state)) {
                next = {next.end_ns, around.state, around.call, around.says_something};
            }
        }
        open_.push_back(next);
    }

    void finish() {
        while (!open_.empty()) {
            close_until(open_.front().end_ns);
        }
    }

private:
    Open own_state(std::uint32_t position, const HostCall& call) const {
        const ApiInfo& api = model_.index.symbols.api(call.api);
        const auto own = [&](HostState state) { return Open{call.end_ns, state, position, true}; };
        if (api.launches()) {
            return own(HostState::kLaunch);
        }
        switch (api.api_class) {
            case abi::ApiClass::kSync:
                return own(HostState::kSync);
            case abi::ApiClass::kCopy:
            case abi::ApiClass::kSet:
                return own(HostState::kCopy);
            case abi::ApiClass::kMemory:
            case abi::ApiClass::kContext:
            case abi::ApiClass::kGraph:
            case abi::ApiClass::kModule:
                return own(HostState::kOther);
            default:
                return {call.end_ns, HostState::kOther, position, false};
        }
    }

    void close_until(std::int64_t moment_ns) {
        while (!open_.empty() && open_.back().end_ns <= moment_ns) {
            emit_until(open_.back().end_ns);
            open_.pop_back();
        }
    }

    /// What passed since the last stretch belongs to the innermost open call.
    void emit_until(std::int64_t moment_ns) {
        if (!open_.empty() && now_ns_ < moment_ns) {
            const Open& top = open_.back();
            if (!out_.empty() && out_.back().call == top.call && out_.back().end_ns == now_ns_) {
                out_.back().end_ns = moment_ns;
            } else {
                out_.push_back({now_ns_, moment_ns, top.state, top.call});
            }
        }
        now_ns_ = std::max(now_ns_, moment_ns);
    }

    const Model& model_;
    std::vector<HostStretch>& out_;
    std::vector<Open> open_;
    std::int64_t now_ns_ = std::numeric_limits<std::int64_t>::min();
};

/// The first stretch that ends behind `moment_ns`.
std::vector<HostStretch>::const_iterator from(const std::vector<HostStretch>& stretches, std::int64_t moment_ns) {
    return std::upper_bound(stretches.begin(), stretches.end(), moment_ns,
                            [](std::int64_t moment, const HostStretch& stretch) { return moment < stretch.end_ns; });
}

}  // namespace

HostStates::HostStates(const Model& model, const Timeline& timeline)
    : timeline_(timeline), threads_(model.index.symbols.threads().size()) {
    std::vector<Flattener> flatteners;
    flatteners.reserve(threads_.size());
    for (std::vector<HostStretch>& thread : threads_) {
        flatteners.emplace_back(model, thread);
    }
    for (std::uint32_t position = 0; position < timeline.calls.size(); ++position) {
        flatteners[timeline.calls[position].thread].add(position, timeline.calls[position]);
    }
    for (Flattener& flattener : flatteners) {
        flattener.finish();
    }
}

void HostStates::between(std::uint32_t thread, std::int64_t begin_ns, std::int64_t end_ns,
                         const std::function<void(const HostStretch&)>& visit) const {
    const std::vector<HostStretch>& stretches = threads_[thread];
    for (auto next = from(stretches, begin_ns); begin_ns < end_ns; ++next) {
        const bool behind_last = next == stretches.end() || next->begin_ns >= end_ns;
        const std::int64_t inside_ns = behind_last ? end_ns : std::max(begin_ns, next->begin_ns);
        if (begin_ns < inside_ns) {
            visit({begin_ns, inside_ns, HostState::kOutside, kNone});
        }
        if (behind_last) {
            return;
        }
        begin_ns = std::min(end_ns, next->end_ns);
        visit({inside_ns, begin_ns, next->state, next->call});
    }
}

const HostCall* HostStates::call_at(std::uint32_t thread, std::int64_t moment_ns) const {
    const std::vector<HostStretch>& stretches = threads_[thread];
    const auto found = from(stretches, moment_ns);
    return found == stretches.end() || found->begin_ns >= moment_ns ? nullptr : &timeline_.calls[found->call];
}

}  // namespace gpuspy::analysis
