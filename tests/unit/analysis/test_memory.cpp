// Copies by kind of memory and size; what calls allocated and freed.
#include <catch2/catch.hpp>

#include "analysis/model/selection.hpp"
#include "analysis/passes/allocations.hpp"
#include "analysis/passes/copy_sizes.hpp"
#include "tests/unit/analysis/reading.hpp"
#include "tests/unit/analysis/scripts.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using analysis::MemoryPlace;

namespace {

Api memory_api(const char* name, const char* fields) {
    const bool runtime = std::string(name).starts_with("cuda");
    return {name,
            runtime ? "runtime" : "driver",
            runtime ? abi::ApiLevel::kRuntime : abi::ApiLevel::kDriver,
            abi::ApiClass::kMemory,
            0,
            fields};
}

const Api kMalloc = memory_api("cudaMalloc", "devPtr:0* size:1w");
const Api kFree = memory_api("cudaFree", "devPtr:0p");
const Api kDriverAlloc = memory_api("cuMemAlloc_v2", "dptr:0* bytesize:1w");

/// A memory call of 10 ns.
void memory_call(TraceBuilder& trace, const Api& api, std::uint64_t at, std::vector<std::int64_t> arguments,
                 std::uint32_t depth = 0, std::uint32_t flags = abi::kCallArguments) {
    trace.call({.api = api,
                .begin = kStart + at + depth,
                .end = kStart + at + 10 - depth,
                .depth = depth,
                .caller = depth == 0 ? 0x5100U : 0x1100U,
                .flags = flags,
                .arguments = std::move(arguments)});
}

analysis::Allocations allocations_of(TraceBuilder& trace) {
    trace.end(kStart + 1'000'000);
    const auto model = timeline_of(trace);
    return analysis::allocations(*model, *model->timeline);
}

constexpr std::int64_t at_host(std::uint64_t ticks) {
    return static_cast<std::int64_t>(kStart + kHostOffset + ticks);
}

}  // namespace

TEST_CASE("what is allocated at a time, its peak, and what is not freed", "[memory]") {
    TraceBuilder trace = begun_trace();
    memory_call(trace, kMalloc, 100, {0x7000, 1000});
    memory_call(trace, kMalloc, 200, {0x8000, 500});
    memory_call(trace, kFree, 300, {0x7000});
    memory_call(trace, kFree, 350, {0});  // Frees nothing.
    memory_call(trace, kMalloc, 400, {0x7000, 200});
    memory_call(trace, kMalloc, 450, {0x9000, 200});
    const auto found = allocations_of(trace);
    REQUIRE(found.places.size() == 1);
    const analysis::PlaceUse& device = found.places[0];
    CHECK(device.place == MemoryPlace::kDevice);
    CHECK(device.allocations == 4);
    CHECK(device.allocated_bytes == 1900);
    CHECK(device.frees == 1);
    CHECK(device.bytes.max == 1500);
    CHECK(device.bytes.max_at_ns == at_host(210));  // When the call has returned.
    CHECK(device.bytes.last == 900);
    CHECK(device.live == 3);
    REQUIRE(found.not_freed.size() == 2);
    CHECK(found.not_freed[0].total_bytes == 500);
    CHECK(found.not_freed[0].site == "app");
    CHECK(found.not_freed[0].call == "cudaMalloc");
    CHECK(found.not_freed[1].bytes == 200);
    CHECK(found.not_freed[1].count == 2);
    CHECK(found.not_freed[1].first_ns == at_host(410));
    CHECK(found.unknown_frees == 0);
    CHECK(found.replaced == 0);
}

TEST_CASE("a driver call inside the runtime's allocates nothing of its own", "[memory]") {
    TraceBuilder trace = begun_trace();
    memory_call(trace, kDriverAlloc, 100, {0x7000, 1000}, 1);
    memory_call(trace, kMalloc, 100, {0x7000, 1000});
    const auto found = allocations_of(trace);
    REQUIRE(found.places.size() == 1);
    CHECK(found.places[0].allocations == 1);
    CHECK(found.replaced == 0);
    CHECK(found.not_freed[0].call == "cudaMalloc");
}

TEST_CASE("where the outer call does not say its size the inner one does", "[memory]") {
    TraceBuilder trace = begun_trace();
    memory_call(trace, kDriverAlloc, 100, {0x7000, 1000}, 1);
    memory_call(trace, memory_api("cudaMalloc3D", ""), 100, {}, 0, 0);
    memory_call(trace, memory_api("cuArrayCreate_v2", ""), 200, {}, 1, 0);
    memory_call(trace, memory_api("cudaMallocArray", "width:2w height:3w"), 200, {4, 4});
    const auto found = allocations_of(trace);
    REQUIRE(found.places.size() == 1);
    CHECK(found.places[0].allocations == 1);
    CHECK(found.not_freed[0].call == "cuMemAlloc_v2");
    REQUIRE(found.not_covered.size() == 1);
    CHECK(found.not_covered[0].call == "cudaMallocArray");
    CHECK(found.not_covered[0].count == 1);
}

TEST_CASE("calls that failed, were captured, or keep no arguments", "[memory]") {
    TraceBuilder trace = begun_trace();
    trace.call({.api = kMalloc,
                .begin = kStart + 100,
                .end = kStart + 110,
                .status = 2,
                .flags = abi::kCallArguments,
                .arguments = {0, 1000}});
    memory_call(trace, memory_api("cudaMallocAsync", "devPtr:0* size:1w stream:2s"), 200, {0x7000, 64}, 0,
                abi::kCallArguments | abi::kCallCaptured);
    memory_call(trace, memory_api("cuMemAllocManaged", "dptr:0* bytesize:1w"), 300, {}, 0, 0);
    const auto found = allocations_of(trace);
    CHECK(found.places.empty());
    REQUIRE(found.not_covered.size() == 1);
    CHECK(found.not_covered[0].call == "cuMemAllocManaged");
}

TEST_CASE("kinds of memory, and the least of an allocation with a pitch", "[memory]") {
    TraceBuilder trace = begun_trace();
    memory_call(trace, memory_api("cudaHostAlloc", "pHost:0* size:1w"), 100, {0x100, 10});
    memory_call(trace, memory_api("cuMemHostRegister_v2", "p:0p bytesize:1w"), 200, {0x200, 20});
    memory_call(trace, memory_api("cudaMallocManaged", "devPtr:0* size:1w"), 300, {0x300, 30});
    memory_call(trace, memory_api("cudaMallocPitch", "devPtr:0* width:2w height:3w"), 400, {0x400, 5, 8});
    memory_call(trace, memory_api("cuMemFreeHost", "p:0p"), 500, {0x100});
    memory_call(trace, memory_api("cudaHostUnregister", "ptr:0p"), 600, {0x200});
    const auto found = allocations_of(trace);
    REQUIRE(found.places.size() == 4);
    CHECK(found.places[0].place == MemoryPlace::kDevice);
    CHECK(found.places[0].bytes.last == 40);
    CHECK(found.places[1].place == MemoryPlace::kPinned);
    CHECK(found.places[1].bytes.max == 10);
    CHECK(found.places[1].bytes.last == 0);
    CHECK(found.places[2].place == MemoryPlace::kRegistered);
    CHECK(found.places[2].frees == 1);
    CHECK(found.places[3].place == MemoryPlace::kManaged);
    CHECK(found.places[3].live == 1);
}

TEST_CASE("physical memory goes with its handle's release and its last mapping", "[memory]") {
    TraceBuilder trace = begun_trace();
    const Api create = memory_api("cuMemCreate", "handle:0* size:1w");
    const Api map = memory_api("cuMemMap", "ptr:0p size:1w handle:3w");
    const Api unmap = memory_api("cuMemUnmap", "ptr:0p size:1w");
    const Api release = memory_api("cuMemRelease", "handle:0w");
    memory_call(trace, create, 100, {0x1, 64});
    memory_call(trace, map, 200, {0x7000, 64, 0x1});
    memory_call(trace, release, 300, {0x1});
    memory_call(trace, create, 400, {0x2, 128});  // At 410 both: the first is still mapped.
    memory_call(trace, map, 450, {0x7040, 64, 0x1});
    memory_call(trace, unmap, 500, {0x7000, 128});  // Both mappings.
    memory_call(trace, map, 600, {0x7000, 128, 0x2});
    memory_call(trace, unmap, 700, {0x7000, 128});  // Not released.
    const auto found = allocations_of(trace);
    REQUIRE(found.places.size() == 1);
    CHECK(found.places[0].place == MemoryPlace::kPhysical);
    CHECK(found.places[0].bytes.max == 192);
    CHECK(found.places[0].bytes.last == 128);
    CHECK(found.places[0].frees == 1);
    CHECK(found.places[0].live == 1);
}

TEST_CASE("frees of what was never allocated, and addresses given out twice, are counted", "[memory]") {
    TraceBuilder trace = begun_trace();
    memory_call(trace, kFree, 100, {0x7000});
    memory_call(trace, kMalloc, 200, {0x8000, 10});
    memory_call(trace, kMalloc, 300, {0x8000, 20});
    const auto found = allocations_of(trace);
    CHECK(found.unknown_frees == 1);
    CHECK(found.replaced == 1);
    CHECK(found.places[0].bytes.last == 20);
    CHECK(found.places[0].live == 1);
}

TEST_CASE("a range begins with what was allocated before it", "[memory]") {
    TraceBuilder trace = begun_trace();
    memory_call(trace, kMalloc, 100, {0x7000, 1000});
    memory_call(trace, kMalloc, 1100, {0x8000, 500});
    memory_call(trace, kFree, 1200, {0x7000});
    memory_call(trace, kMalloc, 5000, {0x9000, 4000});
    trace.end(kStart + 1'000'000);
    const auto model = timeline_of(trace);
    analysis::Selection selection;
    selection.from_ns = 1000;
    selection.to_ns = 2000;
    const auto part = analysis::select(*model, *model->timeline, selection);
    const auto found = analysis::allocations(*model, part);
    REQUIRE(found.places.size() == 1);
    CHECK(found.places[0].allocations == 1);
    CHECK(found.places[0].frees == 1);
    CHECK(found.places[0].bytes.slots.front().max == 1000);
    CHECK(found.places[0].bytes.max == 1500);
    CHECK(found.places[0].bytes.last == 500);
}

TEST_CASE("a size that no machine has is no trouble", "[memory]") {
    TraceBuilder trace = begun_trace();
    memory_call(trace, kMalloc, 100, {0x7000, INT64_MIN});
    memory_call(trace, kMalloc, 200, {0x8000, -1});
    memory_call(trace, kFree, 300, {0x7000});
    memory_call(trace, kFree, 400, {0x8000});
    CHECK(allocations_of(trace).places[0].bytes.last == 0);
}

namespace {

TraceBuilder copies() {
    TraceBuilder trace = begun_trace();
    trace.device(0, "some GPU");
    const auto copy = [&](std::uint32_t kind, std::uint32_t source, std::uint32_t destination, std::uint64_t bytes,
                          std::uint64_t duration) {
        trace.activity({.tag = abi::Tag::kMemcpy,
                        .start = on_device(kStart + 100),
                        .duration = duration,
                        .bytes = bytes,
                        .copy_kind = kind,
                        .source_memory = source,
                        .destination_memory = destination});
    };
    copy(1, 1, 3, 4096, 100);
    copy(1, 1, 3, 16383, 100);
    copy(1, 1, 3, 16384, 100);
    copy(1, 2, 3, 0, 10);
    copy(8, 3, 3, 1'000'000, 1000);
    trace.end(kStart + 1'000'000);
    return trace;
}

}  // namespace

TEST_CASE("copies by direction and kinds of memory", "[memory]") {
    TraceBuilder trace = copies();
    const auto model = timeline_of(trace);
    const auto rows = analysis::copies_by_memory(*model, *model->timeline);
    REQUIRE(rows.size() == 3);
    CHECK(rows[0].direction == "DtoD");
    CHECK(rows[0].gb_per_s == Approx(1000));
    const analysis::DeviceRecord& device = model->index.devices.at(0);
    REQUIRE(rows[0].peak_gb_per_s);  // Half: it reads and writes.
    CHECK(*rows[0].peak_gb_per_s ==
          Approx(static_cast<double>(device.memory_clock_khz * device.bus_width_bits) / 8 / 1e6));
    CHECK(rows[1].source == "pageable");
    CHECK(rows[1].destination == "device");
    CHECK(rows[1].count == 3);
    CHECK(rows[1].bytes == 4096 + 16383 + 16384);
    CHECK(rows[1].duration.time_ns == 300);
    CHECK_FALSE(rows[1].peak_gb_per_s);
    CHECK(rows[2].source == "pinned");
}

TEST_CASE("copies by size: four times as much each class", "[memory]") {
    TraceBuilder trace = copies();
    const auto model = timeline_of(trace);
    const auto rows = analysis::copies_by_size(*model, *model->timeline);
    REQUIRE(rows.size() == 4);
    CHECK(rows[0].least_bytes == 4096);
    CHECK(rows[0].below_bytes == 16384);
    CHECK(rows[0].count == 2);
    CHECK(rows[1].least_bytes == 16384);
    CHECK(rows[2].least_bytes == 0);
    CHECK(rows[2].below_bytes == 1);
    CHECK(rows[3].least_bytes == 262144);
}
