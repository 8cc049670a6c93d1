// The type of each hooked function, from the vendor's headers; by hand for what they do not declare.
#pragma once

#include "interpose/table/cuda_headers.hpp"

#include "interpose/table/hooks.hpp"

// crt/host_runtime.h declares these for the compiler's launch stubs (CUDA 13): the same arguments as cudaLaunchKernel.
extern "C" cudaError_t __cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                          std::size_t shared_bytes, cudaStream_t stream);
extern "C" cudaError_t __cudaLaunchKernel_ptsz(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                               std::size_t shared_bytes, cudaStream_t stream);

// Gone from CUDA 13's headers; programs built with older ones call them.
extern "C" cudaError_t cudaThreadSynchronize(void);
extern "C" cudaError_t cudaConfigureCall(dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream);
extern "C" cudaError_t cudaLaunch(const void* function);
extern "C" cudaError_t cudaLaunch_ptsz(const void* function);

namespace gpuspy::hook {

// These declarations hide those of the headers below; the types are those of the exported symbols.
namespace exact {

// Functions of the runtime that changed their arguments between major versions under one name. The hook forwards as many as
// the longest form has; a shorter form does not look at the rest. (CUDA 11 / 12 and later; the batch copies: 12.8 / 13.)
cudaError_t cudaGraphInstantiate(cudaGraphExec_t*, cudaGraph_t, std::uint64_t flags_or_error_node, char* log_buffer,
                                 std::size_t log_bytes);
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t, cudaGraph_t, void* info_or_error_node, void* result);
cudaError_t cudaMemcpyBatchAsync(void*, void*, void*, std::size_t, void*, void*, std::size_t,
                                 void* stream_or_fail_index, cudaStream_t);
cudaError_t cudaMemcpyBatchAsync_ptsz(void*, void*, void*, std::size_t, void*, void*, std::size_t,
                                      void* stream_or_fail_index, cudaStream_t);
cudaError_t cudaMemcpy3DBatchAsync(std::size_t, void*, std::uint64_t flags_or_fail_index, std::uint64_t stream_or_flags,
                                   cudaStream_t);
cudaError_t cudaMemcpy3DBatchAsync_ptsz(std::size_t, void*, std::uint64_t flags_or_fail_index,
                                        std::uint64_t stream_or_flags, cudaStream_t);

// CUPTI's functions with a subscriber, newer than our headers. Each has at most six arguments, all of them numbers or addresses: what a
// caller leaves in the registers of the rest is handed on, and nobody looks at it.
using Word = std::uint64_t;
CUptiResult cuptiActivityRegisterCallbacks_v2(Word, Word, Word, Word, Word, Word);
CUptiResult cuptiActivityEnable_v2(Word, Word, Word, Word, Word, Word);
CUptiResult cuptiActivityEnableAndDump_v2(Word, Word, Word, Word, Word, Word);
CUptiResult cuptiActivityEnableDriverApi_v2(Word, Word, Word, Word, Word, Word);
CUptiResult cuptiActivityEnableRuntimeApi_v2(Word, Word, Word, Word, Word, Word);
CUptiResult cuptiActivityGetAttribute_v2(Word, Word, Word, Word, Word, Word);
CUptiResult cuptiActivitySetAttribute_v2(Word, Word, Word, Word, Word, Word);

// Old forms are marked deprecated; to hook them is the point.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
template <HookId Id>
struct Pick;
#define CALL(...)
#define HOOK(name, ...)               \
    template <>                       \
    struct Pick<HookId::name> {       \
        using Type = decltype(&name); \
    };
#include "interpose/table/all.def"
#undef HOOK
#undef CALL
#pragma GCC diagnostic pop

}  // namespace exact

/// Type of the hooked function: Signature<Id>::Type, a pointer.
template <HookId Id>
struct Signature : exact::Pick<Id> {};

}  // namespace gpuspy::hook
