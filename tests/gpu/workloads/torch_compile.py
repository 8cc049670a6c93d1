"""Trains a small convolutional network that torch.compile compiles, in a cache of its own."""

import os

import common

STEPS = 8


def main():
    # Compiling is part of what is recorded, as it is for whoever runs a program for the first time.
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.abspath("inductor_cache")
    os.environ["TRITON_CACHE_DIR"] = os.path.abspath("triton_cache")
    torch = common.need("torch")
    common.need("triton")

    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 16, 3, padding=1),
        torch.nn.BatchNorm2d(16),
        torch.nn.ReLU(),
        torch.nn.AdaptiveAvgPool2d(8),
        torch.nn.Flatten(),
        torch.nn.Linear(1024, 64),
        torch.nn.GELU(),
        torch.nn.LayerNorm(64),
        torch.nn.Linear(64, 10),
    ).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.002)
    compiled = torch.compile(model)
    images = torch.randn(16, 3, 32, 32).cuda()
    labels = torch.randint(0, 10, (16,)).cuda()
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(compiled(images), labels)
        loss.backward()
        optimizer.step()
        # Rounded: which of several kernels was the fastest may differ from run to run.
        print(f"loss {loss.item():.2f}")


if __name__ == "__main__":
    main()
