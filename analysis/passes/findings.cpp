#include "analysis/passes/findings.hpp"

#include <utility>

#include "analysis/model/selection.hpp"

namespace gpuspy::analysis {

Findings find_all(const Model& model) {
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
    if (model.timeline != nullptr) {
        findings.verdict = verdict(model, *model.timeline);
        findings.iterations = iterations(model, *model.timeline);
        const auto [from_ns, to_ns] =
            std::pair(findings.iterations->steady_begin_ns(), findings.iterations->steady_end_ns());
        if (to_ns > from_ns) {
            Selection steady;
            steady.from_ns = from_ns - model.timeline->begin_ns;
            steady.to_ns = to_ns - model.timeline->begin_ns;
            findings.steady_verdict = verdict(model, select(model, *model.timeline, steady));
        }
    }
    return findings;
}

}  // namespace gpuspy::analysis
