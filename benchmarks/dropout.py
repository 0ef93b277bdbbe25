"""A training step of an encoder on a CPU: dropout and attention of factpin against torch's own, in one interleaved run.

    python benchmarks/dropout.py [--encoder minilm-en] [--batch 4] [--length 384] [--rounds 7] [--json FILE]

Both sides are the same weights in one encoder: plain is transformers' model as it comes (torch's Dropout, sdpa), ours
is what `Encoder` makes of it. A step is forward and backward of the sum of the squares. Time is CPU time
(process_time), the median of the rounds, the two sides in turn.
"""

import argparse
import json
import statistics
import time
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table
from transformers import AutoModel
from transformers.utils import logging

from factpin.encoders import Encoder, resolve


def step(model: torch.nn.Module, inputs: dict[str, torch.Tensor], *, bf16: bool) -> float:
    start = time.process_time()
    with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
        hidden = model(**inputs).last_hidden_state
    (hidden.float() ** 2).sum().backward()
    model.zero_grad(set_to_none=True)
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", default="minilm-en")
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--length", type=int, nargs="+", default=[128, 384])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    logging.set_verbosity_error()
    plain = AutoModel.from_pretrained(resolve(options.encoder), add_pooling_layer=False).train()
    ours = Encoder.load(options.encoder).train()
    table = Table("tokens", "numbers", "plain ms", "ours ms", "ratio")
    rows = []
    for length in options.length:
        torch.manual_seed(0)
        ids = torch.randint(1000, 20_000, (options.batch, length))
        inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        inputs["attention_mask"][0, -5:] = 0
        for bf16 in (False, True):
            sides: dict[str, list[float]] = {"plain": [], "ours": []}
            for _ in range(options.rounds + 1):
                for name, model in (("plain", plain), ("ours", ours.model)):
                    sides[name].append(step(model, inputs, bf16=bf16))
            a, b = (1000 * statistics.median(times[1:]) for times in sides.values())  # the first round warms up
            rows.append({"batch": options.batch, "length": length, "bf16": bf16, "plain_ms": a, "ours_ms": b})
            table.add_row(
                f"{options.batch} x {length}", "bf16" if bf16 else "float32", f"{a:.0f}", f"{b:.0f}", f"{a / b:.2f}x"
            )
    Console().print(table)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
