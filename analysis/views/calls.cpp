#include "analysis/passes/thread_calls.hpp"
#include "analysis/views/duration_columns.hpp"
#include "analysis/views/view.hpp"

namespace gpuspy::analysis {
namespace {

Table api_table(const ViewInput& input) {
    using Row = CallRow;
    return make_table("calls", "Calls", "times include the calls inside",
                      with_durations<Row>(
                          {
                              {"count", "count", Unit::kCount, [](const Row& row) { return row.count; }},
                              {"failed", "failed", Unit::kCount, [](const Row& row) { return row.failed; }},
                              {"outermost", "outermost", Unit::kCount, [](const Row& row) { return row.outermost; }},
                          },
                          {
                              {"library", "library", Unit::kText, [](const Row& row) { return row.library; }},
                              {"name", "call", Unit::kText, [](const Row& row) { return row.name; }},
                          }),
                      call_table(input.model, input.timeline));
}

Table threads_table(const ViewInput& input) {
    using Row = ThreadCalls;
    return make_table<Row>(
        "threads", "Threads", "API and sync: the time that is covered by a thread's outermost calls",
        {
            {"tid", "thread", Unit::kCount, [](const Row& row) { return std::uint64_t{row.tid}; }},
            {"calls", "calls", Unit::kCount, [](const Row& row) { return row.calls; }},
            {"launches", "launches", Unit::kCount, [](const Row& row) { return row.launches; }},
            {"failed", "failed", Unit::kCount, [](const Row& row) { return row.failed; }},
            {"api_ns", "API", Unit::kDurationNs, [](const Row& row) { return row.api_ns; }},
            {"api_share_of_wall", "% wall", Unit::kShare, [](const Row& row) { return row.api_share_of_wall; }},
            {"sync_ns", "sync", Unit::kDurationNs, [](const Row& row) { return row.sync_ns; }},
            {"sync_share_of_wall", "% wall", Unit::kShare, [](const Row& row) { return row.sync_share_of_wall; }},
            {"name", "name", Unit::kText, [](const Row& row) { return row.name; }},
        },
        thread_table(input.model, input.timeline));
}

Table library_table(const ViewInput& input) {
    using Row = LibraryCallRow;
    return make_table<Row>(
        "library_calls", "Library calls",
        "outermost ones; GPU: what ran on the device because of them, replays of a captured call too",
        {
            {"gpu_ns", "GPU", Unit::kDurationNs, [](const Row& row) { return row.gpu_ns; }},
            {"share_of_gpu", "% GPU", Unit::kShare, [](const Row& row) { return row.share_of_gpu; }},
            {"kernels", "kernels", Unit::kCount, [](const Row& row) { return row.kernels; }},
            {"copies", "copies", Unit::kCount, [](const Row& row) { return row.copies; }},
            {"count", "count", Unit::kCount, [](const Row& row) { return row.count; }},
            {"host_ns", "host", Unit::kDurationNs, [](const Row& row) { return row.host_ns; }},
            {"library", "library", Unit::kText, [](const Row& row) { return row.library; }},
            {"name", "call", Unit::kText, [](const Row& row) { return row.name; }},
        },
        library_call_table(input.model, input.timeline));
}

}  // namespace

std::vector<Table> calls_view(const ViewInput& input) {
    return {api_table(input), threads_table(input), library_table(input)};
}

}  // namespace gpuspy::analysis
