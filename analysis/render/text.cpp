#include "analysis/render/text.hpp"

#include <fmt/format.h>

#include <limits>

#include "analysis/render/display_text.hpp"
#include "analysis/render/text_sections.hpp"

namespace gpuspy::analysis {
namespace text {

void heading(std::string& out, const std::string& title, const std::string& remark) {
    out += "\n" + title;
    if (!remark.empty()) {
        out += "  (" + remark + ")";
    }
    out += "\n";
}

void field(std::string& out, const std::string& label, const std::string& value) {
    constexpr std::size_t kLabelColumns = 16;
    out +=
        fmt::format("  {:<{}}{}\n", label, kLabelColumns, cut_middle(printable(value), kColumns - kLabelColumns - 2));
}

void paragraph(std::string& out, const std::string& words, std::size_t indent) {
    const std::string safe = printable(words);
    std::size_t column = 0;
    std::size_t at = 0;
    while (at < safe.size()) {
        std::size_t space = safe.find(' ', at);
        while (space != std::string::npos && space + 1 < safe.size() && safe[space + 1] == '%') {
            space = safe.find(' ', space + 1);  // A per cent sign stays with its number.
        }
        space = std::min(space, safe.size());
        const std::string word = cut_middle(safe.substr(at, space - at), kColumns - indent);
        if (column == 0) {
            out += std::string(indent, ' ');
            column = indent;
        } else if (column + 1 + word.size() > kColumns) {
            out += "\n" + std::string(indent, ' ');
            column = indent;
        } else {
            out += ' ';
            ++column;
        }
        out += word;
        column += word.size();
        at = space + 1;
    }
    out += "\n";
}

}  // namespace text

std::string render_text(const Findings& findings, const std::string& trace_path, const TextOptions& options) {
    const std::size_t top = options.top == 0 ? std::numeric_limits<std::size_t>::max() : options.top;
    std::string out;
    text::run_section(out, findings, trace_path);
    text::completeness_section(out, findings, top);
    text::times_section(out, findings);
    text::verdict_section(out, findings);
    text::kernel_section(out, findings, top);
    text::library_section(out, findings, top);
    text::call_section(out, findings, top);
    text::sync_section(out, findings, top);
    text::collective_section(out, findings, options.top);
    text::copy_section(out, findings);
    text::overhead_section(out, findings);
    return out;
}

}  // namespace gpuspy::analysis
