// Loaded ELF objects, read from their own dynamic sections: who defines a symbol, what an object needs.
//
// Used where the loader cannot be asked: to get the real dlsym behind our own, and to find what a call would have been
// bound to without us. Reads mapped memory only; the callers hold no lock of the loader, so an object must stay loaded
// meanwhile (it is one that is calling us, or one that provides what it calls).
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>

namespace gpuspy::hook::elf {

/// One loaded object.
struct Object {
    const char* path = nullptr;  ///< As the loader knows it; "" for the main program.
    ElfW(Addr) base = 0;
    const ElfW(Dyn) * dynamic = nullptr;
    ElfW(Addr) begin = 0;  ///< Addresses it covers.
    ElfW(Addr) end = 0;
    ElfW(Addr) relro_begin = 0;  ///< Addresses that the loader made read-only after it had relocated the object.
    ElfW(Addr) relro_end = 0;

    bool covers(const void* address) const noexcept {
        const auto at = reinterpret_cast<ElfW(Addr)>(address);
        return at >= begin && at < end;
    }
};

/// The object that the address lies in. False: none.
bool find_object(const void* address, Object* found) noexcept;

/// Calls visit(object) for every loaded object in load order, until it returns true; true if one did.
bool for_each_object(bool (*visit)(void* context, const Object& object) noexcept, void* context) noexcept;

/// Calls work(context) while no object can be loaded or unloaded: what the objects hold may be read meanwhile. Nests.
void with_objects_held(void (*work)(void* context) noexcept, void* context) noexcept;

/// How often an object was loaded into the process, and unloaded, so far; in any namespace.
struct LoadCounts {
    unsigned long long adds = 0;
    unsigned long long subs = 0;
};
LoadCounts load_counts() noexcept;

/// The same by the loader's list of objects itself, calling nothing of the C library but getauxval; the addresses that an object
/// covers are not known. For the first look-up of a process, when its other functions may not be callable yet (text.hpp).
bool for_each_linked(bool (*visit)(void* context, const Object& object) noexcept, void* context) noexcept;

/// Address of the symbol that the object defines and exports under this name (its default version); nullptr: none. An
/// indirect function (STT_GNU_IFUNC) is resolved.
void* find_symbol(const Object& object, const char* name) noexcept;

/// Whether the object that the address lies in defines the name there.
bool is_defined_at(const char* name, const void* address) noexcept;

/// Whether the object defines the name without a version: then it stands for every version that is asked for.
bool is_unversioned(const Object& object, const char* name) noexcept;

/// Name of a symbol that the object exports at this address; nullptr: none.
const char* exported_name(const Object& object, const void* address) noexcept;

/// A place where the loader put, or will put, the address of a function that the object refers to.
struct Binding {
    const char* name;
    void** place;
    bool
        is_call_slot;  ///< Bound at the first call where the object is bound lazily: until then it leads back into the object.
};

/// Whether the object refers to a name for which wanted(name) is true: cheaper than to walk its bindings.
bool refers_to(const Object& object, bool (*wanted)(const char* name) noexcept) noexcept;

/// Calls visit(binding) for every reference that the object has to another object's symbol.
void for_each_binding(const Object& object, void (*visit)(void* context, const Binding& binding) noexcept,
                      void* context) noexcept;

/// The version under which the object refers to `name` ("libcudart.so.12"); nullptr: without version, or no reference.
const char* needed_version(const Object& object, const char* name) noexcept;

/// DT_SONAME, or the last part of the path.
const char* soname(const Object& object) noexcept;

/// Calls visit(soname) for each DT_NEEDED in order, until it returns true; true if one did.
bool for_each_needed(const Object& object, bool (*visit)(void* context, const char* soname) noexcept,
                     void* context) noexcept;

}  // namespace gpuspy::hook::elf
