// Traces side by side: totals and their ratios, what was added, is gone and changed, what cannot be compared; conditions.
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "analysis/passes/compare.hpp"
#include "analysis/passes/condition.hpp"
#include "analysis/render/table_data.hpp"
#include "analysis/render/table_text.hpp"
#include "analysis/views/comparison.hpp"
#include "tests/unit/analysis/reading.hpp"
#include "tests/unit/analysis/scripts.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using analysis::RunGroup;
using analysis::TraceFacts;

namespace {

struct Launched {
    std::string kernel;
    std::uint64_t duration_ns = 100;
    bool by_cudnn = false;
};

/// Launches every 1000 ns, each kernel 500 ns after its launch; wall time 1 ms.
TraceBuilder script(const std::vector<Launched>& launches, bool synchronised = false) {
    TraceBuilder trace = begun_trace();
    trace.device(0, "GPU X");
    trace.info("driver_version", "13.0");
    std::uint64_t at = kStart + 1000;
    std::uint64_t correlation = 0;
    for (const Launched& one : launches) {
        ++correlation;
        trace.call({.api = driver_launch(),
                    .begin = at + 10,
                    .end = at + 60,
                    .depth = one.by_cudnn ? 1U : 0U,
                    .correlation = correlation,
                    .caller = 0x1100});
        if (one.by_cudnn) {
            trace.call({.api = cudnn("cudnnConvolutionForward"), .begin = at, .end = at + 100, .caller = 0x1100});
        }
        trace.activity({.name = one.kernel,
                        .start = on_device(at + 500),
                        .duration = one.duration_ns,
                        .correlation = correlation});
        at += 1000;
    }
    if (synchronised) {
        trace.call({.api = device_sync(), .begin = at, .end = at + 300'000, .caller = 0x5100});
    }
    trace.end(kStart + 1'000'000);
    return trace;
}

TraceFacts facts_of(TraceBuilder trace) {
    const auto model = model_of(trace);
    return analysis::trace_facts(*model, analysis::find_all(*model));
}

analysis::Comparison two(const TraceFacts& a, const TraceFacts& b, double threshold = 0.1) {
    return analysis::compare({{"a", {a}}, {"b", {b}}}, {.threshold = threshold});
}

const analysis::ComparedMeasure& row(const analysis::Comparison& comparison, const std::string& name) {
    for (const auto& measure : comparison.measures) {
        if (measure.measure.name == name) {
            return measure;
        }
    }
    FAIL("no row " << name);
    return comparison.measures.front();
}

bool has_note(const analysis::Comparison& comparison, const std::string& text) {
    for (const std::string& note : comparison.notes) {
        if (note.find(text) != std::string::npos) {
            return true;
        }
    }
    return false;
}

std::vector<std::string> failing(const std::string& text, const analysis::Comparison& comparison) {
    const auto condition = analysis::parse_condition(text);
    REQUIRE(std::holds_alternative<analysis::Condition>(condition));
    return analysis::failures(std::get<analysis::Condition>(condition), comparison);
}

std::string fault_of(const std::string& text) {
    const auto condition = analysis::parse_condition(text);
    REQUIRE(std::holds_alternative<std::string>(condition));
    return std::get<std::string>(condition);
}

}  // namespace

TEST_CASE("compare: totals side by side, with ratios to the first") {
    const TraceFacts a = facts_of(script({{"k", 100}, {"k", 300}, {"own", 100}}));
    const TraceFacts b = facts_of(script({{"k", 200, true}, {"k", 800, true}}, true));
    const auto comparison = two(a, b);
    CHECK(row(comparison, "gpu_time").values[0]->median == 500);
    CHECK(row(comparison, "gpu_time").values[1]->median == 1000);
    CHECK_FALSE(row(comparison, "gpu_time").ratios[0]);
    CHECK(*row(comparison, "gpu_time").ratios[1] == 2);
    CHECK(row(comparison, "wall").values[1]->median == 1'000'000);
    CHECK(*row(comparison, "wall").ratios[1] == 1);
    CHECK(row(comparison, "gpu_span").values[0]->median == 2100);
    CHECK(row(comparison, "gpu_span").values[1]->median == 1800);
    CHECK(row(comparison, "busy").values[0]->median == 500);
    CHECK(row(comparison, "utilisation").values[1]->median == Approx(0.001));
    CHECK(row(comparison, "launches").values[0]->median == 3);
    CHECK(row(comparison, "kernels").values[1]->median == 2);
    CHECK(row(comparison, "distinct_kernels").values[0]->median == 2);
    CHECK(row(comparison, "api_time").values[0]->median == 150);
    CHECK(row(comparison, "sync_time").values[1]->median == 300'000);
    CHECK(row(comparison, "share.own").values[0]->median == 1);
    CHECK(row(comparison, "share.cudnn").values[0]->median == 0);
    CHECK(row(comparison, "share.cudnn").values[1]->median == 1);
    CHECK(row(comparison, "calls.cudnn").values[1]->median == 2);
    CHECK(row(comparison, "complete").values[0]->median == 1);
    // Nothing to divide by.
    CHECK_FALSE(row(comparison, "sync_time").ratios[1]);
    CHECK(row(comparison, "sync_time").best == std::vector<std::size_t>{0});
    CHECK(row(comparison, "launches").best == std::vector<std::size_t>{1});
    CHECK(row(comparison, "wall").best.empty());
    CHECK(comparison.notes.empty());
}

TEST_CASE("compare: totals for each image, where the images are known") {
    TraceFacts a = facts_of(script({{"k", 100}, {"k", 300}}));
    CHECK_FALSE(a.value("images_per_s"));
    a.images = 4;
    CHECK(*a.value("launches_per_image") == 0.5);
    CHECK(*a.value("busy_per_image") == 100);
    CHECK(*a.value("wall_per_image") == 250'000);
    CHECK(*a.value("time_per_image") == 325);  // From 500 after the first launch to 300 after 1500: 1300 ns.
    CHECK(*a.value("images_per_s") == Approx(4 / 1300e-9));
    CHECK(*a.value("images_per_s_wall") == Approx(4000));
}

TEST_CASE("compare: kernels and calls that were added, are gone, changed; the greatest difference first") {
    const TraceFacts a = facts_of(script({{"same", 100}, {"slower", 100}, {"gone", 50}, {"near", 1000}}));
    const TraceFacts b = facts_of(script({{"same", 100}, {"slower", 900}, {"new", 20, true}, {"near", 1090}}));
    const auto comparison = two(a, b);
    REQUIRE(comparison.kernels.size() == 3);
    CHECK(comparison.kernels[0].name == "slower");
    CHECK(comparison.kernels[0].kind == analysis::ChangeKind::kChanged);
    CHECK(comparison.kernels[0].group == 1);
    CHECK(*comparison.kernels[0].first_time_ns == 100);
    CHECK(*comparison.kernels[0].time_ns == 900);
    CHECK(comparison.kernels[1].name == "gone");
    CHECK(comparison.kernels[1].kind == analysis::ChangeKind::kGone);
    CHECK(comparison.kernels[1].count == 0);
    CHECK(comparison.kernels[2].name == "new");
    CHECK(comparison.kernels[2].kind == analysis::ChangeKind::kAdded);
    CHECK(comparison.kernels[2].count == 1);
    REQUIRE(comparison.calls.size() == 1);
    CHECK(comparison.calls[0].name == "cudnnConvolutionForward");
    CHECK(comparison.calls[0].library == "cudnn");
    CHECK(two(a, b, 0.05).kernels.size() == 4);
}

TEST_CASE("compare: kernels are told apart by the name that is asked for") {
    const TraceFacts a = facts_of(script({{"k1", 100}, {"k2", 100}}));
    const TraceFacts b = facts_of(script({{"k3", 100}, {"k4", 100}}));
    CHECK(two(a, b).kernels.size() == 4);
    const auto by_letter = analysis::compare(
        {{"a", {a}}, {"b", {b}}}, {.kernel_name = [](const std::string& name) { return name.substr(0, 1); }});
    CHECK(by_letter.kernels.empty());
}

TEST_CASE("compare: runs of the same thing are compared by their median") {
    const auto run = [](std::uint64_t duration) { return facts_of(script({{"k", duration}})); };
    const auto comparison = analysis::compare({{"a", {run(100), run(400), run(110)}}, {"b", {run(200), run(240)}}}, {});
    const auto& time = row(comparison, "gpu_time");
    CHECK(time.values[0]->median == 110);
    CHECK(time.values[0]->min == 100);
    CHECK(time.values[0]->max == 400);
    CHECK(time.values[0]->runs == 3);
    CHECK(time.values[1]->median == 220);
    CHECK(*time.ratios[1] == 2);
    REQUIRE(comparison.kernels.size() == 1);
    CHECK(*comparison.kernels[0].first_time_ns == 110);
    CHECK(*comparison.kernels[0].time_ns == 220);
}

TEST_CASE("compare: what a trace does not know is not 0, and is said") {
    TraceFacts a = facts_of(script({{"k", 100}}));
    TraceFacts b = a;
    b.device_times = false;
    b.values.erase("gpu_time");
    b.kernels["k"].time_ns = std::nullopt;
    const auto comparison = two(a, b);
    CHECK_FALSE(row(comparison, "gpu_time").values[1]);
    CHECK_FALSE(row(comparison, "gpu_time").ratios[1]);
    CHECK_FALSE(row(comparison, "share.own").values[1]);
    CHECK(comparison.kernels.empty());  // The same count, and no times to compare.
    CHECK(has_note(comparison, "b: no device times were recorded"));
    CHECK(failing("gpu_time>+5%", comparison) ==
          std::vector<std::string>{"gpu_time>+5%: gpu_time of b is not known: the notes of the comparison say why"});
}

TEST_CASE("compare: a trace without device times has no GPU time") {
    TraceBuilder trace;
    trace.header.start_ticks = kStart;
    trace.thread(0, 100);
    trace.call({.api = driver_launch(), .begin = kStart, .end = kStart + 50});
    trace.end(kStart + 1000);
    const TraceFacts facts = facts_of(std::move(trace));
    CHECK_FALSE(facts.device_times);
    CHECK_FALSE(facts.value("gpu_time"));
    CHECK_FALSE(facts.value("busy"));
    CHECK_FALSE(facts.value("share.cudnn"));
    CHECK_FALSE(facts.value("unmatched"));
    CHECK(*facts.value("launches") == 1);
    CHECK(*facts.value("complete") == 0);
}

TEST_CASE("compare: other machines, versions and ends are said") {
    TraceFacts a = facts_of(script({{"k", 100}}));
    TraceFacts b = a;
    b.gpus = {"GPU Y"};
    b.host = "other";
    b.versions["driver"] = "12.4";
    b.format = "9.9";
    b.died = true;
    b.end = "ended without notice";
    b.incomplete = {"7 launches were lost"};
    const auto comparison = two(a, b);
    CHECK(has_note(comparison, "different GPUs: GPU X (a), GPU Y (b)"));
    CHECK(has_note(comparison, "different versions: driver 12.4 (b), 13.0 (a)"));
    CHECK(has_note(comparison, "different trace formats"));
    CHECK(has_note(comparison, "b: ended without notice: it may not have done all its work"));
    CHECK(has_note(comparison, "b: not complete: 7 launches were lost"));
    CHECK(has_note(comparison, "different machines: "));
    CHECK(comparison.notes.size() == 6);
}

TEST_CASE("conditions: relative to the first, absolute, of wall time") {
    const TraceFacts a = facts_of(script({{"k", 1000}}));
    const TraceFacts b = facts_of(script({{"k", 1060}}, true));
    const auto comparison = two(a, b);
    CHECK(failing("gpu_time>+5%", comparison) ==
          std::vector<std::string>{"gpu_time>+5%: b: 1.060 us, a: 1.000 us: +6.0 %"});
    CHECK(failing("gpu_time>+6%", comparison).empty());
    CHECK(failing("gpu_time>=+6%", comparison).size() == 1);
    CHECK(failing("gpu_time<-5%", comparison).empty());
    CHECK(failing("gpu_time < +10%", comparison).size() == 1);
    CHECK(failing("gpu_time>1.05us", comparison) == std::vector<std::string>{"gpu_time>1.05us: b: 1.060 us"});
    CHECK(failing("gpu_time<=1060ns", comparison).size() == 1);
    CHECK(failing("sync_time>30%", comparison).empty());
    CHECK(failing("sync_time>=30%", comparison) ==
          std::vector<std::string>{"sync_time>=30%: b: 300.0 us, 30.0 % of wall time"});
    CHECK(failing("utilisation<80%", comparison).size() == 1);
    CHECK(failing("launches>0", comparison).size() == 1);
    CHECK(failing("copied_bytes>1MB", comparison).empty());
    CHECK(failing("share.nccl>0%", comparison).empty());
    CHECK(failing("complete<1", comparison).empty());
    CHECK(failing("images_per_s<-10%", comparison) ==
          std::vector<std::string>{
              "images_per_s<-10%: images_per_s of b is not known: --images says how many there were"});
}

TEST_CASE("conditions: a single trace is judged itself") {
    const auto one = analysis::compare({{"a", {facts_of(script({{"k", 1000}}))}}}, {});
    CHECK(failing("gpu_time>500ns", one).size() == 1);
    CHECK(failing("gpu_time>2us", one).empty());
}

TEST_CASE("conditions: what is wrong with one is said, with what is right") {
    CHECK(fault_of("nonsense").find("one of > >= < <=") != std::string::npos);
    CHECK(fault_of("gpu_tme>+5%").find("there is no measure \"gpu_tme\"; there are: wall, gpu_span, gpu_time") == 0);
    CHECK(fault_of("share.>5%").find("there is no measure") == 0);
    CHECK(fault_of("gpu_time>5").find("\"5\" is no bound for gpu_time: say 2s, 100ms") != std::string::npos);
    CHECK(fault_of("launches>5%").find("or +5% (of the first trace's)") != std::string::npos);
    for (const char* bad : {"wall>", "wall>+5", "wall>++5%", "wall>-s", "utilisation>0.8", "launches>5s", "wall>1e9",
                            "wall>+-5%", "wall>=nan%", ">5", "wall=5s"}) {
        INFO(bad);
        CHECK_FALSE(fault_of(bad).empty());
    }
}

TEST_CASE("a comparison as tables: rows have units of their own, and JSON says which") {
    TraceFacts a = facts_of(script({{"k", 100}, {"k", 300}}));
    a.images = 4;
    const auto comparison = analysis::compare({{"a", {a}}, {"b", {a}}, {"c", {a}}}, {});
    const std::vector<analysis::ViewTables> views = {
        {"compare", analysis::comparison_tables(comparison, {.best = true, .curve = true})}};
    const auto json = nlohmann::json::parse(analysis::render_views_json(views))["views"]["compare"];
    const auto& measures = json["measures"]["rows"];
    CHECK(measures[0]["measure"] == "wall");
    CHECK(measures[0]["unit"] == "ns");
    CHECK(measures[0]["value_3"] == 1'000'000);
    CHECK(measures[0]["ratio_3"] == 1);
    CHECK(json["measures"]["columns"][1]["unit"] == "by row");
    CHECK(json["curve"]["rows"][0]["share_of_best"] == 1);
    CHECK(json["curve"]["notes"][0] == "first with at least 95 % of the best: a");
    const std::string csv = analysis::render_csv(views[0].tables[1]);
    CHECK(csv.substr(0, csv.find('\n')) == "title,value_1,value_2,ratio_2,value_3,ratio_3,best,measure,unit");
    CHECK(csv.find("wall time,1000000,1000000,1,1000000,1,,wall,ns\n") != std::string::npos);
}

TEST_CASE("a comparison as text: as many traces side by side as the line holds, the first in each table") {
    const TraceFacts a = facts_of(script({{"k", 100}}));
    const auto comparison = analysis::compare({{"a", {a}}, {"b", {a}}, {"c", {a}}, {"d", {a}}, {"e", {a}}}, {});
    std::vector<std::size_t> widths;
    for (const auto& table : analysis::comparison_tables(comparison, {.for_text = true, .columns = 80})) {
        if (table.name == "measures") {
            CHECK(table.columns[1].title == "a");
            widths.push_back(table.columns.size());
            const std::string text = analysis::render_table_text(table, {.top = 0, .columns = 80});
            for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
                CHECK(text.find('\n', at) - at <= 80);
            }
        }
    }
    CHECK(widths == std::vector<std::size_t>{6, 6});
}
