"""The seam between two layers: exact when nothing changes, gone afterwards, and open to gradients."""

import pytest
import torch

from factpin.encoders import Encoder, small_encoder
from factpin.encoders.between import between, layers_of
from factpin.errors import BadInput


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    torch.manual_seed(0)
    return small_encoder(50, width=16, layers=3, heads=2, max_length=32).eval()


@pytest.fixture(scope="module")
def batch() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randint(1, 50, (2, 7)), torch.ones(2, 7, dtype=torch.bool)


@torch.no_grad()
@pytest.mark.parametrize("after", [1, 2, 3])
def test_a_change_to_the_same_is_no_change(
    encoder: Encoder, batch: tuple[torch.Tensor, torch.Tensor], after: int
) -> None:
    plain = encoder(*batch).hidden
    with between(encoder.model, after, lambda hidden: hidden):
        assert torch.equal(encoder(*batch).hidden, plain)
    with between(encoder.model, after, lambda hidden: hidden + 1.0):
        assert not torch.equal(encoder(*batch).hidden, plain)
    assert torch.equal(encoder(*batch).hidden, plain)


def test_it_is_gone_after_an_error(encoder: Encoder, batch: tuple[torch.Tensor, torch.Tensor]) -> None:
    def fail(hidden: torch.Tensor) -> torch.Tensor:
        raise ValueError

    with pytest.raises(ValueError), between(encoder.model, 1, fail):
        encoder(*batch)
    encoder(*batch)


def test_gradients_pass(encoder: Encoder, batch: tuple[torch.Tensor, torch.Tensor]) -> None:
    added = torch.zeros(16, requires_grad=True)
    with between(encoder.model, 2, lambda hidden: hidden + added):
        encoder(*batch).hidden.square().sum().backward()
    assert added.grad is not None and added.grad.abs().sum() > 0


def test_a_layer_that_is_not_there(encoder: Encoder) -> None:
    with pytest.raises(BadInput, match="3 layers"), between(encoder.model, 4, lambda hidden: hidden):
        pass


def test_layers_are_found(encoder: Encoder) -> None:
    assert len(layers_of(encoder.model)) == 3


@torch.no_grad()
def test_an_insert_is_a_part_of_the_encoder_and_can_be_taken_out(
    encoder: Encoder, batch: tuple[torch.Tensor, torch.Tensor]
) -> None:
    class Double(torch.nn.Module):
        def forward(self, hidden: torch.Tensor, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            assert ids.shape == mask.shape == hidden.shape[:2]
            return 2 * hidden

    plain = encoder(*batch).hidden
    encoder.put_between(Double(), 2)
    try:
        assert not torch.equal(encoder(*batch).hidden, plain)
    finally:
        encoder.put_between(None)
    assert torch.equal(encoder(*batch).hidden, plain)
