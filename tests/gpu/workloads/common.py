"""What the workloads share: arguments, seeds, and a profiler around the whole use of CUDA. Needs no framework itself.

Standard output holds results alone (losses, checksums) and is the same from run to run, so that runs with and without
gpuspy can be compared byte by byte; times go to standard error.
"""

import argparse
import collections
import importlib
import json
import os
import sys
import tempfile
import time

WARM_UP_STEPS = 3
NOT_MEASURED = 77
ROWS = 64
DEVICE_CATEGORIES = {"kernel": "kernels", "gpu_memcpy": "copies", "gpu_memset": "copies"}


def device_totals(chrome_trace):
    """{"kernels" | "copies": {name: [count, total_us]}} of a trace as torch.profiler exports it."""
    totals = {"kernels": collections.defaultdict(lambda: [0, 0.0]), "copies": collections.defaultdict(lambda: [0, 0.0])}
    for event in chrome_trace["traceEvents"]:
        kind = DEVICE_CATEGORIES.get(event.get("cat"))
        if kind and event.get("ph") == "X":
            total = totals[kind][event["name"]]
            total[0] += 1
            total[1] += event["dur"]
    return totals


def profiled(work, args):
    """Runs work(args) under torch.profiler, CUDA activities only, from before the first CUDA call to the end."""
    import torch

    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiler:
        work(args)
        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        profiler.export_chrome_trace(path)
        with open(path, encoding="utf-8", errors="replace") as file:
            totals = device_totals(json.load(file))
    with open(args.profile, "w", encoding="utf-8") as file:
        json.dump(totals, file, indent=1)


def main(work, steps, description):
    """Parses --steps and --profile, makes torch repeatable, and runs work(args) once."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--profile", metavar="FILE", help="run under torch.profiler and write its kernels to FILE")
    args = parser.parse_args()

    # cuBLAS wants this before its first handle; without it its split-K sums may differ from run to run.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    import torch

    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = False
    torch.use_deterministic_algorithms(True, warn_only=True)
    # Else every new tensor is filled by a kernel, which is not what a program does.
    torch.utils.deterministic.fill_uninitialized_memory = False

    if args.profile:
        profiled(work, args)
    else:
        work(args)


def timed(label, count, action):
    """Runs action(), waits for the device, and says on standard error how long each of `count` took."""
    import torch

    torch.cuda.synchronize()
    start = time.perf_counter()
    action()
    torch.cuda.synchronize()
    seconds = time.perf_counter() - start
    print(f"us_per_{label} {seconds / count * 1e6:.4f}", file=sys.stderr)


def print_checksum(name, tensor):
    """Prints sums that show any difference in the bits of `tensor`."""
    values = tensor.detach().double()
    print(f"{name} sum {values.sum().item()!r} squares {(values * values).sum().item()!r}")


def leave(reason):
    """Ends a workload that cannot run here: the suite says "not measured" and why."""
    print(" ".join(reason.split()), file=sys.stderr)
    sys.exit(NOT_MEASURED)


def need(module):
    """The imported module, without which the workload cannot run."""
    try:
        return importlib.import_module(module)
    except Exception as error:  # What an installation that does not fit throws is not only ImportError.
        leave(f"no {module}: {type(error).__name__}: {error}")


def section(action, *arguments):
    """Prints the name of `action` and what it returns. If it fails, that is printed: runs must agree in it too."""
    try:
        print(f"{action.__name__} {action(*arguments)}")
    except Exception as error:  # Each framework has exceptions of its own.
        print(f"{action.__name__} not run: {type(error).__name__}")
        print(f"{action.__name__}: {error}", file=sys.stderr)


def rows_apart():
    """Rows of 1,000 zeros, each in 4 MiB of device memory of its own.

    How long a kernel of 1 µs takes depends on the block of memory that its values lie in (1.030 to 1.120 µs over 65
    blocks of 4 MiB, in one process on an H200). With one row two runs compare where it lies; with many, the profilers.
    """
    import torch

    rows = [torch.empty(1 << 20, device="cuda")[:1000] for _ in range(ROWS)]
    for row in rows:
        row.zero_()
    return rows
