#!/usr/bin/env python3
"""Trains ResNet-50 on synthetic images. Nothing here knows of gpuspy:

LD_PRELOAD=build/release/lib/libgpuspy.so python3 examples/train_resnet.py --steps 10 --batch 64
"""

import argparse
import time

import torch
import torchvision


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--batch", type=int, default=32)
    args = parser.parse_args()

    device = torch.device("cuda")
    model = torchvision.models.resnet50(weights=None).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    criterion = torch.nn.CrossEntropyLoss()
    images = torch.randn(args.batch, 3, 224, 224, device=device)
    labels = torch.randint(0, 1000, (args.batch,), device=device)

    start = time.perf_counter()
    for step in range(args.steps):
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.4f}")
    seconds = time.perf_counter() - start
    print(f"{args.steps * args.batch / seconds:.1f} images per second")


if __name__ == "__main__":
    main()
