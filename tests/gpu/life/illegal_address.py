"""A kernel that writes where it must not; what the program sees of it then and afterwards."""

import torch
import triton
import triton.language as tl
import work


@triton.jit
def stray(pointer, offset):
    tl.store(pointer + offset + tl.arange(0, 32), 1.0)


def say(what, action):
    try:
        action()
        torch.cuda.synchronize()
        print(f"{what}: no error")
    except RuntimeError as error:
        print(f"{what}: {str(error).splitlines()[0]}")


x = work.small(20)
say("before", lambda: x.add_(1))
say("stray", lambda: stray[(1,)](x, 1 << 45))
say("after", lambda: x.add_(1))
