"""What the programs share: work on the device whose kernels are the same each time."""


def small(steps):
    import torch

    x = torch.zeros(1000, device="cuda")
    a = torch.ones(256, 256, device="cuda")
    for _ in range(steps):
        x.add_(1.0)
        (a @ a).relu_()
    return x
