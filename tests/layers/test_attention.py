"""Attention against loops over its equations, one query, key and head at a time, in double precision."""

import pytest
import torch
from torch import Tensor

from factpin.errors import BadInput
from factpin.layers.attention import Attention, RelativePositions
from factpin.layers.positions import distances, functional, sinusoid

B, Q, K, D, HEADS = 2, 3, 5, 8, 2
d = D // HEADS


def stirred(kind: str, *, scaled: bool = True) -> Attention:
    torch.manual_seed(0)
    made = Attention(D, HEADS, kind=kind, scaled=scaled).double().eval()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.normal_()
    return made


def given() -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(1)
    allowed = torch.rand(B, Q, K) < 0.6
    allowed[..., 0] = True
    return torch.randn(B, Q, D).double(), torch.randn(B, K, D).double(), allowed


def by_loops(made: Attention, x: Tensor, keys: Tensor, allowed: Tensor, added, value) -> Tensor:
    """`added(q, h, b, i, j)` joins the score of a pair, `value(j - i offset vector)` the value of a key."""
    q, k, v = made.q(x), made.k(keys), made.v(keys)
    out = torch.zeros_like(x)
    for b in range(B):
        for i in range(Q):
            for h in range(HEADS):
                part = slice(h * d, (h + 1) * d)
                seen = [j for j in range(K) if allowed[b, i, j]]
                s = torch.stack(
                    [q[b, i, part] @ k[b, j, part] + added(q[b, i, part], k[b, j, part], h, b, i, j) for j in seen]
                )
                p = torch.softmax(s * made.scale, dim=0)
                out[b, i, part] = sum(p[n] * (v[b, j, part] + value(b, i, j)) for n, j in enumerate(seen))
    return made.out(out)


@pytest.mark.parametrize("weigh", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
@torch.no_grad()
def test_plain_attention_with_a_bias_is_its_definition(weigh: bool, scaled: bool) -> None:
    made, (x, keys, allowed) = stirred("plain", scaled=scaled), given()
    bias = torch.randn(B, HEADS, Q, K).double()
    right = by_loops(made, x, keys, allowed, lambda q, k, h, b, i, j: bias[b, h, i, j] / made.scale, lambda *_: 0)
    found, p = made(x, keys, allowed, RelativePositions(bias=bias), weigh=weigh)
    assert torch.allclose(found, right, atol=1e-12)
    assert (p is not None) == weigh
    if p is not None:
        assert torch.allclose(p.sum(dim=-1), torch.ones(B, HEADS, Q).double())
        assert not p.transpose(0, 1)[:, ~allowed].any()


@pytest.mark.parametrize("by", ["shift", "index"])
@pytest.mark.parametrize("segments", [False, True])
@torch.no_grad()
def test_relative_attention_is_its_definition(by: str, segments: bool) -> None:
    made, (x, keys, allowed) = stirred("relative"), given()
    at = distances(Q, K, "both")
    R = sinusoid(at, D, "concatenated", torch.float64)
    differ = torch.randint(0, 2, (B, Q, K)) if segments else None
    where = {int(one): r for r, one in enumerate(at)}
    distance = torch.arange(Q)[:, None] + K - Q - torch.arange(K)
    index = torch.tensor([[where[int(one)] for one in row] for row in distance]).expand(B, Q, K)

    def added(q: Tensor, k: Tensor, h: int, b: int, i: int, j: int) -> Tensor:
        r = made.r(R[where[int(distance[i, j])]])[h * d : (h + 1) * d]
        s = made.u[h, 0] @ k + (q + made.v_r[h, 0]) @ r
        return s if differ is None else s + (q + made.w[h, 0]) @ made.g[h, differ[b, i, j]]

    relation = RelativePositions(table=R, index=index if by == "index" else None, ways="both", differ=differ)
    found, _ = made(x, keys, allowed, relation)
    assert torch.allclose(found, by_loops(made, x, keys, allowed, added, lambda *_: 0), atol=1e-12)


@torch.no_grad()
def test_functional_attention_is_its_definition() -> None:
    made, (x, keys, allowed) = stirred("functional"), given()
    limit = 2
    a = functional(d, limit, torch.float64)
    ahead = (torch.arange(K) - torch.arange(Q)[:, None]).clamp(-limit, limit) + limit
    relation = RelativePositions(table=a, index=ahead.expand(B, Q, K))
    found, _ = made(x, keys, allowed, relation)
    right = by_loops(
        made, x, keys, allowed, lambda q, k, h, b, i, j: q @ a[ahead[i, j]], lambda b, i, j: a[ahead[i, j]]
    )
    assert torch.allclose(found, right, atol=1e-12)
    with pytest.raises(BadInput, match="needs a table and an index"):
        RelativePositions(table=a).gather(torch.ones(B, HEADS, Q, K))


@pytest.mark.parametrize("kind", ["plain", "relative", "functional"])
@torch.no_grad()
def test_what_may_not_be_seen_moves_nothing(kind: str) -> None:
    made, (x, keys, allowed) = stirred(kind), given()
    table = functional(d, 2, torch.float64) if kind == "functional" else sinusoid(distances(Q, K, "both"), D).double()
    relation = None if kind == "plain" else RelativePositions(table=table, index=torch.randint(0, 5, (B, Q, K)))
    before, _ = made(x, keys, allowed, relation)
    for j in range(1, K):
        other = keys.clone()
        other[:, j] += 1
        moved = (made(x, other, allowed, relation)[0] - before).abs().amax(dim=-1) > 0
        assert torch.equal(moved, allowed[..., j])
