// The examples' kernels as PTX, so that they build without nvcc. Any NVIDIA driver since 2018 compiles it for its GPU.
#pragma once

namespace examples {

/// accumulate_sum(const float* a, const float* b, float* sum, int count): sum[i] += a[i] + b[i].
/// spin(long long cycles): keeps one multiprocessor busy for that many of its cycles.
inline constexpr char kKernels[] = R"(
.version 6.0
.target sm_50
.address_size 64

.visible .entry accumulate_sum(.param .u64 a, .param .u64 b, .param .u64 sum, .param .u32 count) {
    .reg .pred %outside;
    .reg .f32  %left, %right, %total;
    .reg .b32  %index, %block, %threads, %limit;
    .reg .b64  %offset, %pointer;

    mov.u32         %block, %ctaid.x;
    mov.u32         %threads, %ntid.x;
    mov.u32         %index, %tid.x;
    mad.lo.s32      %index, %block, %threads, %index;
    ld.param.u32    %limit, [count];
    setp.ge.s32     %outside, %index, %limit;
    @%outside bra   done;

    mul.wide.s32    %offset, %index, 4;
    ld.param.u64    %pointer, [a];
    add.s64         %pointer, %pointer, %offset;
    ld.global.f32   %left, [%pointer];
    ld.param.u64    %pointer, [b];
    add.s64         %pointer, %pointer, %offset;
    ld.global.f32   %right, [%pointer];
    add.f32         %left, %left, %right;
    ld.param.u64    %pointer, [sum];
    add.s64         %pointer, %pointer, %offset;
    ld.global.f32   %total, [%pointer];
    add.f32         %total, %total, %left;
    st.global.f32   [%pointer], %total;
done:
    ret;
}

.visible .entry spin(.param .u64 cycles) {
    .reg .pred %early;
    .reg .b64  %start, %now, %limit;

    ld.param.u64    %limit, [cycles];
    mov.u64         %start, %clock64;
again:
    mov.u64         %now, %clock64;
    sub.s64         %now, %now, %start;
    setp.lt.s64     %early, %now, %limit;
    @%early bra     again;
    ret;
}
)";

}  // namespace examples
