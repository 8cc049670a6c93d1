"""docs/host-safety.md names a test for each promise: each of them exists, and is one that ctest runs."""

import ast
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
DOCUMENT = ROOT / "docs" / "host-safety.md"
ROW = re.compile(r"\| (\d+) \| (.+) \| (.+) \| (.*) \|")
FIRST, LAST = 1, 31
LATER = [41, 42, 43, 46, 48]


def rows():
    """number -> (promise, tests) of each row."""
    found = {}
    for line in DOCUMENT.read_text(encoding="utf-8").splitlines():
        match = ROW.fullmatch(line)
        if match:
            number = int(match[1])
            if number in found:
                raise AssertionError(f"row {number} is there twice")
            found[number] = (match[3], re.findall(r"`([^`]+)`", match[4]))
    return found


def methods(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {f"{node.name}.{item.name}" for node in tree.body if isinstance(node, ast.ClassDef)
            for item in node.body if isinstance(item, ast.FunctionDef)}


def cases(path):
    return set(re.findall(r'TEST_CASE\("([^"]+)"', path.read_text(encoding="utf-8")))


def registered(path):
    """The layer's list of tests has this file's name."""
    name = re.sub(r"^test_", "", path.stem) if path.suffix == ".py" else path.name
    lists = (parent / "CMakeLists.txt" for parent in path.parents if (parent / "CMakeLists.txt").exists())
    return re.search(rf"\b{re.escape(name)}\b", next(lists).read_text(encoding="utf-8")) is not None


class HostSafety(unittest.TestCase):
    def test_every_report_has_a_row(self):
        self.assertEqual(sorted(rows()), [*range(FIRST, LAST + 1), *LATER])

    def test_every_row_has_a_test(self):
        self.assertEqual([number for number, (_, tests) in rows().items() if not tests], [])

    def test_every_test_exists(self):
        for number, (_, tests) in rows().items():
            for test in tests:
                with self.subTest(row=number, test=test):
                    file, _, name = test.partition("::")
                    path = TESTS / file
                    self.assertTrue(path.is_file(), "no such file")
                    self.assertIn(name, methods(path) if path.suffix == ".py" else cases(path))
                    self.assertTrue(registered(path), "ctest does not run it")


if __name__ == "__main__":
    unittest.main()
