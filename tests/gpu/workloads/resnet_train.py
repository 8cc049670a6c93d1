"""Trains ResNet-50 on random images."""

import common


def work(args):
    import torch
    import torchvision

    model = torchvision.models.resnet50(weights=None).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    criterion = torch.nn.CrossEntropyLoss()
    images = torch.randn(32, 3, 224, 224).cuda()
    labels = torch.randint(0, 1000, (32,)).cuda()

    def train(steps):
        for _ in range(steps):
            optimizer.zero_grad()
            loss = criterion(model(images), labels)
            loss.backward()
            optimizer.step()
            print(f"loss {loss.item()!r}")

    train(common.WARM_UP_STEPS)
    common.timed("step", args.steps, lambda: train(args.steps))


if __name__ == "__main__":
    common.main(work, steps=20, description=__doc__)
