// Threads in numbers, each of which calls a library:
//
// threads alive N        N threads that all exist before the first of them calls; 3 calls each
// threads short N        N threads one after another, 2 calls each; says whether memory grew after the first tenth of them
// threads waves W N      W times N threads at once, 2 calls each
#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <shared_mutex>
#include <vector>

extern "C" int cublasSaxpy_v2(void*, int);

namespace {

/// What memory may grow by and still be called flat: room for 4,096 small buffers that are used again, and no page for each of 20,000 threads.
constexpr long kFlatKib = 60 << 10;

std::shared_mutex gate;  ///< Held while threads may not call yet.

void call(int times) {
    for (int i = 0; i < times; ++i) cublasSaxpy_v2(nullptr, 1);
}

void* call_when_told(void* times) {
    { const std::shared_lock may_call(gate); }
    call(*static_cast<int*>(times));
    return nullptr;
}

/// With small stacks: a thousand of them fit anywhere.
pthread_t start(void* (*body)(void*), void* argument) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    if (pthread_create(&thread, &attributes, body, argument) != 0) {
        std::printf("no more threads\n");
        std::exit(3);
    }
    pthread_attr_destroy(&attributes);
    return thread;
}

void at_once(int count, int times) {
    std::vector<pthread_t> threads;
    gate.lock();
    for (int i = 0; i < count; ++i) threads.push_back(start(call_when_told, &times));
    gate.unlock();
    for (const pthread_t thread : threads) pthread_join(thread, nullptr);
}

long resident_kib() {
    char line[128];
    long kib = -1;
    std::FILE* status = std::fopen("/proc/self/status", "r");
    while (status != nullptr && std::fgets(line, sizeof line, status) != nullptr) {
        if (std::strncmp(line, "VmRSS:", 6) == 0) kib = std::atol(line + 6);
    }
    if (status != nullptr) std::fclose(status);
    return kib;
}

void one_after_another(int count) {
    int times = 2;
    long before = 0;
    for (int i = 0; i < count; ++i) {
        if (i == count / 10) before = resident_kib();
        pthread_join(start(call_when_told, &times), nullptr);
    }
    const long grown = resident_kib() - before;
    if (grown < kFlatKib) {
        std::printf("memory is flat\n");
    } else {
        std::printf("memory grew by %ld KiB\n", grown);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const char* how = argc > 2 ? argv[1] : "";
    const int count = argc > 2 ? std::atoi(argv[2]) : 0;
    call(1);
    if (std::strcmp(how, "alive") == 0) {
        at_once(count, 3);
    } else if (std::strcmp(how, "short") == 0) {
        one_after_another(count);
    } else if (std::strcmp(how, "waves") == 0 && argc > 3) {
        for (int i = 0; i < count; ++i) at_once(std::atoi(argv[3]), 2);
    } else {
        return 2;
    }
    std::printf("called\n");
    return 0;
}
