#include "collector/sink/object_map.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include "collector/ring/owned_fd.hpp"
#include "collector/ring/text.hpp"
#include "collector/sink/loaded_objects.hpp"
#include "collector/sink/memory.hpp"

namespace gpuspy::sink {

namespace {

constexpr std::size_t kNamesBytes = 1U << 20;

struct Counters {
    std::uint64_t adds = 0;
    std::uint64_t subs = 0;
};

int take_counters(dl_phdr_info* info, std::size_t, void* data) noexcept {
    *static_cast<Counters*>(data) = {info->dlpi_adds, info->dlpi_subs};
    return 1;  // The counters are the same in every object.
}

/// The file that `path` leads to, links followed; "" where it cannot be opened.
void resolve_path(const char* path, char* buffer, std::size_t capacity) noexcept {
    buffer[0] = '\0';
    const int fd = ring::open_fd(path, O_PATH | O_CLOEXEC);
    if (fd < 0) {
        return;
    }
    char link[40];
    ring::TextBuilder(link, sizeof link).text("/proc/self/fd/").decimal(static_cast<unsigned>(fd));
    const ssize_t count = readlink(link, buffer, capacity - 1);
    buffer[count > 0 ? count : 0] = '\0';
    ring::close_fd(fd);
}

/// "9.1.0" of ".../libcudnn.so.9.1.0"; "" where there is none, or a single number, which the name of the library says.
const char* version_of(const char* path) noexcept {
    const char* slash = std::strrchr(path, '/');
    const char* mark = std::strstr(slash == nullptr ? path : slash, ".so.");
    return mark == nullptr || std::strchr(mark + 4, '.') == nullptr ? "" : mark + 4;
}

}  // namespace

struct ObjectMap::Object {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint32_t name_offset;
    std::uint32_t reserved;
};

struct ObjectMap::Snapshot {
    Object objects[kMaxObjects];
    char names[kNamesBytes];
    std::size_t names_used;
    std::uint32_t count;
};

bool ObjectMap::changed() const noexcept {
    Counters counters;
    visit_loaded_objects(take_counters, &counters);
    return counters.adds != adds_ || counters.subs != subs_;
}

/// Runs under the loader's lock: copies and nothing else.
int ObjectMap::take(dl_phdr_info* info, std::size_t, void* data) noexcept {
    auto* map = static_cast<ObjectMap*>(data);
    Snapshot& now = *map->now_;
    map->adds_ = info->dlpi_adds;
    map->subs_ = info->dlpi_subs;
    std::uint64_t begin = ~std::uint64_t{0};
    std::uint64_t end = 0;
    for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = info->dlpi_phdr[i];
        if (segment.p_type == PT_LOAD) {
            const std::uint64_t at = info->dlpi_addr + segment.p_vaddr;
            begin = at < begin ? at : begin;
            end = at + segment.p_memsz > end ? at + segment.p_memsz : end;
        }
    }
    const std::size_t name_bytes = std::strlen(info->dlpi_name) + 1;
    if (begin >= end || now.count == kMaxObjects || name_bytes > kNamesBytes - now.names_used) {
        return 0;
    }
    std::memcpy(now.names + now.names_used, info->dlpi_name, name_bytes);
    now.objects[now.count++] = {begin, end, static_cast<std::uint32_t>(now.names_used), 0};
    now.names_used += name_bytes;
    return 0;
}

bool ObjectMap::was_there(const Object& object) const noexcept {
    const char* name = now_->names + object.name_offset;
    for (std::uint32_t i = 0; i < before_->count; ++i) {
        const Object& old = before_->objects[i];
        if (old.begin == object.begin && old.end == object.end &&
            std::strcmp(before_->names + old.name_offset, name) == 0) {
            return true;
        }
    }
    return false;
}

void ObjectMap::snapshot(Visitor visit, void* self) noexcept {
    if (now_ == nullptr) {
        now_ = map_memory<Snapshot>(1);
        before_ = map_memory<Snapshot>(1);
        if (now_ == nullptr || before_ == nullptr) {
            destroy();
            return;
        }
    }
    now_->count = 0;
    now_->names_used = 0;
    visit_loaded_objects(take, this);
    for (std::uint32_t i = 0; i < now_->count; ++i) {
        const Object& object = now_->objects[i];
        if (was_there(object)) {
            continue;
        }
        const char* path = now_->names + object.name_offset;
        char resolved[4096];
        // The program itself has no name.
        resolve_path(path[0] == '\0' ? "/proc/self/exe" : path, resolved, sizeof resolved);
        visit(self, object.begin, object.end, path[0] == '\0' ? resolved : path, version_of(resolved));
    }
    Snapshot* const old = before_;
    before_ = now_;
    now_ = old;
}

void ObjectMap::forget() noexcept {
    adds_ = 0;
    subs_ = 0;
    if (before_ != nullptr) {
        before_->count = 0;
    }
}

void ObjectMap::destroy() noexcept {
    forget();
    unmap_memory(now_, 1);
    unmap_memory(before_, 1);
    now_ = nullptr;
    before_ = nullptr;
}

}  // namespace gpuspy::sink
