// Building blocks of the model: clocks, interval sets, quantiles, call trees, names, objects.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "analysis/model/call_forest.hpp"
#include "analysis/model/handle_names.hpp"
#include "analysis/model/interval_set.hpp"
#include "analysis/model/linear_map.hpp"
#include "analysis/model/object_index.hpp"
#include "analysis/model/samples.hpp"

using namespace gpuspy;
using namespace gpuspy::analysis;

TEST_CASE("a clock between, before and after its readings") {
    LinearMap clock;
    clock.add(2000, 10'000);
    clock.add(1000, 9'000);
    clock.add(4000, 14'000);  // From 2000 on it runs twice as fast.
    CHECK(clock.finish(1) == 0);
    CHECK(clock.at(1000) == 9'000);
    CHECK(clock.at(1500) == 9'500);
    CHECK(clock.at(2000) == 10'000);
    CHECK(clock.at(3000) == 12'000);
    CHECK(clock.at(4000) == 14'000);
    // Outside: 5000 ns in 3000 ticks.
    CHECK(clock.at(7000) == 19'000);
    CHECK(clock.at(400) == 8'000);
}

TEST_CASE("a clock with one reading, with none, with bad ones") {
    LinearMap one;
    one.add(100, 5'000);
    one.finish(0.5);
    CHECK(one.at(300) == 5'100);
    CHECK(one.at(0) == 4'950);
    LinearMap none;
    none.finish(1);
    CHECK(none.at(77) == 0);
    LinearMap bad;
    for (const auto& [from, to] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
             {100, 1'000}, {200, 1'100}, {200, 5'000}, {300, 900}, {400, 1'300}}) {
        bad.add(from, to);
    }
    CHECK(bad.finish(1) == 2);  // The clock stands still, or runs backwards.
    CHECK(bad.at(300) == 1'200);
    CHECK(bad.at(~0ULL) < (std::int64_t{1} << 62));
    LinearMap steep;
    steep.add(0, 0);
    steep.add(1, ~0ULL);
    steep.finish(1);
    // The farthest times lie no farther apart than a time can say.
    constexpr std::int64_t kFarthest = (std::int64_t{1} << 62) - 1;
    CHECK(steep.at(~0ULL) == kFarthest);
    LinearMap late;
    late.add(1ULL << 63, 0);
    late.add((1ULL << 63) + 1, 1ULL << 62);
    late.finish(1);
    CHECK(late.at(0) == -kFarthest);
}

TEST_CASE("interval sets: overlap, touching, gaps, order") {
    IntervalSet set;
    set.add(10, 20);
    set.add(15, 30);
    set.add(40, 50);
    set.add(30, 35);  // Touches.
    set.add(5, 5);    // Nothing.
    set.add(9, 7);    // Nothing.
    CHECK(set.merged() == std::vector<Interval>{{10, 35}, {40, 50}});
    CHECK(set.length_ns() == 35);
    set.add(0, 100);
    CHECK(set.merged() == std::vector<Interval>{{0, 100}});

    IntervalSet other;
    other.add(-10, 10);
    other.add(90, 200);
    CHECK(overlap_ns(set, other) == 20);
    CHECK(overlap_ns(other, set) == 20);
    CHECK(overlap_ns(other, IntervalSet{}) == 0);
}

TEST_CASE("interval sets: random ones against a bitmap") {
    std::mt19937 random(11);
    for (int round = 0; round < 20; ++round) {
        IntervalSet set;
        std::vector<bool> bitmap(20'000);
        for (int i = 0; i < 6'000; ++i) {
            const auto begin = static_cast<std::int64_t>(random() % 19'000);
            const auto length = static_cast<std::int64_t>(random() % (round % 2 == 0 ? 3 : 100));
            set.add(begin, begin + length);
            std::fill_n(bitmap.begin() + begin, length, true);
        }
        CHECK(set.length_ns() == static_cast<std::uint64_t>(std::count(bitmap.begin(), bitmap.end(), true)));
    }
}

namespace {

/// By definition: between the values around rank q (n - 1), in proportion, rounded down.
std::uint64_t plain_quantile(std::vector<std::uint64_t> values, double q) {
    std::sort(values.begin(), values.end());
    const double rank = q * static_cast<double>(values.size() - 1);
    const auto low = static_cast<std::size_t>(std::floor(rank));
    const auto high = static_cast<std::size_t>(std::ceil(rank));
    const double part = rank - std::floor(rank);
    return values[low] + static_cast<std::uint64_t>(part * static_cast<double>(values[high] - values[low]));
}

}  // namespace

TEST_CASE("quantiles: exact up to 10,000 samples, against a plain sort") {
    std::mt19937_64 random(3);
    for (const std::size_t count : {1UL, 2UL, 3UL, 10UL, 999UL, 10'000UL}) {
        Samples samples;
        std::vector<std::uint64_t> values;
        for (std::size_t i = 0; i < count; ++i) {
            values.push_back(random() >> (20 + random() % 40));
            samples.add(values.back());
        }
        INFO(count);
        CHECK(samples.exact());
        for (const double q : {0.0, 0.25, 0.5, 0.9, 0.99, 1.0}) {
            CHECK(samples.quantile(q) == plain_quantile(values, q));
        }
        CHECK(samples.min() == *std::min_element(values.begin(), values.end()));
        CHECK(samples.max() == *std::max_element(values.begin(), values.end()));
    }
}

TEST_CASE("quantiles: within 1 % beyond, and said") {
    std::mt19937_64 random(5);
    for (const int shape : {0, 1, 2}) {
        Samples samples;
        std::vector<std::uint64_t> values;
        for (int i = 0; i < 50'000; ++i) {
            const std::uint64_t value = shape == 0   ? random() % 100
                                        : shape == 1 ? 1'000 + random() % 5'000
                                                     : random() >> (random() % 60);
            values.push_back(value);
            samples.add(value);
        }
        CHECK_FALSE(samples.exact());
        for (const double q : {0.0, 0.1, 0.5, 0.9, 0.999, 1.0}) {
            const auto right = static_cast<double>(plain_quantile(values, q));
            INFO("shape " << shape << " q " << q);
            CHECK(std::abs(static_cast<double>(samples.quantile(q)) - right) <= 0.01 * right + 1);
        }
    }
    Samples edge;
    for (int i = 0; i < 10'000; ++i) {
        edge.add(7);
    }
    CHECK(edge.exact());
    edge.add(~0ULL);
    CHECK_FALSE(edge.exact());
    CHECK(edge.median() == 7);
    CHECK(edge.max() == ~0ULL);
}

TEST_CASE("samples: mean and none") {
    Samples samples;
    CHECK(samples.median() == 0);
    CHECK(samples.mean() == 0);
    CHECK(samples.min() == 0);
    for (const std::uint64_t value : {1, 2, 5}) {
        samples.add(value);
    }
    CHECK(samples.mean() == 3);  // 8 / 3 = 2.67
    CHECK(samples.median() == 2);
    samples.add(10);
    CHECK(samples.median() == 3);  // (2 + 5) / 2, rounded down
}

namespace {

struct Forest {
    std::vector<std::vector<std::uint64_t>> trees;  // the begins of each tree's calls, outermost last
    CallForest forest{[this](std::span<const TreeNode> tree) {
        auto& begins = trees.emplace_back();
        for (const TreeNode& node : tree) {
            begins.push_back(node.call.begin_ticks);
        }
    }};
    void add(std::uint64_t begin, std::uint64_t end, std::uint32_t depth, std::uint32_t thread = 0) {
        CallRecord call;
        call.thread = thread;
        call.begin_ticks = begin;
        call.end_ticks = end;
        call.depth = depth;
        forest.add(call);
    }
};

using Trees = std::vector<std::vector<std::uint64_t>>;

}  // namespace

TEST_CASE("call trees from post-order") {
    Forest calls;
    calls.add(3, 4, 2);
    calls.add(2, 5, 1);
    calls.add(103, 104, 1, 1);  // Another thread in between.
    calls.add(6, 7, 1);
    CHECK(calls.trees.empty());
    calls.add(1, 8, 0);
    calls.add(10, 11, 0);
    calls.add(100, 110, 0, 1);
    CHECK(calls.trees == Trees{{3, 2, 6, 1}, {10}, {103, 100}});
}

TEST_CASE("call trees when calls were dropped") {
    SECTION("the middle of three: the innermost goes to the outermost") {
        Forest calls;
        calls.add(3, 4, 2);
        calls.add(1, 8, 0);
        CHECK(calls.trees == Trees{{3, 1}});
    }
    SECTION("the outermost: its children are trees of their own, not the next call's") {
        Forest calls;
        calls.add(3, 4, 1);
        calls.add(5, 6, 1);
        calls.add(12, 13, 1);
        calls.add(10, 20, 0);
        CHECK(calls.trees == Trees{{3}, {5}, {12, 10}});
    }
    SECTION("the parent of one, while the grandparent came") {
        Forest calls;
        calls.add(3, 4, 2);
        calls.add(6, 7, 2);
        calls.add(5, 8, 1);
        calls.add(1, 9, 0);
        CHECK(calls.trees == Trees{{3, 6, 5, 1}});
    }
    SECTION("a sibling that ended in the tick in which the next one began is no child of it") {
        Forest calls;
        calls.add(10, 10, 1);
        calls.add(10, 12, 1);
        calls.add(20, 30, 0);
        CHECK(calls.trees == Trees{{10}, {10}, {20}});
    }
    SECTION("all that would close them") {
        Forest calls;
        calls.add(3, 4, 2);
        calls.add(5, 6, 1);
        calls.forest.finish();
        CHECK(calls.trees == Trees{{3}, {5}});
    }
}

TEST_CASE("call trees wait for at most so many") {
    Forest calls;
    for (std::uint64_t i = 0; i < 2 * CallForest::kMaxWaiting + 5; ++i) {
        calls.add(10 * i, 10 * i + 1, 1);
    }
    CHECK(calls.trees.size() == 2 * CallForest::kMaxWaiting);
    calls.forest.finish();
    CHECK(calls.trees.size() == 2 * CallForest::kMaxWaiting + 5);
}

TEST_CASE("contexts: library, blocking, launches and copies inside") {
    Symbols symbols;
    const auto api = [&symbols](const char* name, abi::ApiLevel level, abi::ApiClass api_class,
                                std::uint8_t attributes = 0) {
        return symbols.intern_api({name, "", level, api_class, attributes}).value();
    };
    const std::uint32_t library = api("l", abi::ApiLevel::kLibrary, abi::ApiClass::kLibrary);
    const std::uint32_t launch = api("k", abi::ApiLevel::kRuntime, abi::ApiClass::kLaunch);
    const std::uint32_t copy = api("c", abi::ApiLevel::kRuntime, abi::ApiClass::kCopy, abi::kApiBlocking);
    std::vector<TreeNode> tree(5);
    tree[0] = {{.api = launch}, 1};
    tree[1] = {{.api = launch}, 2};
    tree[2] = {{.api = library}, 3};  // A library inside a library.
    tree[3] = {{.api = copy}, 1};
    tree[4] = {{.api = library}, 5};
    std::vector<CallContext> contexts;
    find_contexts(tree, symbols, contexts);
    CHECK(contexts[0].parent == 1);
    CHECK(contexts[1].parent == 2);
    CHECK(contexts[2].parent == 4);
    CHECK(contexts[3].parent == 4);
    CHECK(contexts[4].parent == -1);
    CHECK(contexts[0].library == 4);
    CHECK(contexts[4].library == 4);
    CHECK_FALSE(contexts[0].launch_inside);
    CHECK(contexts[1].launch_inside);
    CHECK(contexts[4].launch_inside);
    CHECK(contexts[4].copy_inside);
    CHECK_FALSE(contexts[2].copy_inside);
    CHECK(contexts[3].blocking == 3);
    CHECK(contexts[4].blocking == -1);
}

TEST_CASE("names of handles that are given out again") {
    HandleNames names;
    names.add({500, 0xa, 2});
    names.add({100, 0xa, 1});
    names.finish();
    CHECK(names.name_at(0xa, 50) == 1U);
    CHECK(names.name_at(0xa, 100) == 1U);
    CHECK(names.name_at(0xa, 499) == 1U);
    CHECK(names.name_at(0xa, 500) == 2U);
    CHECK_FALSE(names.name_at(0xb, 500).has_value());
}

TEST_CASE("names of a handle that threads write in turn") {
    // The trace holds one thread's names after the other's: the second "1" is not the first one told again.
    HandleNames names;
    names.add({100, 0xa, 1});
    names.add({300, 0xa, 1});
    names.add({200, 0xa, 2});
    names.finish();
    CHECK(names.name_at(0xa, 150) == 1U);
    CHECK(names.name_at(0xa, 250) == 2U);
    CHECK(names.name_at(0xa, 350) == 1U);
}

TEST_CASE("objects mapped over one another") {
    ObjectIndex objects;
    objects.add({100, 0x1000, 0x2000, "/lib/first.so", ""});
    objects.add({500, 0x1800, 0x3000, "second.so", ""});
    objects.finish();
    CHECK(objects.find(0x1900, 200)->basename() == "first.so");
    CHECK(objects.find(0x1900, 500)->basename() == "second.so");
    CHECK(objects.find(0x1000, 600)->basename() == "first.so");
    CHECK(objects.find(0x2000, 1)->basename() == "second.so");  // Recorded a little after the call.
    CHECK(objects.find(0x3000, 600) == nullptr);
    CHECK(objects.find(0xfff, 600) == nullptr);
}
