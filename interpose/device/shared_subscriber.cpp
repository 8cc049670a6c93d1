#include "interpose/device/shared_subscriber.hpp"

#include <atomic>

#include "interpose/device/cupti_host.hpp"
#include "interpose/lifecycle/wait.hpp"
#include "interpose/record/thread.hpp"

namespace gpuspy::hook {
namespace {

constinit std::atomic<CUpti_SubscriberHandle> shared{nullptr};
constinit std::atomic<const OurCallback*> mine{nullptr};
constinit std::atomic<const CuptiApi*> our_api{nullptr};  ///< Set before `mine`.
/// The host's, constant once it is published: a call that reads it while the host subscribes anew has the one or the other, whole.
struct HostCallback {
    CUpti_CallbackFunc function;
    void* data;
};
constexpr std::uint32_t kMaxHostCallbacks = 64;
constinit HostCallback host_callbacks[kMaxHostCallbacks]{};
constinit std::atomic<std::uint32_t> host_callback_count{0};
constinit std::atomic<const HostCallback*> host_callback{nullptr};

constexpr std::uint32_t kIds = 1024;  ///< Of a domain that are told apart; the largest has 800.
static_assert(CUPTI_DRIVER_TRACE_CBID_SIZE < kIds);

/// What the host has enabled, by domain and id.
class Wishes {
public:
    bool has(std::uint32_t domain, std::uint32_t id) const noexcept {
        // Of a newer CUPTI: we enabled none of it.
        if (domain >= CUPTI_CB_DOMAIN_SIZE || id >= kIds) return true;
        return (words_[domain][id / 64].load(std::memory_order_relaxed) >> (id % 64) & 1) != 0;
    }
    void set(std::uint32_t domain, std::uint32_t id, bool wanted) noexcept {
        if (domain >= CUPTI_CB_DOMAIN_SIZE || id >= kIds) return;
        const std::uint64_t bit = std::uint64_t{1} << (id % 64);
        if (wanted) {
            words_[domain][id / 64].fetch_or(bit, std::memory_order_relaxed);
        } else {
            words_[domain][id / 64].fetch_and(~bit, std::memory_order_relaxed);
        }
    }
    void set_domain(std::uint32_t domain, bool wanted) noexcept {
        if (domain >= CUPTI_CB_DOMAIN_SIZE) return;
        for (auto& word : words_[domain]) word.store(wanted ? ~std::uint64_t{0} : 0, std::memory_order_relaxed);
    }
    void set_all(bool wanted) noexcept {
        for (std::uint32_t domain = 0; domain < CUPTI_CB_DOMAIN_SIZE; ++domain) set_domain(domain, wanted);
    }

private:
    std::atomic<std::uint64_t> words_[CUPTI_CB_DOMAIN_SIZE][kIds / 64];
};
constinit Wishes wishes{};

bool we_want(CUpti_CallbackDomain domain, CUpti_CallbackId id) noexcept {
    const OurCallback* ours = mine.load(std::memory_order_acquire);
    return ours != nullptr && ours->wants(domain, id);
}

/// What the host had on, but for what we want: so that no call of ours is missed meanwhile.
void switch_off(CUpti_CallbackDomain domain) noexcept {
    const OurCallback* ours = mine.load(std::memory_order_acquire);
    const CuptiApi* api = our_api.load(std::memory_order_relaxed);
    const CUpti_SubscriberHandle handle = shared.load(std::memory_order_acquire);
    if (ours == nullptr) return;
    if (domain != CUPTI_CB_DOMAIN_DRIVER_API) {
        api->enable_domain(0, handle, domain);
        return;
    }
    for (CUpti_CallbackId id = 1; id < ours->driver_ids; ++id) {
        if (!ours->wants(domain, id)) api->enable_callback(0, handle, domain, id);
    }
}

void switch_off_all() noexcept {
    for (int domain = CUPTI_CB_DOMAIN_DRIVER_API; domain < CUPTI_CB_DOMAIN_SIZE; ++domain) {
        switch_off(static_cast<CUpti_CallbackDomain>(domain));
    }
}

void CUPTIAPI called(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
    const HostCallback* hosts = host_callback.load(std::memory_order_acquire);
    // Calls that we make ourselves it would not see alone.
    const bool is_hosts = hosts != nullptr && !thread_local_state.inside_gpuspy && wishes.has(domain, id);
    const OurCallback* ours = mine.load(std::memory_order_acquire);
    if (ours != nullptr && ours->wants(domain, id)) ours->called(domain, id, data);
    if (is_hosts) hosts->function(hosts->data, domain, id, data);
}

bool is_shared(CUpti_SubscriberHandle subscriber) noexcept {
    return subscriber != nullptr && subscriber == shared.load(std::memory_order_acquire);
}

/// A handle that the host had, has given back, and must not use any more: it is ours now.
bool is_given_back(CUpti_SubscriberHandle subscriber) noexcept {
    return is_shared(subscriber) && host_callback.load(std::memory_order_acquire) == nullptr;
}

/// CUPTI says that there is a subscriber. It may be ours, made by another thread this moment: its handle, or nullptr after a while.
CUpti_SubscriberHandle others_subscription() noexcept {
    constexpr int kWaitMs = 20;
    for (int i = 0; i < kWaitMs; ++i) {
        if (const CUpti_SubscriberHandle handle = shared.load(std::memory_order_acquire)) return handle;
        pause_ms(1);
    }
    return nullptr;
}

}  // namespace

CUptiResult begin_our_callbacks(const CuptiApi& api, const OurCallback& callback) noexcept {
    CUpti_SubscriberHandle handle = shared.load(std::memory_order_acquire);
    if (handle == nullptr) {
        const CUptiResult subscribed = api.subscribe(&handle, called, nullptr);
        if (subscribed == CUPTI_SUCCESS) {
            shared.store(handle, std::memory_order_release);
        } else if ((handle = others_subscription()) == nullptr) {
            return subscribed;
        }
    }
    our_api.store(&api, std::memory_order_relaxed);
    mine.store(&callback, std::memory_order_release);
    for (CUpti_CallbackId id = 1; id < callback.driver_ids; ++id) {
        // An older CUPTI does not know newer functions: the driver that it fits does not have them either.
        if (callback.wants(CUPTI_CB_DOMAIN_DRIVER_API, id)) {
            api.enable_callback(1, handle, CUPTI_CB_DOMAIN_DRIVER_API, id);
        }
    }
    return CUPTI_SUCCESS;
}

void end_our_callbacks(const CuptiApi& api) noexcept {
    const OurCallback* ours = mine.exchange(nullptr, std::memory_order_acq_rel);
    const CUpti_SubscriberHandle handle = shared.load(std::memory_order_acquire);
    if (ours == nullptr || handle == nullptr) return;
    if (host_callback.load(std::memory_order_acquire) == nullptr) {
        shared.store(nullptr, std::memory_order_release);
        api.unsubscribe(handle);
        return;
    }
    for (CUpti_CallbackId id = 1; id < ours->driver_ids; ++id) {
        if (ours->wants(CUPTI_CB_DOMAIN_DRIVER_API, id) && !wishes.has(CUPTI_CB_DOMAIN_DRIVER_API, id)) {
            api.enable_callback(0, handle, CUPTI_CB_DOMAIN_DRIVER_API, id);
        }
    }
}

bool host_has_subscribed() noexcept {
    return host_callback.load(std::memory_order_acquire) != nullptr;
}

void forget_subscription() noexcept {
    mine.store(nullptr, std::memory_order_release);
    host_callback.store(nullptr, std::memory_order_release);
    wishes.set_all(false);
    shared.store(nullptr, std::memory_order_release);
}

CUptiResult host_subscribes(CUptiResult (*original)(void* context, CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*),
                            void* context, CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                            void* data) noexcept {
    const bool has_one = host_callback.load(std::memory_order_acquire) != nullptr;
    if (subscriber == nullptr || callback == nullptr || has_one) return original(context, subscriber, callback, data);
    CUpti_SubscriberHandle handle = shared.load(std::memory_order_acquire);
    if (handle == nullptr) {
        const CUptiResult result = original(context, &handle, called, nullptr);
        if (result == CUPTI_SUCCESS) {
            shared.store(handle, std::memory_order_release);
        } else if ((handle = others_subscription()) == nullptr) {
            return result;
        }
    }
    keep_loaded(reinterpret_cast<const void*>(callback));
    HostCallback& hosts =
        host_callbacks[host_callback_count.fetch_add(1, std::memory_order_relaxed) % kMaxHostCallbacks];
    hosts = {callback, data};
    host_callback.store(&hosts, std::memory_order_release);
    *subscriber = handle;
    return CUPTI_SUCCESS;
}

CUptiResult host_unsubscribes(decltype(&::cuptiUnsubscribe) original, CUpti_SubscriberHandle subscriber) noexcept {
    if (is_given_back(subscriber)) return CUPTI_ERROR_INVALID_PARAMETER;
    if (!is_shared(subscriber)) return original(subscriber);
    host_callback.store(nullptr, std::memory_order_release);
    wishes.set_all(false);
    if (mine.load(std::memory_order_acquire) != nullptr) {
        switch_off_all();
        return CUPTI_SUCCESS;
    }
    shared.store(nullptr, std::memory_order_release);
    return original(subscriber);
}

CUptiResult host_enables_callback(decltype(&::cuptiEnableCallback) original, std::uint32_t enable,
                                  CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain,
                                  CUpti_CallbackId id) noexcept {
    if (is_given_back(subscriber)) return CUPTI_ERROR_INVALID_PARAMETER;
    if (!is_shared(subscriber)) return original(enable, subscriber, domain, id);
    const bool stays = enable == 0 && we_want(domain, id);
    const CUptiResult result = stays ? CUPTI_SUCCESS : original(enable, subscriber, domain, id);
    if (result == CUPTI_SUCCESS) wishes.set(domain, id, enable != 0);
    return result;
}

CUptiResult host_enables_domain(decltype(&::cuptiEnableDomain) original, std::uint32_t enable,
                                CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain) noexcept {
    if (is_given_back(subscriber)) return CUPTI_ERROR_INVALID_PARAMETER;
    if (!is_shared(subscriber)) return original(enable, subscriber, domain);
    if (enable == 0 && domain == CUPTI_CB_DOMAIN_DRIVER_API && mine.load(std::memory_order_acquire) != nullptr) {
        wishes.set_domain(domain, false);
        switch_off(domain);
        return CUPTI_SUCCESS;
    }
    const CUptiResult result = original(enable, subscriber, domain);
    if (result == CUPTI_SUCCESS) wishes.set_domain(domain, enable != 0);
    return result;
}

CUptiResult host_enables_all(decltype(&::cuptiEnableAllDomains) original, std::uint32_t enable,
                             CUpti_SubscriberHandle subscriber) noexcept {
    if (is_given_back(subscriber)) return CUPTI_ERROR_INVALID_PARAMETER;
    if (!is_shared(subscriber)) return original(enable, subscriber);
    if (enable == 0 && mine.load(std::memory_order_acquire) != nullptr) {
        wishes.set_all(false);
        switch_off_all();
        return CUPTI_SUCCESS;
    }
    const CUptiResult result = original(enable, subscriber);
    if (result == CUPTI_SUCCESS) wishes.set_all(enable != 0);
    return result;
}

CUptiResult host_asks_state(decltype(&::cuptiGetCallbackState) original, std::uint32_t* enable,
                            CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain,
                            CUpti_CallbackId id) noexcept {
    if (is_given_back(subscriber)) return CUPTI_ERROR_INVALID_PARAMETER;
    const CUptiResult result = original(enable, subscriber, domain, id);
    if (result == CUPTI_SUCCESS && is_shared(subscriber)) *enable = wishes.has(domain, id) ? 1 : 0;
    return result;
}

}  // namespace gpuspy::hook
