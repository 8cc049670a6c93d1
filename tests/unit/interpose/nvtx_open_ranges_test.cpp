#include "interpose/nvtx/open_ranges.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "interpose/record/thread.hpp"

using namespace gpuspy::hook;
using namespace gpuspy::hook::nvtx;

// In the library it is defined beside the hooks.
thread_local constinit ThreadLocal gpuspy::hook::thread_local_state{};

namespace {

const Domain& domain(const std::string& name) {
    return *make_domain(name.data(), name.size());
}

std::uint32_t push(OpenPushes& pushes, const Domain& in, const std::string& text) {
    return pushes.push(1, in, text.data(), text.size());
}

/// "level domain text" of each push that is kept.
std::vector<std::string> kept(const OpenPushes& pushes) {
    std::vector<std::string> lines;
    for (std::uint32_t i = 0; i < pushes.count; ++i) {
        const OpenPush& one = pushes.kept[i];
        const Domain& in = domain_at(one.domain);
        lines.push_back(std::to_string(one.level) + " " + std::string(in.name, in.name_bytes) + " " +
                        std::string(pushes.text + one.text_offset, one.text_bytes));
    }
    return lines;
}

using Lines = std::vector<std::string>;

std::vector<std::uint64_t> open_starts() {
    std::vector<std::uint64_t> ids;
    for_each_open_start(
        [](void* context, const OpenStart& start) noexcept {
            static_cast<std::vector<std::uint64_t>*>(context)->push_back(start.id);
        },
        &ids);
    return ids;
}

}  // namespace

TEST_CASE("levels are of a domain, and ranges of two domains need not nest") {
    const auto pushes = std::make_unique<OpenPushes>();
    const Domain& none = domain_at(0);
    const Domain& other = domain("other");
    CHECK(push(*pushes, none, "a") == 0);
    CHECK(push(*pushes, other, "b") == 0);
    CHECK(push(*pushes, none, "c") == 1);
    CHECK(pushes->pop(other) == 0);
    CHECK(kept(*pushes) == Lines{"0  a", "1  c"});
    CHECK(push(*pushes, other, "d") == 0);
    CHECK(kept(*pushes) == Lines{"0  a", "1  c", "0 other d"});
    CHECK(pushes->pop(none) == 1);
    CHECK(pushes->pop(none) == 0);
    CHECK(pushes->pop(none) == -1);
    CHECK(kept(*pushes) == Lines{"0 other d"});
    CHECK(pushes->pop(other) == 0);
    CHECK(pushes->pop(other) == -1);
    CHECK(pushes->count == 0);
}

TEST_CASE("deeper pushes than are kept are counted, and pops take the right ones away") {
    const auto pushes = std::make_unique<OpenPushes>();
    const Domain& none = domain_at(0);
    for (std::uint32_t i = 0; i < 200; ++i) {
        CHECK(push(*pushes, none, std::to_string(i)) == i);
    }
    CHECK(pushes->count == OpenPushes::kMaxKept);
    for (std::uint32_t i = 200; i > OpenPushes::kMaxKept; --i) {
        CHECK(pushes->pop(none) == i - 1);
    }
    CHECK(pushes->count == OpenPushes::kMaxKept);
    CHECK(kept(*pushes).back() == "63  63");
    CHECK(pushes->pop(none) == 63);
    CHECK(kept(*pushes).back() == "62  62");
}

TEST_CASE("texts are kept as far as there is room") {
    const auto pushes = std::make_unique<OpenPushes>();
    const std::string text(2000, 'x');
    for (int i = 0; i < 5; ++i) {
        push(*pushes, domain_at(0), text);
    }
    CHECK(pushes->kept[1].text_bytes == 2000);
    CHECK(pushes->kept[2].text_bytes == OpenPushes::kTextBytes - 4000);
    CHECK(pushes->kept[3].text_bytes == 0);
    CHECK(pushes->count == 5);
    pushes->pop(domain_at(0));
    pushes->pop(domain_at(0));
    pushes->pop(domain_at(0));
    push(*pushes, domain_at(0), "short");
    CHECK(kept(*pushes).back() == "2  short");
}

TEST_CASE("a thread has its own, and gives them back empty") {
    OpenPushes* mine = open_pushes();
    REQUIRE(mine != nullptr);
    CHECK(open_pushes() == mine);
    CHECK(known_open_pushes() == mine);
    for (int i = 0; i < 3; ++i) {
        OpenPushes* others = nullptr;
        std::uint32_t level = 99;
        std::thread([&] {
            others = open_pushes();
            level = push(*others, domain_at(0), "left open");
        }).join();
        CHECK(others != mine);
        CHECK(level == 0);
    }
}

TEST_CASE("starts that are open are known, as far as there is room") {
    const Domain& none = domain_at(0);
    CHECK(open_starts().empty());
    const std::string text(200, 'x');
    std::set<std::uint64_t> ids;
    for (int i = 0; i < 300; ++i) {
        const std::uint64_t id = next_range_id();
        CHECK(ids.insert(id).second);
        keep_start(id, 5, none, text.data(), text.size());
    }
    CHECK(open_starts().size() == 256);
    for (const std::uint64_t id : ids) {
        forget_start(id);
    }
    forget_start(0);
    forget_start(~0ULL);
    CHECK(open_starts().empty());
}

TEST_CASE("handles of strings") {
    const auto make = [](const std::string& text) { return make_string(text.data(), text.size()); };
    const auto text_of = [](const String* string) { return std::string(string->text, string->bytes); };
    const String* first = make("first");
    CHECK(make("first") == first);
    CHECK(make("second") != first);
    CHECK(text_of(first) == "first");
    CHECK(string_of(first) == first);
    CHECK(make("") != nullptr);
    CHECK(string_of(make(""))->bytes == 0);
    CHECK(make(std::string(5000, 'x'))->bytes == gpuspy::abi::kMaxRangeTextBytes);
    CHECK(string_of(nullptr)->bytes == 0);
    CHECK(string_of(&first)->bytes == 0);
    CHECK(string_of(reinterpret_cast<const char*>(first) + 1)->bytes == 0);
    CHECK(string_of(reinterpret_cast<const char*>(first) + (16 << 20))->bytes == 0);
    // Between two handles: whatever is taken for the length lies within our memory.
    const String* between = string_of(reinterpret_cast<const char*>(make(std::string(64, '\xff'))) + 8);
    CHECK(between->bytes == 0);
    CHECK(shortage() == nullptr);
    const String* last = nullptr;
    for (int i = 0; i < 9'000; ++i) {
        last = make(std::to_string(i) + std::string(2000, 'y'));
    }
    CHECK(text_of(last) == "(more strings than gpuspy keeps)");
    CHECK(string_of(last) == last);
    CHECK(text_of(first) == "first");
    REQUIRE(shortage() != nullptr);
    CHECK(std::string(shortage()).find("NVTX strings") != std::string::npos);
}

TEST_CASE("handles of domains") {
    const Domain& first = domain("first");
    CHECK(&domain("first") == &first);
    CHECK(domain_of(nullptr) == &domain_at(0));
    CHECK(domain_of(&first) == &first);
    const Domain* unknown = domain_of(reinterpret_cast<const char*>(&first) + 8);
    CHECK(std::string(unknown->name, unknown->name_bytes) == "(other domains)");
    for (int i = 0; i < 300; ++i) {
        domain("domain " + std::to_string(i));
    }
    const Domain& beyond = domain("beyond");
    CHECK(&beyond == unknown);
    CHECK(domain_of(&beyond) == unknown);
    CHECK(&domain_at(beyond.index) == unknown);
    CHECK(&domain("first") == &first);
    CHECK(domain(std::string(500, 'x')).name_bytes <= gpuspy::abi::kMaxDomainNameBytes);
}

TEST_CASE("a start that another thread was about to remember at a fork takes no room in the child") {
    constexpr std::uint64_t kRoom = 256;
    std::atomic<bool> is_over{false};
    std::thread starts([&is_over] {
        const std::string text(90, 'x');
        while (!is_over) {
            const std::uint64_t id = next_range_id();
            keep_start(id, 1, domain_at(0), text.data(), text.size());
            forget_start(id);
        }
    });
    int whole = 0;
    for (int i = 0; i < 200; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            forget_half_made_starts();
            for (std::uint64_t n = 0; n < kRoom; ++n) keep_start(next_range_id(), 1, domain_at(0), "", 0);
            std::uint64_t count = 0;
            for_each_open_start(
                [](void* context, const OpenStart&) noexcept { ++*static_cast<std::uint64_t*>(context); }, &count);
            _exit(count == kRoom ? 0 : 1);
        }
        int status = 0;
        if (waitpid(child, &status, 0) == child && status == 0) ++whole;
    }
    is_over = true;
    starts.join();
    CHECK(whole == 200);
}
