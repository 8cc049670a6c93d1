// Makes small ELF files, whole but for code: headers, a loader's name, a dynamic section.
#pragma once

#include <elf.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace gpuspy::test {

struct ElfParts {
    std::uint16_t machine = EM_X86_64;
    std::uint16_t type = ET_DYN;
    unsigned char elf_class = ELFCLASS64;
    std::string interpreter = "/lib64/ld-linux-x86-64.so.2";  ///< "": none.
    bool dynamic = true;
    bool pie = true;
    std::vector<std::string> needed;
    std::string rpath;
    std::string runpath;
    std::string rodata;  ///< Bytes at the end.
};

/// Layout: header, three program headers, interpreter, string table, dynamic section, rodata; loaded at address 0x1000.
inline std::string build_elf(const ElfParts& parts) {
    constexpr std::uint64_t kAddress = 0x1000;
    std::string strings(1, '\0');
    const auto add = [&](const std::string& text) {
        const std::uint64_t at = strings.size();
        strings += text + '\0';
        return at;
    };
    std::vector<Elf64_Dyn> dynamic;
    const auto entry = [&](std::int64_t tag, std::uint64_t value) {
        Elf64_Dyn one{};
        one.d_tag = tag;
        one.d_un.d_val = value;
        dynamic.push_back(one);
    };
    for (const std::string& name : parts.needed) {
        entry(DT_NEEDED, add(name));
    }
    if (!parts.rpath.empty()) {
        entry(DT_RPATH, add(parts.rpath));
    }
    if (!parts.runpath.empty()) {
        entry(DT_RUNPATH, add(parts.runpath));
    }
    const std::uint64_t interpreter_at = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr);
    const std::uint64_t strings_at = interpreter_at + parts.interpreter.size() + 1;
    const std::uint64_t dynamic_at = strings_at + strings.size();
    entry(DT_STRTAB, kAddress + strings_at);
    entry(DT_STRSZ, strings.size());
    if (parts.pie) {
        entry(DT_FLAGS_1, DF_1_PIE);
    }
    entry(DT_NULL, 0);
    const std::uint64_t dynamic_bytes = dynamic.size() * sizeof(Elf64_Dyn);

    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = parts.elf_class;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = parts.type;
    header.e_machine = parts.machine;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    Elf64_Phdr segments[3] = {};
    std::uint16_t count = 0;
    const auto segment = [&](std::uint32_t type, std::uint64_t at, std::uint64_t bytes) {
        segments[count].p_type = type;
        segments[count].p_offset = at;
        segments[count].p_vaddr = kAddress + at;
        segments[count].p_filesz = bytes;
        ++count;
    };
    segment(PT_LOAD, 0, dynamic_at + dynamic_bytes);
    if (!parts.interpreter.empty()) {
        segment(PT_INTERP, interpreter_at, parts.interpreter.size() + 1);
    }
    if (parts.dynamic) {
        segment(PT_DYNAMIC, dynamic_at, dynamic_bytes);
    }
    header.e_phnum = count;

    std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
    bytes.append(reinterpret_cast<const char*>(segments), sizeof segments);
    bytes += parts.interpreter + '\0' + strings;
    bytes.append(reinterpret_cast<const char*>(dynamic.data()), dynamic_bytes);
    return bytes + parts.rodata;
}

inline void write_program(const std::string& path, const std::string& bytes) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
    std::filesystem::permissions(path, std::filesystem::perms(0755));
}

}  // namespace gpuspy::test
