// What the hooks on CUPTI itself do: they stand in the place of the call, since the host shares CUPTI with us (device/cupti_host.hpp).
//
// `instead` is called with the original, an address in the caller, and the arguments. Whatever is not the host's business with the
// shared copy of CUPTI goes to the original as it is.
#pragma once

#include <cstdio>
#include <tuple>

#include "interpose/device/cupti_host.hpp"
#include "interpose/device/device.hpp"
#include "interpose/device/host_records.hpp"
#include "interpose/device/shared_buffers.hpp"
#include "interpose/device/shared_kinds.hpp"
#include "interpose/device/shared_subscriber.hpp"
#include "interpose/record/call.hpp"
#include "interpose/table/hooks.hpp"

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

/// The host calls what does not mix with the functions that we use (CUPTI 13.2): device times end. As long as CUPTI has ours it may refuse
/// all the same, so then it is finalised, where the host has nothing of it yet.
template <class Call>
CUptiResult give_way(const char* function, Call call) noexcept {
    char reason[256];
    snprintf(reason, sizeof reason, "%s called %s, which does not go with the functions that gpuspy uses",
             cupti_holder(), function);
    device_yield(reason);
    const CUptiResult result = call();
    return result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED && device_let_go() ? call() : result;
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
            return give_way("a newer form of cuptiSubscribe_v2",
                            [&] { return original(subscriber, callback, data, more...); });
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

/// The host enables a kind, by `call`. One that CUPTI refuses beside ours it gets, and we give way.
template <class Call>
CUptiResult enable_for_host(CUpti_ActivityKind kind, KindScope scope, Call call) noexcept {
    const bool is_new = host_enables_kind(kind, scope);
    CUptiResult result = call();
    if (result == CUPTI_ERROR_NOT_COMPATIBLE && set_our_kinds_aside()) {
        result = call();
        if (result == CUPTI_SUCCESS) {
            char reason[256];
            snprintf(reason, sizeof reason, "%s enabled activity kind %d, which excludes those of kernels",
                     cupti_holder(), static_cast<int>(kind));
            device_yield(reason);
        } else {
            take_our_kinds_back();
        }
    }
    if (result != CUPTI_SUCCESS && is_new) host_disabled_kind(kind, scope);
    return result;
}

constexpr KindScope scope_of(CUpti_ActivityKind) noexcept {
    return {};
}
inline KindScope scope_of(CUcontext context, CUpti_ActivityKind) noexcept {
    return {KindScope::kContext, reinterpret_cast<std::uintptr_t>(context)};
}
constexpr CUpti_ActivityKind kind_of(CUpti_ActivityKind kind) noexcept {
    return kind;
}
constexpr CUpti_ActivityKind kind_of(CUcontext, CUpti_ActivityKind kind) noexcept {
    return kind;
}

/// cuptiActivityEnable, and its form with a context.
struct SharedEnable {
    template <class Original, class... A>
    static CUptiResult instead(Original original, const void* caller, A... arguments) noexcept {
        if (!is_shared_taking(original, caller, "cuptiActivityEnable")) return original(arguments...);
        return enable_for_host(kind_of(arguments...), scope_of(arguments...), [&] { return original(arguments...); });
    }
};

struct SharedDisable {
    template <class Original, class... A>
    static CUptiResult instead(Original original, const void* caller, A... arguments) noexcept {
        if (!is_shared_call(original, caller)) return original(arguments...);
        const CUpti_ActivityKind kind = kind_of(arguments...);
        const CUptiResult result = may_disable_kind(kind) ? original(arguments...) : CUPTI_SUCCESS;
        if (result == CUPTI_SUCCESS) host_disabled_kind(kind, scope_of(arguments...));
        return result;
    }
};

/// Records of one function of the driver or the runtime, which are of Kind.
template <CUpti_ActivityKind Kind>
struct SharedEnableApi {
    template <class Original>
    static CUptiResult instead(Original original, const void* caller, CUpti_CallbackId id,
                               std::uint8_t enable) noexcept {
        const KindScope scope{KindScope::kFunction, id};
        if (enable == 0) {
            const CUptiResult result = original(id, enable);
            if (result == CUPTI_SUCCESS && is_shared_call(original, caller)) host_disabled_kind(Kind, scope);
            return result;
        }
        if (!is_shared_taking(original, caller, "cuptiActivityEnable")) return original(id, enable);
        return enable_for_host(Kind, scope, [=] { return original(id, enable); });
    }
};

struct SharedFlush {
    static CUptiResult instead(decltype(&::cuptiActivityFlushAll) original, const void* caller,
                               std::uint32_t flag) noexcept {
        if (!is_shared_call(original, caller)) return original(flag);
        constexpr auto call = [](void* context, std::uint32_t given) {
            return (*static_cast<decltype(original)*>(context))(given);
        };
        return host_flushes(call, &original, flag);
    }

    /// The deprecated form: CUPTI ignores context and stream.
    static CUptiResult instead(decltype(&::cuptiActivityFlush) original, const void* caller, CUcontext context,
                               std::uint32_t stream, std::uint32_t flag) noexcept {
        if (!is_shared_call(original, caller)) return original(context, stream, flag);
        struct Whole {
            decltype(original) function;
            CUcontext context;
            std::uint32_t stream;
        } whole{original, context, stream};
        constexpr auto call = [](void* given, std::uint32_t given_flag) {
            const auto& one = *static_cast<const Whole*>(given);
            return one.function(one.context, one.stream, given_flag);
        };
        return host_flushes(call, &whole, flag);
    }
};

/// Functions with a subscriber, which CUPTI has from 13.2 on and which do not mix with those that we use.
template <HookId Id>
struct NewerFunction {
    template <class Original, class... A>
    static CUptiResult instead(Original original, const void* caller, A... arguments) noexcept {
        const char* name = kApiTable[index_of(Id)].name;
        if (!is_shared_taking(original, caller, name)) return original(arguments...);
        return give_way(name, [&] { return original(arguments...); });
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
