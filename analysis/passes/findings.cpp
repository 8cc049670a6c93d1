#include "analysis/passes/findings.hpp"

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
    return findings;
}

}  // namespace gpuspy::analysis
