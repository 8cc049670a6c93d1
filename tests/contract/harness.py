"""What libgpuspy.so is as a file: read with binutils."""

import os
import pathlib
import subprocess

BUILD = pathlib.Path(os.environ["GPUSPY_BUILD"])
PRELOAD = BUILD / "lib" / "libgpuspy.so"


def output(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True, timeout=60).stdout


def needed():
    lines = [line for line in output("readelf", "-dW", PRELOAD).splitlines() if "(NEEDED)" in line]
    return sorted(line.split("[")[1].rstrip("]") for line in lines)


def dynamic_symbols():
    """(name without version, version or "", defined) of each dynamic symbol."""
    symbols = []
    for line in output("nm", "-D", PRELOAD).splitlines():
        kind, name = line.split()[-2:]
        name, _, version = name.partition("@")
        symbols.append((name, version.lstrip("@"), kind not in ("U", "w", "v")))
    return symbols


def tls_bytes():
    """The size of the TLS segment, 0 without one."""
    for line in output("readelf", "-lW", PRELOAD).splitlines():
        fields = line.split()
        if fields and fields[0] == "TLS":
            return int(fields[5], 16)
    return 0
