// Calls of the driver that no preloaded library can see: by addresses that come from the C library's own dlsym.
//   unhooked mixed      launches, copies and sets, in turn with calls that can be seen
//   unhooked capture    a capture, its graph and the graph's launches
//   unhooked launches   the capture and the graph can be seen, the launches in it and those of the graph cannot
//   unhooked begin      the capture alone cannot be seen
#include <cuda.h>

#include <cstring>

#include "tests/hosts/host.hpp"

namespace {

/// One function twice: as the program is linked with it, and past everything that is preloaded.
template <class Function>
struct Both {
    Function seen;
    Function hidden;
};

void* real_dlsym() {
    for (const char* name : {"libc.so.6", "libdl.so.2"}) {
        void* library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
        if (library != nullptr && dlsym(library, "dlsym") != nullptr) {
            return dlsym(library, "dlsym");
        }
    }
    std::printf("no dlsym\n");
    std::exit(3);
}

template <class Function>
Both<Function> both(Function seen, const char* name) {
    static const auto find = reinterpret_cast<void* (*)(void*, const char*)>(real_dlsym());
    static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    return {seen, reinterpret_cast<Function>(find(driver, name))};
}

CUfunction kernel = nullptr;
CUstream stream = nullptr;
CUdeviceptr memory = 0;

void launch(decltype(&cuLaunchKernel) function, int times) {
    for (int i = 0; i < times; ++i) {
        host::must("cuLaunchKernel", function(kernel, 4, 1, 1, 64, 1, 1, 0, stream, nullptr, nullptr));
    }
}

void set_up() {
    CUcontext context = nullptr;
    CUmodule module = nullptr;
    host::must("cuInit", cuInit(0));
    host::must("cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain(&context, 0));
    host::must("cuCtxSetCurrent", cuCtxSetCurrent(context));
    host::must("cuModuleLoadData", cuModuleLoadData(&module, "image"));
    host::must("cuModuleGetFunction", cuModuleGetFunction(&kernel, module, "hidden"));
    host::must("cuStreamCreate", cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    host::must("cuMemAlloc", both(&cuMemAlloc_v2, "cuMemAlloc_v2").hidden(&memory, 4096));
}

void mix() {
    const auto launches = both(&cuLaunchKernel, "cuLaunchKernel");
    const auto sets = both(&cuMemsetD8Async, "cuMemsetD8Async");
    const auto copies = both(&cuMemcpyDtoDAsync_v2, "cuMemcpyDtoDAsync_v2");
    for (int i = 0; i < 3; ++i) {
        launch(launches.seen, 1);
        launch(launches.hidden, 2);
        host::must("set", sets.seen(memory, 1, 100, stream));
        host::must("set", sets.hidden(memory, 1, 100, stream));
        host::must("copy", copies.seen(memory + 1024, memory, 10, stream));
        host::must("copy", copies.hidden(memory + 1024, memory, 10, stream));
    }
    host::say("a launch of nothing", launches.hidden(kernel, 0, 1, 1, 64, 1, 1, 0, stream, nullptr, nullptr));
}

/// Three launches and a set into a graph, which runs twice. Each of its four parts is seen or hidden.
void capture(bool see_capture, bool see_launches, bool see_graph, bool see_replay) {
    const auto begin = both(&cuStreamBeginCapture_v2, "cuStreamBeginCapture_v2");
    const auto end = both(&cuStreamEndCapture, "cuStreamEndCapture");
    const auto launches = both(&cuLaunchKernel, "cuLaunchKernel");
    const auto sets = both(&cuMemsetD8Async, "cuMemsetD8Async");
    const auto instantiate = both(&cuGraphInstantiateWithFlags, "cuGraphInstantiateWithFlags");
    const auto replay = both(&cuGraphLaunch, "cuGraphLaunch");
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    launch(launches.seen, 1);
    host::must("begin", (see_capture ? begin.seen : begin.hidden)(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    launch(see_launches ? launches.seen : launches.hidden, 3);
    host::must("set", (see_launches ? sets.seen : sets.hidden)(memory, 1, 100, stream));
    host::must("end", (see_capture ? end.seen : end.hidden)(stream, &graph));
    host::must("instantiate", (see_graph ? instantiate.seen : instantiate.hidden)(&exec, graph, 0));
    for (int i = 0; i < 2; ++i) {
        host::must("replay", (see_replay ? replay.seen : replay.hidden)(exec, stream));
    }
    launch(launches.hidden, 1);
}

}  // namespace

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "";
    set_up();
    if (std::strcmp(what, "mixed") == 0) {
        mix();
    } else if (std::strcmp(what, "capture") == 0) {
        capture(false, false, false, false);
    } else if (std::strcmp(what, "launches") == 0) {
        capture(true, false, true, false);
    } else if (std::strcmp(what, "begin") == 0) {
        capture(false, true, true, true);
    } else {
        return 2;
    }
    host::must("cuStreamSynchronize", cuStreamSynchronize(stream));
    std::printf("done %s\n", what);
    return 0;
}
