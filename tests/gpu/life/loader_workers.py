"""A DataLoader with eight forked workers feeds a small network."""

import torch
import torch.utils.data


class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 512

    def __getitem__(self, index):
        return torch.full((64,), float(index))


torch.manual_seed(0)
network = torch.nn.Linear(64, 8).cuda()
network.weight.data.fill_(0.5)
network.bias.data.zero_()
loader = torch.utils.data.DataLoader(
    Numbers(), batch_size=16, num_workers=8, multiprocessing_context="fork", pin_memory=True
)
total = 0.0
for _ in range(2):
    for batch in loader:
        total += network(batch.cuda(non_blocking=True)).sum().item()
print(f"total {total}")
