#include "analysis/model/timeline.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace gpuspy::analysis {
namespace {

/// The positions of `items` in the order that `before` gives; of equal ones the last comes first: calls come in the order in
/// which they returned, so of two that begin and end at the same moment the later one is the outer one.
template <class Item, class Before>
std::vector<std::uint32_t> order_of(const std::vector<Item>& items, Before before) {
    std::vector<std::uint32_t> order(items.size());
    std::iota(order.begin(), order.end(), 0U);
    std::reverse(order.begin(), order.end());
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return before(items[a], items[b]); });
    return order;
}

template <class Item>
std::vector<Item> in_order(const std::vector<Item>& items, const std::vector<std::uint32_t>& order) {
    std::vector<Item> sorted;
    sorted.reserve(items.size());
    for (const std::uint32_t position : order) {
        sorted.push_back(items[position]);
    }
    return sorted;
}

}  // namespace

void sort_timeline(Timeline& timeline) {
    // The end decides between calls that begin in the same ns: the outer one ends later.
    const auto call_order = order_of(timeline.calls, [](const HostCall& a, const HostCall& b) {
        return std::tie(a.begin_ns, b.end_ns) < std::tie(b.begin_ns, a.end_ns);
    });
    std::vector<std::uint32_t> position(call_order.size());
    for (std::uint32_t at = 0; at < call_order.size(); ++at) {
        position[call_order[at]] = at;
    }
    const auto follow = [&](std::uint32_t& link) { link = link == kNone ? kNone : position[link]; };
    timeline.calls = in_order(timeline.calls, call_order);
    for (HostCall& call : timeline.calls) {
        follow(call.parent);
        follow(call.library);
    }
    const auto activity_order = order_of(timeline.activities, [](const DeviceActivity& a, const DeviceActivity& b) {
        return std::tie(a.record.device, a.begin_ns, a.end_ns) < std::tie(b.record.device, b.begin_ns, b.end_ns);
    });
    timeline.activities = in_order(timeline.activities, activity_order);
    std::stable_sort(timeline.memory.begin(), timeline.memory.end(),
                     [](const MemoryEvent& a, const MemoryEvent& b) { return a.at_ns < b.at_ns; });
    for (DeviceActivity& activity : timeline.activities) {
        follow(activity.call);
        follow(activity.captured_call);
    }
}

}  // namespace gpuspy::analysis
