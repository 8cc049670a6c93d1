// Threads of ours in a process that is not ours.
#pragma once

#include <pthread.h>

#include <csignal>

#include "collector/ring/owned_fd.hpp"

namespace gpuspy::sink {

/// pthread_create of this process. A pointer, because its symbol version must be glibc 2.17's: the preload library looks it up.
using CreateThread = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

/// A detached thread with every signal blocked. 0 or an errno value.
inline int start_own_thread(CreateThread create, void* (*main)(void*), void* argument) noexcept {
    const ring::ErrnoGuard keep_errno;
    // sigfillset leaves out the two signals that libc needs itself; sigprocmask acts on the calling thread, and unlike
    // pthread_sigmask it has one symbol version in every glibc.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigprocmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    const int error = create(&thread, &attributes, main, argument);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
    return error;
}

}  // namespace gpuspy::sink
