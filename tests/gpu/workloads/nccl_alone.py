"""NCCL's collectives in a group of one process: most become copies, averages and exchanges with itself run kernels."""

import datetime
import os

import common


def main():
    # There may be no network but the loop back, and a multicast object is nothing for a group of one.
    os.environ.setdefault("NCCL_SOCKET_IFNAME", "lo")
    os.environ.setdefault("NCCL_NVLS_ENABLE", "0")
    os.environ.pop("NCCL_DEBUG", None)  # It would print process ids.
    torch = common.need("torch")
    dist = common.need("torch.distributed")
    if not dist.is_available() or not dist.is_nccl_available():
        common.leave("this PyTorch has no NCCL")

    device = torch.device("cuda", 0)
    torch.cuda.set_device(device)
    dist.init_process_group(
        "nccl",
        init_method="file://" + os.path.abspath("rendezvous"),
        rank=0,
        world_size=1,
        timeout=datetime.timedelta(seconds=40),
    )

    def values(count=1 << 16):
        return (torch.arange(count, device=device) % 16).float()

    def total(*tensors):
        torch.cuda.synchronize()
        return " ".join(repr(float(tensor.sum())) for tensor in tensors)

    def all_reduce():
        summed, averaged = values(), values()
        for _ in range(10):
            dist.all_reduce(summed)
            dist.all_reduce(averaged, op=dist.ReduceOp.AVG)
        return total(summed, averaged)

    def all_gather():
        gathered, pieces = torch.empty(1 << 16, device=device), [torch.empty(1 << 16, device=device)]
        dist.all_gather_into_tensor(gathered, values())
        dist.all_gather(pieces, values())
        return total(gathered, *pieces)

    def reduce_scatter():
        summed, averaged = torch.empty(1 << 16, device=device), torch.empty(1 << 16, device=device)
        dist.reduce_scatter_tensor(summed, values())
        dist.reduce_scatter_tensor(averaged, values(), op=dist.ReduceOp.AVG)
        return total(summed, averaged)

    def broadcast():
        sent = values()
        dist.broadcast(sent, src=0)
        return total(sent)

    def reduce():
        summed = values()
        dist.reduce(summed, dst=0)
        return total(summed)

    def all_to_all():
        single, pieces = torch.empty(1 << 16, device=device), [torch.empty(1 << 16, device=device)]
        for _ in range(10):
            dist.all_to_all_single(single, values())
            dist.all_to_all(pieces, [values()])
        return total(single, *pieces)

    def beside_a_product():
        matrix = (torch.arange(256 * 256, device=device) * 7 % 4).float().reshape(256, 256)
        averaged = values()
        works = []
        for _ in range(10):
            works.append(dist.all_reduce(averaged, op=dist.ReduceOp.AVG, async_op=True))
            product = matrix @ matrix
        for work in works:
            work.wait()
        return total(averaged, product)

    def data_parallel():
        torch.manual_seed(0)
        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 8).cuda(), device_ids=[0])
        for _ in range(3):
            model(torch.ones(4, 64, device=device)).sum().backward()
        return total(model.module.bias.grad)

    def send_to_itself():
        # What PyTorch refuses, it must refuse under gpuspy too.
        dist.send(values(), dst=0)

    collectives = [all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all]
    for part in [*collectives, beside_a_product, data_parallel]:
        common.section(part)
    try:
        send_to_itself()
    except (ValueError, RuntimeError) as error:
        print(f"send_to_itself refused with {type(error).__name__}")
    dist.barrier(device_ids=[0])
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
