#!/bin/sh
# Memory over a long run at full speed (tests/integration/test_memory.py): tests/soak.sh [SECONDS [BUILD]], 60 s unless given, on a
# release build with the simulated device. Prints launches a second and resident memory, with gpuspy and without.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${2:-$root/build/release}" && pwd)
GPUSPY_SOAK_SECONDS=${1:-60} GPUSPY_SOAK_PAUSE_EVERY=${GPUSPY_SOAK_PAUSE_EVERY:-0} GPUSPY_BUILD=$build \
    GPUSPY_HOSTS=$build/tests/hosts PYTHONDONTWRITEBYTECODE=1 \
    exec python3 "$root/tests/integration/test_memory.py" Memory.test_flat
