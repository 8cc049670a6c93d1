#include "analysis/model/collectives.hpp"

#include <array>

#include "collector/abi/event.hpp"

namespace gpuspy::analysis {
namespace {

struct NcclType {
    std::string_view name;
    std::uint64_t bytes;
};

constexpr std::array<NcclType, 12> kNcclTypes = {{{"Int8", 1},
                                                  {"Uint8", 1},
                                                  {"Int32", 4},
                                                  {"Uint32", 4},
                                                  {"Int64", 8},
                                                  {"Uint64", 8},
                                                  {"Float16", 2},
                                                  {"Float32", 4},
                                                  {"Float64", 8},
                                                  {"Bfloat16", 2},
                                                  {"Float8e4m3", 1},
                                                  {"Float8e5m2", 1}}};

const NcclType* find_type(std::int64_t type) {
    return type >= 0 && static_cast<std::uint64_t>(type) < kNcclTypes.size()
               ? &kNcclTypes[static_cast<std::size_t>(type)]
               : nullptr;
}

}  // namespace

std::string_view nccl_type_name(std::int64_t type) {
    const NcclType* known = find_type(type);
    return known == nullptr ? "" : known->name;
}

std::uint64_t nccl_type_bytes(std::int64_t type) {
    const NcclType* known = find_type(type);
    return known == nullptr ? 0 : known->bytes;
}

CollectiveStats& CollectiveStats::operator+=(const CollectiveStats& other) {
    count += other.count;
    failed += other.failed;
    bytes += other.bytes;
    host_ns += other.host_ns;
    return *this;
}

CollectiveStats& CollectiveStats::operator-=(const CollectiveStats& other) {
    count -= other.count;
    failed -= other.failed;
    bytes -= other.bytes;
    host_ns -= other.host_ns;
    return *this;
}

void Collectives::add(const CallRecord& call, const ApiInfo& api, std::uint64_t duration_ns) {
    if (api.api_class != abi::ApiClass::kCollective && api.api_class != abi::ApiClass::kCommunicator) {
        return;
    }
    const std::vector<ArgumentField> fields = parse_argument_fields(api.fields);
    const std::vector<Argument> arguments = match_arguments(fields, call.arguments);
    const auto find = [&arguments](std::string_view name) { return find_argument(arguments, name); };
    if (api.api_class == abi::ApiClass::kCommunicator) {
        const auto handle = find("newcomm").has_value() ? find("newcomm") : find("comm");
        // ncclCommGrow and ncclCommInitRankScalable have names of their own for them.
        const auto ranks = find("nranks").has_value() ? find("nranks") : find("nRanks");
        const auto rank = find("rank").has_value() ? find("rank") : find("myrank");
        if (handle.value_or(0) == 0 || call.has(abi::kCallStatus)) {
            return;
        }
        if (ranks.has_value()) {
            communicators_[static_cast<std::uint64_t>(*handle)] = {rank.value_or(-1), *ranks};
        } else if (find("newcomm").has_value()) {
            communicators_.erase(static_cast<std::uint64_t>(*handle));  // A split may get a handle that was another's.
        }
        return;
    }
    const auto communicator = find("comm");
    if (!communicator.has_value()) {
        return;  // ncclGroupStart and its end.
    }
    const std::int64_t type = find("datatype").value_or(-1);
    CollectiveStats counted{1, call.has(abi::kCallStatus) ? 1U : 0U, 0, duration_ns};
    for (const std::string_view name : {"count", "sendcount", "recvcount"}) {
        if (const auto count = find(name); count.has_value() && *count > 0 && counted.failed == 0) {
            counted.bytes += static_cast<std::uint64_t>(*count) * nccl_type_bytes(type);
        }
    }
    leave_out_inner(call);
    const Key key{call.api, type, static_cast<std::uint64_t>(*communicator)};
    stats_[key] += counted;
    if (call.depth != 0) {
        recent_[call.thread].push_back({call.depth, call.begin_ticks, key, counted});
    }
}

void Collectives::leave_out_inner(const CallRecord& call) {
    std::vector<Recent>& recent = recent_[call.thread];
    for (; !recent.empty() && recent.back().depth > call.depth; recent.pop_back()) {
        const Recent& last = recent.back();
        if (last.begin_ticks >= call.begin_ticks) {
            CollectiveStats& stats = stats_[last.key];
            stats -= last.counted;
            if (stats.count == 0) {
                stats_.erase(last.key);
            }
        }
    }
    if (recent.size() >= kMaxRecent) {
        recent.clear();
    }
}

}  // namespace gpuspy::analysis
