"""Memory does not grow with the recording. tests/soak.sh runs the same for minutes and at full speed.

GPUSPY_SOAK_SECONDS: how long (3 unless given); GPUSPY_SOAK_PAUSE_EVERY: launches of a thread between two pauses of 0.1 ms, which
sets the rate (0: none)."""

import os
import pathlib
import subprocess
import time
import unittest

import counted
import harness

SECONDS = float(os.environ.get("GPUSPY_SOAK_SECONDS", "3"))
PAUSE_EVERY = os.environ.get("GPUSPY_SOAK_PAUSE_EVERY", "32")
PRINTS = "GPUSPY_SOAK_SECONDS" in os.environ
MIB = 1 << 20


def resident_bytes(pid):
    fields = pathlib.Path(f"/proc/{pid}/statm").read_text().split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


class Memory(harness.TestCase):
    def grown_bytes(self, preload):
        """Resident memory at the end less that after a third of the time, and launches a second."""
        folder = self.new_folder()
        log = counted.Log(folder / "log")
        variables = {"GPUSPY_LAST": "64M", "COUNTED_PAUSE_EVERY": PAUSE_EVERY}
        with subprocess.Popen([harness.HOSTS / "counted", log.path, "2", "run", "0", "10000000000"], cwd=folder,
                              env=harness.environment(preload, **variables)) as host:
            try:
                counted.wait_until(self, log.all_threads_launched, "the host did not start")
                samples = []
                begin = time.monotonic()
                while time.monotonic() < begin + SECONDS:
                    time.sleep(SECONDS / 30)
                    self.assertIsNone(host.poll())
                    samples.append(resident_bytes(host.pid))
                launches = log.launches()
                taken_s = time.monotonic() - begin
            finally:
                host.kill()
                host.wait(timeout=harness.TIMEOUT_S)
        third = samples[len(samples) // 3:]
        if PRINTS:
            print(f"{'with' if preload else 'without'} gpuspy: {launches / taken_s:,.0f} launches/s for {taken_s:.0f} s; "
                  f"resident memory {third[0] / MIB:.1f} MiB after a third of it, then {min(third) / MIB:.1f} to "
                  f"{max(third) / MIB:.1f}, at the end {third[-1] / MIB:.1f}", flush=True)
        self.assertGreater(launches, 1000 * SECONDS)
        return third[-1] - third[0]

    def test_flat(self):
        """The simulated device may keep something for each launch itself: that is measured too."""
        alone = max(0, self.grown_bytes(False))
        # Pages of fixed buffers are touched as they are first used: dictionaries, arenas, activity buffers.
        self.assertLess(self.grown_bytes(True), alone + 24 * MIB)

    def test_a_thousand_threads(self):
        folder = self.new_folder()
        log = counted.Log(folder / "log")
        before = {path.name for path in pathlib.Path("/dev/shm").glob("gpuspy.*")}
        host = subprocess.run([harness.HOSTS / "counted", log.path, "1000", "done", "0", "4"], cwd=folder, check=False,
                              env=harness.environment(True, GPUSPY_RING_KIB=16), timeout=2 * harness.TIMEOUT_S,
                              capture_output=True)
        self.assertEqual((host.returncode, host.stdout, host.stderr), (0, b"", b""))
        self.assertEqual(log.launches(), 4000)
        launches = harness.read_report(folder / "trace.bin")["launches"]
        # A launch is several calls, of which each is counted where its thread got no ring.
        self.assertGreaterEqual(launches["host"] + launches["dropped"].get("no_ring", 0), 4000, launches["reasons"])
        self.assertGreaterEqual(launches["host"], 2000, launches["reasons"])
        self.assertEqual(launches["dropped"].get("ring_full", 0), 0)
        left = {path.name for path in pathlib.Path("/dev/shm").glob(f"gpuspy.{log.pid()}.*")}
        self.assertEqual(left - before, set())


if __name__ == "__main__":
    unittest.main()
