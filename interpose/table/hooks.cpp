#include "interpose/table/hooks.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "interpose/resolve/text.hpp"

namespace gpuspy::hook {
namespace {

using abi::ApiClass;
using abi::ApiLevel;
using abi::kApiBlocking;
using abi::kApiNoStatus;

constexpr abi::ApiEntry make_entry(const char* name, const char* library, ApiLevel level, ApiClass api_class,
                                   std::uint8_t attributes, const char* fields) {
    abi::ApiEntry entry{};
    for (std::size_t i = 0; name[i] != 0; ++i) entry.name[i] = name[i];  // too long a name fails to compile
    for (std::size_t i = 0; library[i] != 0; ++i) entry.library[i] = library[i];
    entry.level = static_cast<std::uint8_t>(level);
    entry.api_class = static_cast<std::uint8_t>(api_class);
    entry.attributes = attributes;
    for (std::size_t i = 0; fields[i] != 0; ++i) entry.fields[i] = fields[i];
    return entry;
}

constexpr std::size_t count_driver_hooks() {
    std::size_t count = 0;
#define HOOK(...) count += ApiLevel::GPUSPY_LEVEL == ApiLevel::kDriver ? 1 : 0;
#include "interpose/table/all.def"
#undef HOOK
    return count;
}

struct NameIndex {
    std::string_view name;
    HookId id;
};

// Sorted by name at compile time: dlsym is called in every process, CUDA or not, and must cost nothing at start.
constexpr auto make_sorted() {
    std::array<NameIndex, kHookCount> sorted{{
#define HOOK(name, ...) NameIndex{#name, HookId::name},
#include "interpose/table/all.def"
#undef HOOK
    }};
    std::sort(sorted.begin(), sorted.end(), [](const NameIndex& a, const NameIndex& b) { return a.name < b.name; });
    return sorted;
}

constexpr bool names_are_unique() {
    constexpr auto sorted = make_sorted();
    for (std::size_t i = 1; i < sorted.size(); ++i) {
        if (sorted[i - 1].name == sorted[i].name) return false;
    }
    return true;
}
static_assert(names_are_unique(), "a symbol stands in the hook table twice");

// Ids and no pointers: those would have to be relocated in every process that starts.
constexpr auto make_order() {
    std::array<HookId, kHookCount> order{};
    constexpr auto sorted = make_sorted();
    for (std::size_t i = 0; i < sorted.size(); ++i) order[i] = sorted[i].id;
    return order;
}

constexpr auto kByName = make_order();

}  // namespace

constinit const std::size_t kDriverHookCount = count_driver_hooks();

constinit const abi::ApiEntry kApiTable[kHookCount] = {
#define HOOK(name, api_class, attributes, ...) \
    make_entry(#name, GPUSPY_LIBRARY, ApiLevel::GPUSPY_LEVEL, ApiClass::api_class, attributes, ""),
#define CALL(name, api_class, attributes, words, fields) \
    make_entry(#name, GPUSPY_LIBRARY, ApiLevel::GPUSPY_LEVEL, ApiClass::api_class, attributes, fields),
#include "interpose/table/all.def"
#undef CALL
#undef HOOK
};

HookId find_hook(const char* name) noexcept {
    // Every name of the table begins so; nearly every look-up of a process does not.
    if (name[0] != 'c' && name[0] != '_' && name[0] != 'n' && name[0] != 'p') return HookId::kCount;
    std::size_t low = 0;
    std::size_t high = kByName.size();
    while (low < high) {
        const std::size_t middle = (low + high) / 2;
        const int order = text::compare(name, kApiTable[index_of(kByName[middle])].name);
        if (order == 0) return kByName[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return HookId::kCount;
}

}  // namespace gpuspy::hook
