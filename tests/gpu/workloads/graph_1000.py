"""Captures 1,000 kernels in a CUDA graph and replays it."""

import itertools

import common

KERNELS = 1000


def work(args):
    import torch

    rows = common.rows_apart()
    rows[0].add_(1.0)  # Loads the kernel's module, which a capture must not do.
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for row in itertools.islice(itertools.cycle(rows), KERNELS):
            row.add_(1.0)

    def replay():
        for _ in range(args.steps):
            graph.replay()

    common.timed("replay", args.steps, replay)
    print(f"total {sum(row[0].item() for row in rows)!r} of {1 + KERNELS * args.steps}")


if __name__ == "__main__":
    common.main(work, steps=20, description=__doc__)
