"""Generates tokens with a small GPT-2 of random weights, greedily, one sequence at a time."""

import os

import common

TOKENS = 32


def work(args):
    import torch
    import transformers

    config = transformers.GPT2Config(
        vocab_size=1000, n_positions=128, n_embd=256, n_layer=4, n_head=4, bos_token_id=0, eos_token_id=999
    )
    model = transformers.GPT2LMHeadModel(config).cuda().eval()
    for step in range(args.steps):
        prompt = ((torch.arange(8) * 37 + step) % 900).reshape(1, 8).cuda()
        tokens = model.generate(
            prompt,
            attention_mask=torch.ones_like(prompt),
            max_new_tokens=TOKENS,
            min_new_tokens=TOKENS,
            do_sample=False,
            pad_token_id=0,
        )
        print("tokens", *tokens[0].tolist())


if __name__ == "__main__":
    os.environ["HF_HUB_OFFLINE"] = "1"
    common.need("torch")
    common.need("transformers")
    common.main(work, steps=3, description=__doc__)
