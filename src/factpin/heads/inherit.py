"""A new head that starts from the weights of a trained one, as far as their labels agree.

Every head says in `named_rows` which rows of which weights belong to which label. Rows of a label that both heads have
are copied, weights without names are copied whole, and rows of new labels keep their first weights. A head of another
kind keeps all of its first weights.
"""

import numpy as np
import torch
from torch import nn

from factpin.errors import BadInput

Names = tuple[str, ...]  # of the entries along one dimension; an empty name is shared by all heads


MEANING = ("head_size", "rope", "bias", "scheme")  # settings that weights of one shape are read differently by


def inherit(new: nn.Module, old: nn.Module) -> set[str]:
    """Copy what the old head has learned into the new one; gives the labels whose weights were copied."""
    if type(new) is not type(old):
        return set()
    for setting in MEANING:
        there, here = (getattr(head.config, setting, None) for head in (old, new))
        if there != here:
            raise BadInput(
                f"The weights of the initial model do not fit this run ({setting} is {there} there, {here} here). Give "
                f"the run the {setting} of that model."
            )
    kept: set[str] = set()
    rows, old_rows = new.named_rows(), old.named_rows()  # type: ignore[operator]
    weights = dict(old.named_parameters())
    for name, weight in new.named_parameters():
        other, named = weights.get(name), len(rows.get(name, ()))
        if other is None or other.shape[named:] != weight.shape[named:]:
            raise BadInput(
                f"The weights of the initial model do not fit this run ({name} is {_size(other)} there, "
                f"{_size(weight)} here). Give the run the sizes of that model's head, such as size, group or head_size."
            )
        with torch.no_grad():
            if name in rows:
                kept |= _copy(weight, other, rows[name], old_rows[name])
            else:
                weight.copy_(other)
    return kept


def _size(weight: torch.Tensor | None) -> str:
    return "missing" if weight is None else " x ".join(map(str, weight.shape))


def _copy(weight: torch.Tensor, other: torch.Tensor, names: tuple[Names, ...], others: tuple[Names, ...]) -> set[str]:
    """The entries of equal names along every named dimension."""
    to, source, kept = [], [], set[str]()
    for own, theirs in zip(names, others, strict=True):
        place = {(label, own_number): i for i, (label, own_number) in enumerate(_numbered(theirs))}
        pairs = [(i, place[key]) for i, key in enumerate(_numbered(own)) if key in place]
        kept |= {own[i] for i, _ in pairs if own[i]}
        to.append([i for i, _ in pairs])
        source.append([j for _, j in pairs])
    weight[np.ix_(*to)] = other[np.ix_(*source)]
    return kept


def _numbered(names: Names) -> list[tuple[str, int]]:
    """Each name with the number of times it occurred before: the k-th rows of a label in both heads belong together."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, -1) + 1
        found.append((name, seen[name]))
    return found
