// What keeps the summary fast and its memory flat gives what the plain way gives.
#include <catch2/catch.hpp>

#include <random>

#include "analysis/model/busy_time.hpp"
#include "analysis/model/correlation_table.hpp"
#include "analysis/model/linear_map.hpp"
#include "analysis/model/waiting_times.hpp"
#include "analysis/reader/cursor.hpp"
#include "analysis/render/json.hpp"
#include "tests/unit/analysis/reading.hpp"
#include "tests/unit/analysis/scripts.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using namespace gpuspy::analysis;

namespace {

/// A loop whose kernels end long after their launches, so that what is waited for lies segments behind; two threads, one
/// of which waits nearly always.
std::string loop_trace(std::uint64_t launches_a_segment) {
    TraceBuilder trace = begun_trace();
    std::uint64_t segment_end = launches_a_segment;
    for (std::uint64_t i = 0; i < 3000; ++i) {
        const std::uint64_t at = kStart + 1000 * i;
        if (i == segment_end) {
            segment_end += launches_a_segment;
            trace.end_block();
            trace.new_segment();
        }
        trace.thread(0, 100);
        trace.call({.api = driver_launch(), .begin = at + 10, .end = at + 300, .depth = 1, .correlation = 2 * i + 1});
        trace.call({.api = i % 3 == 0 ? cudnn("cudnnExecute") : runtime_launch(), .begin = at, .end = at + 320});
        if (i % 10 == 9) {
            trace.call({.api = device_sync(), .begin = at + 400, .end = at + 900 + i % 7});
        }
        trace.thread(1, 101);
        trace.call({.api = stream_sync(), .begin = at + 100, .end = at + 700});
        if (i >= 40) {
            const std::uint64_t done = i - 40;
            trace.activity({.name = done % 5 == 0 ? "often" : "rare",
                            .start = on_device(kStart + 1000 * done + 600),
                            .duration = 300 + done % 11 * 100,
                            .correlation = 2 * done + 1});
        }
    }
    trace.end(kStart + 3'100'000);
    return trace.bytes();
}

std::string report_of(const std::string& bytes, std::uint64_t threads_from_bytes) {
    const MemorySource source(std::as_bytes(std::span(bytes)));
    BuildOptions options;
    options.reading.threads_from_bytes = threads_from_bytes;
    const auto model = build_model(source, options);
    REQUIRE(model.ok());
    return render_json(find_totals(*model.value()), {0});
}

}  // namespace

TEST_CASE("several threads read what one reads") {
    const std::string bytes = loop_trace(100);
    const std::string alone = report_of(bytes, UINT64_MAX);
    CHECK(alone.find("\"matched\": 2960") != std::string::npos);
    for (int round = 0; round < 20; ++round) {
        REQUIRE(report_of(bytes, 0) == alone);
    }
}

TEST_CASE("several threads read what one reads of a damaged trace") {
    std::string bytes = loop_trace(100);
    for (std::size_t at = 5000; at < bytes.size(); at += 20'000) {
        bytes[at] = static_cast<char>(bytes[at] ^ 0x55);
    }
    CHECK(report_of(bytes, 0) == report_of(bytes, UINT64_MAX));
}

TEST_CASE("two decoders count what one counts") {
    const std::string whole = loop_trace(100);
    for (std::size_t damaged_at = 0; damaged_at < whole.size(); damaged_at += whole.size() / 40) {
        std::string bytes = whole;
        bytes[damaged_at] = static_cast<char>(bytes[damaged_at] ^ 0x55);
        const MemorySource source(std::as_bytes(std::span(bytes)));
        // Without checksums, so that what is damaged is decoded.
        for (const bool verify : {true, false}) {
            Symbols symbols;
            Visitor nobody;
            ReadOptions reading;
            reading.verify_checksums = verify;
            const auto one = read_trace(source, symbols, nobody, reading);
            BuildOptions options;
            options.reading = reading;
            const auto two = build_model(source, options);
            REQUIRE(one.ok() == two.ok());
            if (one.ok()) {
                const ReadSummary& counted = two.value()->index.reading;
                CHECK(counted.describe() == one.value().describe());
                CHECK(counted.records == one.value().records);
                CHECK(counted.unknown_records == one.value().unknown_records);
            }
        }
    }
}

TEST_CASE("times do not depend on where segments begin") {
    const auto times = [](const std::string& bytes) {
        const Findings findings = findings_of(bytes);
        std::vector<std::uint64_t> all = {findings.sync.time_ns, findings.sync.any_thread_ns, findings.sync.gpu_busy_ns,
                                          findings.gpu.all.busy_ns, findings.completeness.launches.matched};
        for (const SyncCall& call : findings.sync.calls) {
            all.push_back(call.time_ns);
            all.push_back(call.gpu_busy_ns);
        }
        return all;
    };
    const auto whole = times(loop_trace(1'000'000));
    CHECK(whole[2] > 100'000);
    CHECK(whole[2] < whole[0]);
    CHECK(times(loop_trace(100)) == whole);
    CHECK(times(loop_trace(7)) == whole);
}

TEST_CASE("what lies before a moment is taken out of a set of intervals") {
    IntervalSet set;
    set.add(10, 20);
    set.add(30, 50);
    set.add(5, 8);
    CHECK(set.take_before(40) == std::vector<Interval>{{5, 8}, {10, 20}, {30, 40}});
    CHECK(set.merged() == std::vector<Interval>{{40, 50}});
    set.add(35, 45);  // Too late: what is taken is not counted again.
    set.add(50, 60);
    CHECK(set.merged() == std::vector<Interval>{{40, 60}});
    CHECK(set.take_before(40).empty());
    CHECK(set.take_before(100) == std::vector<Interval>{{40, 60}});
    CHECK(set.length_ns() == 0);
}

TEST_CASE("busy time: length, first and last moment, settled or not") {
    BusyTime busy;
    CHECK(busy.empty());
    busy.add(10, 20);
    busy.add(15, 30);
    busy.settle(25);
    busy.add(40, 50);
    CHECK(busy.length_ns() == 30);
    CHECK(busy.first_ns() == 10);
    CHECK(busy.last_ns() == 50);
}

TEST_CASE("a table by correlation id: what is taken, what is not given a place") {
    CorrelationTable<int> table;
    CHECK_FALSE(table.holds(7));
    CHECK(table.add(7, 70));
    CHECK_FALSE(table.add(7, 71));
    CHECK_FALSE(table.add(7 + (1U << 20), 72));  // Its place is taken, and the table is nearly empty.
    CHECK(table.take(7) == 70);
    CHECK_FALSE(table.holds(7));
    for (std::uint64_t id = 1; id <= 5000; ++id) {
        REQUIRE(table.add(id, static_cast<int>(id)));
    }
    for (std::uint64_t id = 5000; id >= 1; --id) {
        REQUIRE(table.holds(id));
        if (id % 3 == 0) {
            REQUIRE(table.take(id) == static_cast<int>(id));
        }
    }
    std::uint64_t left = 0;
    table.for_each([&](std::uint64_t id, int value) { left += id == static_cast<std::uint64_t>(value) ? 1 : 0; });
    CHECK(left == 5000 - 1666);
}

TEST_CASE("a clock by whole numbers is the clock by floating point") {
    std::mt19937_64 random(3);
    for (const double rate : {0.5, 1.0 / 3, 0.37037037, 1.0000003, 0.99999, 1.7}) {
        LinearMap clock;
        std::vector<std::pair<std::uint64_t, std::uint64_t>> points;
        std::uint64_t from = 1'000'000'007, to = 77'000'000'000'123;
        for (int i = 0; i < 4; ++i) {
            points.emplace_back(from, to);
            clock.add(from, to);
            const std::uint64_t step = 2'000'000'000 + random() % 1'000'000'000;
            from += step;
            to += static_cast<std::uint64_t>(static_cast<double>(step) * rate) + random() % 100;
        }
        clock.finish(1);
        LinearMap::Near near(clock);
        for (int i = 0; i < 200'000; ++i) {
            const std::size_t piece = random() % 3;
            const auto& [a_from, a_to] = points[piece];
            const auto& [b_from, b_to] = points[piece + 1];
            const std::uint64_t moment = a_from + random() % (b_from - a_from);
            const long double slope = static_cast<long double>(b_to - a_to) / static_cast<long double>(b_from - a_from);
            const auto expected = static_cast<std::int64_t>(static_cast<long double>(a_to) +
                                                            static_cast<long double>(moment - a_from) * slope);
            REQUIRE(near.at(moment) == expected);
        }
    }
}

TEST_CASE("varints that are passed over are those that would be read") {
    std::mt19937_64 random(5);
    std::string bytes;
    for (int i = 0; i < 400; ++i) {
        for (std::uint64_t value = random() >> (random() % 64);;) {
            const auto low = static_cast<char>(value & 0x7f);
            value >>= 7;
            bytes.push_back(value == 0 ? low : static_cast<char>(low | '\x80'));
            if (value == 0) {
                break;
            }
        }
    }
    for (unsigned first = 0; first < 400; first += 3) {
        for (const unsigned count : {0U, 1U, 2U, 7U, 9U, 400U}) {
            Cursor read(bytes);
            Cursor skip(bytes);
            read.skip(first);
            for (unsigned i = 0; i < first; ++i) {
                skip.varint();
            }
            REQUIRE(read.rest().size() == skip.rest().size());
            for (unsigned i = 0; i < count; ++i) {
                read.varint();
            }
            skip.skip(count);
            REQUIRE(read.ok() == skip.ok());
            REQUIRE(read.rest().size() == skip.rest().size());
        }
    }
}
