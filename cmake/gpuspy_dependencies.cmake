# Libraries that are not ours, as Debian 12 packages them. scripts/setup.sh installs what is missing.
#
#   zstd::libzstd_static          libgpuspy.so and the reader: the archive, never the shared library
#   fmt::fmt-header-only, spdlog::spdlog_header_only, CLI11::CLI11
#                                 the programs: they are carried to machines that have none of these
#   nlohmann_json::nlohmann_json  tests: what reads our JSON back
#   GPUSPY_CHART_JS, GPUSPY_D3_JS files that the HTML report contains: charts, and the timeline and tables
#   Catch2::Catch2WithMain        tests (version 2)
#   <xxhash.h>                    with XXH_INLINE_ALL: headers alone

set(missing "")
set(wanted fmt:libfmt-dev spdlog:libspdlog-dev CLI11:libcli11-dev zstd:libzstd-dev nlohmann_json:nlohmann-json3-dev)
if(GPUSPY_TESTS)
    list(APPEND wanted Catch2:catch2)
endif()
foreach(entry IN LISTS wanted)
    string(REPLACE ":" ";" entry ${entry})
    list(GET entry 0 package)
    list(GET entry 1 debian_name)
    find_package(${package} QUIET)
    if(NOT ${package}_FOUND)
        list(APPEND missing ${debian_name})
    endif()
endforeach()
find_path(XXHASH_INCLUDE_DIR xxhash.h)
mark_as_advanced(XXHASH_INCLUDE_DIR)
if(NOT XXHASH_INCLUDE_DIR)
    list(APPEND missing libxxhash-dev)
endif()
# Scripts: not where headers and libraries are looked for.
find_file(GPUSPY_CHART_JS chart.min.js PATHS /usr/share/javascript/chart.js NO_DEFAULT_PATH)
find_file(GPUSPY_D3_JS d3.min.js PATHS /usr/share/nodejs/d3/dist NO_DEFAULT_PATH)
mark_as_advanced(GPUSPY_CHART_JS GPUSPY_D3_JS)
if(NOT GPUSPY_CHART_JS)
    list(APPEND missing libjs-chart.js)
endif()
if(NOT GPUSPY_D3_JS)
    list(APPEND missing node-d3)
endif()
if(missing)
    list(JOIN missing " " missing)
    message(FATAL_ERROR "not installed: ${missing}: run scripts/setup.sh, or apt-get install ${missing}")
endif()
