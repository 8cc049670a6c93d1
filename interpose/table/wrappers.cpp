// Instantiates every wrapper of the table, and the two tables of pointers to them.
#include "interpose/record/wrapper.hpp"
#include "interpose/table/policies.hpp"

namespace gpuspy::hook {

#define ROW(name, level, api_class, ...)                                  \
    template <>                                                           \
    struct Row<HookId::name> {                                            \
        static constexpr abi::ApiClass kClass = abi::ApiClass::api_class; \
        static constexpr abi::ApiLevel kLevel = abi::ApiLevel::level;     \
        static constexpr bool kIsPerThread = is_per_thread(#name);        \
        using Policy = __VA_ARGS__;                                       \
    };
#define HOOK(name, api_class, attributes, ...) ROW(name, kDriver, api_class, __VA_ARGS__)
#include "interpose/table/driver.def"
#undef HOOK
#define HOOK(name, api_class, attributes, ...) ROW(name, kRuntime, api_class, __VA_ARGS__)
#include "interpose/table/runtime.def"
#undef HOOK
#define HOOK(name, api_class, attributes, ...) ROW(name, kLibrary, api_class, __VA_ARGS__)
#include "interpose/table/cublas.def"
#include "interpose/table/cublaslt.def"
#include "interpose/table/cudnn.def"
#include "interpose/table/cupti.def"
#undef HOOK

namespace {

template <HookId Id, std::size_t Slot>
constexpr auto wrapper_of = &Wrapper<Id, Slot, typename Signature<Id>::Type>::call;

}  // namespace

static_assert(kSlotCount == 4, "the rows below name each slot");

#define HOOK(name, ...) reinterpret_cast<void*>(wrapper_of<HookId::name, kElfSlot>),
void* const gpuspy_elf_wrappers[kHookCount] = {
#include "interpose/table/all.def"
};
#undef HOOK

#define HOOK(name, ...)                                                                                          \
    {reinterpret_cast<void*>(wrapper_of<HookId::name, 0>), reinterpret_cast<void*>(wrapper_of<HookId::name, 1>), \
     reinterpret_cast<void*>(wrapper_of<HookId::name, 2>), reinterpret_cast<void*>(wrapper_of<HookId::name, 3>)},
void* const gpuspy_slot_wrappers[kHookCount][kSlotCount] = {
#include "interpose/table/all.def"
};
#undef HOOK

}  // namespace gpuspy::hook
