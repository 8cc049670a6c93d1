#include "analysis/render/html.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

// The page that analysis/render/html/assemble.cmake put together: html_page.S.in.
extern "C" {
extern const char gpuspy_html_page_begin[];
extern const char gpuspy_html_page_end[];
}

namespace gpuspy::analysis {
namespace {

/// Where the data stand in the page.
constexpr std::string_view kPlace = "@GPUSPY_DATA@";

std::string string_json(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string json_for_script(std::string_view json) {
    // All of these can stand in strings alone, where an escape means the same.
    constexpr std::string_view kSeparators = "\xe2\x80";  // U+2028 and U+2029, but for the last byte
    std::string out;
    out.reserve(json.size() + json.size() / 16);
    for (std::size_t i = 0; i < json.size(); ++i) {
        const char c = json[i];
        const char last = json.size() - i > 2 && json.substr(i, 2) == kSeparators ? json[i + 2] : '\0';
        if (c == '<' || c == '>' || c == '&') {
            out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else if (last == '\xa8' || last == '\xa9') {
            out += last == '\xa8' ? "\\u2028" : "\\u2029";
            i += 2;
        } else {
            out += c;
        }
    }
    return out;
}

std::string render_html(const HtmlParts& parts) {
    const std::string_view page(gpuspy_html_page_begin,
                                static_cast<std::size_t>(gpuspy_html_page_end - gpuspy_html_page_begin));
    const auto or_null = [](const std::string& json) { return json.empty() ? std::string_view("null") : json; };
    const std::string data =
        fmt::format(R"({{"title":{},"part":{},"top":{},"report":{},"views":{},"overview":{},"names":{}}})",
                    string_json(parts.title), string_json(parts.part), parts.top, or_null(parts.report),
                    or_null(parts.views), or_null(parts.overview), or_null(parts.names));
    const std::size_t place = page.find(kPlace);
    std::string out(page.substr(0, place));
    out += json_for_script(data);
    out += page.substr(place + kPlace.size());
    return out;
}

}  // namespace gpuspy::analysis
