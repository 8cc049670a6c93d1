"""The HTML report in a browser: it opens without a complaint and loads nothing; what it shows is what the JSON says; tables
sort and filter, the timeline zooms, names of a trace stay text."""

import json
import os
import re
import subprocess
import unittest

import views
from page_case import GOLDEN, TIMEOUT_S, PageCase, report

ROWS = 1000


def keep_first(table, name):
    """What the page has of a long table."""
    count = len(table["rows"])
    if count > ROWS:
        table["rows"] = table["rows"][:ROWS]
        table["notes"].append(f"the first {ROWS} of {count} rows: gpuspy-report --view {name} --top 0 shows all")


class Page(PageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.trace = GOLDEN / "h200_resnet_train.bin"
        cls.page = cls.make(cls.trace)
        cls.summary = json.loads(report("--format", "json", cls.trace))
        cls.views = json.loads(report("--view", "all", "--format", "json", cls.trace))["views"]
        for view, tables in cls.views.items():
            for name, table in tables.items():
                keep_first(table, f"{view}.{name}")

    @classmethod
    def make(cls, trace, *arguments):
        page = cls.folder / f"{trace.stem}{len(arguments)}.html"
        report("--format", "html", "-o", page, *arguments, trace)
        return page

    def setUp(self):
        super().setUp()
        self.browser.open(self.page)

    # ---- what is in the page -------------------------------------------------------------------------------------------

    def test_loads_nothing(self):
        self.assertEqual(self.browser.script("return performance.getEntriesByType('resource').map((entry) => entry.name)"), [])
        self.assertLess(self.page.stat().st_size, 3_000_000)

    def test_data_are_the_json(self):
        # Read here: a script rounds whole numbers above 2^53.
        data = json.loads(self.browser.script("return document.getElementById('data').textContent"))
        self.assertEqual(data["report"], self.summary)
        self.assertEqual(data["views"]["views"], self.views)

    def test_summary_shows_the_numbers(self):
        for name, value in (("wall_ns", self.summary["wall_ns"]), ("busy_ns", self.summary["gpu"]["busy_ns"]),
                            ("gpu_time_ns", self.summary["gpu"]["time_ns"]), ("launches", self.summary["launches"]["host"]),
                            ("api_ns", self.summary["api"]["time_ns"]), ("sync_ns", self.summary["sync"]["time_ns"])):
            with self.subTest(name):
                [text] = self.texts(f'[id="summary.{name}"]')
                self.assert_shows(text, value)
        self.assertRegex(self.texts('[id="summary.complete"]')[0], "^Complete")

    def test_summary_says_what_bounds_the_steady_state(self):
        self.assertIn(self.summary["steady"]["verdict"]["text"], self.texts('[id="summary.steady"]')[0])
        self.assertNotIn("The part", self.texts('[id="summary.verdict"] strong')[0])

    def test_every_view_is_there_with_every_table_and_number(self):
        for view, tables in self.views.items():
            for name, table in tables.items():
                with self.subTest(f"{view}.{name}"):
                    title, columns, cells = self.whole_table(f"{view}.{name}")
                    rows = table["rows"][:20]
                    self.assertEqual(title, table["title"])
                    self.assertEqual(len(cells), len(rows))
                    if rows:
                        self.assertEqual(sorted(columns), sorted(column["name"] for column in table["columns"]))
                    for texts, row in zip(cells, rows):
                        for text, column in zip(texts, columns):
                            if isinstance(row[column], str):
                                self.assertTrue(text.endswith(row[column]), (text, row[column]))
                            else:
                                self.assert_shows(text, row[column])

    def test_copies_of_the_summary(self):
        if "memory" in self.views:
            self.skipTest("a view shows them")
        self.assertEqual(self.column("memory.copies", "direction"), [row["direction"] for row in self.summary["copies"]])
        for text, row in zip(self.column("memory.copies", "bytes"), self.summary["copies"]):
            self.assert_shows(text, row["bytes"])

    def test_charts_are_drawn(self):
        drawn = self.browser.script("""return [...document.querySelectorAll("figure canvas")].map((canvas) => {
            const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
            return [canvas.getAttribute("aria-label"), pixels.some((value) => value !== 0)]; })""")
        titles = [title for title, _ in drawn]
        self.assertIn("Share of wall time", titles)
        self.assertTrue(any(title.startswith("Kernels with most time") for title in titles), titles)
        self.assertEqual([title for title, filled in drawn if not filled], [])

    # ---- what a person does --------------------------------------------------------------------------------------------

    def head(self, table, column):
        return f'{self.table(table)} th[data-column="{column}"]'

    def click(self, selector):
        self.browser.script("document.querySelector(arguments[0]).click()", selector)

    def test_sorting(self):
        rows = self.views["kernels"]["kernels"]["rows"]
        button = self.head("kernels.kernels", "count") + " button"
        self.click(button)
        counts = sorted((row["count"] for row in rows), reverse=True)
        self.assertEqual(self.column("kernels.kernels", "count"), [f"{count:,}" for count in counts[:20]])
        sort = "return document.querySelector(arguments[0]).getAttribute('aria-sort')"
        self.assertEqual(self.browser.script(sort, self.head("kernels.kernels", "count")), "descending")
        # The other way round, by the keyboard.
        self.browser.driver.find_element("css selector", button).send_keys("\ue007")
        self.assertEqual(self.column("kernels.kernels", "count"), [f"{count:,}" for count in counts[::-1][:20]])
        self.assertEqual(self.browser.script(sort, self.head("kernels.kernels", "count")), "ascending")
        self.click(self.head("kernels.kernels", "owner") + " button")
        owners = sorted(row["owner"] for row in rows)
        self.assertEqual(self.column("kernels.kernels", "owner"), owners[:20])
        self.assertIsNone(self.browser.script(sort, self.head("kernels.kernels", "count")))

    def test_filtering(self):
        names = [row["name"] for row in self.views["kernels"]["kernels"]["rows"]]
        wanted = [name for name in names if "elementwise" in name.lower()]
        self.assertTrue(0 < len(wanted) < min(20, len(names)))
        field = self.browser.driver.find_element("css selector", f"{self.table('kernels.kernels')} .filter")
        field.send_keys("ELEMENTWISE")
        self.assertEqual(len(self.column("kernels.kernels", "name")), len(wanted))
        for text, name in zip(self.column("kernels.kernels", "name"), wanted):
            self.assertTrue(text.endswith(name))
        self.assertEqual(self.texts(f"{self.table('kernels.kernels')} .status"), [f"{len(wanted)} of {len(names)} rows match"])
        field.clear()
        field.send_keys("no such kernel")
        self.assertEqual(self.column("kernels.kernels", "name"), [])

    def test_all_rows(self):
        names = self.views["kernels"]["kernels"]["rows"]
        self.assertEqual(len(self.column("kernels.kernels", "name")), 20)
        self.click(f"{self.table('kernels.kernels')} .more")
        self.assertEqual(len(self.column("kernels.kernels", "name")), len(names))

    def shown_range(self):
        return self.browser.script("const c = document.getElementById('timeline.canvas'); return [+c.dataset.from, +c.dataset.to]")

    def test_timeline_zooms_and_pans(self):
        wall_ns = self.summary["wall_ns"]
        self.assertEqual(self.shown_range(), [0, wall_ns])
        self.click('#timeline button[aria-label="Zoom in"]')
        first, last = self.shown_range()
        self.assertAlmostEqual(last - first, wall_ns / 2, delta=wall_ns / 1000)
        self.assertAlmostEqual((first + last) / 2, wall_ns / 2, delta=wall_ns / 1000)
        canvas = self.browser.driver.find_element("id", "timeline.canvas")
        canvas.send_keys("\ue014")  # The right arrow.
        moved, _ = self.shown_range()
        self.assertAlmostEqual(moved - first, wall_ns * 0.1, delta=wall_ns / 1000)
        canvas.send_keys("+")
        first, last = self.shown_range()
        self.assertAlmostEqual(last - first, wall_ns / 4, delta=wall_ns / 1000)
        canvas.send_keys("0")
        self.assertEqual(self.shown_range(), [0, wall_ns])

    def test_timeline_is_bounded_and_whole(self):
        overview = self.browser.script("return JSON.parse(document.getElementById('data').textContent).overview")
        self.assertLessEqual(sum(len(lane["blocks"]) for lane in overview["lanes"]), 20_000)
        streams = [lane for lane in overview["lanes"] if not lane["host"]]
        self.assertEqual(sum(lane["time_ns"] for lane in streams), self.summary["gpu"]["time_ns"])
        self.assertEqual(sum(block[3] for lane in streams for block in lane["blocks"]), self.summary["gpu"]["time_ns"])
        self.assertEqual(len(self.texts("#timeline .lane")), len(overview["lanes"]))

    def test_dark(self):
        background = "return getComputedStyle(document.body).backgroundColor"
        light = self.browser.script(background)
        picture = "return document.getElementById('timeline.canvas').toDataURL()"
        light_picture = self.browser.script(picture)
        self.browser.dark(True)
        dark = self.browser.script(background)
        brightness = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in (light, dark)]
        self.assertGreater(brightness[0], 3 * brightness[1])
        # What is drawn changes too.
        self.assertNotEqual(self.browser.script(picture), light_picture)

    # ---- views that are there or come ---------------------------------------------------------------------------------

    def open_with(self, **parts):
        """The page with other data."""
        page = self.folder / "other.html"
        text = self.page.read_text()
        begin = text.index('id="data">') + len('id="data">')
        end = text.index("</script", begin)
        page.write_text(text[:begin] + json.dumps(json.loads(text[begin:end]) | parts) + text[end:])
        self.browser.open(page)

    def test_views_alone(self):
        self.open_with(report=None, overview=None, views={"schema": 1, "views": {"compare": views.VIEWS["compare"]}})
        self.assertEqual(self.texts("h2"), ["Side by side"])
        self.assertEqual(self.column("compare.measures", "ratio_2"), ["0.50", "1.50"])

    def test_views_of_every_kind(self):
        self.open_with(views={"schema": 1, "views": views.VIEWS})
        for view, titles in views.CHARTS.items():
            with self.subTest(view):
                captions = self.browser.script("""return [...document.querySelectorAll(arguments[0])].map((caption) =>
                    caption.firstChild.textContent)""", f'[id^="{view}"] figcaption')
                self.assertEqual(captions, titles)
        self.assertEqual(self.column("nobody_knows.things", "count"), ["3", "–"])
        self.assertEqual(self.texts('[id="summary.verdict"]'), ["launch-boundGPU 0: launches take 40 % of it"])
        self.assertEqual(self.column("compare.measures", "value_2"), ["500.0 ms", "150"])
        self.assertEqual(self.texts("h2")[2], "Side by side")  # Behind summary and timeline.

    # ---- other traces --------------------------------------------------------------------------------------------------

    def test_hostile_names_are_text(self):
        trace = self.folder / "hostile.bin"
        subprocess.run([os.environ["GPUSPY_HOSTILE"], trace], check=True, timeout=TIMEOUT_S)
        self.browser.open(self.make(trace))
        rows = json.loads(report("--view", "kernels", "--format", "json", trace))["views"]["kernels"]["kernels"]["rows"]
        shown = self.column("kernels.kernels", "name")
        self.assertEqual(shown, [row["name"] for row in rows])
        self.assertTrue(any("<img src=x onerror" in name for name in shown))
        self.assertTrue(any("</script><script>" in name for name in shown))
        self.assertEqual(self.browser.script("return document.querySelectorAll('main img, main script, main svg [onload], b').length"), 0)
        # Over every block of the timeline, whose names are shown beside the pointer.
        self.browser.script("""const canvas = document.getElementById('timeline.canvas');
            const box = canvas.getBoundingClientRect();
            for (let x = 0; x < 40; ++x) for (const y of [10, 32]) canvas.dispatchEvent(new PointerEvent('pointermove',
                {clientX: box.left + x, clientY: box.top + y, bubbles: true}));""")

    def test_every_golden_opens(self):
        for trace in sorted(GOLDEN.glob("*.bin")):
            with self.subTest(trace.name):
                self.browser.open(self.make(trace))
                self.assertEqual(self.browser.complaints(), [])
                self.assertEqual(self.texts("h2")[0], "Summary")
                self.assertEqual(self.texts("h2")[-1], "The run")

    def test_without_device_times(self):
        self.browser.open(self.make(GOLDEN / "h200_small_ops_host_only.bin"))
        self.assertEqual(self.texts('[id="summary.busy_ns"]'), ["–"])

    def test_a_part(self):
        self.browser.open(self.make(self.trace, "--from", "1s", "--top", "3"))
        self.assertIn("--from 1s", self.texts("#part")[0])
        self.assertRegex(self.texts('[id="summary.verdict"] strong')[0], "^The part that is shown: ")
        self.assertEqual(self.texts('[id="summary.steady"]'), [])
        self.assertEqual(len(self.column("kernels.kernels", "name")), 3)
        self.assert_shows(self.texts('[id="summary.wall_ns"]')[0], self.summary["wall_ns"])


if __name__ == "__main__":
    unittest.main()
