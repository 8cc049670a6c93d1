"""The package that cpack -G DEB makes, unpacked into an empty folder."""

import re
import shutil
import unittest

import harness


class Debian(harness.TestCase):
    def test_package(self):
        folder = self.new_folder()
        harness.run("cpack", "-G", "DEB", "--config", harness.BUILD / "CPackConfig.cmake", "-B", folder, timeout=110)
        [package] = folder.glob("*.deb")
        self.assertRegex(package.name, r"^gpuspy_[0-9.]+_amd64\.deb$")
        self.assertRegex(harness.run("dpkg-deb", "-f", package, "Depends"), r"^libc6 \(>= 2\.[0-9]+\)$")
        self.assertRegex(harness.run("dpkg-deb", "-f", package, "Maintainer"), "gpuspy")
        root = folder / "root"
        harness.run("dpkg-deb", "-x", package, root)
        [library] = root.glob("usr/lib/**/libgpuspy.so")
        self.assert_records(root / "usr" / "bin", library)
        self.assert_documented(root / "usr" / "share")
        owners = harness.run("dpkg-deb", "-c", package)
        self.assertEqual(set(re.findall(r"^\S+ (\S+)", owners, re.MULTILINE)), {"root/root"})
        self.assertEqual([line for line in owners.splitlines() if re.match(r"^.....w|^........w", line)], [])


if __name__ == "__main__":
    for tool in ("cpack", "dpkg-deb", "dpkg-shlibdeps", "file"):
        if shutil.which(tool) is None:
            harness.skip(f"no {tool}: scripts/setup.sh installs it on Debian")
    unittest.main()
