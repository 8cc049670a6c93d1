// Threads that launch and count, so that whoever ends them knows what they had done:
// counted LOG THREADS HOW AFTER_US [MOST]
//
// LOG becomes a file of 64-byte slots, mapped and shared: slot 0 is the process's, then one of each thread. Each thread
// launches kernel number (count % kKernels) up to MOST times, counting before and after. After AFTER_US the main thread ends
// the process: HOW is run (it waits to be ended), done (it waits for MOST launches of each thread, then returns), _exit, abort,
// segfault, quick_exit, exec, raise (SIGTERM to itself), late (launches from an exit handler that was registered first).
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "tests/hosts/host.hpp"

namespace {

constexpr int kKernels = 512;
constexpr int kMostThreads = 1100;

struct Slot {
    std::atomic<std::uint64_t> id;     ///< Of slot 0 the pid, else the thread's.
    std::atomic<std::uint64_t> begun;  ///< Of slot 0: whether all threads have launched.
    std::atomic<std::uint64_t> done;
    char rest[40];
};
static_assert(sizeof(Slot) == 64);

host::Kernel kernels[kKernels];
char names[kKernels][16];
Slot* slots = nullptr;
std::uint64_t most = 0;
std::uint64_t pause_every = 16;

void launch_next(Slot& slot) {
    const std::uint64_t number = slot.begun.fetch_add(1);
    host::must("launch", host::launch(kernels[number % kKernels]));
    slot.done.fetch_add(1);
}

void pause_us(long us) {
    const timespec pause{us / 1'000'000, us % 1'000'000 * 1000};
    nanosleep(&pause, nullptr);
}

void* run_thread(void* pointer) {
    Slot& slot = *static_cast<Slot*>(pointer);
    slot.id.store(static_cast<std::uint64_t>(syscall(SYS_gettid)));
    for (std::uint64_t i = 0; i < most; ++i) {
        launch_next(slot);
        if (pause_every != 0 && i % pause_every == pause_every - 1) {
            pause_us(100);
        }
    }
    return nullptr;
}

void launch_late() {
    for (int i = 0; i < 7; ++i) {
        launch_next(slots[1]);
    }
}

void end(const char* how, char** argv) {
    if (std::strcmp(how, "_exit") == 0) _exit(7);
    if (std::strcmp(how, "abort") == 0) std::abort();
    if (std::strcmp(how, "quick_exit") == 0) std::quick_exit(7);
    if (std::strcmp(how, "raise") == 0) raise(SIGTERM);
    if (std::strcmp(how, "exec") == 0) {
        unsetenv("LD_PRELOAD");
        execl("/bin/sh", "sh", "-c", "exit 7", nullptr);
    }
    if (std::strcmp(how, "segfault") == 0) {
        volatile int* nowhere = nullptr;
        *nowhere = 1;
    }
    std::printf("%s: no such end\n", argv[3]);
    _exit(2);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 5) return 2;
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    const int threads = std::atoi(argv[2]);
    const char* how = argv[3];
    most = argc > 5 ? std::strtoull(argv[5], nullptr, 10) : 5000;
    if (const char* every = std::getenv("COUNTED_PAUSE_EVERY")) pause_every = std::strtoull(every, nullptr, 10);
    if (threads < 1 || threads > kMostThreads) return 2;
    const std::size_t bytes = (static_cast<std::size_t>(threads) + 1) * sizeof(Slot);
    const int log = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (log < 0 || ftruncate(log, static_cast<off_t>(bytes)) != 0) return 2;
    slots = static_cast<Slot*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, log, 0));
    if (slots == MAP_FAILED) return 2;
    close(log);
    slots[0].id.store(static_cast<std::uint64_t>(getpid()));
    if (std::strcmp(how, "late") == 0) std::atexit(launch_late);
    for (int i = 0; i < kKernels; ++i) {
        std::snprintf(names[i], sizeof names[i], "_Z4k%03dv", i);
        kernels[i].name = names[i];
        host::register_kernels({&kernels[i]});
    }
    pthread_t ids[kMostThreads];
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256U << 10);
    for (int i = 0; i < threads; ++i) {
        if (pthread_create(&ids[i], &small, run_thread, &slots[i + 1]) != 0) return 2;
    }
    for (int i = 1; i <= threads; ++i) {
        while (slots[i].done.load() == 0) pause_us(100);
    }
    slots[0].begun.store(1);
    const bool waits = std::strcmp(how, "done") == 0 || std::strcmp(how, "late") == 0;
    if (waits) {
        for (int i = 0; i < threads; ++i) pthread_join(ids[i], nullptr);
        return 0;
    }
    while (std::strcmp(how, "run") == 0) pause_us(100'000);
    pause_us(std::atol(argv[4]));
    end(how, argv);
}
