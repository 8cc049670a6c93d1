#!/bin/sh
# Installs what the build needs and is not there: Debian 12 packages, and the headers of CUDA, CUPTI, cuBLAS and cuDNN.
#
#     scripts/setup.sh
#
# Asks for nothing and changes nothing when everything is there. What the wheel's build needs of PyPI goes to build/wheels. Headers are taken from CUDA_HOME, then /usr/local/cuda; if
# neither has all of them, from the vendor's wheels on PyPI into build/cuda-headers (about 1 GB to download, once).
set -u
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd) || exit 1

fail() {
    echo "setup: $*" >&2
    exit 1
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

# ---- packages ----------------------------------------------------------------------------------------------------------

# Programs that may have come from elsewhere, by the command that is looked for, and libraries, by a file of theirs.
commands="cmake:cmake ninja:ninja-build g++:g++ clang++:clang clang-format:clang-format python3:python3
    pkg-config:pkg-config readelf:binutils dpkg-shlibdeps:dpkg-dev file:file chromium:chromium
    chromedriver:chromium-driver protoc:protobuf-compiler musl-gcc:musl-tools valgrind:valgrind"
files="fmt/format.h:libfmt-dev spdlog/spdlog.h:libspdlog-dev catch2/catch.hpp:catch2 CLI/CLI.hpp:libcli11-dev
    zstd.h:libzstd-dev nlohmann/json.hpp:nlohmann-json3-dev xxhash.h:libxxhash-dev sqlite3.h:libsqlite3-dev
    zlib.h:zlib1g-dev benchmark/benchmark.h:libbenchmark-dev google/protobuf/message_lite.h:libprotobuf-dev"
# What the HTML report contains.
scripts="javascript/chart.js/chart.min.js:libjs-chart.js nodejs/d3/dist/d3.min.js:node-d3"

# Allocators that tests preload together with gpuspy.
libraries="libjemalloc.so.2:libjemalloc2 libtcmalloc_minimal.so.4:libtcmalloc-minimal4"

missing_packages() {
    for entry in $commands; do
        command -v "${entry%%:*}" >/dev/null 2>&1 || echo "${entry##*:}"
    done
    for entry in $files; do
        [ -e "/usr/include/${entry%%:*}" ] || echo "${entry##*:}"
    done
    for entry in $libraries; do
        ls /usr/lib/*/"${entry%%:*}" >/dev/null 2>&1 || echo "${entry##*:}"
    done
    for entry in $scripts; do
        [ -e "/usr/share/${entry%%:*}" ] || echo "${entry##*:}"
    done
    # The test of the HTML report drives the browser with it.
    /usr/bin/python3 -c 'import selenium' >/dev/null 2>&1 || echo python3-selenium
    # The test of the wheel makes a virtual environment; Debian's python3 comes without what that takes.
    python3 -c 'import ensurepip, venv' >/dev/null 2>&1 || echo python3-venv
}

install_packages() {
    command -v apt-get >/dev/null 2>&1 ||
        fail "not installed: $*; there is no apt-get here: install their like and run this again"
    [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null 2>&1 ||
        fail "not installed: $*; run as root, or: apt-get install $*"
    echo "setup: installing $*"
    log=$(mktemp) || fail "no room for a temporary file"
    as_root apt-get update -qq >"$log" 2>&1 ||
        fail "apt-get update failed: $(grep -m1 '^[EW]:' "$log" || tail -n 1 "$log")"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >"$log" 2>&1 ||
        fail "apt-get install $* failed: $(grep -m1 '^E:' "$log" || tail -n 1 "$log")"
    rm -f "$log"
}

missing=$(missing_packages | tr '\n' ' ')
if [ -n "$missing" ]; then
    # shellcheck disable=SC2086  # A list of words.
    install_packages $missing
    missing=$(missing_packages | tr '\n' ' ')
    [ -z "$missing" ] || fail "still not there after its package was installed: $missing"
fi

# ---- headers -----------------------------------------------------------------------------------------------------------

# The same question as in cmake/gpuspy_cuda_headers.cmake.
whole_headers() {
    for header in cuda.h cuda_runtime_api.h crt/host_defines.h fatbinary_section.h cudaProfiler.h cupti.h cublas_v2.h \
        cublasLt.h cudnn.h; do
        [ -e "$1/$header" ] || return 1
    done
    version=$(sed -n 's/^#define CUDA_VERSION \([0-9]*\).*/\1/p' "$1/cuda.h")
    [ "${version:-0}" -ge 13000 ]
}

# Only headers are wanted of these; versions that belong together.
wheels="nvidia-cuda-runtime==13.0.96 nvidia-cuda-crt==13.0.88 nvidia-cuda-nvcc==13.0.88 nvidia-cuda-cccl==13.0.85
    nvidia-cuda-profiler-api==13.0.85 nvidia-cuda-cupti==13.0.85 nvidia-nvtx==13.0.85 nvidia-cublas==13.1.0.3
    nvidia-cudnn-cu13==9.19.0.56"

find_pip() {
    for python in python3 /usr/bin/python3; do
        if "$python" -m pip --version >/dev/null 2>&1; then
            echo "$python"
            return
        fi
    done
}

fetch_headers() {
    folder=$root/build/cuda-headers
    [ -n "$(find_pip)" ] || install_packages python3-pip
    python=$(find_pip)
    [ -n "$python" ] || fail "python3 has no pip: install python3-pip"
    rm -rf "$folder" && mkdir -p "$folder/wheels"
    [ -d "$folder/wheels" ] || fail "cannot write to $folder"
    for wheel in $wheels; do
        echo "setup: fetching the headers of $wheel"
        "$python" -m pip download -q --no-deps --only-binary :all: --dest "$folder/wheels" "$wheel" >"$folder/log" 2>&1 ||
            fail "pip could not download $wheel (set CUDA_HOME to a CUDA 13 with cuDNN instead): $(tail -n 1 "$folder/log")"
        "$python" "$root/scripts/unpack_wheel.py" "$folder" "$folder"/wheels/*.whl || exit 1
        rm -f "$folder"/wheels/*.whl
    done
    rm -rf "$folder/wheels" "$folder/log"
    whole_headers "$folder/include" || fail "the wheels did not bring every header that is needed into $folder/include"
}

found=
for include in ${CUDA_HOME:+"$CUDA_HOME/include"} /usr/local/cuda/include "$root/build/cuda-headers/include"; do
    if whole_headers "$include"; then
        found=$include
        break
    fi
done
[ -n "$found" ] || fetch_headers

# ---- the wheel's build -------------------------------------------------------------------------------------------------

# The test of the wheel installs without the network, from here. Nothing else needs it, so a machine without PyPI goes on.
backend=scikit-build-core==1.1.2
if ! ls "$root"/build/wheels/scikit_build_core-*.whl >/dev/null 2>&1; then
    python=$(find_pip)
    mkdir -p "$root/build/wheels"
    echo "setup: fetching $backend"
    "${python:-python3}" -m pip download -q --only-binary :all: --dest "$root/build/wheels" "$backend" >/dev/null 2>&1 ||
        echo "setup: pip could not download $backend: the test of the wheel will be skipped" >&2
fi

# ---- tools that open exports -------------------------------------------------------------------------------------------

# As above: the tests of exports install them without the network, from here.
requirements=$root/tests/export/requirements.txt
tools=$root/build/wheels/export
if ! cmp -s "$requirements" "$tools/requirements.txt"; then
    python=$(find_pip)
    rm -rf "$tools" && mkdir -p "$tools"
    echo "setup: fetching the tools that open exports (130 MB)"
    if "${python:-python3}" -m pip download -q --no-deps --only-binary :all: --dest "$tools" -r "$requirements" >/dev/null 2>&1; then
        cp "$requirements" "$tools/requirements.txt"
    else
        rm -rf "$tools"
        echo "setup: pip could not download what $requirements names: tests of exports that need it will be skipped" >&2
    fi
fi
