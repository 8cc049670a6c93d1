"""Captures ResNet-50's inference in a CUDA graph and replays it: who owns a kernel is known from the capture alone."""

import common


def work(args):
    import torch
    import torchvision

    model = torchvision.models.resnet50(weights=None).cuda().eval()
    images = torch.randn(32, 3, 224, 224).cuda()

    with torch.inference_mode():
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(common.WARM_UP_STEPS):
                model(images)
        torch.cuda.current_stream().wait_stream(side)

        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            scores = model(images)

        def replay():
            for _ in range(args.steps):
                graph.replay()

        common.timed("replay", args.steps, replay)
        common.print_checksum("scores", scores)


if __name__ == "__main__":
    common.main(work, steps=20, description=__doc__)
