"""NVTX ranges in the files that Python reads without help: kineto's JSON and SQLite."""

import collections
import contextlib
import json
import sqlite3
import unittest

import harness

# name: (begin, end) in ns since the beginning of the recording, which the first range precedes; None: no end.
ALL = {"training": (-5_000, 30_000), "step": (900, 21_000), "stage": (950, 23_000), "request 7": (500, 22_000),
       "request 8": (990, 24_000), "here": (960, None), "waiting": (2_000, None)}


class Kineto(harness.TestCase):
    def rows(self):
        trace = json.loads(self.export("kineto", self.scripted("ranges"), "trace.json").read_text())
        return trace["traceEvents"]

    def test_rows(self):
        rows = [row for row in self.rows() if row.get("cat") == "user_annotation"]
        self.assertEqual(sorted(row["name"] for row in rows), sorted(ALL))
        # Its time 0 is the first moment of anything; "waiting", which never ended, ends with the recording.
        origin = {row["name"]: round(row["ts"] * 1000) for row in rows}["training"] + 5_000
        for row in rows:
            begin, end = ALL[row["name"]]
            self.assertEqual(round(row["ts"] * 1000) - origin, begin, row)
            self.assertEqual(row["ph"], "i" if row["name"] == "here" else "X")
            if end is not None:
                self.assertEqual(round(row["dur"] * 1000), end - begin)
            self.assertNotIn("correlation", row["args"])
            self.assertNotIn("stream", row["args"])
            self.assertEqual(row["args"]["domain"], "loader" if row["name"] == "stage" else "")
            self.assertEqual("never ended" in row["args"], row["name"] == "waiting")

    def test_rows_of_one_tid_nest(self):
        rows = self.rows()
        tids = {row["name"]: row["tid"] for row in rows if row.get("cat") == "user_annotation"}
        self.assertEqual((tids["training"], tids["step"], tids["here"], tids["waiting"]), (100, 100, 100, 101))
        self.assertEqual(len({tids[name] for name in ("training", "stage", "request 7", "request 8", "waiting")}), 5)
        names = {row["tid"]: row["args"]["name"] for row in rows if row["name"] == "thread_name" and row["pid"] == 4242}
        self.assertEqual(names[tids["stage"]], "NVTX of thread 100, not nested")
        self.assertEqual(names[tids["request 7"]], "NVTX start/end")
        self.assertEqual(names[tids["request 8"]], "NVTX start/end")

    def test_the_rest_is_the_same(self):
        def others(what):
            trace = json.loads(self.export("kineto", self.scripted(what), "trace.json").read_text())
            return collections.Counter((row["ph"], row.get("cat"), row["name"], row.get("dur")) for row in trace["traceEvents"]
                                       if row.get("cat") is not None and row["cat"] != "user_annotation")

        self.assertEqual(others("ranges"), others("plain"))


class NsysSqlite(harness.TestCase):
    def query(self, what, query):
        path = self.export("nsys-sqlite", self.scripted(what), "trace.sqlite")
        with contextlib.closing(sqlite3.connect(path)) as database:
            return database.execute(query).fetchall()

    def test_events(self):
        rows = self.query("ranges", "select text, start, end, eventType, globalTid % 0x1000000, domainId from NVTX_EVENTS")
        origin = {row[0]: row[1] for row in rows}["training"] + 5_000
        found = {text: (start - origin, None if end is None else end - origin, *rest) for text, start, end, *rest in rows}
        types = {"stage": (59, 100, 1), "request 7": (60, 100, 0), "request 8": (60, 100, 0), "here": (34, 100, 0),
                 "waiting": (59, 101, 0)}
        expected = {name: (*times, *types.get(name, (59, 100, 0))) for name, times in ALL.items()}
        expected["loader"] = (950, None, 75, 100, 1)
        self.assertEqual(found, expected)
        self.assertEqual(len(rows), len(expected))

    def test_types_have_names(self):
        names = self.query("ranges", "select distinct name from NVTX_EVENTS e join ENUM_NSYS_EVENT_TYPE t on t.id = e.eventType")
        self.assertEqual({name for (name,) in names},
                         {"NvtxMark", "NvtxPushPopRange", "NvtxStartEndRange", "NvtxDomainCreate"})

    def test_without_ranges_there_is_no_table(self):
        self.assertEqual(self.query("plain", "select 1 from sqlite_master where name = 'NVTX_EVENTS'"), [])


if __name__ == "__main__":
    unittest.main()
