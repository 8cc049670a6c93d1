#include "collector/sink/columns.hpp"

#include <catch2/catch.hpp>

#include <random>
#include <string>
#include <vector>

#include "analysis/reader/columns.hpp"
#include "collector/sink/wire.hpp"

using namespace gpuspy;

namespace {

std::string varint(std::uint64_t value) {
    std::uint8_t bytes[sink::kMaxVarintBytes];
    sink::WireBuffer number(bytes, sizeof bytes);
    number.varint(value);
    return {reinterpret_cast<const char*>(bytes), number.size()};
}

std::string record(abi::Tag tag, const std::string& fields) {
    return varint(static_cast<std::uint32_t>(tag)) + varint(fields.size()) + fields;
}

std::string numbers(abi::Tag tag, const std::vector<std::uint64_t>& fields) {
    std::string bytes;
    for (const std::uint64_t field : fields) bytes += varint(field);
    return record(tag, bytes);
}

struct Apart {
    bool is_apart = false;
    std::string columns;
    sink::ColumnParts parts{};
};

Apart take_apart(const std::string& payload) {
    static sink::ColumnScratch scratch;
    Apart result;
    result.columns.resize(payload.size() + sink::kColumnSizesBytes);
    result.is_apart = sink::take_apart(reinterpret_cast<const std::uint8_t*>(payload.data()), payload.size(),
                                       reinterpret_cast<std::uint8_t*>(result.columns.data()), scratch, result.parts);
    result.columns.resize(result.is_apart ? result.parts.end[2] : 0);
    return result;
}

/// Records of every kind, from a seed: what comes out is what went in.
std::string some_payload(unsigned seed, int records) {
    std::mt19937_64 random(seed);
    const auto number = [&random] { return random() >> random() % 64; };
    std::string payload;
    for (int i = 0; i < records; ++i) {
        switch (random() % 8) {
            case 0:
                payload += record(abi::Tag::kText, std::string(random() % 40, static_cast<char>(random())));
                break;
            case 1:
                payload += numbers(abi::Tag::kMemcpy, {number(), number(), number()});
                break;
            case 2:
                payload += numbers(abi::Tag::kMemset, {number()});
                break;
            case 3: {
                std::vector<std::uint64_t> fields(17 + random() % 20);
                for (std::uint64_t& field : fields) field = number();
                payload += numbers(abi::Tag::kKernel, fields);
                break;
            }
            default: {
                std::vector<std::uint64_t> fields{number(), random() % 200, 0, number(), number()};
                for (std::uint64_t more = random() % 45; more > 0; --more) fields.push_back(number());
                payload += numbers(abi::Tag::kCall, fields);
                break;
            }
        }
    }
    return payload;
}

}  // namespace

TEST_CASE("columns: what is taken apart is put together again, byte by byte") {
    for (const unsigned seed : {1U, 2U, 3U, 4U}) {
        const std::string payload = some_payload(seed, 2000);
        const Apart apart = take_apart(payload);
        REQUIRE(apart.is_apart);
        CHECK(apart.parts.end[0] < apart.parts.end[1]);
        CHECK(apart.parts.end[1] < apart.parts.end[2]);
        std::string records;
        REQUIRE(analysis::put_together(apart.columns, payload.size(), records));
        CHECK(records == payload);
    }
}

TEST_CASE("columns: nothing, and no record of those that are taken apart") {
    for (const std::string& payload : {std::string(), record(abi::Tag::kText, std::string("text"))}) {
        const Apart apart = take_apart(payload);
        REQUIRE(apart.is_apart);
        std::string records;
        REQUIRE(analysis::put_together(apart.columns, payload.size(), records));
        CHECK(records == payload);
    }
}

TEST_CASE("columns: a field stands with the same field of other records, by API") {
    const std::string payload = numbers(abi::Tag::kCall, {0, 7, 0, 11, 12}) +
                                numbers(abi::Tag::kCall, {0, 9, 0, 21, 300}) +
                                numbers(abi::Tag::kCall, {0, 7, 0, 31, 32});
    const Apart apart = take_apart(payload);
    REQUIRE(apart.is_apart);
    // Behind the first bytes of the begins: of API 7 (the first that appears), then of API 9; then those of the durations. 300 is ac 02.
    const std::string times = apart.columns.substr(apart.parts.end[0]);
    CHECK(times == std::string("\x0b\x1f\x15\x0c\x20\xac\x02"));
    CHECK(apart.parts.end[1] == apart.parts.end[2] - 1);
}

TEST_CASE("columns: what is no sequence of whole records stays as it is") {
    const std::string call = numbers(abi::Tag::kCall, {0, 7, 0, 11, 12});
    CHECK_FALSE(take_apart(call.substr(0, call.size() - 1)).is_apart);
    CHECK_FALSE(take_apart("\x80").is_apart);
    CHECK_FALSE(take_apart(record(abi::Tag::kKernel, std::string("\x05\x80"))).is_apart);  // Its last field goes on.
    CHECK_FALSE(take_apart(record(abi::Tag::kKernel, std::string())).is_apart);
    CHECK_FALSE(take_apart(numbers(abi::Tag::kCall, {0, 4096, 0})).is_apart);  // No API has such a number.
}

TEST_CASE("columns: more APIs than there are numbers for share the last") {
    std::string payload;
    for (std::uint64_t i = 0; i < 4096; ++i) payload += numbers(abi::Tag::kCall, {0, i * 7 % 4096, 0, i, i});
    const Apart apart = take_apart(payload);
    REQUIRE(apart.is_apart);
    std::string records;
    REQUIRE(analysis::put_together(apart.columns, payload.size(), records));
    CHECK(records == payload);
}

TEST_CASE("columns: hostile ones are refused, and none is read beyond its end") {
    const std::string payload = some_payload(5, 60);
    const Apart apart = take_apart(payload);
    REQUIRE(apart.is_apart);
    std::string records;
    CHECK_FALSE(analysis::put_together(apart.columns, payload.size() + 1, records));
    CHECK_FALSE(analysis::put_together(apart.columns, payload.size() - 1, records));
    for (std::size_t cut = 0; cut < apart.columns.size(); ++cut) {
        REQUIRE_FALSE(analysis::put_together(std::string_view(apart.columns).substr(0, cut), payload.size(), records));
    }
    std::mt19937 random(6);
    for (int round = 0; round < 3000; ++round) {
        std::string other = apart.columns;
        for (int change = 0; change < 3; ++change) other[random() % other.size()] = static_cast<char>(random());
        analysis::put_together(other, payload.size(), records);
        REQUIRE(records.size() <= 2 * payload.size() + 64);
    }
}
