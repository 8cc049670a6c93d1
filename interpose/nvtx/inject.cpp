#include "interpose/nvtx/inject.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdio>
#include <cstring>

#include "collector/ring/clock.hpp"
#include "collector/ring/owned_fd.hpp"
#include "interpose/lifecycle/config.hpp"
#include "interpose/nvtx/protocol.hpp"
#include "interpose/nvtx/range_events.hpp"
#include "interpose/resolve/elf.hpp"

namespace gpuspy::hook::nvtx {
namespace {

const Domain& default_domain() noexcept {
    return domain_at(0);
}

RangeText text_of(const char* message) noexcept {
    RangeText text;
    text.narrow(message);
    return text;
}

RangeText text_of(const wchar_t* message) noexcept {
    RangeText text;
    text.wide(message);
    return text;
}

/// Attributes whose version and size their owner did not set are not read.
RangeText text_of(const EventAttributes* attributes) noexcept {
    RangeText text;
    if (attributes == nullptr || attributes->version == 0 || attributes->bytes < sizeof(EventAttributes)) return text;
    switch (attributes->message_type) {
        case kAscii:
            text.narrow(static_cast<const char*>(attributes->message));
            break;
        case kUnicode:
            text.wide(static_cast<const wchar_t*>(attributes->message));
            break;
        case kRegistered: {
            const String* string = string_of(attributes->message);
            text.lasting(string->text, string->bytes);
            break;
        }
        default:
            break;
    }
    return text;
}

// What goes into the tables, by the names that NVTX has for it.

template <class Message>
void mark(const Message* message) {
    set_mark(default_domain(), text_of(message));
}
template <class Message>
std::uint64_t range_start(const Message* message) {
    return start_range(default_domain(), text_of(message));
}
void range_end(std::uint64_t id) {
    end_range(default_domain(), id);
}
template <class Message>
int range_push(const Message* message) {
    return push_range(default_domain(), text_of(message));
}
int range_pop() {
    return pop_range(default_domain());
}

void domain_mark(const void* domain, const EventAttributes* attributes) {
    set_mark(*domain_of(domain), text_of(attributes));
}
std::uint64_t domain_range_start(const void* domain, const EventAttributes* attributes) {
    return start_range(*domain_of(domain), text_of(attributes));
}
void domain_range_end(const void* domain, std::uint64_t id) {
    end_range(*domain_of(domain), id);
}
int domain_range_push(const void* domain, const EventAttributes* attributes) {
    return push_range(*domain_of(domain), text_of(attributes));
}
int domain_range_pop(const void* domain) {
    return pop_range(*domain_of(domain));
}
template <class Character>
const void* register_string(const void*, const Character* string) {
    const RangeText text = text_of(string);
    return make_string(text.data(), text.size());
}
template <class Character>
const void* domain_create(const Character* name) {
    const RangeText text = text_of(name);
    return make_domain(text.data(), text.size());
}
/// Handles stay good: another part of the program may have made the domain too.
void domain_destroy(const void*) {}

struct Entry {
    Module module;
    unsigned id;
    Function function;
};

template <class F>
Function any(F* function) noexcept {
    return reinterpret_cast<Function>(function);
}

/// Names of threads, categories and resources are left to do nothing.
void fill(const CallbackTables& tables) noexcept {
    const Entry entries[] = {
        {kCore, kMarkEx, any(mark<EventAttributes>)},
        {kCore, kMarkA, any(mark<char>)},
        {kCore, kMarkW, any(mark<wchar_t>)},
        {kCore, kRangeStartEx, any(range_start<EventAttributes>)},
        {kCore, kRangeStartA, any(range_start<char>)},
        {kCore, kRangeStartW, any(range_start<wchar_t>)},
        {kCore, kRangeEnd, any(range_end)},
        {kCore, kRangePushEx, any(range_push<EventAttributes>)},
        {kCore, kRangePushA, any(range_push<char>)},
        {kCore, kRangePushW, any(range_push<wchar_t>)},
        {kCore, kRangePop, any(range_pop)},
        {kCore2, kDomainMarkEx, any(domain_mark)},
        {kCore2, kDomainRangeStartEx, any(domain_range_start)},
        {kCore2, kDomainRangeEnd, any(domain_range_end)},
        {kCore2, kDomainRangePushEx, any(domain_range_push)},
        {kCore2, kDomainRangePop, any(domain_range_pop)},
        {kCore2, kDomainRegisterStringA, any(register_string<char>)},
        {kCore2, kDomainRegisterStringW, any(register_string<wchar_t>)},
        {kCore2, kDomainCreateA, any(domain_create<char>)},
        {kCore2, kDomainCreateW, any(domain_create<wchar_t>)},
        {kCore2, kDomainDestroy, any(domain_destroy)},
    };
    for (const Entry& entry : entries) {
        Function** table = nullptr;
        unsigned size = 0;
        if (tables.get(entry.module, &table, &size) == 0 || table == nullptr) continue;
        if (entry.id < size && table[entry.id] != nullptr) *table[entry.id] = entry.function;
    }
}

constinit std::atomic<bool> is_injected{false};

// The drain thread's own.
enum class Told { kNothing, kNotInjected, kInjected };
constinit Told told = Told::kNothing;
constinit bool told_shortage = false;

bool is_same_file(const char* one, const char* other) noexcept {
    const auto identify = [](const char* path, struct stat* result) {
        const int fd = ring::open_fd(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd < 0) return false;
        const bool good = ring::stat_fd(fd, result) == 0;
        ring::close_fd(fd);
        return good;
    };
    struct stat a {};
    struct stat b {};
    return identify(one, &a) && identify(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

void describe_absence(char* into, std::size_t capacity) noexcept {
    const char* path = config().nvtx_injection;
    elf::Object self;
    if (path[0] == 0) {
        snprintf(into, capacity, "not injected: NVTX_INJECTION64_PATH was not set when the program started");
    } else if (elf::find_object(reinterpret_cast<const void*>(&describe_absence), &self) &&
               is_same_file(path, self.path)) {
        snprintf(into, capacity, "not injected: the program has made no NVTX call");
    } else {
        snprintf(into, capacity, "not injected: NVTX_INJECTION64_PATH names %s", path);
    }
}

}  // namespace

void write_facts(sink::RecordSink& sink) noexcept {
    if (is_injected.load(std::memory_order_relaxed)) {
        if (told != Told::kInjected) sink.info("nvtx", "injected");
        told = Told::kInjected;
    } else if (told == Told::kNothing) {
        char text[1200];
        describe_absence(text, sizeof text);
        sink.info("nvtx", text);
        told = Told::kNotInjected;
    }
    if (const char* text = shortage(); text != nullptr && !told_shortage) {
        told_shortage = true;
        sink.notice(ring::ticks(), text);
    }
}

void forget_facts() noexcept {
    told = Told::kNothing;
    told_shortage = false;
}

}  // namespace gpuspy::hook::nvtx

/// By NVTX in each object of the program that carries it. 0: NVTX is to do as if there were no tool.
extern "C" [[gnu::visibility("default")]] int InitializeInjectionNvtx2(
    gpuspy::hook::nvtx::GetExportTable get_export_table) noexcept {
    using namespace gpuspy::hook;
    using namespace gpuspy::hook::nvtx;
    if (config().disabled || get_export_table == nullptr) return 0;
    const auto* tables = static_cast<const CallbackTables*>(get_export_table(kCallbacks));
    if (tables == nullptr || tables->bytes < sizeof(CallbackTables) || tables->get == nullptr) return 0;
    const auto* version = static_cast<const VersionInfo*>(get_export_table(kVersionInfo));
    if (version != nullptr && version->bytes >= sizeof(VersionInfo) && version->set_injection_version != nullptr) {
        version->set_injection_version(kVersion);
    }
    fill(*tables);
    is_injected.store(true, std::memory_order_relaxed);
    return 1;
}
