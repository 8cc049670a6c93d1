"""Classifies images that two worker processes make: a DataLoader with pinned memory, and MobileNet."""

import common

IMAGES = 256


class Images:
    """Images that are a function of their index."""

    def __len__(self):
        return IMAGES

    def __getitem__(self, index):
        import torch

        return torch.rand(3, 224, 224, generator=torch.Generator().manual_seed(index)), index


def work(args):
    import torch
    import torchvision

    model = torchvision.models.mobilenet_v3_large(weights=None).cuda().eval()
    normalize = torchvision.transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
    loader = torch.utils.data.DataLoader(Images(), batch_size=32, num_workers=2, pin_memory=True)
    with torch.inference_mode():
        for _ in range(args.steps):
            for images, indices in loader:
                scores = model(normalize(images.cuda(non_blocking=True)))
                common.print_checksum(f"images {indices[0].item()} to {indices[-1].item()}", scores)


if __name__ == "__main__":
    common.need("torch")
    common.need("torchvision")
    common.main(work, steps=2, description=__doc__)
