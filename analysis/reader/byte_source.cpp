#include "analysis/reader/byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace gpuspy::analysis {
namespace {

class FileSource : public ByteSource {
public:
    FileSource(int descriptor, std::uint64_t size_bytes) : descriptor_(descriptor), size_bytes_(size_bytes) {}
    FileSource(const FileSource&) = delete;
    FileSource& operator=(const FileSource&) = delete;
    ~FileSource() override { ::close(descriptor_); }

    [[nodiscard]] std::uint64_t size_bytes() const override { return size_bytes_; }

    std::size_t read_at(std::uint64_t offset, std::span<std::byte> out) const override {
        std::size_t done = 0;
        while (done < out.size()) {
            const ssize_t got =
                ::pread(descriptor_, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
            if (got < 0 && errno == EINTR) {
                continue;
            }
            if (got <= 0) {
                break;
            }
            done += static_cast<std::size_t>(got);
        }
        return done;
    }

private:
    int descriptor_;
    std::uint64_t size_bytes_;
};

Fault cannot_open(const std::string& why) {
    return Fault{ExitCode::kCannotOpen, "cannot be opened: " + why};
}

}  // namespace

std::size_t MemorySource::read_at(std::uint64_t offset, std::span<std::byte> out) const {
    if (offset >= bytes_.size()) {
        return 0;
    }
    const std::size_t count = std::min<std::size_t>(out.size(), bytes_.size() - static_cast<std::size_t>(offset));
    if (count != 0) {
        std::memcpy(out.data(), bytes_.data() + offset, count);
    }
    return count;
}

Result<std::unique_ptr<ByteSource>> open_file(const std::string& path) {
    // O_NONBLOCK: a FIFO without a writer must give a line, not wait for ever.
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) {
        return cannot_open(std::strerror(errno));
    }
    struct stat status {};
    if (::fstat(descriptor, &status) != 0) {
        const int error = errno;
        ::close(descriptor);
        return cannot_open(std::strerror(error));
    }
    if (!S_ISREG(status.st_mode)) {
        ::close(descriptor);
        return cannot_open(S_ISDIR(status.st_mode) ? "it is a directory; name the trace file in it"
                                                   : "it is not a regular file");
    }
    return std::unique_ptr<ByteSource>(
        std::make_unique<FileSource>(descriptor, static_cast<std::uint64_t>(status.st_size)));
}

}  // namespace gpuspy::analysis
