#include "tests/fakes/cupti/driver.hpp"

#include <dlfcn.h>

#include "tests/fakes/cupti/activity.hpp"
#include "tests/fakes/cupti/callback.hpp"

namespace sim::cupti {
namespace {

template <class Function>
bool find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
}

const Driver* load() {
    static Driver found;
    void* library = dlopen("libcuda.so.1", RTLD_NOW);
    const bool whole =
        library != nullptr && find(library, "sim_set_tracer", found.set_tracer) &&
        find(library, "sim_has_context", found.has_context) && find(library, "sim_graph_id", found.graph_id) &&
        find(library, "sim_graph_exec_id", found.graph_exec_id) &&
        find(library, "sim_graph_node_id", found.graph_node_id) && find(library, "sim_context_id", found.context_id) &&
        find(library, "sim_stream_id", found.stream_id) && find(library, "sim_now_ns", found.now_ns);
    CUresult (*initialise)(unsigned) = nullptr;
    return whole && find(library, "cuInit", initialise) && initialise(0) == CUDA_SUCCESS ? &found : nullptr;
}

constexpr Tracer kTracer = {
    .wants_call = wants_call,
    .call = take_call,
    .wants_activity = wants_activity,
    .activity = take_activity,
};

}  // namespace

const Driver* find_driver() {
    static const Driver* const driver = load();
    return driver;
}

bool attach() {
    if (find_driver() == nullptr) {
        return false;
    }
    return find_driver()->set_tracer(&kTracer);
}

void detach() {
    if (find_driver() != nullptr) {
        find_driver()->set_tracer(nullptr);
    }
}

}  // namespace sim::cupti
