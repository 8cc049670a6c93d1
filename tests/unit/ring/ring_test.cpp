#include "collector/ring/ring.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <thread>
#include <vector>

using namespace gpuspy;
using abi::EventType;

namespace {

constexpr std::uint64_t kRingBytes = 4096;

/// A ring in memory of the test.
struct TestRing {
    struct alignas(64) Memory {
        abi::RingHeader header{};
        std::uint64_t data[kRingBytes / 8]{};
    };
    std::unique_ptr<Memory> memory = std::make_unique<Memory>();

    abi::RingHeader* get() { return &memory->header; }
    std::uint64_t* words() { return memory->data; }

    /// Writes a NameEvent of `words` words whose handle is `value`. False: full.
    bool put(std::uint16_t words, std::uint64_t value) {
        std::uint64_t* at = ring::reserve(get(), kRingBytes, words);
        if (at == nullptr) {
            return false;
        }
        auto* event = reinterpret_cast<abi::NameEvent*>(at);
        *event = {{words, EventType::kName, 0, 0, 0}, 0, value, 0, 0};
        ring::commit(get(), at);
        return true;
    }

    std::vector<std::uint64_t> take() {
        std::vector<std::uint64_t> values;
        const auto visit = [&](const abi::EventHeader* event, std::uint64_t) {
            values.push_back(reinterpret_cast<const abi::NameEvent*>(event)->handle);
            return true;
        };
        const std::uint64_t tail = get()->tail.load();
        const ring::Walk walk = ring::walk(get(), kRingBytes, tail, ring::written(get()), visit);
        REQUIRE(walk.end == ring::WalkEnd::kLimit);
        ring::consume(get(), walk.position);
        return values;
    }
};

using Values = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("what is written is read, in order and once") {
    TestRing ring;
    REQUIRE(ring.put(4, 11));
    REQUIRE(ring.put(5, 12));
    REQUIRE(ring::fill_bytes(ring.get()) == 72);
    REQUIRE(ring.take() == Values{11, 12});
    REQUIRE(ring::fill_bytes(ring.get()) == 0);
    REQUIRE(ring.take().empty());
}

TEST_CASE("an event that is not committed is not seen") {
    TestRing ring;
    REQUIRE(ring::reserve(ring.get(), kRingBytes, 4) == ring.words());
    REQUIRE(ring.take().empty());
}

TEST_CASE("a full ring refuses, and takes again once it was read") {
    TestRing ring;
    for (std::uint64_t i = 0; i < kRingBytes / 8 / 4; ++i) {
        REQUIRE(ring.put(4, i));
    }
    REQUIRE_FALSE(ring.put(4, 1000));
    REQUIRE_FALSE(ring.put(5, 1000));
    ring::count_drop(ring.get());
    REQUIRE(ring.get()->dropped.load() == 1);
    REQUIRE(ring.take().size() == 128);
    REQUIRE(ring.put(4, 1000));
    REQUIRE(ring.take() == Values{1000});
}

TEST_CASE("an event that does not fit before the end goes to the beginning, behind padding") {
    TestRing ring;
    REQUIRE(ring.put(300, 1));
    REQUIRE(ring.put(200, 2));
    REQUIRE(ring.take() == Values{1, 2});
    REQUIRE(ring.put(20, 3));  // 12 words are left before the end.
    const auto* padding = reinterpret_cast<const abi::EventHeader*>(ring.words() + 500);
    REQUIRE(padding->type == EventType::kPadding);
    REQUIRE(padding->words == 12);
    REQUIRE(ring.get()->head.load() == 4096 + 160);
    REQUIRE(ring.take() == Values{3});
}

TEST_CASE("padding needs room too") {
    TestRing ring;
    REQUIRE(ring.put(300, 1));
    REQUIRE(ring.take() == Values{1});
    REQUIRE(ring.put(200, 2));
    // 12 words before the end and 300 at the beginning are free.
    REQUIRE_FALSE(ring.put(301, 3));
    REQUIRE(ring.get()->head.load() == 4000);
    REQUIRE(ring.put(300, 3));
    REQUIRE(ring.take() == Values{2, 3});
}

TEST_CASE("an event that fits exactly before the end needs no padding") {
    TestRing ring;
    REQUIRE(ring.put(500, 1));
    REQUIRE(ring.take() == Values{1});
    REQUIRE(ring.put(12, 2));
    REQUIRE(ring.put(4, 3));
    REQUIRE(ring.get()->head.load() == 4096 + 32);
    REQUIRE(ring.take() == Values{2, 3});
}

TEST_CASE("an event larger than the ring is refused") {
    TestRing ring;
    REQUIRE(ring::reserve(ring.get(), kRingBytes, 513) == nullptr);
    REQUIRE(ring::reserve(ring.get(), kRingBytes, 512) != nullptr);
    REQUIRE(ring::reserve(ring.get(), kRingBytes, ring::kMaxEventWords) == nullptr);
}

TEST_CASE("only call events count as recorded") {
    TestRing ring;
    REQUIRE(ring.put(4, 1));
    REQUIRE(ring.get()->recorded.load() == 0);
    std::uint64_t* at = ring::reserve(ring.get(), kRingBytes, 5);
    *reinterpret_cast<abi::CallEvent*>(at) = {{5, EventType::kCall, 0, 0, 0}, 0, 0, 1, 2, 0};
    ring::commit(ring.get(), at);
    REQUIRE(ring.get()->recorded.load() == 1);
}

TEST_CASE("the drain thread is woken at quarters of a ring that is half full") {
    TestRing ring;
    std::vector<int> woken;
    for (int i = 0; i < 128; ++i) {
        REQUIRE(ring.put(4, 0));
        if (ring::should_wake(ring.get(), kRingBytes, 4)) {
            woken.push_back(i);
        }
    }
    REQUIRE(woken == std::vector<int>{63, 95, 127});
    REQUIRE(ring.take().size() == 128);
    REQUIRE(ring.put(4, 0));
    REQUIRE_FALSE(ring::should_wake(ring.get(), kRingBytes, 4));
}

TEST_CASE("a visitor that refuses an event leaves it unread") {
    TestRing ring;
    REQUIRE(ring.put(4, 1));
    REQUIRE(ring.put(4, 2));
    const auto visit = [](const abi::EventHeader* event, std::uint64_t position) {
        REQUIRE(position == (reinterpret_cast<const abi::NameEvent*>(event)->handle == 1 ? 0 : 32));
        return reinterpret_cast<const abi::NameEvent*>(event)->handle != 2;
    };
    const ring::Walk walk = ring::walk(ring.get(), kRingBytes, 0, 64, visit);
    REQUIRE(walk.end == ring::WalkEnd::kStopped);
    REQUIRE(walk.position == 32);
}

TEST_CASE("content that makes no sense ends the walk") {
    TestRing ring;
    REQUIRE(ring.put(4, 1));
    REQUIRE(ring.put(10, 2));
    auto* second = reinterpret_cast<abi::NameEvent*>(ring.words() + 4);
    std::uint64_t limit = 112;
    SECTION("no words") {
        second->header.words = 0;
    }
    SECTION("fewer words than its type has") {
        second->header.words = 3;
    }
    SECTION("more words than were written") {
        second->header.words = 11;
    }
    SECTION("a type that does not exist") {
        second->header.type = static_cast<EventType>(99);
    }
    SECTION("a name longer than the event") {
        second->name_bytes = 49;
    }
    SECTION("a range's texts longer than the event") {
        auto* range = reinterpret_cast<abi::RangeEvent*>(second);
        *range = {{10, EventType::kRange, 0, 0, 0}, 9, 1, abi::RangeKind::kPush, 0, 1, 48};  // 6 words are left.
    }
    SECTION("a range's texts whose length overflows 32 bits") {
        auto* range = reinterpret_cast<abi::RangeEvent*>(second);
        *range = {{10, EventType::kRange, 0, 0, 0}, 9, 1, abi::RangeKind::kPush, 0, 1, 0xffffffffU};
    }
    SECTION("more graph nodes than the event holds") {
        auto* nodes = reinterpret_cast<abi::GraphNodesEvent*>(second);
        *nodes = {{10, EventType::kGraphNodes, 0, 0, 0}, 9, 1, 3, 0};  // 6 words are left: 2 nodes.
    }
    SECTION("a count of graph nodes whose bytes overflow 32 bits") {
        auto* nodes = reinterpret_cast<abi::GraphNodesEvent*>(second);
        *nodes = {{10, EventType::kGraphNodes, 0, 0, 0}, 9, 1, 0x0aaaaaab, 0};
    }
    SECTION("a call with more parts than words") {
        auto* call = reinterpret_cast<abi::CallEvent*>(second);
        *call = {{9, EventType::kCall, 0, 0, 0}, abi::kCallKernel, 0, 1, 2, 0};  // KernelPart alone has 5.
    }
    SECTION("more arguments than words") {
        auto* call = reinterpret_cast<abi::CallEvent*>(second);
        *call = {{10, EventType::kCall, 0, 0, 0}, abi::kCallArguments, 0, 1, 2, 0};
        *reinterpret_cast<std::uint64_t*>(call + 1) = 5;  // 4 words are left.
    }
    SECTION("so many arguments that their number overflows") {
        auto* call = reinterpret_cast<abi::CallEvent*>(second);
        *call = {{10, EventType::kCall, 0, 0, 0}, abi::kCallArguments, 0, 1, 2, 0};
        *reinterpret_cast<std::uint64_t*>(call + 1) = ~0ULL - 5;
    }
    int seen = 0;
    const auto visit = [&](const abi::EventHeader*, std::uint64_t) { return ++seen != 0; };
    const ring::Walk walk = ring::walk(ring.get(), kRingBytes, 0, limit, visit);
    REQUIRE(walk.end == ring::WalkEnd::kCorrupt);
    REQUIRE(walk.position == 32);
    REQUIRE(seen == 1);
}

TEST_CASE("positions that make no sense are corrupt") {
    TestRing ring;
    const auto visit = [](const abi::EventHeader*, std::uint64_t) { return true; };
    REQUIRE(ring::walk(ring.get(), kRingBytes, 0, 4104, visit).end == ring::WalkEnd::kCorrupt);
    REQUIRE(ring::walk(ring.get(), kRingBytes, 8, 0, visit).end == ring::WalkEnd::kCorrupt);
    REQUIRE(ring::walk(ring.get(), kRingBytes, 0, 33, visit).end == ring::WalkEnd::kCorrupt);
}

TEST_CASE("an event may not go beyond the end of the ring") {
    TestRing ring;
    *reinterpret_cast<abi::EventHeader*>(ring.words() + 511) = {2, EventType::kPadding, 0, 0, 0};
    const auto visit = [](const abi::EventHeader*, std::uint64_t) { return true; };
    const ring::Walk walk = ring::walk(ring.get(), kRingBytes, 4088, 4088 + 32, visit);
    REQUIRE(walk.end == ring::WalkEnd::kCorrupt);
}

TEST_CASE("a writer and a reader at once: nothing is lost, doubled or torn") {
    TestRing ring;
    constexpr std::uint64_t kCount = 200'000;
    std::uint64_t written = 0;
    std::thread writer([&] {
        for (std::uint64_t i = 0; i < kCount; ++i) {
            const auto words = static_cast<std::uint16_t>(4 + i * 7 % 30);
            std::uint64_t* at = ring::reserve(ring.get(), kRingBytes, words);
            if (at == nullptr) {
                ring::count_drop(ring.get());
                std::this_thread::yield();
                continue;
            }
            auto* event = reinterpret_cast<abi::NameEvent*>(at);
            *event = {{words, EventType::kName, 0, 0, 0}, i * 3, i, 0, 0};
            for (unsigned w = 4; w < words; ++w) {
                at[w] = i + w;
            }
            ring::commit(ring.get(), at);
            ++written;
        }
    });
    std::uint64_t read = 0;
    std::uint64_t faults = 0;
    std::int64_t last = -1;
    const auto visit = [&](const abi::EventHeader* header, std::uint64_t) {
        const auto* event = reinterpret_cast<const abi::NameEvent*>(header);
        const std::uint64_t i = event->handle;
        bool sound = static_cast<std::int64_t>(i) > last && event->ticks == i * 3 && header->words == 4 + i * 7 % 30;
        for (unsigned w = 4; w < header->words; ++w) {
            sound = sound && reinterpret_cast<const std::uint64_t*>(header)[w] == i + w;
        }
        faults += sound ? 0 : 1;
        last = static_cast<std::int64_t>(i);
        ++read;
        return true;
    };
    const auto read_once = [&] {
        const ring::Walk walk =
            ring::walk(ring.get(), kRingBytes, ring.get()->tail.load(), ring::written(ring.get()), visit);
        faults += walk.end == ring::WalkEnd::kLimit ? 0 : 1;
        ring::consume(ring.get(), walk.position);
    };
    while (last + 1 < static_cast<std::int64_t>(kCount) && read + ring.get()->dropped.load() < kCount) {
        read_once();
    }
    writer.join();
    read_once();
    REQUIRE(faults == 0);
    REQUIRE(read == written);
    REQUIRE(written + ring.get()->dropped.load() == kCount);
    REQUIRE(read > 0);
}
