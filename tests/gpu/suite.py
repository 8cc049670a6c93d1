#!/usr/bin/env python3
"""Everything that a GPU machine must show, in one command a group: see docs/testing.md.

Leaves results.md, results.json, traces.tar.gz (traces under 1 MiB with their reports) and logs.tar.gz in the output
folder.
Exit status: 0 everything held, 1 something did not, 2 it could not be started.
"""

import argparse
import concurrent.futures
import contextlib
import importlib.metadata
import json
import pathlib
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

import breadth
import measure
import tables
from runner import Machine

HERE = pathlib.Path(__file__).resolve().parent
WORKLOADS = "small_ops graph_1000 two_streams resnet_train resnet_infer graph_resnet_infer transformer".split()
EXAMPLES = "vector_add overlap graph_replay".split()
VARIANTS = {
    f"launches_{runtime}_{stream}": (runtime, stream)
    for runtime in ("shared", "static")
    for stream in ("legacy", "per-thread")
}
GROUPS = {"core": [*WORKLOADS, *VARIANTS, *EXAMPLES, "gpuspy_run", "ab"], "breadth": breadth.NAMES}
PACKAGES = "jax jax-cuda13-plugin cupy-cuda13x triton timm transformers nvidia-nccl-cu13 nvidia-cuda-cupti".split()
KEPT_TRACE_BYTES = 1 << 20
ROUNDS = 5


def first_line(command):
    """First line that a command prints, or why there is none."""
    try:
        text = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
        return text.strip().splitlines()[0]
    except (OSError, subprocess.SubprocessError, IndexError) as error:
        return f"not known ({type(error).__name__})"


def find_packages():
    """Versions of the frameworks of the group "breadth", as far as they are installed."""
    versions = []
    for name in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions.append(f"{name} {importlib.metadata.version(name)}")
    return ", ".join(versions) or "none of them is installed"


def find_facts(python):
    """What the numbers depend on."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    versions = (
        "import torch, torchvision; print(torch.__version__, torchvision.__version__, torch.backends.cudnn.version())"
    )
    return {
        "GPU, driver": first_line(query),
        "torch, torchvision, cuDNN": first_line([python, "-c", versions]),
        "other packages": find_packages(),
        "kernel, C library": f"{platform.release()}, {' '.join(platform.libc_ver())}",
        "date": time.strftime("%Y-%m-%d"),
    }


def find_library_path(python, nvcc):
    """LD_LIBRARY_PATH for CUDA programs: libcudart and libcupti, of the wheels that torch uses and of the toolkit.

    Not for torch itself, which finds its own.
    """
    code = "import glob, os, torch; print(':'.join(glob.glob(os.path.join(torch.__path__[0], '../nvidia/*/lib'))))"
    folders = [folder for folder in first_line([python, "-c", code]).split(":") if pathlib.Path(folder).is_dir()]
    toolkit = pathlib.Path(nvcc).resolve().parent.parent if nvcc else pathlib.Path("/usr/local/cuda")
    folders += [str(folder) for folder in (toolkit / "lib64", toolkit / "extras/CUPTI/lib64") if folder.is_dir()]
    return ":".join(folders)


def build_launches(nvcc, folder, names):
    """Starts to build variants of launches.cu. {name: (program, future of the compiler's outcome)}."""
    pool = concurrent.futures.ThreadPoolExecutor(len(VARIANTS))
    builds = {}
    (folder / "programs").mkdir()
    for name in names:
        runtime, stream = VARIANTS[name]
        program = folder / "programs" / name
        command = [nvcc, "-std=c++17", "-O2", "-cudart", runtime, "--default-stream", stream]
        command += [str(HERE / "launches.cu"), "-o", str(program)]
        future = pool.submit(subprocess.run, command, capture_output=True, text=True, timeout=180)
        builds[program.name] = (program, future)
    pool.shutdown(wait=False)
    return builds


def measure_launches(machine, builds, library_path):
    """A CUDA program with a known number of launches, one of which fails, in each variant."""
    for name, (program, future) in builds.items():
        row = measure.Measured(name)
        try:
            compiled = future.result()
        except (OSError, subprocess.SubprocessError) as error:
            row.faults.append(f"nvcc: {error}")
            yield row
            continue
        if not row.need(compiled.returncode == 0, f"nvcc: {(compiled.stderr.strip().splitlines() or ['failed'])[-1]}"):
            yield row
            continue
        yield measure.measure_program(machine, name, [program], failures=1, LD_LIBRARY_PATH=library_path)


def check_launcher(machine, row, library_path):
    """gpuspy-run: the command's output and exit status, and a trace."""
    program = machine.build / "bin" / "examples" / "vector_add"
    outcome = machine.run(
        [machine.launcher, "-o", "trace.bin", "--", program], row.name, 60, LD_LIBRARY_PATH=library_path
    )
    row.need(outcome.status == 0, f"gpuspy-run vector_add: {outcome.fault()}")
    measure.read_report(machine, row, row.name, 0)
    outcome = machine.run([machine.launcher, "--", "sh", "-c", "exit 7"], f"{row.name}/status", 60)
    row.need(outcome.status == 7, f"gpuspy-run of a command that exits with 7 ended with {outcome.status}")
    return row


def compare_owners(rows):
    """A captured kernel has the owner that it has when launched directly: faults, one a line."""
    owners = {}
    for name in ("resnet_infer", "graph_resnet_infer"):
        report = next((row.report for row in rows if row.name == name), None)
        if not report:
            return [f"ownership in a graph was not compared: no report of {name}"]
        owners[name] = {}
        for kernel in report["kernels"]:
            owners[name].setdefault(kernel["mangled"] or kernel["name"], set()).add(kernel["library"])
    direct, captured = owners["resnet_infer"], owners["graph_resnet_infer"]
    return [
        f"{kernel} belongs to {captured[kernel]} in the graph, to {direct[kernel]} when launched directly"
        for kernel in sorted(set(direct) & set(captured))
        if direct[kernel] != captured[kernel]
    ]


def pack(machine, out):
    """Traces that are small enough to keep, with their reports, and everything that was printed."""
    with tarfile.open(out / "traces.tar.gz", "w:gz") as traces, tarfile.open(out / "logs.tar.gz", "w:gz") as logs:
        for path in sorted(machine.work.rglob("*")):
            name = str(path.relative_to(machine.work)).replace("/", ".")
            if path.name == "trace.bin" and path.stat().st_size < KEPT_TRACE_BYTES:
                traces.add(path, name)
            elif path.name in ("report.txt", "report.json"):
                traces.add(path, name)
            elif path.name in ("stdout", "stderr", "comparison.txt", "profile.json"):
                logs.add(path, name)


def write(out, facts, rows, cost, samples, faults):
    text = tables.page(facts, rows, cost, len(samples.get("nothing", [])), faults)
    (out / "results.md").write_text(text)
    result = {"facts": facts, "cost_us_per_operator": samples, "faults": faults}
    result["programs"] = [
        {
            "name": row.name,
            "seconds": row.seconds,
            "faults": row.faults,
            "notes": row.notes,
            "not_measured": row.not_measured,
        }
        for row in rows
    ]
    (out / "results.json").write_text(json.dumps(result, indent=1))
    return text


def choose(group, only):
    """Names of the programs to measure; none when `only` names what is not there."""
    groups = GROUPS.values() if group == "all" or (only is not None and group is None) else [GROUPS[group or "core"]]
    known = {name for names in groups for name in names}
    if only is None:
        return known
    return set(only) if known.issuperset(only) else set()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, help="folder of the release build")
    parser.add_argument("--out", required=True, help="folder for the results")
    parser.add_argument("--seconds", type=float, default=430, help="stop starting programs after this time")
    parser.add_argument("--group", choices=[*GROUPS, "all"], help="core unless given, or --only")
    parser.add_argument("--only", nargs="*", default=None, help="names of the programs to measure, of any group")
    args = parser.parse_args()
    names = choose(args.group, args.only)
    if not names:
        known = " ".join(name for group in GROUPS.values() for name in group)
        print(f"suite.py: --only names nothing, or what is not there; there are: {known}", file=sys.stderr)
        return 2
    out = pathlib.Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    work = tempfile.mkdtemp(prefix="gpuspy-gpu-")
    machine = Machine(args.build, work, args.seconds)
    for needed in (machine.preload, machine.report, machine.launcher):
        if not needed.is_file():
            print(f"suite.py: {needed} is not there: build the preset release first", file=sys.stderr)
            return 2

    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    variants = [name for name in VARIANTS if name in names]
    builds = build_launches(nvcc, machine.work, variants) if nvcc and variants else {}
    facts = find_facts(sys.executable)
    library_path = find_library_path(sys.executable, nvcc)
    rows, samples, cost = [], {}, []
    faults = [] if nvcc or not variants else ["launches.cu was not measured: no nvcc"]

    def wanted(name):
        return name in names

    def done(row):
        rows.append(row)
        faults.extend(f"{row.name}: {fault}" for fault in row.faults)
        print(f"{row.name}: {row.verdict()} ({row.seconds:.0f} s)", flush=True)
        for note in row.notes:
            print(f"{row.name}: {note}", flush=True)
        write(out, facts, rows, cost, samples, faults)

    for name in filter(wanted, WORKLOADS):
        done(measure.measure_workload(machine, sys.executable, HERE / "workloads" / f"{name}.py"))
    for row in measure_launches(machine, builds, library_path):
        done(row)
    for name in filter(wanted, EXAMPLES):
        command = [machine.build / "bin" / "examples" / name]
        done(measure.measure_program(machine, name, command, LD_LIBRARY_PATH=library_path))
    if wanted("gpuspy_run"):
        done(check_launcher(machine, measure.Measured("gpuspy_run"), library_path))
    if wanted("ab"):
        samples = measure.interleave(machine, sys.executable, HERE / "workloads" / "small_ops.py", ROUNDS)
        cost = measure.summary(samples)
        if len(samples["nothing"]) < ROUNDS:
            faults.append(f"cost: {len(samples['nothing'])} whole rounds of {ROUNDS}")
    if {"resnet_infer", "graph_resnet_infer"} <= names:
        faults.extend(compare_owners(rows))
    for row in breadth.rows(machine, sys.executable, wanted, library_path):
        done(row)
    print(write(out, facts, rows, cost, samples, faults))
    pack(machine, out)
    shutil.rmtree(work)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
