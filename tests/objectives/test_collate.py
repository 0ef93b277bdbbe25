"""Batches: padding hides nothing and shows nothing; packed views are blind to each other; two streams fit into one."""

import numpy as np
import pytest
import torch

from factpin.errors import BadInput
from factpin.layers.masks import additive
from factpin.objectives import OBJECTIVES, View, audit, collate, one_stream, pack
from factpin.objectives.tape import concatenate
from factpin.objectives.view import NO_LOSS
from proofs.world import VOCABULARY, text
from tests.objectives.network import states

LENGTHS = (20, 33, 26)


def views(name: str, *, before: int = 0) -> list[View]:
    return [
        OBJECTIVES[name].view(text(n, n, before=before), VOCABULARY, seed=0, epoch=0, index=n) for n in LENGTHS
    ]  # fmt: skip


@pytest.mark.parametrize("name", OBJECTIVES)
def test_a_batch_holds_every_view_and_padding_around_it(name: str) -> None:
    made = views(name, before=4)
    batch = collate(made, VOCABULARY.pad)
    for b, view in enumerate(made):
        assert batch.pair[b] == view.pair
        assert np.array_equal(batch.spans[batch.spans[:, 0] == b, 1:], view.spans)
        for key, one in view.streams.items():
            block, n = batch.streams[key], len(one)
            assert np.array_equal(block.ids[b, :n], one.tape.ids) and (block.ids[b, n:] == VOCABULARY.pad).all()
            assert np.array_equal(block.positions[b, :n], one.positions)
            assert np.array_equal(block.segments[b, :n], one.segments)
            assert np.array_equal(block.labels[b, :n], view.labels(key)) and (block.labels[b, n:] == NO_LOSS).all()
            assert block.real[b].sum() == n
            for seen, spec in one.sees.items():
                allowed, m = block.sees[seen][b], len(view.streams[seen])
                assert np.array_equal(allowed[:n, :m], spec.dense())
                assert not allowed[:n, m:].any()  # nobody real sees padding
                assert (allowed[n:].sum(axis=1) == 1).all()


@pytest.mark.parametrize("name", ["bert", "t5", "xlnet", "glm_token"])
def test_every_row_of_a_batch_can_be_made_additive(name: str) -> None:
    for block in collate(views(name, before=4), VOCABULARY.pad).streams.values():
        for allowed in block.sees.values():
            added = additive(allowed, torch.float32)
            assert added.shape == (allowed.shape[0], 1, *allowed.shape[1:])
            assert torch.isfinite(torch.softmax(added, dim=-1)).all()


def test_views_of_different_streams_make_no_batch() -> None:
    with pytest.raises(BadInput, match="same streams"):
        collate([*views("gpt"), *views("t5")], VOCABULARY.pad)


@pytest.mark.parametrize("name", ["glm_token", "gpt", "mass", "mpnet", "pegasus", "roberta", "spanbert", "t5", "xlnet"])
def test_packed_views_compute_what_they_compute_alone(name: str) -> None:
    made = views(name, before=3)
    packed = pack(made)
    assert audit(packed).clean
    together, alone = states(packed), [states(view) for view in made]
    for key in packed.streams:
        assert np.allclose(together[key], np.concatenate([one[key] for one in alone]), atol=1e-12)
        assert np.array_equal(packed.labels(key), np.concatenate([view.labels(key) for view in made]))
    assert len(packed.spans) == sum(len(view.spans) for view in made)


def test_views_with_a_pair_label_are_not_packed() -> None:
    with pytest.raises(BadInput, match="cannot be packed"):
        pack(views("albert"))


@pytest.mark.parametrize("name", ["mpnet", "xlnet"])
def test_one_stream_computes_what_two_streams_compute(name: str) -> None:
    for view in views(name):
        joined = one_stream(view)
        assert audit(joined).clean
        two, one = states(view), states(joined)["content"]
        assert np.allclose(one, np.concatenate([two["content"], two["query"]]), atol=1e-12)
        n = len(view.streams["content"])
        assert not joined.streams["content"].sees["content"].dense()[:, n:].any()
        assert np.array_equal(joined.labels("content")[n:], view.labels("query"))


def test_one_stream_refuses_memory_and_other_streams() -> None:
    for name in ("xlnet", "t5", "gpt"):
        with pytest.raises(BadInput, match="without memory"):
            one_stream(views(name, before=4)[0])


def test_tapes_join_in_order() -> None:
    view = views("gpt")[0]
    row = view.streams["content"].tape
    assert np.array_equal(concatenate([row, row]).ids, np.tile(row.ids, 2))
