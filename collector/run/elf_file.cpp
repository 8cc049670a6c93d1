#include "collector/run/elf_file.hpp"

#include <elf.h>

#include <cstring>

namespace gpuspy::run {

namespace {

/// A dynamic section that says more than this is not one.
constexpr std::uint64_t kMaxDynamicEntries = 1 << 16;

/// Where the bytes of a virtual address are in the file: by the segments that are loaded.
bool file_offset(const std::vector<Elf64_Phdr>& segments, std::uint64_t address, std::uint64_t* offset) {
    for (const Elf64_Phdr& segment : segments) {
        if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz) {
            *offset = segment.p_offset + (address - segment.p_vaddr);
            return *offset >= segment.p_offset;
        }
    }
    return false;
}

std::string read_segments(const FileBytes& file, std::vector<Elf64_Phdr>* segments) {
    Elf64_Ehdr header;
    if (!file.read(0, &header, sizeof header)) {
        return "is cut off in its ELF header";
    }
    if (header.e_phnum != 0 && header.e_phentsize != sizeof(Elf64_Phdr)) {
        return "is a damaged ELF file: its program headers have a size that does not exist";
    }
    segments->resize(header.e_phnum);
    if (!file.read(header.e_phoff, segments->data(), segments->size() * sizeof(Elf64_Phdr))) {
        return "is cut off: it has no program headers";
    }
    return "";
}

/// What the dynamic section refers to by offsets into its string table.
struct DynamicTexts {
    std::uint64_t table_address = 0;
    std::uint64_t table_bytes = 0;
    std::vector<std::uint64_t> needed;
    std::uint64_t rpath = 0;
    std::uint64_t runpath = 0;
    bool has_rpath = false;
    bool has_runpath = false;
    bool is_pie = false;
};

void take(const Elf64_Dyn& entry, DynamicTexts* texts) {
    switch (entry.d_tag) {
        case DT_STRTAB:
            texts->table_address = entry.d_un.d_ptr;
            break;
        case DT_STRSZ:
            texts->table_bytes = entry.d_un.d_val;
            break;
        case DT_NEEDED:
            texts->needed.push_back(entry.d_un.d_val);
            break;
        case DT_RPATH:
            texts->rpath = entry.d_un.d_val;
            texts->has_rpath = true;
            break;
        case DT_RUNPATH:
            texts->runpath = entry.d_un.d_val;
            texts->has_runpath = true;
            break;
        case DT_FLAGS_1:
            texts->is_pie = (entry.d_un.d_val & DF_1_PIE) != 0;
            break;
        default:
            break;
    }
}

std::string read_dynamic(const FileBytes& file, const std::vector<Elf64_Phdr>& segments, const Elf64_Phdr& dynamic,
                         ElfFile* elf) {
    DynamicTexts texts;
    const std::uint64_t count = dynamic.p_filesz / sizeof(Elf64_Dyn);
    if (count > kMaxDynamicEntries) {
        return "is a damaged ELF file: its dynamic section is too long";
    }
    std::vector<Elf64_Dyn> entries(count);
    if (!file.read(dynamic.p_offset, entries.data(), entries.size() * sizeof(Elf64_Dyn))) {
        return "is cut off: its dynamic section is not there";
    }
    for (const Elf64_Dyn& entry : entries) {
        if (entry.d_tag == DT_NULL) {
            break;
        }
        take(entry, &texts);
    }
    elf->is_pie = texts.is_pie;
    if (texts.needed.empty() && !texts.has_rpath && !texts.has_runpath) {
        return "";
    }
    std::uint64_t table = 0;
    if (!file_offset(segments, texts.table_address, &table) || table > file.size() ||
        texts.table_bytes > file.size() - table) {
        return "is a damaged ELF file, or cut off: the names of its libraries are not there";
    }
    const auto read_name = [&](std::uint64_t at, std::string* name) {
        return at < texts.table_bytes && file.read_text(table + at, table + texts.table_bytes, name);
    };
    bool is_whole = (!texts.has_rpath || read_name(texts.rpath, &elf->rpath)) &&
                    (!texts.has_runpath || read_name(texts.runpath, &elf->runpath));
    for (const std::uint64_t at : texts.needed) {
        is_whole = is_whole && read_name(at, &elf->needed.emplace_back());
    }
    return is_whole ? "" : "is a damaged ELF file: a name of its libraries lies outside of its table";
}

template <class Visit>
bool any_symbol(const FileBytes& file, const Elf64_Shdr& table, Visit&& visit) {
    constexpr std::uint64_t kAtOnce = 4096;
    std::vector<Elf64_Sym> symbols;
    const std::uint64_t count = table.sh_size / sizeof(Elf64_Sym);
    for (std::uint64_t first = 0; first < count; first += symbols.size()) {
        symbols.resize(std::min(kAtOnce, count - first));
        if (!file.read(table.sh_offset + first * sizeof(Elf64_Sym), symbols.data(),
                       symbols.size() * sizeof(Elf64_Sym))) {
            return false;
        }
        for (const Elf64_Sym& symbol : symbols) {
            if (visit(symbol)) {
                return true;
            }
        }
    }
    return false;
}

bool has_text(const FileBytes& file, std::uint64_t offset, const std::string& text) {
    std::string there(text.size() + 1, '\0');
    return file.read(offset, there.data(), there.size()) && std::memcmp(there.data(), text.c_str(), there.size()) == 0;
}

}  // namespace

bool ElfFile::is_ours() const {
    return is_64_bit && is_little_endian && machine == EM_X86_64;
}

std::string ElfFile::machine_name() const {
    switch (machine) {
        case EM_X86_64:
            return is_64_bit ? "x86-64" : "x32";
        case EM_386:
            return "32-bit x86";
        case EM_AARCH64:
            return "aarch64";
        case EM_ARM:
            return "32-bit ARM";
        case EM_PPC64:
            return "ppc64";
        case EM_RISCV:
            return "RISC-V";
        default:
            return "machine " + std::to_string(machine);
    }
}

std::string read_elf(const FileBytes& file, ElfFile* elf) {
    unsigned char identity[EI_NIDENT];
    if (!file.read(0, identity, sizeof identity) || std::memcmp(identity, ELFMAG, SELFMAG) != 0) {
        return "is not an ELF file";
    }
    elf->is_64_bit = identity[EI_CLASS] == ELFCLASS64;
    elf->is_little_endian = identity[EI_DATA] == ELFDATA2LSB;
    unsigned char kind[4];  // e_type and e_machine: in both classes at the same place.
    if (!file.read(EI_NIDENT, kind, sizeof kind)) {
        return "is cut off in its ELF header";
    }
    const int low = elf->is_little_endian ? 0 : 1;
    elf->type = static_cast<std::uint16_t>(kind[low] | kind[1 - low] << 8);
    elf->machine = static_cast<std::uint16_t>(kind[2 + low] | kind[3 - low] << 8);
    if (!elf->is_ours()) {
        return "";
    }
    std::vector<Elf64_Phdr> segments;
    if (std::string problem = read_segments(file, &segments); !problem.empty()) {
        return problem;
    }
    for (const Elf64_Phdr& segment : segments) {
        if (segment.p_type == PT_INTERP) {
            const std::uint64_t end = segment.p_offset + segment.p_filesz;
            if (end < segment.p_offset || !file.read_text(segment.p_offset, end, &elf->interpreter)) {
                return "is a damaged ELF file, or cut off: the name of its loader is not there";
            }
        } else if (segment.p_type == PT_DYNAMIC && !elf->is_dynamic) {
            elf->is_dynamic = true;
            if (std::string problem = read_dynamic(file, segments, segment, elf); !problem.empty()) {
                return problem;
            }
        }
    }
    return "";
}

bool defines_function(const FileBytes& file, const std::vector<std::string>& names) {
    Elf64_Ehdr header;
    if (!file.read(0, &header, sizeof header) || header.e_shentsize != sizeof(Elf64_Shdr)) {
        return false;
    }
    std::vector<Elf64_Shdr> sections(header.e_shnum);
    if (!file.read(header.e_shoff, sections.data(), sections.size() * sizeof(Elf64_Shdr))) {
        return false;
    }
    for (const Elf64_Shdr& section : sections) {
        if ((section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) || section.sh_link >= sections.size()) {
            continue;
        }
        const std::uint64_t text = sections[section.sh_link].sh_offset;
        const bool found = any_symbol(file, section, [&](const Elf64_Sym& symbol) {
            if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) {
                return false;
            }
            for (const std::string& name : names) {
                if (has_text(file, text + symbol.st_name, name)) {
                    return true;
                }
            }
            return false;
        });
        if (found) {
            return true;
        }
    }
    return false;
}

}  // namespace gpuspy::run
