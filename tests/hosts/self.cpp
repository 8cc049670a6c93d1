// A library that has a function under a name of the driver's, and finds itself by its own handle, as the driver does.
// SELF_SONAME: its file.
#include <cuda.h>

#include "tests/hosts/dynamic.hpp"

extern "C" {

static CUresult own_function(CUstream) {
    return CUDA_ERROR_UNKNOWN;
}

CUresult cuStreamSynchronize(CUstream) __attribute__((alias("own_function")));

int call_own_function() {
    void* self = dlopen(SELF_SONAME, RTLD_NOW | RTLD_NOLOAD);
    const auto found = host::find<CUresult (*)(CUstream)>(self, "cuStreamSynchronize");
    return static_cast<int>(found(nullptr));
}

int finds_own_function() {
    void* self = dlopen(SELF_SONAME, RTLD_NOW | RTLD_NOLOAD);
    return dlsym(self, "cuStreamSynchronize") == reinterpret_cast<void*>(&own_function) ? 1 : 0;
}
}
