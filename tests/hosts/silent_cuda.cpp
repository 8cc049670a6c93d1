// Driver, runtime and libraries in one, whose calls do nothing but return a status: what happens within such a call is not theirs.
#include <pthread.h>

#include <cstdlib>

#include "tests/hosts/silent_cuda.hpp"

extern "C" {

__attribute__((visibility("hidden"))) int silent_status = 0;

void silent_set_status(int status) {
    silent_status = status;
}

/// What no hook may do, done by a library: the trap must see it.
int silent_allocates_and_locks() {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    void* volatile memory = std::malloc(24);
    std::free(memory);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return 0;
}

int cuDriverGetVersion(int* version) {
    *version = 13000;
    return 0;
}

int cuDeviceGetCount(int* count) {
    *count = 1;
    return 0;
}

int cuModuleGetFunction(void** function, void*, const char*) {
    *function = &silent_status;
    return 0;
}
}

#define SILENT(name)                         \
    __asm__(                                 \
        ".text\n"                            \
        ".globl " #name                      \
        "\n"                                 \
        ".type " #name ", @function\n" #name \
        ":\n"                                \
        "movslq silent_status(%rip), %rax\n" \
        "ret\n"                              \
        ".size " #name ", .-" #name "\n");
#include "tests/hosts/silent_table.hpp"
