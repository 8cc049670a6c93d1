"""Two threads, each with a stream of its own."""

import threading

import torch
import work

torch.zeros(1, device="cuda")
sums = {}


def run(name, steps):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        x = work.small(steps)
    stream.synchronize()
    sums[name] = x.sum().item()


threads = [threading.Thread(target=run, args=(name, steps)) for name, steps in (("one", 300), ("two", 500))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sorted(sums.items()))
