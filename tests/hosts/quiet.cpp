// Calls the runtime where a system call that asks for more than the time, a wait or a write ends the process (seccomp).
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

#include "tests/hosts/host.hpp"

namespace {

bool allow_little() {
    static sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter{sizeof rules / sizeof *rules, rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

}  // namespace

int main() {
    host::must("cudaDeviceSynchronize", cudaDeviceSynchronize());
    if (!allow_little()) return 77;
    for (int i = 0; i < 100; ++i) host::must("cudaDeviceSynchronize", cudaDeviceSynchronize());
    constexpr char kText[] = "quiet\n";
    const bool is_told = write(STDOUT_FILENO, kText, sizeof kText - 1) == sizeof kText - 1;
    _exit(is_told ? 0 : 1);
}
