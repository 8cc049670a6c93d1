#!/usr/bin/env python3
"""Bytes of trace for each launch, everything else that was recorded included, against thresholds.

usage: bytes_per_launch.py MAKE_TRACE GPUSPY_REPORT

Made traces hold the encoder and the writer of this build to their size; the kept ones, which change only when they are taken
anew, hold what is recorded. A threshold is about 3 % above what was measured when it was set: who lowers the size lowers
it, who raises it says why in the commit.
"""
import json
import os
import subprocess
import sys
import tempfile

MADE = {"loop": 10.6, "training": 25.8}
KEPT = {
    "h200_small_ops": 12.3,
    "h200_small_ops_host_only": 9.1,
    "h200_launches_static_ptds": 14.2,
    "h200_launches_shared": 18.8,
    "h200_gpt2_generate": 28.8,
    "h200_resnet_infer": 35.6,
    "h200_resnet_train": 43.5,
}
LAUNCHES = 200_000


def main():
    make_trace, report = sys.argv[1:]
    golden = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "golden")
    measured = {}
    with tempfile.TemporaryDirectory() as folder:
        for content in MADE:
            path = os.path.join(folder, "trace.bin")
            subprocess.run([make_trace, content, str(LAUNCHES), path], check=True, stdout=subprocess.DEVNULL)
            measured[content] = os.path.getsize(path) / LAUNCHES, MADE[content]
    for name in KEPT:
        path = os.path.join(golden, name + ".bin")
        findings = json.loads(subprocess.check_output([report, "--format", "json", "--top", "1", path]))
        measured[name] = os.path.getsize(path) / findings["launches"]["host"], KEPT[name]
    for name, (size, most) in measured.items():
        print(f"{name:28} {size:6.2f} bytes a launch, at most {most}{'' if size <= most else ': TOO MANY'}")
    sys.exit(any(size > most for size, most in measured.values()))


if __name__ == "__main__":
    main()
