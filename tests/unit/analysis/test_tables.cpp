// Tables as text, CSV and JSON, and the forms of a kernel's name.
#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "analysis/render/kernel_name.hpp"
#include "analysis/render/table_data.hpp"
#include "analysis/render/table_text.hpp"
#include "analysis/views/view.hpp"

using namespace gpuspy::analysis;

namespace {

Table sample() {
    Table table{"rows", "Rows", "two of them", {}, {}, {"a note"}};
    table.columns = {{"share", "%", Unit::kShare},
                     {"total_ns", "total", Unit::kDurationNs},
                     {"count", "count", Unit::kCount},
                     {"name", "kernel", Unit::kName}};
    table.rows = {{0.5, std::uint64_t{1'500'000}, std::uint64_t{12'345}, std::string("first, \"one\"")},
                  {0.25, Cell{}, std::uint64_t{7}, std::string("second")}};
    return table;
}

}  // namespace

TEST_CASE("a table as text: numbers to the right, what is not known is a dash") {
    CHECK(render_table_text(sample(), {}) ==
          "Rows  (two of them)\n"
          "     %     total   count  kernel\n"
          "  50.0  1.500 ms  12,345  first, \"one\"\n"
          "  25.0         -       7  second\n"
          "  a note\n");
}

TEST_CASE("a table as text says how many rows it left out, and is silent without rows") {
    const std::string text = render_table_text(sample(), {.top = 1});
    CHECK(text.find("second") == std::string::npos);
    CHECK(text.find("... and 1 more (--top 0 shows all)") != std::string::npos);
    CHECK(render_table_text(Table{"none", "None", "", {{"a", "a", Unit::kText}}, {}, {}}, {}).empty());
}

TEST_CASE("a long name gets a line of its own where the line has no room, and is cut there") {
    Table table = sample();
    table.rows[0][3] = std::string(200, 'x');
    const std::string narrow = render_table_text(table, {.top = 0, .columns = 60});
    CHECK(narrow.find("12,345\n    xxx") != std::string::npos);
    for (std::size_t at = 0; at < narrow.size();) {
        const std::size_t end = narrow.find('\n', at);
        CHECK(end - at <= 62);  // The ellipsis has three bytes.
        at = end + 1;
    }
    CHECK(render_table_text(table, {.top = 0, .columns = 0}).find("12,345  " + std::string(200, 'x')) !=
          std::string::npos);
    CHECK(render_table_text(table, {.top = 0, .columns = 100}).find("12,345  xxx") != std::string::npos);
}

TEST_CASE("a name that is not known gets no line of its own") {
    Table table = sample();
    table.rows[0][3] = std::string(200, 'x');
    table.rows[1][3] = Cell{};
    CHECK(render_table_text(table, {.top = 0, .columns = 60}).find("       -       7\n  a note") != std::string::npos);
}

TEST_CASE("nothing in a cell harms the terminal") {
    Table table = sample();
    table.rows[0][3] = std::string("a\x1b[2Jb\n\xff");
    CHECK(render_table_text(table, {}).find("a?[2Jb?\xef\xbf\xbd") != std::string::npos);
    CHECK(render_table_text(table, {.top = 20, .columns = 100, .colour = true}).substr(0, 12) == "\x1b[1mRows\x1b[0m");
}

TEST_CASE("cells by unit") {
    CHECK(cell_text(std::uint64_t{1'234'567'890}, Unit::kMomentNs) == "1.234568 s");
    CHECK(cell_text(std::int64_t{-1500}, Unit::kDurationNs) == "-1.500 us");
    CHECK(cell_text(std::uint64_t{2048}, Unit::kBytes) == "2.000 KiB");
    CHECK(cell_text(9.89e14, Unit::kFlopsPerS) == "989 TFLOP/s");
    CHECK(cell_text(std::uint64_t{8'178'000'000}, Unit::kFlops) == "8.18 GFLOP");
    CHECK(cell_text(999.6, Unit::kFlops) == "1.00 kFLOP");
    CHECK(cell_text(3.14159, Unit::kNumber) == "3.14");
    CHECK(cell_text(Cell{}, Unit::kCount) == "-");
}

TEST_CASE("a table as CSV: RFC 4180, what is not known is empty") {
    CHECK(render_csv(sample()) ==
          "share,total_ns,count,name\n"
          "0.5,1500000,12345,\"first, \"\"one\"\"\"\n"
          "0.25,,7,second\n");
}

TEST_CASE("a table as CSV: no name of a trace is a formula to a spreadsheet") {
    Table table = sample();
    const std::size_t name = table.columns.size() - 1;
    table.rows.resize(1);
    const std::pair<const char*, const char*> names[] = {{"=1+1", "'=1+1"},
                                                         {"@SUM(A1)", "'@SUM(A1)"},
                                                         {"+cmd", "'+cmd"},
                                                         {"-2+3", "'-2+3"},
                                                         {"\ttab", "'\ttab"},
                                                         {"=HYPERLINK(\"x\")", "\"'=HYPERLINK(\"\"x\"\")\""},
                                                         {"operator=", "operator="},
                                                         {"a-b", "a-b"},
                                                         {"", ""}};
    for (const auto& [text, cell] : names) {
        table.rows[0][name] = std::string(text);
        const std::string csv = render_csv(table);
        CHECK(csv.ends_with(fmt::format("12345,{}\n", cell)));
    }
}

TEST_CASE("tables as JSON: numbers as they are, what is not known is null") {
    const std::vector<ViewTables> views = {{"some", {sample()}}};
    const auto json = nlohmann::json::parse(render_views_json(views));
    CHECK(json["schema"] == 1);
    const auto& table = json["views"]["some"]["rows"];
    CHECK(table["title"] == "Rows");
    CHECK(table["columns"][1] == nlohmann::json{{"name", "total_ns"}, {"title", "total"}, {"unit", "ns"}});
    CHECK(table["rows"][0]["total_ns"] == 1'500'000);
    CHECK(table["rows"][1]["total_ns"].is_null());
    CHECK(table["rows"][1]["name"] == "second");
    CHECK(table["notes"][0] == "a note");
}

TEST_CASE("several tables of one view stand beside each other in JSON") {
    Table other = sample();
    other.name = "others";
    const std::vector<ViewTables> views = {{"some", {sample()}}, {"some", {other}}};
    const auto json = nlohmann::json::parse(render_views_json(views));
    CHECK(json["views"]["some"].size() == 2);
    CHECK(json["views"]["some"].contains("rows"));
    CHECK(json["views"]["some"].contains("others"));
}

TEST_CASE("a name that does not fit loses its parameters before its template arguments") {
    const std::string name = "void ns::kernel<float, 128>(float*, float const*, int, int)";
    CHECK(fitted_name(name, 100) == name);
    CHECK(fitted_name(name, 32) == "void ns::kernel<float, 128>(\u2026)");
    CHECK(fitted_name("sm80_xmma_fprop", 10) == "sm80_\u2026prop");
    CHECK(fitted_name("operator()", 5) == "op\u2026()");
}

TEST_CASE("kernel names: full, base and mangled") {
    const std::string mangled =
        "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_";
    CHECK(kernel_name(mangled, NameForm::kMangled) == mangled);
    CHECK(kernel_name(mangled, NameForm::kFull).substr(0, 47) == "void at::native::vectorized_elementwise_kernel<");
    CHECK(kernel_name(mangled, NameForm::kBase) == "vectorized_elementwise_kernel");
    CHECK(kernel_name("_ZN12_GLOBAL__N_14scalEPfi", NameForm::kBase) == "scal");
    CHECK(kernel_name("_Z4scalPfi", NameForm::kBase) == "scal");
    CHECK(kernel_name("sm80_xmma_fprop<2>", NameForm::kBase) == "sm80_xmma_fprop<2>");
    CHECK(kernel_name("_ZN3foo3barclEv", NameForm::kBase) == "operator()");
}

TEST_CASE("views have names of their own, and are found by them") {
    for (const View& view : views()) {
        CHECK(find_view(view.name) == &view);
        CHECK(std::string(view.about).size() > 10);
    }
    CHECK(find_view("all") == nullptr);
    CHECK(find_view("") == nullptr);
}
