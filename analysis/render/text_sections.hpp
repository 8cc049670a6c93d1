// The sections of the text report, in files of their own. Each appends to `out`.
#pragma once

#include <string>

#include "analysis/passes/findings.hpp"

namespace gpuspy::analysis::text {

inline constexpr std::size_t kColumns = 100;

/// "Title" and what belongs beside it.
void heading(std::string& out, const std::string& title, const std::string& remark = "");
/// "  label          value", the value cut to the line.
void field(std::string& out, const std::string& label, const std::string& value);
/// Text broken at spaces, `indent` columns in.
void paragraph(std::string& out, const std::string& words, std::size_t indent);

void run_section(std::string& out, const Findings& findings, const std::string& trace_path);
void completeness_section(std::string& out, const Findings& findings, std::size_t top);
void times_section(std::string& out, const Findings& findings);
void verdict_section(std::string& out, const Findings& findings);
void kernel_section(std::string& out, const Findings& findings, std::size_t top);
void library_section(std::string& out, const Findings& findings, std::size_t top);
void call_section(std::string& out, const Findings& findings, std::size_t top);
void sync_section(std::string& out, const Findings& findings, std::size_t top);
void collective_section(std::string& out, const Findings& findings, std::size_t top);
void copy_section(std::string& out, const Findings& findings);
void overhead_section(std::string& out, const Findings& findings);

}  // namespace gpuspy::analysis::text
