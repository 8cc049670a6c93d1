// The frame of every entry point: one table that cuGetProcAddress reads, and what happens around a call (tracing,
// injected failures, the checks that every call makes).
//
// SIM_API(base, suffix, version, PARAMETERS, ARGUMENTS) { body }
//   defines base##suffix, which is what cuGetProcAddress(base) gives for CUDA versions from `version` on. The prototype
//   is checked against cuda.h, the version against cudaTypedefs.h, and the CUPTI callback id and parameter struct are
//   the headers' own.
// SIM_API_STREAM(base, suffix, version, variant, variant_version, PARAMETERS, ARGUMENTS) { body }
//   also defines base##suffix##variant (_ptsz or _ptds), in which stream 0 is the thread's own.
// SIM_API_NONE: no parameters. SIM_API_V1: a 32-bit function of CUDA 2 and 3, which fails.
#pragma once

#include <cuda.h>
#include <cudaProfiler.h>
#include <cudaProfilerTypedefs.h>
#include <cudaTypedefs.h>
#include <cupti_driver_cbid.h>
#include <generated_cuda_meta.h>

#include <cstdint>
#include <type_traits>

#include "tests/fakes/common/injection.hpp"
#include "tests/fakes/driver/state.hpp"
#include "tests/fakes/driver/tracer.hpp"

namespace sim {

enum class Binding { kLegacy, kPerThread };

/// One exported function.
class EntryPoint {
public:
    EntryPoint(const char* base, const char* symbol, int version, Binding binding, void* function, std::uint32_t cbid);

    const char* base;
    const char* symbol;
    int version;  ///< CUDA version from which on this is what `base` means.
    Binding binding;
    void* function;
    std::uint32_t cbid;   ///< 0: none.
    bool always_allowed;  ///< Works before cuInit, after a sticky error and in a forked child.
    Injection injection;
    EntryPoint* next;  ///< In entry_points().
};

EntryPoint*& entry_points();

/// The call that the thread is in; constructed at its begin. Tells the tracer.
class CallFrame {
public:
    CallFrame(EntryPoint& entry, const void* params, const char* kernel_name);
    ~CallFrame();
    CallFrame(const CallFrame&) = delete;
    CallFrame& operator=(const CallFrame&) = delete;

    /// The checks that come before the body. CUDA_SUCCESS: go on.
    CUresult admit();
    CUresult finish(CUresult result);
    /// The id that ties this call to its activities; made at the first use.
    std::uint32_t correlation();

    static CallFrame* current();

private:
    void tell(bool enter, CUresult* result);

    EntryPoint& entry_;
    const void* params_;
    const char* kernel_name_;
    CallFrame* outer_;
    CUstream outer_default_;
    const Tracer* tracer_ = nullptr;
    std::uint32_t correlation_ = 0;
    std::uint64_t correlation_data_ = 0;
};

const Tracer* tracer();
CUstreamCaptureMode& capture_interaction_mode();

/// The name of the kernel that `first` would launch, for CUPTI's callbacks; nullptr unless the call launches one.
const char* launched_name(CUfunction function);

template <class Body>
CUresult call(EntryPoint& entry, const void* params, const char* kernel_name, Body&& body) {
    CallFrame frame(entry, params, kernel_name);
    CUresult result = frame.admit();
    if (result == CUDA_SUCCESS) {
        result = body();
    }
    return frame.finish(result);
}

template <class First, class... Rest>
CUfunction function_among(First first, Rest... rest) {
    if constexpr (std::is_same_v<First, CUfunction>) {
        return first;
    } else if constexpr (sizeof...(Rest) > 0) {
        return function_among(rest...);
    } else {
        return nullptr;
    }
}

constexpr bool is_launch(const char* name) {
    return name[0] == 'c' && name[1] == 'u' && name[2] == 'L' && name[3] == 'a' && name[4] == 'u' && name[5] == 'n';
}

}  // namespace sim

#define SIM_LIST(...) __VA_ARGS__

// clang-format off
#define SIM_API(base, suffix, version, PARAMETERS, ARGUMENTS)                                                            \
    static CUresult base##suffix##_body PARAMETERS;                                                                      \
    static_assert(std::is_same_v<decltype(&base##suffix), PFN_##base##_v##version>);                                     \
    static sim::EntryPoint base##suffix##_entry{#base, #base #suffix, version, sim::Binding::kLegacy,                    \
                                                reinterpret_cast<void*>(&base##suffix),                                  \
                                                CUPTI_DRIVER_TRACE_CBID_##base##suffix};                                 \
    extern "C" CUresult CUDAAPI base##suffix PARAMETERS {                                                                \
        base##suffix##_params sim_params{SIM_LIST ARGUMENTS};                                                                \
        const char* sim_kernel = sim::is_launch(#base) ? sim::launched_name(sim::function_among ARGUMENTS) : nullptr;        \
        return sim::call(base##suffix##_entry, &sim_params, sim_kernel, [&] { return base##suffix##_body ARGUMENTS; });          \
    }                                                                                                                    \
    static CUresult base##suffix##_body PARAMETERS

#define SIM_API_STREAM(base, suffix, version, variant, variant_version, PARAMETERS, ARGUMENTS)                           \
    static CUresult base##suffix##_body PARAMETERS;                                                                      \
    static_assert(std::is_same_v<decltype(&base##suffix##variant), PFN_##base##_v##variant_version##variant>);           \
    static sim::EntryPoint base##suffix##variant##_entry{#base, #base #suffix #variant, variant_version,                 \
                                                         sim::Binding::kPerThread,                                       \
                                                         reinterpret_cast<void*>(&base##suffix##variant),                \
                                                         CUPTI_DRIVER_TRACE_CBID_##base##suffix##variant};               \
    extern "C" CUresult CUDAAPI base##suffix##variant PARAMETERS {                                                       \
        base##suffix##variant##_params sim_params{SIM_LIST ARGUMENTS};                                                       \
        const char* sim_kernel = sim::is_launch(#base) ? sim::launched_name(sim::function_among ARGUMENTS) : nullptr;        \
        return sim::call(base##suffix##variant##_entry, &sim_params, sim_kernel, [&] { return base##suffix##_body ARGUMENTS; }); \
    }                                                                                                                    \
    SIM_API(base, suffix, version, PARAMETERS, ARGUMENTS)

#define SIM_API_NONE(base, suffix, version)                                                                              \
    static CUresult base##suffix##_body();                                                                               \
    static_assert(std::is_same_v<decltype(&base##suffix), PFN_##base##_v##version>);                                     \
    static sim::EntryPoint base##suffix##_entry{#base, #base #suffix, version, sim::Binding::kLegacy,                    \
                                                reinterpret_cast<void*>(&base##suffix),                                  \
                                                CUPTI_DRIVER_TRACE_CBID_##base##suffix};                                 \
    extern "C" CUresult CUDAAPI base##suffix() {                                                                         \
        return sim::call(base##suffix##_entry, nullptr, nullptr, [] { return base##suffix##_body(); });                  \
    }                                                                                                                    \
    static CUresult base##suffix##_body()

#define SIM_API_V1(base, version, PARAMETERS)                                                                            \
    static_assert(std::is_same_v<decltype(&base), PFN_##base##_v##version>);                                             \
    static sim::EntryPoint base##_entry{#base, #base, version, sim::Binding::kLegacy, reinterpret_cast<void*>(&base),    \
                                        CUPTI_DRIVER_TRACE_CBID_##base};                                                 \
    extern "C" CUresult CUDAAPI base PARAMETERS {                                                                        \
        return sim::call(base##_entry, nullptr, nullptr, [] { return CUDA_ERROR_NOT_SUPPORTED; });                       \
    }                                                                                                                    \
    static_assert(true)
// clang-format on
