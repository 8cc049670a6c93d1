// The report as a page: one file that needs nothing else and opens offline. What it shows is the JSON of the other renderers,
// embedded; analysis/render/html holds the page itself.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpuspy::analysis {

/// Each JSON text may be empty: the page then has no such part.
struct HtmlParts {
    std::string title;     ///< What the report is of: the trace's path.
    std::string part;      ///< Which part of the recording the views and the timeline show; empty: all of it.
    std::string report;    ///< render_json()
    std::string views;     ///< render_views_json()
    std::string overview;  ///< render_overview_json()
    std::string names;     ///< render_names_json(), of kernels that no overview names.
    std::size_t top = 20;  ///< Rows of each table that are shown at first; 0: all.
};

std::string render_html(const HtmlParts& parts);

/// JSON text that means the same and that nothing inside a <script> element ends or opens: no '<', '>', '&', U+2028 or U+2029.
std::string json_for_script(std::string_view json);

}  // namespace gpuspy::analysis
