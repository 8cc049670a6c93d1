"""gpuspy-report export as a person meets it: what is asked for appears whole or not at all."""

import json
import os
import pathlib
import resource
import signal
import stat
import subprocess
import time
import unittest

import harness

TRACE = harness.GOLDEN / "h200_two_streams.bin"
LARGE = harness.GOLDEN / "h200_resnet_train.bin"
KINDS = ("kineto", "nsys-sqlite", "perfetto")
STREAMED = ("kineto", "perfetto")  # The other one needs a file that it can go back in.


class Command(harness.TestCase):
    def setUp(self):
        self.folder = self.new_folder()
        self.file = self.folder / "exported"

    def run_export(self, *arguments, kind="kineto", trace=TRACE, **options):
        return harness.report("export", "--to", kind, *arguments, trace, **options)

    def assert_fails(self, process, status, text):
        self.assertEqual(process.returncode, status, process.stderr)
        self.assertEqual(process.stderr.count(b"\n"), 1)
        self.assertIn(text, process.stderr.decode())

    def assert_folder(self, *names):
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(names))

    def test_unknown_kind(self):
        process = self.run_export("-o", self.file, kind="visio")
        self.assert_fails(process, 2, 'there is no kind of export "visio"; there are: ')
        for kind in KINDS:
            self.assertIn(kind, process.stderr.decode())
        self.assert_folder()

    def test_what_is_missing(self):
        self.assert_fails(harness.report("export", "--to", "kineto", TRACE), 2, "--output is required")
        self.assert_fails(harness.report("export", "-o", self.file, TRACE), 2, "--to is required")
        self.assert_fails(harness.report("export", "--to", "kineto", "-o", self.file), 2, "trace is required")
        self.assert_fails(self.run_export("-o", ""), 2, "-o needs the name of a file")
        self.assert_folder()

    def test_help_names_the_kinds(self):
        text = harness.report("export", "--help").stdout.decode()
        for kind in KINDS:
            self.assertIn(f"\n  {kind} ", text)

    def test_bad_traces(self):
        text = self.folder / "text"
        text.write_text("hello")
        self.assert_fails(self.run_export("-o", self.file, trace=text), 4, "is not a gpuspy trace")
        self.assert_fails(self.run_export("-o", self.file, trace=self.folder / "none"), 3, "No such file")
        self.assert_folder("text")

    def test_what_can_be_read_of_a_cut_trace(self):
        cut = self.folder / "cut"
        cut.write_bytes(TRACE.read_bytes()[:-100])
        self.assert_fails(self.run_export("-o", self.file, trace=cut), 6, "partly readable")
        json.loads(self.file.read_text())

    def test_records_without_a_time_are_said_of_each_kind(self):
        trace = self.scripted("untimed")
        for kind in KINDS:
            process = self.run_export("-o", self.file, kind=kind, trace=trace)
            self.assert_fails(process, 0, "1 device record without a usable time is left out\n")

    def test_onto_the_trace(self):
        trace = self.folder / "trace.bin"
        trace.write_bytes(TRACE.read_bytes())
        (self.folder / "link").symlink_to(trace)
        for name in ("trace.bin", "link"):
            self.assert_fails(self.run_export("-o", self.folder / name, trace=trace), 2, "is the trace itself")
        self.assertEqual(trace.read_bytes(), TRACE.read_bytes())

    def test_where_nothing_can_be_written(self):
        self.assert_fails(self.run_export("-o", self.folder / "none" / "file"), 1, "No such file")
        self.assert_fails(self.run_export("-o", self.folder), 1, "Is a directory")
        self.assert_folder()

    def test_a_full_disk_leaves_the_old_file(self):
        self.file.write_text("old")
        for kind in STREAMED:
            limit = lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN),
                             resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)))
            process = self.run_export("-o", self.file, kind=kind, trace=LARGE, preexec_fn=limit)
            self.assert_fails(process, 1, "cannot be written: File too large")
            self.assertEqual(self.file.read_text(), "old")
            self.assert_folder("exported")
        if os.access("/dev/full", os.W_OK):
            self.assert_fails(self.run_export("-o", "/dev/full"), 1, "No space left")

    def test_an_old_file_is_replaced(self):
        self.file.write_text("old")
        self.file.chmod(0o640)
        with self.file.open(encoding="utf-8") as reader:
            self.assertEqual(self.run_export("-o", self.file).returncode, 0)
            self.assertEqual(reader.read(), "old")  # Whoever reads it goes on doing so.
        json.loads(self.file.read_text())
        self.assertEqual(stat.S_IMODE(self.file.stat().st_mode), 0o640)
        self.assert_folder("exported")

    def test_a_link_stays_one(self):
        (self.folder / "link").symlink_to("exported")
        self.assertEqual(self.run_export("-o", self.folder / "link").returncode, 0)
        self.assertTrue((self.folder / "link").is_symlink())
        json.loads(self.file.read_text())

    def test_mode_of_a_new_file(self):
        self.assertEqual(self.run_export("-o", self.file, umask=0o027).returncode, 0)
        self.assertEqual(stat.S_IMODE(self.file.stat().st_mode), 0o640)

    def test_a_name_alone(self):
        self.assertEqual(self.run_export("-o", "exported", cwd=self.folder).returncode, 0)
        self.assert_folder("exported")

    def test_standard_output(self):
        for kind in STREAMED:
            self.assertEqual(self.run_export("-o", self.file, kind=kind).returncode, 0)
            for name in ("-", "/dev/stdout", "/dev/fd/1"):
                process = self.run_export("-o", name, kind=kind)
                self.assertEqual((process.returncode, process.stderr), (0, b""))
                self.assertEqual(process.stdout, self.file.read_bytes())

    def test_standard_output_behind_what_is_there(self):
        with self.file.open("wb") as out:
            out.write(b"before\n")
            out.flush()
            subprocess.run([harness.REPORT, "export", "--to", "kineto", "-o", "/dev/stdout", TRACE], stdout=out, check=True,
                           timeout=harness.TIMEOUT_S)
        self.assertTrue(self.file.read_bytes().startswith(b"before\n{"))

    def test_a_terminal(self):
        leader, terminal = os.openpty()
        process = subprocess.run([harness.REPORT, "export", "--to", "perfetto", "-o", "-", TRACE], stdout=terminal,
                                 stderr=subprocess.PIPE, check=False, timeout=harness.TIMEOUT_S)
        os.close(leader)
        os.close(terminal)
        self.assert_fails(process, 2, "standard output is a terminal")

    def test_a_pipe_with_a_name(self):
        os.mkfifo(self.file)
        with subprocess.Popen(["cat", self.file], stdout=subprocess.PIPE) as reader:
            self.assertEqual(self.run_export("-o", self.file).returncode, 0)
            json.loads(reader.communicate(timeout=harness.TIMEOUT_S)[0])
        self.assertTrue(stat.S_ISFIFO(self.file.stat().st_mode))

    def test_a_reader_that_went_away(self):
        status = subprocess.run(["sh", "-c", '{ "$0" export --to kineto -o - "$1"; echo $? >"$2"; } | true', harness.REPORT, LARGE,
                                 self.file], capture_output=True, check=True, timeout=harness.TIMEOUT_S)
        self.assertEqual((self.file.read_text(), status.stderr), ("0\n", b""))

    def test_interrupted(self):
        """Stopped while it writes: nothing is left beside the old file."""
        self.file.write_text("old")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with subprocess.Popen([harness.REPORT, "export", "--to", "kineto", "-o", self.file, LARGE]) as process:
                deadline = time.monotonic() + harness.TIMEOUT_S
                while len(os.listdir(self.folder)) == 1 and process.poll() is None and time.monotonic() < deadline:
                    pass
                process.send_signal(number)
                self.assertEqual(process.wait(timeout=harness.TIMEOUT_S), -number)
            self.assertEqual(self.file.read_text(), "old")
            self.assert_folder("exported")


class Described(unittest.TestCase):
    def test_kinds_are_documented(self):
        text = (pathlib.Path(harness.SOURCE) / "docs" / "exports.md").read_text()
        for kind in KINDS:
            self.assertIn(f"## {kind}", text)


if __name__ == "__main__":
    unittest.main()
