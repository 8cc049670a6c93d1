// What an ELF file says of itself, read from the file: nothing is run or loaded, and nothing it says is believed unchecked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collector/run/file_bytes.hpp"

namespace gpuspy::run {

struct ElfFile {
    bool is_64_bit = false;
    bool is_little_endian = false;
    std::uint16_t machine = 0;  ///< EM_*.
    std::uint16_t type = 0;     ///< ET_*.
    // What follows is read from the files of our own machine alone: is_ours().
    std::string interpreter;          ///< PT_INTERP, the loader's path; "": there is none.
    bool is_dynamic = false;          ///< Has a dynamic section.
    bool is_pie = false;              ///< Marked as a program that is position independent (DF_1_PIE).
    std::vector<std::string> needed;  ///< DT_NEEDED, in order.
    std::string rpath;                ///< As it stands: entries between colons, $ORIGIN unexpanded.
    std::string runpath;

    /// Whether the loader of our own machine takes it: x86-64.
    [[nodiscard]] bool is_ours() const;
    /// "x86-64", "32-bit x86", "aarch64", ... or "machine 123".
    [[nodiscard]] std::string machine_name() const;
};

/// "", or what is wrong with the file, to be put behind its name: "is not an ELF file", "is cut off: ...".
std::string read_elf(const FileBytes& file, ElfFile* elf);

/// Whether a symbol table of the file (one of our own machine) defines one of the functions.
bool defines_function(const FileBytes& file, const std::vector<std::string>& names);

}  // namespace gpuspy::run
