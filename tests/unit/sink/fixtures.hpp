// What the tests of the sink share: a folder of their own, an API table, events in memory, encoders and writers.
#pragma once

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "collector/abi/event.hpp"
#include "collector/abi/ring_layout.hpp"
#include "collector/ring/ring.hpp"
#include "collector/ring/ring_set.hpp"
#include "collector/sink/encoder.hpp"
#include "collector/sink/file_header.hpp"
#include "collector/sink/trace_writer.hpp"

namespace gpuspy::test {

inline constexpr abi::ApiEntry kApis[] = {
    {"cuLaunchKernel", "driver", 0, 1, 0, {}, ""},
    {"cudaMemcpy", "runtime", 1, 3, abi::kApiBlocking, {}, ""},
    {"cuGraphLaunch", "driver", 0, 2, 0, {}, ""},
    {"cudaMalloc", "runtime", 1, 6, abi::kApiBlocking, {}, "devPtr:0* size:1w"},
};
inline constexpr std::uint32_t kApiCount = 4;

/// A folder that goes with the test.
class TempFolder {
public:
    TempFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "gpuspy-test-XXXXXX").string();
        REQUIRE(mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    ~TempFolder() {
        std::error_code ignored;
        std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
        std::filesystem::remove_all(path_, ignored);
    }
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;

    [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
};

inline std::vector<std::uint8_t> read_bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_text(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

/// A call event with its parts, as a hook writes it.
class CallBuilder {
public:
    CallBuilder(std::uint16_t api, std::uint64_t begin, std::uint64_t end) : words_(5) {
        call() = {{5, abi::EventType::kCall, 0, api, 0}, 0, 0, begin, end, 0};
    }
    CallBuilder& depth(std::uint8_t depth) {
        call().header.depth = depth;
        return *this;
    }
    CallBuilder& failed(std::int32_t status) {
        call().flags |= abi::kCallStatus;
        call().status = status;
        return *this;
    }
    CallBuilder& caller(std::uint64_t address) {
        call().flags |= abi::kCallCaller;
        call().caller = address;
        return *this;
    }
    CallBuilder& stream(std::uint64_t stream) { return part(abi::kCallStream, abi::StreamPart{stream}); }
    CallBuilder& correlation(std::uint64_t id) { return part(abi::kCallCorrelation, abi::CorrelationPart{id}); }
    CallBuilder& launch_id(std::uint64_t id) { return part(abi::kCallLaunchId, abi::LaunchIdPart{id}); }
    CallBuilder& kernel(std::uint64_t function, std::uint32_t grid, std::uint32_t block, std::uint32_t shared) {
        return part(abi::kCallKernel, abi::KernelPart{function, {grid, 1, 1}, {block, 1, 1}, shared, 0});
    }
    CallBuilder& copy(std::uint64_t bytes, std::uint32_t kind) {
        return part(abi::kCallCopy, abi::CopyPart{bytes, kind, 0});
    }
    CallBuilder& graph(std::uint64_t exec) { return part(abi::kCallGraph, abi::GraphPart{exec}); }

    CallBuilder& arguments(const std::vector<std::int64_t>& values) {
        part(abi::kCallArguments, abi::ArgumentsPart{values.size()});
        for (const std::int64_t value : values) {
            words_.push_back(static_cast<std::uint64_t>(value));
        }
        call().header.words = static_cast<std::uint16_t>(words_.size());
        return *this;
    }

    [[nodiscard]] const abi::CallEvent* get() const { return reinterpret_cast<const abi::CallEvent*>(words_.data()); }

    /// Puts the event into a ring; false when that is full.
    bool put(abi::RingHeader* ring, std::uint64_t ring_bytes) const {
        std::uint64_t* at = ring::reserve(ring, ring_bytes, static_cast<std::uint32_t>(words_.size()));
        if (at == nullptr) {
            ring::count_drop(ring);
            return false;
        }
        std::memcpy(at, words_.data(), words_.size() * 8);
        ring::commit(ring, at);
        return true;
    }

private:
    abi::CallEvent& call() { return *reinterpret_cast<abi::CallEvent*>(words_.data()); }
    /// Parts must be added in the order of their bits.
    template <class Part>
    CallBuilder& part(abi::CallFlags flag, const Part& content) {
        const std::size_t at = words_.size();
        words_.resize(at + sizeof(Part) / 8);
        std::memcpy(&words_[at], &content, sizeof content);
        call().flags |= flag;
        call().header.words = static_cast<std::uint16_t>(words_.size());
        return *this;
    }

    std::vector<std::uint64_t> words_;
};

/// A range event, as interpose/nvtx writes it.
class RangeBuilder {
public:
    RangeBuilder(abi::RangeKind kind, std::uint64_t ticks, std::uint64_t id, const std::string& domain = "",
                 const std::string& text = "", std::uint8_t depth = 0)
        : words_((sizeof(abi::RangeEvent) + domain.size() + text.size() + 7) / 8) {
        const abi::RangeEvent event{{static_cast<std::uint16_t>(words_.size()), abi::EventType::kRange, depth, 0, 0},
                                    ticks,
                                    id,
                                    kind,
                                    0,
                                    static_cast<std::uint16_t>(domain.size()),
                                    static_cast<std::uint32_t>(text.size())};
        std::memcpy(words_.data(), &event, sizeof event);
        const std::string texts = domain + text;
        std::memcpy(reinterpret_cast<char*>(words_.data()) + sizeof event, texts.data(), texts.size());
    }
    [[nodiscard]] const abi::RangeEvent* get() const { return reinterpret_cast<const abi::RangeEvent*>(words_.data()); }
    [[nodiscard]] const std::vector<std::uint64_t>& words() const { return words_; }

private:
    std::vector<std::uint64_t> words_;
};

/// An encoder with memory of its own.
struct TestEncoder {
    std::vector<std::uint8_t> buffer;
    sink::Encoder encoder;

    explicit TestEncoder(std::size_t capacity = sink::Encoder::kMinBufferBytes) : buffer(capacity) {
        REQUIRE(encoder.init(buffer.data(), buffer.size(), kApis, kApiCount) == 0);
    }
    ~TestEncoder() { encoder.destroy(); }
    TestEncoder(const TestEncoder&) = delete;
    TestEncoder& operator=(const TestEncoder&) = delete;

    sink::Encoder* operator->() { return &encoder; }
};

inline std::vector<std::uint8_t> header_bytes(std::uint64_t nonce, const sink::ProcessInfo& process) {
    std::vector<std::uint8_t> bytes(sink::kMaxFileHeaderBytes);
    bytes.resize(sink::encode_file_header(bytes.data(), bytes.size(), nonce, 1000, process));
    REQUIRE(!bytes.empty());
    return bytes;
}

/// A small process record of pid 42.
inline sink::ProcessInfo small_process(std::uint64_t run_id = 0) {
    sink::ProcessInfo process;
    process.pid = 42;
    process.run_id = run_id;
    process.exe = "/bin/program";
    return process;
}

/// A trace with a header.
struct TestWriter {
    sink::TraceWriter writer;

    explicit TestWriter(const std::string& path, std::uint64_t nonce = 1, std::uint64_t run_id = 0,
                        sink::TraceWriter::ErrorCallback callback = nullptr, void* self = nullptr) {
        REQUIRE(writer.init(abi::kMaxBlockRawBytes, callback, self) == 0);
        REQUIRE(writer.create(path.c_str()) == 0);
        const std::vector<std::uint8_t> header = header_bytes(nonce, small_process(run_id));
        REQUIRE(writer.write_header(header.data(), header.size()) == 0);
    }
    ~TestWriter() { writer.close(); }
    TestWriter(const TestWriter&) = delete;
    TestWriter& operator=(const TestWriter&) = delete;
};

/// Rings in /dev/shm that go with the test.
struct TestRings {
    ring::RingSet set;
    explicit TestRings(const std::string& trace_path, std::uint64_t nonce = 1, std::uint64_t ring_bytes = 16384) {
        ring::RingSetConfig config;
        config.ring_bytes = ring_bytes;
        config.pid = static_cast<std::uint32_t>(getpid());
        config.nonce = nonce << 32 | config.pid;
        config.trace_path = trace_path.c_str();
        config.boot_id = "boot";
        config.apis = kApis;
        config.api_count = kApiCount;
        REQUIRE(set.create(config) == 0);
    }
    ~TestRings() {
        set.mark_ended_and_unlink();
        set.forget_after_fork();
    }
    TestRings(const TestRings&) = delete;
    TestRings& operator=(const TestRings&) = delete;
};

}  // namespace gpuspy::test
