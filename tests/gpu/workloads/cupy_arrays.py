"""CuPy: its own kernels, one of ours compiled by NVRTC, and cuBLAS, cuSOLVER, cuFFT, cuSPARSE and cuRAND through it."""

import os

import common

LAUNCHES = 50

ADD_SQUARES = r"""
extern "C" __global__ void add_squares(const float* values, float* sums, int count) {
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < count) sums[i] += values[i] * values[i];
}
"""


def elementwise(cupy):
    values = cupy.arange(100_000, dtype=cupy.float32) % 16
    for _ in range(LAUNCHES):
        values = (values * 3 + 1) % 16
    return f"{float(values.sum())!r} {float(values.max())!r}"


def raw_kernel(cupy):
    kernel = cupy.RawKernel(ADD_SQUARES, "add_squares")
    values = cupy.arange(10_000, dtype=cupy.float32) % 8
    sums = cupy.zeros_like(values)
    for _ in range(LAUNCHES):
        kernel((40,), (256,), (values, sums, cupy.int32(10_000)))
    return repr(float(sums.sum()))


def own_reduction(cupy):
    norm = cupy.ReductionKernel("float32 x", "float32 y", "x * x", "a + b", "y = a", "0", "sum_of_squares")
    return repr(float(norm(cupy.arange(1000, dtype=cupy.float32) % 8)))


def sort(cupy):
    values = cupy.arange(100_000, dtype=cupy.int32) * 7919 % 100_003
    ordered = cupy.sort(values)
    return f"{int(ordered[0])} {int(ordered[50_000])} {int(ordered[-1])}"


def product(cupy):
    a = (cupy.arange(256 * 256, dtype=cupy.float32) * 7 % 4).reshape(256, 256)
    for _ in range(LAUNCHES):
        c = a @ a.T
    return f"{float((c % 7).sum())!r} {float(c.max())!r}"


def linear_algebra(cupy):
    a = (cupy.arange(64 * 64, dtype=cupy.float64) * 7 % 5).reshape(64, 64)
    symmetric = a @ a.T + 64 * cupy.eye(64)
    lower = cupy.linalg.cholesky(symmetric)
    solved = cupy.linalg.solve(symmetric, cupy.ones(64))
    values = cupy.linalg.eigvalsh(symmetric)
    singular = cupy.linalg.svd(a, compute_uv=False)
    parts = (float(abs(lower).sum()), float(solved.sum()), float(values.max()), float(singular.max()))
    return " ".join(f"{part:.5e}" for part in parts)


def fourier(cupy):
    values = cupy.arange(4096, dtype=cupy.float32) % 8
    for _ in range(LAUNCHES):
        spectrum = cupy.fft.fft(values)
        back = cupy.fft.ifft(spectrum)
    return f"{float(spectrum[0].real):.3f} {float(abs(back - values).max()) < 1e-3}"


def sparse(cupy):
    import cupyx.scipy.sparse

    dense = (cupy.arange(200 * 100, dtype=cupy.float32) * 11 % 7).reshape(200, 100)
    dense[dense < 5] = 0
    matrix = cupyx.scipy.sparse.csr_matrix(dense)
    for _ in range(LAUNCHES):
        result = matrix @ cupy.ones((100, 8), dtype=cupy.float32)
    return f"{matrix.nnz} {float(result.sum())!r}"


def random(cupy):
    cupy.random.seed(7)
    values = cupy.random.randint(0, 1000, 10_000)
    normal = cupy.random.standard_normal(10_000)
    return f"{int(values.sum())} {float(abs(normal).max()):.5f}"


def main():
    # A cache of its own: compiling is part of what is recorded.
    os.environ["CUPY_CACHE_DIR"] = os.path.abspath("cupy_cache")
    cupy = common.need("cupy")
    for part in (elementwise, raw_kernel, own_reduction, sort, product, linear_algebra, fourier, sparse, random):
        common.section(part, cupy)


if __name__ == "__main__":
    main()
