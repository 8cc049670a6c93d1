"""Instructions that a hook adds to a call: instructions.py BUILD [--json FILE] [--limits FILE]. Needs valgrind.

Counted by callgrind, the same in each run of one build. With --limits, a JSON of {call: {variant: most}}: status 1 where there are more.
"""

import argparse
import json
import pathlib
import re
import sys
import tempfile

import preloaded

COUNT = 10_000


def instructions(build, variant, call):
    with tempfile.TemporaryDirectory(prefix="gpuspy-bench-") as folder:
        # Of the thread that calls, while it is in counted_calls(): not the drain thread's.
        run = build.run(variant, [build.program("bench_counted_calls"), call, COUNT],
                               prefix=["valgrind", "--tool=callgrind", "--toggle-collect=counted_calls",
                                       f"--callgrind-out-file={pathlib.Path(folder) / 'out.%p'}"])
    if run.dropped != 0:
        raise SystemExit(f"{run.dropped} events were dropped, which takes fewer instructions than to record them")
    return int(re.search(r"Collected : (\d+)", run.process.stderr)[1]) / COUNT


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("build")
    arguments.add_argument("--json")
    arguments.add_argument("--limits")
    chosen = arguments.parse_args()
    build = preloaded.Build(chosen.build)
    limits = json.loads(pathlib.Path(chosen.limits).read_text(encoding="utf-8")) if chosen.limits else {}
    rows = []
    over = 0
    print(f"{'call':<24}{'bare':>8}{'off, added':>12}{'recorded, added':>17}   instructions")
    for call in ("cudaLaunchKernel", "cuLaunchKernel", "cudaMemcpyAsync", "cudaStreamSynchronize"):
        bare = instructions(build, "bare", call)
        row = {"call": call, "bare": bare}
        for variant in ("off", "recorded"):
            row[variant] = instructions(build, variant, call) - bare
            most = limits.get(call, {}).get(variant)
            if most is not None and row[variant] > most:
                print(f"{call}: {row[variant]:.1f} instructions more when {variant}, {most} at most", file=sys.stderr)
                over += 1
        rows.append(row)
        print(f"{call:<24}{bare:>8.1f}{row['off']:>12.1f}{row['recorded']:>17.1f}")
    if chosen.json:
        pathlib.Path(chosen.json).write_text(json.dumps({"calls": rows}, indent=2), encoding="utf-8")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
