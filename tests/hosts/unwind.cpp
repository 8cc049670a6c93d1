// Leaves hooked calls in ways that do not return: unwind cancel | longjmp | exception | thread_exit
#include <pthread.h>
#include <setjmp.h>

#include <cstring>
#include <stdexcept>

#include "tests/hosts/host.hpp"

namespace {

constexpr host::Kernel kKernel{"_Z6unwindv"};

jmp_buf back;

void launch_twice() {
    host::must("launch", host::launch(kKernel));
    host::must("launch", host::launch(kKernel));
}

/// Waits in a synchronisation that lasts for ever (the kernel does), until it is cancelled.
void* wait_for_ever(void*) {
    launch_twice();
    host::set_duration(kKernel.name, 3'600'000'000'000);
    host::must("launch", host::launch(kKernel));
    cudaStreamSynchronize(nullptr);
    std::printf("not reached\n");
    return nullptr;
}

void cancel() {
    pthread_t thread;
    void* result = nullptr;
    pthread_create(&thread, nullptr, wait_for_ever, nullptr);
    timespec pause{0, 100'000'000};
    nanosleep(&pause, nullptr);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    std::printf("cancelled: %s\n", result == PTHREAD_CANCELED ? "yes" : "no");
}

/// Calls a function from within cudaLaunchHostFunc: the simulated driver runs it on this thread.
void from_within(cudaHostFn_t function) {
    cudaLaunchHostFunc(nullptr, function, nullptr);
}

void jump() {
    if (setjmp(back) == 0) {
        from_within([](void*) { longjmp(back, 1); });
        std::printf("not reached\n");
    }
}

void* exit_thread(void*) {
    from_within([](void*) { pthread_exit(nullptr); });
    return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
    const char* how = argc > 1 ? argv[1] : "";
    host::register_kernels({&kKernel});
    launch_twice();
    if (std::strcmp(how, "cancel") == 0) {
        cancel();
        return 0;
    }
    if (std::strcmp(how, "longjmp") == 0) {
        static int jumps = 0;  // Static, since a jump leaves automatic variables undefined.
        for (jumps = 0; jumps < 100; ++jumps) {
            jump();
        }
    } else if (std::strcmp(how, "exception") == 0) {
        try {
            from_within([](void*) { throw std::runtime_error("through the call"); });
        } catch (const std::runtime_error& error) {
            std::printf("caught: %s\n", error.what());
        }
    } else if (std::strcmp(how, "thread_exit") == 0) {
        pthread_t thread;
        pthread_create(&thread, nullptr, exit_thread, nullptr);
        pthread_join(thread, nullptr);
    } else {
        return 2;
    }
    launch_twice();
    host::must("cudaDeviceSynchronize", cudaDeviceSynchronize());
    std::printf("launched 4\n");
    return 0;
}
