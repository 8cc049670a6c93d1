#!/usr/bin/env python3
"""Writes docs/hooks.md: every hook, what it records, and what tests it.

    document.py [--headers FOLDER] [--check]

Exit status: 0 done or the same, 1 docs/hooks.md differs, 77 the headers cannot be fetched (--check).
"""

import argparse
import pathlib
import re
import sys

import folders
import make
import rules
from prototypes import read_prototypes

PAGE = make.ROOT / "docs" / "hooks.md"
RELEASES = {"toolkit": "13.0", "cuda12.9": "12.9", "cuda12.0": "12.0", "cuda11.7": "11.7"}
CUDNN = {"toolkit": "9.19", "cudnn9.0": "9.0", "cudnn8.9": "8.9", "cudnn8.5": "8.5"}
NCCL = {"nccl2.32": "2.32", "toolkit": "2.28", "nccl2.13": "2.13"}
CUTENSOR = {"cutensor2": "2.8", "cutensor1": "1.6"}
# Tests that look at what a hook keeps, by class (beside contract.abi, which calls every function that a header declares).
TESTED_BY = {
    "kLaunch": "integration.launches",
    "kMulti": "integration.launches",
    "kGraphLaunch": "integration.graphs",
    "kGraph": "integration.graphs",
    "kCopy": "integration.timeline",
    "kSet": "integration.timeline",
    "kSync": "integration.timeline",
    "kMemory": "integration.calls",
    "kStream": "integration.calls",
    "kModule": "integration.calls",
    "kContext": "integration.calls",
    "kLibrary": "integration.libraries",
    "kDescribe": "integration.libraries",
    "kCollective": "unit_analysis",
    "kCommunicator": "unit_analysis",
    "kName": "integration.launches",
    "kOther": "integration.launches",
}
# Tables whose calls no program on the simulated device makes: contract.kept looks at some of each kind of argument.
TESTED_BY_TABLE = {
    "cupti": "integration.own_cupti",
    **dict.fromkeys(("cufft", "curand", "cusolver", "cusparse", "cusparselt", "cutensor", "cublas_first", "cublasxt"), "contract.kept"),
    "nccl": "contract.kept, unit_analysis",
}
CLASSES = {
    "kLaunch": "launch",
    "kMulti": "launch of several kernels",
    "kGraphLaunch": "graph launch",
    "kGraph": "graph",
    "kCopy": "copy",
    "kSet": "set",
    "kSync": "wait",
    "kMemory": "memory",
    "kStream": "stream order",
    "kModule": "device code",
    "kContext": "context",
    "kLibrary": "executes",
    "kDescribe": "describes",
    "kCollective": "communicates",
    "kCommunicator": "communicator",
    "kName": "names (not a record)",
    "kOther": "look-up (not a record)",
}
POLICIES = {
    "Nothing": "",
    "StreamAt": "stream",
    "DriverLaunch": "function, grid, block, shared bytes, stream",
    "DriverLaunchEx": "function, grid, block, shared bytes, stream",
    "RuntimeLaunch": "function, grid, block, shared bytes, stream",
    "RuntimeLaunchEx": "function, grid, block, shared bytes, stream",
    "FunctionAt": "function",
    "GraphLaunch": "graph, stream",
    "DriverGraphLaunch": "graph, stream",
    "CopyOf": "direction, bytes",
    "RuntimeCopy": "direction, bytes",
    "RuntimeCopyArea": "direction, bytes",
    "CopyStruct": "bytes",
    "SetOf": "bytes",
    "SetArea": "bytes",
}
HEAD = """# Hooks

Every function that gpuspy stands in front of. Written by `scripts/hook_tables/document.py`; the tables are `interpose/table/*.def`, what is
hooked and why is `scripts/hook_tables/rules.py`.

A call is recorded with its time, thread, depth, status and calling object; "kept" is what is recorded besides. "Since" and "until" are the
first and the last release among the headers that were read which declare the function (a release before them may have had it, too): CUDA
11.7, 12.0, 12.9 and 13.0; cuDNN 8.5, 8.9, 9.0 and 9.19; NCCL 2.13, 2.28 and 2.32; cuTENSOR 1.6 and 2.8; cuSPARSELt 0.8. Every function that
one of them declares is called by the test `contract.abi` with arguments of its own, bound by the dynamic linker and by `dlsym`, by the
prototypes of each release; so are older forms (`_v3`, `_v4`), with as many arguments as their rows
forward. "Looked at by" is the test that looks at what is recorded of calls of this kind. `__cudaLaunchKernel`, `cudaLaunch` and
`cudaConfigureCall`, which no public header declares, are called by the programs of `integration.launches`.

## What is not hooked, and why

- Questions (`cudaGetDevice`, `cudaStreamIsCapturing`, `cudaEventQuery`, `cudaStreamQuery`, attributes, occupancy ...): frameworks ask several
  times an operator, and nothing waits or runs. A loop that polls an event is host time outside CUDA in the report.
- `cudaSetDevice`, `cuCtxSetCurrent`, `cuCtxPushCurrent`: as often, and the device of a kernel comes from its record.
- TensorRT's `enqueueV3` is a virtual function and no symbol: its kernels are owned by `libnvinfer.so`, or by the library that it calls.
- Making of descriptors and handles (`cudnnCreate...`): what they come to mean is in the calls that set them, which are hooked.
- cuDNN's variant packs (`cudnnBackendSetAttribute` with `CUDNN_ATTR_VARIANT_PACK_...`): addresses, set anew for each execution. The
  attributes of every other descriptor are kept.
- Choosing and compiling (`cudnnBackendFinalize`, `cublasLtMatmulAlgoGetHeuristic`, `cutensorCreatePlan`, `cufftCreate`), handles
  (`cudnnCreate`): not yet. (`cublasCreate_v2` is: a new handle has the default math mode. Of `cudnnBackendGetAttribute` only calls for the results of heuristics are
  recorded: they say which configuration is of which graph.) What they load, allocate and wait for in the driver is recorded, with the library as the caller.
- `cuInit`, peer access, limits, textures and surfaces, graphics interoperation, external memory, multicast objects, registration with NCCL
  (`ncclCommRegister`, `ncclCommWindowRegister`): done once, before the work or beside it. Their time is host time outside CUDA in the report.

## What of CUPTI goes through, and why that is safe

Hooked is what takes, changes, flushes or gives back what a process has once: the subscriber, the buffer callbacks, the kinds of records, the clock.

- Questions: `cuptiActivityGetAttribute`, `cuptiGetCallbackName`, `cuptiSupportedDomains`, versions, ids, times.
- `cuptiActivityFlushPeriod`: CUPTI's own thread gives back buffers that are full, the host's to the host and ours to us.
- `cuptiActivityPushExternalCorrelationId`, `cuptiActivityPopExternalCorrelationId`: of the calling thread; we push none, and their records are of a kind
  that only the host enables.
- `cuptiActivityConfigureUnifiedMemoryCounter`, `cuptiActivityConfigurePCSampling`: settings of kinds that are not ours.
- `cuptiActivityEnableLatencyTimestamps`, `cuptiActivityEnableLaunchAttributes`, `cuptiActivityEnableAllocationSource`,
  `cuptiActivityEnableCudaEventDeviceTimestamps`, `cuptiActivityEnableAllSyncRecords`: they fill fields that we do not read, or add records of other kinds.
- `cuptiActivityEnableDeviceGraph`: records of a kind that comes with the host's graph trace, and go to it.
- `cuptiActivityEnableHWTrace`: kernels are timed in another way (Blackwell); the records are the same.
- `cuptiActivityEnableRawTimestamps`, `cuptiActivityEnableBufferSummary`, `cuptiActivityGetNvtxExtPayloadAttr`,
  `cuptiActivityGetNvtxExtPayloadEntryTypeInfo`: exported, and in no header. Times that are not on the device clock any more are not believed: the report counts
  records without a time.
- Profiling of counters (`cuptiProfiler...`, `cuptiRangeProfiler...`, `cuptiPCSampling...`, `cuptiPmSampling...`, `cuptiSassMetrics...`, `cuptiEvent...`,
  `cuptiMetric...`): they need neither the subscriber nor activity buffers. Not tried beside gpuspy.
- Of the functions with a subscriber (`_v2`, CUPTI 13.2 on) those that take something are hooked, and gpuspy gives way. The others need one of these before.
"""


def releases(library):
    return {"cudnn": CUDNN, "nccl": NCCL, "cutensor": CUTENSOR, "cusparselt": {"cusparselt": "0.8"}}.get(library.name, RELEASES)


def functions_of(library):
    """Names of the library's rows; those written by hand belong to the driver's and the runtime's headers."""
    tables = {"driver_calls": ["driver_calls", "driver"], "runtime_calls": ["runtime_calls", "runtime"]}.get(library.name, [library.name])
    text = "".join((make.TABLES / f"{table}.def").read_text() for table in tables)
    return set(re.findall(r"^(?:HOOK|CALL)\((\w+),", text, re.MULTILINE))


def spans(root):
    """{function: (since, until)} over all headers; until is "" for what the newest declares."""
    found = {}
    for library in rules.LIBRARIES:
        names, ours = releases(library), functions_of(library)
        for folder in library.folders:  # newest first
            known, _ = read_prototypes(library.headers, folders.include_folders(root, folder), library.defines, library.language)
            for function in ours & set(known):
                until = found.get(function, ("", "" if folder == library.folders[0] else names[folder]))[1]
                found[function] = (names[folder], until)
    return found


def rows_of(table, span):
    text = (make.TABLES / f"{table}.def").read_text()
    for match in re.finditer(r"^HOOK\((\w+), (\w+), (\w+), (\w+).*\)$", text, re.MULTILINE):
        name, api_class, _, policy = match.groups()
        yield name, api_class, POLICIES.get(policy, ""), span.get(name, ("", ""))
    for match in re.finditer(r'^CALL\((\w+), (\w+), \w+, \d+, "(.*)"\)$', text, re.MULTILINE):
        name, api_class, fields = match.groups()
        kept = ", ".join(field.split(":")[0] for field in fields.split() if not field.startswith("_:"))
        yield name, api_class, kept, span.get(name, ("", ""))


def page(root):
    span = spans(root)
    text = [HEAD]
    for table in [*make.BY_HAND, *[library.name for library in rules.LIBRARIES]]:
        rows = list(rows_of(table, span))
        text.append(f"## {table} ({len(rows)})\n")
        level = {"driver": "driver", "driver_calls": "driver", "runtime": "runtime", "runtime_calls": "runtime"}.get(table, "library")
        text.append("| function | level | what it is | kept | since | until | looked at by |\n| --- | --- | --- | --- | --- | --- | --- |")
        for name, api_class, kept, (since, until) in rows:
            tested = TESTED_BY_TABLE.get(table) or TESTED_BY[api_class]
            text.append(f"| `{name}` | {level} | {CLASSES[api_class]} | {kept} | {since} | {until} | {tested} |")
        text.append("")
    return "\n".join(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--headers", type=pathlib.Path, default=make.ROOT / "build" / "vendor-headers")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    try:
        folders.fetch_all(args.headers)
    except OSError as error:
        print(f"document.py: headers cannot be fetched: {error}", file=sys.stderr)
        return 77 if args.check else 1
    text = page(args.headers)
    if not args.check:
        PAGE.write_text(text)
        return 0
    if not PAGE.exists() or PAGE.read_text() != text:
        print("document.py: docs/hooks.md is not what the tables give; run document.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
