// Calls every function of silent_table.hpp, whose library does nothing, under a trap that counts system calls, allocations and locks:
//
// silent_calls linked    by the linker's names; null arguments, then arguments that point to memory, then calls that fail
// silent_calls pointers  the same by pointers that dlsym gave
// silent_calls full      as linked, twenty times: for a ring that becomes full
// silent_calls first     a thread's first call, which may do all that
// silent_calls set_up    a look-up and a kernel's name, which may too
// silent_calls library   a library that does all that in a call which no one hooks
#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <thread>

#include "tests/hosts/silent_cuda.hpp"
#include "tests/hosts/trap.hpp"

#define SILENT(name) extern "C" void name();
#include "tests/hosts/silent_table.hpp"
#undef SILENT

namespace {

namespace trap = host::trap;

using Function = void (*)();
struct Call {
    const char* name;
    Function function;
};

Call calls[] = {
#define SILENT(name) {#name, &name},
#include "tests/hosts/silent_table.hpp"
#undef SILENT
};

/// What pointers among the arguments point to: zeros, more than any call reads.
alignas(64) char zeros[1 << 20];

/// With more arguments, each the same, than any of the functions has.
void make(const Call& call, void* a) {
    using Any = long (*)(void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*,
                         void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*,
                         void*, void*, void*, void*);
    reinterpret_cast<Any>(call.function)(a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a,
                                         a, a, a, a);
}

/// `what`: nullptr: what is found is told by the call's name.
void make_all(void* argument, const char* what) {
    for (const Call& call : calls) {
        trap::arm(what != nullptr ? what : call.name);
        make(call, argument);
        trap::disarm();
    }
}

void make_all_in_each_way(const char* what) {
    make_all(nullptr, what);
    make_all(zeros, what);
    silent_set_status(1);
    make_all(zeros, what);
    silent_set_status(0);
}

/// Everything that is done once is done, for each function and for each kernel; then the thread is watched.
bool prepare() {
    for (void* argument : {static_cast<void*>(nullptr), static_cast<void*>(zeros)}) {
        for (const Call& call : calls) make(call, argument);
    }
    return trap::watch_thread();
}

int run(const char* how) {
    if (std::strcmp(how, "linked") == 0 || std::strcmp(how, "pointers") == 0) {
        if (!prepare()) return 77;
        make_all_in_each_way(nullptr);
    } else if (std::strcmp(how, "full") == 0) {
        if (!prepare()) return 77;
        for (int i = 0; i < 20; ++i) make_all_in_each_way("any call");
    } else if (std::strcmp(how, "first") == 0) {
        if (!trap::watch_thread()) return 77;
        trap::arm("first call");
        make(calls[0], nullptr);
        trap::disarm();
    } else if (std::strcmp(how, "set_up") == 0) {
        void* function = nullptr;
        cuModuleGetFunction(&function, nullptr, "kernel");
        if (!prepare()) return 77;
        trap::arm("name");
        cuModuleGetFunction(&function, nullptr, "another kernel");
        trap::disarm();
    } else if (std::strcmp(how, "library") == 0) {
        if (!prepare()) return 77;
        trap::arm("library");
        silent_allocates_and_locks();
        trap::disarm();
    } else {
        return 2;
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const char* how = argc > 1 ? argv[1] : "";
    if (std::strcmp(how, "pointers") == 0) {
        for (Call& call : calls) call.function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, call.name));
    }
    if (!trap::set(nullptr)) return 77;
    make(calls[0], nullptr);  // The process's first is another matter than a thread's first.
    int status = 0;
    // A thread of its own is watched: this one ends the process.
    std::thread([&status, how] { status = run(how); }).join();
    if (status != 0) return status;
    trap::tell();
    std::printf("%zu functions\n", sizeof calls / sizeof *calls);
    return 0;
}
