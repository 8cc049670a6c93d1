// Writes traces of format v1 from a script, for tests. It shares nothing with collector/sink's encoder but the ABI
// headers, so that the two check each other.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/abi/event.hpp"
#include "collector/abi/trace_format.hpp"

namespace gpuspy::test {

std::string varint(std::uint64_t value);
std::string svarint(std::int64_t value);
std::string text_field(std::string_view text);  ///< Varint length, bytes.

struct Api {
    std::string name = {};
    std::string library = "runtime";
    abi::ApiLevel level = abi::ApiLevel::kRuntime;
    abi::ApiClass api_class = abi::ApiClass::kOther;
    std::uint8_t attributes = 0;
    std::string fields = {};
};

/// A call. The flags of the fields that are set are set by the builder; `flags` adds others.
struct Call {
    Api api = {};
    std::uint64_t begin = 0, end = 0;  ///< Ticks.
    std::uint32_t depth = 0;
    std::uint64_t correlation = 0;  ///< 0: none. So for all that follow.
    std::uint64_t caller = 0;
    std::uint64_t function = 0;
    std::uint64_t stream = 0;
    std::uint64_t exec = 0;
    std::uint64_t launch_id = 0;
    std::int64_t status = 0;
    std::uint64_t copy_bytes = 0;
    std::uint32_t copy_kind = 0;
    std::uint32_t flags = 0;
    std::vector<std::int64_t> arguments = {};
};

/// A device record; start in ns of the device clock.
struct Activity {
    abi::Tag tag = abi::Tag::kKernel;
    std::string name = {};
    std::uint64_t start = 0, duration = 0;
    std::uint64_t correlation = 0;
    std::uint64_t device = 0, stream = 7;
    std::uint64_t graph_exec_id = 0;  ///< 0: not of a graph.
    std::uint64_t graph_node = 0;
    std::uint64_t bytes = 0;
    std::uint32_t copy_kind = 0;
    std::uint32_t flags = 0;
    std::uint32_t source_memory = 1, destination_memory = 3;  ///< CUpti_ActivityMemoryKind. Of sets the second.
    std::array<std::uint32_t, 3> grid = {2, 1, 1}, block = {128, 1, 1};
    std::uint32_t registers = 32, static_shared_bytes = 0, dynamic_shared_bytes = 64;
};

/// An NVTX event.
struct RangeEvent {
    abi::RangeKind kind = abi::RangeKind::kMark;
    std::uint32_t depth = 0;
    std::uint64_t ticks = 0;
    std::uint64_t id = 0;
    std::string domain = {};
    std::string name = {};
};

/// What a flight recorder left out (abi::Tag::kKept).
struct Kept {
    std::uint64_t ticks = 0;
    std::uint64_t calls = 0, device_records = 0, ranges = 0, blocks = 0, bytes = 0;
    std::uint64_t correlation = 0;  ///< The highest of a launch that was left out, 0 none.
    std::uint64_t limit_ns = 0, limit_bytes = 0;
};

struct Header {
    std::uint16_t major = abi::kFormatMajor, minor = abi::kFormatMinor;
    std::uint64_t required_features = 0;
    std::uint64_t optional_features = 0;
    std::uint64_t start_ticks = 0;
    std::uint64_t pid = 4242;
    std::uint64_t tick_hz = 1'000'000'000;
    std::uint64_t start_monotonic_ns = 0;
    std::int64_t rank = -1;
    std::vector<std::string> argv = {"python", "train.py"};
};

class TraceBuilder {
public:
    Header header;

    /// Any record, as its payload.
    void record(std::uint64_t tag, std::string_view payload);
    void record(abi::Tag tag, std::string_view payload) { record(static_cast<std::uint64_t>(tag), payload); }

    void thread(std::uint32_t ring, std::uint32_t tid, std::string_view name = "");
    void call(const Call& call);
    void activity(const Activity& activity);
    void range(const RangeEvent& range);
    void anchor(std::uint64_t ticks, std::uint64_t monotonic_ns, std::uint64_t device_clock_ns = 0);
    void object(std::uint64_t ticks, std::uint64_t begin, std::uint64_t end, std::string_view path,
                std::string_view version = "");
    void device(std::uint64_t ordinal, std::string_view name);
    void info(std::string_view key, std::string_view value);
    void name(std::uint64_t ticks, std::uint64_t handle, std::string_view name);
    void graph_exec(std::uint64_t ticks, std::uint64_t exec, std::uint64_t cupti_exec_id, std::uint64_t kernel_nodes,
                    std::uint64_t flags = 0, std::uint64_t memcpy_nodes = 0);
    void graph_nodes(std::uint64_t ticks, std::uint64_t exec, const std::vector<abi::GraphNode>& nodes);
    void kept(const Kept& kept);
    /// `library`: the outermost library call around the captured launch; no name: none.
    void origin(std::uint64_t launch_id, const Api& library, std::uint64_t caller, std::uint64_t ticks);
    void span(std::uint64_t ticks, abi::SpanKind what, bool on, std::string_view reason = "");
    /// `count`: in all so far.
    void loss(abi::LossCause cause, std::uint64_t count, std::uint64_t thread = 0);
    void cpu(std::uint64_t ticks, std::uint64_t user_ns, std::uint64_t system_ns, std::uint64_t own_ns = 0,
             std::uint64_t callback_ns = 0);
    void end(std::uint64_t ticks, abi::EndKind kind = abi::EndKind::kClean, std::int64_t detail = 0,
             std::uint64_t pid = 0);
    void cost(std::uint64_t calls, std::uint64_t call_ps);
    void notice(std::uint64_t ticks, std::string_view text);

    /// Ends the block. The next record begins a new one, in the same segment unless new_segment() is called.
    void end_block();
    void new_segment();
    /// Written into the headers of blocks ended from now on.
    void block_ticks(std::uint64_t ticks) { block_ticks_ = ticks; }
    void salvaged(bool on) { extra_block_flags_ = on ? std::uint32_t{abi::kBlockSalvaged} : 0; }
    void compressed(bool on) { compressed_ = on; }

    /// The file: header, then all blocks.
    [[nodiscard]] std::string bytes();
    /// The header alone, and where each block ends in bytes().
    [[nodiscard]] std::string header_bytes() const;
    [[nodiscard]] std::vector<std::size_t> block_ends() const;

private:
    std::uint64_t value_index(std::uint64_t value);
    std::uint64_t text_index(std::string_view text);
    std::uint64_t api_number(const Api& api);

    struct Previous {
        std::uint64_t begin = 0, correlation = 0, range = 0;
    };

    std::string payload_;
    std::vector<std::string> blocks_;
    std::uint32_t segment_ = 0, block_index_ = 0;
    std::uint32_t extra_block_flags_ = 0;
    std::uint64_t block_ticks_ = 0;
    bool compressed_ = true;

    std::map<std::uint64_t, std::uint64_t> values_;
    std::map<std::string, std::uint64_t, std::less<>> texts_;
    std::map<std::pair<std::string, std::string>, std::uint64_t> apis_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Previous> previous_;
    Previous* current_ = nullptr;
    Previous nobody_;
    std::uint64_t activity_correlation_ = 0, activity_start_ = 0;
};

}  // namespace gpuspy::test
