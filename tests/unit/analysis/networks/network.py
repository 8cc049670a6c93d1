"""The programs whose traces lie here: recorded on an H200 with PyTorch 2.11 (CUDA 13.0, cuDNN 9.19), all arguments kept.

    gpuspy-run python3 network.py NETWORK infer|half|graph|train|bench BATCH   -> NETWORK_MODE_BATCH.bin
    gpuspy-run python3 network.py gemms|sdpa|convs                             -> gemms.bin ...

The folder that it ran in was renamed in the traces.
"""

import sys

import torch
import torch.nn.functional as F


def gemms():
    a, b = torch.randn(256, 512, device="cuda"), torch.randn(512, 128, device="cuda")
    for x, y in ((a, b), (a.half(), b.half()), (a.bfloat16(), b.bfloat16()), (a.double(), b.double())):
        torch.mm(x, y)
    torch.bmm(a.view(4, 64, 512), b.expand(4, 512, 128).contiguous())
    torch.addmm(torch.randn(128, device="cuda"), a, b)
    F.linear(a.half(), b.t().contiguous().half(), torch.randn(128, device="cuda").half())
    torch.mm(a.to(torch.complex64), b.to(torch.complex64))
    torch.mv(a, b[:, 0].contiguous())
    torch.dot(a[0], a[1])
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.mm(a, b)


def sdpa():
    q = torch.randn(2, 8, 512, 64, device="cuda", dtype=torch.float16)
    for _ in range(3):
        F.scaled_dot_product_attention(q, q, q)
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.CUDNN_ATTENTION):
        for _ in range(3):
            F.scaled_dot_product_attention(q, q, q, is_causal=True)
        F.scaled_dot_product_attention(q, q, q)


def convs():
    shapes = (
        dict(out_channels=64, kernel_size=3, padding=1),
        dict(out_channels=64, kernel_size=3, padding=1, stride=2, groups=4),
        dict(out_channels=32, kernel_size=3, padding=1, groups=32),
        dict(out_channels=16, kernel_size=5, padding=4, dilation=2),
    )
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        x = torch.randn(4, 32, 28, 28, device="cuda", dtype=dtype, requires_grad=True)
        for shape in shapes:
            torch.nn.Conv2d(32, **shape).cuda().to(dtype)(x).sum().backward()
    torch.nn.Conv3d(8, 16, 3).cuda()(torch.randn(2, 8, 8, 16, 16, device="cuda"))
    torch.nn.ConvTranspose2d(8, 16, 3, stride=2).cuda()(torch.randn(2, 8, 16, 16, device="cuda"))
    torch.nn.LSTM(32, 64, 2).cuda()(torch.randn(10, 4, 32, device="cuda"))


def network(name, mode, batch):
    import torchvision

    model = getattr(torchvision.models, name)(weights=None).cuda().eval()
    x = torch.randn(batch, 3, 224, 224, device="cuda")
    if mode == "half":
        model, x = model.half(), x.half()
    torch.backends.cudnn.benchmark = mode == "bench"
    if mode == "train":
        model.train()
        optimiser = torch.optim.SGD(model.parameters(), 0.1)
        for _ in range(2):
            optimiser.zero_grad()
            model(x).sum().backward()
            optimiser.step()
        return
    with torch.inference_mode():
        if mode != "graph":
            for _ in range(3):
                model(x)
            return
        with torch.cuda.stream(torch.cuda.Stream()):
            for _ in range(3):
                model(x)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            model(x)
        for _ in range(3):
            graph.replay()


if len(sys.argv) > 2:
    network(sys.argv[1], sys.argv[2], int(sys.argv[3]))
else:
    {"gemms": gemms, "sdpa": sdpa, "convs": convs}[sys.argv[1]]()
torch.cuda.synchronize()
