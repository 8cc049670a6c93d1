// Stands in for libgpuspy.so: records one call when FAKE_RECORD is set, and ends as it says:
//   clean   the drain thread's last pass
//   killed  the call stays in the ring
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "collector/ring/clock.hpp"
#include "collector/ring/ring.hpp"
#include "collector/sink/drain.hpp"
#include "collector/sink/file_header.hpp"
#include "collector/sink/output_path.hpp"

using namespace gpuspy;

namespace {

constexpr abi::ApiEntry kApis[] = {{"cuLaunchKernel", "driver", 0, 1, 0, {}, ""}};

constinit ring::RingSet rings;
constinit sink::TraceWriter writer;
constinit sink::Drain drain;
std::uint8_t header[sink::kMaxFileHeaderBytes];

void record(bool clean) noexcept {
    const auto pid = static_cast<std::uint32_t>(getpid());
    sink::OutputRequest request;
    request.path = getenv("GPUSPY_OUTPUT");
    request.pid = pid;
    request.run_id = strtoull(getenv("GPUSPY_RUN_ID"), nullptr, 10);
    sink::Output output;
    ring::RingSetConfig config;
    config.nonce = ring::ticks();
    config.run_id = request.run_id;
    config.pid = pid;
    config.trace_path = output.path;
    config.apis = kApis;
    config.api_count = 1;
    sink::ProcessInfo process;
    process.pid = pid;
    process.run_id = request.run_id;
    if (sink::open_output(request, &output) != 0 || writer.init(sink::Drain::kBlockBytes) != 0 ||
        writer.adopt(output.fd, output.path) != 0 || rings.create(config) != 0) {
        return;
    }
    const std::size_t bytes = sink::encode_file_header(header, sizeof header, config.nonce, 1, process);
    if (writer.write_header(header, bytes) != 0 || drain.init(rings, writer, {}, {}) != 0) {
        return;
    }
    abi::RingHeader* ring = rings.claim(static_cast<std::uint32_t>(syscall(SYS_gettid)), 1);
    std::uint64_t* at = ring::reserve(ring, rings.ring_bytes(), 5);
    *reinterpret_cast<abi::CallEvent*>(at) = {{5, abi::EventType::kCall, 0, 0, 0}, 0, 0, 10, 20, 0};
    ring::commit(ring, at);
    if (clean) {
        drain.run_pass(true);
        rings.mark_ended_and_unlink();
    }
}

__attribute__((constructor)) void start() {
    const char* how = getenv("FAKE_RECORD");
    if (how != nullptr) {
        record(strcmp(how, "clean") == 0);
        unsetenv("FAKE_RECORD");  // The commands that this one runs use no GPU.
    }
}

}  // namespace
