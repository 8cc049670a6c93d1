"""Runs programs with and without gpuspy, each in a folder of its own and with a time limit."""

import contextlib
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import time


@dataclasses.dataclass
class Outcome:
    """How a program ended. `status` is None when it ran into its time limit."""

    status: int | None
    stdout: str
    stderr: str
    seconds: float

    def fault(self):
        """One line for a person, empty when the program ended well."""
        if self.status == 0:
            return ""
        ending = "ran into its time limit" if self.status is None else f"exit status {self.status}"
        last = self.stderr.strip().splitlines()[-1:] or ["nothing on standard error"]
        return f"{ending}: {last[0][:200]}"


class Machine:
    """Where the programs are, and until when they may run."""

    GRACE_S = 5  # For the output of a program that was killed, while what it started may hold its pipes.

    def __init__(self, build, work, seconds):
        self.build = pathlib.Path(build).resolve()
        self.work = pathlib.Path(work).resolve()
        self.deadline = time.monotonic() + seconds

    @property
    def preload(self):
        return self.build / "lib" / "libgpuspy.so"

    @property
    def report(self):
        return self.build / "bin" / "gpuspy-report"

    @property
    def launcher(self):
        return self.build / "bin" / "gpuspy-run"

    def seconds_left(self):
        return self.deadline - time.monotonic()

    def environment(self, preload=False, **variables):
        """This process's environment without settings of gpuspy, with `variables`."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GPUSPY_")}
        environment.update({"PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"}, **variables)
        if preload:
            environment["LD_PRELOAD"] = str(self.preload)
        return environment

    def run(self, command, folder, timeout_s, preload=False, **variables):
        """Runs `command` in `folder` (below the work folder) and keeps its output there. Its failure raises nothing."""
        path = self.work / folder
        path.mkdir(parents=True, exist_ok=True)
        environment = self.environment(preload, **variables)
        outcome = self._run([str(part) for part in command], path, environment, min(timeout_s, self.seconds_left()))
        (path / "stdout").write_text(outcome.stdout)
        (path / "stderr").write_text(outcome.stderr)
        return outcome

    def _run(self, command, path, environment, timeout_s):
        start = time.monotonic()
        if timeout_s <= 0:
            return Outcome(None, "", "no time left for it", 0.0)
        try:
            process = subprocess.Popen(
                command,
                cwd=path,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            return Outcome(127, "", str(error), 0.0)
        try:
            stdout, stderr = process.communicate(timeout=timeout_s)
            status = process.returncode
        except subprocess.TimeoutExpired:
            # Its group may be gone, and a process of another group may still hold the pipes.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            try:
                stdout, stderr = process.communicate(timeout=self.GRACE_S)
            except subprocess.TimeoutExpired as late:
                stdout, stderr = late.stdout or b"", late.stderr or b""
                process.stdout.close()
                process.stderr.close()
                process.poll()
            status = None
        seconds = time.monotonic() - start
        return Outcome(status, stdout.decode(errors="replace"), stderr.decode(errors="replace"), seconds)

    def read_trace(self, folder):
        """The report of the trace that a run left in `folder`, as (JSON, fault): one of the two is empty.

        Leaves report.json and report.txt beside the trace.
        """
        path = self.work / folder
        trace = path / "trace.bin"
        if not trace.is_file():
            return None, "no trace.bin"
        for form, name in (("text", "report.txt"), ("json", "report.json")):
            outcome = self._run([str(self.report), "--format", form, str(trace)], path, dict(os.environ), 60)
            (path / name).write_text(outcome.stdout)
            if outcome.status != 0:
                return None, f"gpuspy-report: {outcome.fault()}"
        try:
            return json.loads((path / "report.json").read_text()), ""
        except ValueError as error:
            return None, f"gpuspy-report: not JSON: {error}"

    def read_view(self, folder, view, table):
        """The rows of a table of a view of the trace that a run left in `folder`, as (rows, fault)."""
        path = self.work / folder
        command = [str(self.report), "--view", f"{view}.{table}", "--format", "json", str(path / "trace.bin")]
        outcome = self._run(command, path, dict(os.environ), 60)
        if outcome.status != 0:
            return None, f"gpuspy-report --view {view}.{table}: {outcome.fault()}"
        return json.loads(outcome.stdout)["views"][view][table]["rows"], ""
