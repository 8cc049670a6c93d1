"""Views that have charts of their own, and one that no page knows, as small tables with the columns that the charts need."""


def table(title, rows, /, **units):
    """`units`: by column. Rows are lists of cells."""
    columns = [{"name": name, "title": name, "unit": unit} for name, unit in units.items()]
    return {"title": title, "remark": "", "columns": columns, "rows": [dict(zip(units, row)) for row in rows], "notes": []}


VERDICT = {**table("What bounds the run", [[0, "launch-bound", 1000, 300, 50, 400, 250]], device="count", verdict="text", span_ns="ns",
                   kernels_ns="ns", copies_ns="ns", launch_ns="ns", host_ns="ns"), "notes": ["GPU 0: launches take 40 % of it"]}

VIEWS = {
    "nobody_knows": {"things": table("Things", [["a", 3], ["b", None]], thing="text", count="count")},
    "concurrency": {"in_flight": table(
        "Activities in flight", [[0, 0, 600, 0.6, None], [0, 1, 300, 0.3, 0.75], [0, 2, 100, 0.1, 0.25], [1, 1, 50, None, 1.0]],
        device="count", in_flight="count", time_ns="ns", share_of_wall="share", share_of_busy="share")},
    "idle": {"verdict": VERDICT, "causes": table(
        "Idle time by cause", [[0, 0.7, 0.4, 4_000, 12, 900, "host outside CUDA"], [0, 0.3, 0.2, 2_000, 3, 800, "in a launch call"]],
        device="count", share_of_idle="share", share_of_wall="share", total_ns="ns", gaps="count", longest_ns="ns", cause="text")},
    "latency": {"series": table("Queue depth over time", [[0, 0, 1.5, 2.0], [0, 500, 0.5, 1.0]], device="count", at_ns="ns",
                                waiting_avg="number", unfinished_avg="number")},
    "memory": {
        "copies": table("Copies and sets", [["HtoD", 2048], ["DtoH", 1024]], direction="text", bytes="bytes"),
        "series": table("Allocated memory over time", [["device", 0, 1024], ["device", 500, 4096], ["pinned", 0, 512]], place="text",
                        at_ns="ns", max_bytes="bytes")},
    "flops": {"operations": table(
        "Operations", [[900, 4e9, 4.4e12, 0.5, 80.0, "TF32", "convolution", "cudnnConvolutionForward"],
                       [100, 1e8, 1.0e12, 0.9, 2.0, "FP32", "gemm", "cublasSgemm"]],
        gpu_ns="ns", flops="FLOP", flops_per_s="FLOP/s", share_of_roof="share", flops_per_byte="number", type="text", operation="text",
        name="text")},
    "compare": {"measures": table("Side by side", [["wall time", 1e9, 5e8, 0.5, "ns"], ["launches", 100.0, 150.0, 1.5, "count"]],
                                  title="text", value_1="by row", value_2="by row", ratio_2="number", unit="text")},
}

# What the figures of these are called, section by section.
CHARTS = {
    "nobody_knows": [],
    "concurrency": ["GPU 0: Activities in flight", "GPU 1: Activities in flight"],
    "idle": ["What bounds the run", "Idle time by cause"],
    "latency": ["Queue depth over time"],
    "memory": ["Copied bytes", "Allocated memory over time"],
    "flops": ["Roofline"],
    "compare": ["Ratios to the first"],
}
