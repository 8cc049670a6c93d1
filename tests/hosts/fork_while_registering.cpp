// Forks again and again while another thread holds, now and then, the lock of the C library's exit handlers; each child makes one
// call. One that has not ended after some seconds is ended by its alarm.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <thread>

extern "C" int cublasSaxpy_v2(void*, int);
extern "C" int __cxa_atexit(void (*)(void*), void*, void*);
extern "C" void __cxa_finalize(void*);

int main() {
    cublasSaxpy_v2(nullptr, 1);
    std::atomic<bool> is_over{false};
    std::thread registers([&is_over] {
        static char library;
        while (!is_over) {
            for (int i = 0; i < 100; ++i) __cxa_atexit([](void*) {}, nullptr, &library);
            __cxa_finalize(&library);
        }
    });
    int ended = 0;
    for (int i = 0; i < 40; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(3);
            cublasSaxpy_v2(nullptr, 2);
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (status != 0) break;
        ++ended;
    }
    is_over = true;
    registers.join();
    std::printf("%d children ended\n", ended);
    return 0;
}
