#!/bin/sh
# What must be seen on a GPU (docs/testing.md): records programs, compares with torch.profiler, measures the cost. With
# --group breadth: programs of many frameworks, and of older CUDA releases where build_old_cuda.sh has been run.
#
#     tests/gpu/run.sh [BUILD [ARGUMENTS OF suite.py...]]     BUILD: build/release unless given
#
# Results go to $OUT, else build/gpu-results. Needs python3 with torch and torchvision, and a release build, which may
# have been made on another machine. Exit status: 77 without a GPU, else suite.py's.
set -u
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd) || exit 2
build=${1:-$root/build/release}
[ $# -gt 0 ] && shift

if ! [ -e /dev/nvidia0 ] && ! nvidia-smi >/dev/null 2>&1; then
    echo "skipped: no GPU"
    exit 77
fi
if ! python3 -c 'import torch, torchvision' 2>/dev/null; then
    echo "tests/gpu/run.sh: python3 cannot import torch and torchvision: install them, or put theirs first in PATH" >&2
    exit 2
fi
export PYTHONDONTWRITEBYTECODE=1
out=${OUT:-$root/build/gpu-results}
exec python3 "$root/tests/gpu/suite.py" --build "$build" --out "$out" "$@"
