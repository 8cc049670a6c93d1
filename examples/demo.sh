#!/bin/sh
# Installs what is missing, builds, records a program and prints its report.
#
#     examples/demo.sh
#
# With a GPU: a PyTorch training script if torch can be imported, else a CUDA program. Without one: the same CUDA program
# on a simulated device, which the first line says.
set -u
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd) || exit 1
cd "$root" || exit 1
build=$root/build/release

has_gpu() {
    [ -e /dev/nvidia0 ] || nvidia-smi >/dev/null 2>&1
}

has_torch() {
    python3 -c 'import sys, torch, torchvision; sys.exit(not torch.cuda.is_available())' >/dev/null 2>&1
}

# A CUDA program needs libcudart.so.13: the toolkit's, else the one that came with the headers.
runtime_folder() {
    for folder in ${CUDA_HOME:+"$CUDA_HOME/lib64"} /usr/local/cuda/lib64 "$root/build/cuda-headers/lib"; do
        if [ -e "$folder/libcudart.so.13" ]; then
            printf '%s:' "$folder"
            return
        fi
    done
}

libraries=
if ! has_gpu; then
    echo "No GPU here: this is a SIMULATED device, on which kernels take time and compute nothing."
    libraries=simulated
    set -- "$build/bin/examples/vector_add"
elif has_torch; then
    echo "GPU: $(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1), PyTorch"
    set -- python3 "$root/examples/train_resnet.py"
else
    echo "GPU: $(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1), CUDA program (no torch here)"
    libraries=runtime
    set -- "$build/bin/examples/vector_add"
fi

scripts/setup.sh || exit 1
echo "Building build/release ..."
scripts/build.sh release gpuspy_preload gpuspy-run gpuspy-report vector_add || exit 1
for program in lib/libgpuspy.so bin/gpuspy-report bin/gpuspy-run bin/examples/vector_add; do
    [ -e "$build/$program" ] || {
        echo "demo: the build left no $build/$program" >&2
        exit 1
    }
done

# Only now: setup may have brought the runtime, and no program of the build itself shall run on a simulated device.
case $libraries in
    simulated) LD_LIBRARY_PATH="$build/lib/simulated${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" && export LD_LIBRARY_PATH ;;
    runtime) LD_LIBRARY_PATH="$(runtime_folder)${LD_LIBRARY_PATH:-}" && export LD_LIBRARY_PATH ;;
esac

folder=$root/build/demo
rm -rf "$folder" && mkdir "$folder" && cd "$folder" || exit 1
echo "Recording: gpuspy-run -o build/demo/trace.bin -- $*"
"$build/bin/gpuspy-run" -o trace.bin -- "$@"
status=$?
[ "$status" -eq 0 ] || {
    echo "demo: the program ended with exit status $status" >&2
    exit "$status"
}
echo "Report: gpuspy-report build/demo/trace.bin"
echo
"$build/bin/gpuspy-report" trace.bin
