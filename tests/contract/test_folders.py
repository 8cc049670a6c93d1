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

    def test_what_is_there_is_not_fetched(self):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            for header_set in folders.SETS:
                (root / header_set).mkdir()
            with unittest.mock.patch.object(folders, "fetch_headers", side_effect=AssertionError("fetched")):
                folders.fetch_all(root)


if __name__ == "__main__":
    unittest.main()
