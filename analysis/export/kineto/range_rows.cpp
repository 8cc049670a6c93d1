#include "analysis/export/kineto/range_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "analysis/export/nested_tracks.hpp"

namespace gpuspy::analysis::kineto {
namespace {

class RangeRows {
public:
    RangeRows(const Model& model, std::uint64_t pid, RowWriter& out)
        : model_(model), timeline_(*model.timeline), pid_(pid), out_(out) {
        for (const ThreadInfo& thread : model.index.symbols.threads()) {
            free_tid_ = std::max(free_tid_, std::uint64_t{thread.tid} + 1);
        }
    }

    void write() {
        std::map<std::uint32_t, std::vector<std::uint32_t>> of_threads, of_process;  // by thread; by domain
        for (std::uint32_t position = 0; position < timeline_.ranges.size(); ++position) {
            const HostRange& range = timeline_.ranges[position];
            (range.kind == Range::Kind::kStartEnd ? of_process[range.domain] : of_threads[range.thread])
                .push_back(position);
        }
        for (const auto& [thread, positions] : of_threads) {
            const std::uint32_t tid = model_.index.symbols.threads()[thread].tid;
            nest({tid}, fmt::format("NVTX of thread {}, not nested", tid), positions);
        }
        for (const auto& [domain, positions] : of_process) {
            const std::string& name = model_.index.symbols.text(domain);
            nest({}, "NVTX start/end" + (name.empty() ? "" : ": " + name), positions);
        }
    }

private:
    /// `tids`: of the first tracks; the others get new ones, named `name`.
    void nest(std::vector<std::uint64_t> tids, const std::string& name, const std::vector<std::uint32_t>& positions) {
        NestedTracks nested(
            [&](std::size_t sibling, std::uint32_t position) {
                if (sibling == tids.size()) {
                    tids.push_back(free_tid_++);
                    out_.row(fmt::format(
                        R"({{"ph": "M", "name": "thread_name", "ts": 0.000, "pid": {}, "tid": {}, "args": {{"name": {}}}}})",
                        integer(pid_), tids.back(), quoted(name)));
                }
                row(timeline_.ranges[position], tids[sibling]);
            },
            [](std::size_t, std::int64_t) {});
        for (const std::uint32_t position : positions) {
            if (!out_.good()) {
                return;
            }
            const HostRange& range = timeline_.ranges[position];
            if (range.kind == Range::Kind::kMark) {
                row(range, tids.front());
            } else {
                nested.add(position, range.begin_ns, std::max(range.begin_ns, range.end_ns));
            }
        }
    }

    void row(const HostRange& range, std::uint64_t tid) {
        const bool mark = range.kind == Range::Kind::kMark;
        const std::string how =
            mark ? R"("ph": "i", "s": "t")"
                 : fmt::format(R"("ph": "X", "dur": {})",
                               microseconds(std::max<std::int64_t>(0, range.end_ns - range.begin_ns)));
        std::string args = fmt::format(R"("domain": {})", quoted(model_.index.symbols.text(range.domain)));
        args += range.open ? R"(, "never ended": true)" : "";
        out_.row(fmt::format(
            R"({{{}, "cat": "user_annotation", "name": {}, "pid": {}, "tid": {}, "ts": {}, "args": {{{}}}}})", how,
            quoted(model_.index.symbols.text(range.name)), integer(pid_), tid,
            microseconds(range.begin_ns - timeline_.begin_ns), args));
    }

    const Model& model_;
    const Timeline& timeline_;
    const std::uint64_t pid_;
    RowWriter& out_;
    std::uint64_t free_tid_ = 1;
};

}  // namespace

void write_ranges(const Model& model, std::uint64_t pid, RowWriter& out) {
    RangeRows(model, pid, out).write();
}

}  // namespace gpuspy::analysis::kineto
