// Instantiates every typed wrapper of the table, and the two tables of pointers to them.
#include <array>

#include "interpose/record/forward.hpp"
#include "interpose/record/wrapper.hpp"
#include "interpose/table/cupti_policies.hpp"
#include "interpose/table/policies.hpp"

namespace gpuspy::hook {

#define CALL(...)
#define HOOK(name, api_class, attributes, ...)                               \
    template <>                                                              \
    struct Row<HookId::name> {                                               \
        static constexpr abi::ApiClass kClass = abi::ApiClass::api_class;    \
        static constexpr abi::ApiLevel kLevel = abi::ApiLevel::GPUSPY_LEVEL; \
        static constexpr bool kIsPerThread = is_per_thread(#name);           \
        using Policy = __VA_ARGS__;                                          \
    };
#include "interpose/table/all.def"
#undef HOOK

namespace {

template <HookId Id, std::size_t Slot>
constexpr auto wrapper_of = &Wrapper<Id, Slot, typename Signature<Id>::Type>::call;

constexpr std::size_t kTypedHookCount = 0
#define HOOK(...) +1
#include "interpose/table/all.def"
#undef HOOK
    ;

static_assert(kSlotCount == 4, "the rows below name each slot");

#define HOOK(name, ...)                                                                                          \
    {reinterpret_cast<void*>(wrapper_of<HookId::name, 0>), reinterpret_cast<void*>(wrapper_of<HookId::name, 1>), \
     reinterpret_cast<void*>(wrapper_of<HookId::name, 2>), reinterpret_cast<void*>(wrapper_of<HookId::name, 3>)},
void* const slot_wrappers[kTypedHookCount][kSlotCount] = {
#include "interpose/table/all.def"
};
#undef HOOK
#undef CALL

/// Where a row stands among the rows of its kind.
struct Place {
    bool is_typed;
    std::uint16_t index;
};

constexpr auto make_places() {
    std::array<Place, kHookCount> places{};
    std::size_t hook = 0;
    std::uint16_t typed = 0;
    std::uint16_t forwarded = 0;
#define HOOK(...) places[hook++] = {true, typed++};
#define CALL(...) places[hook++] = {false, forwarded++};
#include "interpose/table/all.def"
#undef CALL
#undef HOOK
    return places;
}

constexpr auto kPlaces = make_places();

}  // namespace

#define CALL(...)
#define HOOK(name, ...) reinterpret_cast<void*>(wrapper_of<HookId::name, kElfSlot>),
void* const gpuspy_elf_wrappers[] = {
#include "interpose/table/all.def"
};
#undef HOOK
#undef CALL

void* slot_wrapper(HookId id, std::size_t slot) noexcept {
    const Place place = kPlaces[index_of(id)];
    if (place.is_typed) return slot_wrappers[place.index][slot];
    return const_cast<unsigned char*>(gpuspy_forward_stubs + (place.index * kStubsPerRow + slot) * kStubBytes);
}

}  // namespace gpuspy::hook
