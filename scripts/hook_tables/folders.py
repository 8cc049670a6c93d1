"""Headers of every major version, without the libraries: fetched from the vendor's wheels by reading only the parts of the archives
that hold them.

    folders.py FOLDER        fetches what is not there into FOLDER/<set>
"""

import functools
import http.client
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse
import urllib.request
import zipfile

BLOCK_BYTES = 1 << 18

# {set: ((project, version), ...)}: the first and the last release of each major that PyPI has.
SETS = {
    "cuda11.7": (
        ("nvidia-cuda-runtime-cu11", "11.7.99"),
        ("nvidia-cuda-nvcc-cu11", "11.7.99"),
        ("nvidia-cublas-cu11", "11.10.3.66"),
        ("nvidia-cufft-cu11", "10.7.2.91"),
        ("nvidia-cusolver-cu11", "11.4.0.1"),
        ("nvidia-cusparse-cu11", "11.7.4.91"),
        ("nvidia-curand-cu11", "10.2.10.91"),
    ),
    "cuda12.0": (
        ("nvidia-cuda-runtime-cu12", "12.0.107"),
        ("nvidia-cuda-nvcc-cu12", "12.0.76"),
        ("nvidia-cublas-cu12", "12.0.1.189"),
        ("nvidia-cufft-cu12", "11.0.0.21"),
        ("nvidia-cusolver-cu12", "11.4.2.57"),
        ("nvidia-cusparse-cu12", "12.0.0.76"),
        ("nvidia-curand-cu12", "10.3.1.50"),
    ),
    "cuda12.9": (
        ("nvidia-cuda-runtime-cu12", "12.9.79"),
        ("nvidia-cuda-nvcc-cu12", "12.9.86"),
        ("nvidia-cublas-cu12", "12.9.1.4"),
        ("nvidia-cufft-cu12", "11.4.1.4"),
        ("nvidia-cusolver-cu12", "11.7.5.82"),
        ("nvidia-cusparse-cu12", "12.5.10.65"),
        ("nvidia-curand-cu12", "10.3.10.19"),
    ),
    "toolkit": (
        ("nvidia-cuda-runtime", "13.0.96"),
        ("nvidia-cuda-crt", "13.0.88"),
        ("nvidia-cuda-nvcc", "13.0.88"),
        ("nvidia-cublas", "13.1.0.3"),
        ("nvidia-cudnn-cu13", "9.19.0.56"),
        ("nvidia-cufft", "12.0.0.61"),
        ("nvidia-cusolver", "12.0.4.66"),
        ("nvidia-cusparse", "12.6.3.3"),
        ("nvidia-curand", "10.4.0.35"),
        ("nvidia-nccl-cu13", "2.28.9"),
    ),
    "cudnn8.5": (("nvidia-cudnn-cu11", "8.5.0.96"),),
    "cudnn8.9": (("nvidia-cudnn-cu12", "8.9.7.29"),),
    "cudnn9.0": (("nvidia-cudnn-cu12", "9.0.0.312"),),
    "nccl2.13": (("nvidia-nccl-cu11", "2.13.4"),),
    "nccl2.32": (("nvidia-nccl-cu12", "2.32.3"),),
    "cutensor1": (("cutensor-cu11", "1.6.0"),),
    "cutensor2": (("cutensor-cu12", "2.8.1"),),
    "cusparselt": (("nvidia-cusparselt-cu12", "0.8.1"),),
}


class RemoteFile(io.RawIOBase):
    """A file on a server that answers requests for ranges, read block by block."""

    def __init__(self, url):
        super().__init__()
        self.url = url
        with urllib.request.urlopen(urllib.request.Request(url, method="HEAD"), timeout=60) as answer:
            self.bytes = int(answer.headers["Content-Length"])
        self.position = 0
        self.blocks = {}

    def seekable(self):
        return True

    def readable(self):
        return True

    def seek(self, offset, whence=io.SEEK_SET):
        self.position = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self.position, io.SEEK_END: self.bytes}[whence]
        return self.position

    def tell(self):
        return self.position

    def block(self, index):
        if index not in self.blocks:
            last = min(self.bytes, (index + 1) * BLOCK_BYTES) - 1
            request = urllib.request.Request(self.url, headers={"Range": f"bytes={index * BLOCK_BYTES}-{last}"})
            with urllib.request.urlopen(request, timeout=60) as answer:
                if answer.status != 206:
                    raise OSError(f"{self.url}: the server does not send parts of a file")
                self.blocks[index] = answer.read()
        return self.blocks[index]

    def readinto(self, buffer):
        index, offset = divmod(self.position, BLOCK_BYTES)
        wanted = min(len(buffer), self.bytes - self.position)
        if wanted <= 0:
            return 0
        part = self.block(index)[offset : offset + wanted]
        buffer[: len(part)] = part
        self.position += len(part)
        return len(part)


@functools.cache
def find_index():
    """The package index that pip uses here."""
    pip = [sys.executable, "-m", "pip"]
    chosen = subprocess.run([*pip, "config", "get", "global.index-url"], capture_output=True, text=True, check=False)
    index = os.environ.get("PIP_INDEX_URL") or chosen.stdout.strip()
    if not index:
        code = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"
        index = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stdout.strip()
    if not index:
        raise OSError("pip does not say which package index it uses")
    return index.rstrip("/")


def find_wheel(project, version):
    """URL of the wheel for x86-64 Linux."""
    page = f"{find_index()}/{project}/"
    accept = {"Accept": "application/vnd.pypi.simple.v1+json"}
    with urllib.request.urlopen(urllib.request.Request(page, headers=accept), timeout=60) as answer:
        files = json.load(answer)["files"]
    for file in files:
        name = file["filename"]
        if f"-{version}-" in name and name.endswith(".whl") and "linux" in name and "x86_64" in name:
            return urllib.parse.urljoin(page, file["url"])
    raise OSError(f"no wheel of {project} {version} for x86-64 Linux")


def fetch_headers(project, version, folder):
    with zipfile.ZipFile(io.BufferedReader(RemoteFile(find_wheel(project, version)), BLOCK_BYTES)) as wheel:
        for name in wheel.namelist():
            inside = re.search(r"/include/(.*\.(h|hpp))$", name)
            if not inside or "/cccl/" in name:
                continue
            path = folder / inside[1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(wheel.read(name))


def fetch_all(root):
    """Fetches what is not there. OSError when PyPI cannot be reached, or has changed."""
    for name, wheels in SETS.items():
        done = root / name
        stamp = done / "wheels.txt"
        fetched_from = "".join(f"{project} {version}\n" for project, version in wheels)
        if stamp.is_file() and stamp.read_text() == fetched_from:
            continue
        shutil.rmtree(done, ignore_errors=True)
        partial = root / f"{name}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        for project, version in wheels:
            try:
                fetch_headers(project, version, partial)
            except (http.client.HTTPException, zipfile.BadZipFile, ValueError, LookupError) as error:
                # An answer that breaks off, or is no list of files, or no archive.
                raise OSError(f"{project} {version}: {type(error).__name__}: {error}") from error
        (partial / stamp.name).write_text(fetched_from)
        partial.rename(done)


def include_folders(root, name):
    """Folders to include for a header set: those that hold no CUDA headers of their own take CUDA 13's."""
    own = root / name
    return [own] if (own / "cuda.h").exists() or name == "toolkit" else [own, root / "toolkit"]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    fetch_all(pathlib.Path(sys.argv[1]))
