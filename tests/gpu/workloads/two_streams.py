"""Two streams whose kernels overlap: a kernel of one block that spins, and small products beside it.

The spinning kernels alone make a GPU time near twice the busy time.
"""

import common

SPIN_CYCLES = 2_000_000


def work(args):
    import torch

    left, right = torch.cuda.Stream(), torch.cuda.Stream()
    matrix = torch.randn(256, 256).cuda() / 256
    product = matrix
    torch.cuda.synchronize()

    def overlap():
        nonlocal product
        for _ in range(args.steps):
            with torch.cuda.stream(left):
                torch.cuda._sleep(SPIN_CYCLES)
            with torch.cuda.stream(right):
                torch.cuda._sleep(SPIN_CYCLES)
                product = product @ matrix
            event = right.record_event()
            left.wait_event(event)

    common.timed("step", args.steps, overlap)
    common.print_checksum("product", product)


if __name__ == "__main__":
    common.main(work, steps=20, description=__doc__)
