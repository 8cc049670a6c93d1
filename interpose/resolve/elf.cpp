#include "interpose/resolve/elf.hpp"

#include <elf.h>
#include <sys/auxv.h>

#include "collector/sink/loaded_objects.hpp"
#include "interpose/resolve/text.hpp"

namespace gpuspy::hook::elf {
namespace {

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

/// Symbols below this index may be references.
std::size_t reference_limit(const Tables& tables) noexcept {
    if (tables.gnu_hash != nullptr) return GnuHash(tables.gnu_hash).first_symbol;
    if (tables.sysv_hash != nullptr) return tables.sysv_hash[1];
    return 0;
}

/// Whether `visit` says yes to a symbol that a relocation needs and that others define. References are not always below
/// reference_limit(): an object that defines nothing has an empty hash table, and one whose code takes a function's address
/// has the function in it.
template <class Visit>
bool any_relocated(const Tables& tables, Visit visit) noexcept {
    const auto among = [&](const ElfW(Rela) * relocations, std::size_t bytes) {
        for (std::size_t i = 0; relocations != nullptr && i < bytes / sizeof *relocations; ++i) {
            const std::size_t index = ELF64_R_SYM(relocations[i].r_info);
            if (index != STN_UNDEF && tables.symbols[index].st_shndx == SHN_UNDEF && visit(index)) return true;
        }
        return false;
    };
    return among(tables.call_slots, tables.call_slot_bytes) || among(tables.relocations, tables.relocation_bytes);
}

const char* version_name(const Tables& tables, ElfW(Half) wanted) noexcept {
    const ElfW(Verneed)* file = tables.needed_versions;
    for (std::size_t i = 0; file != nullptr && i < tables.needed_version_count; ++i) {
        const auto* bytes = reinterpret_cast<const char*>(file);
        const auto* entry = reinterpret_cast<const ElfW(Vernaux)*>(bytes + file->vn_aux);
        for (std::size_t j = 0; j < file->vn_cnt; ++j) {
            if (entry->vna_other == wanted) return tables.strings + entry->vna_name;
            entry = reinterpret_cast<const ElfW(Vernaux)*>(reinterpret_cast<const char*>(entry) + entry->vna_next);
        }
        file = reinterpret_cast<const ElfW(Verneed)*>(bytes + file->vn_next);
    }
    return nullptr;
}

Object from_loader(const dl_phdr_info& info) noexcept {
    Object object;
    object.path = info.dlpi_name != nullptr ? info.dlpi_name : "";
    object.base = info.dlpi_addr;
    object.begin = ~ElfW(Addr){0};
    for (int i = 0; i < info.dlpi_phnum; ++i) {
        const ElfW(Phdr)& header = info.dlpi_phdr[i];
        const ElfW(Addr) at = info.dlpi_addr + header.p_vaddr;
        if (header.p_type == PT_LOAD) {
            if (at < object.begin) object.begin = at;
            if (at + header.p_memsz > object.end) object.end = at + header.p_memsz;
        } else if (header.p_type == PT_DYNAMIC) {
            object.dynamic = reinterpret_cast<const ElfW(Dyn)*>(at);
        } else if (header.p_type == PT_GNU_RELRO) {
            // As the loader does: a page that the range ends in stays writable.
            constexpr ElfW(Addr) kPageMask = 4095;
            object.relro_begin = at & ~kPageMask;
            object.relro_end = (at + header.p_memsz) & ~kPageMask;
        }
    }
    return object;
}

struct Visit {
    bool (*visit)(void* context, const Object& object) noexcept;
    void* context;
};

int visit_one(dl_phdr_info* info, std::size_t, void* data) noexcept {
    const auto* wanted = static_cast<const Visit*>(data);
    const Object object = from_loader(*info);
    return object.dynamic != nullptr && wanted->visit(wanted->context, object) ? 1 : 0;
}

struct Work {
    void (*work)(void* context) noexcept;
    void* context;
};

int do_work(dl_phdr_info*, std::size_t, void* data) noexcept {
    const auto* wanted = static_cast<const Work*>(data);
    wanted->work(wanted->context);
    return 1;
}

int take_counts(dl_phdr_info* info, std::size_t, void* data) noexcept {
    *static_cast<LoadCounts*>(data) = {info->dlpi_adds, info->dlpi_subs};
    return 1;  // The same in every object.
}

struct AddressQuery {
    const void* address;
    Object* found;
};

bool visit_address(void* context, const Object& object) noexcept {
    const auto* query = static_cast<const AddressQuery*>(context);
    if (!object.covers(query->address)) return false;
    *query->found = object;
    return true;
}

}  // namespace

bool for_each_object(bool (*visit)(void* context, const Object& object) noexcept, void* context) noexcept {
    Visit wanted{visit, context};
    return sink::visit_loaded_objects(visit_one, &wanted) == 1;
}

void with_objects_held(void (*work)(void* context) noexcept, void* context) noexcept {
    Work wanted{work, context};
    sink::visit_loaded_objects(do_work, &wanted);
}

LoadCounts load_counts() noexcept {
    LoadCounts counts;
    sink::visit_loaded_objects(take_counts, &counts);
    return counts;
}

bool for_each_linked(bool (*visit)(void* context, const Object& object) noexcept, void* context) noexcept {
    const auto* header = reinterpret_cast<const ElfW(Phdr)*>(getauxval(AT_PHDR));
    const std::size_t count = getauxval(AT_PHNUM);
    if (header == nullptr) return false;
    ElfW(Addr) base = 0;
    const ElfW(Phdr)* dynamic_header = nullptr;
    for (std::size_t i = 0; i < count; ++i) {
        if (header[i].p_type == PT_PHDR) base = reinterpret_cast<ElfW(Addr)>(header) - header[i].p_vaddr;
        if (header[i].p_type == PT_DYNAMIC) dynamic_header = &header[i];
    }
    if (dynamic_header == nullptr) return false;
    const r_debug* debug = nullptr;
    for (const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(base + dynamic_header->p_vaddr);
         entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag == DT_DEBUG) debug = reinterpret_cast<const r_debug*>(entry->d_un.d_ptr);
    }
    for (const link_map* map = debug != nullptr ? debug->r_map : nullptr; map != nullptr; map = map->l_next) {
        Object object;
        object.path = map->l_name;
        object.base = map->l_addr;
        object.dynamic = map->l_ld;
        if (object.dynamic != nullptr && visit(context, object)) return true;
    }
    return false;
}

bool find_object(const void* address, Object* found) noexcept {
    AddressQuery query{address, found};
    return for_each_object(visit_address, &query);
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

bool refers_to(const Object& object, bool (*wanted)(const char* name) noexcept) noexcept {
    const Tables tables = read_tables(object);
    if (tables.strings == nullptr) return false;
    const std::size_t limit = reference_limit(tables);
    for (std::size_t index = 1; index < limit; ++index) {
        const ElfW(Sym)& symbol = tables.symbols[index];
        if (symbol.st_shndx == SHN_UNDEF && wanted(tables.strings + symbol.st_name)) return true;
    }
    return limit <= 1 && any_relocated(tables, [&](std::size_t index) {
               return wanted(tables.strings + tables.symbols[index].st_name);
           });
}

namespace {

void visit_bindings(const Object& object, const Tables& tables, const ElfW(Rela) * relocations, std::size_t bytes,
                    void (*visit)(void* context, const Binding& binding) noexcept, void* context) noexcept {
    for (std::size_t i = 0; relocations != nullptr && i < bytes / sizeof *relocations; ++i) {
        const auto type = ELF64_R_TYPE(relocations[i].r_info);
        const bool is_call_slot = type == R_X86_64_JUMP_SLOT;
        const bool is_pointer = type == R_X86_64_GLOB_DAT || (type == R_X86_64_64 && relocations[i].r_addend == 0);
        if (!is_call_slot && !is_pointer) continue;
        const ElfW(Sym)& symbol = tables.symbols[ELF64_R_SYM(relocations[i].r_info)];
        if (symbol.st_shndx != SHN_UNDEF || symbol.st_name == 0) continue;
        visit(context, {tables.strings + symbol.st_name,
                        reinterpret_cast<void**>(object.base + relocations[i].r_offset), is_call_slot});
    }
}

}  // namespace

void for_each_binding(const Object& object, void (*visit)(void* context, const Binding& binding) noexcept,
                      void* context) noexcept {
    const Tables tables = read_tables(object);
    if (tables.strings == nullptr) return;
    visit_bindings(object, tables, tables.relocations, tables.relocation_bytes, visit, context);
    visit_bindings(object, tables, tables.call_slots, tables.call_slot_bytes, visit, context);
}

const char* needed_version(const Object& object, const char* name) noexcept {
    const Tables tables = read_tables(object);
    if (tables.strings == nullptr || tables.versions == nullptr) return nullptr;
    const std::size_t limit = reference_limit(tables);
    std::size_t found = 0;
    const auto is_it = [&](std::size_t index) {
        const ElfW(Sym)& symbol = tables.symbols[index];
        if (symbol.st_shndx != SHN_UNDEF || !text::equal(tables.strings + symbol.st_name, name)) return false;
        found = index;
        return true;
    };
    for (std::size_t index = 1; index < limit && !is_it(index);) ++index;
    if (found == 0 && !any_relocated(tables, is_it)) return nullptr;
    constexpr ElfW(Half) kVersionMask = 0x7fff;
    return version_name(tables, tables.versions[found] & kVersionMask);
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
