// Activity functions with a subscriber, as CUPTI has from 13.2 on and our headers do not: of use only where none of the first set is in
// use, as documented.
#include "tests/fakes/cupti/activity.hpp"
#include "tests/fakes/cupti/state.hpp"

namespace sim::cupti {
namespace {

using Request = void(CUPTIAPI*)(std::uint8_t**, std::size_t*, std::size_t*, void* info);
using Complete = void(CUPTIAPI*)(std::uint8_t*, std::size_t, std::size_t, void* info);

std::atomic<Request> request{nullptr};
std::atomic<Complete> complete{nullptr};

void CUPTIAPI ask(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
    request.load()(buffer, bytes, max_records, nullptr);
}

void CUPTIAPI give(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t bytes, std::size_t valid_bytes) {
    complete.load()(buffer, bytes, valid_bytes, nullptr);
}

bool use_second() {
    Functions none = Functions::kNone;
    return state().functions.compare_exchange_strong(none, Functions::kSecond) || none == Functions::kSecond;
}

}  // namespace
}  // namespace sim::cupti

extern "C" {

CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks_v2(CUpti_SubscriberHandle, sim::cupti::Request request,
                                                       sim::cupti::Complete complete) {
    if (!sim::cupti::use_second()) {
        return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    }
    sim::cupti::request = request;
    sim::cupti::complete = complete;
    const std::lock_guard lock(sim::cupti::state().mutex);
    sim::cupti::state().request = sim::cupti::ask;
    sim::cupti::state().complete = sim::cupti::give;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnable_v2(CUpti_SubscriberHandle, CUpti_ActivityKind kind, void*) {
    return sim::cupti::use_second() ? sim::cupti::enable_kind(kind, nullptr)
                                    : CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
}

CUptiResult CUPTIAPI cuptiActivityDisable_v2(CUpti_SubscriberHandle, CUpti_ActivityKind kind, void*) {
    return sim::cupti::disable_kind(kind, nullptr);
}
}
