"""A loop of small operators: the cost of a launch, and of recording it, is all there is."""

import common

WARM_UP_OPERATORS = 1000


def work(args):
    import torch

    values = torch.zeros(1000, device="cuda")

    def loop(count):
        for _ in range(count):
            values.add_(1.0)

    loop(WARM_UP_OPERATORS)
    common.timed("operator", args.steps, lambda: loop(args.steps))
    print(f"value {values[0].item()!r} of {WARM_UP_OPERATORS + args.steps}")


if __name__ == "__main__":
    common.main(work, steps=20000, description=__doc__)
