"""Windows merged: one window is left as it is, several are the loops of the definition."""

import numpy as np
import pytest
import torch
from torch import Tensor

from factpin.encoders import small_encoder
from factpin.encoders.merge_windows import WindowLayout, merge_hidden, merge_rows, rows_of
from factpin.tokens import Pieces, Window, windows
from factpin.tokens.small import build_tokenizer

D, HEADS, PREFIX, SUFFIX = 4, 3, 2, 1


def pieces(n: int) -> Pieces:
    start = np.arange(n, dtype=np.int32)
    return Pieces("x" * n, start + 5, start, start + 1, np.zeros(n, np.bool_))


def layout(n: int, size: int, overlap: int) -> WindowLayout:
    return WindowLayout(tuple(windows(pieces(n), [(0, n)], size, overlap)), n, PREFIX, SUFFIX)


def window_states(plan: WindowLayout) -> list[Tensor]:
    torch.manual_seed(0)
    n = max(len(w) for w in plan.windows) + PREFIX + SUFFIX + 2  # padding behind
    return list(torch.randn(len(plan.windows), n, D, dtype=torch.float64))


def place_of(plan: WindowLayout, window: Window, token: int) -> int | None:
    """Where a token of a window is in the document."""
    if token < PREFIX:
        return token if window.first == 0 else None
    if token >= PREFIX + len(window):
        return window.first + token if window.last == plan.pieces and token < PREFIX + len(window) + SUFFIX else None
    return window.first + token


@pytest.mark.parametrize(("n", "size", "overlap"), [(20, 8, 3), (20, 8, 7), (21, 20, 4), (9, 9, 2), (5, 9, 2)])
def test_hidden_states_are_the_mean_over_the_windows_that_read_a_token(n: int, size: int, overlap: int) -> None:
    plan = layout(n, size, overlap)
    states = window_states(plan)
    merged = merge_hidden(states, plan)
    assert merged.shape == (n + PREFIX + SUFFIX, D)
    for at in range(len(merged)):
        seen = [
            states[k][token]
            for k, w in enumerate(plan.windows)
            for token in range(PREFIX + len(w) + SUFFIX)
            if place_of(plan, w, token) == at
        ]
        torch.testing.assert_close(merged[at], torch.stack(seen).mean(0), atol=1e-14, rtol=0)


@pytest.mark.parametrize(("n", "size", "overlap"), [(20, 8, 3), (20, 8, 7), (21, 20, 4), (9, 9, 2)])
def test_rows_are_summed_over_windows_and_divided_by_their_sum(n: int, size: int, overlap: int) -> None:
    plan = layout(n, size, overlap)
    chosen = torch.tensor([n - 1, 0, 4, 7, 7])
    wanted = rows_of(plan, chosen)
    length = max(len(w) for w in plan.windows) + PREFIX + SUFFIX
    torch.manual_seed(0)
    attention = torch.rand(len(wanted.window), HEADS, length, dtype=torch.float64)
    if plan.whole:
        assert torch.equal(merge_rows(attention, wanted, plan, 5).dense(), attention)
        return
    merged = merge_rows(attention, wanted, plan, 5).dense()
    assert merged.shape == (5, HEADS, n + PREFIX + SUFFIX)
    for m, piece in enumerate(chosen.tolist()):
        total = torch.zeros(HEADS, n + PREFIX + SUFFIX, dtype=torch.float64)
        for row in range(len(wanted.window)):
            window = plan.windows[int(wanted.window[row])]
            if int(wanted.chosen[row]) != m:
                continue
            assert int(wanted.token[row]) - PREFIX + window.first == piece
            for token in range(PREFIX + len(window) + SUFFIX):
                at = place_of(plan, window, token)
                if at is not None:
                    total[:, at] += attention[row, :, token]
        torch.testing.assert_close(merged[m], total / total.sum(1, keepdim=True), atol=1e-14, rtol=0)


def test_every_window_that_holds_a_piece_is_asked_for_its_row() -> None:
    plan = layout(20, 8, 3)
    wanted = rows_of(plan, torch.arange(20))
    for piece in range(20):
        holders = [k for k, w in enumerate(plan.windows) if w.first <= piece < w.last]
        assert wanted.window[wanted.chosen == piece].tolist() == holders and holders
    items = [7 + k for k in range(len(plan.windows))]
    assert torch.equal(wanted.of(items), torch.stack((wanted.window + 7, wanted.token), 1))


def test_a_piece_that_no_window_reads_has_a_row_of_zeros() -> None:
    full = layout(20, 8, 3)
    plan = WindowLayout(full.windows[:-1], 20, PREFIX, SUFFIX)
    wanted = rows_of(plan, torch.tensor([19, 2]))
    assert wanted.chosen.tolist() == [1]
    rows = torch.rand(1, HEADS, 8 + PREFIX + SUFFIX, requires_grad=True)
    merged = merge_rows(rows, wanted, plan, 2).dense()
    assert torch.equal(merged[0], torch.zeros_like(merged[0])) and merged[1].sum() > 0
    merged[0].sum().backward()
    assert rows.grad.isfinite().all()
    hidden = merge_hidden(window_states(plan), plan)
    assert hidden.isfinite().all() and (hidden[-1] == 0).all()


@pytest.fixture(scope="module")
def text() -> str:
    return "谷爱凌出生于美国加利福尼亚州旧金山。Hello world, the café in Zürich."


def test_a_text_that_fits_is_as_the_encoder_says(text: str) -> None:
    tokenizer = build_tokenizer([text], 100)
    torch.manual_seed(0)
    encoder = small_encoder(tokenizer.vocab_size, width=16, max_length=64, tokenizer=tokenizer).eval()
    cut = tokenizer.encode(text)
    plan = WindowLayout(
        tuple(windows(cut, [(0, len(text))], 62, 8)), len(cut), len(tokenizer.prefix), len(tokenizer.suffix)
    )
    assert plan.whole
    chosen = torch.tensor([3, 0, 9])
    wanted = rows_of(plan, chosen)
    ids, mask = encoder.batch([encoder.frame(cut.ids)[0], encoder.frame(cut.ids[:5])[0]])
    with torch.no_grad():
        encoded = encoder(ids, mask, wanted.of([0]))
        alone = encoder(ids[:1], mask[:1], torch.tensor([[0, 4], [0, 1], [0, 10]]))
    torch.testing.assert_close(merge_hidden(list(encoded.hidden[:1]), plan), alone.hidden[0], atol=1e-6, rtol=0)
    torch.testing.assert_close(
        merge_rows(encoded.attention, wanted, plan, 3).dense(), alone.attention, atol=1e-6, rtol=0
    )


def test_gradients_reach_every_window(text: str) -> None:
    plan = layout(20, 8, 3)
    states = [x.requires_grad_() for x in window_states(plan)]
    wanted = rows_of(plan, torch.arange(20))
    rows = torch.rand(len(wanted.window), HEADS, 8 + PREFIX + SUFFIX, requires_grad=True)
    (merge_hidden(states, plan).square().sum() + merge_rows(rows, wanted, plan, 20).dense().square().sum()).backward()
    assert all(x.grad.abs().sum() > 0 for x in states) and (rows.grad.abs().sum((1, 2)) > 0).all()
