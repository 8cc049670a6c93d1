// A program that exports a function under a name of the runtime's, and opens the runtime for all to see. Whoever looks the name up
// finds the program's own first.
#include "tests/hosts/dynamic.hpp"

extern "C" int cudaDeviceSynchronize() {
    return 77;
}

int main() {
    void* runtime = dlopen("libcudart.so.13", RTLD_NOW | RTLD_GLOBAL);
    if (runtime == nullptr) return 3;
    std::printf("default: %d\n", host::find<int (*)()>(RTLD_DEFAULT, "cudaDeviceSynchronize")());
    std::printf("the program's handle: %d\n",
                host::find<int (*)()>(dlopen(nullptr, RTLD_NOW), "cudaDeviceSynchronize")());
    std::printf("the runtime's handle: %d\n", host::find<int (*)()>(runtime, "cudaDeviceSynchronize")());
    return 0;
}
