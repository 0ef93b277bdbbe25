"""A head that goes on from another keeps the labels of both and starts the others afresh."""

import pytest
import torch

from factpin.errors import BadInput
from factpin.heads import CONFIGS, HEADS
from factpin.heads.inherit import inherit

WIDTH = 16
OLD, NEW = ("a", "b", "c"), ("b", "d", "a")


def build(name: str, labels: tuple[str, ...], seed: int) -> torch.nn.Module:
    torch.manual_seed(seed)
    if name == "gplinker":
        config = CONFIGS[name](relations=labels, subjects=labels, objects=("x",), head_size=8)
    elif name == "event_linker":
        config = CONFIGS[name](triggers=(), roles=tuple((label, "role") for label in labels), head_size=8)
    elif name == "atlop":
        config = CONFIGS[name](relations=labels, size=8, group=4)
    elif name == "mention_pair":
        config = CONFIGS[name]()
    elif name == "crf":
        config = CONFIGS[name](labels=labels)
    else:
        config = CONFIGS[name](labels=labels, head_size=8)
    head = HEADS[name](config, WIDTH)
    with torch.no_grad():
        for weight in head.parameters():
            weight.normal_()
    return head


@pytest.mark.parametrize("name", sorted(HEADS))
def test_rows_of_shared_labels_are_copied_and_those_of_new_ones_are_not(name: str) -> None:
    old, new = build(name, OLD, 0), build(name, NEW, 1)
    first = {key: weight.detach().clone() for key, weight in new.named_parameters()}
    kept = inherit(new, old)
    weights, rows, old_rows = dict(old.named_parameters()), new.named_rows(), old.named_rows()
    for key, weight in new.named_parameters():
        if key not in rows:
            assert torch.equal(weight, weights[key])
            continue
        names = rows[key][0]
        for i, label in enumerate(names):
            nth = names[:i].count(label)
            places = [k for k, other in enumerate(old_rows[key][0]) if other == label]
            if not places:
                assert torch.equal(weight[i], first[key][i])
            elif weight.dim() == 1 or len(rows[key]) == 1:
                assert torch.equal(weight[i], weights[key][places[nth]])
    assert kept >= {"a", "b"} if name not in ("mention_pair", "event_linker", "gplinker") else True
    assert inherit(build(name, OLD, 2), build(name, OLD, 3)) is not None


def test_a_model_with_the_same_labels_is_taken_over_whole() -> None:
    for name in HEADS:
        old, new = build(name, OLD, 0), build(name, OLD, 1)
        inherit(new, old)
        for key, weight in new.named_parameters():
            assert torch.equal(weight, dict(old.named_parameters())[key]), (name, key)


def test_another_kind_of_head_gives_nothing_and_another_size_is_refused() -> None:
    assert inherit(build("crf", OLD, 0), build("global_pointer", OLD, 0)) == set()
    wide = HEADS["global_pointer"](CONFIGS["global_pointer"](labels=OLD, head_size=16), 2 * WIDTH)
    with pytest.raises(BadInput, match="do not fit this run"):
        inherit(wide, build("global_pointer", OLD, 0))
