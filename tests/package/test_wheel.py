"""The wheel, installed by pip into an empty virtual environment."""

import sys
import unittest

import harness


class Wheel(harness.TestCase):
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
        self.assertEqual([path for path in installed if path.endswith(".py")], [])
        harness.run(venv / "bin" / "python", "-m", "pip", "uninstall", "-y", "gpuspy")
        self.assertFalse(any((venv / "bin" / name).exists() for name in harness.PROGRAMS))


if __name__ == "__main__":
    if not harness.WHEEL.is_dir():
        harness.skip("the wheel was not built: the test wheel_build says why")
    unittest.main()
