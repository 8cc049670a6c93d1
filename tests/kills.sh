#!/bin/sh
# Kills hosts in every way at hundreds of random moments (tests/integration/test_kills.py): tests/kills.sh [ROUNDS [BUILD]],
# ROUNDS of each kind (40 unless given), on a release build. Not part of the quick suite: a round takes half a second.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${2:-$root/build/release}" && pwd)
GPUSPY_KILL_ROUNDS=${1:-40} GPUSPY_BUILD=$build GPUSPY_HOSTS=$build/tests/hosts PYTHONDONTWRITEBYTECODE=1 \
    exec python3 "$root/tests/integration/test_kills.py" Kills
