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

constexpr abi::ApiEntry make_entry(const char* name, const char* library, ApiLevel level, ApiClass api_class,
                                   std::uint8_t attributes) {
    abi::ApiEntry entry{};
    for (std::size_t i = 0; name[i] != 0; ++i) entry.name[i] = name[i];  // too long a name fails to compile
    for (std::size_t i = 0; library[i] != 0; ++i) entry.library[i] = library[i];
    entry.level = static_cast<std::uint8_t>(level);
    entry.api_class = static_cast<std::uint8_t>(api_class);
    entry.attributes = attributes;
    return entry;
}

constexpr std::size_t count_driver_hooks() {
    std::size_t count = 0;
#define HOOK(...) ++count;
#include "interpose/table/driver.def"
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

constexpr auto kSorted = make_sorted();

constexpr bool names_are_unique() {
    for (std::size_t i = 1; i < kSorted.size(); ++i) {
        if (kSorted[i - 1].name == kSorted[i].name) return false;
    }
    return true;
}
static_assert(names_are_unique(), "a symbol stands in the hook table twice");

}  // namespace

constinit const std::size_t kDriverHookCount = count_driver_hooks();

#define ROW(name, library, level, api_class, attributes) \
    make_entry(#name, library, ApiLevel::level, ApiClass::api_class, attributes),
constinit const abi::ApiEntry kApiTable[kHookCount] = {
#define HOOK(name, api_class, attributes, ...) ROW(name, "driver", kDriver, api_class, attributes)
#include "interpose/table/driver.def"
#undef HOOK
#define HOOK(name, api_class, attributes, ...) ROW(name, "runtime", kRuntime, api_class, attributes)
#include "interpose/table/runtime.def"
#undef HOOK
#define HOOK(name, api_class, attributes, ...) ROW(name, "cudnn", kLibrary, api_class, attributes)
#include "interpose/table/cudnn.def"
#undef HOOK
#define HOOK(name, api_class, attributes, ...) ROW(name, "cublas", kLibrary, api_class, attributes)
#include "interpose/table/cublas.def"
#undef HOOK
#define HOOK(name, api_class, attributes, ...) ROW(name, "cublaslt", kLibrary, api_class, attributes)
#include "interpose/table/cublaslt.def"
#undef HOOK
#define HOOK(name, api_class, attributes, ...) ROW(name, "cupti", kLibrary, api_class, attributes)
#include "interpose/table/cupti.def"
#undef HOOK
};

HookId find_hook(const char* name) noexcept {
    // Every name of the table begins so; nearly every look-up of a process does not.
    if (name[0] != 'c' && name[0] != '_') return HookId::kCount;
    std::size_t low = 0;
    std::size_t high = kSorted.size();
    while (low < high) {
        const std::size_t middle = (low + high) / 2;
        const int order = text::compare(name, kSorted[middle].name.data());
        if (order == 0) return kSorted[middle].id;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return HookId::kCount;
}

}  // namespace gpuspy::hook
