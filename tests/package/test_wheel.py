"""The wheel, installed by pip into an empty virtual environment."""

import sys
import unittest

import harness


READ = """
import gpuspy, sys
trace = gpuspy.open(sys.argv[1])
print(sorted(trace.tables()), trace.view("kernels").__arrow_c_stream__())
"""


class Wheel(harness.TestCase):
    def assert_reads(self, python):
        """The package, with nothing beside it, reads a trace that was recorded on a GPU."""
        trace = harness.SOURCE / "tests" / "golden" / "h200_resnet_train.bin"
        text = harness.run(python, "-c", READ, trace, cwd=self.new_folder(), env=harness.clean_environment())
        self.assertIn("'kernels'", text)
        self.assertIn("arrow_array_stream", text)

    def test_installed(self):
        venv = self.new_folder() / "venv"
        harness.run(sys.executable, "-m", "venv", venv)
        [wheel] = harness.WHEEL.glob("*.whl")
        harness.run(venv / "bin" / "python", "-m", "pip", "install", "--no-index", wheel)
        self.assert_records(venv / "bin", venv / "lib" / "libgpuspy.so")
        self.assert_documented(venv / "share")
        [info] = venv.glob("lib/python*/site-packages/gpuspy-*.dist-info")
        tags = [line for line in (info / "WHEEL").read_text().splitlines() if line.startswith("Tag:")]
        self.assertEqual(tags, ["Tag: py3-none-linux_x86_64"])
        installed = [line.split(",")[0] for line in (info / "RECORD").read_text().splitlines()]
        self.assertEqual(sorted(path for path in installed if path.endswith(".py") or path.startswith("gpuspy/lib")),
                         ["gpuspy/__init__.py", "gpuspy/_library.py", "gpuspy/libgpuspy_tables.so"])
        self.assert_reads(venv / "bin" / "python")
        harness.run(venv / "bin" / "python", "-m", "pip", "uninstall", "-y", "gpuspy")
        self.assertFalse(any((venv / "bin" / name).exists() for name in harness.PROGRAMS))


if __name__ == "__main__":
    if not harness.WHEEL.is_dir():
        harness.skip("the wheel was not built: the test wheel_build says why")
    unittest.main()
