// Libraries whose calls go past us, though they are loaded into our process.
//
// A library that is opened with RTLD_DEEPBIND looks at itself and at what it was linked with before it looks at preloaded
// libraries; so do the libraries that are opened with it. Where that bound a name of the table, or dlsym, past us, the binding is
// led back: the place in the library that holds the function's address gets the address of our hook, which is what it would hold
// without RTLD_DEEPBIND. A library in a namespace of its own (dlmopen) cannot be reached so, and is only named.
#pragma once

#include <cstddef>

#include "interpose/resolve/elf.hpp"

namespace gpuspy::hook {

/// At the host's look-ups: leads back what was loaded since the last time. Costs a question to the loader when nothing was.
void lead_back() noexcept;

/// On the drain thread, which must not wait for somebody who loads: only looks, at what was loaded since the last time.
void note_bypasses() noexcept;

/// Names CUDA libraries that are mapped and belong to no object of our namespace. Reads /proc/self/maps if something was loaded
/// since the last time and the process has other namespaces.
void look_for_namespaces() noexcept;

/// Whether lead_back() found the object bound past us: what it was linked with comes before the global scope.
bool is_bound_past_us(const elf::Object& object) noexcept;

/// A sentence about the next library that was not told of yet. False: none. `final`: also of those that may be led back later.
bool next_bypass(char* text, std::size_t bytes, bool final) noexcept;

/// A forked child has a trace of its own: it tells of them again.
void tell_bypasses_again() noexcept;

}  // namespace gpuspy::hook
