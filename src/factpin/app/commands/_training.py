"""What `train` and `pretrain` share."""

from collections.abc import Callable

import click

from factpin.app.console import notes

SPELLINGS = {  # names that other trainers use, and short ones
    "epochs": ("num_train_epochs", "epochs"),
    "batch_size": ("per_device_train_batch_size", "batch_size"),
    "accumulation": ("gradient_accumulation_steps", "accumulation"),
    "warmup": ("warmup_ratio", "warmup"),
    "clip": ("clip", "max_grad_norm"),
    "max_length": ("max_length", "max_seq_length"),
    "source_format": ("from",),
}
resume_option = click.option("--resume", is_flag=True, help="Continue from the last checkpoint in --output, if any.")


def warn(quiet: bool) -> Callable[[str], None]:
    """A function that prints a note in yellow."""
    return lambda text: notes(quiet).print(text, style="yellow", markup=False)
