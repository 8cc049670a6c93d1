"""cmake --install into an empty prefix."""

import unittest

import harness


class Prefix(harness.TestCase):
    def setUp(self):
        self.prefix = self.new_folder() / "gpuspy"
        harness.run("cmake", "--install", harness.BUILD, "--prefix", self.prefix, "--strip")

    def test_records_and_is_documented(self):
        [library] = self.prefix.glob("lib*/**/libgpuspy.so")
        self.assert_records(self.prefix / "bin", library)
        self.assert_documented(self.prefix / "share")
        self.assertEqual(len([path for path in self.files(self.prefix) if not path.startswith("share/")]), 3)

    def test_moved(self):
        """A tree can be moved, and the library may lie where distributions put theirs."""
        moved = self.prefix.parent / "elsewhere"
        self.prefix.rename(moved)
        [library] = moved.glob("lib*/**/libgpuspy.so")
        for place in ("lib/x86_64-linux-gnu", "lib64", "lib/gpuspy", "bin"):
            (moved / place).mkdir(parents=True, exist_ok=True)
            library = library.rename(moved / place / "libgpuspy.so")
            self.assert_records(moved / "bin", library)

    def test_by_a_link(self):
        """A link to the program in another folder of PATH, as package managers make them."""
        links = self.new_folder()
        for name in harness.PROGRAMS:
            (links / name).symlink_to(self.prefix / "bin" / name)
        [library] = self.prefix.glob("lib*/**/libgpuspy.so")
        self.assert_records(links, library)


if __name__ == "__main__":
    unittest.main()
