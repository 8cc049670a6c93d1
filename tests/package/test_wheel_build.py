"""Makes the wheel as pip does, without the network: scripts/setup.sh has fetched the build's backend."""

import os
import shutil
import sys
import unittest

import harness

BACKEND = harness.SOURCE / "build" / "wheels"


class WheelBuild(harness.TestCase):
    def test_one_wheel_for_every_python_3(self):
        venv = self.new_folder() / "venv"
        harness.run(sys.executable, "-m", "venv", venv)
        passed_on = {name: value for name, value in os.environ.items() if name.startswith(("CMAKE_", "CCACHE_", "CUDA_"))}
        environment = harness.clean_environment(
            CXX=os.environ["GPUSPY_CXX"], CC=os.environ["GPUSPY_CC"],
            CMAKE_BUILD_PARALLEL_LEVEL=os.environ.get("GPUSPY_JOBS", "2"), **passed_on)
        shutil.rmtree(harness.WHEEL, ignore_errors=True)
        harness.run(venv / "bin" / "python", "-m", "pip", "wheel", "--no-deps", "--no-index", "--find-links", BACKEND,
                    "--wheel-dir", harness.WHEEL, harness.SOURCE, timeout=580, env=environment)
        [wheel] = harness.WHEEL.iterdir()
        self.assertRegex(wheel.name, r"^gpuspy-[0-9.]+-py3-none-linux_x86_64\.whl$")


if __name__ == "__main__":
    if not list(BACKEND.glob("scikit_build_core-*.whl")):
        harness.skip(f"no scikit-build-core in {BACKEND}: scripts/setup.sh fetches it")
    unittest.main()
