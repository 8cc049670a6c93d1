#include "analysis/passes/findings.hpp"

#include <algorithm>
#include <utility>

#include "analysis/model/selection.hpp"

namespace gpuspy::analysis {

Findings find_totals(const Model& model) {
    Findings findings;
    findings.run = run_info(model);
    findings.completeness = completeness(model);
    findings.gpu = gpu_time(model);
    findings.api = api_time(model);
    findings.cpu = cpu_time(model);
    findings.sync = synchronisation(model);
    findings.kernels = kernel_table(model);
    findings.libraries = library_table(findings.kernels);
    findings.calls = call_table(model);
    findings.collectives = collective_table(model);
    findings.copies = copy_table(model);
    findings.overhead = overhead(model);
    return findings;
}

Findings find_all(const Model& model) {
    Findings findings = find_totals(model);
    if (model.timeline != nullptr) {
        findings.verdict = verdict(model, *model.timeline);
        findings.iterations = iterations(model, *model.timeline);
        // Fewer iterations are no state.
        constexpr auto kLeastIterations = 3;
        const auto& rows = findings.iterations->rows;
        const auto steady_rows = std::count_if(rows.begin(), rows.end(),
                                               [](const Iteration& row) { return row.kind != IterationKind::kWarmUp; });
        const auto steady = findings.iterations->steady(*model.timeline);
        if (steady && steady_rows >= kLeastIterations) {
            findings.steady_verdict = verdict(model, select(model, *model.timeline, *steady));
        }
    }
    return findings;
}

}  // namespace gpuspy::analysis
