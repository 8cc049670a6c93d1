// A trap for threads: while one is armed, its system calls, allocations and locks are counted, and told with what it was doing.
//
// System calls are caught by seccomp (SIGSYS, whose handler then makes the call), so that nothing is missed that some library makes
// without the C library; allocations and locks by the program's own malloc, free, pthread_mutex_lock and so on, which come before the C library's
// for every object of the process.
#pragma once

namespace host::trap {

/// Once for the process, before any thread is watched. `library`: part of the file name of the object whose doings are counted; nullptr: anyone's.
/// False: this machine has no seccomp.
bool set(const char* library);

/// From here on the calling thread's system calls are caught. They cannot be let go again.
bool watch_thread();

/// Between arm() and disarm() the calling thread does nothing but `what`.
void arm(const char* what);
void disarm();

/// Prints what was counted, a line for each kind and number: "launch: system call 202 (129), 4 times".
void tell();

}  // namespace host::trap
