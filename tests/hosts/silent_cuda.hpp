// What silent_cuda.cpp has besides CUDA's names.
#pragma once

extern "C" {
void silent_set_status(int status);  ///< Of every call from now on.
int silent_allocates_and_locks();
int cuDriverGetVersion(int* version);
int cuDeviceGetCount(int* count);
int cuModuleGetFunction(void** function, void* module, const char* name);
}
