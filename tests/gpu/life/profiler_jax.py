"""jax.profiler around a part of the work."""

import collections
import glob
import gzip
import json
import tempfile

import jax
import jax.numpy as jnp

step = jax.jit(lambda x: jnp.tanh(x @ x) + 1.0)
x = jnp.ones((512, 512))
step(x).block_until_ready()
for _ in range(50):
    y = step(x)
y.block_until_ready()
with tempfile.TemporaryDirectory() as folder:
    with jax.profiler.trace(folder):
        for _ in range(200):
            y = step(x)
        y.block_until_ready()
    (path,) = glob.glob(folder + "/**/*.trace.json.gz", recursive=True)
    with gzip.open(path) as file:
        events = json.load(file)["traceEvents"]
for _ in range(50):
    y = step(x)
y.block_until_ready()
processes = {event["pid"]: event["args"]["name"] for event in events if event.get("name") == "process_name"}
kernels = collections.Counter(
    event["name"] for event in events if event.get("ph") == "X" and "GPU" in processes.get(event["pid"], "")
)
print(f"{sorted(kernels.values())}: {sum(kernels.values())} kernels")
