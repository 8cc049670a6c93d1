"""NVTX ranges: recorded where NVTX_INJECTION64_PATH names the library, said to be missing where it does not."""

import os
import pathlib
import signal
import subprocess
import sys
import unittest

import harness

RUN = harness.BUILD / "bin" / "gpuspy-run"
VARIABLE = "NVTX_INJECTION64_PATH"
# Those that print nothing of what NVTX returns, which differs where no tool is there; then the others, but the one that waits
# for levels that only a tool counts.
QUIET_MODES = ["work", "cpp", "texts", "early", "threads", "across", "kill"]
MODES = QUIET_MODES + ["forms", "parts", "handles", "deep", "fork"]


class Ranges(harness.TestCase):
    def setUp(self):
        if not (harness.HOSTS / "nvtx").exists():
            self.skipTest("no NVTX headers")

    def injected(self, mode, status=0, **variables):
        run = self.run_host("nvtx", mode, **{VARIABLE: harness.PRELOAD, **variables})
        self.assertEqual((run.status, run.stderr), (status, b""), run.stdout)
        return run

    def calls(self, path):
        """Begin in seconds, thread, text of each NVTX call of a trace."""
        process = subprocess.run([harness.REPORT, "--format", "calls", path], capture_output=True, text=True,
                                 timeout=harness.TIMEOUT_S, check=False)
        self.assertEqual((process.returncode, process.stderr), (0, ""))
        found = []
        for line in process.stdout.splitlines():
            if " nvtx" in line and "(" in line and not line.rstrip().endswith("<- nvtx"):
                words = line.split(maxsplit=2)
                found.append((float(words[0]), int(words[1]), words[2].strip()))
        return found

    def texts(self, run):
        (trace,) = run.traces()
        return [text for _, _, text in self.calls(trace)]

    def said(self, run):
        return run.stdout.decode().splitlines()


class Recorded(Ranges):
    def test_every_function_of_the_c_api(self):
        run = self.injected("forms")
        self.assertEqual(self.said(run), [
            "push: 0", "push: 1", "push: 2", "push: 3", "pop: 3", "pop: 2", "pop: 1", "pop: 0",
            "pop of none is negative: 1", "ids differ: 1", "push in a domain: 0", "push in another: 0",
            "push in a domain: 1", "push in the default one: 0", "pop in a domain: 1", "pop in a domain: 0",
            "pop in another: 0", "pop in the default one: 0"])
        self.assertEqual(self.texts(run), [
            'nvtxRangePush("push a") = 0', 'nvtxRangePush("push w") = 1', 'nvtxRangePush("narrow ex") = 2',
            'nvtxRangePush("wide ex") = 3', "nvtxRangePop() = 3", "nvtxRangePop() = 2", "nvtxRangePop() = 1",
            "nvtxRangePop() = 0", 'nvtxRangeStart("start a") = 1', 'nvtxRangeStart("start w") = 2',
            'nvtxRangeStart("narrow ex") = 3', "nvtxRangeEnd(1)", "nvtxRangeEnd(2)", "nvtxRangeEnd(3)",
            'nvtxMark("mark a")', 'nvtxMark("mark w")', 'nvtxMark("narrow ex")',
            'nvtxDomainRangePush("my domain", "registered a") = 0',
            'nvtxDomainRangePush("wide domain", "registered w") = 0',
            'nvtxDomainRangePush("my domain", "narrow ex") = 1', 'nvtxRangePush("narrow ex") = 0',
            'nvtxDomainRangePop("my domain") = 1', 'nvtxDomainRangePop("my domain") = 0',
            'nvtxDomainRangePop("wide domain") = 0', "nvtxRangePop() = 0",
            'nvtxDomainRangeStart("my domain", "registered a") = 4', 'nvtxDomainRangeEnd("my domain", 4)',
            'nvtxDomainMark("my domain", "registered a")'])
        self.assertEqual(run.report()["process"]["info"]["nvtx"], "injected")

    def test_three_copies_of_nvtx_nest_in_each_other(self):
        run = self.injected("parts")
        self.assertEqual(self.said(run), ["main: 0", "first: 1", "second: 2", "in a domain: 0", "in a domain: 1",
                                          "in a domain: 1", "in a domain: 0", "second: 2", "first: 1", "main: 0"])
        self.assertEqual(self.texts(run), [
            'nvtxRangePush("of main") = 0', 'nvtxRangePush("of first") = 1', 'nvtxRangePush("of second") = 2',
            'nvtxDomainRangePush("shared", "by first") = 0', 'nvtxDomainRangePush("shared", "by second") = 1',
            'nvtxDomainRangePop("shared") = 1', 'nvtxDomainRangePop("shared") = 0', "nvtxRangePop() = 2",
            "nvtxRangePop() = 1", "nvtxRangePop() = 0", 'nvtxRangeStart("from part to part") = 1', "nvtxRangeEnd(1)"])

    def test_cpp(self):
        self.assertEqual(self.texts(self.injected("cpp")), [
            'nvtxRangePush("cpp") = 0', 'nvtxRangePush("cpp scoped") = 1',
            'nvtxDomainRangePush("cpp domain", "cpp registered") = 0', 'nvtxRangeStart("cpp unique") = 1',
            'nvtxDomainMark("cpp domain", "cpp mark")', "nvtxRangeEnd(1)", 'nvtxDomainRangePop("cpp domain") = 0',
            "nvtxRangePop() = 1", "nvtxRangePop() = 0"])

    def test_handles(self):
        """Of the same name the same, good after their end; wrong ones harm nobody; more domains than there is room for."""
        run = self.injected("handles")
        self.assertEqual({line.split(": ")[1] for line in self.said(run)[:-2]}, {"1"})
        self.assertEqual(self.said(run)[-2:], ["wrong handles: 0", "wrong handles: 0"])
        texts = self.texts(run)
        self.assertEqual(texts[:5], ['nvtxDomainMark("domain", "text")',
                                     'nvtxDomainRangePush("(other domains)", "") = 0',
                                     'nvtxDomainRangePop("(other domains)") = 0', 'nvtxMark("")', 'nvtxMark("")'])
        self.assertEqual(len(texts), 305)
        self.assertEqual(len(set(texts[5:])), 254 - 2 + 1)
        self.assertIn("the program makes more than 254 NVTX domains: the later ones are one to gpuspy",
                      run.report()["process"]["notices"])

    def test_texts(self):
        texts = self.texts(self.injected("texts"))
        self.assertEqual(texts, ['nvtxMark("")'] * 3 + [
            'nvtxMark("\u00e4\u20ac\U0001F600")', 'nvtxMark("<\ufffd\ufffd>")', f'nvtxMark("{"a" * 2047}")',
            f'nvtxMark("{"c" * 2048}")', f'nvtxMark("{"d" * 2048}")', f'nvtxMark("{"e" * 2047}")',
            'nvtxMark(""?\ufffd")'])

    def test_hundred_threads(self):
        run = self.injected("threads", GPUSPY_RING_KIB=64)
        (trace,) = run.traces()
        calls = self.calls(trace)
        starts = [text for _, _, text in calls if text.startswith("nvtxRangeStart")]
        self.assertEqual(run.report()["launches"]["dropped"], {})
        self.assertEqual(len(calls), 6000)
        self.assertEqual(len({text.split(" = ")[1] for text in starts}), 1000)
        by_thread = {}
        for _, thread, text in calls:
            by_thread.setdefault(thread, []).append(text)
        names = set()
        for texts in by_thread.values():
            pushes = {text for text in texts if "RangePush" in text and "Domain" not in text}
            # A thread id may come back, once its thread has ended.
            self.assertEqual(len(texts), 60 * len(pushes))
            names |= pushes
        self.assertEqual(names, {f'nvtxRangePush("thread {i}") = 0' for i in range(100)})

    def test_start_on_one_thread_and_end_on_another(self):
        run = self.injected("across")
        (trace,) = run.traces()
        (start, end) = self.calls(trace)
        self.assertEqual((start[2], end[2]), ('nvtxRangeStart("across") = 1', "nvtxRangeEnd(1)"))
        self.assertNotEqual(start[1], end[1])

    def test_signal_handler(self):
        """It may come in the middle of a push: levels are right, and what is recorded is paired."""
        run = self.injected("handler", GPUSPY_RING_KIB=16384)
        self.assertEqual(self.said(run), ["levels are right: 1"])
        self.assertNotIn("ring_full", {cause for cause, count in run.report()["launches"]["dropped"].items() if count})
        (trace,) = run.traces()
        opened = {}  # By thread: any may get the signal.
        for _, thread, text in self.calls(trace):
            levels = opened.setdefault(thread, [])
            level = int(text.rsplit(" = ", 1)[1])
            if "Push" in text:
                self.assertEqual(level, len(levels))
                levels.append(text)
            else:
                levels.pop()
                self.assertEqual(level, len(levels))
        self.assertEqual(set(map(len, opened.values())), {0})


class BeforeTheRecording(Ranges):
    def test_ranges_that_are_open_then_begin_where_they_did(self):
        run = self.injected("early")
        (trace,) = run.traces()
        calls = self.calls(trace)
        self.assertEqual([text for _, _, text in calls], [
            'nvtxRangeStart("started") = 2', 'nvtxRangePush("outermost") = 0', 'nvtxRangePush("middle") = 1',
            'nvtxRangePush("innermost") = 2', "nvtxRangePop() = 2", "nvtxRangePop() = 1", "nvtxRangeEnd(2)",
            "nvtxRangePop() = 0"])
        self.assertTrue(all(begin < 0 for begin, _, _ in calls[:3]), calls)
        self.assertTrue(all(begin > 0 for begin, _, _ in calls[3:]), calls)
        self.assertEqual(sorted(begin for begin, _, _ in calls[:3]), [calls[1][0], calls[2][0], calls[0][0]])

    def test_deeper_than_is_kept(self):
        run = self.injected("deep")
        self.assertEqual(self.said(run), [])
        texts = self.texts(run)
        pushes = [text for text in texts if "Push" in text]
        self.assertEqual(len(pushes), 64)
        self.assertEqual([text.rsplit(" = ", 1)[1] for text in pushes], [str(i) for i in range(64)])
        self.assertEqual(pushes[0], f'nvtxRangePush("level 0{"." * 100}") = 0')
        self.assertEqual(texts[64:], [f"nvtxRangePop() = {99 - i}" for i in range(100)])

    def test_program_without_cuda(self):
        """Nothing appears: no file, no thread, no ring."""
        folder = self.new_folder()
        environment = harness.environment(True, **{VARIABLE: harness.PRELOAD})
        rings = pathlib.Path("/dev/shm")
        before = set(rings.glob("gpuspy.*"))  # Of dead processes, too, whose pid may come back.
        with subprocess.Popen([harness.HOSTS / "nvtx", "without"], cwd=folder, env=environment, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            self.assertEqual(process.stdout.readline(), b"no CUDA\n")
            self.assertEqual(len(os.listdir(f"/proc/{process.pid}/task")), 1)
            self.assertEqual(set(rings.glob(f"gpuspy.{process.pid}.*")) - before, set())
            _, errors = process.communicate(b"\n", timeout=harness.TIMEOUT_S)
        self.assertEqual((process.returncode, errors), (0, b""))
        self.assertEqual(list(folder.iterdir()), [])


class Ends(Ranges):
    def test_killed_within_ranges(self):
        run = self.injected("kill", status=-signal.SIGKILL)
        self.assertEqual(self.texts(run), [
            'nvtxRangePush("before CUDA") = 0', 'nvtxRangePush("open") = 1', 'nvtxRangeStart("open start") = 1',
            'nvtxDomainRangePush("domain", "open in a domain") = 0', 'nvtxRangePush("closed") = 2',
            "nvtxRangePop() = 2"])

    def test_fork_within_ranges(self):
        run = self.injected("fork")
        self.assertEqual(self.said(run).count("pop: 1"), 3)
        self.assertEqual(self.said(run).count("pop: 0"), 4)
        found = sorted([text for _, _, text in self.calls(trace)] for trace in run.traces())
        of = 'nvtxRangePush("of the {}") = 1'
        both = ["nvtxRangePop() = 1", "nvtxRangePop() = 0"]
        before = 'nvtxRangePush("before the fork") = 0'
        self.assertEqual(found, [
            [before, of.format("child"), *both],
            [before, of.format("parent"), *both, 'nvtxRangePush("second fork") = 0', "nvtxRangePop() = 0"]])

    def test_full_ring(self):
        """What is dropped is counted, and levels stay right."""
        run = self.injected("busy", GPUSPY_RING_KIB=16, GPUSPY_DRAIN_MS=1000)
        self.assertEqual(self.said(run), ["levels are right: 1"])
        dropped = run.report()["launches"]["dropped"]["ring_full"]
        self.assertGreater(dropped, 0)
        self.assertEqual(len(self.texts(run)) + dropped, 20_000)


class Transparent(Ranges):
    def test_output_is_the_same_with_and_without(self):
        for mode in QUIET_MODES:
            with self.subTest(mode=mode):
                bare = self.run_host("nvtx", mode, preload=False)
                for variables in ({}, {VARIABLE: harness.PRELOAD}, {VARIABLE: harness.PRELOAD, "GPUSPY_DISABLE": 1}):
                    run = self.run_host("nvtx", mode, **variables)
                    self.assertEqual((run.status, run.stdout, run.stderr), (bare.status, bare.stdout, bare.stderr))
                    run.reports()  # The rings of a host that was killed go with that.

    def test_switched_off_nvtx_is_as_without_a_tool(self):
        for mode in MODES:
            with self.subTest(mode=mode):
                bare = self.run_host("nvtx", mode, preload=False)
                run = self.run_host("nvtx", mode, GPUSPY_DISABLE=1, **{VARIABLE: harness.PRELOAD})
                self.assertEqual((run.status, run.stdout, run.stderr), (bare.status, bare.stdout, bare.stderr))
                self.assertEqual(run.traces(), [])

    def test_return_values_do_not_depend_on_a_recording(self):
        """Not the process that records: levels, ids and handles are as they are there."""
        for mode in ("forms", "parts", "handles", "deep"):
            with self.subTest(mode=mode):
                recorded = self.injected(mode)
                run = self.injected(mode, GPUSPY_ONLY_PID=1)
                self.assertEqual((run.stdout, run.traces()), (recorded.stdout, []))


class Plain(Ranges):
    def nvtx(self, run):
        return run.report()["process"]["info"]["nvtx"]

    def test_plain_preload_says_that_ranges_are_missing(self):
        run = self.run_host("nvtx", "work")
        self.assertEqual((run.status, run.stderr), (0, b""))
        self.assertEqual(self.nvtx(run), "not injected: NVTX_INJECTION64_PATH was not set when the program started")
        (trace,) = run.traces()
        text = subprocess.run([harness.REPORT, trace], capture_output=True, text=True, timeout=harness.TIMEOUT_S,
                              check=True).stdout
        self.assertRegex(text, r"\n  NVTX ranges +not injected: NVTX_INJECTION64_PATH was not set")
        self.assertEqual(self.calls(trace), [])

    def test_another_tool(self):
        run = self.run_host("nvtx", "work", **{VARIABLE: harness.HOSTS / "libplugin.so"})
        self.assertEqual(self.nvtx(run), f"not injected: NVTX_INJECTION64_PATH names {harness.HOSTS / 'libplugin.so'}")

    def test_program_that_has_no_ranges(self):
        run = self.run_host("launch_runtime", **{VARIABLE: harness.PRELOAD})
        self.assertEqual(self.nvtx(run), "not injected: the program has made no NVTX call")

    def test_program_that_sets_the_variable_itself(self):
        code = ("import ctypes, os, sys\n"
                f"os.environ['{VARIABLE}'] = os.environ['LIBRARY']\n"
                "cudart = ctypes.CDLL('libcudart.so.13')\n"
                "part = ctypes.CDLL('libnvtx_first.so')\n"
                "cudart.cudaDeviceSynchronize()\n"
                "sys.exit(part.first_push(b'late'))\n")
        run = self.run_command([sys.executable, "-c", code], LIBRARY=harness.PRELOAD)
        self.assertEqual((run.status, run.stderr), (0, b""))
        self.assertEqual(self.nvtx(run), "injected")
        self.assertEqual(self.texts(run), ['nvtxRangePush("late") = 0'])


class GpuspyRun(Ranges):
    def test_sets_the_variable(self):
        run = self.run_command([RUN, "--quiet", "--", harness.HOSTS / "nvtx", "work"], preload=False)
        self.assertEqual((run.status, run.stdout, run.stderr), (0, b"worked\n", b""))
        texts = self.texts(run)
        self.assertEqual(texts[0], 'nvtxRangePush("outer") = 0')
        self.assertEqual(texts.count('nvtxRangePush("inner") = 1'), 3)

    def test_leaves_the_users_choice_alone_and_says_so(self):
        other = harness.HOSTS / "libplugin.so"
        run = self.run_command([RUN, "--quiet", "--", harness.HOSTS / "nvtx", "work"], preload=False,
                               **{VARIABLE: other})
        self.assertEqual((run.status, run.stdout), (0, b"worked\n"))
        self.assertEqual(run.stderr.decode(), f"gpuspy-run: {VARIABLE} names {other}: NVTX ranges go there, and are not "
                                              "recorded; unset it to record them\n")
        self.assertEqual(self.texts(run), [])


if __name__ == "__main__":
    unittest.main()
