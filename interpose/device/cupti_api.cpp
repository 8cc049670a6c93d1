#include "interpose/device/cupti_api.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "interpose/device/cupti_host.hpp"
#include "interpose/lifecycle/config.hpp"
#include "interpose/lifecycle/glibc.hpp"
#include "interpose/resolve/driver_api.hpp"
#include "interpose/resolve/elf.hpp"
#include "interpose/resolve/originals.hpp"

namespace gpuspy::hook {
namespace {

constexpr int kOldestMajor = 10;

/// What is loaded of CUDA.
struct Loaded {
    char cudart_folder[1024] = {};
    int cudart_major = 0;
    char driver_folder[1024] = {};
    char cupti_path[1024] = {};
    int cupti_major = 0;
};

/// The number after "lib<name>.so.", 0 if there is none.
int major_of(const char* soname, const char* prefix) noexcept {
    const std::size_t length = strlen(prefix);
    return strncmp(soname, prefix, length) == 0 ? atoi(soname + length) : 0;
}

void copy_folder(char (&folder)[1024], const char* path) noexcept {
    snprintf(folder, sizeof folder, "%s", path);
    char* slash = strrchr(folder, '/');
    if (slash != nullptr) *slash = 0;
}

bool visit_loaded(void* context, const elf::Object& object) noexcept {
    auto* loaded = static_cast<Loaded*>(context);
    const char* name = elf::soname(object);
    if (loaded->cudart_major == 0 && (loaded->cudart_major = major_of(name, "libcudart.so.")) != 0) {
        copy_folder(loaded->cudart_folder, object.path);
    }
    if (strcmp(name, "libcuda.so.1") == 0) copy_folder(loaded->driver_folder, object.path);
    const int cupti = major_of(name, "libcupti.so.");
    if (cupti > loaded->cupti_major) {
        loaded->cupti_major = cupti;
        snprintf(loaded->cupti_path, sizeof loaded->cupti_path, "%s", object.path);
    }
    return false;
}

bool fill(CuptiApi& api, void* handle, const char* path) noexcept {
    // Any function of it tells which object the handle is.
    elf::Object object;
    link_map* map = nullptr;
    if (gpuspy_dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !elf::find_object(map->l_ld, &object)) return false;
#define GPUSPY_FIND(member, symbol) \
    api.member = reinterpret_cast<decltype(api.member)>(elf::find_symbol(object, #symbol));
#define GPUSPY_REQUIRE(member, symbol) \
    GPUSPY_FIND(member, symbol)        \
    if (api.member == nullptr) return false;
    GPUSPY_CUPTI_FUNCTIONS(GPUSPY_REQUIRE)
    GPUSPY_CUPTI_OPTIONAL_FUNCTIONS(GPUSPY_FIND)
#undef GPUSPY_REQUIRE
#undef GPUSPY_FIND
    snprintf(api.path, sizeof api.path, "%s", map->l_name[0] != 0 ? map->l_name : path);
    return api.get_version(&api.version) == CUPTI_SUCCESS;
}

bool try_path(CuptiApi& api, const char* path) noexcept {
    void* handle = gpuspy_dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    return handle != nullptr && fill(api, handle, path);
}

// Up to CUDA 11 the file's name has the minor version too, 11.8 being the last one.
constexpr int kLastWithMinor = 11;
constexpr int kNewestMinor = 8;

bool try_in(CuptiApi& api, const char* folder, const char* below, int major) noexcept {
    if (folder == nullptr || *folder == 0) return false;
    char path[1400];
    snprintf(path, sizeof path, "%s%s/libcupti.so.%d", folder, below, major);
    if (access(path, R_OK) == 0 && try_path(api, path)) return true;
    for (int minor = kNewestMinor; major <= kLastWithMinor && minor >= 0; --minor) {
        snprintf(path, sizeof path, "%s%s/libcupti.so.%d.%d", folder, below, major, minor);
        if (access(path, R_OK) == 0 && try_path(api, path)) return true;
    }
    return false;
}

bool try_major(CuptiApi& api, const Loaded& loaded, int major) noexcept {
    // Beside cudart: the same folder (wheels of CUDA 13), the wheels' own folder (12 and before), a toolkit's extras.
    for (const char* below : {"", "/../../cuda_cupti/lib", "/../extras/CUPTI/lib64", "/../../../extras/CUPTI/lib64"}) {
        if (try_in(api, loaded.cudart_folder, below, major)) return true;
    }
    // Beside the driver: a simulated one has its own CUPTI, whatever CUDA_HOME says.
    if (try_in(api, loaded.driver_folder, "", major)) return true;
    for (const char* root : {static_cast<const char*>(getenv("CUDA_HOME")),
                             static_cast<const char*>(getenv("CUDA_PATH")), "/usr/local/cuda"}) {
        for (const char* below : {"/extras/CUPTI/lib64", "/lib64", "/lib"}) {
            if (try_in(api, root, below, major)) return true;
        }
    }
    char name[48];
    snprintf(name, sizeof name, "libcupti.so.%d", major);
    if (try_path(api, name)) return true;
    for (int minor = kNewestMinor; major <= kLastWithMinor && minor >= 0; --minor) {
        snprintf(name, sizeof name, "libcupti.so.%d.%d", major, minor);
        if (try_path(api, name)) return true;
    }
    return false;
}

}  // namespace

bool load_cupti(CuptiApi& api, char* reason, std::size_t reason_bytes) noexcept {
    if (const char* wanted = config().cupti; *wanted != 0) {
        if (try_path(api, wanted)) return true;
        snprintf(reason, reason_bytes, "GPUSPY_CUPTI=%s cannot be loaded or is not CUPTI", wanted);
        return false;
    }
    if (shared_copy_path()[0] != 0 && try_path(api, shared_copy_path())) return true;
    Loaded loaded;
    elf::for_each_object(visit_loaded, &loaded);
    const int driver_major = driver_version() / 1000;
    const int wanted = loaded.cudart_major != 0 ? loaded.cudart_major : driver_major;
    // A loaded one of another major than the program's cudart belongs to something else (Triton brings its own).
    if (loaded.cupti_major != 0 && (wanted == 0 || loaded.cupti_major == wanted) && try_path(api, loaded.cupti_path)) {
        return true;
    }
    for (int major = wanted; major >= kOldestMajor; --major) {
        if (try_major(api, loaded, major)) return true;
    }
    // A program that brings its older cudart, where the toolkit is as new as the driver: CUPTI speaks to the driver.
    for (int major = driver_major; major > wanted; --major) {
        if (try_major(api, loaded, major)) return true;
    }
    if (loaded.cupti_major != 0 && try_path(api, loaded.cupti_path)) return true;
    snprintf(reason, reason_bytes,
             "no libcupti.so.%d found beside cudart (%s), in CUDA_HOME, /usr/local/cuda or the loader's path; set "
             "GPUSPY_CUPTI",
             wanted, loaded.cudart_folder[0] != 0 ? loaded.cudart_folder : "linked statically");
    return false;
}

}  // namespace gpuspy::hook
