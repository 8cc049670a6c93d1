// Functions of the two shared objects that carry NVTX of their own (nvtx_part.cpp).
#pragma once

#define NVTX_PART_DECLARE(part)                                          \
    extern "C" int part##_push(const char* text);                        \
    extern "C" int part##_pop();                                         \
    extern "C" unsigned long long part##_start(const char* text);        \
    extern "C" void part##_end(unsigned long long id);                   \
    extern "C" int part##_push_in(const char* domain, const char* text); \
    extern "C" int part##_pop_in(const char* domain);

NVTX_PART_DECLARE(first)
NVTX_PART_DECLARE(second)
