// A program without CUDA of its own that opens libraries which use it, in the ways that there are:
//   loads local LIBRARY...         with local scope, one after another, all kept
//   loads deepbind|lazy LIBRARY    with RTLD_DEEPBIND; lazy: bound at the first call
//   loads unasked LIBRARY OTHER    LIBRARY with local scope, then OTHER with RTLD_DEEPBIND, in which nothing is looked up
//   loads threads N LIBRARY...     opens, uses and closes each, N times over, on eight threads at once
//   loads dlmopen LIBRARY          once with local scope, then in a namespace of its own
//   loads apart LIBRARY OTHER      the runtime LIBRARY in a namespace of its own; calls it again after OTHER was opened and closed
//   loads reopen N LIBRARY...      opens, uses and closes each, N times over
//   loads pointers N LIBRARY       the runtime LIBRARY: opens it, looks a function up, calls it, closes it, N times over
//   loads drivers N LIBRARY        the driver LIBRARY: opens it, launches by both kinds of look-up, closes it, N times over
//   loads own LIBRARY FUNCTION     calls a function of the library that looks the library itself up
//   loads default                  what RTLD_DEFAULT and RTLD_NEXT find of a runtime that was opened with local scope
#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <initializer_list>
#include <thread>
#include <vector>

#include "tests/hosts/dynamic.hpp"

namespace {

void* open(const char* path, int flags) {
    void* library = dlopen(path, flags);
    if (library == nullptr) {
        std::printf("cannot open: %s\n", dlerror());
        std::exit(3);
    }
    return library;
}

void use(void* library) {
    std::printf("launched %d\n", host::find<int (*)()>(library, "launch_from_plugin")());
}

void reopen(int times, char** paths) {
    for (int i = 0; i < times; ++i) {
        for (char** path = paths; *path != nullptr; ++path) {
            void* library = open(*path, RTLD_NOW | RTLD_LOCAL);
            use(library);
            dlclose(library);
        }
    }
}

void reopen_on_threads(int times, char** paths) {
    std::atomic<int> launched{0};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 8; ++thread) {
        threads.emplace_back([&] {
            for (int i = 0; i < times; ++i) {
                for (char** path = paths; *path != nullptr; ++path) {
                    void* library = open(*path, RTLD_NOW | RTLD_LOCAL);
                    launched += host::find<int (*)()>(library, "launch_from_plugin")();
                    dlclose(library);
                }
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    std::printf("launched %d\n", launched.load());
}

/// The runtime comes to lie at another address each time: its old place is taken meanwhile.
void reopen_pointers(int times, const char* path) {
    for (int i = 0; i < times; ++i) {
        void* library = open(path, RTLD_NOW | RTLD_LOCAL);
        const auto synchronize = host::find<int (*)()>(library, "cudaDeviceSynchronize");
        std::printf("cudaDeviceSynchronize: %d\n", synchronize());
        Dl_info info{};
        dladdr(host::find<void*>(library, "cudaGetErrorName"), &info);
        void* place = info.dli_fbase;
        dlclose(library);
        mmap(place, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    }
}

/// The driver, too, comes to lie at another address each time.
void reopen_drivers(int times, const char* path) {
    using Launch = int (*)(std::uintptr_t function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                           unsigned, void*, void**, void**);
    for (int i = 0; i < times; ++i) {
        void* library = open(path, RTLD_NOW | RTLD_LOCAL);
        void* pointer = nullptr;
        host::find<int (*)(const char*, void**, int, std::uint64_t, void*)>(library, "cuGetProcAddress_v2")(
            "cuLaunchKernel", &pointer, 12000, 0, nullptr);
        const auto launch = host::find<Launch>(library, "cuLaunchKernel");
        std::uintptr_t function = 0x1000 * static_cast<std::uintptr_t>(i + 1);
        for (const auto form : {launch, reinterpret_cast<Launch>(pointer)}) {
            std::printf("cuLaunchKernel: %d\n", form(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
            function += 0x100;
        }
        Dl_info info{};
        dladdr(host::find<void*>(library, "small_driver"), &info);
        void* place = info.dli_fbase;
        dlclose(library);
        mmap(place, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    }
}

void call_apart(const char* path, const char* other) {
    void* library = dlmopen(LM_ID_NEWLM, path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        std::printf("cannot open: %s\n", dlerror());
        std::exit(3);
    }
    const auto synchronize = host::find<int (*)()>(library, "cudaDeviceSynchronize");
    std::printf("cudaDeviceSynchronize: %d\n", synchronize());
    dlclose(open(other, RTLD_NOW | RTLD_LOCAL));
    std::printf("cudaDeviceSynchronize: %d\n", synchronize());
}

void ask(const char* what, void* handle, const char* name) {
    dlerror();
    const void* found = dlsym(handle, name);
    const char* error = dlerror();
    std::printf("%s %s: %s, dlerror %s\n", what, name, found != nullptr ? "found" : "null",
                error != nullptr ? error : "null");
}

void ask_default() {
    void* library = open("libcudart.so.13", RTLD_NOW | RTLD_LOCAL);
    void* program = dlopen(nullptr, RTLD_NOW);
    for (const char* name : {"cudaLaunchKernel", "cudaMalloc", "cudaGetErrorName"}) {
        ask("its handle", library, name);
        ask("default", RTLD_DEFAULT, name);
        ask("next", RTLD_NEXT, name);
        ask("the program's handle", program, name);
    }
    // Opened again for all to see.
    open("libcudart.so.13", RTLD_NOW | RTLD_GLOBAL);
    ask("default", RTLD_DEFAULT, "cudaLaunchKernel");
    ask("the program's handle", program, "cudaLaunchKernel");
}

}  // namespace

int main(int argc, char** argv) {
    const char* how = argc > 1 ? argv[1] : "";
    if (std::strcmp(how, "local") == 0) {
        for (int i = 2; i < argc; ++i) {
            use(open(argv[i], RTLD_NOW | RTLD_LOCAL));
        }
    } else if (std::strcmp(how, "deepbind") == 0 || std::strcmp(how, "lazy") == 0) {
        use(open(argv[2], RTLD_LOCAL | RTLD_DEEPBIND | (how[0] == 'l' ? RTLD_LAZY : RTLD_NOW)));
    } else if (std::strcmp(how, "unasked") == 0) {
        use(open(argv[2], RTLD_NOW | RTLD_LOCAL));
        open(argv[3], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    } else if (std::strcmp(how, "threads") == 0) {
        reopen_on_threads(std::atoi(argv[2]), argv + 3);
    } else if (std::strcmp(how, "dlmopen") == 0) {
        use(open(argv[2], RTLD_NOW | RTLD_LOCAL));
        void* apart = dlmopen(LM_ID_NEWLM, argv[2], RTLD_NOW | RTLD_LOCAL);
        if (apart == nullptr) {
            std::printf("cannot open: %s\n", dlerror());
            return 3;
        }
        use(apart);
    } else if (std::strcmp(how, "drivers") == 0) {
        reopen_drivers(std::atoi(argv[2]), argv[3]);
    } else if (std::strcmp(how, "apart") == 0) {
        call_apart(argv[2], argv[3]);
    } else if (std::strcmp(how, "reopen") == 0) {
        reopen(std::atoi(argv[2]), argv + 3);
    } else if (std::strcmp(how, "pointers") == 0) {
        reopen_pointers(std::atoi(argv[2]), argv[3]);
    } else if (std::strcmp(how, "own") == 0) {
        std::printf("%d\n", host::find<int (*)()>(open(argv[2], RTLD_NOW | RTLD_LOCAL), argv[3])());
    } else if (std::strcmp(how, "default") == 0) {
        ask_default();
    } else {
        return 2;
    }
    return 0;
}
