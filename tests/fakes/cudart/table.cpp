#include "tests/fakes/cudart/table.hpp"

#include <dlfcn.h>

#include <algorithm>

namespace sim::runtime {
namespace {

// Per-thread default streams came with CUDA 7: an older version of a function has no such variant.
constexpr int kFirstPerThreadVersion = 7000;

struct Tables {
    bool found = false;
    Table by_binding[2];
};

template <class Function>
void fetch(PFN_cuGetProcAddress_v12000 get, const char* name, int version, Function Table::*field, Tables& tables) {
    constexpr cuuint64_t kFlags[] = {CU_GET_PROC_ADDRESS_LEGACY_STREAM, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM};
    for (int binding = 0; binding < 2; ++binding) {
        void* pointer = nullptr;
        CUdriverProcAddressQueryResult status;
        get(name, &pointer, binding == 0 ? version : std::max(version, kFirstPerThreadVersion), kFlags[binding],
            &status);
        tables.by_binding[binding].*field = reinterpret_cast<Function>(pointer);
    }
}

Tables* load() {
    auto* tables = new Tables;
    void* library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == nullptr) {
        return tables;
    }
    auto get = reinterpret_cast<PFN_cuGetProcAddress_v12000>(dlsym(library, "cuGetProcAddress_v2"));
    if (get == nullptr) {
        return tables;
    }
#define SIM_FETCH(name, version) fetch(get, #name, version, &Table::name, *tables);
    SIM_RUNTIME_DRIVER_FUNCTIONS(SIM_FETCH)
#undef SIM_FETCH
    fetch(get, "cuCtxSynchronize", SIM_CUDART_MAJOR >= 13 ? 13000 : 2000, &Table::cuCtxSynchronize, *tables);
    tables->found = true;
    return tables;
}

}  // namespace

const Table* find_table(Binding binding) {
    static Tables* const tables = load();
    return tables->found ? &tables->by_binding[static_cast<int>(binding)] : nullptr;
}

}  // namespace sim::runtime
