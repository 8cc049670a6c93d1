// Pointers to driver functions: which hook stands for which address.
#pragma once

namespace gpuspy::hook {

/// The hook for a pointer that cuGetProcAddress or cudaGetDriverEntryPoint* gave to the host, bound to that original; the
/// pointer itself when it is no symbol of the table in its library (counted), or already ours. Takes the set-up lock.
void* hook_for_driver_pointer(void* pointer) noexcept;

}  // namespace gpuspy::hook
