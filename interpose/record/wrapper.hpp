// The typed wrapper of a hook: one instance per hook and slot, made from the table (table/wrappers.cpp).
#pragma once

#include "interpose/device/device.hpp"
#include "interpose/lifecycle/generation.hpp"
#include "interpose/record/call.hpp"
#include "interpose/record/capture.hpp"
#include "interpose/record/names.hpp"
#include "interpose/resolve/originals.hpp"
#include "interpose/table/signatures.hpp"

namespace gpuspy::hook {

/// What the table says of a hook: kClass, kLevel, kIsPerThread, Policy.
template <HookId Id>
struct Row;

/// "Slot" of the wrapper behind the exported symbol.
inline constexpr std::size_t kElfSlot = kSlotCount;

/// What a hook returns when nothing in the process provides its function, as the API itself says "no driver" or "not
/// initialised". A host sees it only if it calls through a weak reference without having CUDA.
template <class Status>
constexpr Status unavailable() noexcept {
    if constexpr (std::is_same_v<Status, CUresult>)
        return CUDA_ERROR_NO_DEVICE;
    else if constexpr (std::is_same_v<Status, cudaError_t>)
        return cudaErrorInsufficientDriver;
    else
        return CUPTI_ERROR_NOT_INITIALIZED;
}

template <HookId Id, std::size_t Slot, class Function>
struct Wrapper;

template <HookId Id, std::size_t Slot, class Status, class... A>
struct Wrapper<Id, Slot, Status (*)(A...)> {
    static constexpr bool kIsDeviceCall =
        Row<Id>::kLevel == abi::ApiLevel::kDriver && makes_device_work(Row<Id>::kClass);

    static Status call(A... arguments) {
        void* address;
        if constexpr (Slot == kElfSlot) {
            address = original_for_caller(Id, __builtin_return_address(0));
            if (address == nullptr) [[unlikely]]
                return unavailable<Status>();
        } else {
            address = slot_originals[index_of(Id)][Slot].load(std::memory_order_relaxed);
        }
        const auto original = reinterpret_cast<Status (*)(A...)>(address);
        CallParts parts;
        if constexpr (requires { Row<Id>::Policy::instead(original, __builtin_return_address(0), arguments...); }) {
            return Row<Id>::Policy::instead(original, __builtin_return_address(0), arguments...);
        } else if constexpr (!is_recorded(Row<Id>::kClass)) {
            if constexpr (requires { Row<Id>::Policy::before(Id, nullptr, arguments...); }) {
                Row<Id>::Policy::before(Id, __builtin_return_address(0), arguments...);
            }
            const Status status = original(arguments...);
            Row<Id>::Policy::after(nullptr, parts, static_cast<int>(status), arguments...);
            return status;
        } else {
            if (hooks_pass()) [[unlikely]]
                return original(arguments...);
            CallFrame frame;
            if (!begin_call(frame, Id, __builtin_return_address(0), __builtin_frame_address(0))) [[unlikely]] {
                return original(arguments...);
            }
            if constexpr (kIsDeviceCall) device_call_begins(frame);
            const Status status = original(arguments...);
            parts.status = static_cast<int>(status);
            if (parts.status != 0) parts.flags |= abi::kCallStatus;
            Row<Id>::Policy::after(&frame, parts, parts.status, arguments...);
            if constexpr (kIsDeviceCall) device_call_ends(frame, parts, Row<Id>::kIsPerThread);
            end_call(frame, parts);
            return status;
        }
    }
};

}  // namespace gpuspy::hook
