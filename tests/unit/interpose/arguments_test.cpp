#include "interpose/record/arguments.hpp"

#include <catch2/catch.hpp>

using namespace gpuspy::hook;

TEST_CASE("the fields of a row are taken apart") {
    constexpr Fields fields = parse_fields("comm:0* n:1@2i flags:3u buf:4#15 stream:6s last:10l h:11% t:12B13,14");
    STATIC_REQUIRE(fields.count == 8);
    STATIC_REQUIRE(fields.unless.holds_none());
    CHECK(fields.at[0].place == 0);
    CHECK(fields.at[0].kind == FieldKind::kPointed64);
    CHECK(fields.at[1].kind == FieldKind::kArray32);
    CHECK(fields.at[1].count_place == 2);
    CHECK(fields.at[2].kind == FieldKind::kUnsigned32);
    CHECK(fields.at[3].kind == FieldKind::kBytes);
    CHECK(fields.at[3].count_place == 15);
    CHECK(fields.at[4].kind == FieldKind::kStream);
    CHECK(fields.at[5].place == 10);
    CHECK(fields.at[5].kind == FieldKind::kWord);
    CHECK(fields.at[6].kind == FieldKind::kPointed32);
    CHECK(fields.at[7].kind == FieldKind::kTyped);
    CHECK(fields.at[7].count_place == 13);
    CHECK(fields.at[7].type_place == 14);
}

TEST_CASE("no fields, and calls that are not recorded by a value") {
    STATIC_REQUIRE(parse_fields("").count == 0);
    constexpr Fields fields = parse_fields("name:1!1000-1012 name:1i");
    STATIC_REQUIRE(fields.count == 1);
    STATIC_REQUIRE_FALSE(fields.unless.holds_none());
    CHECK(fields.unless.place == 1);
    CHECK(fields.unless.first == 1000);
    CHECK(fields.unless.last == 1012);
    CHECK(fields.at[0].kind == FieldKind::kSigned32);
}

TEST_CASE("elements of cuDNN's attributes: sizes by type") {
    CHECK(element_bytes(3) == 8);   // CUDNN_TYPE_INT64
    CHECK(element_bytes(15) == 8);  // CUDNN_TYPE_BACKEND_DESCRIPTOR
    CHECK(element_bytes(2) == 1);   // CUDNN_TYPE_BOOLEAN
    CHECK(element_bytes(1) == 4);   // CUDNN_TYPE_DATA_TYPE
    CHECK(element_bytes(26) == 16);
}
