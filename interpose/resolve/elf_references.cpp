// What an object refers to: names of other objects' symbols, the places where their addresses go, and versions.
#include "interpose/resolve/elf_tables.hpp"
#include "interpose/resolve/text.hpp"

namespace gpuspy::hook::elf {
namespace {

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

}  // namespace

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

}  // namespace gpuspy::hook::elf
