# Libraries that are not ours, as Debian 12 packages them. scripts/setup.sh installs what is missing.
#
#   zstd::libzstd_static          libgpuspy.so and the reader: the archive, never the shared library
#   fmt::fmt-header-only, spdlog::spdlog_header_only, CLI11::CLI11
#                                 the programs: they are carried to machines that have none of these
#   nlohmann_json::nlohmann_json  tests: what reads our JSON back
#   GPUSPY_CHART_JS, GPUSPY_D3_JS files that the HTML report contains: charts, and the timeline and tables
#   gpuspy_protobuf_lite()        exports: messages of .proto files, with the archive
#   gpuspy_static_sqlite, gpuspy_static_zlib
#                                 exports: the archives, never the shared libraries
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
find_path(SQLITE3_INCLUDE_DIR sqlite3.h)
find_library(SQLITE3_ARCHIVE libsqlite3.a)
mark_as_advanced(SQLITE3_INCLUDE_DIR SQLITE3_ARCHIVE)
if(SQLITE3_INCLUDE_DIR AND SQLITE3_ARCHIVE)
    add_library(gpuspy_static_sqlite INTERFACE)
    target_include_directories(gpuspy_static_sqlite SYSTEM INTERFACE ${SQLITE3_INCLUDE_DIR})
    target_link_libraries(gpuspy_static_sqlite INTERFACE ${SQLITE3_ARCHIVE} m ${CMAKE_DL_LIBS})
else()
    list(APPEND missing libsqlite3-dev)
endif()
# Not find_package(Protobuf): it wants the whole library and its shared form first.
find_program(PROTOC protoc)
find_path(PROTOBUF_INCLUDE_DIR google/protobuf/message_lite.h)
find_library(PROTOBUF_LITE_ARCHIVE libprotobuf-lite.a)
mark_as_advanced(PROTOC PROTOBUF_INCLUDE_DIR PROTOBUF_LITE_ARCHIVE)
if(NOT PROTOC)
    list(APPEND missing protobuf-compiler)
endif()
if(NOT PROTOBUF_INCLUDE_DIR OR NOT PROTOBUF_LITE_ARCHIVE)
    list(APPEND missing libprotobuf-dev)
endif()
find_path(ZLIB_INCLUDE_DIR zlib.h)
find_library(ZLIB_ARCHIVE libz.a)
mark_as_advanced(ZLIB_INCLUDE_DIR ZLIB_ARCHIVE)
if(ZLIB_INCLUDE_DIR AND ZLIB_ARCHIVE)
    add_library(gpuspy_static_zlib INTERFACE)
    target_include_directories(gpuspy_static_zlib SYSTEM INTERFACE ${ZLIB_INCLUDE_DIR})
    target_link_libraries(gpuspy_static_zlib INTERFACE ${ZLIB_ARCHIVE})
else()
    list(APPEND missing zlib1g-dev)
endif()
if(missing)
    list(JOIN missing " " missing)
    message(FATAL_ERROR "not installed: ${missing}: run scripts/setup.sh, or apt-get install ${missing}")
endif()

# gpuspy_protobuf_lite(TARGET FILE): the messages of a .proto file of this folder as sources of TARGET, under the path that the
# file has in the repository. Generated code does not know our warnings.
function(gpuspy_protobuf_lite target file)
    cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE folder)
    string(REGEX REPLACE "\\.proto$" "" stem ${folder}/${file})
    set(generated ${PROJECT_BINARY_DIR}/generated)
    file(MAKE_DIRECTORY ${generated})
    add_custom_command(
        OUTPUT ${generated}/${stem}.pb.cc ${generated}/${stem}.pb.h
        COMMAND ${PROTOC} --proto_path=${PROJECT_SOURCE_DIR} --cpp_out=${generated} ${stem}.proto
        DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file} VERBATIM)
    target_sources(${target} PRIVATE ${generated}/${stem}.pb.cc ${generated}/${stem}.pb.h)
    target_compile_options(${target} PRIVATE -w)
    target_include_directories(${target} SYSTEM PUBLIC ${generated} ${PROTOBUF_INCLUDE_DIR})
    target_link_libraries(${target} PUBLIC ${PROTOBUF_LITE_ARCHIVE} Threads::Threads)
endfunction()
