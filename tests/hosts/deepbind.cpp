// Opens a library with RTLD_DEEPBIND: it calls the runtime past every preloaded library, and is seen at the driver's
// level.
#include "tests/hosts/host.hpp"

int main(int argc, char** argv) {
    int count = 0;
    host::must("cudaGetDeviceCount", cudaGetDeviceCount(&count));
    void* library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND) : nullptr;
    if (library == nullptr) {
        std::printf("no library\n");
        return 3;
    }
    std::printf("launched %d\n", host::find<int (*)()>(library, "launch_from_plugin")());
    return 0;
}
