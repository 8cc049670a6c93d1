"""Where a trace cannot be written, or the rings find no room: one line, the host unharmed, and what was written stays readable."""

import ctypes
import errno
import os
import platform
import resource
import shutil
import signal
import stat
import struct
import subprocess
import time
import unittest

import counted
import harness

LAUNCHES = 3000


def with_quota(limit_bytes):
    """Of the calling process's files: pwrite64 beyond it fails with EDQUOT, as where a user's quota is used up. A seccomp filter."""
    nr, offset = 0, 16 + 3 * 8  # struct seccomp_data: nr, args[3] (its low half)
    load, equal, above, give = 0x20, 0x15, 0x35, 0x06  # BPF_LD|W|ABS, BPF_JMP|JEQ|K, BPF_JMP|JGE|K, BPF_RET|K
    allow, error = 0x7fff0000, 0x00050000 | errno.EDQUOT
    program = b"".join(struct.pack("<HBBI", *line) for line in (
        (load, 0, 0, nr), (equal, 0, 3, 18), (load, 0, 0, offset), (above, 0, 1, limit_bytes), (give, 0, 0, error),
        (give, 0, 0, allow)))
    code = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("<HxxxxxxQ", len(program) // 8, ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    no_new_privileges, set_seccomp, filter_mode = 38, 22, 2
    if libc.prctl(no_new_privileges, 1, 0, 0, 0) != 0 or libc.prctl(set_seccomp, filter_mode, header, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")


def can_mount():
    return subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode == 0


class Host(harness.TestCase):
    def setUp(self):
        self.folder = self.new_folder()
        self.log = counted.Log(self.folder / "log")

    def host(self, *before, prepare=None, how="done", most=LAUNCHES, **variables):
        """Runs the host, which must end as without us; gives what was said."""
        command = [*before, harness.HOSTS / "counted", self.log.path, "1", how, "0", str(most)]
        process = subprocess.run([str(word) for word in command], cwd=self.folder, env=harness.environment(True, **variables),
                                 stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=2 * harness.TIMEOUT_S,
                                 preexec_fn=prepare, check=False)
        self.assertEqual((process.returncode, process.stdout), (0, ""), process.stderr)
        self.assertEqual(self.log.launches(), most)
        return process.stderr.splitlines()

    def in_mounts(self, script, **variables):
        """The host in a mount namespace of its own, after a piece of shell that is run there."""
        if not can_mount():
            self.skipTest("mounting needs privileges")
        shell = f"{script}\nexec \"$@\""
        preload = {"LD_PRELOAD": str(harness.PRELOAD)}
        # Only the host itself is preloaded: unshare and sh are not what is tested.
        return self.host("env", "-u", "LD_PRELOAD", "unshare", "-m", "sh", "-ec", shell, "sh", "env",
                         *[f"{name}={value}" for name, value in preload.items()], **variables)

    def assert_one_line(self, said, text):
        self.assertEqual(len(said), 1, said)
        self.assertIn(text, said[0])
        self.assertTrue(said[0].startswith("gpuspy: "), said[0])

    def readable(self, path):
        report = harness.read_report(path)
        self.assertEqual((report["reading"]["bad_blocks"], report["reading"]["tail_bytes"]), (0, 0))
        return report


class Output(Host):
    def test_file_size_limit(self):
        """Beyond it a write would raise SIGXFSZ, which ends a process that does not expect it."""
        limit = 16 << 10
        said = self.host(prepare=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.assert_one_line(said, "File too large")
        self.assertLessEqual((self.folder / "trace.bin").stat().st_size, limit)
        report = self.readable(self.folder / "trace.bin")
        self.assertLess(report["launches"]["host"], LAUNCHES)
        self.assertFalse(report["launches"]["complete"])
        self.assert_said_to_be_cut(report, "File too large")

    @unittest.skipUnless(platform.machine() == "x86_64", "the filter knows system calls by their numbers")
    def test_quota(self):
        limit = 16 << 10
        said = self.host(prepare=lambda: with_quota(limit))
        self.assert_one_line(said, "Disk quota exceeded")
        report = self.readable(self.folder / "trace.bin")
        self.assertGreater(report["launches"]["host"], 0)
        self.assertLess(report["launches"]["host"], LAUNCHES)
        self.assertFalse(report["launches"]["complete"])

    def test_no_room_for_a_header(self):
        # The host's own log has to fit.
        said = self.host(prepare=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (150, 150)))
        self.assert_one_line(said, "nothing is recorded")
        self.assertEqual([path.name for path in self.folder.iterdir()], ["log"])

    def test_disk_full(self):
        disk = self.folder / "disk"
        disk.mkdir()
        kept = self.folder / "kept.bin"
        # The namespace ends with its last process, so the trace is copied out by the one that mounted it.
        script = f"mount -t tmpfs -o size=32k none '{disk}'; \"$@\"; cp '{disk}/trace.bin' '{kept}'; exit 0"
        said = self.in_mounts(script, GPUSPY_OUTPUT=disk / "trace.bin")
        self.assert_one_line(said, "No space left on device")
        report = self.readable(kept)
        self.assertLess(report["launches"]["host"], LAUNCHES)
        self.assert_said_to_be_cut(report, "No space left on device")

    def assert_said_to_be_cut(self, report, why):
        """The trace itself says what it lacks and why, and blames nothing else for what is missing."""
        process, launches = report["process"], report["launches"]
        self.assertEqual(process["write_error"], why)
        for reason in launches["reasons"]:
            self.assertNotRegex(reason, "no known cause|had not come back|the process died")
        if process["ended_cleanly"]:  # A smaller block found room behind one that did not.
            self.assertGreater(launches["dropped"]["write_failed"], 0)
            return
        self.assertEqual(process["end"], f"not recorded to its end: the trace could not be written ({why})")
        self.assertIn(f"the trace has no end: it could not be written any more ({why})", launches["reasons"])

    def test_read_only_directory(self):
        disk = self.folder / "disk"
        disk.mkdir()
        said = self.in_mounts(f"mount -t tmpfs -o ro none '{disk}'", GPUSPY_OUTPUT=disk / "trace.bin")
        self.assert_one_line(said, "read-only")

    def test_device(self):
        self.assertEqual(self.host(GPUSPY_OUTPUT="/dev/null"), [])
        self.assertEqual([path.name for path in self.folder.iterdir()], ["log"])

    def test_full_device(self):
        self.assert_one_line(self.host(GPUSPY_OUTPUT="/dev/full"), "/dev/full")

    def test_flight_recorder_needs_a_file(self):
        self.assert_one_line(self.host(GPUSPY_OUTPUT="/dev/null", GPUSPY_LAST="1s"), "GPUSPY_LAST needs a file")

    def test_pipe(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        kept = self.folder / "kept.bin"
        # Opened for both, so that it has a reader from the beginning.
        end = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
        with open(kept, "wb") as target, subprocess.Popen(["cat", pipe], stdout=target) as reader:
            said = self.host(GPUSPY_OUTPUT=pipe)
            os.close(end)
            reader.wait(timeout=harness.TIMEOUT_S)
        self.assertEqual(said, [])
        self.assert_complete(self.readable(kept), LAUNCHES)

    def test_slow_disk(self):
        """A pipe that nobody empties: drops are counted, and the host does not wait for them."""
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        end = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
        self.addCleanup(os.close, end)
        most = 60_000
        begin = time.monotonic()
        said = self.host(GPUSPY_OUTPUT=pipe, GPUSPY_RING_KIB=16, most=most, COUNTED_PAUSE_EVERY=0)
        taken_s = time.monotonic() - begin
        self.assert_one_line(said, "Connection timed out")
        # 60,000 launches fill the pipe many times over: a host that waited a second for each block would need minutes.
        self.assertLess(taken_s, 20)

    def test_directory_removed_while_running(self):
        place = self.folder / "place"
        place.mkdir()
        for last in ("", "4M"):
            with self.subTest(last=last):
                place.mkdir(exist_ok=True)
                self.log.path.unlink(missing_ok=True)
                command = [harness.HOSTS / "counted", self.log.path, "1", "run", "0", "1000000"]
                host = subprocess.Popen(command, cwd=self.folder, stderr=subprocess.PIPE,
                                        env=harness.environment(True, GPUSPY_OUTPUT=place / "trace.bin", GPUSPY_LAST=last))
                counted.wait_until(self, lambda: self.log.launches() > 100, "the host did not launch")
                shutil.rmtree(place)
                before = self.log.launches()
                counted.wait_until(self, lambda: self.log.launches() > before + 2000, "the host does not go on")
                host.send_signal(signal.SIGTERM)
                _, said = host.communicate(timeout=harness.TIMEOUT_S)
                self.assertEqual((host.returncode, said), (-signal.SIGTERM, b""))
                self.assertFalse(place.exists())

    def test_few_descriptors(self):
        """Five in all, which the host needs itself: nothing is recorded, and it gets what it gets without us."""
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (5, 5))

        results = []
        for preload in (False, True):
            process = subprocess.run([harness.HOSTS / "launch_runtime"], cwd=self.folder, capture_output=True,
                                     env=harness.environment(preload), stdin=subprocess.DEVNULL, preexec_fn=limit,
                                     timeout=harness.TIMEOUT_S, check=False)
            results.append((process.returncode, process.stdout))
        self.assertEqual(results[1], results[0])
        self.assertEqual(len(process.stderr.splitlines()), 1, process.stderr)
        self.assertIn(b"ulimit -n", process.stderr)
        self.assertFalse((self.folder / "trace.bin").exists())


class Private(Host):
    """What others must not get: the trace, through a link, by its mode, or what the environment holds."""

    def test_mode(self):
        self.host(prepare=lambda: os.umask(0))
        status = (self.folder / "trace.bin").stat()
        self.assertEqual((stat.S_IMODE(status.st_mode), status.st_uid), (0o600, os.geteuid()))

    def test_planted_links(self):
        victim = self.folder / "victim"
        victim.write_text("precious")
        for name in ("trace.bin", "dangling.bin"):
            with self.subTest(name=name):
                (self.folder / name).symlink_to(victim if name == "trace.bin" else self.folder / "made")
                said = self.host(GPUSPY_OUTPUT=name)
                self.assert_one_line(said, "symbolic link")
                self.assertEqual(victim.read_text(), "precious")
                self.assertFalse((self.folder / "made").exists())

    def test_secrets_of_the_environment(self):
        secrets = {"AWS_SECRET_ACCESS_KEY": "sup3rs3cr3t", "HF_TOKEN": "hf_t0k3n", "RANK": "3"}
        self.host(**secrets)
        trace = self.folder / "trace.bin"
        report = self.readable(trace)
        self.assertEqual(report["process"]["environment"], ["RANK=3"])
        for text in (trace.read_bytes().decode("latin-1"), str(report)):
            self.assertNotIn("sup3rs3cr3t", text)
            self.assertNotIn("hf_t0k3n", text)
            self.assertNotIn("HF_TOKEN", text)


class SharedMemory(Host):
    NOTICE = "no shared memory for the rings"

    def report_of(self, script):
        self.assertEqual(self.in_mounts(script), [])
        report = self.readable(self.folder / "trace.bin")
        self.assert_complete(report, LAUNCHES)
        return " ".join(report["process"]["notices"])

    def test_of_64_mb(self):
        self.assertNotIn(self.NOTICE, self.report_of("mount -t tmpfs -o size=64m none /dev/shm"))

    def test_full(self):
        self.assertIn(self.NOTICE, self.report_of("mount -t tmpfs -o size=64k none /dev/shm"))

    def test_missing(self):
        """Another file system in its place, as where there is none: nothing that outlives the process."""
        self.assertIn(self.NOTICE, self.report_of(f"mount --bind '{self.folder}' /dev/shm"))

    def test_killed_without_it(self):
        """What was written is readable; what is lost is said beforehand."""
        script = f"mount -t tmpfs -o size=64k none /dev/shm; \"$@\" & sleep 0.5; kill -9 $!; exit 0"
        if not can_mount():
            self.skipTest("mounting needs privileges")
        command = ["unshare", "-m", "sh", "-c", script, "sh", "env", f"LD_PRELOAD={harness.PRELOAD}", "GPUSPY_DRAIN_MS=20",
                   harness.HOSTS / "counted", self.log.path, "1", "run", "0", "100000000"]
        subprocess.run([str(word) for word in command], cwd=self.folder, env=harness.environment(False), check=True,
                       capture_output=True, timeout=harness.TIMEOUT_S)
        report = self.readable(self.folder / "trace.bin")
        self.assertIn(self.NOTICE, " ".join(report["process"]["notices"]))
        self.assertFalse(report["launches"]["complete"])
        self.assertIn("its last events were not salvaged", " ".join(report["launches"]["reasons"]))

    def test_report_on_another_host(self):
        """The rings stay where the process died: the report of a copy elsewhere says that they are missing."""
        with harness.private_shared_memory(self) as (_, there):
            with subprocess.Popen(there(self.folder, harness.HOSTS / "counted", self.log.path, "1", "run", "0", "1000"),
                                  env=harness.environment(True, GPUSPY_DRAIN_MS=1000)) as host:
                counted.wait_until(self, self.log.all_threads_launched, "the host did not launch")
                host.kill()
                host.wait(timeout=harness.TIMEOUT_S)
            report = [harness.REPORT, self.folder / "trace.bin"]
            said = [" ".join(subprocess.run([str(word) for word in command], capture_output=True, text=True,
                                            timeout=harness.TIMEOUT_S, check=False).stdout.split())
                    for command in (report, there(self.folder, *report))]
        self.assertIn("its last events were not salvaged", said[0])
        self.assertIn("its last events were salvaged", said[1])


if __name__ == "__main__":
    unittest.main()
