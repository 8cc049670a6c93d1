// A program that uses CUPTI itself, as profilers inside frameworks do: own_cupti first | register | later | callbacks
//   first      before it launches anything
//   register   before it launches anything, activity callbacks alone
//   later      after three launches
//   callbacks  the callback API alone, after three launches
// It says how many kernels and callbacks it was told of: five launches' worth.
#include <cupti.h>

#include <cstring>

#include "tests/hosts/host.hpp"

namespace {

constexpr host::Kernel kBefore{"_Z6beforev"};
constexpr host::Kernel kWatched{"_Z7watchedv"};

int kernels = 0;
int others = 0;
int callbacks = 0;

void CUPTIAPI request(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
    *bytes = std::size_t{64} << 10;
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, *bytes));
    *max_records = 0;
}

void CUPTIAPI complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid_bytes) {
    CUpti_Activity* record = nullptr;
    while (cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
        if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
            continue;
        }
        const auto* kernel = reinterpret_cast<CUpti_ActivityKernel10*>(record);
        ++(std::strcmp(kernel->name, kWatched.name) == 0 ? kernels : others);
    }
    std::free(buffer);
}

void CUPTIAPI called(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void* data) {
    callbacks += static_cast<const CUpti_CallbackData*>(data)->callbackSite == CUPTI_API_ENTER ? 1 : 0;
}

void watch_activity() {
    host::must("cuptiActivityRegisterCallbacks", cuptiActivityRegisterCallbacks(request, complete));
    host::must("cuptiActivityEnable", cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
}

void watch_calls() {
    CUpti_SubscriberHandle subscriber = nullptr;
    host::must("cuptiSubscribe", cuptiSubscribe(&subscriber, called, nullptr));
    host::must("cuptiEnableCallback",
               cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel));
}

void launch(const host::Kernel& kernel, int times) {
    for (int i = 0; i < times; ++i) {
        host::must("launch", host::launch(kernel));
    }
    host::must("cudaDeviceSynchronize", cudaDeviceSynchronize());
}

}  // namespace

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "";
    host::register_kernels({&kBefore, &kWatched});
    if (std::strcmp(what, "first") != 0 && std::strcmp(what, "register") != 0) {
        launch(kBefore, 3);
    }
    if (std::strcmp(what, "callbacks") == 0) {
        watch_calls();
        launch(kWatched, 5);
    } else {
        watch_activity();
        if (std::strcmp(what, "first") == 0) {
            watch_calls();
        }
        launch(kWatched, 5);
        host::must("cuptiActivityFlushAll", cuptiActivityFlushAll(0));
    }
    std::printf("kernels %d, others %d, callbacks %d\n", kernels, others, callbacks);
    return 0;
}
