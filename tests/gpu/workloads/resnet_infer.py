"""Classifies random images with ResNet-50."""

import common


def work(args):
    import torch
    import torchvision

    model = torchvision.models.resnet50(weights=None).cuda().eval()
    images = torch.randn(32, 3, 224, 224).cuda()

    def infer(steps):
        for _ in range(steps):
            scores = model(images)
        return scores

    with torch.inference_mode():
        infer(common.WARM_UP_STEPS)
        results = []
        common.timed("step", args.steps, lambda: results.append(infer(args.steps)))
        common.print_checksum("scores", results[0])


if __name__ == "__main__":
    common.main(work, steps=20, description=__doc__)
