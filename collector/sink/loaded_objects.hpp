// The loader's list of objects, read so that a fork does not come in between.
//
// dl_iterate_phdr holds a lock which the C library does not renew in a forked child. Were a thread of ours in there when the host forks, the
// child's first walk of that list would never end: a look-up of a stack frame when it throws, say, or of a symbol by us.
#pragma once

#include <link.h>

#include <cstddef>

namespace gpuspy::sink {

/// dl_iterate_phdr. Waits while a thread of the process forks, a second at most.
int visit_loaded_objects(int (*visit)(dl_phdr_info*, std::size_t, void*), void* context) noexcept;

/// From now on a fork waits until no thread is in visit_loaded_objects(), a second at most. Once in a process: registers handlers of
/// pthread_atfork. A raw clone does not run them.
void keep_forks_off_loaded_objects() noexcept;

}  // namespace gpuspy::sink
