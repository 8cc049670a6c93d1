"""Triton's profiler, Proton, around a part of the work."""

import json
import os
import tempfile

import torch
import triton.profiler as proton
import work

work.small(50)
torch.cuda.synchronize()
with tempfile.TemporaryDirectory() as folder:
    name = os.path.join(folder, "proton")
    proton.start(name, hook=None)
    with proton.scope("small"):
        work.small(300)
    torch.cuda.synchronize()
    proton.finalize()
    with open(name + ".hatchet", encoding="utf-8") as file:
        tree = json.load(file)
work.small(30)
torch.cuda.synchronize()


def count(node):
    here = node.get("metrics", {}).get("count", 0)
    return int(here) + sum(count(child) for child in node.get("children", []))


print(f"scope small: {sum(count(node) for node in tree if 'metrics' in node)} kernels")
