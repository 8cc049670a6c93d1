// Opens cuDNN by its path, with nothing in LD_LIBRARY_PATH: its sub-libraries are found beside it, by its own RUNPATH.
#include <cudnn.h>

#include "tests/hosts/host.hpp"

int main(int argc, char** argv) {
    void* cudnn = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (cudnn == nullptr) {
        std::printf("no library\n");
        return 3;
    }
    cudnnTensorDescriptor_t descriptor = nullptr;
    const auto version = host::find<decltype(&cudnnGetVersion)>(cudnn, "cudnnGetVersion");
    const auto make = host::find<decltype(&cudnnCreateTensorDescriptor)>(cudnn, "cudnnCreateTensorDescriptor");
    const auto execute = host::find<decltype(&cudnnBackendExecute)>(cudnn, "cudnnBackendExecute");
    std::printf("version %s\n", version() > 0 ? "known" : "none");
    host::say("cudnnCreateTensorDescriptor", make(&descriptor));
    host::say("cudnnBackendExecute", execute(nullptr, nullptr, nullptr));
    return 0;
}
