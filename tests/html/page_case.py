"""What tests of the report's pages share: a browser that must have nothing to complain of, and what a page shows."""

import os
import pathlib
import subprocess
import tempfile
import unittest

from browser import Browser

REPORT = os.environ["GPUSPY_REPORT"]
GOLDEN = pathlib.Path(os.environ["GPUSPY_SOURCE"]) / "tests" / "golden"
TIMEOUT_S = 60


def report(*arguments):
    return subprocess.run([REPORT, *map(str, arguments)], check=True, capture_output=True, text=True, timeout=TIMEOUT_S).stdout


def number_shown(text):
    """The number of a cell in the unit that the JSON has, and how far off rounding may be: "1.705 s" is 1705000000, 500000."""
    number, _, unit = text.strip().partition(" ")
    flops = {f"{prefix}{name}": 1000**power for power, prefix in enumerate(["", "k", "M", "G", "T", "P"])
             for name in ("FLOP", "FLOP/s")}
    scale = {**flops, "": 1, "ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "%": 0.01, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30,
             "GB/s": 1}[unit]
    digits = number.replace(",", "")
    return float(digits) * scale, 0.5001 * scale * 10 ** -len(digits.partition(".")[2])


class PageCase(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)
        folder = tempfile.TemporaryDirectory(prefix="gpuspy-html-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)

    def setUp(self):
        self.browser.dark(False)

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])
        self.assertIsNone(self.browser.script("return window.attacked ?? null"))

    def texts(self, selector):
        return self.browser.script("return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)", selector)

    def table(self, name):
        return f'[id="table.{name}"]'

    def column(self, table, name):
        """The cells of a column, as they are shown."""
        return self.browser.script("""
            const table = document.querySelector(arguments[0]);
            const at = [...table.querySelectorAll("th")].findIndex((th) => th.dataset.column === arguments[1]);
            return [...table.querySelectorAll("tbody tr")].map((row) => row.cells[at].textContent);""", self.table(table), name)

    def whole_table(self, name):
        """Title, names of columns, cells by row."""
        return self.browser.script("""
            const table = document.querySelector(arguments[0]);
            return [table.querySelector("h3").textContent, [...table.querySelectorAll("th")].map((th) => th.dataset.column),
                    [...table.querySelectorAll("tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent))];""",
                                   self.table(name))

    def assert_shows(self, text, value):
        if value is None:
            self.assertEqual(text, "–")
        else:
            number, rounding = number_shown(text)
            self.assertAlmostEqual(number, value, delta=rounding)
