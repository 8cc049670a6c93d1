"""Kernels written in Triton: a sum of vectors, a product of matrices, an atomic sum. The values are whole numbers."""

import os

import common

os.environ["TRITON_CACHE_DIR"] = os.path.abspath("triton_cache")  # Compiling is part of what is recorded.
torch = common.need("torch")
triton = common.need("triton")
tl = common.need("triton.language")

LAUNCHES = 50


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask), mask=mask)


@triton.jit
def product_kernel(a_ptr, b_ptr, c_ptr, size, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inner = tl.arange(0, BLOCK)
    sums = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in range(0, size, BLOCK):
        a = tl.load(a_ptr + rows[:, None] * size + (start + inner)[None, :])
        b = tl.load(b_ptr + (start + inner)[:, None] * size + columns[None, :])
        sums += tl.dot(a, b)
    tl.store(c_ptr + rows[:, None] * size + columns[None, :], sums)


@triton.jit
def total_kernel(x_ptr, total_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(total_ptr, tl.sum(tl.load(x_ptr + offsets, mask=offsets < count, other=0), axis=0))


def add():
    x = torch.arange(100_000, device="cuda") % 8
    out = torch.zeros_like(x)
    for _ in range(LAUNCHES):
        add_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, out, x.numel(), BLOCK=1024)
    return int(out.sum())


def product():
    size = 128
    a = (torch.arange(size * size, device="cuda") * 7 % 4).reshape(size, size).to(torch.float16)
    c = torch.empty(size, size, device="cuda", dtype=torch.float32)
    for _ in range(LAUNCHES):
        product_kernel[(size // 32, size // 32)](a, a, c, size, BLOCK=32)
    return f"{float(c.sum())!r} {bool((c == a.float() @ a.float()).all())}"


def total():
    x = torch.arange(100_000, device="cuda", dtype=torch.int32) % 8
    result = torch.zeros(1, device="cuda", dtype=torch.int32)
    for _ in range(LAUNCHES):
        total_kernel[(triton.cdiv(x.numel(), 1024),)](x, result, x.numel(), BLOCK=1024)
    return int(result)


if __name__ == "__main__":
    for part in (add, product, total):
        common.section(part)
