// Launches until it is ended: long_run LOG [COUNT HOW]. One byte goes to LOG after each launch that returned, so
// whoever ends it knows how many there were. With COUNT it ends itself after so many: HOW is _exit or abort.
#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cstring>

#include "tests/hosts/host.hpp"

namespace {
constexpr host::Kernel kKernel{"_Z8long_runv"};
}

int main(int argc, char** argv) {
    if (argc < 2) {
        return 2;
    }
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    const int log = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    const long count = argc > 2 ? std::atol(argv[2]) : 0;
    host::register_kernels({&kKernel});
    for (long done = 0; count == 0 || done < count; ++done) {
        host::must("launch", host::launch(kKernel));
        if (write(log, ".", 1) != 1) {
            return 4;
        }
        if (count == 0) {
            const timespec pause{0, 20'000};
            nanosleep(&pause, nullptr);
        }
        if (done % 16 == 15) {
            host::must("cudaDeviceSynchronize", cudaDeviceSynchronize());
        }
    }
    if (argc > 3 && std::strcmp(argv[3], "return") == 0) {
        return 0;
    }
    if (argc > 3 && std::strcmp(argv[3], "abort") == 0) {
        std::abort();
    }
    _exit(0);
}
