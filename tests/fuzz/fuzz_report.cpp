// libFuzzer target: any bytes -> reader, model, passes, text and JSON. Checksums are not verified, so that what lies
// behind them is reached.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "analysis/model/build_model.hpp"
#include "analysis/passes/findings.hpp"
#include "analysis/render/display_text.hpp"
#include "analysis/render/json.hpp"
#include "analysis/render/text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace gpuspy::analysis;
    const MemorySource source(std::as_bytes(std::span(data, size)));
    const auto model = build_model(source, {.reading = {.verify_checksums = false}, .timeline = true});
    if (!model.ok()) {
        return 0;
    }
    const Findings findings = find_all(*model.value());
    const LaunchCounts& n = findings.completeness.launches;
    // What must hold whatever the bytes: every record is matched, of a launch before the kept span, or not.
    if (n.device_records != n.matched + n.matched_beyond + n.launched_before_kept + n.unmatched_records) {
        std::abort();
    }
    for (const SyncThread& thread : findings.sync.threads) {
        if (thread.share_of_wall > 1.0) {
            std::abort();
        }
    }
    const std::string text = render_text(findings, "trace.bin", {});
    if (render_json(findings, {}).empty()) {
        std::abort();
    }
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        const std::string line = text.substr(at, end - at);
        if (printable(line) != line) {
            std::abort();
        }
        at = end + 1;
    }
    return 0;
}
