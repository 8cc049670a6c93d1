"""What a server may answer instead of headers is an OSError, by which contract.abi skips, and leaves no set that looks whole."""

import http.client
import json
import pathlib
import sys
import tempfile
import unittest
import unittest.mock
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts" / "hook_tables"))

# pylint: disable=wrong-import-position
import folders  # noqa: E402


class Answers(unittest.TestCase):
    def test_what_is_no_answer_is_an_os_error(self):
        for error in (
            http.client.IncompleteRead(b""), zipfile.BadZipFile("no archive"), json.JSONDecodeError("no list", "", 0),
            KeyError("files"), TimeoutError("no answer"),
        ):
            with self.subTest(error=error), tempfile.TemporaryDirectory() as name:
                root = pathlib.Path(name)
                with unittest.mock.patch.object(folders, "fetch_headers", side_effect=error):
                    with self.assertRaises(OSError):
                        folders.fetch_all(root)
                self.assertEqual([path.name for path in root.iterdir() if not path.name.endswith(".partial")], [])

    def fetched_sets(self, change):
        """The sets that are fetched again after `change(root)` to a root that was whole."""
        fetched = []

        def fetch(project, version, folder):
            folder.mkdir(exist_ok=True)
            fetched.append(folder.name.removesuffix(".partial"))

        with tempfile.TemporaryDirectory() as name, unittest.mock.patch.object(folders, "fetch_headers", side_effect=fetch):
            root = pathlib.Path(name)
            folders.fetch_all(root)
            self.assertEqual(set(fetched), set(folders.SETS))
            fetched.clear()
            change(root)
            folders.fetch_all(root)
        return set(fetched)

    def test_what_is_there_is_not_fetched(self):
        self.assertEqual(self.fetched_sets(lambda root: None), set())

    def test_a_set_of_other_wheels_is_fetched_again(self):
        def another(root):
            (root / "nccl2.13" / "wheels.txt").write_text("nvidia-nccl-cu11 2.12\n")

        self.assertEqual(self.fetched_sets(another), {"nccl2.13"})


if __name__ == "__main__":
    unittest.main()
