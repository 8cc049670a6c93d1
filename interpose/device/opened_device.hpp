// CUPTI as device.cpp opens it and gives it back, for the drain thread, which uses it (collection.cpp).
#pragma once

#include <atomic>
#include <cstdint>

#include "interpose/device/cupti_api.hpp"

namespace gpuspy::hook {

enum class DeviceState : std::uint32_t {
    kUnopened,  ///< No device work yet.
    kOpening,   ///< A thread is at it.
    kOn,
    kOff,  ///< Not wanted, not to be had, or given back to the host.
};

struct OpenedDevice {
    std::atomic<DeviceState> state{DeviceState::kUnopened};
    CuptiApi cupti{};
    std::atomic<std::uint32_t> users{0};  ///< Our threads that are calling it.
};
extern OpenedDevice opened_device;

/// While a thread of ours uses CUPTI, which must not be finalised meanwhile. Looks at the state when it stands.
class UsingCupti {
public:
    UsingCupti() noexcept {
        opened_device.users.fetch_add(1, std::memory_order_seq_cst);
        state_ = opened_device.state.load(std::memory_order_seq_cst);
    }
    ~UsingCupti() { opened_device.users.fetch_sub(1, std::memory_order_release); }
    UsingCupti(const UsingCupti&) = delete;
    UsingCupti& operator=(const UsingCupti&) = delete;

    DeviceState device_state() const noexcept { return state_; }

private:
    DeviceState state_;
};

}  // namespace gpuspy::hook
