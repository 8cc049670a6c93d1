// What a sweep runs: parameters, their product, placeholders in the command.
#include <catch2/catch.hpp>

#include "collector/run/sweep_plan.hpp"

using namespace gpuspy::run;

namespace {

std::string filled(const std::string& text, const Setting& setting) {
    std::string result;
    CHECK(fill(text, setting, &result) == "");
    return result;
}

std::string fault(const std::string& text, const Setting& setting) {
    std::string result;
    return fill(text, setting, &result);
}

std::string fault_of_parameter(const std::string& text) {
    Parameter parameter;
    return read_parameter(text, &parameter);
}

}  // namespace

TEST_CASE("a parameter and its values") {
    Parameter parameter;
    CHECK(read_parameter("batch=1,8,32", &parameter) == "");
    CHECK(parameter.name == "batch");
    CHECK(parameter.values == std::vector<std::string>{"1", "8", "32"});
    CHECK(read_parameter("flag=--fast=yes", &parameter) == "");
    CHECK(parameter.values == std::vector<std::string>{"--fast=yes"});
    CHECK(fault_of_parameter("batch").find("say NAME=VALUE") != std::string::npos);
    CHECK(fault_of_parameter("=1").find("say NAME=VALUE") != std::string::npos);
    CHECK(fault_of_parameter("a b=1").find("say NAME=VALUE") != std::string::npos);
    CHECK(fault_of_parameter("batch=").find("empty value") != std::string::npos);
    CHECK(fault_of_parameter("batch=1,,2").find("empty value") != std::string::npos);
    CHECK(fault_of_parameter("batch=1,2,1").find("value 1 twice") != std::string::npos);
}

TEST_CASE("settings are the product of the values, the last parameter fastest") {
    const auto settings = settings_of({{"batch", {"1", "8"}}, {"lr", {"0.1", "0.2", "0.3"}}});
    REQUIRE(settings.size() == 6);
    CHECK(describe(settings[0]) == "batch=1 lr=0.1");
    CHECK(describe(settings[2]) == "batch=1 lr=0.3");
    CHECK(describe(settings[3]) == "batch=8 lr=0.1");
    CHECK(describe(settings[5]) == "batch=8 lr=0.3");
}

TEST_CASE("a placeholder is its parameter's value, two braces are one") {
    const Setting setting = {{"batch", "8"}, {"lr", "0.1"}};
    CHECK(filled("--batch={batch},{lr}", setting) == "--batch=8,0.1");
    CHECK(filled("{{batch}}", setting) == "{batch}");
    CHECK(filled("{{\"b\": {batch}}}", setting) == "{\"b\": 8}");
    CHECK(filled("plain", setting) == "plain");
    CHECK(filled("", setting) == "");
    CHECK(fault("{bacth}", setting) == "\"{bacth}\": there is no parameter {bacth}; there are: {batch}, {lr}");
    for (const char* bad : {"{", "}", "{batch", "a}b", "{}", "{ batch}", "{\"a\": 1}"}) {
        INFO(bad);
        CHECK(fault(bad, setting).find("or is written twice for itself") != std::string::npos);
    }
}

TEST_CASE("a value with braces in it is not looked into") {
    CHECK(filled("{a}", {{"a", "{b}"}, {"b", "x"}}) == "{b}");
}

TEST_CASE("names of traces are told apart and harmless") {
    CHECK(trace_name({{"batch", "8"}, {"lr", "0.1"}}, 1, 0, 1) == "02_batch=8_lr=0.1.bin");
    CHECK(trace_name({{"batch", "8"}}, 0, 2, 3) == "01_batch=8.run3.bin");
    CHECK(trace_name({{"path", "/a b;c%d"}}, 11, 0, 1) == "12_path=_a_b_c_d.bin");
    CHECK(trace_name({{"long", std::string(500, 'x')}}, 0, 0, 1).size() < 120);
}

TEST_CASE("a number of images, or a product") {
    CHECK(image_count("6400") == 6400);
    CHECK(image_count("8*100") == 800);
    CHECK(image_count("0.5*3*2") == 3);
    for (const char* bad : {"", "x", "0", "-1", "8*", "*8", "8 * 2", "1e3", "inf", "8x"}) {
        INFO(bad);
        CHECK(image_count(bad) == 0);
    }
}
