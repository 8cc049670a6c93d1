// The worked example of docs/trace-format.md, byte by byte.
#include <fmt/format.h>

#include <sstream>

#include "tests/unit/sink/fixtures.hpp"
#include "tests/unit/sink/trace_dump.hpp"

using namespace gpuspy;
using namespace gpuspy::test;

namespace {

/// The bytes in the document's lines of the form "    OFFSET  BYTE BYTE ...  text", whose offsets must be right.
std::vector<std::uint8_t> documented_bytes() {
    std::ifstream document(TRACE_FORMAT_DOCUMENT);
    REQUIRE(document.is_open());
    std::vector<std::uint8_t> bytes;
    std::string line;
    while (std::getline(document, line)) {
        const bool is_dump = line.size() > 12 && line.compare(0, 4, "    ") == 0 && std::isxdigit(line[4]) != 0 &&
                             std::isxdigit(line[7]) != 0 && line.compare(8, 2, "  ") == 0;
        if (!is_dump) {
            continue;
        }
        CAPTURE(line);
        REQUIRE(std::stoul(line.substr(4, 4), nullptr, 16) == bytes.size());
        for (std::size_t at = 10;
             at + 1 < line.size() && std::isxdigit(line[at]) != 0 && std::isxdigit(line[at + 1]) != 0; at += 3) {
            bytes.push_back(static_cast<std::uint8_t>(std::stoul(line.substr(at, 2), nullptr, 16)));
        }
    }
    return bytes;
}

std::vector<std::uint8_t> example_header() {
    const char* argv[] = {"p"};
    sink::ProcessInfo process;
    process.pid = 42;
    process.ppid = 1;
    process.pgid = 42;
    process.start_realtime_ns = 1'700'000'000'000'000'000;
    process.start_monotonic_ns = 5'000'000;
    process.tick_hz = 3'000'000'000;
    process.host = "h";
    process.boot_id = "b";
    process.exe = "/bin/p";
    process.cwd = "/";
    process.gpuspy_version = "0.1.0";
    process.argv = argv;
    process.argc = 1;
    std::vector<std::uint8_t> bytes(sink::kMaxFileHeaderBytes);
    bytes.resize(sink::encode_file_header(bytes.data(), bytes.size(), 0x1122334455667788, 1000, process));
    return bytes;
}

sink::Block example_block(sink::Encoder& encoder) {
    REQUIRE(encoder.anchor({1000, 5'000'000, 1'700'000'000'000'000'000, 0, 90}));
    REQUIRE(encoder.thread(0, 42, "p"));
    REQUIRE(encoder.range(RangeBuilder(abi::RangeKind::kPush, 3000, 0, "", "step").get()));
    REQUIRE(encoder.call(
        CallBuilder(0, 4000, 10'000).caller(0x401234).stream(0).correlation(5).kernel(0x402000, 80, 256, 0).get()));
    REQUIRE(encoder.call(CallBuilder(1, 11'000, 14'000).depth(0).failed(-1).stream(0).copy(4096, 2).get()));
    REQUIRE(encoder.range(RangeBuilder(abi::RangeKind::kPop, 15'000, 0).get()));
    sink::KernelRecord kernel;
    kernel.context = 1;
    kernel.stream = 7;
    kernel.correlation = 5;
    kernel.start_ns = 2'000;
    kernel.end_ns = 3'500;
    kernel.name = "add";
    kernel.grid[0] = 80;
    kernel.grid[1] = kernel.grid[2] = 1;
    kernel.block[0] = 256;
    kernel.block[1] = kernel.block[2] = 1;
    kernel.registers = 16;
    REQUIRE(encoder.kernel(kernel));
    REQUIRE(encoder.end(20'000, abi::EndKind::kClean, 0, 0));
    return encoder.finish_block();
}

}  // namespace

TEST_CASE("the worked example of the format's document is what is written") {
    TempFolder folder;
    TestEncoder encoder;
    const auto header = example_header();
    sink::TraceWriter writer;
    REQUIRE(writer.init(1 << 20) == 0);
    REQUIRE(writer.create(folder.file("trace.bin").c_str()) == 0);
    REQUIRE(writer.write_header(header.data(), header.size()) == 0);
    REQUIRE(writer.append_block(example_block(encoder.encoder), 21'000) == 0);
    writer.close();
    const auto bytes = read_bytes(folder.file("trace.bin"));
    REQUIRE(fmt::format("{:02x}", fmt::join(documented_bytes(), " ")) == fmt::format("{:02x}", fmt::join(bytes, " ")));
    REQUIRE_FALSE(dump_bytes(bytes).partial);
}
