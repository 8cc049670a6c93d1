"""cuFFT, cuSOLVER, cuBLAS and cuSPARSE through PyTorch, and its random numbers."""

import common


def rounded(*tensors):
    """Sums of the absolute values: signs and last digits are the library's choice."""
    return " ".join(f"{tensor.detach().abs().double().sum().item():.3e}" for tensor in tensors)


def work(args):
    import torch

    generator = torch.Generator().manual_seed(1)
    square = torch.randn(96, 96, generator=generator).cuda()
    symmetric = square @ square.T / 96 + torch.eye(96).cuda()
    batch = torch.randn(8, 24, 24, generator=generator).cuda()
    signal = torch.randn(64, 1000, generator=generator).cuda()

    def fourier():
        return rounded(torch.fft.rfft(signal), torch.fft.fft2(batch), torch.fft.irfft(torch.fft.rfft(signal)))

    def convolution():
        spectrum = torch.fft.rfft(signal, n=2048) * torch.fft.rfft(signal.flip(0), n=2048)
        return rounded(torch.fft.irfft(spectrum))

    def cholesky():
        lower = torch.linalg.cholesky(symmetric)
        return rounded(lower, torch.cholesky_solve(square, lower))

    def svd():
        return rounded(torch.linalg.svdvals(square), torch.linalg.svd(batch, full_matrices=False).S)

    def qr():
        return rounded(torch.linalg.qr(square).R, torch.linalg.qr(batch).R)

    def solve():
        return rounded(torch.linalg.solve(symmetric, square), torch.linalg.inv(symmetric))

    def determinant():
        return rounded(torch.linalg.slogdet(symmetric).logabsdet, torch.linalg.lu_factor(batch).LU)

    def eigh():
        return rounded(torch.linalg.eigvalsh(symmetric), torch.linalg.eigh(batch @ batch.mT).eigenvalues)

    def triangular():
        return rounded(torch.linalg.solve_triangular(symmetric.tril(), square, upper=False))

    def sparse():
        dense = torch.where(square > 1, square, torch.zeros_like(square))
        return rounded(torch.sparse.mm(dense.to_sparse_csr(), square), torch.sparse.mm(dense.to_sparse(), square))

    def random():
        torch.cuda.manual_seed(3)
        return rounded(torch.randn(10_000, device="cuda"), torch.randint(0, 9, (10_000,), device="cuda"))

    parts = [fourier, convolution, cholesky, svd, qr, solve, determinant, eigh, triangular, sparse, random]
    for _ in range(args.steps):
        for part in parts:
            common.section(part)


if __name__ == "__main__":
    common.need("torch")
    common.main(work, steps=2, description=__doc__)
