#include "interpose/device/cupti_host.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "collector/ring/clock.hpp"

#include "interpose/lifecycle/config.hpp"
#include "interpose/lifecycle/glibc.hpp"
#include "interpose/record/thread.hpp"
#include "interpose/resolve/elf.hpp"
#include "interpose/resolve/real_dl.hpp"
#include "interpose/resolve/tools.hpp"

namespace gpuspy::hook {
namespace {

/// Written once by the thread that claims it.
struct Once {
    std::atomic<bool> is_claimed;
    std::atomic<bool> is_set;
};

constinit Once holder_once{};
constinit char holder[128] = {};
constinit Once copy_once{};
constinit std::uintptr_t copy_begin = 0;
constinit char copy_path[1024] = {};

bool claim(Once& once) noexcept {
    return !once.is_claimed.load(std::memory_order_relaxed) &&
           !once.is_claimed.exchange(true, std::memory_order_relaxed);
}

void name_holder(const elf::Object& object) noexcept {
    if (!claim(holder_once)) return;
    const char* name = elf::soname(object);
    snprintf(holder, sizeof holder, "%s", name[0] != 0 ? name : "the program");
    holder_once.is_set.store(true, std::memory_order_release);
}

}  // namespace

bool is_hosts_cupti_call(const void* caller) noexcept {
    if (thread_local_state.inside_gpuspy || config().disabled || !config().device_timing) return false;
    elf::Object object;
    if (!elf::find_object(caller, &object)) return true;  // generated code
    if (is_tool(object)) return false;
    name_holder(object);
    return true;
}

bool is_shared_copy(const void* function) noexcept {
    elf::Object object;
    if (!elf::find_object(function, &object)) return false;
    if (claim(copy_once)) {
        copy_begin = object.begin;
        snprintf(copy_path, sizeof copy_path, "%s", object.path);
        copy_once.is_set.store(true, std::memory_order_release);
    }
    while (!copy_once.is_set.load(std::memory_order_acquire)) ring::spin_pause();  // two lines of another thread's
    // Closed and loaded again it may lie elsewhere.
    return copy_begin == object.begin || strcmp(copy_path, object.path) == 0;
}

const char* shared_copy_path() noexcept {
    return copy_once.is_set.load(std::memory_order_acquire) ? copy_path : "";
}

void keep_loaded(const void* callback) noexcept {
    elf::Object object;
    if (!elf::find_object(callback, &object) || object.path[0] == 0) return;
    const InsideGpuspy inside;
    if (gpuspy_dlopen(object.path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) == nullptr) real_dl().dlerror();
}

const char* cupti_holder() noexcept {
    return holder_once.is_set.load(std::memory_order_acquire) ? holder : "";
}

}  // namespace gpuspy::hook
