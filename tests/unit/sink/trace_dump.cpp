#include "tests/unit/sink/trace_dump.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/reader/trace_reader.hpp"

namespace gpuspy::test {

namespace {

class Dumper : public analysis::Visitor {
public:
    Dumper(analysis::Symbols& symbols, std::vector<std::string>& lines) : symbols_(symbols), lines_(lines) {}

    void on_block(const analysis::BlockInfo& block) override {
        add("block {}.{}{}", block.segment, block.index, block.salvaged ? " salvaged" : "");
    }
    void on_process(const analysis::ProcessRecord& process) override {
        add("process {} run {} {} argv {} env {}", process.pid, process.run_id, process.exe,
            fmt::join(process.argv, " "), fmt::join(process.environment, " "));
    }
    void on_anchor(const analysis::AnchorRecord& anchor) override {
        add("anchor {} {} {} {} {}", anchor.ticks, anchor.monotonic_ns, anchor.realtime_ns, anchor.device_clock_ns,
            anchor.uncertainty_ns);
    }
    void on_object(const analysis::ObjectRecord& object) override {
        add("object {} {:x}-{:x} {} {}", object.ticks, object.begin, object.end, object.path, object.version);
    }
    void on_device(const analysis::DeviceRecord& device) override {
        add("device {} {} cc {}.{} sm {} {} B pci {}", device.ordinal, device.name, device.cc_major, device.cc_minor,
            device.sm_count, device.memory_bytes, device.pci);
    }
    void on_info(std::string_view key, std::string_view value) override { add("info {}={}", key, value); }
    void on_call(const analysis::CallRecord& call) override {
        const analysis::ThreadInfo& thread = symbols_.threads()[call.thread];
        add("call ring {} tid {} {} {}-{} depth {} flags {:x} status {} caller {:x} stream {:x} corr {} launch {} "
            "function {:x} copy {}/{} graph {:x}",
            thread.ring, thread.tid, symbols_.api(call.api).name, call.begin_ticks, call.end_ticks, call.depth,
            call.flags, call.status, call.caller, call.stream, call.correlation, call.launch_id, call.function,
            call.copy_bytes, call.copy_kind, call.graph_exec);
    }
    void on_name(const analysis::NameRecord& name) override {
        add("name {} {:x} {}", name.ticks, name.handle, symbols_.text(name.name));
    }
    void on_graph_exec(const analysis::GraphExecRecord& graph) override {
        add("graph {} {:x} id {} nodes {} {} {} {} flags {}", graph.ticks, graph.exec, graph.cupti_exec_id,
            graph.kernel_nodes, graph.memcpy_nodes, graph.memset_nodes, graph.other_nodes, graph.flags);
    }
    void on_graph_nodes(std::uint64_t exec, std::uint64_t ticks, std::span<const abi::GraphNode> nodes) override {
        add("graph_nodes {} {:x} count {}", ticks, exec, nodes.size());
    }
    void on_origin(const analysis::OriginRecord& origin) override {
        add("origin {} library {} caller {:x} ticks {}", origin.launch_id,
            origin.library_api < 0 ? "none" : symbols_.api(static_cast<std::uint32_t>(origin.library_api)).name,
            origin.caller, origin.ticks);
    }
    void on_kept(const analysis::KeptRecord& kept) override {
        add("kept calls {} device_records {} ranges {} correlation {}", kept.calls, kept.device_records, kept.ranges,
            kept.correlation);
    }
    void on_activity(const analysis::ActivityRecord& activity) override {
        add("device_record {} flags {} {}/{}/{} corr {} {}+{} graph {}.{} name {} {} B kind {}",
            static_cast<unsigned>(activity.kind), activity.flags, activity.device, activity.context, activity.stream,
            activity.correlation, activity.start_ns, activity.duration_ns, activity.graph_exec_id, activity.graph_node,
            activity.kind == analysis::ActivityKind::kKernel ? symbols_.text(activity.name) : "", activity.bytes,
            activity.copy_kind);
    }
    void on_range(const analysis::RangeRecord& range) override {
        const analysis::ThreadInfo& thread = symbols_.threads()[range.thread];
        add("range ring {} tid {} kind {} {} depth {} id {} {}/{}", thread.ring, thread.tid,
            static_cast<unsigned>(range.kind), range.ticks, range.depth, range.id, symbols_.text(range.domain),
            symbols_.text(range.name));
    }
    void on_span(const analysis::SpanRecord& span) override {
        add("span {} {} {}", span.what, span.on != 0 ? "on" : "off", span.reason);
    }
    void on_loss(const analysis::LossRecord& loss) override {
        add("loss cause {} count {} thread {}", loss.cause, loss.count, loss.thread);
    }
    void on_cpu(const analysis::CpuRecord& cpu) override { add("cpu callback {}", cpu.callback_ns); }
    void on_end(const analysis::EndRecord& end) override { add("end kind {} detail {}", end.kind, end.detail); }
    void on_cost(const analysis::CostRecord& cost) override { add("cost calls {} ps {}", cost.calls, cost.call_ps); }
    void on_notice(std::uint64_t, std::string_view text) override { add("notice {}", text); }

private:
    template <class... Arguments>
    void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        lines_.push_back(fmt::format(format, std::forward<Arguments>(arguments)...));
    }

    analysis::Symbols& symbols_;
    std::vector<std::string>& lines_;
};

TraceDump dump(const analysis::ByteSource& source) {
    TraceDump result;
    analysis::Symbols symbols;
    Dumper dumper(symbols, result.lines);
    const auto summary = analysis::read_trace(source, symbols, dumper);
    if (!summary.ok()) {
        result.fault = summary.fault().message;
        return result;
    }
    for (const analysis::ThreadInfo& thread : symbols.threads()) {
        result.threads.push_back(fmt::format("ring {} tid {} {}", thread.ring, thread.tid, thread.name));
    }
    result.blocks = summary.value().blocks;
    result.salvaged_blocks = summary.value().salvaged_blocks;
    result.partial = summary.value().partial();
    return result;
}

}  // namespace

std::vector<std::string> TraceDump::of(std::string_view word) const {
    std::vector<std::string> found;
    std::copy_if(lines.begin(), lines.end(), std::back_inserter(found),
                 [&](const std::string& line) { return line.rfind(word, 0) == 0; });
    return found;
}

bool TraceDump::has(std::string_view line) const {
    return std::find(lines.begin(), lines.end(), line) != lines.end();
}

TraceDump dump_bytes(const std::vector<std::uint8_t>& bytes) {
    return dump(analysis::MemorySource(std::as_bytes(std::span(bytes))));
}

TraceDump dump_file(const std::string& path) {
    const auto source = analysis::open_file(path);
    if (!source.ok()) {
        return {{}, {}, 0, 0, false, source.fault().message};
    }
    return dump(*source.value());
}

}  // namespace gpuspy::test
