// Damaged traces through the whole program: never a crash, always a documented answer.
#include <catch2/catch.hpp>

#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "analysis/render/json.hpp"
#include "analysis/render/text.hpp"
#include "tests/unit/analysis/reading.hpp"
#include "tests/unit/analysis/scripts.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using analysis::ExitCode;

namespace {

/// What gpuspy-report would end with.
ExitCode report_of(std::string_view bytes, const analysis::ReadOptions& options = {}) {
    const analysis::MemorySource source(std::as_bytes(std::span(bytes)));
    const auto model = analysis::build_model(source, {.reading = options, .timeline = true});
    if (!model.ok()) {
        CHECK_FALSE(model.fault().message.empty());
        CHECK(model.fault().message.find('\n') == std::string::npos);
        return model.fault().code;
    }
    const analysis::Findings findings = analysis::find_all(*model.value());
    CHECK_FALSE(analysis::render_text(findings, "t", {}).empty());
    CHECK_FALSE(analysis::render_json(findings, {}).empty());
    CHECK(findings.run.reading.partial() == !findings.run.reading.describe().empty());
    for (const auto& thread : findings.sync.threads) {
        CHECK(thread.share_of_wall <= 1.0);
    }
    return findings.run.reading.partial() ? ExitCode::kPartial : ExitCode::kDone;
}

}  // namespace

TEST_CASE("truncation at every byte") {
    TraceBuilder trace = varied_trace();
    const std::string good = trace.bytes();
    const std::size_t header = trace.header_bytes().size();
    const std::vector<std::size_t> ends = trace.block_ends();
    const std::set<std::size_t> boundaries(ends.begin(), ends.end());
    for (std::size_t size = 0; size <= good.size(); ++size) {
        INFO(size);
        const ExitCode code = report_of(std::string_view(good).substr(0, size));
        const bool whole = size == header || boundaries.count(size) != 0;
        const ExitCode right = size < header ? ExitCode::kNotATrace : whole ? ExitCode::kDone : ExitCode::kPartial;
        CHECK(static_cast<int>(code) == static_cast<int>(right));
    }
}

TEST_CASE("a trace cut at a block says that it has no end") {
    TraceBuilder trace = varied_trace();
    const std::string good = trace.bytes();
    const auto findings = findings_of(std::string_view(good).substr(0, trace.block_ends()[2]));
    CHECK_FALSE(findings.completeness.complete);
    CHECK_FALSE(findings.run.ended_cleanly);
}

TEST_CASE("flipped bits: never unnoticed") {
    TraceBuilder trace = varied_trace();
    const std::string good = trace.bytes();
    std::mt19937 random(2024);
    for (int round = 0; round < 1'500; ++round) {
        std::string bytes = good;
        const int flips = 1 + round % 3;
        for (int i = 0; i < flips; ++i) {
            const std::size_t at = random() % bytes.size();
            bytes[at] = static_cast<char>(bytes[at] ^ (1 << (random() % 8)));
        }
        INFO("round " << round);
        if (bytes != good) {
            CHECK(report_of(bytes) != ExitCode::kDone);
        }
    }
}

TEST_CASE("flipped bits behind a right checksum: never a crash") {
    TraceBuilder trace = varied_trace();
    const std::string good = trace.bytes();
    std::mt19937 random(2025);
    for (int round = 0; round < 1'500; ++round) {
        std::string bytes = good;
        for (int i = 0; i < 1 + round % 8; ++i) {
            const std::size_t at = random() % bytes.size();
            bytes[at] = static_cast<char>(random());
        }
        report_of(bytes, {.verify_checksums = false});
    }
}

TEST_CASE("blocks put in another order, twice, and joined from two traces") {
    TraceBuilder trace = varied_trace();
    const std::string good = trace.bytes();
    const std::string header = trace.header_bytes();
    std::vector<std::string> blocks;
    std::size_t from = header.size();
    for (const std::size_t end : trace.block_ends()) {
        blocks.push_back(good.substr(from, end - from));
        from = end;
    }
    for (std::size_t a = 0; a < blocks.size(); ++a) {
        for (std::size_t b = 0; b < blocks.size(); ++b) {
            if (b == a + 1 || (a == 0 && b == 2)) {
                continue;  // As it was written; or a segment without its last block, whose end nothing marks.
            }
            INFO(a << " then " << b);
            CHECK(report_of(header + blocks[a] + blocks[b]) == ExitCode::kPartial);
        }
    }
    CHECK(report_of(good + good) == ExitCode::kPartial);
}

TEST_CASE("a file full of block starts is given up in bounded time") {
    std::string bytes = TraceBuilder().header_bytes();
    abi::BlockHeader block{};
    block.magic = abi::kBlockMagic;
    block.raw_bytes = block.stored_bytes = 1U << 20;
    block.flags = abi::kBlockStored;
    for (int i = 0; i < 60'000; ++i) {
        bytes.append(reinterpret_cast<const char*>(&block), sizeof block);
    }
    CHECK(report_of(bytes) == ExitCode::kPartial);
}
