"""Runs a program of tests/bench/hooks without gpuspy, with it switched off, and with it recording host events."""

import dataclasses
import json
import os
import pathlib
import subprocess
import tempfile

RECORDING = {"GPUSPY_DEVICE_TIMING": "0", "GPUSPY_RING_KIB": "1024", "GPUSPY_DRAIN_MS": "1"}
VARIANTS = {"bare": None, "off": {"GPUSPY_DISABLE": "1"}, "recorded": RECORDING}


@dataclasses.dataclass
class Run:
    process: subprocess.CompletedProcess
    report: dict = None  # of gpuspy-report --format json; None: nothing was recorded
    trace_bytes: int = 0

    @property
    def dropped(self):
        return sum(self.report["launches"]["dropped"].values()) if self.report else 0


class Build:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        self.library = self.folder / "lib" / "libgpuspy.so"

    def program(self, name):
        return self.folder / "bin" / name

    def record(self, command, **settings):
        return self.run("recorded", command, **settings)

    def run(self, variant, command, prefix=(), **settings):
        """Exits where the command fails."""
        with tempfile.TemporaryDirectory(prefix="gpuspy-bench-") as folder:
            trace = pathlib.Path(folder) / "trace.bin"
            environment = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "LANG") if name in os.environ}
            environment["LD_LIBRARY_PATH"] = str(self.folder / "tests" / "hosts")
            if VARIANTS[variant] is not None:
                environment |= {"LD_PRELOAD": str(self.library), "GPUSPY_OUTPUT": str(trace), **VARIANTS[variant], **settings}
            process = subprocess.run([*prefix, *map(str, command)], env=environment, capture_output=True, text=True,
                                     check=False)
            if process.returncode != 0:
                raise SystemExit(f"{command[0]} ({variant}): status {process.returncode}\n{process.stderr}")
            if variant != "recorded":
                return Run(process)
            report = subprocess.run([self.program("gpuspy-report"), "--format", "json", trace], capture_output=True,
                                    text=True, check=False)
            return Run(process, json.loads(report.stdout), trace.stat().st_size)
