"""Classifies random images with many CNNs, each in a process of its own, for gpuspy to record.

    GPUSPY_OUTPUT=traces/trace.bin LD_PRELOAD=.../libgpuspy.so python3 cnn_utilisation.py --out traces/runs.json
    python3 cnn_table.py --report .../gpuspy-report traces/runs.json

The parent imports the frameworks once, never touches the GPU, and forks a child for each network, batch size and number
format, so each has a trace of its own: traces/trace.bin or traces/trace.PID.bin. runs.json says which is whose.
"""

import argparse
import itertools
import json
import os
import sys

TORCHVISION = [
    "alexnet", "vgg11", "vgg16", "squeezenet1_0", "resnet18", "resnet34", "resnet50", "resnet101", "resnext50_32x4d",
    "wide_resnet50_2", "densenet121", "densenet161", "densenet201", "googlenet", "inception_v3", "mobilenet_v2",
    "mobilenet_v3_large", "mnasnet1_0", "shufflenet_v2_x1_0", "efficientnet_b0", "regnet_x_3_2gf", "convnext_tiny",
]
TIMM = ["ghostnet_100", "repvgg_b0", "dla34", "seresnet50", "cspresnet50", "hrnet_w18"]
WARM_UP = 4
SIDE = {"inception_v3": 299}


def network(name):
    import timm
    import torchvision

    if name in TIMM:
        return timm.create_model(name)
    weights_too = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
    return getattr(torchvision.models, name)(weights=None, **weights_too)


def classify(name, batch, number_format, steps):
    """One network in the format that runs best: half precision with channels last, or what PyTorch does unasked."""
    import torch

    torch.manual_seed(0)
    with torch.device("cuda"):
        model = network(name).eval()
        images = torch.randn(batch, 3, SIDE.get(name, 224), SIDE.get(name, 224))
    if number_format == "fp16":
        model = model.half().to(memory_format=torch.channels_last)
        images = images.half().to(memory_format=torch.channels_last)
    with torch.inference_mode():
        for _ in range(WARM_UP):
            model(images)
        torch.cuda.synchronize()
        for _ in range(steps):
            model(images)
        torch.cuda.synchronize()


def in_child(run, steps):
    """Runs it in a forked child; its pid and how it ended."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            classify(run["network"], run["batch"], run["format"], steps)
            status = 0
        except Exception as error:  # One network that does not run must not end the others.
            print(f"{run}: {type(error).__name__}: {error}", file=sys.stderr)
        finally:
            sys.stderr.flush()
        # Handlers that run at exit are gpuspy's way to end a trace: os._exit would leave the rest to be salvaged.
        sys.exit(status)
    return pid, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, help="file for the list of runs")
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--batches", default="1,64")
    parser.add_argument("--formats", default="fp16,default")
    parser.add_argument("--networks", default=",".join(TORCHVISION + TIMM))
    args = parser.parse_args()

    import timm  # noqa: F401 - imported once, before the forks
    import torch  # noqa: F401
    import torchvision  # noqa: F401

    runs = []
    for name, number_format, batch in itertools.product(
        args.networks.split(","), args.formats.split(","), map(int, args.batches.split(","))
    ):
        run = {"network": name, "batch": batch, "format": number_format}
        run["pid"], run["status"] = in_child(run, args.steps)
        runs.append(run)
        with open(args.out, "w", encoding="utf-8") as file:
            json.dump(runs, file, indent=1)


if __name__ == "__main__":
    main()
