#include "interpose/resolve/elf.hpp"

#include "interpose/resolve/elf_tables.hpp"
#include "interpose/resolve/text.hpp"

namespace gpuspy::hook::elf {
namespace {

bool is_definition(const Tables& tables, std::size_t index, const char* name) noexcept {
    const ElfW(Sym)& symbol = tables.symbols[index];
    constexpr ElfW(Half) kHiddenVersion = 0x8000;
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0) return false;
    if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL) return false;
    if (tables.versions != nullptr && (tables.versions[index] & kHiddenVersion) != 0) return false;
    return text::equal(tables.strings + symbol.st_name, name);
}

std::uint32_t hash_gnu(const char* name) noexcept {
    std::uint32_t hash = 5381;
    for (; *name != 0; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
    return hash;
}

std::uint32_t hash_sysv(const char* name) noexcept {
    std::uint32_t hash = 0;
    for (; *name != 0; ++name) {
        hash = (hash << 4) + static_cast<unsigned char>(*name);
        hash = (hash ^ ((hash & 0xf0000000U) >> 24)) & 0x0fffffffU;
    }
    return hash;
}

/// Index of the definition, 0 if there is none.
std::size_t find_definition(const Tables& tables, const char* name) noexcept {
    if (tables.gnu_hash != nullptr) {
        const GnuHash table(tables.gnu_hash);
        if (table.bucket_count == 0 || table.bloom_count == 0) return 0;
        const std::uint32_t hash = hash_gnu(name);
        constexpr unsigned kBits = sizeof(ElfW(Addr)) * 8;
        const ElfW(Addr) word = table.bloom[(hash / kBits) % table.bloom_count];
        const ElfW(Addr) mask =
            (ElfW(Addr){1} << (hash % kBits)) | (ElfW(Addr){1} << ((hash >> table.bloom_shift) % kBits));
        if ((word & mask) != mask) return 0;
        std::size_t index = table.buckets[hash % table.bucket_count];
        if (index < table.first_symbol) return 0;
        for (;; ++index) {
            const std::uint32_t entry = table.chains[index - table.first_symbol];
            if ((entry | 1) == (hash | 1) && is_definition(tables, index, name)) return index;
            if ((entry & 1) != 0) return 0;
        }
    }
    if (tables.sysv_hash != nullptr) {
        const ElfW(Word) bucket_count = tables.sysv_hash[0];
        if (bucket_count == 0) return 0;
        const ElfW(Word)* buckets = tables.sysv_hash + 2;
        const ElfW(Word)* chains = buckets + bucket_count;
        for (ElfW(Word) index = buckets[hash_sysv(name) % bucket_count]; index != STN_UNDEF; index = chains[index]) {
            if (is_definition(tables, index, name)) return index;
        }
    }
    return 0;
}

}  // namespace

Tables read_tables(const Object& object) noexcept {
    Tables tables;
    // The loader relocates these pointers in place on x86-64; where it does not (vdso, a read-only section) they are offsets. The
    // base of an object that was linked to lie above where it lies is negative: what is right is what lies near.
    const auto distance = [&](ElfW(Addr) at) {
        const auto here = reinterpret_cast<ElfW(Addr)>(object.dynamic);
        return at < here ? here - at : at - here;
    };
    const auto pointer = [&](ElfW(Addr) value) {
        const ElfW(Addr) moved = value + object.base;
        return distance(moved) < distance(value) ? moved : value;
    };
    for (const ElfW(Dyn)* entry = object.dynamic; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
        const ElfW(Addr) at = pointer(entry->d_un.d_ptr);
        switch (entry->d_tag) {
            case DT_SYMTAB:
                tables.symbols = reinterpret_cast<const ElfW(Sym)*>(at);
                break;
            case DT_STRTAB:
                tables.strings = reinterpret_cast<const char*>(at);
                break;
            case DT_GNU_HASH:
                tables.gnu_hash = reinterpret_cast<const std::uint32_t*>(at);
                break;
            case DT_HASH:
                tables.sysv_hash = reinterpret_cast<const ElfW(Word)*>(at);
                break;
            case DT_VERSYM:
                tables.versions = reinterpret_cast<const ElfW(Half)*>(at);
                break;
            case DT_VERNEED:
                tables.needed_versions = reinterpret_cast<const ElfW(Verneed)*>(at);
                break;
            case DT_RELA:
                tables.relocations = reinterpret_cast<const ElfW(Rela)*>(at);
                break;
            case DT_RELASZ:
                tables.relocation_bytes = entry->d_un.d_val;
                break;
            case DT_JMPREL:
                tables.call_slots = reinterpret_cast<const ElfW(Rela)*>(at);
                break;
            case DT_PLTRELSZ:
                tables.call_slot_bytes = entry->d_un.d_val;
                break;
            case DT_VERNEEDNUM:
                tables.needed_version_count = entry->d_un.d_val;
                break;
            default:
                break;
        }
    }
    if (tables.symbols == nullptr) tables.strings = nullptr;
    return tables;
}

void* find_symbol(const Object& object, const char* name) noexcept {
    const Tables tables = read_tables(object);
    if (tables.strings == nullptr) return nullptr;
    const std::size_t index = find_definition(tables, name);
    if (index == 0) return nullptr;
    const ElfW(Sym)& symbol = tables.symbols[index];
    void* address = reinterpret_cast<void*>(object.base + symbol.st_value);
    if (ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC) return reinterpret_cast<void* (*)()>(address)();
    return address;
}

bool is_defined_at(const char* name, const void* address) noexcept {
    struct Query {
        const char* name;
        const void* address;
    } query{name, address};
    const auto visit = [](void* context, const Object& object) noexcept {
        const auto* wanted = static_cast<const Query*>(context);
        return object.covers(wanted->address) && find_symbol(object, wanted->name) == wanted->address;
    };
    return for_each_object(visit, &query);
}

bool is_unversioned(const Object& object, const char* name) noexcept {
    const Tables tables = read_tables(object);
    if (tables.strings == nullptr) return false;
    const std::size_t index = find_definition(tables, name);
    return index != 0 && (tables.versions == nullptr || tables.versions[index] <= VER_NDX_GLOBAL);
}

const char* exported_name(const Object& object, const void* address) noexcept {
    const Tables tables = read_tables(object);
    if (tables.strings == nullptr || tables.gnu_hash == nullptr) return nullptr;
    const GnuHash table(tables.gnu_hash);
    const ElfW(Addr) wanted = reinterpret_cast<ElfW(Addr)>(address) - object.base;
    for (std::uint32_t bucket = 0; bucket < table.bucket_count; ++bucket) {
        std::size_t index = table.buckets[bucket];
        if (index < table.first_symbol) continue;
        for (;; ++index) {
            if (tables.symbols[index].st_value == wanted) return tables.strings + tables.symbols[index].st_name;
            if ((table.chains[index - table.first_symbol] & 1) != 0) break;
        }
    }
    return nullptr;
}

const char* soname(const Object& object) noexcept {
    const Tables tables = read_tables(object);
    for (const ElfW(Dyn)* entry = object.dynamic; entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag == DT_SONAME && tables.strings != nullptr) return tables.strings + entry->d_un.d_val;
    }
    return text::last_part(object.path);
}

bool for_each_needed(const Object& object, bool (*visit)(void* context, const char* soname) noexcept,
                     void* context) noexcept {
    const Tables tables = read_tables(object);
    if (tables.strings == nullptr) return false;
    for (const ElfW(Dyn)* entry = object.dynamic; entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag == DT_NEEDED && visit(context, tables.strings + entry->d_un.d_val)) return true;
    }
    return false;
}

}  // namespace gpuspy::hook::elf
