"""Trains a small network with NVTX ranges of its own, in a domain, and of PyTorch's operators (emit_nvtx).

Each step is a range "step" with "forward", "backward" and "optimizer" inside it; prints how many there are.
"""

import common


def work(args):
    import torch

    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = torch.randn(32, 64, device="cuda")
    nvtx = torch.cuda.nvtx
    losses = []
    with torch.autograd.profiler.emit_nvtx():
        for step in range(args.steps):
            with nvtx.range("step"):
                optimizer.zero_grad()
                with nvtx.range("forward"):
                    loss = model(data).square().mean()
                with nvtx.range("backward"):
                    loss.backward()
                with nvtx.range("optimizer"):
                    optimizer.step()
            nvtx.mark(f"after step {step}")
            losses.append(loss.item())
    request = nvtx.range_start("request")
    model(data)
    nvtx.range_end(request)
    torch.cuda.synchronize()
    print("losses", *losses)
    print("steps", args.steps)


if __name__ == "__main__":
    common.main(work, steps=20, description=__doc__)
