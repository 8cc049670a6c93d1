// Exported look-up functions. Written in assembly, because the real dlsym takes its caller from the return address
// (RTLD_NEXT, RTLD_DEFAULT): we leave the stack as the host made it and jump. Everything here depends on the processor.

#if !defined(__x86_64__)
#error "look-up entries are written for x86-64"
#endif

// At entry: handle in rdi, name in rsi, return address at (rsp). The three pushes also align the stack for the call.
__asm__(R"(
    .text
    .balign 16
    .globl dlsym
    .type dlsym, @function
dlsym:
    .cfi_startproc
    endbr64
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    pushq %rsi
    .cfi_adjust_cfa_offset 8
    subq $8, %rsp
    .cfi_adjust_cfa_offset 8
    movq 24(%rsp), %rdx
    call gpuspy_decide_dlsym
    addq $8, %rsp
    .cfi_adjust_cfa_offset -8
    popq %rsi
    .cfi_adjust_cfa_offset -8
    popq %rdi
    .cfi_adjust_cfa_offset -8
    testq %rdx, %rdx
    jne 1f
    ret
1:  jmp *%rdx
    .cfi_endproc
    .size dlsym, .-dlsym
)");

// Also the version in rdx, which the jump must carry; the decision's second half comes back in rdx.
__asm__(R"(
    .text
    .balign 16
    .globl dlvsym
    .type dlvsym, @function
dlvsym:
    .cfi_startproc
    endbr64
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    pushq %rsi
    .cfi_adjust_cfa_offset 8
    pushq %rdx
    .cfi_adjust_cfa_offset 8
    movq 24(%rsp), %rcx
    call gpuspy_decide_dlvsym
    movq %rdx, %r11
    popq %rdx
    .cfi_adjust_cfa_offset -8
    popq %rsi
    .cfi_adjust_cfa_offset -8
    popq %rdi
    .cfi_adjust_cfa_offset -8
    testq %r11, %r11
    jne 1f
    ret
1:  jmp *%r11
    .cfi_endproc
    .size dlvsym, .-dlvsym
)");

__asm__(R"(
    .text
    .balign 16
    .globl dlerror
    .type dlerror, @function
dlerror:
    endbr64
    jmp gpuspy_dlerror
    .size dlerror, .-dlerror
    .globl dlclose
    .type dlclose, @function
dlclose:
    endbr64
    jmp gpuspy_dlclose
    .size dlclose, .-dlclose
)");
