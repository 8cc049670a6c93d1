// A program that uses CUPTI itself, as the profilers inside frameworks do: own_cupti MODE. It says what CUPTI told it, which must not
// depend on whether somebody else uses CUPTI too.
#include <cupti.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <ctime>

#include "tests/hosts/host.hpp"

namespace {

constexpr host::Kernel kBefore{"_Z6beforev"};
constexpr host::Kernel kWatched{"_Z7watchedv"};
constexpr host::Kernel kBetween{"_Z7betweenv"};

// -- activity records, taken as torch.profiler does: in the host's own flush, of buffers that CUPTI still held ------------------

std::mutex api_lock;  ///< Held by a host that enables and disables; its callbacks take it too.
std::mutex held_lock;
std::set<std::uint8_t*> held;
std::map<std::string, int> counts;
std::uint64_t kernel_time = 0;
bool is_flushing = false;
bool takes_early = false;
bool counts_others = false;  ///< Calls by threads that the host did not make.

void CUPTIAPI request(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
    *bytes = std::size_t{64} << 10;
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, *bytes));
    *max_records = 0;
    const std::lock_guard guard(held_lock);
    held.insert(*buffer);
}

void read(std::uint8_t* buffer, std::size_t valid_bytes) {
    CUpti_Activity* record = nullptr;
    while (cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
        switch (record->kind) {
            case CUPTI_ACTIVITY_KIND_KERNEL:
            case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
                const auto* kernel = reinterpret_cast<CUpti_ActivityKernel10*>(record);
                ++counts[kernel->name];
                kernel_time += kernel->end - kernel->start;
                break;
            }
            case CUPTI_ACTIVITY_KIND_DRIVER:
                if (counts_others &&
                    reinterpret_cast<CUpti_ActivityAPI*>(record)->threadId != static_cast<std::uint32_t>(gettid())) {
                    ++counts["calls of other threads"];
                }
                // How many others there are is the runtime's affair.
                if (reinterpret_cast<CUpti_ActivityAPI*>(record)->cbid == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel) {
                    ++counts["calls"];
                }
                break;
            default:
                ++counts["kind " + std::to_string(record->kind)];
        }
    }
}

void CUPTIAPI complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid_bytes) {
    const std::lock_guard no_changes(api_lock);
    const std::lock_guard guard(held_lock);
    if (held.erase(buffer) != 1) {
        std::printf("a buffer that was never given\n");
        return;
    }
    if (is_flushing || takes_early) {
        read(buffer, valid_bytes);
    }
    if (!is_flushing) {
        ++counts["early buffer"];
    }
    std::free(buffer);
}

void flush(std::uint32_t flag = 0) {
    if (held.empty()) {
        ++counts["nothing to flush"];
        return;
    }
    is_flushing = true;
    host::must("cuptiActivityFlushAll", cuptiActivityFlushAll(flag));
    is_flushing = false;
}

void say_counts(const char* what) {
    std::printf("%s:", what);
    for (const auto& [name, count] : counts) {
        std::printf(" %s %d", name.c_str(), count);
    }
    std::printf("\n");
    counts.clear();
}

void disable(std::initializer_list<CUpti_ActivityKind> kinds) {
    const std::lock_guard no_callbacks(api_lock);
    for (const CUpti_ActivityKind kind : kinds) {
        host::must("cuptiActivityDisable", cuptiActivityDisable(kind));
    }
}

void start(std::initializer_list<CUpti_ActivityKind> kinds) {
    const std::lock_guard no_callbacks(api_lock);
    host::must("cuptiActivityRegisterCallbacks", cuptiActivityRegisterCallbacks(request, complete));
    for (const CUpti_ActivityKind kind : kinds) {
        host::must("cuptiActivityEnable", cuptiActivityEnable(kind));
    }
}

void stop(std::initializer_list<CUpti_ActivityKind> kinds, const char* what) {
    disable(kinds);
    flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    say_counts(what);
}

/// Where it depends on others whether CUPTI holds a buffer of the host's at all.
void stop_what_wrote_nothing(CUpti_ActivityKind kind, const char* what) {
    disable({kind});
    flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    counts.erase("nothing to flush");
    say_counts(what);
}

// -- callbacks -----------------------------------------------------------------------------------------------------------------

CUpti_SubscriberHandle subscriber = nullptr;
int entered = 0;
int kept_words = 0;
bool finalises = false;

void CUPTIAPI called(void* data, CUpti_CallbackDomain, CUpti_CallbackId, const void* raw) {
    const auto& call = *static_cast<const CUpti_CallbackData*>(raw);
    if (data != &entered) {
        std::printf("somebody else's word\n");
    }
    if (call.callbackSite == CUPTI_API_ENTER) {
        ++entered;
        *call.correlationData = 4711;
        return;
    }
    kept_words += *call.correlationData == 4711 ? 1 : 0;
    if (finalises) {
        finalises = false;
        host::must("cuptiUnsubscribe", cuptiUnsubscribe(subscriber));
        host::must("cuptiFinalize", cuptiFinalize());
    }
}

void subscribe() {
    host::must("cuptiSubscribe", cuptiSubscribe(&subscriber, called, &entered));
}

void watch(std::uint32_t enable) {
    host::must("cuptiEnableCallback", cuptiEnableCallback(enable, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
                                                          CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel));
}

void say_callbacks(const char* what) {
    std::uint32_t state = 9;
    const CUptiResult asked =
        cuptiGetCallbackState(&state, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
    std::printf("%s: entered %d, words %d, state %d (%d)\n", what, entered, kept_words,
                asked == 0 ? static_cast<int>(state) : -1, asked == 0 ? 0 : 1);
    entered = kept_words = 0;
}

// -- work ----------------------------------------------------------------------------------------------------------------------

void launch(const host::Kernel& kernel, int times) {
    for (int i = 0; i < times; ++i) {
        host::must("launch", host::launch(kernel));
    }
    host::must("cudaDeviceSynchronize", cudaDeviceSynchronize());
}

void copy() {
    static char from[256];
    void* to = nullptr;
    host::must("cudaMalloc", cudaMalloc(&to, sizeof from));
    host::must("cudaMemcpy", cudaMemcpy(to, from, sizeof from, cudaMemcpyHostToDevice));
    host::must("cudaFree", cudaFree(to));
}

/// A clock of its own: five units a nanosecond, from an origin of its own.
std::uint64_t CUPTIAPI own_clock() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 5 * (static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec)) +
           12345;
}

constexpr auto kKernels = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
constexpr auto kCopies = CUPTI_ACTIVITY_KIND_MEMCPY;
constexpr auto kDriver = CUPTI_ACTIVITY_KIND_DRIVER;

void first() {
    start({kKernels});
    subscribe();
    watch(1);
    launch(kWatched, 5);
    stop({kKernels}, "records");
    say_callbacks("callbacks");
}

void records_alone() {
    start({kKernels});
    launch(kWatched, 5);
    stop({kKernels}, "records");
}

void sessions() {
    launch(kBefore, 3);
    for (int session = 0; session < 3; ++session) {
        start({kKernels, kDriver});
        launch(kWatched, 5);
        copy();
        stop({kKernels, kDriver}, "session");
        launch(kBetween, 4);
    }
}

void copies_only() {
    launch(kBefore, 3);
    start({kCopies});
    launch(kWatched, 5);
    copy();
    stop({kCopies}, "records");
    launch(kBetween, 4);
}

/// More than a buffer of 64 KiB holds, so that full ones come back while the session lasts.
void many() {
    launch(kBefore, 3);
    takes_early = true;
    start({kKernels});
    launch(kWatched, 2000);
    disable({kKernels});
    flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    std::printf("early buffers: %s\n", counts["early buffer"] > 0 ? "some" : "none");
    counts.erase("early buffer");
    say_counts("records");
    launch(kBetween, 4);
}

/// What is launched between the end of the session and its flush is not the session's.
void late() {
    launch(kBefore, 3);
    start({kKernels});
    launch(kWatched, 5);
    disable({kKernels});
    launch(kBetween, 4);
    flush();
    say_counts("records");
}

/// As Triton's Proton: kinds first, then callbacks; CUPTI is ended by the last calls of the program.
void ended_at_the_end() {
    launch(kBefore, 3);
    host::must("cuptiActivityEnable", cuptiActivityEnable(kKernels));
    host::must("cuptiActivityRegisterCallbacks", cuptiActivityRegisterCallbacks(request, complete));
    subscribe();
    watch(1);
    launch(kWatched, 5);
    flush();
    disable({kKernels});
    say_counts("records");
    host::must("cuptiUnsubscribe", cuptiUnsubscribe(subscriber));
    host::must("cuptiFinalize", cuptiFinalize());
}

void attributes() {
    launch(kBefore, 3);
    for (const bool wanted : {true, false, false, true}) {
        std::uint8_t value = wanted ? 1 : 0;
        std::size_t bytes = sizeof value;
        host::must("cuptiActivitySetAttribute",
                   cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &bytes, &value));
        value = 9;
        host::must("cuptiActivityGetAttribute",
                   cuptiActivityGetAttribute(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &bytes, &value));
        std::printf("per thread: %d\n", value);
    }
    std::size_t none = 0;
    host::say("nothing to set",
              cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &none, nullptr));
    launch(kBetween, 4);
}

void callbacks() {
    launch(kBefore, 3);
    subscribe();
    say_callbacks("none yet");
    watch(1);
    launch(kWatched, 5);
    say_callbacks("on");
    watch(0);
    launch(kBetween, 4);
    say_callbacks("off");
    host::must("cuptiEnableDomain", cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API));
    launch(kWatched, 2);
    std::printf("domain: %s\n", entered >= 2 && entered == kept_words ? "called for all" : "calls are missing");
    entered = kept_words = 0;
    host::must("cuptiEnableDomain", cuptiEnableDomain(0, subscriber, CUPTI_CB_DOMAIN_DRIVER_API));
    launch(kBetween, 4);
    say_callbacks("domain off");
    CUpti_SubscriberHandle second = nullptr;
    host::say("second cuptiSubscribe", cuptiSubscribe(&second, called, &entered));
    host::must("cuptiUnsubscribe", cuptiUnsubscribe(subscriber));
    launch(kBetween, 4);
    std::printf("unsubscribed: entered %d\n", entered);
    host::say("cuptiUnsubscribe again", cuptiUnsubscribe(subscriber));
}

void clock_of_its_own() {
    launch(kBefore, 3);
    host::set_duration(kWatched.name, 3000);
    for (int session = 0; session < 2; ++session) {
        if (session == 0) {
            host::must("cuptiActivityRegisterTimestampCallback", cuptiActivityRegisterTimestampCallback(own_clock));
        }
        start({kKernels});
        launch(kWatched, 5);
        stop({kKernels}, "session");
        launch(kBetween, 4);
    }
}

/// As torch.profiler, which registers its clock for each session.
void clock_twice() {
    launch(kBefore, 3);
    host::must("cuptiActivityRegisterTimestampCallback", cuptiActivityRegisterTimestampCallback(own_clock));
    if (std::getenv("LD_PRELOAD") != nullptr) {  // alone it would spoil its own records
        host::must("cuptiActivityRegisterTimestampCallback", cuptiActivityRegisterTimestampCallback(own_clock));
    }
    launch(kBetween, 4);
}

void finalize() {
    launch(kBefore, 3);
    for (int session = 0; session < 2; ++session) {
        start({kKernels});
        subscribe();
        launch(kWatched, 5);
        stop({kKernels}, "session");
        watch(1);
        finalises = true;
        launch(kBetween, 1);  // in whose callback CUPTI ends
        entered = kept_words = 0;
        launch(kBetween, 4);
    }
}

void one_by_one() {
    launch(kBefore, 3);
    start({CUPTI_ACTIVITY_KIND_KERNEL});
    launch(kWatched, 5);
    stop({CUPTI_ACTIVITY_KIND_KERNEL}, "records");
    launch(kBetween, 4);
}

/// Nobody but the host calls the driver.
void calls_of_others() {
    counts_others = true;
    start({kKernels, kDriver});
    launch(kWatched, 5);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // so that others have the time
    stop({kKernels, kDriver}, "records");
}

void dropped() {
    start({kKernels});
    launch(kWatched, 5);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // so that somebody else asks first
    std::size_t count = 0;
    host::must("cuptiActivityGetNumDroppedRecords", cuptiActivityGetNumDroppedRecords(nullptr, 0, &count));
    std::printf("dropped %zu\n", count);
    stop({kKernels}, "records");
}

void flush_period() {
    host::must("cuptiActivityFlushPeriod", cuptiActivityFlushPeriod(0));
    launch(kBefore, 3);
    host::must("cuptiActivityFlushPeriod", cuptiActivityFlushPeriod(0));
    launch(kBetween, 4);
}

/// It never stops, and flushes when the process ends, after everybody else.
void flushed_at_exit() {
    std::atexit([] {
        flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
        say_counts("at exit");
    });
    launch(kBefore, 3);
    start({kKernels});
    launch(kWatched, 5);
}

/// It never stops, and what its callbacks need is gone when the process ends.
void gone_at_exit() {
    launch(kBefore, 3);
    start({kKernels});
    launch(kWatched, 5);
    std::atexit([] {
        for (std::uint8_t* buffer : held) {
            std::memset(buffer, 0, 1);
        }
        counts.clear();
    });
}

/// Sessions, one after another, while other threads launch; its callbacks take a lock that it holds while it works.
void storm() {
    launch(kBefore, 3);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int round = 0; round < 2000; ++round) {
                host::must("launch", host::launch(kBetween));
            }
        });
    }
    takes_early = true;
    for (int session = 0; session < 100; ++session) {
        start({kKernels, kDriver});
        host::must("launch", host::launch(kWatched));
        disable({kKernels, kDriver});
        flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    host::must("cudaDeviceSynchronize", cudaDeviceSynchronize());
    std::printf("watched %d\n", counts[kWatched.name]);
}

/// More than a buffer of 64 KiB holds: what the host still gets when it has switched everything off.
void say_later() {
    takes_early = true;
    launch(kBetween, 2000);
    flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    takes_early = false;
    counts.erase("nothing to flush");
    say_counts("later");
}

constexpr std::uintptr_t kContexts[] = {0x10, 0x20};  ///< Of which the simulated CUPTI asks nothing.
CUcontext context_at(int index) {
    return reinterpret_cast<CUcontext>(kContexts[index]);
}

void enable_in(int context) {
    host::must("cuptiActivityEnableContext", cuptiActivityEnableContext(context_at(context), kKernels));
}

void disable_in(int context) {
    const std::lock_guard no_callbacks(api_lock);
    host::must("cuptiActivityDisableContext", cuptiActivityDisableContext(context_at(context), kKernels));
}

/// Kinds for one context each: the session is over with the last of them.
void contexts() {
    launch(kBefore, 3);
    start({});
    enable_in(0);
    enable_in(0);
    enable_in(1);
    launch(kWatched, 5);
    disable_in(1);
    launch(kWatched, 5);
    flush();
    say_counts("one of two off");
    launch(kWatched, 5);
    disable_in(0);
    flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    say_counts("both off");
    say_later();
    start({kKernels});
    disable_in(0);
    launch(kWatched, 5);
    flush();
    say_counts("all but one");
    launch(kWatched, 1);
    stop({kKernels}, "all off");
    say_later();
}

/// More contexts than anybody counts.
void many_contexts() {
    constexpr std::uintptr_t kCount = 1000;
    start({});
    const auto context = [](std::uintptr_t number) { return reinterpret_cast<CUcontext>(number << 4); };
    for (std::uintptr_t i = 1; i <= kCount; ++i) {
        host::must("cuptiActivityEnableContext", cuptiActivityEnableContext(context(i), kKernels));
    }
    for (std::uintptr_t i = 1; i < kCount; ++i) {
        host::must("cuptiActivityDisableContext", cuptiActivityDisableContext(context(i), kKernels));
    }
    launch(kWatched, 5);
    host::must("cuptiActivityDisableContext", cuptiActivityDisableContext(context(kCount), kKernels));
    flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    say_counts("records");
}

/// Records of one function's calls, chosen before there is a context.
void one_function() {
    const auto choose = [](std::uint8_t enable) {
        host::must("cuptiActivityEnableDriverApi",
                   cuptiActivityEnableDriverApi(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, enable));
    };
    choose(1);
    start({});
    launch(kWatched, 5);
    choose(0);
    flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    say_counts("records");
    say_later();
}

/// The flush of the first versions of CUPTI.
void old_flush() {
    launch(kBefore, 3);
    start({kKernels});
    launch(kWatched, 5);
    disable({kKernels});
    is_flushing = true;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    host::must("cuptiActivityFlush", cuptiActivityFlush(nullptr, 0, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
#pragma GCC diagnostic pop
    is_flushing = false;
    say_counts("records");
    say_later();
}

/// A kind of records that excludes those of kernels as they run.
void exclusive_kind() {
    launch(kBefore, 3);
    start({});
    host::say("cuptiActivityEnable", cuptiActivityEnable(CUPTI_ACTIVITY_KIND_PC_SAMPLING));
    host::say("and kernels", cuptiActivityEnable(kKernels));
    launch(kWatched, 5);
    stop_what_wrote_nothing(CUPTI_ACTIVITY_KIND_PC_SAMPLING, "records");
    launch(kBetween, 4);
}

/// It is refused what it would be refused alone.
void excludes_itself() {
    launch(kBefore, 3);
    start({kKernels});
    host::say("cuptiActivityEnable", cuptiActivityEnable(CUPTI_ACTIVITY_KIND_PC_SAMPLING));
    launch(kWatched, 5);
    stop({kKernels}, "records");
    launch(kBetween, 4);
}

void whole_graphs() {
    launch(kBefore, 3);
    start({CUPTI_ACTIVITY_KIND_GRAPH_TRACE});
    launch(kWatched, 5);
    stop_what_wrote_nothing(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, "records");
    launch(kBetween, 4);
}

/// The second set of activity functions, which CUPTI has from 13.2 on.
void newer_functions() {
    launch(kBefore, 3);
    const auto find = [](auto* like, const char* name) {
        return reinterpret_cast<decltype(like)>(dlsym(RTLD_DEFAULT, name));
    };
    using Request = void (*)(std::uint8_t**, std::size_t*, std::size_t*, void*);
    using Complete = void (*)(std::uint8_t*, std::size_t, std::size_t, void*);
    using Register = CUptiResult(CUpti_SubscriberHandle, Request, Complete);
    using Switch = CUptiResult(CUpti_SubscriberHandle, CUpti_ActivityKind, void*);
    auto* const take = find(static_cast<Register*>(nullptr), "cuptiActivityRegisterCallbacks_v2");
    auto* const enable = find(static_cast<Switch*>(nullptr), "cuptiActivityEnable_v2");
    auto* const disable_again = find(static_cast<Switch*>(nullptr), "cuptiActivityDisable_v2");
    host::say("registered", take(
                                nullptr,
                                [](std::uint8_t** buffer, std::size_t* bytes, std::size_t* most, void*) {
                                    request(buffer, bytes, most);
                                },
                                [](std::uint8_t* buffer, std::size_t bytes, std::size_t valid_bytes, void*) {
                                    complete(nullptr, 0, buffer, bytes, valid_bytes);
                                }));
    host::say("enabled", enable(nullptr, kKernels, nullptr));
    launch(kWatched, 5);
    host::say("disabled", disable_again(nullptr, kKernels, nullptr));
    flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    say_counts("records");
    launch(kBetween, 4);
}

/// As Triton's Proton, which brings a copy of its own: it is opened, and subscribed to, while another one may be attached.
void another_copy() {
    launch(kBefore, 3);
    void* copy = dlopen("libcupti.so.12", RTLD_NOW | RTLD_LOCAL);
    if (copy == nullptr) {
        std::printf("no libcupti.so.12\n");
        return;
    }
    const auto find = [copy](auto* like, const char* name) {
        return reinterpret_cast<decltype(like)>(dlsym(copy, name));
    };
    const auto take = find(&cuptiSubscribe, "cuptiSubscribe");
    const auto enable = find(&cuptiEnableCallback, "cuptiEnableCallback");
    host::say("cuptiSubscribe", take(&subscriber, called, &entered));
    host::say("cuptiEnableCallback",
              enable(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel));
    launch(kWatched, 5);
    std::printf("entered %d\n", entered);
}

void refused() {
    launch(kBefore, 3);
    host::say("no callbacks", cuptiActivityRegisterCallbacks(nullptr, nullptr));
    host::say("no kind", cuptiActivityEnable(CUPTI_ACTIVITY_KIND_INVALID));
    host::say("no handle", cuptiSubscribe(nullptr, called, nullptr));
    host::say("not its handle", cuptiUnsubscribe(nullptr));
    host::say("no handle to enable", cuptiEnableDomain(1, nullptr, CUPTI_CB_DOMAIN_DRIVER_API));
    std::uint32_t state = 0;
    host::say("no handle to ask", cuptiGetCallbackState(&state, nullptr, CUPTI_CB_DOMAIN_DRIVER_API, 1));
    launch(kBetween, 4);
}

struct Mode {
    const char* name;
    void (*run)();
};
constexpr Mode kModes[] = {
    {"first", first},
    {"records_alone", records_alone},
    {"sessions", sessions},
    {"copies_only", copies_only},
    {"many", many},
    {"late", late},
    {"ended_at_the_end", ended_at_the_end},
    {"attributes", attributes},
    {"callbacks", callbacks},
    {"clock_of_its_own", clock_of_its_own},
    {"clock_twice", clock_twice},
    {"finalize", finalize},
    {"one_by_one", one_by_one},
    {"calls_of_others", calls_of_others},
    {"dropped", dropped},
    {"flush_period", flush_period},
    {"flushed_at_exit", flushed_at_exit},
    {"gone_at_exit", gone_at_exit},
    {"storm", storm},
    {"another_copy", another_copy},
    {"contexts", contexts},
    {"many_contexts", many_contexts},
    {"one_function", one_function},
    {"old_flush", old_flush},
    {"exclusive_kind", exclusive_kind},
    {"excludes_itself", excludes_itself},
    {"whole_graphs", whole_graphs},
    {"newer_functions", newer_functions},
    {"refused", refused},
};

}  // namespace

int main(int argc, char** argv) {
    host::register_kernels({&kBefore, &kWatched, &kBetween});
    for (const Mode& mode : kModes) {
        if (argc > 1 && std::strcmp(argv[1], mode.name) == 0) {
            mode.run();
            return 0;
        }
    }
    std::printf("own_cupti: no such mode\n");
    return 2;
}
