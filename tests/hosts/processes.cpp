// Processes that come of one another in every way, and what each of them calls of a library that works in all of them:
//
// processes loader       the parent has called; 300 children each walk the loader's list and throw an exception
// processes look_ups     200 children of a process whose threads look functions up all the time; each child does too
// processes storm        300 children at once, half of which call (child i: i % 7 + 1 times); the parent calls 5 times
// processes busy         100 children of a process whose threads are inside of calls, first calls, look-ups and NVTX-like set-up
// processes clone        as children, by the system call: the parent calls 3 times, then each of 4 children 4 times
// processes clone3       the same by the newer one
// processes exec         200 times vfork or posix_spawn of a program that calls nothing, between the parent's 200 calls
// processes daemon       the caller is a grandchild, in a session of its own, without the parent's files: 6 calls
// processes generations  10 processes, each of which calls once, forks the next and calls once more
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <linux/sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

extern "C" int cublasSaxpy_v2(void*, int);
extern "C" int cublasSscal_v2(void*, int);

namespace {

constexpr unsigned kChildSeconds = 20;  ///< A child that hangs ends by its alarm, with another status.

void call(int times) {
    for (int i = 0; i < times; ++i) cublasSaxpy_v2(nullptr, 1);
}

int visit(dl_phdr_info*, std::size_t, void*) {
    return 0;
}

bool ended_well(pid_t child) {
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

template <class Body>
pid_t forked(Body&& body) {
    const pid_t child = fork();
    if (child != 0) return child;
    alarm(kChildSeconds);
    body();
    std::exit(0);
}

int loader() {
    call(1);
    int well = 0;
    for (int i = 0; i < 300; ++i) {
        well += ended_well(forked([] {
            dl_iterate_phdr(visit, nullptr);
            try {
                throw std::runtime_error("in the child");
            } catch (const std::runtime_error&) {
            }
            _exit(0);
        }));
        if (well != i + 1) break;
        call(1);
    }
    return well;
}

int look_ups() {
    std::atomic<bool> is_over{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&is_over] {
            while (!is_over) dlsym(RTLD_DEFAULT, "cublasSaxpy_v2");
        });
    }
    int well = 0;
    for (int i = 0; i < 200; ++i) {
        well += ended_well(forked([] { _exit(dlsym(RTLD_DEFAULT, "cublasSaxpy_v2") != nullptr ? 0 : 1); }));
        if (well != i + 1) break;
    }
    is_over = true;
    for (std::thread& thread : threads) thread.join();
    return well;
}

int storm() {
    std::vector<pid_t> children;
    call(2);
    for (int i = 0; i < 300; ++i) {
        children.push_back(forked([i] {
            if (i % 2 == 0) call(i % 7 + 1);
        }));
    }
    call(3);
    int well = 0;
    for (const pid_t child : children) well += ended_well(child);
    return well;
}

int busy() {
    std::atomic<bool> is_over{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&is_over, i] {
            while (!is_over) {
                // Threads that make their first call, and end.
                std::thread([] { call(2); }).join();
                if (i == 1) dlsym(RTLD_DEFAULT, "cublasSaxpy_v2");
                if (i == 2) cublasSscal_v2(nullptr, 1);
            }
        });
    }
    int well = 0;
    for (int i = 0; i < 100; ++i) {
        well += ended_well(forked([] {
            call(2);
            std::thread([] { call(1); }).join();
            if (dlsym(RTLD_DEFAULT, "cublasSscal_v2") == nullptr) _exit(1);
        }));
        if (well != i + 1) break;
    }
    is_over = true;
    for (std::thread& thread : threads) thread.join();
    return well;
}

pid_t cloned(bool newer) {
    clone_args arguments{};
    arguments.exit_signal = SIGCHLD;
    const long child = newer ? syscall(SYS_clone3, &arguments, sizeof arguments)
                             : syscall(SYS_clone, static_cast<long>(SIGCHLD), nullptr, nullptr, nullptr, nullptr);
    if (child != 0) return static_cast<pid_t>(child);
    alarm(kChildSeconds);
    call(4);
    std::exit(0);
}

int clones(bool newer) {
    call(3);
    int well = 0;
    for (int i = 0; i < 4; ++i) well += ended_well(cloned(newer));
    return well;
}

[[gnu::noinline]] pid_t vforked(const char* program, char* const* arguments) {
    const pid_t child = vfork();
    if (child == 0) {
        execvp(program, arguments);
        _exit(127);
    }
    return child;
}

int exec() {
    char name[] = "true";
    char* arguments[] = {name, nullptr};
    int well = 0;
    for (int i = 0; i < 100; ++i) {
        well += ended_well(vforked(name, arguments));
        call(1);
        pid_t child = 0;
        if (posix_spawnp(&child, name, nullptr, nullptr, arguments, environ) == 0) well += ended_well(child);
        call(1);
    }
    return well;
}

int be_daemon() {
    int ends[2];
    if (pipe(ends) != 0) return 0;
    const pid_t child = fork();
    if (child == 0) {
        setsid();
        if (fork() != 0) _exit(0);
        // The pipe's other end stays open as long as this process lives.
        for (int fd = 0; fd < 3; ++fd) {
            close(fd);
            if (open("/dev/null", O_RDWR) != fd) _exit(1);
        }
        close(ends[0]);
        alarm(kChildSeconds);
        call(6);
        std::exit(0);
    }
    close(ends[1]);
    const int well = ended_well(child);
    char nothing = 0;
    return read(ends[0], &nothing, 1) == 0 ? well : 0;
}

int generations(int left) {
    call(1);
    int well = 0;
    if (left > 1) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(kChildSeconds);
            std::exit(generations(left - 1) == left - 1 ? 0 : 1);
        }
        well = ended_well(child) ? left - 1 : 0;
    }
    call(1);
    return well + 1;
}

}  // namespace

int main(int argc, char** argv) {
    const char* how = argc > 1 ? argv[1] : "";
    int well = 0;
    if (std::strcmp(how, "loader") == 0) {
        well = loader();
    } else if (std::strcmp(how, "look_ups") == 0) {
        well = look_ups();
    } else if (std::strcmp(how, "storm") == 0) {
        well = storm();
    } else if (std::strcmp(how, "busy") == 0) {
        well = busy();
    } else if (std::strcmp(how, "clone") == 0 || std::strcmp(how, "clone3") == 0) {
        well = clones(how[5] == '3');
    } else if (std::strcmp(how, "exec") == 0) {
        well = exec();
    } else if (std::strcmp(how, "daemon") == 0) {
        well = be_daemon();
    } else if (std::strcmp(how, "generations") == 0) {
        well = generations(10);
    } else {
        return 2;
    }
    std::printf("%d\n", well);
    return 0;
}
