"""Graphs: what was captured is not expected, what is replayed is, node by node.

A launch of a graph is a launch too: `host` counts captured launches, launches of graphs and the others.
"""

import unittest

import harness


class Graphs(harness.TestCase):
    def test_replay(self):
        report = self.recorded("graphs", "replay")
        # The chain has 3 kernels and runs 5 times; the fork has 4, a set and a copy, and runs twice; one launch outside.
        self.assert_launches(report, host=1 + 7 + 7, captured=7, graph_launches=7, graph_nodes=5 * 3 + 2 * 4,
                             expected=24, device_records=24, complete=True)
        self.assert_kernels(report, _Z5firstv=5 + 2 + 1, _Z6secondv=10 + 2, _Z5thirdv=4)
        self.assertEqual(harness.copies(report), {"DtoD": (2, 256), "memset": (2, 512)})

    def test_child_graphs(self):
        report = self.recorded("graphs", "child")
        self.assert_launches(report, host=3 + 3, captured=3, graph_launches=3, graph_nodes=21, expected=21,
                             device_records=21, complete=True)
        self.assert_kernels(report, _Z5firstv=6, _Z6secondv=12, _Z5thirdv=3)

    def test_update(self):
        report = self.recorded("graphs", "update")
        self.assert_launches(report, host=7 + 7, captured=7, graph_launches=7, graph_nodes=21, expected=21,
                             device_records=21, complete=True)
        self.assert_kernels(report, _Z5firstv=2, _Z6secondv=4, _Z5thirdv=15)

    def test_nodes_added_by_hand(self):
        report = self.recorded("graphs", "manual")
        self.assert_launches(report, host=3, captured=0, graph_launches=3, graph_nodes=3, expected=3,
                             device_records=3, complete=True)
        self.assertEqual(harness.copies(report), {"DtoD": (3, 192), "memset": (3, 192)})

    def test_disabled_node(self):
        report = self.recorded("graphs", "disable")
        self.assert_launches(report, host=3 + 4, captured=3, graph_launches=4, graph_nodes=10, expected=10,
                             device_records=10, complete=True)
        self.assert_kernels(report, _Z5firstv=4, _Z6secondv=6)

    def test_switched_node_of_a_graph_that_is_destroyed(self):
        report = self.recorded("graphs", "switched_then_destroyed")
        self.assert_launches(report, host=3 + 2, captured=3, graph_launches=2, graph_nodes=4, expected=4, device_records=4,
                             complete=True)
        self.assert_kernels(report, _Z6secondv=4)

    def test_end_of_a_capture_that_is_none(self):
        report = self.recorded("graphs", "foreign_end")
        self.assert_launches(report, host=3 + 2, captured=3, graph_launches=2, graph_nodes=6, expected=6, device_records=6,
                             complete=True)

    def test_broken_capture(self):
        report = self.recorded("graphs", "broken")
        self.assert_launches(report, host=4, captured=1, failed=1, graph_launches=0, expected=2, device_records=2,
                             complete=True)

    def test_owner_of_replayed_kernels_is_who_captured_them(self):
        report = self.recorded("graphs", "replay")
        self.assertEqual({kernel["owner"] for kernel in report["kernels"]}, {"graphs"})
        self.assertEqual({kernel["owner_by_graph_launch"] for kernel in report["kernels"]}, {0})


if __name__ == "__main__":
    unittest.main()
