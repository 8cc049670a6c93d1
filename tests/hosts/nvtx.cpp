// nvtx MODE: a program that carries NVTX itself and in two shared objects.
//   work      ranges around kernels; prints nothing of what NVTX returns
//   without   ranges, and no CUDA at all
//   forms     every function of the C API; prints what it returns
//   parts     three copies of NVTX, one nesting
//   handles   what domains and strings are good for
//   cpp       nvtx3.hpp
//   texts     long, wide, odd
//   early     ranges that begin, and some that end, before CUDA is used
//   deep      100 pushes before CUDA is used
//   threads   100 threads
//   fork      in the middle of ranges
//   across    a range that one thread starts and another ends
//   kill      SIGKILL within ranges
//   handler   a signal handler that uses NVTX
//   busy      10,000 ranges as fast as can be
#include <nvtx3/nvToolsExt.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <nvtx3/nvtx3.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/hosts/host.hpp"
#include "tests/hosts/nvtx_part.hpp"

namespace {

constexpr host::Kernel kKernel{"_Z6kernelv"};

void launch() {
    host::must("launch", host::launch(kKernel));
    host::must("synchronise", cudaDeviceSynchronize());
}

nvtxEventAttributes_t attributes(nvtxMessageType_t type) {
    nvtxEventAttributes_t result{};
    result.version = NVTX_VERSION;
    result.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    result.messageType = type;
    return result;
}

nvtxEventAttributes_t named(const char* text) {
    nvtxEventAttributes_t result = attributes(NVTX_MESSAGE_TYPE_ASCII);
    result.message.ascii = text;
    return result;
}

nvtxEventAttributes_t named(const wchar_t* text) {
    nvtxEventAttributes_t result = attributes(NVTX_MESSAGE_TYPE_UNICODE);
    result.message.unicode = text;
    return result;
}

nvtxEventAttributes_t named(nvtxStringHandle_t text) {
    nvtxEventAttributes_t result = attributes(NVTX_MESSAGE_TYPE_REGISTERED);
    result.message.registered = text;
    return result;
}

void work() {
    nvtxRangePushA("outer");
    for (int i = 0; i < 3; ++i) {
        nvtxRangePushA("inner");
        launch();
        nvtxRangePop();
    }
    nvtxMarkA("done");
    nvtxRangePop();
    std::printf("worked\n");
}

void without() {
    const auto outer = named("outer");
    nvtxRangePushEx(&outer);
    const nvtxRangeId_t id = nvtxRangeStartA("started");
    const nvtxDomainHandle_t domain = nvtxDomainCreateA("domain");
    nvtxDomainRegisterStringA(domain, "registered");
    nvtxRangeEnd(id);
    nvtxRangePop();
    std::printf("no CUDA\n");
    std::fflush(stdout);
    std::getchar();
}

void forms() {
    launch();
    const auto narrow = named("narrow ex");
    const auto wide = named(L"wide ex");
    host::say("push", nvtxRangePushA("push a"));
    host::say("push", nvtxRangePushW(L"push w"));
    host::say("push", nvtxRangePushEx(&narrow));
    host::say("push", nvtxRangePushEx(&wide));
    for (int i = 0; i < 4; ++i) {
        host::say("pop", nvtxRangePop());
    }
    host::say("pop of none is negative", nvtxRangePop() < 0);
    const std::vector<nvtxRangeId_t> ids = {nvtxRangeStartA("start a"), nvtxRangeStartW(L"start w"),
                                            nvtxRangeStartEx(&narrow)};
    host::say("ids differ", ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2]);
    for (const nvtxRangeId_t id : ids) {
        nvtxRangeEnd(id);
    }
    nvtxMarkA("mark a");
    nvtxMarkW(L"mark w");
    nvtxMarkEx(&narrow);
    const nvtxDomainHandle_t domain = nvtxDomainCreateA("my domain");
    const nvtxDomainHandle_t wide_domain = nvtxDomainCreateW(L"wide domain");
    const auto registered = named(nvtxDomainRegisterStringA(domain, "registered a"));
    const auto wide_registered = named(nvtxDomainRegisterStringW(wide_domain, L"registered w"));
    host::say("push in a domain", nvtxDomainRangePushEx(domain, &registered));
    host::say("push in another", nvtxDomainRangePushEx(wide_domain, &wide_registered));
    host::say("push in a domain", nvtxDomainRangePushEx(domain, &narrow));
    host::say("push in the default one", nvtxDomainRangePushEx(nullptr, &narrow));
    host::say("pop in a domain", nvtxDomainRangePop(domain));
    host::say("pop in a domain", nvtxDomainRangePop(domain));
    host::say("pop in another", nvtxDomainRangePop(wide_domain));
    host::say("pop in the default one", nvtxDomainRangePop(nullptr));
    nvtxDomainRangeEnd(domain, nvtxDomainRangeStartEx(domain, &registered));
    nvtxDomainMarkEx(domain, &registered);
    nvtxDomainDestroy(domain);
    // What we do not implement does nothing.
    nvtxNameOsThreadA(1, "thread");
    nvtxNameCategoryA(1, "category");
    nvtxDomainNameCategoryW(wide_domain, 1, L"category");
    nvtxInitialize(nullptr);
}

void parts() {
    launch();
    host::say("main", nvtxRangePushA("of main"));
    host::say("first", first_push("of first"));
    host::say("second", second_push("of second"));
    host::say("in a domain", first_push_in("shared", "by first"));
    host::say("in a domain", second_push_in("shared", "by second"));
    host::say("in a domain", first_pop_in("shared"));
    host::say("in a domain", second_pop_in("shared"));
    host::say("second", second_pop());
    host::say("first", first_pop());
    host::say("main", nvtxRangePop());
    second_end(first_start("from part to part"));
}

void handles() {
    launch();
    const nvtxDomainHandle_t domain = nvtxDomainCreateA("domain");
    host::say("domain", domain != nullptr);
    host::say("same domain", nvtxDomainCreateW(L"domain") == domain);
    host::say("another domain", nvtxDomainCreateA("another") != domain);
    const nvtxStringHandle_t text = nvtxDomainRegisterStringA(domain, "text");
    host::say("string", text != nullptr);
    host::say("same string", nvtxDomainRegisterStringW(domain, L"text") == text);
    host::say("another string", nvtxDomainRegisterStringA(domain, "another") != text);
    host::say("empty string", nvtxDomainRegisterStringA(domain, "") != nullptr);
    host::say("no string", nvtxDomainRegisterStringA(domain, nullptr) != nullptr);
    nvtxDomainDestroy(domain);
    const auto registered = named(text);
    nvtxDomainMarkEx(domain, &registered);
    static int nothing[16];
    const auto wrong = named(reinterpret_cast<nvtxStringHandle_t>(nothing));
    const auto wrong_domain = reinterpret_cast<nvtxDomainHandle_t>(nothing);
    host::say("wrong handles", nvtxDomainRangePushEx(wrong_domain, &wrong));
    host::say("wrong handles", nvtxDomainRangePop(wrong_domain));
    nvtxMarkEx(nullptr);
    const nvtxEventAttributes_t unset{};
    nvtxMarkEx(&unset);
    for (int i = 0; i < 300; ++i) {
        const std::string name = "domain " + std::to_string(i);
        const auto many = named("in one of many");
        nvtxDomainMarkEx(nvtxDomainCreateA(name.c_str()), &many);
    }
}

struct OurDomain {
    static constexpr const char* name{"cpp domain"};
};
struct OurString {
    static constexpr const char* message{"cpp registered"};
};

void cpp() {
    launch();
    {
        NVTX3_FUNC_RANGE();
        const nvtx3::scoped_range scoped{"cpp scoped"};
        const nvtx3::scoped_range_in<OurDomain> in{nvtx3::registered_string_in<OurDomain>::get<OurString>(),
                                                   nvtx3::rgb{127, 255, 0}, nvtx3::payload{5}};
        const nvtx3::unique_range unique{"cpp unique"};
        nvtx3::mark_in<OurDomain>("cpp mark");
    }
}

void texts() {
    launch();
    nvtxMarkA("");
    nvtxMarkA(nullptr);
    nvtxMarkW(nullptr);
    nvtxMarkW(L"\u00e4\u20ac\U0001F600");
    const wchar_t beyond[] = {L'<', 0xd800, 0x7fffffff, L'>', 0};
    nvtxMarkW(beyond);
    nvtxMarkA((std::string(2047, 'a') + "\u00e4 b").c_str());  // the limit comes in the middle of a character
    nvtxMarkA(std::string(2048, 'c').c_str());
    nvtxMarkA(std::string(1 << 20, 'd').c_str());
    nvtxMarkW((std::wstring(2047, L'e') + L"\u00e4").c_str());
    nvtxMarkA("\"\n\xff");
}

void early() {
    nvtxRangePushA("ended before");
    nvtxRangePop();
    nvtxRangeEnd(nvtxRangeStartA("ended before too"));
    nvtxRangePushA("outermost");
    first_push_in("domain", "in a domain");
    nvtxRangePushA("middle");
    const nvtxRangeId_t id = nvtxRangeStartA("started");
    first_pop_in("domain");
    launch();
    nvtxRangePushA("innermost");
    nvtxRangePop();
    nvtxRangePop();
    nvtxRangeEnd(id);
    nvtxRangePop();
}

void deep() {
    for (int i = 0; i < 100; ++i) {
        nvtxRangePushA(("level " + std::to_string(i) + std::string(100, '.')).c_str());
    }
    launch();
    for (int i = 0; i < 100; ++i) {
        if (nvtxRangePop() != 99 - i) {
            std::printf("wrong level\n");
        }
    }
}

void threads() {
    launch();
    std::vector<std::thread> all;
    for (int i = 0; i < 100; ++i) {
        all.emplace_back([i] {
            const std::string name = "thread " + std::to_string(i);
            for (int j = 0; j < 10; ++j) {
                nvtxRangePushA(name.c_str());
                second_push_in("domain", name.c_str());
                const unsigned long long id = first_start(name.c_str());
                nvtxRangePop();
                second_pop_in("domain");
                nvtxRangeEnd(id);
            }
        });
    }
    for (std::thread& thread : all) {
        thread.join();
    }
    std::printf("joined\n");
}

void fork_inside() {
    nvtxRangePushA("before the fork");
    std::fflush(stdout);
    const pid_t child = fork();
    nvtxRangePushA(child == 0 ? "of the child" : "of the parent");
    launch();
    host::say("pop", nvtxRangePop());
    host::say("pop", nvtxRangePop());
    std::fflush(stdout);
    if (child != 0) {
        waitpid(child, nullptr, 0);
        // In the middle of a recording: CUDA is not to be used there.
        nvtxRangePushA("second fork");
        const pid_t second = fork();
        if (second == 0) {
            nvtxRangePushA("not recorded");
            host::say("pop", nvtxRangePop());
            host::say("pop", nvtxRangePop());
            std::fflush(stdout);
            _exit(0);
        }
        waitpid(second, nullptr, 0);
        host::say("pop", nvtxRangePop());
    }
}

void across() {
    launch();
    nvtxRangeId_t id = 0;
    std::thread([&id] { id = nvtxRangeStartA("across"); }).join();
    std::thread([id] { nvtxRangeEnd(id); }).join();
}

void kill_inside() {
    nvtxRangePushA("before CUDA");
    launch();
    nvtxRangePushA("open");
    first_start("open start");
    second_push_in("domain", "open in a domain");
    nvtxRangePushA("closed");
    nvtxRangePop();
    kill(getpid(), SIGKILL);
}

std::atomic<int> handled{0};

void on_signal(int) {
    first_push("in a handler");
    first_pop();
    handled.fetch_add(1);
}

void handler() {
    launch();
    struct sigaction action {};
    action.sa_handler = on_signal;
    sigaction(SIGALRM, &action, nullptr);
    const itimerval often{{0, 100}, {0, 100}};
    setitimer(ITIMER_REAL, &often, nullptr);
    bool right = true;
    // Not so many that they could fill a ring of 16 MiB.
    for (int i = 0; i < 60'000 && (i < 20'000 || handled.load() < 20); ++i) {
        right = nvtxRangePushA("around") == 0 && right;
        right = nvtxRangePushA("inside") == 1 && right;
        right = nvtxRangePop() == 1 && right;
        right = nvtxRangePop() == 0 && right;
    }
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    host::say("levels are right", right);
}

void busy() {
    launch();
    bool right = true;
    for (int i = 0; i < 10'000; ++i) {
        right = nvtxRangePushA("around") == 0 && right;
        right = nvtxRangePop() == 0 && right;
    }
    host::say("levels are right", right);
}

}  // namespace

int main(int argc, char** argv) {
    const std::map<std::string, std::function<void()>> modes = {
        {"work", work},        {"without", without}, {"forms", forms},      {"parts", parts},     {"handles", handles},
        {"cpp", cpp},          {"texts", texts},     {"early", early},      {"deep", deep},       {"threads", threads},
        {"fork", fork_inside}, {"across", across},   {"kill", kill_inside}, {"handler", handler}, {"busy", busy}};
    const auto mode = modes.find(argc > 1 ? argv[1] : "");
    if (mode == modes.end()) {
        return 2;
    }
    if (mode->first != "without") {
        host::register_kernels({&kKernel});
    }
    mode->second();
    return 0;
}
