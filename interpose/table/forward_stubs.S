/* The exported symbols and slot wrappers of the rows CALL, and the code that they share.

   A call is forwarded without its type: integer and vector registers are saved, as many words of its stack arguments as the table says are
   copied, and the original is called with both. So one body serves every function and every version of it. The return address stays
   the host's until the original is called, and the frame is one that unwinders understand: an exception, or a
   cancelled thread, passes through. Offsets are those of gpuspy::hook::ForwardFrame (interpose/record/forward.hpp).

   Each row has five stubs of 16 bytes, in the order of the table: slots 0 to 3, then the exported symbol. */

#if !defined(__x86_64__)
#error "calls are forwarded by x86-64 code"
#endif

#define FRAME_BYTES 288
#define STACK_POINTER 48
#define ROW_AND_SLOT 56
#define VECTORS 64
#define VECTOR_COUNT 192
#define ORIGINAL 200
#define RESULTS 240

    .text
    .balign 16
    .type gpuspy_forward, @function
gpuspy_forward:
    .cfi_startproc
    endbr64
    push %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    mov %rsp, %rbp
    .cfi_def_cfa_register %rbp
    sub $FRAME_BYTES, %rsp
    mov %rdi, 0(%rsp)
    mov %rsi, 8(%rsp)
    mov %rdx, 16(%rsp)
    mov %rcx, 24(%rsp)
    mov %r8, 32(%rsp)
    mov %r9, 40(%rsp)
    lea 16(%rbp), %r10
    mov %r10, STACK_POINTER(%rsp)
    mov %r11, ROW_AND_SLOT(%rsp)
    movaps %xmm0, VECTORS(%rsp)
    movaps %xmm1, VECTORS+16(%rsp)
    movaps %xmm2, VECTORS+32(%rsp)
    movaps %xmm3, VECTORS+48(%rsp)
    movaps %xmm4, VECTORS+64(%rsp)
    movaps %xmm5, VECTORS+80(%rsp)
    movaps %xmm6, VECTORS+96(%rsp)
    movaps %xmm7, VECTORS+112(%rsp)
    mov %rax, VECTOR_COUNT(%rsp)
    mov %rsp, %rdi
    mov 8(%rbp), %rsi
    mov %rbp, %rdx
    call gpuspy_forward_begin
    cmp $-2, %rax
    je .Lreturn
    mov %rax, %rcx
    cmp $-1, %rcx
    je .Lrestore

    /* The stack arguments, the stack pointer a multiple of 16 below them. */
    lea 15(,%rcx,8), %rax
    and $-16, %rax
    sub %rax, %rsp
    test %rcx, %rcx
    jz .Lrestore
.Lcopy:
    mov 8(%rbp,%rcx,8), %rax
    mov %rax, -8(%rsp,%rcx,8)
    dec %rcx
    jnz .Lcopy

.Lrestore:
    lea -FRAME_BYTES(%rbp), %r10
    movaps VECTORS(%r10), %xmm0
    movaps VECTORS+16(%r10), %xmm1
    movaps VECTORS+32(%r10), %xmm2
    movaps VECTORS+48(%r10), %xmm3
    movaps VECTORS+64(%r10), %xmm4
    movaps VECTORS+80(%r10), %xmm5
    movaps VECTORS+96(%r10), %xmm6
    movaps VECTORS+112(%r10), %xmm7
    mov 0(%r10), %rdi
    mov 8(%r10), %rsi
    mov 16(%r10), %rdx
    mov 32(%r10), %r8
    mov 40(%r10), %r9
    mov VECTOR_COUNT(%r10), %rax
    mov ORIGINAL(%r10), %r11
    cmp $-1, %rcx
    mov 24(%r10), %rcx
    je .Lpass
    call *%r11

    lea -FRAME_BYTES(%rbp), %rdi
    mov %rax, RESULTS(%rdi)
    mov %rdx, RESULTS+8(%rdi)
    movaps %xmm0, RESULTS+16(%rdi)
    movaps %xmm1, RESULTS+32(%rdi)
    call gpuspy_forward_end
.Lreturn:
    lea -FRAME_BYTES(%rbp), %r10
    mov RESULTS(%r10), %rax
    mov RESULTS+8(%r10), %rdx
    movaps RESULTS+16(%r10), %xmm0
    movaps RESULTS+32(%r10), %xmm1
    .cfi_remember_state
    leave
    .cfi_def_cfa %rsp, 8
    ret

    /* Not recorded: as if the host had called the original itself. */
    .cfi_restore_state
.Lpass:
    leave
    .cfi_def_cfa %rsp, 8
    jmp *%r11
    .cfi_endproc
    .size gpuspy_forward, . - gpuspy_forward

#define STUB(row_and_slot) endbr64; mov $(row_and_slot), %r11d; jmp gpuspy_forward; .balign 16
#define ROW(name, index)                                                                            \
    STUB(index * 8); STUB(index * 8 + 1); STUB(index * 8 + 2); STUB(index * 8 + 3);                  \
    .globl name; .type name, @function;                                                             \
    name: STUB(index * 8 + 4); .size name, 16;
#define HOOK(name, api_class, attributes, policy...)
#define CALL(name, api_class, attributes, words, fields) ROW(name, __COUNTER__)

    .balign 16
    .globl gpuspy_forward_stubs
    .hidden gpuspy_forward_stubs
gpuspy_forward_stubs:
    .cfi_startproc
#include "interpose/table/all.def"
    .cfi_endproc

    .section .note.GNU-stack, "", @progbits
