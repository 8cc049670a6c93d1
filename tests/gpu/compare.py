#!/usr/bin/env python3
"""Compares the kernels of a gpuspy report with those that torch.profiler saw in another run.

    compare.py REPORT.json PROFILE.json

Prints every kernel whose count differs, and the total kernel times. Exit status: 0 the same kernels and counts and
total times within 5 %, 1 not the same, 2 an input cannot be read.
"""

import ctypes
import ctypes.util
import dataclasses
import functools
import json
import sys

TIME_TOLERANCE = 0.05


@functools.lru_cache(maxsize=None)
def demangler():
    """The C++ runtime's __cxa_demangle and the free that goes with it, or None where there is none."""
    try:
        runtime = ctypes.CDLL("libstdc++.so.6")
    except OSError:
        return None
    function = runtime.__cxa_demangle
    function.restype = ctypes.c_void_p
    function.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int)]
    free = ctypes.CDLL(None).free
    free.argtypes = [ctypes.c_void_p]
    return function, free


@functools.lru_cache(maxsize=None)
def canonical(name):
    """The demangled form of a kernel's name; the name itself where it is not mangled."""
    if not name.startswith("_Z") or demangler() is None:
        return name
    demangle, free = demangler()
    status = ctypes.c_int(0)
    text = demangle(name.encode(), None, None, ctypes.byref(status))
    if status.value != 0 or not text:
        return name
    result = ctypes.string_at(text).decode(errors="replace")
    free(text)
    return result


@dataclasses.dataclass
class Kernels:
    """Kernels of one run: counts and total time in ns, by canonical name."""

    counts: dict
    times_ns: dict

    @property
    def launches(self):
        return sum(self.counts.values())

    @property
    def time_ns(self):
        return sum(self.times_ns.values())


def add_all(rows):
    """Kernels from (name, count, time_ns) rows; rows of the same kernel (several owners) are added up.

    Without device times time_ns is None.
    """
    kernels = Kernels({}, {})
    for name, count, time_ns in rows:
        key = canonical(name)
        kernels.counts[key] = kernels.counts.get(key, 0) + count
        kernels.times_ns[key] = kernels.times_ns.get(key, 0) + (time_ns or 0)
    return kernels


def of_report(report):
    """Kernels of what `gpuspy-report --format json` printed."""
    return add_all((row.get("mangled") or row["name"], row["count"], row["time_ns"]) for row in report["kernels"])


def of_profile(profile):
    """Kernels of what a workload's --profile wrote."""
    return add_all((name, count, total_us * 1e3) for name, (count, total_us) in profile["kernels"].items())


@dataclasses.dataclass
class Comparison:
    ours: Kernels
    theirs: Kernels

    @property
    def differences(self):
        """(name, our count, their count) of each kernel whose count differs, the largest difference first."""
        names = set(self.ours.counts) | set(self.theirs.counts)
        rows = [(name, self.ours.counts.get(name, 0), self.theirs.counts.get(name, 0)) for name in names]
        rows = [row for row in rows if row[1] != row[2]]
        return sorted(rows, key=lambda row: (-abs(row[1] - row[2]), row[0]))

    @property
    def time_ratio(self):
        """Our total kernel time over theirs; None where they saw none."""
        return self.ours.time_ns / self.theirs.time_ns if self.theirs.time_ns else None

    @property
    def same_kernels(self):
        return not self.differences and bool(self.ours.counts)

    @property
    def same_time(self):
        return self.time_ratio is not None and abs(self.time_ratio - 1) <= TIME_TOLERANCE

    def lines(self):
        """What a person reads."""
        for name, ours, theirs in self.differences:
            yield f"count differs: gpuspy {ours}, torch.profiler {theirs}: {name}"
        ratio = "-" if self.time_ratio is None else f"{self.time_ratio:.4f}"
        yield (
            f"kernels: gpuspy {self.ours.launches} ({len(self.ours.counts)} distinct), "
            f"torch.profiler {self.theirs.launches} ({len(self.theirs.counts)} distinct); "
            f"time: {self.ours.time_ns / 1e6:.3f} ms, {self.theirs.time_ns / 1e6:.3f} ms, ratio {ratio}"
        )
        yield "same" if self.same_kernels and self.same_time else "NOT the same"


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        with open(arguments[0], encoding="utf-8") as report, open(arguments[1], encoding="utf-8") as profile:
            comparison = Comparison(of_report(json.load(report)), of_profile(json.load(profile)))
    except (OSError, ValueError, KeyError) as error:
        print(f"compare.py: {error}", file=sys.stderr)
        return 2
    print("\n".join(comparison.lines()))
    return 0 if comparison.same_kernels and comparison.same_time else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
