#include "collector/run/loader_cache.hpp"

#include <cstdint>
#include <cstring>

namespace gpuspy::run {

namespace {

struct Header {
    char magic[20];  ///< With the version, no zero byte.
    std::uint32_t count;
    std::uint32_t text_bytes;
    std::uint8_t flags;
    std::uint8_t padding[3];
    std::uint32_t extension_offset;
    std::uint32_t unused[3];
};
static_assert(sizeof(Header) == 48);

struct Entry {
    std::int32_t flags;
    std::uint32_t name;  ///< Offsets from the header.
    std::uint32_t path;
    std::uint32_t os_version;
    std::uint64_t hwcap;
};
static_assert(sizeof(Entry) == 24);

constexpr char kMagic[] = "glibc-ld.so.cache1.1";
constexpr char kOldMagic[] = "ld.so-1.7.0";
constexpr std::int32_t kLibc6X8664 = 0x0303;

/// Behind an old cache (a header of 16 bytes, entries of 12) the new one begins at the next multiple of 8.
std::uint64_t find_header(const FileBytes& cache) {
    struct {
        char magic[12];
        std::uint32_t count;
    } old{};
    if (!cache.read(0, &old, sizeof old) || std::memcmp(old.magic, kOldMagic, sizeof kOldMagic - 1) != 0) {
        return 0;
    }
    return (sizeof old + std::uint64_t{old.count} * 12 + 7) / 8 * 8;
}

}  // namespace

std::vector<std::string> find_in_loader_cache(const FileBytes& cache, const std::string& name) {
    std::vector<std::string> paths;
    const std::uint64_t start = find_header(cache);
    Header header{};
    if (!cache.read(start, &header, sizeof header) || std::memcmp(header.magic, kMagic, sizeof header.magic) != 0 ||
        header.count > cache.size() / sizeof(Entry)) {
        return paths;
    }
    std::vector<Entry> entries(header.count);
    if (!cache.read(start + sizeof header, entries.data(), entries.size() * sizeof(Entry))) {
        return paths;
    }
    std::string text;
    for (const Entry& entry : entries) {
        if (entry.flags == kLibc6X8664 && cache.read_text(start + entry.name, cache.size(), &text) && text == name &&
            cache.read_text(start + entry.path, cache.size(), &text)) {
            paths.push_back(text);
        }
    }
    return paths;
}

}  // namespace gpuspy::run
