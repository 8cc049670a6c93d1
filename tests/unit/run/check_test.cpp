#include "collector/run/check.hpp"

#include <catch2/catch.hpp>
#include <map>

#include "tests/unit/run/elf_builder.hpp"
#include "tests/unit/sink/fixtures.hpp"

using namespace gpuspy;
using namespace gpuspy::test;

namespace {

/// A machine in a folder, with a loader, libc, and what a test adds.
class Machine {
public:
    TempFolder folder;
    std::map<std::string, std::string> variables;
    ElfParts program;

    Machine() {
        program.interpreter = folder.file("ld-linux-x86-64.so.2");
        program.needed = {"libc.so.6"};
        add("ld-linux-x86-64.so.2");
        add("lib/libc.so.6");
    }
    void add(const std::string& name, const ElfParts& parts = {}) {
        write_program(folder.file(name), build_elf(parts));
    }
    run::CheckResult check(const std::string& name = "program") {
        if (name == "program") {
            add(name, program);
        }
        run::CheckRequest request;
        request.program = folder.file(name);
        request.caller = run::current_caller();
        request.loader.cache = folder.file("no-cache");
        request.loader.defaults = {folder.file("lib")};
        request.variable = [this](const char* variable) { return variables[variable]; };
        return run::check_program(request);
    }
    /// The texts behind a label.
    std::vector<std::string> texts(const std::string& label, const run::CheckResult& result) {
        std::vector<std::string> found;
        std::istringstream lines(result.text);
        for (std::string line; std::getline(lines, line);) {
            if (line.rfind(label + " ", 0) == 0) {
                std::string text = line.substr(13);
                for (std::size_t at = 0; (at = text.find(folder.path() + "/")) != std::string::npos;) {
                    text.erase(at, folder.path().size() + 1);
                }
                found.push_back(text);
            }
        }
        return found;
    }
    static std::string last(const run::CheckResult& result) {
        return result.text.substr(result.text.rfind('\n', result.text.size() - 2) + 1);
    }
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a program on the shared runtime") {
    Machine machine;
    machine.program.needed.insert(machine.program.needed.begin(), "libcudart.so.12");
    machine.add("lib/libcudart.so.12");
    machine.add("lib/libcuda.so.1");
    machine.add("lib/libcupti.so.12");
    machine.add("lib/libcupti.so.13");  // Of another major: not for this program.
    const run::CheckResult result = machine.check();
    CAPTURE(result.text);
    REQUIRE(result.verdict == run::Verdict::kRecorded);
    REQUIRE(Machine::last(result) == "will be recorded\n");
    REQUIRE(machine.texts("needs", result) == Texts{"libcudart.so.12 => lib/libcudart.so.12"});
    REQUIRE(machine.texts("seen by", result).size() == 2);
    REQUIRE(machine.texts("driver", result) == Texts{"lib/libcuda.so.1"});
    REQUIRE(machine.texts("CUPTI", result) == Texts{"lib/libcupti.so.12, beside cudart"});
}

TEST_CASE("a runtime that is linked in, in the program or in a library of it") {
    Machine machine;
    const std::string mark = std::string("libcuda.so.1") + '\0' + "cudaErrorCudartUnloading" + '\0';
    machine.program.rodata = mark;
    REQUIRE(machine.texts("has inside", machine.check()) == Texts{"cudart, linked statically into program"});
    machine.program.rodata.clear();
    machine.program.needed.emplace_back("libmine.so");
    ElfParts library;
    library.rodata = mark;
    machine.add("lib/libmine.so", library);
    const run::CheckResult result = machine.check();
    REQUIRE(machine.texts("has inside", result) == Texts{"cudart, linked statically into lib/libmine.so"});
    REQUIRE(machine.texts("seen by", result) ==
            Texts{"driver API alone: cudart asks dlsym and cuGetProcAddress for its functions"});
}

TEST_CASE("a library of CUDA has a runtime inside, and that is not the program's") {
    Machine machine;
    machine.program.needed.emplace_back("libcublas.so.13");
    ElfParts library;
    library.rodata = std::string("libcuda.so.1") + '\0' + "cudaErrorCudartUnloading" + '\0';
    machine.add("lib/libcublas.so.13", library);
    REQUIRE(machine.texts("has inside", machine.check()).empty());
}

TEST_CASE("the driver API, linked or opened at run time") {
    Machine machine;
    machine.program.rodata = std::string("libcuda.so.1") + '\0';
    REQUIRE(machine.texts("names", machine.check()) == Texts{"libcuda.so.1: opened at run time, if at all"});
    machine.program.needed.emplace_back("libcuda.so.1");
    machine.add("lib/libcuda.so.1");
    const run::CheckResult result = machine.check();
    REQUIRE(machine.texts("names", result).empty());
    REQUIRE(machine.texts("seen by", result) == Texts{"driver API: the loader binds its functions to libgpuspy.so"});
}

TEST_CASE("a program without CUDA, and a Python interpreter") {
    Machine machine;
    const run::CheckResult result = machine.check();
    REQUIRE(Machine::last(result) == "will be recorded, if it uses CUDA, once there is a driver\n");
    REQUIRE(machine.texts("CUDA", result).size() == 1);
    REQUIRE(machine.texts("Python", result).empty());
    for (const std::string name : {"python", "python3", "python3.11", "pypy3"}) {
        machine.add(name, machine.program);
        REQUIRE(machine.texts("Python", machine.check(name)).size() == 1);
    }
    machine.add("pythonic", machine.program);
    REQUIRE(machine.texts("Python", machine.check("pythonic")).empty());
}

TEST_CASE("what is not there") {
    Machine machine;
    machine.program.needed.emplace_back("libcudnn.so.9");
    run::CheckResult result = machine.check();
    REQUIRE(result.verdict == run::Verdict::kNotRecorded);
    REQUIRE(machine.texts("needs", result) == Texts{"libcudnn.so.9 => not found"});
    REQUIRE(Machine::last(result).find("libcudnn.so.9, which " + machine.folder.path() +
                                       "/program needs, was not found") != std::string::npos);
    REQUIRE(machine.texts("driver", result).front().find("was not found") != std::string::npos);
    machine.program.interpreter = machine.folder.file("nothing");
    result = machine.check();
    REQUIRE(result.verdict == run::Verdict::kNotRecorded);
    REQUIRE(Machine::last(result).find("there is no loader") != std::string::npos);
    REQUIRE(machine.check("no-such-program").verdict == run::Verdict::kNoProgram);
}

TEST_CASE("settings that keep from recording") {
    Machine machine;
    machine.variables.emplace("GPUSPY_DISABLE", "1");
    REQUIRE(Machine::last(machine.check()) == "will not be recorded: GPUSPY_DISABLE=1 is set; unset it\n");
    machine.variables = {{"GPUSPY_DEVICE_TIMING", "0"}};
    REQUIRE(machine.texts("CUPTI", machine.check()) == Texts{"not used: GPUSPY_DEVICE_TIMING=0"});
    machine.variables = {};
    REQUIRE(machine.texts("NVTX", machine.check()) ==
            Texts{"ranges are recorded, where a library or the program has any"});
    machine.variables = {{"NVTX_INJECTION64_PATH", "/opt/tool.so"}};
    REQUIRE(machine.texts("NVTX", machine.check()) ==
            Texts{"ranges are not recorded: NVTX_INJECTION64_PATH names /opt/tool.so"});
    machine.variables = {{"GPUSPY_CUPTI", machine.folder.file("none")}};
    REQUIRE(machine.texts("CUPTI", machine.check()) == Texts{"GPUSPY_CUPTI=none cannot be read; correct or unset it"});
    machine.variables = {{"GPUSPY_CUPTI", machine.folder.file("lib/libc.so.6")}};
    REQUIRE(machine.texts("CUPTI", machine.check()) == Texts{"lib/libc.so.6, named by GPUSPY_CUPTI"});
}

TEST_CASE("files that are no programs") {
    Machine machine;
    write_program(machine.folder.file("program.txt"), "text");
    std::filesystem::permissions(machine.folder.file("program.txt"), std::filesystem::perms(0644));
    REQUIRE(Machine::last(machine.check("program.txt")).find("is not executable") != std::string::npos);
    write_program(machine.folder.file("cut"), build_elf(machine.program).substr(0, 100));
    REQUIRE(Machine::last(machine.check("cut")).find("is cut off") != std::string::npos);
    std::filesystem::create_directory(machine.folder.file("folder"));
    REQUIRE(Machine::last(machine.check("folder")).find("Is a directory") != std::string::npos);
}

TEST_CASE("programs as a compiler makes them: static, static-PIE") {
    const run::CheckResult fixed = run::check_program_here(STATIC_PROGRAM);
    REQUIRE(fixed.verdict == run::Verdict::kNotRecorded);
    REQUIRE(fixed.text.find("is linked statically:") != std::string::npos);
    const run::CheckResult pie = run::check_program_here(STATIC_PIE_PROGRAM);
    REQUIRE(pie.verdict == run::Verdict::kNotRecorded);
    REQUIRE(pie.text.find("is linked statically (static-PIE):") != std::string::npos);
}
