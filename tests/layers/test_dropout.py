import pytest
import torch
from torch import nn

from factpin.encoders.small import small_encoder
from factpin.layers.dropout import Dropout, drawn, dropout
from factpin.tokens.small import build_tokenizer

WORDS = [f"w{i}" for i in range(15)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_a_share_p_is_hidden_and_the_mean_stays(p, dtype):
    torch.manual_seed(0)
    out = dropout(torch.ones(500, 1001, dtype=dtype), p)
    hidden = (out == 0).double().mean().item()
    assert hidden == pytest.approx(p, abs=5 * (p * (1 - p) / out.numel()) ** 0.5)
    kept = out[out != 0]
    assert kept.min() == kept.max()
    assert kept[0].item() == pytest.approx(1 / (1 - p), rel=1e-2 if dtype == torch.bfloat16 else 2e-4)


def test_every_bit_of_a_draw_is_as_often_set_as_not():
    torch.manual_seed(0)
    numbers = drawn(400_000).view(-1, 4).int() & 0xFFFF  # the four parts of a draw, each on its own
    for bit in range(16):
        share = ((numbers >> bit) & 1).double().mean(dim=0)
        assert (share - 0.5).abs().max() < 5 * 0.5 / 100_000**0.5


def test_neighbours_are_hidden_independently():
    torch.manual_seed(0)
    hidden = (dropout(torch.ones(1_000_000), 0.1) == 0).double()
    for distance in (1, 2, 3, 4, 8):
        both = (hidden[distance:] * hidden[:-distance]).mean().item()
        assert both == pytest.approx(0.01, abs=5e-4)


def test_the_gradient_is_hidden_where_the_number_was():
    torch.manual_seed(0)
    x = torch.randn(64, 33, dtype=torch.float64, requires_grad=True)
    out = dropout(x, 0.3)
    out.backward(torch.ones_like(out))
    torch.testing.assert_close(x.grad, (out / x).detach())


def test_a_seed_decides_and_evaluation_hides_nothing():
    layer, x = Dropout(0.2), torch.randn(10, 10)
    torch.manual_seed(3)
    one = layer(x)
    torch.manual_seed(3)
    assert torch.equal(one, layer(x))
    assert not torch.equal(one, layer(x))
    assert torch.equal(layer.eval()(x), x)


@pytest.mark.parametrize("p", [0.0, 1.0, 1e-9])
def test_the_ends(p):
    out = Dropout(p)(torch.ones(7))
    assert torch.equal(out, torch.zeros(7) if p == 1.0 else torch.ones(7))


def test_an_encoder_has_no_other_and_its_attention_drops_as_often(monkeypatch):
    encoder = small_encoder(20, layers=1, tokenizer=build_tokenizer(WORDS))
    assert all(type(m) is not nn.Dropout for m in encoder.modules())
    rates = []
    monkeypatch.setattr("factpin.encoders.rows.dropout", lambda p, rate: rates.append(rate) or p)
    encoder.train()
    ids, mask = encoder.batch([encoder.frame(torch.arange(5, 9).numpy())[0]] * 2)
    encoder(ids, mask)
    assert rates == [encoder.config.attention_probs_dropout_prob]
    encoder.eval()
    encoder(ids, mask)
    assert len(rates) == 1


def test_attention_in_training_is_that_of_evaluation_but_for_the_dropout(monkeypatch):
    encoder = small_encoder(20, layers=2, tokenizer=build_tokenizer(WORDS))
    for one in encoder.modules():
        if isinstance(one, Dropout):
            monkeypatch.setattr(one, "forward", lambda x: x)
    monkeypatch.setattr("factpin.encoders.rows.dropout", lambda p, rate: p)
    ids, mask = encoder.batch([encoder.frame(torch.arange(5, n).numpy())[0] for n in (8, 13)])
    encoder.eval()
    expected = encoder(ids, mask).hidden
    encoder.train()
    got = encoder(ids, mask).hidden
    torch.testing.assert_close(got[mask], expected[mask], atol=1e-5, rtol=1e-5)
