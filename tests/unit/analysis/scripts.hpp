// Pieces of timelines that many tests use. Host ticks are ns; the host's monotonic clock and the device clock are
// kHostOffset and kDeviceOffset ahead of them.
#pragma once

#include <cstdint>
#include <string>

#include "tests/unit/analysis/trace_builder.hpp"

namespace gpuspy::test {

inline constexpr std::uint64_t kStart = 1'000'000;
inline constexpr std::uint64_t kHostOffset = 500'000'000;
inline constexpr std::uint64_t kDeviceOffset = 9'000'000'000;

/// A device time at host ticks `ticks`.
inline std::uint64_t on_device(std::uint64_t ticks) {
    return ticks + kDeviceOffset;
}

inline Api runtime_launch() {
    return {"cudaLaunchKernel", "runtime", abi::ApiLevel::kRuntime, abi::ApiClass::kLaunch};
}
inline Api driver_launch() {
    return {"cuLaunchKernel", "driver", abi::ApiLevel::kDriver, abi::ApiClass::kLaunch};
}
inline Api graph_launch() {
    return {"cudaGraphLaunch", "runtime", abi::ApiLevel::kRuntime, abi::ApiClass::kGraphLaunch};
}
inline Api device_sync() {
    return {"cudaDeviceSynchronize", "runtime", abi::ApiLevel::kRuntime, abi::ApiClass::kSync, abi::kApiBlocking};
}
inline Api stream_sync() {
    return {"cudaStreamSynchronize", "runtime", abi::ApiLevel::kRuntime, abi::ApiClass::kSync, abi::kApiBlocking};
}
inline Api cudnn(const std::string& name) {
    return {name, "cudnn", abi::ApiLevel::kLibrary, abi::ApiClass::kLibrary};
}
inline Api cublas(const std::string& name) {
    return {name, "cublas", abi::ApiLevel::kLibrary, abi::ApiClass::kLibrary};
}

/// A trace that begins at kStart with both spans on, anchors at kStart and kStart + 1 ms (so its wall time is at least
/// that), thread (0, 100) and two objects: libtorch_cuda.so at [0x1000, 0x2000), app at [0x5000, 0x6000).
TraceBuilder begun_trace();

/// A trace with something of everything, in several blocks and two segments: for truncation, bit flips and the fuzzer.
TraceBuilder varied_trace();

}  // namespace gpuspy::test
