"""Captures 1,000 kernels in a CUDA graph and replays it."""

import common

KERNELS = 1000


def work(args):
    import torch

    values = torch.zeros(1000, device="cuda")
    values.add_(1.0)  # Loads the kernel's module, which a capture must not do.
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(KERNELS):
            values.add_(1.0)

    def replay():
        for _ in range(args.steps):
            graph.replay()

    common.timed("replay", args.steps, replay)
    print(f"value {values[0].item()!r} of {1 + KERNELS * args.steps}")


if __name__ == "__main__":
    common.main(work, steps=20, description=__doc__)
