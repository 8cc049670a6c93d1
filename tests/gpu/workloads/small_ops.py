"""A loop of small operators: the cost of a launch, and of recording it, is all there is."""

import itertools

import common

WARM_UP_OPERATORS = 1000


def work(args):
    rows = common.rows_apart()

    def loop(count):
        for row in itertools.islice(itertools.cycle(rows), count):
            row.add_(1.0)

    loop(WARM_UP_OPERATORS)
    common.timed("operator", args.steps, lambda: loop(args.steps))
    print(f"total {sum(row[0].item() for row in rows)!r} of {WARM_UP_OPERATORS + args.steps}")


if __name__ == "__main__":
    common.main(work, steps=20000, description=__doc__)
