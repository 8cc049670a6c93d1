"""Every way to bring CUDA into a process: what the host sees is the same as without gpuspy, and each launch is seen, or said to
be missing.

`loads` is linked with no CUDA library; what it opens is.
"""

import shutil
import sys
import unittest

import harness

PLUGIN = harness.HOSTS / "libplugin.so"
CHAIN = harness.HOSTS / "libchain.so"


def notices(report):
    return "\n".join(report["process"]["notices"])


class Loading(harness.TestCase):
    def both(self, *command, **variables):
        """Runs it without and with gpuspy; both must look the same. Gives the report."""
        bare = self.run_host(*command, preload=False, **variables)
        spied = self.run_host(*command, **variables)
        self.assertEqual(bare.status, 0, (bare.stdout, bare.stderr))
        self.assertEqual((spied.status, spied.stdout, spied.stderr), (bare.status, bare.stdout, bare.stderr))
        return spied.report()

    def counted_at_the_driver(self, report, launches, **kernels):
        self.assert_launches(report, host=launches, failed=0, captured=0)
        self.assert_kernels(report, **kernels)
        calls = harness.call_counts(report)
        self.assertEqual(calls.get("cuLaunchKernel", 0) + calls.get("cuLaunchKernel_ptsz", 0), launches)

    # -- scopes

    def test_local_scope(self):
        report = self.both("loads", "local", PLUGIN)
        self.assert_complete(report, 6)
        self.assert_kernels(report, _Z6pluginv=6)
        self.assertEqual(harness.call_counts(report)["cudaLaunchKernel"], 6)
        self.assertEqual(report["kernels"][0]["owner"], "libplugin.so")
        self.assertEqual(report["process"]["notices"], [])

    def test_deepbind_is_said_and_counted(self):
        """The library, its runtime and the runtime's look-ups are all bound past every preloaded library."""
        for timing in (1, 0):
            for how in ("deepbind", "lazy"):
                with self.subTest(timing=timing, how=how):
                    report = self.both("loads", how, PLUGIN, GPUSPY_DEVICE_TIMING=timing)
                    self.counted_at_the_driver(report, 6, _Z6pluginv=6)
                    if timing:
                        self.assert_complete(report, 6)

    def test_deepbind_is_named(self):
        text = notices(self.both("loads", "deepbind", PLUGIN))
        self.assertIn("libplugin.so", text)
        self.assertIn("RTLD_DEEPBIND", text)

    def test_deepbind_of_a_library_with_the_runtime_inside(self):
        for timing in (1, 0):
            with self.subTest(timing=timing):
                report = self.both("loads", "deepbind", harness.HOSTS / "libplugin_static.so", GPUSPY_DEVICE_TIMING=timing)
                self.counted_at_the_driver(report, 6, _Z6staticv=6)
                self.assertIn("libplugin_static.so", notices(report))

    def test_deepbind_that_nobody_looks_into_is_named(self):
        """It launches when it is loaded: past us, but for the driver's level, since its runtime was there before."""
        report = self.both("loads", "unasked", PLUGIN, harness.HOSTS / "libplugin_at_load.so")
        self.assert_complete(report, 12)
        self.assertEqual(harness.call_counts(report)["cudaLaunchKernel"], 6)
        self.assertIn("libplugin_at_load.so", notices(report))
        self.assertIn("at the driver's level at most", notices(report))

    def test_interpreter_that_opens_a_library(self):
        """ctypes: no library of CUDA is linked with the interpreter."""
        for mode in ("0", "os.RTLD_DEEPBIND | os.RTLD_NOW"):
            with self.subTest(mode=mode):
                program = f"import ctypes, os; print(ctypes.CDLL({str(PLUGIN)!r}, mode={mode}).launch_from_plugin())"
                run = self.run_command([sys.executable, "-c", program])
                self.assertEqual((run.status, run.stdout, run.stderr), (0, b"6\n", b""))
                self.assert_complete(run.report(), 6)

    def test_namespace_of_its_own_is_said(self):
        """dlmopen: gpuspy is not in there. What was launched outside is counted, what is not seen is named."""
        report = self.both("loads", "dlmopen", PLUGIN)
        self.assert_complete(report, 6)
        self.assertIn("libcudart.so.13", notices(report))
        self.assertIn("dlmopen", notices(report))

    def test_local_scope_is_not_seen_by_everyone(self):
        """RTLD_DEFAULT and RTLD_NEXT find what they would find without gpuspy, and nothing more."""
        bare = self.run_host("loads", "default", preload=False)
        spied = self.run_host("loads", "default")
        self.assertIn(b"default cudaLaunchKernel: null", bare.stdout)
        self.assertIn(b"default cudaLaunchKernel: found", bare.stdout)
        self.assertEqual((spied.status, spied.stdout, spied.stderr), (bare.status, bare.stdout, bare.stderr))

    def test_pointer_into_a_namespace_of_its_own_outlives_an_unload(self):
        self.both("loads", "apart", harness.SIMULATED / "libcudart.so.13", harness.HOSTS / "libself.so")

    def test_name_that_the_program_defines_itself_is_the_programs(self):
        report = self.both("own_names")
        self.assertEqual(harness.call_counts(report)["cudaDeviceSynchronize"], 3)

    def test_look_up_by_version_in_a_local_scope(self):
        for preload in (False, True):
            run = self.run_host("loads", "own", PLUGIN, "finds_by_version", preload=preload)
            self.assertEqual((run.status, run.stdout, run.stderr), (0, b"1\n", b""))

    # -- copies of the runtime

    def test_hashed_soname(self):
        report = self.both("loads", "local", harness.HOSTS / "libplugin_hashed.so")
        self.assert_complete(report, 6)
        self.assert_kernels(report, _Z6hashedv=6)
        self.assertEqual(harness.call_counts(report)["cudaLaunchKernel"], 6)
        self.assertEqual(report["kernels"][0]["owner"], "libplugin_hashed.so")

    def test_runtimes_of_two_majors_and_one_inside(self):
        report = self.both("loads", "local", PLUGIN, harness.HOSTS / "libplugin_twelve.so",
                           harness.HOSTS / "libplugin_static.so", harness.HOSTS / "libplugin_hashed.so")
        self.assert_complete(report, 24)
        self.assert_kernels(report, _Z6pluginv=6, _Z6twelvev=6, _Z6staticv=6, _Z6hashedv=6)
        self.assertEqual(harness.call_counts(report)["cudaLaunchKernel"], 18)
        self.assertEqual({kernel["mangled"]: kernel["owner"] for kernel in report["kernels"]},
                         {"_Z6pluginv": "libplugin.so", "_Z6twelvev": "libplugin_twelve.so",
                          "_Z6staticv": "libplugin_static.so", "_Z6hashedv": "libplugin_hashed.so"})

    # -- many, and coming and going

    def test_twenty_callers_of_one_function(self):
        folder = self.new_folder()
        copies = [shutil.copy(PLUGIN, folder / f"copy{number:02}.so") for number in range(20)]
        report = self.both("loads", "local", *copies)
        self.assert_complete(report, 120)
        self.assertEqual({kernel["owner"]: kernel["count"] for kernel in report["kernels"]},
                         {f"copy{number:02}.so": 6 for number in range(20)})
        self.assertEqual(harness.call_counts(report)["cudaLaunchKernel"], 120)

    def test_libraries_that_come_and_go(self):
        """One library lies where another one lay before: whose calls they were is known all the same."""
        plugins = [PLUGIN, harness.HOSTS / "libplugin_twelve.so"]
        report = self.both("loads", "reopen", 10, *plugins)
        self.assert_complete(report, 120)
        self.assertEqual({kernel["mangled"]: (kernel["owner"], kernel["count"]) for kernel in report["kernels"]},
                         {"_Z6pluginv": ("libplugin.so", 60), "_Z6twelvev": ("libplugin_twelve.so", 60)})

    def test_libraries_that_come_and_go_on_eight_threads(self):
        plugins = [PLUGIN, harness.HOSTS / "libplugin_twelve.so", harness.HOSTS / "libplugin_static.so"]
        report = self.both("loads", "threads", 10, *plugins)
        self.assert_complete(report, 8 * 10 * 18)
        self.assert_kernels(report, _Z6pluginv=480, _Z6twelvev=480, _Z6staticv=480)

    def test_providers_that_come_and_go_on_eight_threads(self):
        """While one thread looks for the library behind a call, others unload libraries that have the name too."""
        callers = [harness.HOSTS / f"libblas_caller_{number}.so" for number in (1, 2, 3, 4)]
        report = self.both("loads", "threads", 400, *callers)
        self.assertEqual(harness.call_counts(report)["cublasSaxpy_v2"], 8 * 400 * 4)

    def test_looked_up_pointers_of_a_library_that_comes_and_goes(self):
        report = self.both("loads", "pointers", 12, harness.SIMULATED / "libcudart.so.13")
        self.assertEqual(harness.call_counts(report)["cudaDeviceSynchronize"], 12)
        self.assertEqual(report["launches"]["dropped"], {})

    def test_driver_that_comes_and_goes(self):
        """As programs do that look for a GPU first."""
        report = self.both("loads", "drivers", 12, harness.HOSTS / "libsmall_driver.so", GPUSPY_DEVICE_TIMING=0)
        self.assert_kernels(report, small=24)
        self.assertEqual(harness.call_counts(report)["cuLaunchKernel"], 24)
        self.assertEqual(report["launches"]["dropped"], {})

    # -- look-ups

    def test_newer_driver_than_the_hook_table(self):
        """A form of a launch that no table knows is passed through and counted, and what it launched has no launch."""
        report = self.both("launch_lookup", "newer", SIM_DRIVER_VERSION=14000)
        self.assert_launches(report, host=2, device_records=4, unmatched_records=2, complete=False)
        self.assertEqual(report["launches"]["dropped"], {"unmapped_pointer": 1})
        self.assertEqual(harness.call_counts(report)["cuStreamSynchronize"], 2)

    def test_older_driver_gives_what_the_table_knows(self):
        report = self.both("launch_lookup", "newer", SIM_DRIVER_VERSION=13000)
        self.assert_complete(report, 4)
        self.assertEqual(report["launches"]["dropped"], {})

    def test_name_that_only_the_driver_knows_is_counted(self):
        report = self.both("launch_lookup", "procaddress")
        self.assertEqual(report["launches"]["dropped"], {"unmapped_pointer": 1})

    def test_look_ups_before_the_driver_is_initialised(self):
        """The host fetches every function before it calls cuInit."""
        for route in ("dlsym", "procaddress"):
            with self.subTest(route=route):
                report = self.both("launch_lookup", route)
                self.assertTrue(report["launches"]["complete"], report["launches"])

    def test_program_without_cuda_finds_none(self):
        bare = self.run_host("probe", preload=False)
        spied = self.run_host("probe")
        self.assertEqual((spied.status, spied.stdout, spied.stderr), (bare.status, bare.stdout, bare.stderr))
        self.assertEqual(spied.traces(), [])

    def test_library_that_looks_itself_up_finds_itself(self):
        """By its own handle; the driver's and the tools' even get their very address, since a hook would recurse."""
        for library, function, answer in (("libself.so", "call_own_function", b"999\n"),
                                          ("libnvidia-self.so", "call_own_function", b"999\n"),
                                          ("libnvidia-self.so", "finds_own_function", b"1\n")):
            with self.subTest(library=library, function=function):
                spied = self.run_host("loads", "own", harness.HOSTS / library, function)
                self.assertEqual((spied.status, spied.stdout, spied.stderr), (0, answer, b""))

    def test_nobody_waits_for_a_thread_that_is_in_a_call(self):
        """No lock of ours is held across a call of the host's libraries."""
        report = self.both("locks")
        self.assert_launches(report, host=1 + 50 + 1 + 1, captured=1, failed=0, graph_launches=1)

    # -- other preloaded libraries

    def test_chain_of_preloaded_libraries(self):
        """Each finds what comes next by RTLD_NEXT; each sees every launch once."""
        bare = self.run_host("owners", preload=False, LD_PRELOAD=CHAIN)
        self.assertEqual(bare.stderr, b"chain: 8\n")
        for order in ((harness.PRELOAD, CHAIN), (CHAIN, harness.PRELOAD)):
            with self.subTest(order=[path.name for path in order]):
                spied = self.run_host("owners", LD_PRELOAD=":".join(str(path) for path in order))
                self.assertEqual((spied.status, spied.stdout, spied.stderr), (bare.status, bare.stdout, bare.stderr))
                report = spied.report()
                self.assert_complete(report, 8)
                self.assert_kernels(report, _Z6pluginv=6, _Z7programv=2)
                self.assertEqual(harness.call_counts(report)["cudaLaunchKernel"], 8)

    def test_chain_of_preloaded_look_ups(self):
        """Another tool stands in front of dlsym: both see every launch, whichever comes first."""
        other = harness.HOSTS / "libchain_look_ups.so"
        bare = self.run_host("owners", preload=False, LD_PRELOAD=other)
        self.assertEqual(bare.stderr, b"chain of look-ups: 8\n")
        for order in ((harness.PRELOAD, other), (other, harness.PRELOAD)):
            with self.subTest(order=[path.name for path in order]):
                spied = self.run_host("owners", LD_PRELOAD=":".join(str(path) for path in order))
                self.assertEqual((spied.status, spied.stdout, spied.stderr), (bare.status, bare.stdout, bare.stderr))
                report = spied.report()
                self.assert_complete(report, 8)
                self.assert_kernels(report, _Z6pluginv=6, _Z7programv=2)
                self.assertEqual(harness.call_counts(report)["cuLaunchKernel"], 8)


if __name__ == "__main__":
    unittest.main()
