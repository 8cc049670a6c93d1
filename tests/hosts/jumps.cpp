// A timer's handler jumps out of calls, wherever they are; after that, a thousand calls of another function. The calls before a
// jump are bounded, so that all of them fit in a ring of 16 MiB even if nobody empties it meanwhile.
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdio>

extern "C" int cublasSaxpy_v2(void*, int);
extern "C" int cublasSscal_v2(void*, int);

namespace {

sigjmp_buf back;
volatile int jumps = 0;

void jump(int) {
    siglongjmp(back, 1);
}

}  // namespace

int main() {
    signal(SIGALRM, jump);
    if (sigsetjmp(back, 1) != 0) jumps = jumps + 1;
    if (jumps < 500) {
        const itimerval soon{{0, 0}, {0, 1 + jumps % 20}};
        setitimer(ITIMER_REAL, &soon, nullptr);
        for (int i = 0; i < 300; ++i) cublasSaxpy_v2(nullptr, 1);
        for (;;) pause();
    }
    for (int i = 0; i < 1000; ++i) cublasSscal_v2(nullptr, 1);
    std::printf("jumped %d times\n", static_cast<int>(jumps));
    return 0;
}
