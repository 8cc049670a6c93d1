#include "interpose/resolve/bypass.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>

#include "collector/ring/owned_fd.hpp"
#include "interpose/lifecycle/config.hpp"
#include "interpose/lifecycle/lock.hpp"
#include "interpose/lifecycle/memory.hpp"
#include "interpose/record/thread.hpp"
#include "interpose/resolve/originals.hpp"
#include "interpose/resolve/real_dl.hpp"
#include "interpose/resolve/text.hpp"
#include "interpose/resolve/tools.hpp"
#include "interpose/table/hooks.hpp"

namespace gpuspy::hook {
namespace {

constexpr const char* kLookUps[] = {"dlsym", "dlvsym", "dlerror", "dlclose"};

bool is_look_up(const char* name) noexcept {
    for (const char* known : kLookUps) {
        if (text::equal(name, known)) return true;
    }
    return false;
}

bool is_wanted(const char* name) noexcept {
    return find_hook(name) != HookId::kCount || is_look_up(name);
}

enum class Kind : unsigned char { kLedBack, kNotLedBack, kNamespace };

struct Finding {
    const void* dynamic;
    char name[112];
    Kind kind;
    bool is_told;
};
constexpr std::uint32_t kMaxFindings = 64;
constinit Finding findings[kMaxFindings]{};
constinit std::uint32_t finding_count = 0;
constinit SetUpLock findings_lock;

/// What was looked at. Only hints that save work: threads that look at the same time do the same twice.
struct Seen {
    std::atomic<unsigned long long> adds{0};
    std::atomic<unsigned long long> subs{0};
    std::atomic<std::uint32_t> objects{0};
};
constinit Seen seen_by_look_ups;
constinit Seen seen_by_drain;
constinit std::atomic<unsigned long long> namespaces_seen_adds{0};

void note(const void* dynamic, const char* name, Kind kind) noexcept {
    const Locked guard(findings_lock);
    for (std::uint32_t i = 0; i < finding_count; ++i) {
        Finding& finding = findings[i];
        if (finding.dynamic != dynamic || !text::equal(finding.name, name)) continue;
        // Found by the drain thread first, led back later.
        if (kind == Kind::kLedBack) finding.kind = kind;
        return;
    }
    if (finding_count == kMaxFindings) return;
    Finding& finding = findings[finding_count];
    finding.dynamic = dynamic;
    std::size_t length = 0;
    for (; name[length] != 0 && length + 1 < sizeof finding.name; ++length) finding.name[length] = name[length];
    finding.name[length] = 0;
    finding.kind = kind;
    finding.is_told = false;
    ++finding_count;
}

struct Scan {
    std::uint32_t index;
    std::uint32_t skip;   ///< Objects before it were looked at.
    std::uint32_t limit;  ///< Objects from here on may be half loaded.
    bool leads_back;      ///< Else it only looks.
    std::uint32_t our_index;
    bool passed_us;
    elf::Object ours;
    elf::Object object;  ///< The one that is being looked at.
};

struct Holder {
    const void* address;
    elf::Object object;
    std::uint32_t index;
    bool is_found;
};

bool visit_holder(void* context, const elf::Object& object) noexcept {
    auto& holder = *static_cast<Holder*>(context);
    holder.is_found = object.covers(holder.address);
    if (holder.is_found) holder.object = object;
    if (!holder.is_found) ++holder.index;
    return holder.is_found;
}

struct Earlier {
    const char* name;
    bool is_defined;
};

bool visit_earlier(void* context, const elf::Object& object) noexcept {
    auto& earlier = *static_cast<Earlier*>(context);
    if (is_ours(object.dynamic)) return true;
    earlier.is_defined = elf::find_symbol(object, earlier.name) != nullptr;
    return earlier.is_defined;
}

bool is_defined_before_us(const char* name) noexcept {
    Earlier earlier{name, false};
    elf::for_each_object(visit_earlier, &earlier);
    return earlier.is_defined;
}

bool store(const elf::Object& object, void** place, void* value) noexcept {
    const auto at = reinterpret_cast<ElfW(Addr)>(place);
    const auto page_bytes = static_cast<ElfW(Addr)>(sysconf(_SC_PAGESIZE));
    void* page = reinterpret_cast<void*>(at & ~(page_bytes - 1));
    const bool is_read_only = at >= object.relro_begin && at < object.relro_end;
    if (is_read_only && mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0) return false;
    __atomic_store_n(place, value, __ATOMIC_RELEASE);
    if (is_read_only) mprotect(page, page_bytes, PROT_READ);
    return true;
}

void visit_binding(void* context, const elf::Binding& binding) noexcept {
    const auto& scan = *static_cast<const Scan*>(context);
    if (!is_wanted(binding.name)) return;
    void* bound = __atomic_load_n(binding.place, __ATOMIC_RELAXED);
    if (bound == nullptr || is_ours(bound)) return;
    void* hook = elf::find_symbol(scan.ours, binding.name);
    if (hook == nullptr) return;
    if (scan.object.covers(bound)) {
        // Not bound yet. At its first call the loader would choose us, or go past us.
        if (scan.leads_back && binding.is_call_slot && !is_defined_before_us(binding.name)) {
            store(scan.object, binding.place, hook);
        }
        return;
    }
    Holder holder{bound, {}, 0, false};
    elf::for_each_object(visit_holder, &holder);
    // What comes before us is bound rightly.
    if (!holder.is_found || holder.index <= scan.our_index) return;
    if (is_look_up(binding.name)) {
        // The C library's, in one of its versions: another tool's is meant to be reached.
        const char* name = elf::soname(holder.object);
        if (!text::starts_with(name, "libc.so") && !text::starts_with(name, "libdl.so")) return;
    } else if (elf::find_symbol(holder.object, binding.name) != bound) {
        return;
    }
    const bool is_led_back = scan.leads_back && store(scan.object, binding.place, hook);
    note(scan.object.dynamic, elf::soname(scan.object), is_led_back ? Kind::kLedBack : Kind::kNotLedBack);
}

bool visit_object(void* context, const elf::Object& object) noexcept {
    auto& scan = *static_cast<Scan*>(context);
    const std::uint32_t index = scan.index++;
    if (!scan.passed_us) {
        scan.passed_us = is_ours(object.dynamic);
        scan.our_index = index;
        scan.ours = object;
        return false;
    }
    if (index >= scan.limit) return true;
    if (index < scan.skip || is_tool(object) || !elf::refers_to(object, is_wanted)) return false;
    scan.object = object;
    elf::for_each_binding(object, visit_binding, &scan);
    return false;
}

bool is_cuda_library(const char* path) noexcept {
    const char* name = text::last_part(path);
    return text::starts_with(name, "libcuda.so") || text::starts_with(name, "libcudart");
}

/// One line of /proc/self/maps: "begin-end rights offset device inode   path".
void look_at_mapping(char* line) noexcept {
    ElfW(Addr) begin = 0;
    for (; *line != '-' && *line != 0; ++line) {
        const unsigned digit = static_cast<unsigned>(*line <= '9' ? *line - '0' : *line - 'a' + 10);
        begin = begin << 4 | digit;
    }
    const char* path = text::find(line, " /");
    elf::Object object;
    if (path == nullptr || !is_cuda_library(path) || elf::find_object(reinterpret_cast<void*>(begin), &object)) return;
    note(nullptr, text::last_part(path), Kind::kNamespace);
}

void read_mappings() noexcept {
    constexpr std::size_t kBufferBytes = 64 << 10;
    auto* buffer = static_cast<char*>(map_memory(kBufferBytes));
    const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    std::size_t held = 0;
    for (ssize_t got = 1; buffer != nullptr && fd >= 0 && got > 0;) {
        got = read(fd, buffer + held, kBufferBytes - 1 - held);
        if (got <= 0) break;
        held += static_cast<std::size_t>(got);
        std::size_t begin = 0;
        for (std::size_t i = 0; i < held; ++i) {
            if (buffer[i] != '\n') continue;
            buffer[i] = 0;
            look_at_mapping(buffer + begin);
            begin = i + 1;
        }
        if (begin == 0) break;  // a line that fills the buffer: no file of ours
        for (std::size_t i = begin; i < held; ++i) buffer[i - begin] = buffer[i];
        held -= begin;
    }
    if (fd >= 0) close(fd);
    if (buffer != nullptr) munmap(buffer, kBufferBytes);
}

bool count_object(void* context, const elf::Object&) noexcept {
    ++*static_cast<unsigned long long*>(context);
    return false;
}

struct ScanRequest {
    std::uint32_t limit;
    elf::LoadCounts counts;  ///< When the limit was taken.
    Seen* seen;
    bool leads_back;
};

void scan_held(void* context) noexcept {
    const auto& request = *static_cast<const ScanRequest*>(context);
    const elf::LoadCounts now = elf::load_counts();
    // An object that went has moved those behind it: the limit is worth nothing. The next look-up tries again.
    if (request.limit != UINT32_MAX && now.subs != request.counts.subs) return;
    Seen& seen = *request.seen;
    // New objects come at the end of the list.
    const bool same_order = now.subs == seen.subs.load(std::memory_order_relaxed);
    Scan scan{};
    scan.skip = same_order ? seen.objects.load(std::memory_order_relaxed) : 0;
    scan.limit = request.limit;
    scan.leads_back = request.leads_back;
    elf::for_each_object(visit_object, &scan);
    seen.subs.store(now.subs, std::memory_order_relaxed);
    seen.objects.store(scan.index < scan.limit ? scan.index : scan.limit, std::memory_order_relaxed);
    seen.adds.store(request.counts.adds, std::memory_order_relaxed);
}

void scan_new(ScanRequest request) noexcept {
    elf::with_objects_held(scan_held, &request);
}

}  // namespace

void lead_back() noexcept {
    const elf::LoadCounts counts = elf::load_counts();
    if (counts.adds == seen_by_look_ups.adds.load(std::memory_order_relaxed) || config().disabled) return;
    const ring::ErrnoGuard keep_errno;
    const InsideGpuspy inside;
    unsigned long long count = 0;
    elf::for_each_object(count_object, &count);
    // Takes the loader's lock, and gives it back: a thread that was loading objects has done with those that were counted, which
    // may be written to. The host's own look-up, which follows, waits for the same lock.
    real_dl().dlsym(RTLD_DEFAULT, "dlerror");
    scan_new({static_cast<std::uint32_t>(count), counts, &seen_by_look_ups, true});
}

void note_bypasses() noexcept {
    const elf::LoadCounts counts = elf::load_counts();
    if (counts.adds == seen_by_drain.adds.load(std::memory_order_relaxed) || config().disabled) return;
    scan_new({UINT32_MAX, counts, &seen_by_drain, false});
}

void look_for_namespaces() noexcept {
    const elf::LoadCounts counts = elf::load_counts();
    if (counts.adds == namespaces_seen_adds.load(std::memory_order_relaxed)) return;
    namespaces_seen_adds.store(counts.adds, std::memory_order_relaxed);
    unsigned long long here = 0;
    elf::for_each_object(count_object, &here);
    if (counts.adds - counts.subs > here) read_mappings();
}

bool is_bound_past_us(const elf::Object& object) noexcept {
    const Locked guard(findings_lock);
    for (std::uint32_t i = 0; i < finding_count; ++i) {
        if (findings[i].dynamic == object.dynamic) return true;
    }
    return false;
}

bool next_bypass(char* text, std::size_t bytes, bool final) noexcept {
    Finding finding{};
    {
        const Locked guard(findings_lock);
        std::uint32_t i = 0;
        // What is not led back may be by the next look-up.
        while (i < finding_count && (findings[i].is_told || (!final && findings[i].kind == Kind::kNotLedBack))) ++i;
        if (i == finding_count) return false;
        findings[i].is_told = true;
        finding = findings[i];
    }
    switch (finding.kind) {
        case Kind::kLedBack:
            snprintf(text, bytes,
                     "%s was opened with RTLD_DEEPBIND, past gpuspy: its calls are seen from when its first symbol was "
                     "looked "
                     "up",
                     finding.name);
            break;
        case Kind::kNotLedBack:
            snprintf(text, bytes,
                     "%s was opened with RTLD_DEEPBIND, past gpuspy: its calls are seen at the driver's level at most",
                     finding.name);
            break;
        case Kind::kNamespace:
            snprintf(
                text, bytes,
                "%s was loaded in a namespace of its own (dlmopen), where gpuspy is not: calls in there are not seen",
                finding.name);
            break;
    }
    return true;
}

void tell_bypasses_again() noexcept {
    const Locked guard(findings_lock);
    for (Finding& finding : findings) finding.is_told = false;
}

}  // namespace gpuspy::hook
