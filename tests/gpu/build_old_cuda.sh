#!/bin/sh
# Builds launches.cu with CUDA 11.8 and 12.4, for the suite's rows launches_cuda11_* and launches_cuda12_*.
#
#     tests/gpu/build_old_cuda.sh [BUILD]        BUILD: build/release unless given
#
# The compilers are Debian's packages (non-free; some 1.9 GB to download, once), unpacked below build/old-cuda: nothing is
# installed, and apt's own lists and sources stay as they are. Needs g++ and apt; no GPU. What it leaves in BUILD/bin/gpu
# (20 MB: eight programs, the libcudart of those with a shared one, and the libcupti of each CUDA) runs on any machine with
# a driver of CUDA 12.4 or later and a glibc as new as this one's: the kernels are there as PTX too.
set -u
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd) || exit 1
build=${1:-$root/build/release}
cache=$root/build/old-cuda
programs=$build/bin/gpu
log=$cache/log
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

fail() {
    echo "build_old_cuda.sh: $*" >&2
    exit 1
}

# apt with the one suite `suite` and state of its own.
apt_of() {
    suite=$1
    shift
    apt-get -q -o Dir::Etc::sourcelist="$cache/$suite.list" -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::State::Lists="$cache/$suite.lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= \
        -o Dir::Cache::archives="$cache/$suite.archives" -o APT::Sandbox::User=root "$@" >"$log" 2>&1 ||
        fail "apt-get $*: $(grep -m1 '^E:' "$log" || tail -n 1 "$log")"
}

# unpack SUITE LIBRARY...: the suite's toolkit in build/old-cuda/SUITE.
unpack() {
    suite=$1
    shift
    toolkit=$cache/$suite
    [ -e "$toolkit/complete" ] && return
    rm -rf "$toolkit" "$cache/$suite.debs"
    mkdir -p "$toolkit" "$cache/$suite.debs" "$cache/$suite.lists/partial" "$cache/$suite.archives/partial" ||
        fail "cannot make folders in $cache"
    echo "deb [signed-by=$keyring] $mirror $suite main contrib non-free" >"$cache/$suite.list"
    apt_of "$suite" update
    cd "$cache/$suite.debs" || exit 1
    apt_of "$suite" download nvidia-cuda-toolkit nvidia-cuda-dev libcu++-dev "$@"
    for package in *.deb; do
        # The libraries of nvidia-cuda-dev are gigabytes, of which the runtime alone is wanted.
        dpkg-deb --fsys-tarfile "$package" | tar -C "$toolkit" -x \
            --exclude='*/cmake/*' --exclude='*/libcu[bcf-or-z]*' --exclude='*/libnp*' --exclude='*/libnv*' \
            --exclude='*/compute-sanitizer' --exclude='./usr/share' || fail "cannot unpack $package"
    done
    cd "$root" && rm -rf "$cache/$suite.debs"

    # The packages' paths are those of an installation: ours are beside the compiler. Their gcc and g++ only choose one.
    compiler=$toolkit/usr/lib/nvidia-cuda-toolkit/bin
    rm -f "$compiler/nvcc.profile" "$compiler/gcc" "$compiler/g++"
    cat >"$compiler/nvcc.profile" <<'PROFILE' || fail "cannot write nvcc.profile"
NVVMIR_LIBRARY_DIR = $(_HERE_)/../libdevice
PATH += $(_HERE_):$(_HERE_)/../../../bin:
INCLUDES += -I$(_HERE_)/../../../include $(_SPACE_)
LIBRARIES =+ $(_SPACE_) -L$(_HERE_)/../../../lib/x86_64-linux-gnu
PROFILE
    touch "$toolkit/complete"
}

# build_with SUITE MAJOR CUDART CUPTI: the four programs of one CUDA, and its libraries by the end of their names.
build_with() {
    toolkit=$cache/$1
    for runtime in shared static; do
        for stream in legacy per-thread; do
            program=$programs/launches_cuda$2_${runtime}_$stream
            # CUDA 11.8 knows g++ up to 11.
            "$toolkit/usr/lib/nvidia-cuda-toolkit/bin/nvcc" -ccbin "$(command -v g++)" -allow-unsupported-compiler \
                -std=c++17 -O2 -arch=sm_80 -cudart "$runtime" --default-stream "$stream" \
                -Xlinker "-rpath,\$ORIGIN" "$root/tests/gpu/launches.cu" -o "$program" >"$log" 2>&1 ||
                fail "nvcc of CUDA $2: $(grep -m1 error "$log" || tail -n 1 "$log")"
        done
    done
    libraries=$toolkit/usr/lib/x86_64-linux-gnu
    cp -L "$libraries/libcudart.so.$3" "$programs/" || fail "no libcudart.so.$3 in the packages of CUDA $2"
    # In a folder of its own, where it is found only by who names it.
    cp -L "$libraries/libcupti.so.$4" "$programs/cupti/" || fail "no libcupti.so.$4 in the packages of CUDA $2"
}

for needed in apt-get dpkg-deb g++; do
    command -v "$needed" >/dev/null || fail "needs $needed"
done
[ -e "$keyring" ] || fail "needs the package debian-archive-keyring"
# shellcheck disable=SC2016  # apt's placeholder, not the shell's.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | grep -m1 '/debian/*$')
[ -n "$mirror" ] || fail "apt has no Debian mirror in its sources"
mkdir -p "$cache" "$programs/cupti" || fail "cannot make folders in $root/build"
unpack bookworm libcudart11.0 libcupti11.8
unpack trixie libcudart12 libcupti12
build_with bookworm 11 11.0 11.8
build_with trixie 12 12 12
ls -l "$programs" "$programs/cupti"
