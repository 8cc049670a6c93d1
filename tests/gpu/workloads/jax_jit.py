"""Functions compiled by JAX: products, a reduction, a scan, a convolution.

The values are small whole numbers, so that every algorithm that autotuning may choose gives the same sums.
"""

import common

CALLS = 20


def whole_numbers(jax, shape, top):
    """Float32 values 0 to top - 1 in a fixed pattern."""
    count = 1
    for size in shape:
        count *= size
    return (jax.numpy.arange(count) * 7 % top).reshape(shape).astype(jax.numpy.float32)


def product(jax):
    multiply = jax.jit(lambda a, b: ((a @ b % 16).sum(), (a @ b).max()))
    a, b = whole_numbers(jax, (256, 256), 4), whole_numbers(jax, (256, 256), 3)
    for _ in range(CALLS):
        total, largest = multiply(a, b)
    return f"{float(total)!r} {float(largest)!r}"


def scan(jax):
    @jax.jit
    def run(rows):
        def step(carry, row):
            carry = (carry + row) % 64
            return carry, carry.sum()

        return jax.lax.scan(step, jax.numpy.zeros(rows.shape[1]), rows)

    rows = whole_numbers(jax, (100, 128), 5)
    for _ in range(CALLS // 4):
        carry, sums = run(rows)
    return f"{float(carry.sum())!r} {float(sums.max())!r}"


def gradient(jax):
    loss = jax.jit(jax.grad(lambda w, x: ((x @ w) ** 2).sum()))
    w, x = whole_numbers(jax, (32, 8), 3), whole_numbers(jax, (16, 32), 3)
    for _ in range(CALLS):
        slope = loss(w, x)
    return f"{float(slope.sum())!r} {float(slope.max())!r}"


def convolution(jax):
    convolve = jax.jit(lambda x, w: jax.lax.conv_general_dilated(x, w, (1, 1), "SAME").max())
    images, weights = whole_numbers(jax, (4, 8, 32, 32), 4), whole_numbers(jax, (16, 8, 3, 3), 3)
    for _ in range(CALLS):
        largest = convolve(images, weights)
    return round(float(largest))  # Some algorithms for convolutions divide.


def main():
    jax = common.need("jax")
    common.need("jax.numpy")
    try:
        backend = jax.default_backend()
    except RuntimeError as error:
        backend = f"none: {error}"
    if backend not in ("gpu", "cuda"):
        common.leave(f"JAX has no GPU here, its backend is {backend}")
    for part in (product, scan, gradient, convolution):
        common.section(part, jax)


if __name__ == "__main__":
    main()
