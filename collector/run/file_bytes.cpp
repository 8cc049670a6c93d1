#include "collector/run/file_bytes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <string_view>

namespace gpuspy::run {

FileBytes::FileBytes(const std::string& path) {
    fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status {};
    if (fd_ < 0 || fstat(fd_, &status) != 0) {
        error_ = errno;
    } else if (S_ISDIR(status.st_mode)) {
        error_ = EISDIR;
    } else if (!S_ISREG(status.st_mode)) {
        error_ = EACCES;  // What exec says of them.
    } else {
        size_ = static_cast<std::uint64_t>(status.st_size);
    }
}

FileBytes::~FileBytes() {
    if (fd_ >= 0) {
        close(fd_);
    }
}

bool FileBytes::read(std::uint64_t offset, void* into, std::size_t bytes) const {
    if (offset > size_ || bytes > size_ - offset) {
        return false;
    }
    auto* at = static_cast<char*>(into);
    while (bytes > 0) {
        const ssize_t count = pread(fd_, at, bytes, static_cast<off_t>(offset));
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return false;
        }
        at += count;
        offset += static_cast<std::uint64_t>(count);
        bytes -= static_cast<std::size_t>(count);
    }
    return true;
}

bool FileBytes::read_text(std::uint64_t offset, std::uint64_t end, std::string* text) const {
    end = std::min(end, size_);
    if (offset >= end) {
        return false;
    }
    text->resize(static_cast<std::size_t>(std::min<std::uint64_t>(end - offset, PATH_MAX)));
    if (!read(offset, text->data(), text->size())) {
        return false;
    }
    const std::size_t length = text->find('\0');
    if (length == std::string::npos) {
        return false;
    }
    text->resize(length);
    return true;
}

std::vector<bool> FileBytes::find_texts(const std::vector<std::string>& texts) const {
    constexpr std::uint64_t kChunkBytes = 1 << 20;
    std::vector<bool> found(texts.size(), false);
    std::size_t overlap = 0;
    for (const std::string& text : texts) {
        overlap = std::max(overlap, text.size());  // With the zero byte one more than what a chunk may cut off.
    }
    std::string chunk;
    for (std::uint64_t offset = 0; offset < size_; offset += kChunkBytes) {
        chunk.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kChunkBytes + overlap, size_ - offset)));
        if (!read(offset, chunk.data(), chunk.size())) {
            break;
        }
        for (std::size_t i = 0; i < texts.size(); ++i) {
            const std::string_view whole(texts[i].c_str(), texts[i].size() + 1);
            found[i] = found[i] || std::string_view(chunk).find(whole) != std::string_view::npos;
        }
    }
    return found;
}

}  // namespace gpuspy::run
