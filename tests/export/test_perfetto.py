"""Perfetto exports, decoded with Perfetto's own definition of the format."""

import collections
import unittest

import harness

if __name__ == "__main__":
    harness.with_tools()

# pylint: disable=wrong-import-position
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as perfetto  # noqa: E402

Event = perfetto.TrackEvent


class Slice:
    def __init__(self, name, category, begin, event, depth):
        self.name, self.category, self.begin, self.depth = name, category, begin, depth
        self.end = None
        self.flows, self.ending_flows = list(event.flow_ids), list(event.terminating_flow_ids)


class Decoded:
    """Tracks with their slices and counters, as a reader of the format makes them."""

    def __init__(self, data):
        trace = perfetto.Trace()
        trace.ParseFromString(data)
        self.tracks, self.slices, self.counters = {}, collections.defaultdict(list), collections.defaultdict(list)
        # Every field that we write is one of the format.
        known = perfetto.Trace()
        known.CopyFrom(trace)
        known.DiscardUnknownFields()
        assert known.ByteSize() == trace.ByteSize() == len(data)
        names, categories, open_slices = {}, {}, collections.defaultdict(list)
        self.first = trace.packet[0]
        for packet in trace.packet:
            for entry in packet.interned_data.event_names:
                names[entry.iid] = entry.name
            for entry in packet.interned_data.event_categories:
                categories[entry.iid] = entry.name
            if packet.HasField("track_descriptor"):
                self.tracks[packet.track_descriptor.uuid] = packet.track_descriptor
            if not packet.HasField("track_event"):
                continue
            event = packet.track_event
            assert event.track_uuid in self.tracks
            opened = open_slices[event.track_uuid]
            if event.type == Event.TYPE_SLICE_BEGIN:
                made = Slice(names[event.name_iid], categories[event.category_iids[0]], packet.timestamp, event, len(opened))
                opened.append(made)
                self.slices[event.track_uuid].append(made)
            elif event.type == Event.TYPE_SLICE_END:
                opened.pop().end = packet.timestamp
            else:
                assert event.type == Event.TYPE_COUNTER
                self.counters[event.track_uuid].append((packet.timestamp, event.counter_value))
        assert not any(open_slices.values())

    def named(self, prefix):
        return [uuid for uuid, track in self.tracks.items() if track.name.startswith(prefix)]

    def on_streams(self):
        return [made for uuid in self.named("stream ") for made in self.slices[uuid]]

    def on_threads(self):
        return [made for uuid, track in self.tracks.items() if track.HasField("thread") for made in self.slices[uuid]]


class Goldens(harness.TestCase):
    def decode(self, trace):
        return Decoded(self.export("perfetto", trace, "trace.pftrace").read_bytes())

    def test_varied_traces(self):
        for trace in harness.VARIED:
            with self.subTest(trace=trace.stem):
                self.check(self.decode(trace), trace)

    def check(self, decoded, trace):
        report = harness.report_json(trace)
        gpu = report["gpu"]
        of = collections.defaultdict(list)
        for made in decoded.on_streams():
            of[made.category].append(made)
        for category, count, time_ns in (("kernel", "kernels", "kernel_time_ns"), ("copy", "copies", "copy_time_ns"),
                                         ("set", "sets", "set_time_ns")):
            self.assertEqual(len(of[category]), gpu[count])
            self.assertEqual(sum(made.end - made.begin for made in of[category]), gpu[time_ns] or 0)
        kernels = collections.Counter(made.name for made in of["kernel"])
        expected = collections.Counter()
        for row in harness.table(trace, "kernels.kernels"):
            expected[row["name"]] += row["count"]
        self.assertEqual(kernels, expected)
        calls = collections.Counter(made.name for made in decoded.on_threads())
        self.assertEqual(calls, collections.Counter(
            {row["name"]: row["count"] for row in harness.table(trace, "calls.calls")}))
        # On streams nothing lies in or over another; each arrow has both its ends, the first one first.
        self.assertEqual({made.depth for made in decoded.on_streams()} - {0}, set())
        for uuid in decoded.slices:
            for before, after in zip(decoded.slices[uuid], decoded.slices[uuid][1:]):
                self.assertLessEqual(before.begin, after.begin)
        begins = {flow: made for made in decoded.on_threads() for flow in made.flows}
        ends = {flow: made for made in decoded.on_streams() for flow in made.ending_flows}
        self.assertEqual(begins.keys(), ends.keys())
        self.assertEqual(sum(len(made.flows) for made in decoded.on_threads()), len(begins))
        if report["launches"]["complete"]:
            self.assertEqual(len(begins), gpu["kernels"] + gpu["copies"] + gpu["sets"])

    def test_calls_nest(self):
        decoded = self.decode(harness.GOLDEN / "h200_resnet_train.bin")
        inside = collections.Counter()
        for uuid, track in decoded.tracks.items():
            if track.HasField("thread"):
                around = []
                for made in decoded.slices[uuid]:
                    del around[made.depth:]
                    if around:
                        inside[around[-1].category, made.category] += 1
                        self.assertLessEqual(made.end, around[-1].end)
                    around.append(made)
        launches = {row["name"]: row for row in harness.table(harness.GOLDEN / "h200_resnet_train.bin", "calls.calls")}
        self.assertGreater(inside["cudnn", "driver"], 1000)
        self.assertGreaterEqual(inside["runtime", "driver"], launches["__cudaLaunchKernel"]["count"])

    def test_counters(self):
        decoded = self.decode(harness.GOLDEN / "h200_two_streams.bin")
        [in_flight] = decoded.named("in flight")
        [waiting] = decoded.named("queue depth")
        for uuid in (in_flight, waiting):
            self.assertEqual(decoded.tracks[uuid].counter.unit, perfetto.CounterDescriptor.UNIT_COUNT)
            self.assertEqual((decoded.counters[uuid][0][1], decoded.counters[uuid][-1][1]), (0, 0))
            self.assertTrue(all(value >= 0 for _, value in decoded.counters[uuid]))
        self.assertEqual(max(value for _, value in decoded.counters[in_flight]), 2)
        # The integral is the GPU's time, the time above 0 its busy time.
        points = decoded.counters[in_flight]
        gpu = harness.report_json(harness.GOLDEN / "h200_two_streams.bin")["gpu"]
        lasting = [(value, after - at) for (at, value), (after, _) in zip(points, points[1:])]
        self.assertEqual(sum(value * ns for value, ns in lasting), gpu["time_ns"])
        self.assertAlmostEqual(sum(ns for value, ns in lasting if value > 0), gpu["busy_ns"], delta=gpu["busy_ns"] * 1e-4)

    def test_tracks(self):
        trace = harness.GOLDEN / "h200_two_streams.bin"
        decoded = self.decode(trace)
        [process] = [track for track in decoded.tracks.values() if track.HasField("process")]
        self.assertEqual(process.process.pid, harness.report_json(trace)["process"]["pid"])
        [device] = decoded.named("GPU 0: NVIDIA H200")
        self.assertEqual(decoded.tracks[device].parent_uuid, process.uuid)
        self.assertEqual(sorted(decoded.tracks[uuid].name for uuid in decoded.named("stream ")),
                         ["stream 13", "stream 17", "stream 7"])
        for uuid in decoded.named("stream "):
            self.assertEqual(decoded.tracks[uuid].parent_uuid, device)

    def test_clock(self):
        first = self.decode(harness.GOLDEN / "h200_two_streams.bin").first
        self.assertEqual(first.trace_packet_defaults.timestamp_clock_id, perfetto.BUILTIN_CLOCK_MONOTONIC)
        self.assertEqual(first.clock_snapshot.primary_trace_clock, perfetto.BUILTIN_CLOCK_MONOTONIC)
        clocks = {clock.clock_id: clock.timestamp for clock in first.clock_snapshot.clocks}
        self.assertEqual(sorted(clocks), [perfetto.BUILTIN_CLOCK_REALTIME, perfetto.BUILTIN_CLOCK_MONOTONIC])
        self.assertEqual(first.sequence_flags, perfetto.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED)


if __name__ == "__main__":
    unittest.main()
