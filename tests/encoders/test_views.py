"""Views on encoders: positions and masks do what they say in every architecture that has a table of positions."""

import numpy as np
import pytest
import torch
from torch import Tensor

from factpin.encoders import Encoder
from factpin.encoders.views import read_cells, refuse_relative
from factpin.errors import BadInput, BadModel
from factpin.layers.masks import Bools, causal, full, prefix
from tests.encoders.architectures import CONFIGS, WORDS, tiny

NAMES = ["albert", "bert", "distilbert", "electra", "ernie", "mpnet", "roberta", "xlm_roberta"]
N = 24


def made(name: str) -> Encoder:
    """With weights that make every cell another."""
    encoder = tiny(name)
    with torch.no_grad():
        for module in encoder.modules():
            for parameter in module.parameters(recurse=False):
                parameter.normal_(std=0.3).add_(isinstance(module, torch.nn.LayerNorm))
    return encoder.double()


def ids(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(5, WORDS, (2, N))


def read(encoder: Encoder, x: np.ndarray, allowed: Bools, positions: np.ndarray | None = None) -> Tensor:
    at = np.tile(np.arange(x.shape[1]), (len(x), 1)) if positions is None else positions
    return read_cells(encoder, x, at, np.zeros_like(x), np.broadcast_to(allowed, (len(x), *allowed.shape)))


@pytest.mark.parametrize("name", NAMES)
@torch.no_grad()
def test_a_full_mask_reads_what_the_encoder_reads(name: str) -> None:
    encoder = made(name)
    plain = encoder(torch.as_tensor(ids()), torch.ones(2, N, dtype=torch.bool)).hidden
    assert torch.allclose(read(encoder, ids(), full(N).dense()), plain, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
@torch.no_grad()
def test_cells_in_another_order_compute_the_same(name: str) -> None:
    """Positions belong to cells, wherever these are: also the distances that MPNet counts."""
    encoder, allowed = made(name), prefix(N, 5).dense()
    order = np.random.default_rng(1).permutation(N)
    straight = read(encoder, ids(), allowed)
    mixed = read(encoder, ids()[:, order], allowed[order][:, order], np.tile(order, (2, 1)))
    assert torch.allclose(mixed, straight[:, order], atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
@torch.no_grad()
def test_what_may_not_be_seen_moves_nothing(name: str) -> None:
    encoder, allowed = made(name), causal(N).dense()
    before = read(encoder, ids(), allowed)
    for cell in (3, 17):
        other = ids()
        other[:, cell] = (other[:, cell] + 7) % WORDS
        moved = (read(encoder, other, allowed) - before).abs().amax(dim=-1) > 0
        assert not moved[:, :cell].any() and moved[:, cell:].all()


@torch.no_grad()
def test_a_mask_of_booleans_hides_nothing_under_eager_attention() -> None:
    """Why masks go in as numbers: a control that must leak."""
    encoder, allowed = made("bert"), causal(N).dense()
    encoder.model.set_attn_implementation("eager")
    bools = torch.as_tensor(np.broadcast_to(allowed, (2, 1, N, N)).copy())
    other = ids()
    other[:, -1] = (other[:, -1] + 7) % WORDS
    one, two = (
        encoder.model(input_ids=torch.as_tensor(x), attention_mask=bools).last_hidden_state for x in (ids(), other)
    )
    assert ((one - two).abs().amax(dim=-1) > 0).all()
    assert not (read(encoder, ids(), allowed) - read(encoder, other, allowed))[:, :-1].any()


@torch.no_grad()
def test_segments_beyond_what_is_known_begin_anew() -> None:
    encoder, at = made("bert"), np.tile(np.arange(N), (2, 1))
    allowed = np.broadcast_to(full(N).dense(), (2, N, N))
    halves = np.repeat([[0] * 10 + [1] * 14], 2, axis=0)
    assert torch.equal(
        read_cells(encoder, ids(), at, halves + 4, allowed), read_cells(encoder, ids(), at, halves, allowed)
    )
    assert not torch.allclose(
        read_cells(encoder, ids(), at, 0 * halves, allowed), read_cells(encoder, ids(), at, halves, allowed)
    )


@pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning")  # transformers' DeBERTa, when imported
@pytest.mark.parametrize("name", [name for name in CONFIGS if name not in NAMES and name != "bart"])
def test_encoders_without_a_table_of_positions_are_refused(name: str) -> None:
    with pytest.raises(BadModel, match="positions are a table"):
        refuse_relative(tiny(name))


def test_positions_and_rows_that_cannot_be_are_refused() -> None:
    encoder = made("roberta")
    with pytest.raises(BadInput, match="has 64 positions"):
        read(encoder, ids(), full(N).dense(), np.tile(50 + np.arange(N), (2, 1)))
    with pytest.raises(BadInput, match="sees nothing"):
        read(encoder, ids(), np.zeros((N, N), bool))
