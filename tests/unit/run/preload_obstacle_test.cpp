#include "collector/run/preload_obstacle.hpp"

#include <sys/stat.h>
#include <sys/xattr.h>

#include <catch2/catch.hpp>

#include "collector/run/program_file.hpp"
#include "tests/unit/run/elf_builder.hpp"
#include "tests/unit/sink/fixtures.hpp"

using namespace gpuspy;
using namespace gpuspy::test;

namespace {

class Program {
public:
    TempFolder folder;
    ElfParts parts;
    mode_t mode = 0755;
    run::Caller caller = run::current_caller();

    run::Obstacle obstacle() {
        const std::string path = folder.file("p");
        write_program(path, build_elf(parts));
        REQUIRE(chmod(path.c_str(), mode) == 0);
        const run::FileBytes file(path);
        run::ElfFile elf;
        REQUIRE(run::read_elf(file, &elf).empty());
        run::Obstacle obstacle = run::find_obstacle("p", file, elf, caller);
        obstacle.reason = obstacle.reason.substr(0, obstacle.reason.find_first_of(":;,"));
        return obstacle;
    }
};

}  // namespace

TEST_CASE("a program that libgpuspy.so is preloaded into has no obstacle") {
    Program program;
    REQUIRE(program.obstacle().reason.empty());
    program.parts.type = ET_EXEC;
    program.parts.pie = false;
    REQUIRE(program.obstacle().reason.empty());
}

TEST_CASE("programs without a loader") {
    Program program;
    program.parts.interpreter.clear();
    REQUIRE(program.obstacle().reason == "p is linked statically (static-PIE)");
    program.parts.pie = false;
    REQUIRE(program.obstacle().reason == "p is an ELF file");
    program.parts.type = ET_EXEC;
    program.parts.dynamic = false;
    REQUIRE(program.obstacle().reason == "p is linked statically");
    REQUIRE_FALSE(program.obstacle().breaks);
}

TEST_CASE("programs of another C library or another machine") {
    Program program;
    program.parts.interpreter = "/lib/ld-musl-x86_64.so.1";
    REQUIRE(program.obstacle().reason == "p is linked against musl");
    REQUIRE(program.obstacle().breaks);
    program.parts.machine = EM_AARCH64;
    REQUIRE(program.obstacle().reason == "p is a program for aarch64");
    REQUIRE_FALSE(program.obstacle().breaks);
}

TEST_CASE("programs that the loader preloads nothing into for this user") {
    Program program;
    const run::Caller owner = program.caller;
    const run::Caller other{owner.user + 1, owner.group + 1};
    program.mode = 04755;
    REQUIRE(program.obstacle().reason.empty());
    program.caller = other;
    REQUIRE(program.obstacle().reason == "p is setuid");
    program.mode = 02755;
    REQUIRE(program.obstacle().reason == "p is setgid");
    program.caller = owner;
    REQUIRE(program.obstacle().reason.empty());
    program.caller = other;
    program.mode = 02745;
    REQUIRE(program.obstacle().reason.empty());  // Mandatory locking, not setgid.
}

TEST_CASE("file capabilities are an obstacle to all but root") {
    const TempFolder folder;
    const std::string path = folder.file("p");
    write_program(path, build_elf({}));
    // struct vfs_cap_data, version 2, effective, CAP_NET_RAW permitted.
    const std::uint32_t capabilities[5] = {0x02000001, 1U << 13, 0, 0, 0};
    if (setxattr(path.c_str(), "security.capability", capabilities, sizeof capabilities, 0) != 0) {
        WARN("not tested: only root can give capabilities to a file, on a file system that keeps them");
        return;
    }
    const run::FileBytes file(path);
    run::ElfFile elf;
    REQUIRE(run::read_elf(file, &elf).empty());
    REQUIRE(run::find_obstacle("p", file, elf, {1000, 1000}).reason.find("has file capabilities") != std::string::npos);
    REQUIRE(run::find_obstacle("p", file, elf, {0, 0}).reason.empty());
}

TEST_CASE("commands are found as execvp finds them") {
    const TempFolder folder;
    write_program(folder.file("one/p"), "");
    write_program(folder.file("two/p"), "");
    std::filesystem::permissions(folder.file("one/p"), std::filesystem::perms(0644));
    const std::string path = folder.file("none") + ":" + folder.file("one") + ":" + folder.file("two");
    REQUIRE(run::find_program("p", path.c_str()) == folder.file("two/p"));
    REQUIRE(run::find_program("q", path.c_str()).empty());
    REQUIRE(run::find_program("", path.c_str()).empty());
    REQUIRE(run::find_program(folder.file("one/p"), path.c_str()) == folder.file("one/p"));
    REQUIRE(run::find_program("./no/such", path.c_str()).empty());
}

TEST_CASE("scripts are followed to what runs them") {
    const TempFolder folder;
    const std::string path = folder.path();
    const auto follow = [&](const std::string& name) { return run::follow_scripts(folder.file(name), path.c_str()); };
    write_program(folder.file("program"), build_elf({}));
    write_program(folder.file("direct"), "#! " + folder.file("program") + " -x\n");
    write_program(folder.file("by_env"), "#!/usr/bin/env -S A=1 program -u\n");
    write_program(folder.file("twice"), "#!" + folder.file("direct") + "\n");
    REQUIRE(follow("direct").path == folder.file("program"));
    REQUIRE(follow("by_env").path == folder.file("program"));
    REQUIRE(follow("twice").path == folder.file("program"));
    REQUIRE(follow("twice").scripts == std::vector<std::string>{folder.file("twice"), folder.file("direct")});
    write_program(folder.file("no_line"), "echo run by execvp's shell\n");
    REQUIRE(follow("no_line").path == "/bin/sh");
    REQUIRE(follow("no_line").scripts == std::vector<std::string>{folder.file("no_line")});
    write_program(folder.file("loop"), "#!" + folder.file("loop") + "\n");
    REQUIRE(follow("loop").problem.find("too many") != std::string::npos);
    write_program(folder.file("empty"), "#!\nx\n");
    REQUIRE(follow("empty").problem.find("names no interpreter") != std::string::npos);
    write_program(folder.file("missing"), "#!/usr/bin/env nosuch\n");
    REQUIRE(follow("missing").problem.find("there is no nosuch to run it") != std::string::npos);
}
