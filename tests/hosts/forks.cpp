// forks plain        CUDA in the parent alone; the child does nothing and returns
// forks child        CUDA in the children alone, two of them
// forks both         CUDA in the parent, then the child tries it (it fails, as CUDA does after a fork)
// forks late         the parent forks first and uses CUDA afterwards, the child uses it too
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "tests/hosts/host.hpp"

namespace {

constexpr host::Kernel kParent{"_Z6parentv"};
constexpr host::Kernel kChild{"_Z5childv"};

int use(const host::Kernel& kernel, int times) {
    for (int i = 0; i < times; ++i) {
        const cudaError_t error = host::launch(kernel);
        if (error != cudaSuccess) {
            return error;
        }
    }
    return cudaDeviceSynchronize();
}

void say_now(const char* what, int status) {
    host::say(what, status);
    std::fflush(stdout);
}

template <class Body>
pid_t fork_child(Body&& body) {
    std::fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) {
        body();
        std::exit(0);
    }
    return pid;
}

void wait_for(pid_t pid) {
    int status = 0;
    waitpid(pid, &status, 0);
    say_now("child ended", status);
}

}  // namespace

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "";
    host::register_kernels({&kParent, &kChild});
    if (std::strcmp(what, "plain") == 0) {
        say_now("parent", use(kParent, 3));
        wait_for(fork_child([] { say_now("child does nothing", 0); }));
        say_now("parent", use(kParent, 2));
    } else if (std::strcmp(what, "child") == 0) {
        wait_for(fork_child([] { say_now("child", use(kChild, 4)); }));
        wait_for(fork_child([] { say_now("child", use(kChild, 5)); }));
    } else if (std::strcmp(what, "both") == 0) {
        say_now("parent", use(kParent, 3));
        wait_for(fork_child([] { say_now("child", use(kChild, 1)); }));
        say_now("parent", use(kParent, 2));
    } else if (std::strcmp(what, "late") == 0) {
        const pid_t pid = fork_child([] { say_now("child", use(kChild, 4)); });
        wait_for(pid);
        say_now("parent", use(kParent, 6));
    } else {
        return 2;
    }
    return 0;
}
