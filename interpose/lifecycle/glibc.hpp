// The C library, held to the symbols that glibc 2.17 has, whatever version we are linked with.
//
// Functions that moved to libc.so.6 or got a new version later are referenced by their first version: a preloaded library
// is loaded into programs on systems older than the one that built it. Functions that 2.17 lacks are called by number.
// tests/contract checks the result.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>

#if defined(__x86_64__)
#define GPUSPY_FIRST_VERSION "GLIBC_2.2.5"
#define GPUSPY_DLINFO_VERSION "GLIBC_2.3.3"
#else
#define GPUSPY_FIRST_VERSION "GLIBC_2.17"
#define GPUSPY_DLINFO_VERSION "GLIBC_2.17"
#endif

extern "C" {
int gpuspy_pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) noexcept;
int gpuspy_pthread_key_create(pthread_key_t*, void (*)(void*)) noexcept;
int gpuspy_pthread_setspecific(pthread_key_t, const void*) noexcept;
int gpuspy_pthread_setcancelstate(int, int*) noexcept;
void* gpuspy_dlopen(const char*, int) noexcept;
int gpuspy_dlinfo(void*, int, void*) noexcept;
}
__asm__(".symver gpuspy_pthread_create, pthread_create@" GPUSPY_FIRST_VERSION);
__asm__(".symver gpuspy_pthread_key_create, pthread_key_create@" GPUSPY_FIRST_VERSION);
__asm__(".symver gpuspy_pthread_setspecific, pthread_setspecific@" GPUSPY_FIRST_VERSION);
__asm__(".symver gpuspy_pthread_setcancelstate, pthread_setcancelstate@" GPUSPY_FIRST_VERSION);
__asm__(".symver gpuspy_dlopen, dlopen@" GPUSPY_FIRST_VERSION);
__asm__(".symver gpuspy_dlinfo, dlinfo@" GPUSPY_DLINFO_VERSION);

namespace gpuspy::hook {

inline pid_t current_tid() noexcept {
    return static_cast<pid_t>(syscall(SYS_gettid));
}

}  // namespace gpuspy::hook
