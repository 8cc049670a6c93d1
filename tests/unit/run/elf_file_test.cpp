#include "collector/run/elf_file.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "tests/unit/run/elf_builder.hpp"
#include "tests/unit/sink/fixtures.hpp"

using namespace gpuspy;
using namespace gpuspy::test;

namespace {

std::string read(const TempFolder& folder, const std::string& bytes, run::ElfFile* elf) {
    write_program(folder.file("program"), bytes);
    const run::FileBytes file(folder.file("program"));
    REQUIRE(file.error() == 0);
    return run::read_elf(file, elf);
}

ElfParts usual() {
    ElfParts parts;
    parts.needed = {"libcudart.so.13", "libc.so.6"};
    parts.rpath = "/r:$ORIGIN";
    parts.runpath = "/run";
    return parts;
}

}  // namespace

TEST_CASE("an ELF file's loader, libraries and search paths") {
    const TempFolder folder;
    run::ElfFile elf;
    REQUIRE(read(folder, build_elf(usual()), &elf).empty());
    REQUIRE(elf.is_ours());
    REQUIRE(elf.type == ET_DYN);
    REQUIRE(elf.interpreter == "/lib64/ld-linux-x86-64.so.2");
    REQUIRE(elf.is_dynamic);
    REQUIRE(elf.is_pie);
    REQUIRE(elf.needed == std::vector<std::string>{"libcudart.so.13", "libc.so.6"});
    REQUIRE(elf.rpath == "/r:$ORIGIN");
    REQUIRE(elf.runpath == "/run");
}

TEST_CASE("files of other machines are named and not read further") {
    const TempFolder folder;
    const auto [machine, elf_class, name] =
        GENERATE(table<std::uint16_t, unsigned char, std::string>({{EM_AARCH64, ELFCLASS64, "aarch64"},
                                                                   {EM_386, ELFCLASS32, "32-bit x86"},
                                                                   {EM_X86_64, ELFCLASS32, "x32"},
                                                                   {4711, ELFCLASS64, "machine 4711"}}));
    ElfParts parts = usual();
    parts.machine = machine;
    parts.elf_class = elf_class;
    run::ElfFile elf;
    REQUIRE(read(folder, build_elf(parts), &elf).empty());
    REQUIRE_FALSE(elf.is_ours());
    REQUIRE(elf.machine_name() == name);
    REQUIRE(elf.needed.empty());
}

TEST_CASE("a file of the other byte order has its machine's name") {
    const TempFolder folder;
    std::string bytes = build_elf({});
    bytes[EI_DATA] = ELFDATA2MSB;
    std::swap(bytes[18], bytes[19]);
    run::ElfFile elf;
    REQUIRE(read(folder, bytes, &elf).empty());
    REQUIRE_FALSE(elf.is_ours());
    REQUIRE(elf.machine == EM_X86_64);
}

TEST_CASE("what is no ELF file is told") {
    const TempFolder folder;
    run::ElfFile elf;
    REQUIRE(read(folder, "", &elf) == "is not an ELF file");
    REQUIRE(read(folder, "MZ and so on, long enough to be a header", &elf) == "is not an ELF file");
}

TEST_CASE("an ELF file that is cut off anywhere is told in one line") {
    const TempFolder folder;
    ElfParts parts = usual();
    const std::string whole = build_elf(parts);
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
        CAPTURE(bytes);
        run::ElfFile elf;
        const std::string problem = read(folder, whole.substr(0, bytes), &elf);
        REQUIRE_FALSE(problem.empty());
        REQUIRE(problem.find('\n') == std::string::npos);
    }
}

TEST_CASE("an ELF file with any byte changed is read or told, and nothing else happens") {
    const TempFolder folder;
    const std::string whole = build_elf(usual());
    std::mt19937 random(1);
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (const char value : {'\0', '\xff', '\x7f', static_cast<char>(random())}) {
            std::string bytes = whole;
            bytes[at] = value;
            run::ElfFile elf;
            const std::string problem = read(folder, bytes, &elf);
            REQUIRE(problem.find('\n') == std::string::npos);
            REQUIRE(elf.needed.size() <= 8);
        }
    }
}

TEST_CASE("names that lie outside of their table are damage") {
    const TempFolder folder;
    std::string bytes = build_elf(usual());
    const std::size_t dynamic =
        bytes.size() - 7 * sizeof(Elf64_Dyn);  // 2 needed, rpath, runpath, table, size, flags, null.
    Elf64_Dyn first{};
    std::memcpy(&first, bytes.data() + dynamic - sizeof first, sizeof first);
    REQUIRE(first.d_tag == DT_NEEDED);
    first.d_un.d_val = ~std::uint64_t{0};
    std::memcpy(bytes.data() + dynamic - sizeof first, &first, sizeof first);
    run::ElfFile elf;
    REQUIRE(read(folder, bytes, &elf) == "is a damaged ELF file: a name of its libraries lies outside of its table");
}

TEST_CASE("texts are found whole, and across the pieces that a file is read in") {
    const TempFolder folder;
    std::string bytes((1 << 20) - 4, 'x');
    bytes += std::string("needle") + '\0' + "needles" + '\0';
    write_program(folder.file("file"), bytes);
    const run::FileBytes file(folder.file("file"));
    REQUIRE(file.find_texts({"needle", "needles", "needl", "other"}) == std::vector<bool>{true, true, false, false});
}

TEST_CASE("functions that a program defines are told from those that it calls") {
    const run::FileBytes program(MUSL_PROGRAM);
    REQUIRE(program.error() == 0);
    REQUIRE(run::defines_function(program, {"main"}));
    REQUIRE(run::defines_function(program, {"no_such_function", "main"}));
    REQUIRE_FALSE(run::defines_function(program, {"getenv"}));
    REQUIRE_FALSE(run::defines_function(program, {"no_such_function"}));
}

TEST_CASE("what is no file to read") {
    REQUIRE(run::FileBytes("/no/such/file").error() == ENOENT);
    REQUIRE(run::FileBytes("/").error() == EISDIR);
    REQUIRE(run::FileBytes("/dev/null").error() == EACCES);
}
