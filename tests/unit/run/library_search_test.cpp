#include "collector/run/library_search.hpp"

#include <catch2/catch.hpp>

#include "collector/run/loader_cache.hpp"
#include "tests/unit/run/elf_builder.hpp"
#include "tests/unit/sink/fixtures.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using Names = std::vector<std::string>;

namespace {

/// A machine in a folder: no cache, one default folder.
class Machine {
public:
    TempFolder folder;
    run::LoaderPaths paths;
    ElfParts program;

    Machine() {
        paths.cache = folder.file("no-cache");
        paths.defaults = {folder.file("default")};
    }
    void add(const std::string& name, const ElfParts& parts = {}) {
        write_program(folder.file(name), build_elf(parts));
    }
    /// "name=folder" for what the program needs; "name=" for what was not found.
    Names needed() {
        add("bin/program", program);
        const run::FileBytes file(folder.file("bin/program"));
        run::ElfFile elf;
        REQUIRE(run::read_elf(file, &elf).empty());
        run::LibrarySearch search(paths);
        Names names;
        for (const run::NeededLibrary& library : search.needed_by(folder.file("bin/program"), elf)) {
            const std::filesystem::path path = std::filesystem::path(library.path).lexically_normal();
            names.push_back(library.name + "=" + path.parent_path().filename().string());
        }
        return names;
    }
};

}  // namespace

TEST_CASE("the order of search: RPATH, LD_LIBRARY_PATH, RUNPATH, default folders") {
    Machine machine;
    machine.program.needed = {"a.so"};
    REQUIRE(machine.needed() == Names{"a.so="});
    machine.add("default/a.so");
    REQUIRE(machine.needed() == Names{"a.so=default"});
    machine.add("runpath/a.so");
    machine.program.runpath = "$ORIGIN/../runpath";
    REQUIRE(machine.needed() == Names{"a.so=runpath"});
    machine.add("variable/a.so");
    machine.paths.ld_library_path = "/nowhere:" + machine.folder.file("variable");
    REQUIRE(machine.needed() == Names{"a.so=variable"});
    machine.add("rpath/a.so");
    machine.program.rpath = "${ORIGIN}/../rpath";
    REQUIRE(machine.needed() == Names{"a.so=variable"});  // Beside a RUNPATH it is not used.
    machine.program.runpath.clear();
    REQUIRE(machine.needed() == Names{"a.so=rpath"});
}

TEST_CASE("RPATH holds for what the libraries need too, RUNPATH does not") {
    Machine machine;
    machine.program.needed = {"a.so"};
    machine.program.rpath = "$ORIGIN/../one";
    ElfParts library;
    library.needed = {"b.so", "a.so"};
    machine.add("one/a.so", library);
    machine.add("one/b.so");
    REQUIRE(machine.needed() == Names{"a.so=one", "b.so=one"});
    library.runpath = "$ORIGIN/../two";
    machine.add("one/a.so", library);
    REQUIRE(machine.needed() == Names{"a.so=one", "b.so="});  // A RUNPATH of its own ends that.
    library.runpath.clear();
    machine.add("one/a.so", library);
    std::swap(machine.program.rpath, machine.program.runpath);
    REQUIRE(machine.needed() == Names{"a.so=one", "b.so="});
}

TEST_CASE("libraries of other machines are passed over") {
    Machine machine;
    machine.program.needed = {"a.so"};
    machine.paths.ld_library_path = machine.folder.file("wrong");
    ElfParts other;
    other.machine = EM_AARCH64;
    machine.add("wrong/a.so", other);
    machine.add("default/a.so");
    REQUIRE(machine.needed() == Names{"a.so=default"});
}

TEST_CASE("libraries that need each other are each told once") {
    Machine machine;
    machine.program.needed = {"a.so"};
    ElfParts a;
    a.needed = {"b.so"};
    ElfParts b;
    b.needed = {"a.so"};
    machine.add("default/a.so", a);
    machine.add("default/b.so", b);
    REQUIRE(machine.needed() == Names{"a.so=default", "b.so=default"});
}

TEST_CASE("the loader's cache") {
    const TempFolder folder;
    // One entry, made by hand: header of 48 bytes, entry of 24, texts behind them.
    std::string bytes = "glibc-ld.so.cache1.1";
    const auto number = [&](std::uint32_t value) { bytes.append(reinterpret_cast<const char*>(&value), 4); };
    number(1);
    number(32);
    bytes.append(20, '\0');
    number(0x0303);
    number(72);
    number(72 + 5);
    bytes.append(12, '\0');
    bytes += std::string("a.so") + '\0' + "/x/a.so" + '\0';
    const auto find = [&](const std::string& text, const std::string& name) {
        write_program(folder.file("cache"), text);
        return run::find_in_loader_cache(run::FileBytes(folder.file("cache")), name);
    };
    REQUIRE(find(bytes, "a.so") == Names{"/x/a.so"});
    REQUIRE(find(bytes, "b.so").empty());
    SECTION("for another machine") {
        bytes[49] = '\0';
        REQUIRE(find(bytes, "a.so").empty());
    }
    SECTION("cut off anywhere") {
        for (std::size_t length = 0; length < bytes.size(); ++length) {
            REQUIRE(find(bytes.substr(0, length), "a.so").empty());
        }
    }
    SECTION("offsets that lead nowhere") {
        for (std::size_t at = 20; at < 72; ++at) {
            std::string changed = bytes;
            changed[at] = '\xff';
            REQUIRE(find(changed, "a.so").size() <= 1);
        }
    }
}
