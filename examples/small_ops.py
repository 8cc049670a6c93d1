#!/usr/bin/env python3
"""Many small operators: the GPU waits for launches, which the report shows as a busy time far below the wall time.

LD_PRELOAD=build/release/lib/libgpuspy.so python3 examples/small_ops.py --operators 20000
"""

import argparse
import time

import torch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--operators", type=int, default=20000)
    args = parser.parse_args()

    values = torch.zeros(1000, device="cuda")
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(args.operators):
        values.add_(1.0)
    torch.cuda.synchronize()
    seconds = time.perf_counter() - start
    print(f"{seconds / args.operators * 1e6:.2f} microseconds per operator, value {values[0].item():.0f}")


if __name__ == "__main__":
    main()
