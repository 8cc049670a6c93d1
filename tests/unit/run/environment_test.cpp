#include "collector/run/environment.hpp"

#include <catch2/catch.hpp>

#include "collector/run/child.hpp"
#include "tests/unit/sink/fixtures.hpp"

using namespace gpuspy;
using namespace gpuspy::test;

TEST_CASE("the library goes before what is preloaded already, and not twice") {
    const std::string library = "/opt/gpuspy/lib/libgpuspy.so";
    REQUIRE(run::preload_value(library, nullptr) == library);
    REQUIRE(run::preload_value(library, "") == library);
    REQUIRE(run::preload_value(library, "/lib/a.so") == library + ":/lib/a.so");
    REQUIRE(run::preload_value(library, "/lib/a.so /lib/b.so:/lib/c.so") == library + ":/lib/a.so:/lib/b.so:/lib/c.so");
    REQUIRE(run::preload_value(library, ("/lib/a.so:" + library).c_str()) == library + ":/lib/a.so");
}

TEST_CASE("the library is found where it was to be installed, then where distributions put it, then beside") {
    const TempFolder folder;
    std::filesystem::create_directories(folder.file("bin"));
    const auto find = [&](const std::string& below) {
        const std::string library = run::find_installation(folder.file("bin/gpuspy-run"), below).library;
        return library.empty() ? library : library.substr(folder.path().size() + 1);
    };
    REQUIRE(find("../private/place").empty());
    for (const std::string place : {"bin", "lib/gpuspy", "lib64", "lib/x86_64-linux-gnu", "lib", "private/place"}) {
        std::filesystem::create_directories(folder.file(place));
        write_text(folder.file(place + "/libgpuspy.so"), "");
        REQUIRE(find("../private/place") == place + "/libgpuspy.so");
    }
}

TEST_CASE("a path that LD_PRELOAD cannot say is told") {
    REQUIRE(run::preload_problem("/opt/gpuspy/lib/libgpuspy.so").empty());
    REQUIRE(run::preload_problem("/opt/my tools/libgpuspy.so").find("space or a colon") != std::string::npos);
    REQUIRE(run::preload_problem("/opt/a:b/libgpuspy.so").find("space or a colon") != std::string::npos);
}

TEST_CASE("paths become absolute") {
    REQUIRE(run::absolute_path("/a/b", "/home") == "/a/b");
    REQUIRE(run::absolute_path("t.bin", "/home") == "/home/t.bin");
    REQUIRE(run::absolute_path("../t.bin", "/home") == "/home/../t.bin");
}

TEST_CASE("the command's environment") {
    run::Settings settings;
    settings.library = "/l.so";
    settings.output = "/t.bin";
    settings.run_id = 5;
    using Variables = std::vector<std::pair<std::string, std::string>>;
    Variables expected = {{"LD_PRELOAD", "/l.so:/x.so"},
                          {"GPUSPY_OUTPUT", "/t.bin"},
                          {"GPUSPY_RUN_ID", "5"},
                          {"NVTX_INJECTION64_PATH", "/l.so"}};
    REQUIRE(run::child_environment(settings, "/x.so", nullptr).set == expected);
    settings.device_timing = false;
    expected.emplace_back("GPUSPY_DEVICE_TIMING", "0");
    REQUIRE(run::child_environment(settings, "/x.so", nullptr).set == expected);
}

TEST_CASE("NVTX is given the library, unless the user gives it another") {
    const TempFolder folder;
    write_text(folder.file("libgpuspy.so"), "");
    write_text(folder.file("other.so"), "");
    std::filesystem::create_symlink("libgpuspy.so", folder.file("link.so"));
    run::Settings settings;
    settings.library = folder.file("libgpuspy.so");
    const auto given = [&](const char* before) {
        for (const auto& [name, value] : run::child_environment(settings, nullptr, before).set) {
            if (name == "NVTX_INJECTION64_PATH") {
                return value;
            }
        }
        return std::string();
    };
    const std::string link = folder.file("link.so");
    for (const char* before : {static_cast<const char*>(nullptr), "", settings.library.c_str(), link.c_str()}) {
        REQUIRE(run::nvtx_problem(settings.library, before).empty());
        REQUIRE(given(before) == settings.library);
    }
    for (const std::string& before : {folder.file("other.so"), folder.file("none.so")}) {
        REQUIRE(run::nvtx_problem(settings.library, before.c_str()) ==
                "NVTX_INJECTION64_PATH names " + before +
                    ": NVTX ranges go there, and are not recorded; unset it to record them");
        REQUIRE(given(before.c_str()).empty());
    }
}

TEST_CASE("whether children record is told by a pid, or by none, whatever an outer gpuspy-run said") {
    run::Settings settings;
    REQUIRE(run::child_environment(settings, nullptr, nullptr).unset == std::vector<std::string>{"GPUSPY_ONLY_PID"});
    REQUIRE(run::child_environment(settings, nullptr, nullptr).set_to_pid.empty());
    settings.follow_children = false;
    REQUIRE(run::child_environment(settings, nullptr, nullptr).unset.empty());
    REQUIRE(run::child_environment(settings, nullptr, nullptr).set_to_pid == "GPUSPY_ONLY_PID");
}

TEST_CASE("the address sanitizer is told that it does not come first, whatever else it is told") {
    run::Settings settings;
    const auto asan_options = [&settings] {
        for (const auto& [name, value] : run::child_environment(settings, nullptr, nullptr).set) {
            if (name == "ASAN_OPTIONS") return value;
        }
        return std::string("not set");
    };
    REQUIRE(asan_options() == "not set");
    settings.asan_options = "";
    REQUIRE(asan_options() == "verify_asan_link_order=0");
    settings.asan_options = "detect_leaks=0";
    REQUIRE(asan_options() == "detect_leaks=0:verify_asan_link_order=0");
}

TEST_CASE("run ids are not 0 and differ") {
    const std::uint64_t first = run::make_run_id();
    REQUIRE(first != 0);
    REQUIRE(first != run::make_run_id());
}

TEST_CASE("an output that cannot be written is known before the command runs") {
    TempFolder folder;
    REQUIRE(run::output_problem(folder.file("trace.bin")).empty());
    REQUIRE(run::output_problem("/dev/null").empty());
    write_text(folder.file("empty"), "");
    REQUIRE(run::output_problem(folder.file("empty")).empty());
    { TestWriter older(folder.file("older")); }
    REQUIRE(run::output_problem(folder.file("older")).empty());
    REQUIRE(run::output_problem(folder.path()) ==
            "cannot write " + folder.path() + ": it is a directory; name a file with -o");
    REQUIRE(run::output_problem(folder.file("none/t.bin")) == "cannot write " + folder.file("none/t.bin") +
                                                                  ": there is no directory " + folder.file("none") +
                                                                  "; create it or use -o FILE");
}

TEST_CASE("exit statuses are the shell's") {
    REQUIRE(run::exit_status(0) == 0);
    REQUIRE(run::exit_status(3 << 8) == 3);
    REQUIRE(run::exit_status(9) == 137);
    REQUIRE(run::exit_status(11 | 0x80) == 139);  // With a core dump.
    REQUIRE(run::spawn_exit_status(ENOENT) == 127);
    REQUIRE(run::spawn_exit_status(EACCES) == 126);
}
