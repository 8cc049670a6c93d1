#include "collector/run/cuda_link.hpp"

#include <algorithm>
#include <cstdlib>

namespace gpuspy::run {

namespace {

constexpr const char* kCudaLibraries[] = {
    "libcuda",     "libcudart",    "libcublas", "libcublasLt", "libcudnn",      "libcufft",     "libcurand",
    "libcusolver", "libcusparse",  "libcupti",  "libcutensor", "libcufile",     "libnccl",      "libnvrtc",
    "libnvinfer",  "libnvJitLink", "libnvjpeg", "libnpp",      "libnvToolsExt", "libnvidia-ml", "libnvshmem",
};

/// Of the runtime's own text of errors: in a file that carries the runtime inside, with the name of the driver that it opens.
constexpr const char* kCudartMark = "cudaErrorCudartUnloading";
constexpr const char* kDriver = "libcuda.so.1";
constexpr int kOldestMajor = 10;
constexpr int kNewestMajor = 15;

std::string cudart_soname(int major) {
    // Up to 11 the soname had the minor version in it.
    return major == 10   ? "libcudart.so.10.2"
           : major == 11 ? "libcudart.so.11.0"
                         : "libcudart.so." + std::to_string(major);
}

void look_into(const std::string& path, bool needs_driver, CudaLink* link) {
    const FileBytes file(path);
    if (file.error() != 0) {
        return;
    }
    std::vector<std::string> texts = {kCudartMark, kDriver};
    for (int major = kOldestMajor; major <= kNewestMajor; ++major) {
        texts.push_back(cudart_soname(major));
    }
    const std::vector<bool> found = file.find_texts(texts);
    if ((found[0] && found[1]) || defines_function(file, {"cudaLaunchKernel"})) {
        link->static_cudart.push_back(path);
        return;
    }
    const auto add = [&](const std::string& name) {
        if (std::find(link->opens_at_runtime.begin(), link->opens_at_runtime.end(), name) ==
            link->opens_at_runtime.end()) {
            link->opens_at_runtime.push_back(name);
        }
    };
    if (found[1] && !needs_driver) {
        add(kDriver);
    }
    for (std::size_t i = 2; i < texts.size(); ++i) {
        if (found[i] && (link->cudart == nullptr || link->cudart->name != texts[i])) {
            add(texts[i]);
        }
    }
}

}  // namespace

bool is_cuda_library(const std::string& soname) {
    // Parts of a library and names that a wheel made its own count too: libcudnn_ops.so.9, libcudart-1a2b3c4d.so.13.
    return std::any_of(std::begin(kCudaLibraries), std::end(kCudaLibraries), [&](const std::string& library) {
        if (soname.rfind(library, 0) != 0) {
            return false;
        }
        const char next = soname.size() > library.size() ? soname[library.size()] : '\0';
        return next == '.' || next == '_' || next == '-' || library == "libnpp";
    });
}

int major_of(const std::string& soname, const std::string& library) {
    const std::string prefix = library + ".so.";
    return soname.rfind(prefix, 0) == 0 ? std::atoi(soname.c_str() + prefix.size()) : 0;
}

bool CudaLink::is_none() const {
    return libraries.empty() && static_cudart.empty() && opens_at_runtime.empty();
}

CudaLink find_cuda_link(const std::string& program, const std::vector<NeededLibrary>& needed) {
    CudaLink link;
    for (const NeededLibrary& library : needed) {
        if (is_cuda_library(library.name)) {
            link.libraries.push_back(library);
        }
    }
    for (const NeededLibrary& library : link.libraries) {
        if (link.cudart == nullptr && library.name.rfind("libcudart", 0) == 0) {
            link.cudart = &library;
        }
        if (library.name == kDriver) {
            link.driver = &library;
        }
    }
    look_into(program, link.driver != nullptr, &link);
    for (const NeededLibrary& library : needed) {
        if (!library.path.empty() && !is_cuda_library(library.name)) {
            look_into(library.path, link.driver != nullptr, &link);
        }
    }
    return link;
}

}  // namespace gpuspy::run
