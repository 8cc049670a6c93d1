// libcudnn.so.9: finds the functions of the same names in its sub-libraries by dlsym, at their first use, and forwards.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "tests/fakes/cudnn/functions.hpp"

namespace {

void* find(const char* library, const char* name) {
    void* handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
    void* function = handle != nullptr ? dlsym(handle, name) : nullptr;
    if (function == nullptr) {
        std::fprintf(stderr, "Could not load library %s or symbol %s\n", library, name);
        std::abort();
    }
    return function;
}

}  // namespace

// clang-format off
#define SIM_FORWARD(library, result, name, PARAMETERS, ARGUMENTS)                                                        \
    extern "C" result CUDNNWINAPI name PARAMETERS {                                                                      \
        static const auto real = reinterpret_cast<decltype(&name)>(find(library, #name));                                \
        return real ARGUMENTS;                                                                                           \
    }
#define SIM_FORWARD_GRAPH(...) SIM_FORWARD("libcudnn_graph.so.9", __VA_ARGS__)
#define SIM_FORWARD_CNN(...) SIM_FORWARD("libcudnn_cnn.so.9", __VA_ARGS__)
#define SIM_FORWARD_ADV(...) SIM_FORWARD("libcudnn_adv.so.9", __VA_ARGS__)
#define SIM_FORWARD_OPS(...) SIM_FORWARD("libcudnn_ops.so.9", __VA_ARGS__)
// clang-format on

SIM_CUDNN_GRAPH(SIM_FORWARD_GRAPH)
SIM_CUDNN_CNN(SIM_FORWARD_CNN)
SIM_CUDNN_ADV(SIM_FORWARD_ADV)
SIM_CUDNN_OPS(SIM_FORWARD_OPS)
