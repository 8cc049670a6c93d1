#include "collector/sink/lasting_facts.hpp"

#include <map>
#include <utility>
#include <vector>

#include "collector/sink/wire.hpp"
#include "tests/unit/sink/fixtures.hpp"

using namespace gpuspy;
using namespace gpuspy::test;

namespace {

struct Facts {
    sink::LastingFacts facts;
    std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(abi::kMaxRecordBytes);

    Facts() { REQUIRE(facts.init() == 0); }
    ~Facts() { facts.destroy(); }

    void name(std::uint64_t handle, std::uint64_t ticks, std::size_t text_bytes = 1) {
        sink::WireBuffer out(bytes.data(), bytes.size());
        out.varint(ticks);
        out.varint(handle);
        out.string(std::string(text_bytes, 'f').c_str(), text_bytes);
        facts.keep(abi::Tag::kName, out.data(), out.size());
    }
    void loss(std::uint64_t ring, std::uint64_t count) {
        sink::WireBuffer out(bytes.data(), bytes.size());
        out.varint(static_cast<std::uint64_t>(abi::LossCause::kRingFull));
        out.varint(count);
        out.varint(ring);
        facts.keep(abi::Tag::kLoss, out.data(), out.size());
    }
    void span(std::uint64_t what, std::uint64_t ticks) {
        sink::WireBuffer out(bytes.data(), bytes.size());
        for (const std::uint64_t field : {ticks, what, std::uint64_t{0}, std::uint64_t{0}}) {
            out.varint(field);
        }
        facts.keep(abi::Tag::kSpan, out.data(), out.size());
    }
    /// The number in a record: the ticks of a name and of a span, the count of a loss; by tag and key.
    [[nodiscard]] std::map<std::pair<abi::Tag, std::uint64_t>, std::uint64_t> all() const {
        std::map<std::pair<abi::Tag, std::uint64_t>, std::uint64_t> found;
        facts.visit([&](abi::Tag tag, const std::uint8_t* fields, std::size_t count) {
            sink::WireReader in(fields, count);
            const std::uint64_t first = in.varint();
            const std::uint64_t second = in.varint();
            const bool is_new = tag == abi::Tag::kLoss ? found.emplace(std::pair{tag, in.varint()}, second).second
                                                       : found.emplace(std::pair{tag, second}, first).second;
            REQUIRE(is_new);
        });
        return found;
    }
};

}  // namespace

TEST_CASE("what holds for the whole file: a full table takes updates, losses and spans") {
    Facts facts;
    facts.loss(1, 10);
    std::size_t text_bytes = 1;
    SECTION("full of things") {}
    SECTION("full of bytes") {
        text_bytes = 60'000;
    }
    std::uint64_t names = 0;
    while (facts.facts.refused() == 0) {
        facts.name(names++, 5, text_bytes);
        REQUIRE(names < 1'000'000);
    }
    --names;  // The last one was refused.
    REQUIRE(names > 400);
    const std::uint64_t refused = facts.facts.refused();
    // More often than there is room for without taking back what was replaced.
    constexpr std::uint64_t kUpdates = 2'000'000;
    for (std::uint64_t i = 1; i <= kUpdates; ++i) {
        facts.loss(1, 10 + i);
    }
    for (std::uint64_t ring = 2; ring < 1000; ++ring) {
        facts.loss(ring, ring);
    }
    facts.span(1, 77);
    facts.name(names, 5, text_bytes);  // Still refused.
    REQUIRE(facts.facts.refused() == refused + 1);
    if (text_bytes == 1) {
        facts.name(3, 6);  // The same handle, another function: the room is that of small records.
        REQUIRE(facts.facts.refused() == refused + 1);
    }
    const auto all = facts.all();
    REQUIRE(all.size() == names + 999 + 1);
    REQUIRE(all.at({abi::Tag::kLoss, 1}) == 10 + kUpdates);
    REQUIRE(all.at({abi::Tag::kLoss, 999}) == 999);
    REQUIRE(all.at({abi::Tag::kSpan, 1}) == 77);
    REQUIRE(all.at({abi::Tag::kName, 3}) == (text_bytes == 1 ? 6 : 5));
    REQUIRE(all.count({abi::Tag::kName, names}) == 0);
}
