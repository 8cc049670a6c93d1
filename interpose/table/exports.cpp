// The exported symbols of the typed rows: one jump per hook, through the table of wrappers, in the order of the table. Those
// of the rows CALL are in forward_stubs.S.
//
// A jump and not a C function, so that the wrapper's return address is the host's. Everything here depends on the
// processor. dlsym, dlvsym and dlerror are exported by resolve/dlsym_entry.cpp.

#if !defined(__x86_64__)
#error "exported symbols are written for x86-64"
#endif

#define GPUSPY_STRING2(x) #x
#define GPUSPY_STRING(x) GPUSPY_STRING2(x)
#define GPUSPY_EXPORT(name, index) \
    __asm__(".text\n"                                            \
            ".balign 16\n"                                       \
            ".globl " #name "\n"                                 \
            ".type " #name ", @function\n" #name ":\n"           \
            ".cfi_startproc\n"                                   \
            "endbr64\n"                                          \
            "jmp *gpuspy_elf_wrappers+8*" GPUSPY_STRING(index) "(%rip)\n" \
            ".cfi_endproc\n"                                     \
            ".size " #name ", .-" #name "\n");

#define CALL(...)
#define HOOK(name, ...) GPUSPY_EXPORT(name, __COUNTER__)
#include "interpose/table/all.def"
#undef HOOK
