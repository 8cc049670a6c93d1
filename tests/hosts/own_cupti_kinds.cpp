// A program that uses CUPTI itself, in every way in which kinds of records are switched and flushed: own_cupti_kinds MODE. It says what CUPTI
// told it, which must not depend on whether somebody else uses CUPTI too.
#include <cstdint>

#include "tests/hosts/own_cupti.hpp"

using namespace own_cupti;

namespace {

void copies_only() {
    launch(kBefore, 3);
    start({kCopies});
    launch(kWatched, 5);
    copy();
    stop({kCopies}, "records");
    launch(kBetween, 4);
}

void one_by_one() {
    launch(kBefore, 3);
    start({CUPTI_ACTIVITY_KIND_KERNEL});
    launch(kWatched, 5);
    stop({CUPTI_ACTIVITY_KIND_KERNEL}, "records");
    launch(kBetween, 4);
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

constexpr Mode kModes[] = {
    {"copies_only", copies_only},         {"one_by_one", one_by_one},           {"contexts", contexts},
    {"many_contexts", many_contexts},     {"one_function", one_function},       {"old_flush", old_flush},
    {"exclusive_kind", exclusive_kind},   {"excludes_itself", excludes_itself}, {"whole_graphs", whole_graphs},
    {"newer_functions", newer_functions},
};

}  // namespace

int main(int argc, char** argv) {
    return own_cupti::run(argc, argv, kModes);
}
