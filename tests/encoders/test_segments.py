"""Segments: two texts of one input told apart, by models that can; nothing changes where none are given."""

import pytest
import torch

from factpin.encoders import Encoder
from tests.encoders.architectures import CONFIGS, tiny
from tests.encoders.test_encoder import a_batch

pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning")

KNOW = {"albert", "bert", "electra", "ernie", "roberta", "roformer", "xlm_roberta", "xlnet"}


def halves(mask: torch.Tensor) -> torch.Tensor:
    """1 in the second half of every text."""
    return (torch.arange(mask.shape[1]) >= mask.sum(dim=1, keepdim=True) // 2).long()


@pytest.mark.parametrize("name", CONFIGS)
def test_no_segments_are_segments_of_one_kind(name: str) -> None:
    encoder = tiny(name)
    ids, mask = a_batch()
    with torch.no_grad():
        without, same = encoder(ids, mask).hidden, encoder(ids, mask, segments=torch.zeros_like(ids)).hidden
    assert torch.equal(without[mask], same[mask])


@pytest.mark.parametrize("name", CONFIGS)
def test_segments_matter_where_the_model_knows_them(name: str) -> None:
    encoder = tiny(name)
    ids, mask = a_batch()
    with torch.no_grad():
        without, told = encoder(ids, mask).hidden, encoder(ids, mask, segments=halves(mask)).hidden
    assert torch.equal(without[mask], told[mask]) is (name not in KNOW)


def test_one_kind_of_segment_is_none() -> None:
    model = tiny("roberta").model
    model.config.type_vocab_size = 1
    encoder = Encoder(model).eval()
    ids, mask = a_batch()
    with torch.no_grad():
        without, told = encoder(ids, mask).hidden, encoder(ids, mask, segments=halves(mask)).hidden
    assert torch.equal(without, told)


def test_segments_under_padding_are_never_read() -> None:
    encoder = tiny("bert")
    ids, mask = a_batch()
    segments = halves(mask)
    with torch.no_grad():
        one = encoder(ids, mask, segments=segments).hidden
        two = encoder(ids, mask, segments=segments.masked_fill(~mask, 99)).hidden
    assert torch.equal(one[mask], two[mask])


def test_rows_of_attention_come_with_segments_too() -> None:
    encoder = tiny("bert")
    ids, mask = a_batch()
    rows = torch.tensor([[0, 3], [2, 1]])
    with torch.no_grad():
        found = encoder(ids, mask, rows, halves(mask))
    assert found.attention.shape == (2, 4, ids.shape[1])
    assert torch.allclose(found.attention.sum(-1), torch.ones(2, 4), atol=1e-5)
