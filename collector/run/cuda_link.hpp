// How a program is linked to CUDA, told from its file and those of its libraries.
#pragma once

#include <string>
#include <vector>

#include "collector/run/library_search.hpp"

namespace gpuspy::run {

/// Whether a soname is one of CUDA's own libraries (libcudart.so.13, libcudnn.so.9, libnccl.so.2 ...).
bool is_cuda_library(const std::string& soname);

/// The number in "libcudart.so.13"; 0: another library, or one without a number.
int major_of(const std::string& soname, const std::string& library);

struct CudaLink {
    std::vector<NeededLibrary> libraries;    ///< CUDA's own among what is needed.
    const NeededLibrary* cudart = nullptr;   ///< The shared runtime, of `libraries`.
    const NeededLibrary* driver = nullptr;   ///< libcuda.so.1, of `libraries`.
    std::vector<std::string> static_cudart;  ///< Files that carry a runtime inside.
    std::vector<std::string>
        opens_at_runtime;  ///< Names of cudart or the driver that stand in files which do not need them.

    CudaLink() = default;
    CudaLink(const CudaLink&) = delete;  // Pointers into itself.
    CudaLink& operator=(const CudaLink&) = delete;
    CudaLink(CudaLink&&) = default;
    CudaLink& operator=(CudaLink&&) = default;

    [[nodiscard]] bool is_none() const;
};

/// Reads the program's file and those of the libraries that are not CUDA's own.
CudaLink find_cuda_link(const std::string& program, const std::vector<NeededLibrary>& needed);

}  // namespace gpuspy::run
