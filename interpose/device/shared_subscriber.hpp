// CUPTI's one subscriber, for two: the host and us. Whoever comes second gets the handle of the first; each is called back for what
// it enabled, and CUPTI's callback of an id stays on until neither wants it.
#pragma once

#include <cstdint>

#include "interpose/device/cupti_api.hpp"

namespace gpuspy::hook {

/// Ours. `called`: on the thread that makes the call; CallbackData's correlationData is the host's.
struct OurCallback {
    void (*called)(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) noexcept;
    bool (*wants)(CUpti_CallbackDomain domain, CUpti_CallbackId id) noexcept;
    CUpti_CallbackId driver_ids;  ///< Ids of the driver's domain are below.
};

/// Subscribes, or joins the host's subscription, and enables what we want. `mine` must stay.
CUptiResult begin_our_callbacks(const CuptiApi& api, const OurCallback& mine) noexcept;
void end_our_callbacks(const CuptiApi& api) noexcept;
/// Whether the host subscribes to the shared copy.
bool host_has_subscribed() noexcept;

/// The host called cuptiFinalize: CUPTI has forgotten the subscription.
void forget_subscription() noexcept;

/// The calls of the host's, each with its original. For a handle that is not the shared one they are as without us.
CUptiResult host_subscribes(CUptiResult (*original)(void* context, CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*),
                            void* context, CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                            void* data) noexcept;
CUptiResult host_unsubscribes(decltype(&::cuptiUnsubscribe) original, CUpti_SubscriberHandle subscriber) noexcept;
CUptiResult host_enables_callback(decltype(&::cuptiEnableCallback) original, std::uint32_t enable,
                                  CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain,
                                  CUpti_CallbackId id) noexcept;
CUptiResult host_enables_domain(decltype(&::cuptiEnableDomain) original, std::uint32_t enable,
                                CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain) noexcept;
CUptiResult host_enables_all(decltype(&::cuptiEnableAllDomains) original, std::uint32_t enable,
                             CUpti_SubscriberHandle subscriber) noexcept;
CUptiResult host_asks_state(decltype(&::cuptiGetCallbackState) original, std::uint32_t* enable,
                            CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain,
                            CUpti_CallbackId id) noexcept;

}  // namespace gpuspy::hook
