// A program that uses CUPTI itself, as the profilers inside frameworks do: own_cupti MODE. It says what CUPTI told it, which must not
// depend on whether somebody else uses CUPTI too.
#include <chrono>
#include <ctime>
#include <thread>
#include <vector>

#include "tests/hosts/own_cupti.hpp"

using namespace own_cupti;

namespace {

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

/// A clock of its own: five units a nanosecond, from an origin of its own.
std::uint64_t CUPTIAPI own_clock() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 5 * (static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec)) +
           12345;
}

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

/// Parameters of a CUPTI that is newer than the headers here.
void newer_subscription() {
    launch(kBefore, 3);
    struct {
        CUpti_SubscriberParams known;
        std::uint64_t newer;
    } parameters{};
    parameters.known.structSize = sizeof parameters;
    host::say("cuptiSubscribe_v2", cuptiSubscribe_v2(&subscriber, called, &entered, &parameters.known));
    watch(1);
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

constexpr Mode kModes[] = {
    {"first", first},
    {"records_alone", records_alone},
    {"sessions", sessions},
    {"many", many},
    {"late", late},
    {"ended_at_the_end", ended_at_the_end},
    {"attributes", attributes},
    {"callbacks", callbacks},
    {"clock_of_its_own", clock_of_its_own},
    {"clock_twice", clock_twice},
    {"finalize", finalize},
    {"calls_of_others", calls_of_others},
    {"dropped", dropped},
    {"flush_period", flush_period},
    {"flushed_at_exit", flushed_at_exit},
    {"gone_at_exit", gone_at_exit},
    {"storm", storm},
    {"another_copy", another_copy},
    {"newer_subscription", newer_subscription},
    {"refused", refused},
};

}  // namespace

int main(int argc, char** argv) {
    return own_cupti::run(argc, argv, kModes);
}
