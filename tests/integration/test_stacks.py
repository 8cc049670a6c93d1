"""Threads with more stacks than one: alternate signal stacks and fibres, above and below the thread's own, in it. Nesting stays honest, no event is
written over another."""

import re
import unittest

import harness


class Stacks(harness.TestCase):
    def run_stacks(self, how, where):
        bare = self.run_host("stacks", how, where, preload=False)
        run = self.run_host("stacks", how, where, GPUSPY_RING_KIB=32768)  # Holds all that a host can write.
        self.assertEqual((bare.status, bare.stdout), (0, b"called\n"))
        self.assertEqual((run.status, run.stdout, run.stderr), (bare.status, bare.stdout, bare.stderr))
        return run

    def nesting(self, how, where):
        """[(depth, last letters of the function's name)] in the order in which the calls ended, after the thread's first call."""
        found = []
        for line in self.run_stacks(how, where).listed_calls():
            spaces, name = re.search(r"\d \w?s( +)cublasS(\w+)_v2\(", line).groups()
            found.append((len(spaces) // 2 - 1, name))
        self.assertEqual(found[0], (0, "copy"))
        return found[1:]

    def test_storm_of_signals(self):
        for where in ("above", "below", "within"):
            with self.subTest(where=where):
                run = self.run_stacks("storm", where)
                report = run.report()
                handled = int((run.folder / "handled").read_text(encoding="ascii"))
                calls = harness.call_counts(report)
                dropped = report["launches"]["dropped"]
                self.assertGreater(handled, 0)
                self.assertEqual((calls["cublasSaxpy_v2"], calls["cublasScopy_v2"]), (200_000, 1))
                # A handler that comes while its thread writes an event has its own call counted, and no more.
                self.assertEqual(calls.get("cublasSscal_v2", 0) + dropped.get("ring_full", 0), handled)
                self.assertLessEqual(set(dropped), {"ring_full"})
                self.assertEqual(report["process"]["notices"], [])

    def test_handler_within_a_call(self):
        for where in ("above", "below", "within"):
            self.assertEqual(self.nesting("nested", where), [(1, "scal"), (0, "axpy"), (0, "copy")], where)

    def test_handler_that_jumps_out_of_its_call(self):
        for where in ("above", "below"):
            self.assertEqual(self.nesting("jump", where), [(1, "copy"), (0, "axpy"), (0, "scal")], where)

    def test_fibre_within_a_call(self):
        for where in ("above", "below"):
            self.assertEqual(self.nesting("fibre", where), [(1, "scal"), (0, "axpy"), (0, "copy")], where)

    def test_fibre_that_goes_on_after_the_calls_around_it(self):
        for where in ("above", "below"):
            self.assertEqual(self.nesting("crossed", where),
                             [(0, "axpy"), (0, "copy"), (0, "scal"), (1, "copy"), (0, "scal")], where)

    def test_exception_out_of_a_fibres_call(self):
        for where in ("above", "below"):
            self.assertEqual(self.nesting("thrown", where), [(1, "copy"), (0, "scal")], where)


if __name__ == "__main__":
    unittest.main()
