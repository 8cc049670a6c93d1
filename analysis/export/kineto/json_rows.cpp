#include "analysis/export/kineto/json_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace gpuspy::analysis::kineto {
namespace {

constexpr std::size_t kBufferBytes = 1 << 20;

}  // namespace

std::string quoted(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string microseconds(std::int64_t ns) {
    const std::uint64_t size = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
    return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", size / 1000, size % 1000);
}

std::int64_t integer(std::uint64_t value) {
    return static_cast<std::int64_t>(std::min<std::uint64_t>(value, std::numeric_limits<std::int64_t>::max()));
}

void RowWriter::text(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= kBufferBytes) {
        flush();
    }
}

void RowWriter::row(std::string_view object) {
    text(first_ ? "\n" : ",\n");
    first_ = false;
    text(object);
}

bool RowWriter::flush() {
    good_ = good_ && sink_.write(buffer_);
    buffer_.clear();
    return good_;
}

}  // namespace gpuspy::analysis::kineto
