// Which libcupti the library would take in a program: the same places, in the same order, as interpose/device/cupti_api.cpp
// looks in (tests/integration/test_check.py compares the two).
#pragma once

#include <functional>
#include <string>

#include "collector/run/cuda_link.hpp"

namespace gpuspy::run {

struct CuptiPlace {
    std::string path;  ///< "": none was found.
    std::string how;   ///< Where it was found, or what is wrong and what to do.
};

/// `variable(name)`: the environment, "" for what is not set.
CuptiPlace find_cupti(const CudaLink& link, const LibrarySearch& search,
                      const std::function<std::string(const char* name)>& variable);

}  // namespace gpuspy::run
