"""torch.profiler, three sessions with work between them, the last of which waits for nothing before it begins and ends."""

import collections

import torch
import work

torch.zeros(1, device="cuda")
work.small(50)
torch.cuda.synchronize()


def session(steps, waits):
    if waits:
        torch.cuda.synchronize()
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profiler:
        work.small(steps)
        if waits:
            torch.cuda.synchronize()
    kernels = collections.Counter()
    launches = 0
    for event in profiler.events():
        if event.device_type == torch.autograd.DeviceType.CUDA:
            kernels[event.name] += 1
        launches += event.name in ("cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cuLaunchKernelEx")
    print(f"{sorted(kernels.values())} launches {launches}: {sum(kernels.values())} kernels")


session(500, True)
work.small(100)
session(300, True)
work.small(1000)
session(400, False)
work.small(30)
torch.cuda.synchronize()
