#include "interpose/nvtx/handles.hpp"

#include <atomic>
#include <cstring>

#include "collector/ring/owned_fd.hpp"
#include "interpose/lifecycle/lock.hpp"
#include "interpose/lifecycle/memory.hpp"
#include "interpose/nvtx/text.hpp"
#include "interpose/record/thread.hpp"

namespace gpuspy::hook::nvtx {
namespace {

constexpr std::size_t kStringBytes = 16 << 20;  ///< Of address space, touched as they fill.
constexpr std::size_t kStringSlots = 1 << 17;

constexpr std::uint32_t kOtherDomains = kMaxDomains - 1;
constexpr char kOtherDomainsName[] = "(other domains)";

struct Strings {
    std::atomic<std::uint32_t> used;    ///< Bytes of `memory`. Release by make_string, acquire by string_of.
    std::uint32_t slots[kStringSlots];  ///< Open addressing by content: offset in `memory`, in words, + 1.
    alignas(8) char memory[kStringBytes];
};

// Constant-initialised; zero pages until they are used.
constinit Domain domains[kMaxDomains]{};
constinit std::atomic<std::uint32_t> domain_count{1};  ///< Of `domains`, the default one first. Release, acquire.
constinit std::atomic<Strings*> strings{nullptr};
constinit std::atomic<const char*> shortage_text{nullptr};
constinit SetUpLock handles_lock;

struct TooManyStrings {
    std::uint32_t bytes;
    char text[36];
};
constexpr TooManyStrings kTooManyStrings{sizeof "(more strings than gpuspy keeps)" - 1,
                                         "(more strings than gpuspy keeps)"};
constexpr String kNoString{0, {}};
constexpr Domain kOthers = [] {
    Domain domain{};
    domain.index = kOtherDomains;
    domain.name_bytes = sizeof kOtherDomainsName - 1;
    for (std::size_t i = 0; i < domain.name_bytes; ++i) domain.name[i] = kOtherDomainsName[i];
    return domain;
}();

/// FNV-1a.
std::size_t place_of(const char* text, std::size_t bytes) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ static_cast<unsigned char>(text[i])) * 0x100000001b3U;
    return static_cast<std::size_t>(hash * 0x9e3779b97f4a7c15U >> 47) % kStringSlots;
}

const String* at_slot(const Strings& all, std::uint32_t slot) noexcept {
    return reinterpret_cast<const String*>(all.memory + std::size_t{slot - 1} * 8);
}

/// Under the lock. nullptr: no room.
const String* find_or_add(Strings& all, const char* text, std::size_t bytes) noexcept {
    constexpr std::size_t kMaxProbes = 64;
    std::size_t at = place_of(text, bytes);
    for (std::size_t probe = 0; probe < kMaxProbes; ++probe, at = (at + 1) % kStringSlots) {
        if (all.slots[at] == 0) {
            const std::uint32_t used = all.used.load(std::memory_order_relaxed);
            const std::size_t taken = (sizeof(std::uint32_t) + bytes + 7) / 8 * 8;
            if (taken > kStringBytes - used) return nullptr;
            auto* string = reinterpret_cast<String*>(all.memory + used);
            string->bytes = static_cast<std::uint32_t>(bytes);
            std::memcpy(reinterpret_cast<char*>(string) + offsetof(String, text), text, bytes);
            all.slots[at] = used / 8 + 1;
            all.used.store(used + static_cast<std::uint32_t>(taken), std::memory_order_release);
            return string;
        }
        const String* there = at_slot(all, all.slots[at]);
        if (there->bytes == bytes && std::memcmp(there->text, text, bytes) == 0) return there;
    }
    return nullptr;
}

/// Whether a handle may be one that lies in [begin, begin + bytes), at a multiple of `step`.
bool lies_in(const void* handle, const void* begin, std::size_t bytes, std::size_t step) noexcept {
    const std::size_t offset = reinterpret_cast<std::uintptr_t>(handle) - reinterpret_cast<std::uintptr_t>(begin);
    return offset < bytes && offset % step == 0;
}

}  // namespace

const Domain* make_domain(const char* name, std::size_t bytes) noexcept {
    bytes = cut_text(name, bytes, abi::kMaxDomainNameBytes);
    const ring::ErrnoGuard keep_errno;
    const SignalsHeld no_signals;
    const InsideGpuspy inside;
    const Locked guard(handles_lock);
    const std::uint32_t count = domain_count.load(std::memory_order_relaxed);
    for (std::uint32_t i = 1; i < count; ++i) {
        if (domains[i].name_bytes == bytes && std::memcmp(domains[i].name, name, bytes) == 0) return &domains[i];
    }
    if (count == kOtherDomains) {
        shortage_text.store("the program makes more than 254 NVTX domains: the later ones are one to gpuspy",
                            std::memory_order_relaxed);
        return &kOthers;
    }
    Domain& made = domains[count];
    made.index = count;
    made.name_bytes = static_cast<std::uint32_t>(bytes);
    std::memcpy(made.name, name, bytes);
    domain_count.store(count + 1, std::memory_order_release);
    return &made;
}

const Domain* domain_of(const void* handle) noexcept {
    if (handle == nullptr) return &domains[0];
    const std::size_t count = domain_count.load(std::memory_order_acquire);
    return lies_in(handle, domains, count * sizeof(Domain), sizeof(Domain)) ? static_cast<const Domain*>(handle)
                                                                            : &kOthers;
}

const Domain& domain_at(std::uint32_t index) noexcept {
    return index < kOtherDomains ? domains[index] : kOthers;
}

const String* make_string(const char* text, std::size_t bytes) noexcept {
    if (bytes == 0) return &kNoString;
    bytes = cut_text(text, bytes, abi::kMaxRangeTextBytes);
    const ring::ErrnoGuard keep_errno;
    const SignalsHeld no_signals;
    const InsideGpuspy inside;
    const Locked guard(handles_lock);
    Strings* all = strings.load(std::memory_order_relaxed);
    if (all == nullptr) {
        all = static_cast<Strings*>(map_memory(sizeof(Strings)));
        strings.store(all, std::memory_order_release);
    }
    const String* string = all != nullptr ? find_or_add(*all, text, bytes) : nullptr;
    if (string != nullptr) return string;
    shortage_text.store(
        "the program registers more NVTX strings than gpuspy keeps: ranges with the later ones are nameless",
        std::memory_order_relaxed);
    return reinterpret_cast<const String*>(&kTooManyStrings);
}

const String* string_of(const void* handle) noexcept {
    const Strings* all = strings.load(std::memory_order_acquire);
    if (all != nullptr && lies_in(handle, all->memory, all->used.load(std::memory_order_acquire), 8)) {
        const auto* string = static_cast<const String*>(handle);
        const auto room = static_cast<std::size_t>(all->memory + kStringBytes - string->text);
        return string->bytes <= room ? string : &kNoString;
    }
    return handle == &kTooManyStrings ? static_cast<const String*>(handle) : &kNoString;
}

const char* shortage() noexcept {
    return shortage_text.load(std::memory_order_relaxed);
}

}  // namespace gpuspy::hook::nvtx
