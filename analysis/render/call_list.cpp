#include "analysis/render/call_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/model/trace_index.hpp"
#include "analysis/reader/arguments.hpp"
#include "analysis/render/display_text.hpp"

namespace gpuspy::analysis {
namespace {

constexpr std::size_t kFlushBytes = 1 << 20;

std::string value_text(const ArgumentField& field, std::int64_t word) {
    const char type = field.type == '@' ? field.element_type : field.type;
    switch (type) {
        case 'p':
        case '*':
        case '#':
            return fmt::format("{:#x}", static_cast<std::uint64_t>(word));
        case 'w':
            return fmt::format("{}", static_cast<std::uint64_t>(word));
        default:
            return fmt::format("{}", word);
    }
}

std::string argument_text(const Argument& argument) {
    const ArgumentField& field = *argument.field;
    if (!field.is_array()) {
        return fmt::format("{}={}", field.name, value_text(field, argument.words[0]));
    }
    std::string text = field.name + "=[";
    for (std::size_t i = 0; i < argument.words.size(); ++i) {
        text += (i == 0 ? "" : " ") + value_text(field, argument.words[i]);
    }
    return text + "]";
}

std::string quoted(const std::string& text) {
    return "\"" + printable(text) + "\"";
}

/// `domain`: "" for the default one. Domain and text are quoted.
std::string range_call(abi::RangeKind kind, const std::string& domain, const std::string& text, std::uint64_t id) {
    const std::string prefix = domain.empty() ? "nvtx" : "nvtxDomain";
    const std::string before = domain.empty() ? "" : domain + ", ";
    switch (kind) {
        case abi::RangeKind::kPush:
            return fmt::format("{}RangePush({}{}) = {}", prefix, before, text, id);
        case abi::RangeKind::kPop:
            return fmt::format("{}RangePop({}) = {}", prefix, domain, id);
        case abi::RangeKind::kStart:
            return fmt::format("{}RangeStart({}{}) = {}", prefix, before, text, id);
        case abi::RangeKind::kEnd:
            return fmt::format("{}RangeEnd({}{})", prefix, before, id);
        case abi::RangeKind::kMark:
            break;
    }
    return fmt::format("{}Mark({}{})", prefix, before, text);
}

class CallLister : public Visitor {
public:
    CallLister(TraceIndex& index, const LineSink& sink) : index_(index), sink_(sink) {}

    void on_call(const CallRecord& call) override {
        if (!wanted_) {
            return;
        }
        const ApiInfo& api = index_.symbols.api(call.api);
        const std::int64_t duration_ns = index_.host_clock.at(call.end_ticks) - index_.host_clock.at(call.begin_ticks);
        begin_line(call.thread, call.begin_ticks, call.depth,
                   duration_text(static_cast<std::uint64_t>(std::max<std::int64_t>(0, duration_ns))));
        lines_ += printable(api.name) + "(";
        bool first = true;
        const auto add = [&](const std::string& text) {
            lines_ += (first ? "" : ", ") + text;
            first = false;
        };
        if (call.has(abi::kCallKernel)) {
            add(fmt::format("function={:#x}", call.function));
        }
        if (call.has(abi::kCallCopy)) {
            add(fmt::format("bytes={}", call.copy_bytes));
        }
        if (call.has(abi::kCallGraph)) {
            add(fmt::format("graph={:#x}", call.graph_exec));
        }
        for (const Argument& argument : match_arguments(fields_of(call.api, api), call.arguments)) {
            add(printable(argument_text(argument)));
        }
        if (call.has(abi::kCallStream)) {
            add(fmt::format("stream={:#x}", call.stream));
        }
        lines_ += ")";
        if ((api.attributes & abi::kApiNoStatus) == 0) {
            lines_ += fmt::format(" = {}", call.status);
        }
        if (call.has(abi::kCallCaptured)) {
            lines_ += " captured";
        }
        if (const SharedObject* object = index_.objects.find(call.caller, call.begin_ticks); object != nullptr) {
            lines_ += "  <- " + printable(object->path.substr(object->path.rfind('/') + 1));
        }
        end_line();
    }

    /// As the call that the program made, whatever its form.
    void on_range(const RangeRecord& range) override {
        if (!wanted_) {
            return;
        }
        const std::string& domain = index_.symbols.text(range.domain);
        begin_line(range.thread, range.ticks, range.depth, "");
        lines_ += range_call(range.kind, domain.empty() ? "" : quoted(domain), quoted(index_.symbols.text(range.name)),
                             range.id);
        end_line();
    }

    void flush() {
        if (wanted_ && !lines_.empty()) {
            wanted_ = sink_(lines_);
        }
        lines_.clear();
    }

private:
    void begin_line(std::uint32_t thread, std::uint64_t ticks, std::uint32_t depth, const std::string& duration) {
        const std::int64_t since_ns = index_.host_clock.at(ticks) - index_.host_clock.at(index_.first_ticks);
        lines_ += fmt::format("{:>14.9f} {:>8} {:>10}  {:{}}", static_cast<double>(since_ns) / 1e9,
                              index_.symbols.threads()[thread].tid, duration, "", 2 * depth);
    }

    void end_line() {
        lines_ += '\n';
        if (lines_.size() >= kFlushBytes) {
            flush();
        }
    }

    const std::vector<ArgumentField>& fields_of(std::uint32_t number, const ApiInfo& api) {
        const auto [found, added] = fields_.try_emplace(number);
        if (added) {
            found->second = parse_argument_fields(api.fields);
        }
        return found->second;
    }

    TraceIndex& index_;
    const LineSink& sink_;
    std::unordered_map<std::uint32_t, std::vector<ArgumentField>> fields_;
    std::string lines_;
    bool wanted_ = true;
};

}  // namespace

Result<ReadSummary> list_calls(const ByteSource& source, const LineSink& sink) {
    TraceIndex index;
    TraceIndexBuilder builder(index);
    const Result<ReadSummary> first = read_trace(source, index.symbols, builder, {});
    if (!first.ok()) {
        return first.fault();
    }
    builder.finish(first.value());
    CallLister lister(index, sink);
    const Result<ReadSummary> second = read_trace(source, index.symbols, lister, {});
    if (!second.ok()) {
        return second.fault();
    }
    lister.flush();
    return first;
}

}  // namespace gpuspy::analysis
