// A verdict in words.
#pragma once

#include <string>

#include "analysis/passes/verdict.hpp"

namespace gpuspy::analysis {

/// One or two sentences: what bounds the run, the numbers that say so, what helps.
std::string verdict_text(const Verdict& verdict);

}  // namespace gpuspy::analysis
