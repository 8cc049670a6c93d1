"""Trains a transformer encoder layer in bfloat16: cuBLASLt products and flash attention, forward and backward."""

import common


def work(args):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    # Flash attention's backward pass adds up in any order unless it is told not to.
    torch.use_deterministic_algorithms(True)
    torch.backends.cuda.preferred_blas_library("cublaslt")
    layer = torch.nn.TransformerEncoderLayer(
        d_model=1024, nhead=16, dim_feedforward=4096, dropout=0.0, activation="gelu", batch_first=True
    )
    layer = layer.to(device="cuda", dtype=torch.bfloat16)
    optimizer = torch.optim.AdamW(layer.parameters(), lr=1e-4)
    tokens = torch.randn(8, 512, 1024).to(device="cuda", dtype=torch.bfloat16)
    target = torch.randn(8, 512, 1024).cuda()

    def train(steps):
        for _ in range(steps):
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(layer(tokens).float(), target)
            loss.backward()
            optimizer.step()
            print(f"loss {loss.item()!r}")

    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        train(common.WARM_UP_STEPS)
        common.timed("step", args.steps, lambda: train(args.steps))


if __name__ == "__main__":
    common.main(work, steps=20, description=__doc__)
