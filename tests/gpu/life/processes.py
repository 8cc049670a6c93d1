"""Processes that use the device, started by torch.multiprocessing: processes.py fork | spawn. The parent uses it too if they are
spawned; forked ones could not use it any more."""

import sys

import torch
import torch.multiprocessing as mp
import work


def child(rank, steps):
    print(f"child {rank}: {work.small(steps).sum().item()}", flush=True)


if __name__ == "__main__":
    how = sys.argv[1]
    if how == "spawn":
        print(f"parent: {work.small(10).sum().item()}", flush=True)
    context = mp.get_context(how)
    for rank in range(3):  # one after another, so that what they print is in order
        process = context.Process(target=child, args=(rank, 20 * (rank + 1)))
        process.start()
        process.join()
        print(f"child {rank} ended with {process.exitcode}", flush=True)
    assert how == "spawn" or not torch.cuda.is_initialized()
