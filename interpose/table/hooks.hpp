// The hook table: every hooked symbol once, in the .def files. Everything else is derived from it here: ids, names,
// exports (exports.cpp), wrappers and slots (wrappers.cpp), the API table of a trace.
//
// This header needs no CUDA header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "collector/abi/event.hpp"
#include "collector/abi/ring_layout.hpp"

namespace gpuspy::hook {

/// One per hooked symbol, in the order of the table; also the id of its API in events.
enum class HookId : std::uint16_t {
#define HOOK(name, api_class, attributes, ...) name,
#include "interpose/table/all.def"
#undef HOOK
    kCount
};

inline constexpr std::size_t kHookCount = static_cast<std::size_t>(HookId::kCount);

/// Originals that one hook can stand in front of when pointers to them are handed out (dlsym, cuGetProcAddress).
inline constexpr std::size_t kSlotCount = 4;

/// What a trace needs to know of each API, indexed by HookId.
extern const abi::ApiEntry kApiTable[kHookCount];

/// The hook with this exact name, or HookId::kCount.
HookId find_hook(const char* name) noexcept;

/// Hooks of the driver API come first in the table: HookId < kDriverHookCount.
extern const std::size_t kDriverHookCount;

constexpr std::size_t index_of(HookId id) noexcept {
    return static_cast<std::size_t>(id);
}

/// A form of a function in which stream 0 is the thread's own.
constexpr bool is_per_thread(std::string_view name) noexcept {
    return name.ends_with("_ptsz") || name.ends_with("_ptds");
}

/// Calls of this class are written to the ring. The others only keep our books (names, look-ups).
constexpr bool is_recorded(abi::ApiClass api_class) noexcept {
    return api_class != abi::ApiClass::kName && api_class != abi::ApiClass::kOther;
}

/// Calls of this class make device records.
constexpr bool makes_device_work(abi::ApiClass api_class) noexcept {
    return api_class == abi::ApiClass::kLaunch || api_class == abi::ApiClass::kMulti ||
           api_class == abi::ApiClass::kGraphLaunch || api_class == abi::ApiClass::kCopy ||
           api_class == abi::ApiClass::kSet;
}

}  // namespace gpuspy::hook
