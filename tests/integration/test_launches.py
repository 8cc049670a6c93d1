"""Each way to launch a kernel is seen, once, whatever route the call took."""

import pathlib
import shutil
import unittest

import harness


class Launches(harness.TestCase):
    def test_runtime(self):
        report = self.recorded("launch_runtime")
        self.assert_complete(report, 12)
        self.assert_kernels(report, _Z3addPfS_=5, _Z5scalePff=7)
        calls = harness.call_counts(report)
        self.assertEqual(calls["cudaLaunchKernel"], 3)
        self.assertEqual(calls["__cudaLaunchKernel"], 5)
        self.assertEqual(calls["__cudaLaunchKernel_ptsz"], 2)
        self.assertEqual((calls["cuLaunchKernel"], calls["cuLaunchKernel_ptsz"]), (8, 2))
        self.assertEqual(calls["cudaLaunchKernelExC"], 1)
        self.assertEqual(calls["cudaLaunchCooperativeKernel"], 1)
        self.assertEqual(report["kernels"][0]["name"], "scale(float*, float)")

    def test_driver(self):
        report = self.recorded("launch_driver")
        self.assert_complete(report, 11)
        self.assert_kernels(report, triton_poi_fused_0=6, triton_red_fused_1=4, from_library=1)
        calls = harness.call_counts(report)
        self.assertEqual(calls["cuLaunchKernel"], 5)
        self.assertEqual(calls["cuLaunchKernelEx_ptsz"], 1)

    def test_forms_that_are_left_to_others(self):
        """CUDA 2's launches, one call for several kernels, a grid whose product needs 63 bits, graphs by the driver."""
        report = self.recorded("launch_forms")
        self.assert_launches(report, host=3 + 1 + 1 + 3, failed=0, graph_launches=3, graph_nodes=3, device_records=9,
                             complete=True)
        self.assert_kernels(report, old_form=3, wide_grid=1, several=2, in_graph=3)
        calls = harness.call_counts(report)
        self.assertEqual((calls["cuGraphLaunch"], calls["cuGraphLaunch_ptsz"]), (1, 2))

    def test_dlsym(self):
        report = self.recorded("launch_lookup", "dlsym")
        self.assert_complete(report, 2)
        self.assert_kernels(report, by_dlsym=2)

    def test_get_proc_address(self):
        report = self.recorded("launch_lookup", "procaddress")
        self.assert_complete(report, 14)
        self.assert_kernels(report, by_old_form=6, by_new_form=6, by_again=2)
        calls = harness.call_counts(report)
        self.assertEqual(calls["cuLaunchKernel"], 10)
        self.assertEqual(calls["cuLaunchKernel_ptsz"], 4)
        # Asked for by its base name at 13000, the function is the second version.
        self.assertEqual(calls["cuCtxSynchronize_v2"], 7)

    def test_driver_entry_point(self):
        report = self.recorded("launch_lookup", "entrypoint")
        self.assert_complete(report, 6)
        self.assert_kernels(report, by_entry_point=6)

    def test_next_and_default(self):
        for handle in ("next", "default"):
            with self.subTest(handle=handle):
                report = self.recorded("launch_lookup", handle)
                self.assert_complete(report, 2)
                self.assertEqual(harness.call_counts(report)["cudaLaunchKernel"], 2)

    def test_static_runtime(self):
        report = self.recorded("launch_static")
        self.assert_complete(report, 10)
        self.assert_kernels(report, _Z13static_kernelv=10)
        calls = harness.call_counts(report)
        self.assertEqual(calls["cuLaunchKernel"], 7)
        self.assertEqual(calls["cuLaunchKernel_ptsz"], 3)
        self.assertEqual(harness.copies(report)["HtoD"], (1, 100))

    def test_two_runtimes(self):
        report = self.recorded("two_runtimes")
        self.assert_complete(report, 9)
        self.assert_kernels(report, kernel_of_12=5, kernel_of_13=4)
        self.assertEqual(harness.call_counts(report)["cudaLaunchKernel"], 9)

    def test_deepbind_is_seen_at_the_driver(self):
        report = self.recorded("deepbind", harness.HOSTS / "libplugin.so")
        self.assert_complete(report, 6)
        self.assert_kernels(report, _Z6pluginv=6)

    def test_owner_is_the_object_that_launched(self):
        report = self.recorded("owners")
        self.assert_complete(report, 8)
        owners = {kernel["mangled"]: (kernel["owner"], kernel["count"]) for kernel in report["kernels"]}
        self.assertEqual(owners, {"_Z6pluginv": ("libplugin.so", 6), "_Z7programv": ("owners", 2)})

    def test_old_cupti(self):
        """A process of CUDA 12: its CUPTI has the older, shorter kernel record."""
        report = self.recorded("launch_runtime", GPUSPY_CUPTI=harness.SIMULATED / "libcupti.so.12")
        self.assert_complete(report, 12)
        self.assertEqual(report["process"]["info"]["cupti_version"], "26")

    def test_program_of_cuda_12(self):
        report = self.recorded("cuda12", SIM_DRIVER_VERSION=12080)
        self.assert_complete(report, 4)
        self.assert_kernels(report, _Z6twelvev=4)
        self.assertEqual(harness.call_counts(report)["cuCtxSynchronize"], 1)
        self.assertEqual(report["process"]["info"]["cupti_version"], "26")

    def test_program_of_cuda_10(self):
        """A launch is three calls: its configuration, its arguments, the launch."""
        run = self.run_host("cuda10", SIM_DRIVER_VERSION=12080)
        self.assertEqual((run.status, run.stderr), (0, b""), run.stdout)
        report = run.report()
        self.assert_complete(report, 3)
        self.assert_kernels(report, _Z3tenv=2, _Z6elevenv=1)
        calls = harness.call_counts(report)
        self.assertEqual((calls["cudaLaunch"], calls.get("cudaConfigureCall", 0)), (3, 0))
        self.assertTrue(all("stream=0x" in line for line in run.listed_calls() if " cudaLaunch(" in line))

    def folder_of_cuda_12(self, cupti, name):
        """The simulated driver and CUDA 12's runtime, with `cupti` under another name as the only libcupti."""
        for root in ("/usr/local/cuda/extras/CUPTI/lib64", "/usr/local/cuda/lib64"):
            if (pathlib.Path(root) / "libcupti.so.12").exists():
                self.skipTest(f"{root} has a libcupti.so.12")
        folder = self.new_folder()
        for library in ("libcuda.so.1", "libcudart.so.12"):
            shutil.copy(harness.SIMULATED / library, folder / library)
        shutil.copy(harness.SIMULATED / cupti, folder / name)
        return folder

    def test_program_of_cuda_12_beside_a_newer_cupti(self):
        folder = self.folder_of_cuda_12("libcupti.so.13", "libcupti.so.13")
        report = self.recorded("cuda12", LD_LIBRARY_PATH=folder)
        self.assert_complete(report, 4)

    def test_cupti_with_a_minor_version_in_its_name(self):
        folder = self.folder_of_cuda_12("libcupti.so.12", "libcupti.so.11.8")
        report = self.recorded("cuda12", LD_LIBRARY_PATH=folder, SIM_DRIVER_VERSION=12080)
        self.assert_complete(report, 4)
        self.assertEqual(report["process"]["info"]["cupti_version"], "26")

    def test_two_devices_and_streams_of_threads(self):
        report = self.recorded("devices", SIM_DEVICES=2)
        self.assert_complete(report, 5)
        self.assertEqual([device["kernels"] for device in report["gpu"]["devices"]], [3, 2])
        self.assertEqual(harness.call_counts(report)["cudaLaunchKernel_ptsz"], 2)

    def test_failing_launches(self):
        report = self.recorded("errors", SIM_FAIL="cuLaunchKernel:700:5")
        # Failed at the runtime: unregistered and missing kernel, no threads, too many, the corrupting one. At the driver: a
        # null function and a null configuration.
        self.assert_launches(report, host=8, failed=7, expected=1, device_records=1, complete=True)


if __name__ == "__main__":
    unittest.main()
