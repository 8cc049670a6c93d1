/* Controls of the simulated device (libcuda.so.1 of tests/fakes). A program that must also run on a real GPU looks
 * these functions up by dlsym and does without them when they are not there.
 *
 * Environment, read when libcuda.so.1 is loaded:
 *   SIM_CLOCK=manual          device time stands still but for sim_advance_ns and for calls that wait (default: real
 * time) SIM_KERNEL_NS, SIM_COPY_NS, SIM_SET_NS durations of kernels, copies and sets (default 1000, 500, 250)
 *   SIM_DEVICES=N             number of devices, 1 to 8 (default 1)
 *   SIM_NO_DEVICE=1           cuInit fails with CUDA_ERROR_NO_DEVICE
 *   SIM_DRIVER_VERSION=N      what cuDriverGetVersion says (default 13000); entry points newer than it are not found
 *   SIM_FAIL=NAME:CODE:N[,..] the N-th call (from 1) of NAME fails with CODE; N = 0: each call. NAME is any exported
 * function of the fakes. A code that corrupts a context (700, 719, ...) is sticky, as in the driver. Read by
 * libcupti.so.N: see cupti/faults.hpp. */
#ifndef GPUSPY_TESTS_FAKES_SIM_H
#define GPUSPY_TESTS_FAKES_SIM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Nanoseconds of the device clock; it starts at CLOCK_REALTIME. */
uint64_t sim_now_ns(void);

/* Moves the manual clock forward. Without SIM_CLOCK=manual: waits that long. */
void sim_advance_ns(uint64_t ns);

/* Activities of this name, enqueued from now on, last ns. A kernel's name, or "[memcpy]" or "[memset]". */
void sim_set_duration(const char* name, uint64_t ns);

#ifdef __cplusplus
}
#endif

#endif
