#include "collector/sink/file_header.hpp"

#include <fcntl.h>

#include "tests/unit/sink/fixtures.hpp"
#include "tests/unit/sink/trace_dump.hpp"

using namespace gpuspy;
using namespace gpuspy::test;

namespace {

sink::TraceIdentity identity_of(const std::vector<std::uint8_t>& bytes, bool expect_readable = true) {
    TempFolder folder;
    write_text(folder.file("f"), {bytes.begin(), bytes.end()});
    const int fd = open(folder.file("f").c_str(), O_RDONLY);
    REQUIRE(fd >= 0);
    sink::TraceIdentity identity;
    REQUIRE(sink::read_trace_identity(fd, &identity) == expect_readable);
    close(fd);
    return identity;
}

}  // namespace

TEST_CASE("the header says which process it was") {
    const char* argv[] = {"python", "train.py"};
    const char* environment[] = {"RANK=3"};
    sink::ProcessInfo process = small_process(99);
    process.argv = argv;
    process.argc = 2;
    process.environment = environment;
    process.environment_count = 1;
    const auto bytes = header_bytes(5, process);
    const TraceDump dump = dump_bytes(bytes);
    REQUIRE(dump.fault.empty());
    REQUIRE(dump.has("process 42 run 99 /bin/program argv python train.py env RANK=3"));
    const sink::TraceIdentity identity = identity_of(bytes);
    REQUIRE(identity.nonce == 5);
    REQUIRE(identity.pid == 42);
    REQUIRE(identity.run_id == 99);
    REQUIRE(identity.header_bytes == bytes.size());
}

TEST_CASE("arguments beyond the limit are left out, long ones cut") {
    const std::string longest(10'000, 'a');
    const std::vector<const char*> argv(100, longest.c_str());
    sink::ProcessInfo process = small_process();
    process.argv = argv.data();
    process.argc = 100;
    const auto bytes = header_bytes(5, process);
    REQUIRE(bytes.size() < sink::kMaxFileHeaderBytes);
    const TraceDump dump = dump_bytes(bytes);
    REQUIRE(dump.fault.empty());
    const std::string line = dump.of("process").at(0);
    REQUIRE(std::count(line.begin(), line.end(), 'a') > 31 * 4096);
    REQUIRE(std::count(line.begin(), line.end(), 'a') < 128 * 1024);
}

TEST_CASE("a buffer that may be too small is refused") {
    std::vector<std::uint8_t> bytes(sink::kMaxFileHeaderBytes - 1);
    REQUIRE(sink::encode_file_header(bytes.data(), bytes.size(), 1, 1, small_process()) == 0);
}

TEST_CASE("what is not a trace of this version is not taken for one") {
    auto bytes = header_bytes(5, small_process());
    SECTION("another magic") {
        bytes[0] = 'X';
    }
    SECTION("a newer major version") {
        bytes[8] = 2;
    }
    SECTION("cut in the header") {
        bytes.resize(63);
    }
    SECTION("cut in the numbers") {
        bytes.resize(67);
    }
    SECTION("no process record") {
        bytes[64] = 9;
    }
    SECTION("empty") {
        bytes.clear();
    }
    identity_of(bytes, false);
}
