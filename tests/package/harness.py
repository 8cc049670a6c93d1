"""An installation in an empty place, and what it must be able to do there."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["GPUSPY_BUILD"])
SOURCE = pathlib.Path(os.environ["GPUSPY_SOURCE"])
WHEEL = BUILD / "wheel"  # The folder of the one that was built.
TIMEOUT_S = 60
SKIPPED = 77
PROGRAMS = ("gpuspy-run", "gpuspy-report")


def skip(reason):
    """Ends the whole test as skipped, for ctest to see."""
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def run(*command, timeout=TIMEOUT_S, **options):
    """Output of a command that must succeed; its standard error is shown when it does not."""
    process = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=timeout,
                             check=False, stdin=subprocess.DEVNULL, **options)
    if process.returncode != 0:
        raise AssertionError(f"{command}: status {process.returncode}\n{process.stdout[-4000:]}\n{process.stderr[-4000:]}")
    return process.stdout


def clean_environment(**variables):
    """Nothing of a caller's that could lead to another gpuspy, or to a GPU."""
    chosen = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "LANG") if name in os.environ}
    chosen.update(variables)
    return chosen


class TestCase(unittest.TestCase):
    maxDiff = None

    def new_folder(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="gpuspy-package-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        return folder

    def files(self, root):
        """Paths of all files below a folder, as seen from it."""
        return sorted(str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir())

    def assert_records(self, programs, library):
        """gpuspy-run of this folder records an example with this library, and gpuspy-report beside it reads the trace."""
        for name in PROGRAMS:
            self.assertTrue(os.access(programs / name, os.X_OK), name)
        folder = self.new_folder()
        environment = clean_environment(LD_LIBRARY_PATH=str(BUILD / "lib" / "simulated"))
        preloaded = run(programs / "gpuspy-run", "sh", "-c", "echo $LD_PRELOAD", cwd=folder, env=environment)
        self.assertEqual(pathlib.Path(preloaded.strip()), library)
        example = BUILD / "bin" / "examples" / "vector_add"
        text = run(programs / "gpuspy-run", "--report", "--", example, cwd=folder, env=environment)
        self.assertIn("gpuspy report of", text)
        report = json.loads(run(programs / "gpuspy-report", "--format", "json", folder / "trace.bin", env=environment))
        self.assertTrue(report["launches"]["complete"], report["launches"])
        self.assertGreater(report["launches"]["host"], 0)

    def assert_documented(self, share):
        """Manual pages, completions, licence and documents below a share folder."""
        files = self.files(share)
        for name in PROGRAMS:
            self.assertIn(f"man/man1/{name}.1", files)
            self.assertIn(f"bash-completion/completions/{name}", files)
            self.assertIn(f"zsh/site-functions/_{name}", files)
        for command in ("gpuspy-run-sweep", "gpuspy-report-compare"):
            self.assertIn(f"man/man1/{command}.1", files)
            self.assertIn(f"zsh/site-functions/_{command}", files)
        for name in ("copyright", "README.md", "docs/architecture.md"):
            self.assertIn(f"doc/gpuspy/{name}", files)
