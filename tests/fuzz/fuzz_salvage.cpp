// libFuzzer target: what a dead process left, changed -> salvager -> reader.
//
// The remains are sound (rings with events, a trace with a committed block), so that what is looked for first holds; the input is
// changes to them: [offset: 4 bytes][count: 1 byte][bytes], one after the other, of the ring file, and behind a count of 0 of
// the trace. The salvager must come back, must not write outside its trace, and must leave a trace that can be read.
#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "analysis/model/build_model.hpp"
#include "collector/abi/event.hpp"
#include "collector/ring/ring.hpp"
#include "collector/ring/ring_set.hpp"
#include "collector/sink/drain.hpp"
#include "collector/sink/file_header.hpp"
#include "collector/sink/salvage.hpp"
#include "collector/sink/trace_writer.hpp"

using namespace gpuspy;

namespace {

constexpr std::uint64_t kRingBytes = 16384;
constexpr abi::ApiEntry kApis[] = {{"cuLaunchKernel", "driver", 0, 1, 0, {}, ""},
                                   {"cudaMemcpy", "runtime", 1, 3, abi::kApiBlocking, {}, ""}};

void must(bool holds) {
    if (!holds) {
        std::abort();
    }
}

using Bytes = std::vector<char>;

Bytes read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::string& path, const Bytes& bytes) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void put_call(abi::RingHeader* ring, std::uint16_t api, std::uint64_t begin) {
    constexpr std::uint32_t kWords = sizeof(abi::CallEvent) / 8;
    std::uint64_t* at = ring::reserve(ring, kRingBytes, kWords);
    must(at != nullptr);
    const abi::CallEvent call{{kWords, abi::EventType::kCall, 0, api, 0}, 0, 0, begin, begin + 5, 0};
    std::memcpy(at, &call, sizeof call);
    ring::commit(ring, at);
}

/// A folder with the remains, made once.
class Remains {
public:
    Remains() {
        std::string name = (std::filesystem::temp_directory_path() / "gpuspy-fuzz-XXXXXX").string();
        must(mkdtemp(name.data()) != nullptr);
        folder_ = name;
        ring::RingSetConfig config;
        config.ring_bytes = kRingBytes;
        config.pid = 0x7ffffff0;  // nobody's
        config.nonce = std::uint64_t{0x1234} << 32 | static_cast<std::uint32_t>(getpid());
        const std::string trace = trace_path();
        config.trace_path = trace.c_str();
        config.boot_id = "boot";
        config.apis = kApis;
        config.api_count = std::size(kApis);
        ring::RingSet rings;
        must(rings.create(config) == 0);
        sink::TraceWriter writer;
        must(writer.init(abi::kMaxBlockRawBytes) == 0 && writer.create(trace.c_str()) == 0);
        std::vector<std::uint8_t> header(sink::kMaxFileHeaderBytes);
        sink::ProcessInfo process;
        process.pid = 42;
        must(writer.write_header(header.data(), sink::encode_file_header(header.data(), header.size(),
                                                                         rings.header()->nonce, 1000, process)) == 0);
        sink::Drain drain;
        must(drain.init(rings, writer, {}, {}) == 0);
        abi::RingHeader* first = rings.claim(501, 1);
        put_call(first, 0, 10);
        drain.run_pass(false);
        drain.destroy();
        abi::RingHeader* second = rings.claim(502, 2);
        for (std::uint16_t i = 0; i < 20; ++i) {
            put_call(first, static_cast<std::uint16_t>(i % 2), 20 + 10 * i);
            put_call(second, static_cast<std::uint16_t>((i + 1) % 2), 25 + 10 * i);
        }
        writer.close();
        ring_bytes = read_file(rings.path());
        trace_bytes = read_file(trace);
        rings.mark_ended_and_unlink();
        rings.forget_after_fork();
    }
    ~Remains() { std::filesystem::remove_all(folder_); }
    Remains(const Remains&) = delete;
    Remains& operator=(const Remains&) = delete;

    std::string trace_path() const { return folder_ + "/trace.bin"; }
    std::string ring_path() const { return folder_ + "/gpuspy.remains"; }

    Bytes ring_bytes;
    Bytes trace_bytes;

private:
    std::string folder_;
};

void change(Bytes& ring, Bytes& trace, std::span<const std::uint8_t> input) {
    Bytes* target = &ring;
    while (input.size() >= 5) {
        std::uint32_t offset = 0;
        std::memcpy(&offset, input.data(), sizeof offset);
        const std::size_t count = input[4];
        input = input.subspan(5);
        if (count == 0) {
            target = &trace;
            target->resize(offset % (target->size() + 1));  // and it may be cut
            continue;
        }
        if (target->empty()) {
            return;
        }
        for (std::size_t i = 0; i < count && !input.empty(); ++i) {
            (*target)[(offset + i) % target->size()] = static_cast<char>(input.front());
            input = input.subspan(1);
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Remains remains;
    Bytes ring = remains.ring_bytes;
    Bytes trace = remains.trace_bytes;
    change(ring, trace, {data, size});
    write_file(remains.ring_path(), ring);
    write_file(remains.trace_path(), trace);
    const std::string path = remains.trace_path();
    const sink::SalvageFilter filter{.trace_path = path.c_str()};
    const sink::SalvageResult result = sink::salvage_ring(remains.ring_path().c_str(), filter);
    const Bytes left = read_file(remains.trace_path());
    // Unchanged remains give all that was there: else nothing below would be reached.
    must(size != 0 || (result.reason == sink::SalvageReason::kDone && result.events == 40));
    if (result.reason != sink::SalvageReason::kDone) {
        must(left.size() <= trace.size() || result.reason == sink::SalvageReason::kFailed);
        return 0;
    }
    const analysis::MemorySource source(std::as_bytes(std::span(left)));
    must(analysis::build_model(source, {.timeline = true}).ok());
    return 0;
}
