// Domains and registered strings: what their handles, which the host keeps, stand for. A handle is good for the whole life
// of the process, whether anything is recorded or not, and the same name gives the same handle.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/abi/event.hpp"

namespace gpuspy::hook::nvtx {

struct Domain {
    std::uint32_t index;  ///< Below kMaxDomains.
    std::uint32_t name_bytes;
    char name[abi::kMaxDomainNameBytes];
};

/// The default domain and the one that stands for those without room included.
inline constexpr std::uint32_t kMaxDomains = 256;

/// Never nullptr. Beyond the limit all new names share one domain, "(other domains)".
const Domain* make_domain(const char* name, std::size_t bytes) noexcept;

/// nullptr is the default domain. What is no handle of ours is taken for "(other domains)".
const Domain* domain_of(const void* handle) noexcept;
const Domain& domain_at(std::uint32_t index) noexcept;

struct String {
    std::uint32_t bytes;
    char text[4];  ///< And what follows.
};

/// Never nullptr. At most abi::kMaxRangeTextBytes are kept, and 16 MiB of all strings: those beyond share one handle,
/// whose text says so.
const String* make_string(const char* text, std::size_t bytes) noexcept;

/// What is no handle of ours is the empty string.
const String* string_of(const void* handle) noexcept;

/// Whether there was no room for a domain or a string, as one line for a person; nullptr: there was.
const char* shortage() noexcept;

}  // namespace gpuspy::hook::nvtx
