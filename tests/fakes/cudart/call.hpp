// The frame of every runtime entry point: driver found and initialised, context made, injected failures, last error.
//
// SIM_RT(name, needs, PARAMETERS, ARGUMENTS) { body }      the body sees `cu`, the table of driver functions
// SIM_RT_STREAM(name, variant, PARAMETERS, ARGUMENTS) { body }   also name##variant, with the per-thread default stream
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "tests/fakes/common/injection.hpp"
#include "tests/fakes/cudart/table.hpp"

namespace sim::runtime {

/// What a call needs before its body runs.
enum class Needs { kNothing, kDriver, kContext };

inline cudaError_t to_runtime(CUresult result) {
    return static_cast<cudaError_t>(result);
}

/// Keeps `error` as the thread's last one (but not cudaErrorNotReady) and returns it.
cudaError_t note(cudaError_t error);
cudaError_t& last_error();
int& current_device();

/// cudaSuccess and the table, or why not.
cudaError_t prepare(Needs needs, Binding binding, Injection& injection, const Table*& table);

template <class Body>
cudaError_t call(Needs needs, Binding binding, Injection& injection, Body&& body) {
    const Table* table = nullptr;
    const cudaError_t ready = prepare(needs, binding, injection, table);
    return note(ready != cudaSuccess ? ready : body(*table));
}

}  // namespace sim::runtime

#define SIM_LIST(...) __VA_ARGS__

// clang-format off
#define SIM_RT_ENTRY(symbol, base, needs, binding, PARAMETERS, ARGUMENTS)                                                \
    extern "C" cudaError_t CUDARTAPI symbol PARAMETERS {                                                                 \
        static sim::Injection injection(#symbol);                                                                        \
        return sim::runtime::call(sim::runtime::Needs::needs, sim::runtime::Binding::binding, injection,                 \
                                  [&](const sim::runtime::Table& cu) { return base##_body(cu, SIM_LIST ARGUMENTS); });   \
    }

#define SIM_RT(name, needs, PARAMETERS, ARGUMENTS)                                                                       \
    static cudaError_t name##_body([[maybe_unused]] const sim::runtime::Table& cu, SIM_LIST PARAMETERS);                 \
    SIM_RT_ENTRY(name, name, needs, kLegacy, PARAMETERS, ARGUMENTS)                                                      \
    static cudaError_t name##_body([[maybe_unused]] const sim::runtime::Table& cu, SIM_LIST PARAMETERS)

#define SIM_RT_STREAM(name, variant, PARAMETERS, ARGUMENTS)                                                              \
    static cudaError_t name##_body([[maybe_unused]] const sim::runtime::Table& cu, SIM_LIST PARAMETERS);                 \
    SIM_RT_ENTRY(name, name, kContext, kLegacy, PARAMETERS, ARGUMENTS)                                                   \
    SIM_RT_ENTRY(name##variant, name, kContext, kPerThread, PARAMETERS, ARGUMENTS)                                       \
    static cudaError_t name##_body([[maybe_unused]] const sim::runtime::Table& cu, SIM_LIST PARAMETERS)

#define SIM_RT_NONE(name, needs)                                                                                         \
    static cudaError_t name##_body(const sim::runtime::Table& cu);                                                       \
    extern "C" cudaError_t CUDARTAPI name() {                                                                            \
        static sim::Injection injection(#name);                                                                          \
        return sim::runtime::call(sim::runtime::Needs::needs, sim::runtime::Binding::kLegacy, injection,                 \
                                  [](const sim::runtime::Table& cu) { return name##_body(cu); });                        \
    }                                                                                                                    \
    static cudaError_t name##_body([[maybe_unused]] const sim::runtime::Table& cu)
// clang-format on
