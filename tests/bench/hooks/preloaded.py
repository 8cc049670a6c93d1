"""Runs a program of tests/bench/hooks without gpuspy, with it switched off, and with it recording host events."""

import json
import os
import pathlib
import subprocess
import tempfile

RECORDING = {"GPUSPY_DEVICE_TIMING": "0", "GPUSPY_RING_KIB": "1024", "GPUSPY_DRAIN_MS": "1"}
VARIANTS = {"bare": None, "off": {"GPUSPY_DISABLE": "1"}, "recorded": RECORDING}


class Build:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        self.library = self.folder / "lib" / "libgpuspy.so"

    def program(self, name):
        return self.folder / "bin" / name

    def environment(self, variant, trace):
        chosen = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "LANG") if name in os.environ}
        chosen["LD_LIBRARY_PATH"] = str(self.folder / "tests" / "hosts")
        if VARIANTS[variant] is not None:
            chosen |= {"LD_PRELOAD": str(self.library), "GPUSPY_OUTPUT": str(trace), **VARIANTS[variant]}
        return chosen

    def run(self, variant, command, prefix=()):
        """What the command printed, and the calls that were dropped (None: nothing was recorded)."""
        with tempfile.TemporaryDirectory(prefix="gpuspy-bench-") as folder:
            trace = pathlib.Path(folder) / "trace.bin"
            process = subprocess.run([*prefix, *map(str, command)], env=self.environment(variant, trace), capture_output=True,
                                     text=True, check=False)
            if process.returncode != 0:
                raise SystemExit(f"{command[0]} ({variant}): status {process.returncode}\n{process.stderr}")
            return process, self.dropped(trace) if variant == "recorded" else None

    def dropped(self, trace):
        report = subprocess.run([self.program("gpuspy-report"), "--format", "json", trace], capture_output=True,
                                text=True, check=False)
        return sum(json.loads(report.stdout)["launches"]["dropped"].values())
