#include "interpose/nvtx/text.hpp"

#include <catch2/catch.hpp>
#include <string>

using gpuspy::hook::nvtx::cut_text;
using gpuspy::hook::nvtx::Text;

namespace {

template <std::size_t kMaxBytes>
std::string narrow(const char* from) {
    Text<kMaxBytes> text;
    text.narrow(from);
    return {text.data(), text.size()};
}

template <std::size_t kMaxBytes>
std::string wide(const wchar_t* from) {
    Text<kMaxBytes> text;
    text.wide(from);
    return {text.data(), text.size()};
}

}  // namespace

TEST_CASE("texts are cut at a whole character") {
    const auto cut = [](const std::string& text, std::size_t limit) {
        return cut_text(text.data(), text.size(), limit);
    };
    CHECK(cut("", 0) == 0);
    CHECK(cut("abc", 3) == 3);
    CHECK(cut("abc", 2) == 2);
    CHECK(cut("abc", 0) == 0);
    const std::string euro = "a\xe2\x82\xac";
    CHECK(cut(euro, 4) == 4);
    CHECK(cut(euro, 3) == 1);
    CHECK(cut(euro, 2) == 1);
    CHECK(cut("\xf0\x9f\x98\x80", 3) == 0);
    // No UTF-8: nothing to keep whole.
    CHECK(cut("\x80\x80\x80\x80\x80\x80", 5) == 5);
    CHECK(cut("\x80\x80", 1) == 1);
}

TEST_CASE("narrow texts") {
    CHECK(narrow<8>(nullptr).empty());
    CHECK(narrow<8>("").empty());
    CHECK(narrow<8>("12345678") == "12345678");
    CHECK(narrow<8>("123456789") == "12345678");
    CHECK(narrow<8>("1234567\xc3\xa4") == "1234567");
}

TEST_CASE("wide texts become UTF-8") {
    CHECK(wide<8>(nullptr).empty());
    CHECK(wide<8>(L"").empty());
    CHECK(wide<16>(L"a\u00e4\u20ac\U0001F600") == "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
    CHECK(wide<16>(L"\u007f\u0080\u07ff\u0800\uffff") == "\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf");
    CHECK(wide<8>(L"\U00010000\U0010ffff") == "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf");
    CHECK(wide<8>(L"1234567\u00e4") == "1234567");
    const wchar_t no_characters[] = {0xd800, 0xdfff, 0x110000, 0};
    CHECK(wide<9>(no_characters) == "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    const wchar_t negative[] = {static_cast<wchar_t>(-1), 0};
    CHECK(wide<8>(negative) == "\xef\xbf\xbd");
}
