// What the hooks on CUPTI itself do: they stand in the place of the call, since the host shares CUPTI with us (device/cupti_host.hpp).
//
// `instead` is called with the original, an address in the caller, and the arguments. Whatever is not the host's business with the
// shared copy of CUPTI goes to the original as it is.
#pragma once

#include <cstdio>
#include <tuple>
#include <type_traits>

#include "interpose/device/cupti_host.hpp"
#include "interpose/device/device.hpp"
#include "interpose/device/host_records.hpp"
#include "interpose/device/shared_buffers.hpp"
#include "interpose/device/shared_subscriber.hpp"
#include "interpose/record/call.hpp"

namespace gpuspy::hook {

/// Whether the call is the host's, to the copy that is shared.
template <class Original>
bool is_shared_call(Original original, const void* caller) noexcept {
    return is_hosts_cupti_call(caller) && is_shared_copy(reinterpret_cast<const void*>(original));
}

/// As is_shared_call(), for calls by which the host takes CUPTI: where it takes another copy, we let go of ours.
template <class Original>
bool is_shared_taking(Original original, const void* caller, const char* function) noexcept {
    if (!is_hosts_cupti_call(caller)) return false;
    wait_for_device();
    if (is_shared_copy(reinterpret_cast<const void*>(original))) return true;
    char reason[256];
    snprintf(reason, sizeof reason, "%s took another copy of CUPTI for itself (%s)", cupti_holder(), function);
    device_yield(reason);
    return false;
}

/// The call goes to Share with its original and its arguments.
template <auto Share>
struct SharedCall {
    template <class Original, class... A>
    static CUptiResult instead(Original original, const void* caller, A... arguments) noexcept {
        if (!is_shared_call(original, caller)) return original(arguments...);
        return Share(original, arguments...);
    }
};

/// Called once a record: no look-up of who calls.
struct SharedNextRecord {
    template <class Original>
    static CUptiResult instead(Original original, const void*, std::uint8_t* buffer, std::size_t bytes,
                               CUpti_Activity** record) noexcept {
        return host_next_record(original, buffer, bytes, record);
    }
};

struct SharedRegistration {
    template <class Original, class... A>
    static CUptiResult instead(Original original, const void* caller, A... arguments) noexcept {
        if (!is_shared_taking(original, caller, "cuptiActivityRegisterCallbacks")) return original(arguments...);
        return host_registers_callbacks(original, arguments...);
    }
};

inline bool is_of_newer_form(const CUpti_SubscriberParams* parameters) noexcept {
    return parameters != nullptr && parameters->structSize > sizeof *parameters;
}

/// cuptiSubscribe, and its second form with one argument more.
struct SharedSubscription {
    template <class Original, class... More>
    static CUptiResult instead(Original original, const void* caller, CUpti_SubscriberHandle* subscriber,
                               CUpti_CallbackFunc callback, void* data, More... more) noexcept {
        if (!is_shared_taking(original, caller, "cuptiSubscribe")) {
            const CUptiResult result = original(subscriber, callback, data, more...);
            const bool again = result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED &&
                               is_hosts_cupti_call(caller) && device_let_go();
            return again ? original(subscriber, callback, data, more...) : result;
        }
        if ((is_of_newer_form(more) || ...)) {
            // With it go functions that do not mix with those that we use (CUPTI 13.3).
            device_yield("a newer form of cuptiSubscribe_v2 was called");
            return original(subscriber, callback, data, more...);
        }
        auto with_more = std::make_tuple(original, more...);
        using Context = decltype(with_more);
        constexpr auto call = [](void* context, CUpti_SubscriberHandle* handle, CUpti_CallbackFunc function,
                                 void* function_data) {
            return std::apply([&](auto real, auto... rest) { return real(handle, function, function_data, rest...); },
                              *static_cast<Context*>(context));
        };
        return host_subscribes(call, &with_more, subscriber, callback, data);
    }
};

/// A kind is enabled; it is the argument at Index.
template <int Index>
struct SharedEnable {
    template <class Original, class... A>
    static CUptiResult instead(Original original, const void* caller, A... arguments) noexcept {
        if (!is_shared_taking(original, caller, "cuptiActivityEnable")) return original(arguments...);
        const CUpti_ActivityKind kind = std::get<Index>(std::tuple<A...>(arguments...));
        const bool is_new = host_enables_kind(kind);
        const CUptiResult result = original(arguments...);
        if (result != CUPTI_SUCCESS && is_new) host_failed_to_enable(kind);
        return result;
    }
};

template <int Index>
struct SharedDisable {
    template <class Original, class... A>
    static CUptiResult instead(Original original, const void* caller, A... arguments) noexcept {
        if (!is_shared_call(original, caller)) return original(arguments...);
        const CUpti_ActivityKind kind = std::get<Index>(std::tuple<A...>(arguments...));
        const CUptiResult result = may_disable_kind(kind) ? original(arguments...) : CUPTI_SUCCESS;
        if (result == CUPTI_SUCCESS) host_disabled_kind(kind);
        return result;
    }
};

/// Records of one function of the driver or the runtime, which are of Kind.
template <CUpti_ActivityKind Kind>
struct SharedEnableApi {
    template <class Original>
    static CUptiResult instead(Original original, const void* caller, CUpti_CallbackId id,
                               std::uint8_t enable) noexcept {
        if (enable == 0 || !is_shared_taking(original, caller, "cuptiActivityEnable")) return original(id, enable);
        const bool is_new = host_enables_kind(Kind);
        const CUptiResult result = original(id, enable);
        if (result != CUPTI_SUCCESS && is_new) host_failed_to_enable(Kind);
        return result;
    }
};

struct SharedFinalize {
    template <class Original>
    static CUptiResult instead(Original original, const void* caller) noexcept {
        if (!is_shared_call(original, caller)) return original();
        char reason[256];
        snprintf(reason, sizeof reason, "%s called cuptiFinalize", cupti_holder());
        const bool was_on = device_detach(reason);
        const CUptiResult result = original();
        device_detached(was_on, result == CUPTI_SUCCESS);
        return result;
    }
};

}  // namespace gpuspy::hook
