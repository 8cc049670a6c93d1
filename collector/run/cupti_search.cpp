#include "collector/run/cupti_search.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

namespace gpuspy::run {

namespace fs = std::filesystem;

namespace {

constexpr int kOldestMajor = 10;
/// Without a shared cudart the driver's version decides, which no file says: the newest one that is there is named.
constexpr int kNewestMajor = 19;

std::string folder_of(const NeededLibrary* library) {
    return library == nullptr || library->path.empty() ? "" : fs::path(library->path).parent_path().string();
}

bool is_readable(const std::string& path) {
    return access(path.c_str(), R_OK) == 0;
}

struct Place {
    std::string folder;
    std::string how;
};

}  // namespace

CuptiPlace find_cupti(const CudaLink& link, const LibrarySearch& search,
                      const std::function<std::string(const char* name)>& variable) {
    if (const std::string wanted = variable("GPUSPY_CUPTI"); !wanted.empty()) {
        if (is_readable(wanted)) {
            return {wanted, "named by GPUSPY_CUPTI"};
        }
        return {"", fmt::format("GPUSPY_CUPTI={} cannot be read; correct or unset it", wanted)};
    }
    const int cudart_major = link.cudart != nullptr ? major_of(link.cudart->name, "libcudart") : 0;
    for (const NeededLibrary& library : link.libraries) {
        const int major = major_of(library.name, "libcupti");
        if (major != 0 && !library.path.empty() && (cudart_major == 0 || major == cudart_major)) {
            return {library.path, "the program's own"};
        }
    }
    const std::string driver =
        link.driver != nullptr ? folder_of(link.driver) : fs::path(search.find("libcuda.so.1")).parent_path().string();
    std::vector<Place> places;
    if (const std::string cudart = folder_of(link.cudart); cudart_major != 0 && !cudart.empty()) {
        for (const char* below :
             {"", "/../../cuda_cupti/lib", "/../extras/CUPTI/lib64", "/../../../extras/CUPTI/lib64"}) {
            places.push_back({cudart + below, "beside cudart"});
        }
    }
    places.push_back({driver, "beside the driver"});
    for (const auto& [root, how] : {std::pair<std::string, const char*>{variable("CUDA_HOME"), "in CUDA_HOME"},
                                    {variable("CUDA_PATH"), "in CUDA_PATH"},
                                    {"/usr/local/cuda", "in /usr/local/cuda"}}) {
        for (const char* below : {"/extras/CUPTI/lib64", "/lib64", "/lib"}) {
            places.push_back({root.empty() ? "" : root + below, how});
        }
    }
    for (int major = cudart_major != 0 ? cudart_major : kNewestMajor; major >= kOldestMajor; --major) {
        const std::string name = fmt::format("libcupti.so.{}", major);
        for (const Place& place : places) {
            if (!place.folder.empty() && is_readable(place.folder + "/" + name)) {
                return {place.folder + "/" + name, place.how};
            }
        }
        if (const std::string path = search.find(name); !path.empty()) {
            return {path, "in the loader's path"};
        }
    }
    return {"",
            "no libcupti was found beside cudart, in CUDA_HOME, /usr/local/cuda or the loader's path: host calls "
            "alone; install CUDA's CUPTI or set GPUSPY_CUPTI"};
}

}  // namespace gpuspy::run
