// A thread whose calls run on more stacks than one; its own lies between two others, in one mapping:
//
// stacks storm WHERE     a timer's handler calls on its alternate stack WHERE = above | below | within (the thread's own), 50,000 times at most, while the
//                        thread calls 200,000 times; says in the file "handled" how often the handler did
// stacks nested WHERE    a call is interrupted by a handler that calls on its alternate stack
// stacks jump WHERE      the same, and the handler jumps out of its call; then calls follow
// stacks fibre WHERE     within a call the thread changes to a fibre, which calls and changes back
// stacks crossed WHERE   a fibre is left in the middle of its call, and goes on after the calls around it have ended
// stacks thrown WHERE    an exception leaves a fibre's call; then calls follow
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

extern "C" int cublasSaxpy_v2(void (*function)(), int);
extern "C" int cublasSscal_v2(void (*function)(), int);
extern "C" int cublasScopy_v2(void (*function)(), int);

namespace {

constexpr std::size_t kStackBytes = 256 << 10;

char* stacks = nullptr;  ///< below, the thread's own, above
const char* how = "";
const char* where = "";
volatile long handled = 0;
sigjmp_buf back;
ucontext_t own_context;
ucontext_t fibre_context;
void (*fibre_body)() = nullptr;

bool is(const char* text, const char* word) {
    return std::strcmp(text, word) == 0;
}

char* other_stack() {
    return is(where, "above") ? stacks + 2 * kStackBytes : stacks;
}

void use_alternate_stack(char* within) {
    stack_t stack{};
    stack.ss_sp = is(where, "within") ? within : other_stack();
    stack.ss_size = 64 << 10;
    sigaltstack(&stack, nullptr);
}

void handle(int signal, void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_ONSTACK | SA_RESTART;
    sigaction(signal, &action, nullptr);
}

void storm() {
    handle(SIGALRM, [](int) {
        handled = handled + 1;
        const itimerval never{};
        if (handled == 50'000) setitimer(ITIMER_REAL, &never, nullptr);
        cublasSscal_v2(nullptr, 1);
    });
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    const itimerval often{{0, 20}, {0, 20}};
    setitimer(ITIMER_REAL, &often, nullptr);
    pthread_sigmask(SIG_UNBLOCK, &alarms, nullptr);
    for (int i = 0; i < 200'000; ++i) cublasSaxpy_v2(nullptr, 1);
    pthread_sigmask(SIG_BLOCK, &alarms, nullptr);
    std::FILE* file = std::fopen("handled", "w");
    if (file != nullptr) std::fprintf(file, "%ld\n", handled);
    if (file != nullptr) std::fclose(file);
}

void nested() {
    handle(SIGUSR1, [](int) { cublasSscal_v2(nullptr, 1); });
    cublasSaxpy_v2([] { raise(SIGUSR1); }, 1);
    cublasScopy_v2(nullptr, 1);
}

void jump() {
    handle(SIGUSR1, [](int) { cublasSscal_v2([] { siglongjmp(back, 1); }, 1); });
    if (sigsetjmp(back, 1) == 0) raise(SIGUSR1);
    cublasSaxpy_v2([] { cublasScopy_v2(nullptr, 1); }, 1);
    cublasSscal_v2(nullptr, 1);
}

void change_to_fibre() {
    swapcontext(&own_context, &fibre_context);
}

void change_back() {
    swapcontext(&fibre_context, &own_context);
}

void make_fibre(void (*body)()) {
    getcontext(&fibre_context);
    fibre_context.uc_stack.ss_sp = other_stack();
    fibre_context.uc_stack.ss_size = kStackBytes;
    fibre_context.uc_link = &own_context;
    fibre_body = body;
    makecontext(
        &fibre_context, [] { fibre_body(); }, 0);
}

void fibre() {
    make_fibre([] { cublasSscal_v2(nullptr, 1); });
    cublasSaxpy_v2(change_to_fibre, 1);
    cublasScopy_v2(nullptr, 1);
}

void crossed() {
    make_fibre([] {
        cublasSscal_v2(change_back, 1);
        change_back();
    });
    cublasSaxpy_v2(change_to_fibre, 1);
    cublasScopy_v2(nullptr, 1);
    change_to_fibre();
    cublasSscal_v2([] { cublasScopy_v2(nullptr, 1); }, 1);
}

void thrown() {
    make_fibre([] {
        try {
            cublasSscal_v2([] { throw std::runtime_error("through the call"); }, 1);
        } catch (const std::runtime_error&) {
        }
    });
    change_to_fibre();
    cublasSscal_v2([] { cublasScopy_v2(nullptr, 1); }, 1);
}

void* run(void*) {
    char within[64 << 10];
    use_alternate_stack(within);
    cublasScopy_v2(nullptr, 1);
    if (is(how, "storm")) storm();
    if (is(how, "nested")) nested();
    if (is(how, "jump")) jump();
    if (is(how, "fibre")) fibre();
    if (is(how, "crossed")) crossed();
    if (is(how, "thrown")) thrown();
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
    return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    how = argv[1];
    where = argv[2];
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, nullptr);
    void* mapped = mmap(nullptr, 3 * kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stacks = static_cast<char*>(mapped);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stacks + kStackBytes, kStackBytes);
    pthread_t thread;
    if (mapped == MAP_FAILED || pthread_create(&thread, &attributes, run, nullptr) != 0) return 3;
    pthread_join(thread, nullptr);
    std::printf("called\n");
    return 0;
}
