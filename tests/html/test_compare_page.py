"""The page of a comparison in a browser: what gpuspy-report compare says in text and JSON, with charts, and names that stay
text."""

import json
import os
import pathlib
import subprocess
import unittest

from page_case import GOLDEN, REPORT, TIMEOUT_S, PageCase, report

EAGER = GOLDEN / "h200_resnet_infer.bin"
GRAPH = GOLDEN / "h200_graph_resnet_infer.bin"
HOST_ONLY = GOLDEN / "h200_small_ops_host_only.bin"
SMALL_OPS = GOLDEN / "h200_small_ops.bin"
OPTIONS = ("--label", "eager,graph", "--images", "736", "--best", "--curve")


class ComparePage(PageCase):
    @classmethod
    def make(cls, *arguments):
        page = cls.folder / "compare.html"
        report("compare", "--format", "html", "-o", page, *arguments)
        return page

    def compare(self, *arguments):
        """Opens the page; the tables of the JSON."""
        self.browser.open(self.make(*arguments))
        return json.loads(report("compare", "--format", "json", *arguments))["views"]["compare"]

    def charts(self):
        """Of each figure the title, the labels, and of each dataset its label and data."""
        return {title: (labels, dict(data)) for title, labels, data in self.browser.script("""
            return [...document.querySelectorAll("figure")].map((figure) => {
                const { data } = Chart.getChart(figure.querySelector("canvas"));
                return [figure.querySelector("figcaption").firstChild.textContent, data.labels,
                        data.datasets.map((one) => [one.label ?? "", one.data])]; })""")}

    def test_shows_what_the_json_says(self):
        tables = self.compare(*OPTIONS, EAGER, GRAPH)
        self.assertEqual(list(tables), ["traces", "measures", "spread", "curve", "kernels", "calls"])
        data = json.loads(self.browser.script("return document.getElementById('data').textContent"))
        self.assertEqual(data["views"]["views"]["compare"], tables)
        self.assertEqual(self.texts("#title"), ["eager, graph"])
        self.assertEqual(self.texts("h2"), ["Traces", "Side by side", "Saturation", "Kernels that differ", "Calls that differ"])
        for name, table in tables.items():
            if name == "spread":  # Of single runs there is none.
                continue
            with self.subTest(name):
                title, columns, cells = self.whole_table(f"compare.{name}")
                rows = table["rows"] if name in ("traces", "measures", "curve") else table["rows"][:20]
                self.assertEqual((title, len(cells)), (table["title"], len(rows)))
                for texts, row in zip(cells, rows):
                    for text, column in zip(texts, columns):
                        if isinstance(row[column], str):
                            self.assertTrue(text.endswith(row[column]), (text, row[column]))
                        else:
                            self.assert_shows(text, row[column])

    def test_known_numbers(self):
        """docs/comparing.md has them as text."""
        self.compare(*OPTIONS, EAGER, GRAPH)
        rows = {row[0]: row for row in zip(*(self.column("compare.measures", name)
                                            for name in ("measure", "value_1", "value_2", "ratio_2", "best")))}
        self.assertEqual(rows["launches"][1:], ("5,501", "982", "0.18", "graph"))
        self.assertEqual(rows["wall"][1:], ("842.2 ms", "901.0 ms", "1.07", "eager"))
        self.assertEqual(rows["graph_launches"][1:4], ("0", "20", "–"))
        self.assertEqual(self.column("compare.kernels", "change"), ["added"])
        self.assertEqual(self.column("compare.kernels", "name")[0][:29], "vectorized_elementwise_kernel")

    def test_charts_draw_the_numbers(self):
        tables = self.compare(*OPTIONS, EAGER, GRAPH)
        rows = {row["measure"]: row for row in tables["measures"]["rows"]}
        charts = self.charts()
        self.assertEqual(list(charts), ["Times", "Times per image", "Ratios to the first", "Kernel time by library",
                                        "Images a second", "Calls with the greatest difference in time"])
        labels, bars = charts["Times"]
        for label, value in zip(("eager", "graph"), ("value_1", "value_2")):
            self.assertEqual(bars[label][labels.index("wall time")], rows["wall"][value])
            self.assertEqual(bars[label][labels.index("GPU busy")], rows["busy"][value])
        labels, bars = charts["Ratios to the first"]
        self.assertEqual(bars["graph"][labels.index("launches")], [rows["launches"]["ratio_2"], 1])
        self.assertEqual(bars["graph"][labels.index("synchronisation time")], [1, rows["sync_time"]["ratio_2"]])
        self.assertNotIn("GPU busy", labels)  # 1.00
        labels, bars = charts["Kernel time by library"]
        self.assertEqual(labels, ["eager", "graph"])
        self.assertEqual(bars["cudnn"], [rows["share.cudnn"]["value_1"], rows["share.cudnn"]["value_2"]])
        for at in (0, 1):
            self.assertAlmostEqual(sum(data[at] for data in bars.values()), 1, places=6)
        labels, bars = charts["Images a second"]
        self.assertEqual(bars["images a second"], [row["images_per_s"] for row in tables["curve"]["rows"]])
        labels, bars = charts["Calls with the greatest difference in time"]
        self.assertEqual(bars[""][:2], [row["difference_ns"] for row in tables["calls"]["rows"][:2]])
        drawn = self.browser.script("""return [...document.querySelectorAll("figure canvas")].map((canvas) =>
            canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value !== 0))""")
        self.assertTrue(all(drawn))

    def test_added_and_gone_kernels_are_drawn(self):
        tables = self.compare(EAGER, SMALL_OPS)
        rows = {row["change"]: row for row in reversed(tables["kernels"]["rows"])}  # The first of each.
        _, bars = self.charts()["Kernels with the greatest difference in time"]
        self.assertIn(rows["added"]["time_ns"], bars[""])
        self.assertIn(-rows["gone"]["first_time_ns"], bars[""])

    def test_what_cannot_be_compared_is_said_first(self):
        tables = self.compare(SMALL_OPS, HOST_ONLY)
        notes = self.texts('[id="compare.notes"] p')
        self.assertEqual(notes, tables["traces"]["notes"])
        self.assertTrue(any("no device times were recorded" in note for note in notes), notes)
        shown = dict(zip(self.column("compare.measures", "measure"), self.column("compare.measures", "value_2")))
        self.assertEqual(shown["gpu_time"], "–")
        # What is not known is no bar of length 0.
        labels, bars = self.charts()["Times"]
        self.assertIsNone(bars["h200_small_ops_host_only"][labels.index("GPU time, all")])

    def test_runs_of_the_same(self):
        tables = self.compare("--label", "a,b", f"{EAGER},{GRAPH}", EAGER)
        self.assertIn("Spread", self.texts("h2"))
        self.assertEqual(len(self.column("compare.spread", "measure")), min(20, len(tables["spread"]["rows"])))

    def test_many_traces(self):
        labels = [f"batch={1 << power}" for power in range(12)]
        self.compare("--label", ",".join(labels), "--images", "736", "--curve", *[EAGER] * 12)
        self.assertEqual(self.texts("#title"), ["batch=1, batch=2, batch=4, batch=8 and 8 more"])
        charts = self.charts()
        self.assertNotIn("Times", charts)  # More bars than one can tell apart.
        self.assertEqual(charts["Images a second"][0], labels)
        self.assertEqual(charts["Kernel time by library"][0], labels)

    def test_a_part(self):
        tables = self.compare("--steady", EAGER, GRAPH)
        self.assertEqual(self.texts("#part"), ["What is compared is a part of each recording (--steady)."])
        self.assertIn("--steady (from ", self.texts('[id="compare.notes"] p')[0])
        launches = [row for row in tables["measures"]["rows"] if row["measure"] == "launches"]
        self.assertEqual(launches[0]["value_2"], 20)  # A graph's launch an iteration.

    def test_one_trace(self):
        self.compare(EAGER)
        self.assertEqual(self.texts("#title"), ["h200_resnet_infer"])
        self.assertEqual(self.column("compare.kernels", "name"), [])

    def test_loads_nothing(self):
        page = self.make(*OPTIONS, EAGER, GRAPH)
        self.browser.open(page)
        self.assertEqual(self.browser.script("return performance.getEntriesByType('resource').map((entry) => entry.name)"), [])
        self.assertLess(page.stat().st_size, 1_000_000)

    def test_hostile_names_are_text(self):
        trace = self.folder / "hostile.bin"
        subprocess.run([os.environ["GPUSPY_HOSTILE"], trace], check=True, timeout=TIMEOUT_S)
        label = "<img src=x onerror=\"window.attacked='label'\">"
        tables = self.compare("--label", f"{label},</script><script>window.attacked='label'</script>", EAGER, trace)
        names = [row["name"] for row in tables["kernels"]["rows"]]
        self.browser.script("document.querySelector(arguments[0]).click()", f"{self.table('compare.kernels')} .more")
        shown = self.column("compare.kernels", "name")
        self.assertEqual(len(shown), len(names))
        for text, name in zip(shown, names):
            self.assertTrue(text.endswith(name), (text, name))
        self.assertTrue(any("<img src=x onerror" in name for name in names))
        self.assertTrue(any("</script><script>" in name for name in names))
        self.assertIn(label, self.texts("#title")[0])
        self.assertEqual(self.browser.script("return document.querySelectorAll('main img, main script, main svg, header img, b').length"), 0)

    def test_sorting_by_the_ratio(self):
        tables = self.compare(*OPTIONS, EAGER, GRAPH)
        self.browser.script("document.querySelector(arguments[0]).click()",
                            f'{self.table("compare.measures")} th[data-column="ratio_2"] button')
        known = sorted((row["ratio_2"] for row in tables["measures"]["rows"] if row["ratio_2"] is not None), reverse=True)
        shown = self.column("compare.measures", "ratio_2")
        self.assertEqual(shown[:len(known)], [f"{ratio:.2f}" for ratio in known])
        self.assertEqual(set(shown[len(known):]), {"–"})

    def test_a_trace_that_is_cut(self):
        cut = self.folder / "cut.bin"
        cut.write_bytes(EAGER.read_bytes()[:-1000])
        page = self.folder / "cut.html"
        process = subprocess.run([REPORT, "compare", "--format", "html", "-o", page, EAGER, cut], capture_output=True, text=True,
                                 check=False, timeout=TIMEOUT_S)
        self.assertEqual(process.returncode, 6, process.stderr)
        self.browser.open(page)
        self.assertTrue(any("in part only" in note for note in self.texts('[id="compare.notes"] p')))

    def test_a_trace_that_is_none_leaves_the_page_as_it_was(self):
        page = self.folder / "kept.html"
        page.write_text("kept")
        none = pathlib.Path(__file__)
        process = subprocess.run([REPORT, "compare", "--format", "html", "-o", page, EAGER, none], capture_output=True, text=True,
                                 check=False, timeout=TIMEOUT_S)
        self.assertEqual((process.returncode, page.read_text()), (4, "kept"))


if __name__ == "__main__":
    unittest.main()
