// Launches by functions that were looked up: launch_lookup dlsym | procaddress | newer | entrypoint | next |
// default
#include <cuda.h>
#include <cudaTypedefs.h>

#include <cstring>

#include "tests/hosts/host.hpp"

namespace {

constexpr host::Kernel kKernel{"_Z6lookupv"};

/// Functions as cuGetProcAddress gives them, for one of its flags.
struct Driver {
    PFN_cuInit_v2000 init;
    PFN_cuDevicePrimaryCtxRetain_v7000 retain;
    PFN_cuCtxSetCurrent_v4000 set_current;
    PFN_cuModuleLoadData_v2000 load;
    PFN_cuModuleGetFunction_v2000 get_function;
    PFN_cuLaunchKernel_v4000 launch;
    PFN_cuStreamSynchronize_v2000 synchronize;
    PFN_cuCtxSynchronize_v13000 synchronize_context;
};

void run(const Driver& driver, const char* name) {
    CUcontext context = nullptr;
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    host::must("cuInit", driver.init(0));
    host::must("cuDevicePrimaryCtxRetain", driver.retain(&context, 0));
    host::must("cuCtxSetCurrent", driver.set_current(context));
    host::must("cuModuleLoadData", driver.load(&module, "image"));
    host::must("cuModuleGetFunction", driver.get_function(&function, module, name));
    for (int i = 0; i < 2; ++i) {
        host::must("cuLaunchKernel", driver.launch(function, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr));
    }
    host::must("cuStreamSynchronize", driver.synchronize(nullptr));
    host::must("cuCtxSynchronize", driver.synchronize_context(nullptr));
}

template <class Get>
Driver fetch(Get&& get) {
    Driver driver{};
    get("cuInit", reinterpret_cast<void**>(&driver.init));
    get("cuDevicePrimaryCtxRetain", reinterpret_cast<void**>(&driver.retain));
    get("cuCtxSetCurrent", reinterpret_cast<void**>(&driver.set_current));
    get("cuModuleLoadData", reinterpret_cast<void**>(&driver.load));
    get("cuModuleGetFunction", reinterpret_cast<void**>(&driver.get_function));
    get("cuLaunchKernel", reinterpret_cast<void**>(&driver.launch));
    get("cuStreamSynchronize", reinterpret_cast<void**>(&driver.synchronize));
    get("cuCtxSynchronize", reinterpret_cast<void**>(&driver.synchronize_context));
    return driver;
}

void by_dlsym() {
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    Driver driver = fetch([library](const char* name, void** out) { *out = host::find<void*>(library, name); });
    driver.synchronize_context = host::find<PFN_cuCtxSynchronize_v13000>(library, "cuCtxSynchronize_v2");
    run(driver, "by_dlsym");
    dlerror();
    std::printf("missing: %s\n", dlsym(library, "cuNoSuchFunction") == nullptr ? "null" : "found");
    std::printf("error: %s\n", dlerror() != nullptr ? "told" : "none");
}

void by_proc_address() {
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    const auto old_form = host::find<PFN_cuGetProcAddress_v11030>(library, "cuGetProcAddress");
    const auto new_form = host::find<PFN_cuGetProcAddress_v12000>(library, "cuGetProcAddress_v2");
    for (const cuuint64_t flags : {0U, 1U, 2U}) {
        run(fetch([&](const char* name, void** out) { host::must(name, old_form(name, out, 13000, flags)); }),
            "by_old_form");
        run(fetch([&](const char* name, void** out) {
                CUdriverProcAddressQueryResult status;
                host::must(name, new_form(name, out, 13000, flags, &status));
            }),
            "by_new_form");
    }
    // What the driver gives for a name that it gives again; a name with no exported symbol; none at all; an old
    // version.
    PFN_cuGetProcAddress_v12000 again = nullptr;
    host::must("again", new_form("cuGetProcAddress", reinterpret_cast<void**>(&again), 13000, 0, nullptr));
    run(fetch([&](const char* name, void** out) { host::must(name, again(name, out, 13000, 0, nullptr)); }),
        "by_again");
    int (*unexported)(int*) = nullptr;
    int answer = 0;
    host::say("unexported", new_form("cuSimUnexported", reinterpret_cast<void**>(&unexported), 13000, 0, nullptr));
    if (unexported != nullptr) {
        unexported(&answer);
    }
    std::printf("answer: %d\n", answer);
    void* nothing = &answer;
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    host::say("none", new_form("cuNoSuchFunction", &nothing, 13000, 0, &status));
    std::printf("status %d, pointer %s\n", static_cast<int>(status), nothing == nullptr ? "null" : "set");
    host::say("too old", new_form("cuLaunchKernelEx", &nothing, 11000, 0, &status));
    std::printf("status %d, pointer %s\n", static_cast<int>(status), nothing == nullptr ? "null" : "set");
}

/// Asks for what a driver of CUDA 14 has, and for names that it does not have.
void by_newer_version() {
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    const auto get = host::find<PFN_cuGetProcAddress_v12000>(library, "cuGetProcAddress_v2");
    for (const int version : {13000, 14000}) {
        run(fetch([&](const char* name, void** out) { host::must(name, get(name, out, version, 0, nullptr)); }),
            version == 14000 ? "by_newer" : "by_known");
    }
    void* nothing = &library;
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    host::say("none", get("cuLaunchKernelOfTomorrow", &nothing, 14000, 0, &status));
    std::printf("status %d, pointer %s\n", static_cast<int>(status), nothing == nullptr ? "null" : "set");
    host::say("no name", get(nullptr, &nothing, 14000, 0, &status));
    host::say("no pointer", get("cuInit", nullptr, 14000, 0, &status));
}

void by_entry_point() {
    for (const unsigned long long flags : {0U, 1U, 2U}) {
        run(fetch([&](const char* name, void** out) {
                cudaDriverEntryPointQueryResult status;
                host::must(name, cudaGetDriverEntryPointByVersion(name, out, 13000, flags, &status));
            }),
            "by_entry_point");
    }
    void* nothing = nullptr;
    cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSuccess;
    host::say("none", cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &nothing, 13000, 0, &status));
    std::printf("status %d, pointer %s\n", static_cast<int>(status), nothing == nullptr ? "null" : "set");
    host::say("last error", cudaGetLastError());
}

/// The runtime's functions, looked up in one of the pseudo handles.
void by_pseudo_handle(void* handle) {
    const auto launch = host::find<decltype(&cudaLaunchKernel)>(handle, "cudaLaunchKernel");
    const auto synchronize = host::find<decltype(&cudaDeviceSynchronize)>(handle, "cudaDeviceSynchronize");
    host::register_kernels({&kKernel});
    for (int i = 0; i < 2; ++i) {
        host::must("cudaLaunchKernel", launch(kKernel.function(), dim3(1), dim3(32), nullptr, 0, nullptr));
    }
    host::must("cudaDeviceSynchronize", synchronize());
}

}  // namespace

int main(int argc, char** argv) {
    const char* route = argc > 1 ? argv[1] : "";
    if (std::strcmp(route, "dlsym") == 0) {
        by_dlsym();
    } else if (std::strcmp(route, "procaddress") == 0) {
        by_proc_address();
    } else if (std::strcmp(route, "newer") == 0) {
        by_newer_version();
    } else if (std::strcmp(route, "entrypoint") == 0) {
        by_entry_point();
    } else if (std::strcmp(route, "next") == 0) {
        by_pseudo_handle(RTLD_NEXT);
    } else if (std::strcmp(route, "default") == 0) {
        by_pseudo_handle(RTLD_DEFAULT);
    } else {
        return 2;
    }
    std::printf("done %s\n", route);
    return 0;
}
