// libFuzzer target: any bytes -> timeline, every view as text, CSV and JSON, the page, every export. Checksums are not verified, so
// that what lies behind them is reached.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "analysis/export/registry.hpp"
#include "analysis/model/build_model.hpp"
#include "analysis/passes/findings.hpp"
#include "analysis/passes/overview.hpp"
#include "analysis/render/display_text.hpp"
#include "analysis/render/html.hpp"
#include "analysis/render/json.hpp"
#include "analysis/render/overview_json.hpp"
#include "analysis/render/table_data.hpp"
#include "analysis/render/table_text.hpp"
#include "analysis/views/view.hpp"

using namespace gpuspy::analysis;

namespace {

void must(bool holds) {
    if (!holds) {
        std::abort();
    }
}

/// What a terminal shows of it: lines without control characters.
void must_be_printable(const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        const std::string line = text.substr(at, end - at);
        must(printable(line) == line);
        at = end == std::string::npos ? text.size() : end + 1;
    }
}

/// No cell that a spreadsheet takes for a formula.
void must_be_harmless(const std::string& csv) {
    bool at_start = true;
    bool quoted = false;
    for (const char c : csv) {
        if (c == '"') {
            quoted = !quoted;
            continue;  // a cell begins behind its quote
        }
        must(!at_start || (c != '=' && c != '+' && c != '@' && c != '\t' && c != '\r'));
        at_start = !quoted && (c == ',' || c == '\n');
    }
}

class Counter : public ByteSink {
public:
    bool write(std::string_view bytes) override {
        count_ += bytes.size();
        return true;
    }

private:
    std::size_t count_ = 0;
};

/// A file that goes with the process.
class ScratchFile {
public:
    ScratchFile() {
        const int file = mkstemp(path_.data());
        must(file >= 0);
        close(file);
    }
    ~ScratchFile() { unlink(path_.c_str()); }
    ScratchFile(const ScratchFile&) = delete;
    ScratchFile& operator=(const ScratchFile&) = delete;

    const std::string& path() const { return path_; }

private:
    std::string path_ = (std::filesystem::temp_directory_path() / "gpuspy-fuzz-XXXXXX").string();
};

const std::string& scratch_file() {
    static const ScratchFile file;
    return file.path();
}

void look(const Model& model) {
    for (const NameForm form : {NameForm::kFull, NameForm::kBase, NameForm::kMangled}) {
        const ViewOptions options{.names = form, .by_config = form != NameForm::kFull};
        std::vector<ViewTables> all;
        for (const View& view : views()) {
            all.push_back({view.name, view.tables({model, *model.timeline, options})});
            for (const Table& table : all.back().tables) {
                must_be_printable(render_table_text(table, {}));
                must_be_harmless(render_csv(table));
            }
        }
        must(!render_views_json(all).empty());
        const std::string lanes = render_overview_json(gpuspy::analysis::overview(model, *model.timeline), form);
        HtmlParts parts;
        parts.title = "</script><b>";
        parts.report = render_json(find_all(model), {});
        parts.views = render_views_json(all);
        parts.overview = lanes;
        const std::string page = render_html(parts);
        must(page.find("</script><b>") == std::string::npos);
    }
}

void export_all(const Model& model) {
    for (const ExportKind& kind : export_kinds()) {
        if (const auto* stream = std::get_if<StreamExport>(&kind.write)) {
            Counter sink;
            (*stream)(model, sink);
        } else {
            std::ofstream(scratch_file(), std::ios::trunc).close();
            std::get<FileExport>(kind.write)(model, scratch_file());
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const MemorySource source(std::as_bytes(std::span(data, size)));
    const auto model = build_model(source, {.reading = {.verify_checksums = false}, .timeline = true});
    if (model.ok()) {
        look(*model.value());
        export_all(*model.value());
    }
    return 0;
}
