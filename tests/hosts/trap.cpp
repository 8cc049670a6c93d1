#include "tests/hosts/trap.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

extern "C" {
void* __libc_malloc(std::size_t bytes);
void __libc_free(void* memory);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);

/// The one place from which the filter lets system calls through.
long trap_gate(long number, long a, long b, long c, long d, long e, long f);
extern const char trap_gate_after[];
}

__asm__(
    ".text\n"
    ".globl trap_gate\n"
    ".type trap_gate, @function\n"
    "trap_gate:\n"
    "mov %rdi, %rax\n"
    "mov %rsi, %rdi\n"
    "mov %rdx, %rsi\n"
    "mov %rcx, %rdx\n"
    "mov %r8, %r10\n"
    "mov %r9, %r8\n"
    "mov 8(%rsp), %r9\n"
    "syscall\n"
    ".globl trap_gate_after\n"
    "trap_gate_after:\n"
    "ret\n"
    ".size trap_gate, .-trap_gate\n");

namespace host::trap {
namespace {

enum class Kind : std::uint32_t { kSystemCall, kAllocation, kLock };

/// `number`: of the system call; `second`: the second argument of a futex, which tells what is asked of it.
struct Found {
    const char* what;
    const char* name;
    Kind kind;
    long number;
    long second;
    std::atomic<std::uint64_t> times;
};

constexpr int kMaxFound = 256;
constinit Found found[kMaxFound]{};
constinit std::atomic<int> found_count{0};
constinit std::atomic<std::uint64_t> untold{0};  ///< Found when there was no room left to say what.
constinit std::atomic<bool> is_adding{false};
constinit thread_local const char* armed_for = nullptr;

struct Range {
    std::uintptr_t begin;
    std::uintptr_t end;
};
constinit Range watched{};       ///< Empty: anyone's doings count.
constinit Range c_library[2]{};  ///< The C library and the loader, which make system calls for others.
constinit const char* watched_name = nullptr;
constinit bool is_set = false;

bool is_in(const Range& range, std::uintptr_t address) {
    return address >= range.begin && address < range.end;
}

int find_ranges(dl_phdr_info* info, std::size_t, void*) {
    Range range{UINTPTR_MAX, 0};
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& part = info->dlpi_phdr[i];
        if (part.p_type != PT_LOAD) continue;
        const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
        if (begin < range.begin) range.begin = begin;
        if (begin + part.p_memsz > range.end) range.end = begin + part.p_memsz;
    }
    if (std::strstr(info->dlpi_name, "/libc.so.6") != nullptr) c_library[0] = range;
    if (std::strstr(info->dlpi_name, "/ld-linux") != nullptr) c_library[1] = range;
    if (watched_name != nullptr && std::strstr(info->dlpi_name, watched_name) != nullptr) watched = range;
    return 0;
}

void count(Kind kind, const char* name, long number, long second) {
    const char* const what = armed_for;
    armed_for = nullptr;
    while (is_adding.exchange(true, std::memory_order_acquire)) {
    }
    const int used = found_count.load();
    int at = 0;
    while (at < used && (found[at].what != what || found[at].kind != kind || found[at].name != name ||
                         found[at].number != number || found[at].second != second)) {
        ++at;
    }
    if (at < kMaxFound) {
        if (at == used) {
            found[at].what = what;
            found[at].name = name;
            found[at].kind = kind;
            found[at].number = number;
            found[at].second = second;
            found_count.store(used + 1);
        }
        found[at].times.fetch_add(1);
    } else {
        untold.fetch_add(1);
    }
    is_adding.store(false, std::memory_order_release);
    armed_for = what;
}

/// Whose system call it is: the innermost frame that is not the C library's, nor ours of the handler.
bool is_watched_ones(const ucontext_t& context) {
    if (watched.end == 0) return watched_name == nullptr;
    const char* const what = armed_for;
    armed_for = nullptr;
    void* frames[48];
    const int depth = backtrace(frames, 48);
    armed_for = what;
    const auto at_call = reinterpret_cast<void*>(context.uc_mcontext.gregs[REG_RIP]);
    int i = 0;
    while (i < depth && frames[i] != at_call) ++i;
    for (; i < depth; ++i) {
        const auto address = reinterpret_cast<std::uintptr_t>(frames[i]);
        if (is_in(c_library[0], address) || is_in(c_library[1], address)) continue;
        return is_in(watched, address);
    }
    return false;
}

void caught(int, siginfo_t* info, void* raw) {
    auto& context = *static_cast<ucontext_t*>(raw);
    greg_t* registers = context.uc_mcontext.gregs;
    if (armed_for != nullptr && is_watched_ones(context)) {
        count(Kind::kSystemCall, "system call", info->si_syscall,
              info->si_syscall == SYS_futex ? registers[REG_RSI] : 0);
    }
    // A mask that is set here ends with the handler: nothing that is tested depends on it.
    registers[REG_RAX] = trap_gate(info->si_syscall, registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
                                   registers[REG_R10], registers[REG_R8], registers[REG_R9]);
}

template <class Function>
Function real(std::atomic<Function>& known, const char* name) {
    Function function = known.load(std::memory_order_relaxed);
    if (function == nullptr) {
        function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
        known.store(function, std::memory_order_relaxed);
    }
    return function;
}

void note(Kind kind, const char* name, const void* caller) {
    if (armed_for == nullptr || !is_set) return;
    if (watched_name != nullptr && !is_in(watched, reinterpret_cast<std::uintptr_t>(caller))) return;
    count(kind, name, 0, 0);
}

}  // namespace

bool set(const char* library) {
    watched_name = library;
    dl_iterate_phdr(find_ranges, nullptr);
    void* frames[4];
    backtrace(frames, 4);  // Its first call loads a library.
    struct sigaction action {};
    action.sa_sigaction = caught;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    is_set = sigaction(SIGSYS, &action, nullptr) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
    return is_set;
}

bool watch_thread() {
    const auto after = reinterpret_cast<std::uintptr_t>(trap_gate_after);
    const auto low = static_cast<std::uint32_t>(after);
    const auto high = static_cast<std::uint32_t>(after >> 32);
    sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 5, 0),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, instruction_pointer)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, low, 0, 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, instruction_pointer) + 4),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, high, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter{sizeof rules / sizeof *rules, rules};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

void arm(const char* what) {
    armed_for = what;
}

void disarm() {
    armed_for = nullptr;
}

void tell() {
    const int lines = found_count.load();
    for (int i = 0; i < lines; ++i) {
        const Found& one = found[i];
        std::printf("%s: %s", one.what, one.name);
        if (one.kind == Kind::kSystemCall) std::printf(" %ld (%ld)", one.number, one.second);
        std::printf(", %llu times\n", static_cast<unsigned long long>(one.times.load()));
    }
    if (untold.load() != 0) std::printf("and %llu times more\n", static_cast<unsigned long long>(untold.load()));
}

}  // namespace host::trap

// -- the program's allocator and locks -------------------------------------------------------------------------------------

#define NOTE_ALLOCATION() host::trap::note(host::trap::Kind::kAllocation, __func__, __builtin_return_address(0))
#define LOCKS(name, Type)                                                                 \
    extern "C" int name(Type* lock) {                                                     \
        static constinit std::atomic<int (*)(Type*)> known{nullptr};                      \
        host::trap::note(host::trap::Kind::kLock, __func__, __builtin_return_address(0)); \
        return host::trap::real(known, #name)(lock);                                      \
    }

extern "C" {

void* malloc(std::size_t bytes) {
    NOTE_ALLOCATION();
    return __libc_malloc(bytes);
}
void free(void* memory) {
    NOTE_ALLOCATION();
    __libc_free(memory);
}
void* calloc(std::size_t count, std::size_t bytes) {
    NOTE_ALLOCATION();
    return __libc_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes) {
    NOTE_ALLOCATION();
    return __libc_realloc(memory, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
    NOTE_ALLOCATION();
    return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    NOTE_ALLOCATION();
    return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
    NOTE_ALLOCATION();
    *memory = __libc_memalign(alignment, bytes);
    return *memory != nullptr ? 0 : ENOMEM;
}
}

LOCKS(pthread_mutex_lock, pthread_mutex_t)
LOCKS(pthread_mutex_trylock, pthread_mutex_t)
LOCKS(pthread_rwlock_rdlock, pthread_rwlock_t)
LOCKS(pthread_rwlock_wrlock, pthread_rwlock_t)
LOCKS(sem_wait, sem_t)

/// The loader's list is read under its lock, which no name of the C library's would show.
extern "C" int dl_iterate_phdr(int (*visit)(dl_phdr_info*, std::size_t, void*), void* context) {
    using Function = int (*)(int (*)(dl_phdr_info*, std::size_t, void*), void*);
    static constinit std::atomic<Function> known{nullptr};
    host::trap::note(host::trap::Kind::kLock, __func__, __builtin_return_address(0));
    return host::trap::real(known, "dl_iterate_phdr")(visit, context);
}
