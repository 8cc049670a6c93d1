"""The group "breadth": programs as people run them, by framework and by CUDA release.

What must hold is that the host notices nothing and that each launch has its record. torch.profiler is asked for kernels
and counts where the program is PyTorch's alone, not for times: many kernels here are too short for that.
"""

import dataclasses
import pathlib

import measure

WORKLOADS = pathlib.Path(__file__).resolve().parent / "workloads"


@dataclasses.dataclass(frozen=True)
class Workload:
    """A script in the folder of workloads. `seconds` is the limit of each of its runs."""

    name: str
    profiled: bool = False
    seconds: int = measure.RUN_SECONDS


# What is likely to take long comes last: time that runs out is its loss alone.
SCRIPTS = [
    Workload("triton_kernels"),
    Workload("cupy_arrays"),
    Workload("jax_jit", seconds=120),
    Workload("nccl_alone"),
    Workload("torch_libraries", profiled=True),
    Workload("timm_infer", profiled=True),
    Workload("gpt2_generate", profiled=True),
    Workload("loader_infer", profiled=True),
    Workload("torch_compile", seconds=120),
]

# What build_old_cuda.sh leaves in BUILD/bin/gpu: these names, and with each shared one its libcudart.
OLD_CUDA = [
    f"launches_cuda{major}_{runtime}_{stream}"
    for major in (11, 12)
    for runtime in ("shared", "static")
    for stream in ("legacy", "per-thread")
]
# The same with the CUPTI of their CUDA, whose records are shorter: {name: (program, library in bin/gpu/cupti)}.
OLD_CUPTI = {
    "launches_cuda11_cupti11": ("launches_cuda11_shared_legacy", "libcupti.so.11.8"),
    "launches_cuda12_cupti12": ("launches_cuda12_shared_legacy", "libcupti.so.12"),
}
NVTX = "nvtx_phases"
NAMES = OLD_CUDA + list(OLD_CUPTI) + [NVTX] + [workload.name for workload in SCRIPTS]


def measure_old_cuda(machine, name, library_path):
    """launches.cu, built with an older CUDA elsewhere."""
    folder = machine.build / "bin" / "gpu"
    program, cupti = OLD_CUPTI.get(name, (name, None))
    needed = [folder / program] + ([folder / "cupti" / cupti] if cupti else [])
    if not all(file.is_file() for file in needed):
        return measure.Measured(name, not_measured="not in bin/gpu: run tests/gpu/build_old_cuda.sh first")
    variables = {"LD_LIBRARY_PATH": library_path}
    if cupti:
        variables["GPUSPY_CUPTI"] = str(needed[1])
    # The launch that fails by design is refused by the runtime itself before CUDA 13: linked statically, it cannot be seen.
    failures = 0 if "_static_" in name else 1
    return measure.measure_program(machine, name, needed[:1], failures=failures, **variables)


def measure_nvtx(machine, python):
    """A program with NVTX ranges, which are handed over as gpuspy-run has them handed over."""
    row = measure.Measured(NVTX)
    command = [python, WORKLOADS / f"{NVTX}.py"]
    recorded = measure.record(machine, row, command, NVTX_INJECTION64_PATH=str(machine.preload))
    if recorded is None or row.report is None:
        return row
    steps = int(recorded.stdout.split()[-1])
    ranges, fault = machine.read_view(f"{NVTX}/gpuspy", "phases", "ranges")
    if not row.need(not fault, fault):
        return row
    by_name = {one["name"]: one for one in ranges}
    for name in ("step", "forward", "backward", "optimizer"):
        if row.need(name in by_name, f"no NVTX range {name}"):
            found = by_name[name]
            row.need(found["count"] == steps, f"{found['count']} ranges {name}, the program has {steps}")
            row.need(found["open"] == 0, f"{found['open']} ranges {name} never ended")
            row.need(found["projected_ns"] or name == "backward", f"nothing ran on the GPU in {name}")
    row.need(by_name.get("request", {}).get("kind") == "start/end", "no NVTX range request from start to end")
    row.need("after step 0" in by_name, "no NVTX mark")
    relu = by_name.get("aten::relu", {"count": 0})["count"]
    row.need(relu == steps, f"{relu} ranges of PyTorch's aten::relu, the program has {steps}")
    return row


def rows(machine, python, wanted, library_path):
    """Measures what wanted(name) says, one row after another."""
    for name in filter(wanted, [*OLD_CUDA, *OLD_CUPTI]):
        yield measure_old_cuda(machine, name, library_path)
    if wanted(NVTX):
        yield measure_nvtx(machine, python)
    for workload in SCRIPTS:
        if wanted(workload.name):
            yield measure.measure_workload(
                machine,
                python,
                WORKLOADS / f"{workload.name}.py",
                seconds=workload.seconds,
                profiled=workload.profiled,
                compare_time=False,
            )
