"""Classifies random images with three models of timm: a ResNet, an EfficientNet and a vision transformer."""

import common

MODELS = "resnet50 efficientnet_b0 vit_tiny_patch16_224".split()


def work(args):
    import timm
    import torch

    images = torch.randn(16, 3, 224, 224).cuda()
    with torch.inference_mode():
        for name in MODELS:
            model = timm.create_model(name, pretrained=False).cuda().eval()
            for _ in range(args.steps):
                scores = model(images)
            common.print_checksum(name, scores)


if __name__ == "__main__":
    common.need("torch")
    common.need("timm")
    common.main(work, steps=5, description=__doc__)
