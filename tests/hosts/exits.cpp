// Ends, after five launches, in the way that is asked for:
// exits return | exit | _exit | _Exit | quick_exit | abort | kill | segfault | thread | unsynchronised | vfork
// _exit_beside: by _exit too, while another thread, which has launched once, is alive.
// vfork: a child leaves by _exit, in its parent's memory, and the parent goes on to return.
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "tests/hosts/host.hpp"

namespace {

constexpr host::Kernel kKernel{"_Z7exitingv"};

void* end_from_thread(void*) {
    std::exit(5);
}

}  // namespace

int main(int argc, char** argv) {
    const char* how = argc > 1 ? argv[1] : "";
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    host::register_kernels({&kKernel});
    for (int i = 0; i < 5; ++i) {
        host::must("launch", host::launch(kKernel));
    }
    std::printf("launched 5\n");
    std::fflush(stdout);
    if (std::strcmp(how, "unsynchronised") == 0) {
        return 0;
    }
    host::must("cudaDeviceSynchronize", cudaDeviceSynchronize());
    if (std::strcmp(how, "return") == 0) {
        return 7;
    }
    if (std::strcmp(how, "exit") == 0) {
        std::exit(7);
    }
    if (std::strcmp(how, "_exit_beside") == 0) {
        static std::atomic<bool> has_launched{false};
        std::thread([] {
            host::must("launch", host::launch(kKernel));
            has_launched = true;
            pause();
        }).detach();
        while (!has_launched) {
            std::this_thread::yield();
        }
        host::must("cudaDeviceSynchronize", cudaDeviceSynchronize());
        _exit(7);
    }
    if (std::strcmp(how, "_exit") == 0) {
        _exit(7);
    }
    if (std::strcmp(how, "_Exit") == 0) {
        std::_Exit(7);
    }
    if (std::strcmp(how, "vfork") == 0) {
        const pid_t child = vfork();
        if (child == 0) {
            _exit(9);
        }
        int status = 0;
        waitpid(child, &status, 0);
        std::printf("child %d\n", WEXITSTATUS(status));
        host::must("launch", host::launch(kKernel));
        return 7;
    }
    if (std::strcmp(how, "quick_exit") == 0) {
        std::quick_exit(7);
    }
    if (std::strcmp(how, "abort") == 0) {
        std::abort();
    }
    if (std::strcmp(how, "kill") == 0) {
        kill(getpid(), SIGKILL);
    }
    if (std::strcmp(how, "segfault") == 0) {
        volatile int* nowhere = nullptr;
        *nowhere = 1;
    }
    if (std::strcmp(how, "thread") == 0) {
        pthread_t thread;
        pthread_create(&thread, nullptr, end_from_thread, nullptr);
        pthread_join(thread, nullptr);
    }
    return 2;
}
