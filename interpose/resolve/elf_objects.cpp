// Which objects are loaded, and where they lie.
#include <sys/auxv.h>

#include "collector/sink/loaded_objects.hpp"
#include "interpose/resolve/elf.hpp"

namespace gpuspy::hook::elf {
namespace {

Object from_loader(const dl_phdr_info& info) noexcept {
    Object object;
    object.path = info.dlpi_name != nullptr ? info.dlpi_name : "";
    object.base = info.dlpi_addr;
    object.begin = ~ElfW(Addr){0};
    for (int i = 0; i < info.dlpi_phnum; ++i) {
        const ElfW(Phdr)& header = info.dlpi_phdr[i];
        const ElfW(Addr) at = info.dlpi_addr + header.p_vaddr;
        if (header.p_type == PT_LOAD) {
            if (at < object.begin) object.begin = at;
            if (at + header.p_memsz > object.end) object.end = at + header.p_memsz;
        } else if (header.p_type == PT_DYNAMIC) {
            object.dynamic = reinterpret_cast<const ElfW(Dyn)*>(at);
        } else if (header.p_type == PT_GNU_RELRO) {
            // As the loader does: a page that the range ends in stays writable.
            constexpr ElfW(Addr) kPageMask = 4095;
            object.relro_begin = at & ~kPageMask;
            object.relro_end = (at + header.p_memsz) & ~kPageMask;
        }
    }
    return object;
}

struct Visit {
    bool (*visit)(void* context, const Object& object) noexcept;
    void* context;
};

int visit_one(dl_phdr_info* info, std::size_t, void* data) noexcept {
    const auto* wanted = static_cast<const Visit*>(data);
    const Object object = from_loader(*info);
    return object.dynamic != nullptr && wanted->visit(wanted->context, object) ? 1 : 0;
}

struct Work {
    void (*work)(void* context) noexcept;
    void* context;
};

int do_work(dl_phdr_info*, std::size_t, void* data) noexcept {
    const auto* wanted = static_cast<const Work*>(data);
    wanted->work(wanted->context);
    return 1;
}

int take_counts(dl_phdr_info* info, std::size_t, void* data) noexcept {
    *static_cast<LoadCounts*>(data) = {info->dlpi_adds, info->dlpi_subs};
    return 1;  // The same in every object.
}

struct AddressQuery {
    const void* address;
    Object* found;
};

bool visit_address(void* context, const Object& object) noexcept {
    const auto* query = static_cast<const AddressQuery*>(context);
    if (!object.covers(query->address)) return false;
    *query->found = object;
    return true;
}

}  // namespace

bool for_each_object(bool (*visit)(void* context, const Object& object) noexcept, void* context) noexcept {
    Visit wanted{visit, context};
    return sink::visit_loaded_objects(visit_one, &wanted) == 1;
}

void with_objects_held(void (*work)(void* context) noexcept, void* context) noexcept {
    Work wanted{work, context};
    sink::visit_loaded_objects(do_work, &wanted);
}

LoadCounts load_counts() noexcept {
    LoadCounts counts;
    sink::visit_loaded_objects(take_counts, &counts);
    return counts;
}

bool for_each_linked(bool (*visit)(void* context, const Object& object) noexcept, void* context) noexcept {
    const auto* header = reinterpret_cast<const ElfW(Phdr)*>(getauxval(AT_PHDR));
    const std::size_t count = getauxval(AT_PHNUM);
    if (header == nullptr) return false;
    ElfW(Addr) base = 0;
    const ElfW(Phdr)* dynamic_header = nullptr;
    for (std::size_t i = 0; i < count; ++i) {
        if (header[i].p_type == PT_PHDR) base = reinterpret_cast<ElfW(Addr)>(header) - header[i].p_vaddr;
        if (header[i].p_type == PT_DYNAMIC) dynamic_header = &header[i];
    }
    if (dynamic_header == nullptr) return false;
    const r_debug* debug = nullptr;
    for (const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(base + dynamic_header->p_vaddr);
         entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag == DT_DEBUG) debug = reinterpret_cast<const r_debug*>(entry->d_un.d_ptr);
    }
    for (const link_map* map = debug != nullptr ? debug->r_map : nullptr; map != nullptr; map = map->l_next) {
        Object object;
        object.path = map->l_name;
        object.base = map->l_addr;
        object.dynamic = map->l_ld;
        if (object.dynamic != nullptr && visit(context, object)) return true;
    }
    return false;
}

bool find_object(const void* address, Object* found) noexcept {
    AddressQuery query{address, found};
    return for_each_object(visit_address, &query);
}

}  // namespace gpuspy::hook::elf
