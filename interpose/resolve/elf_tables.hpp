// The tables that an object's dynamic section points to, for the files that read them alone.
#pragma once

#include <elf.h>

#include "interpose/resolve/elf.hpp"

namespace gpuspy::hook::elf {

/// What the dynamic section points to.
struct Tables {
    const ElfW(Sym) * symbols = nullptr;
    const char* strings = nullptr;
    const std::uint32_t* gnu_hash = nullptr;
    const ElfW(Word) * sysv_hash = nullptr;
    const ElfW(Half) * versions = nullptr;
    const ElfW(Verneed) * needed_versions = nullptr;
    std::size_t needed_version_count = 0;
    const ElfW(Rela) * relocations = nullptr;
    std::size_t relocation_bytes = 0;
    const ElfW(Rela) * call_slots = nullptr;
    std::size_t call_slot_bytes = 0;
};

/// Without `strings` there is nothing to read.
Tables read_tables(const Object& object) noexcept;

/// The parts of a DT_GNU_HASH section.
struct GnuHash {
    std::uint32_t bucket_count;
    std::uint32_t first_symbol;  ///< Symbols below it are not hashed: references, mostly.
    std::uint32_t bloom_count;
    std::uint32_t bloom_shift;
    const ElfW(Addr) * bloom;
    const std::uint32_t* buckets;
    const std::uint32_t* chains;

    explicit GnuHash(const std::uint32_t* section) noexcept
        : bucket_count(section[0]),
          first_symbol(section[1]),
          bloom_count(section[2]),
          bloom_shift(section[3]),
          bloom(reinterpret_cast<const ElfW(Addr) *>(section + 4)),
          buckets(reinterpret_cast<const std::uint32_t*>(bloom + bloom_count)),
          chains(buckets + bucket_count) {}
};

}  // namespace gpuspy::hook::elf
