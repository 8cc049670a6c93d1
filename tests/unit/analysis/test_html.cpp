// The HTML report: what is put into the page, and that nothing of a trace can become markup or script.
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

#include "analysis/render/html.hpp"
#include "analysis/render/json.hpp"
#include "analysis/render/overview_json.hpp"
#include "analysis/render/table_data.hpp"
#include "tests/unit/analysis/reading.hpp"
#include "tests/unit/analysis/scripts.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using nlohmann::json;

namespace {

std::size_t count_of(std::string_view text, std::string_view what) {
    std::size_t count = 0;
    for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + what.size())) {
        ++count;
    }
    return count;
}

/// What a browser takes for the data: up to the first end of the element.
std::string data_of(const std::string& page) {
    const std::string begin = R"(<script type="application/json" id="data">)";
    REQUIRE(count_of(page, begin) == 1);
    const std::size_t from = page.find(begin) + begin.size();
    return page.substr(from, page.find("</script", from) - from);
}

constexpr const char* kHostile =
    "</script><script>alert(1)</script><!-- <img src=x onerror=alert(2)> & \u2028\u2029 \"'\\";

}  // namespace

TEST_CASE("html: JSON in a script element ends nothing, opens nothing, and means the same") {
    const std::string text = json({{kHostile, kHostile}, {"umlaut", "\u00fc \u2027 \u202a"}}).dump();
    const std::string safe = analysis::json_for_script(text);
    CHECK(json::parse(safe) == json::parse(text));
    for (const char* harmful : {"<", ">", "&", "\u2028", "\u2029"}) {
        CAPTURE(harmful);
        CHECK(safe.find(harmful) == std::string::npos);
    }
    CHECK(safe.find("\u2027") != std::string::npos);  // Its neighbours stay as they were.
    CHECK(analysis::json_for_script("\xe2\x80") == "\xe2\x80");
    CHECK(analysis::json_for_script("") == "");
}

TEST_CASE("html: the page holds the JSON of the other renderers") {
    TraceBuilder trace = varied_trace();
    const auto model = timeline_of(trace);
    analysis::HtmlParts parts;
    parts.title = kHostile;
    parts.part = "--from 1s";
    parts.report = analysis::render_json(analysis::find_all(*model), {});
    parts.views = analysis::render_views_json({});
    parts.overview =
        analysis::render_overview_json(analysis::overview(*model, *model->timeline), analysis::NameForm::kFull);
    parts.top = 7;
    const std::string page = analysis::render_html(parts);
    const json data = json::parse(data_of(page));
    CHECK(data["title"] == kHostile);
    CHECK(data["part"] == "--from 1s");
    CHECK(data["top"] == 7);
    CHECK(data["report"] == json::parse(parts.report));
    CHECK(data["views"] == json::parse(parts.views));
    CHECK(data["overview"] == json::parse(parts.overview));
}

TEST_CASE("html: what there is no JSON of is null") {
    const json data = json::parse(data_of(analysis::render_html({})));
    CHECK(data["report"].is_null());
    CHECK(data["views"].is_null());
    CHECK(data["overview"].is_null());
    CHECK(data["names"].is_null());
    CHECK(data["top"] == 20);
}

TEST_CASE("html: text that is not UTF-8 becomes U+FFFD") {
    analysis::HtmlParts parts;
    parts.title = "a\xff";
    CHECK(json::parse(data_of(analysis::render_html(parts)))["title"] == "a\uFFFD");
}

TEST_CASE("html: the page is whole, loads nothing, and allows no script but its own") {
    const std::string page = analysis::render_html({});
    CHECK(page.starts_with("<!DOCTYPE html>"));
    CHECK(page.ends_with("</html>\n"));
    CHECK(count_of(page, "</script>") == 4);  // The data, two libraries, the page's own.
    CHECK(count_of(page, "<style>") == 1);
    CHECK(page.find("default-src 'none'; script-src 'sha256-") != std::string::npos);
    CHECK(count_of(page, "'sha256-") == 4);
    CHECK(page.find("unsafe") == std::string::npos);
    CHECK(page.find("Copyright 2014-2022 Chart.js Contributors") != std::string::npos);
    CHECK(page.find("Copyright 2010-2022 Mike Bostock") != std::string::npos);
    for (const char* loading : {"<link", "<img", "<iframe", "<object", "<embed", "<base", "@import", "url(", " src=\"",
                                "href=\"", "sourceMappingURL", "@PAGE_JS", "@STYLE", "@GPUSPY"}) {
        CAPTURE(loading);
        CHECK(page.find(loading) == std::string::npos);
    }
}

TEST_CASE("html: names of kernels that no overview has") {
    const json names = json::parse(analysis::render_names_json({"_Z4scalPfi", "sm80_gemm"}, analysis::NameForm::kFull));
    CHECK(names == json::parse(R"json([{"text": "scal(float*, int)", "short": "scal"},
                                       {"text": "sm80_gemm", "short": "sm80_gemm"}])json"));
}

TEST_CASE("names of kernels are asked for by the names of their forms") {
    CHECK(analysis::find_name_form("full") == analysis::NameForm::kFull);
    CHECK(analysis::find_name_form("base") == analysis::NameForm::kBase);
    CHECK(analysis::find_name_form("mangled") == analysis::NameForm::kMangled);
    CHECK_FALSE(analysis::find_name_form(""));
    CHECK_FALSE(analysis::find_name_form("Full"));
}

TEST_CASE("html: the overview as JSON") {
    TraceBuilder trace = begun_trace();
    trace.call({.api = device_sync(), .begin = kStart + 100, .end = kStart + 150});
    trace.activity({.name = "_Z4scalPfi", .start = on_device(kStart + 200), .duration = 30});
    trace.end(kStart + 1'000'000);
    const auto model = timeline_of(trace);
    const json all = json::parse(
        analysis::render_overview_json(analysis::overview(*model, *model->timeline), analysis::NameForm::kFull));
    CHECK(all["wall_ns"] == 1'000'000);
    CHECK(all["pixel_ns"] == 0);
    CHECK(all["unplaced"] == 0);
    CHECK(all["categories"] ==
          json::parse(R"json([{"kind": "owner", "name": "unknown"}, {"kind": "wait", "name": "blocking call"}])json"));
    CHECK(all["names"] == json::parse(R"json([{"text": "scal(float*, int)", "short": "scal"
},
                                          {"text": "cudaDeviceSynchronize", "short": "cudaDeviceSynchronize"}])json"));
    REQUIRE(all["lanes"].size() == 2);
    CHECK(all["lanes"][0] ==
          json::parse(R"json({"host": false, "device": 0, "stream": 7, "row": 0, "count": 1, "time_ns": 30,
                                             "blocks": [[200, 30, 1, 30, 0, 0]]})json"));
    CHECK(all["lanes"][1] ==
          json::parse(R"json({"host": true, "tid": 100, "thread": "", "row": 0, "count": 1, "time_ns": 50,
                                             "blocks": [[100, 50, 1, 50, 1, 1]]})json"));
}
