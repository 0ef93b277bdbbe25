"""Audit: a leak is named, what is shown on purpose is counted, and a view that lies is caught."""

from dataclasses import replace

import numpy as np
import pytest

from factpin.errors import BadInput
from factpin.layers.masks import causal, full, order
from factpin.objectives import View, audit
from factpin.objectives.audit import layers_between
from factpin.objectives.tape import MARK, Tape, tape
from factpin.objectives.view import Stream, stream
from factpin.proofs.leaks import make


def swap(view: View, name: str, **changes) -> View:
    """The view with some fields of one stream changed."""
    return replace(view, streams={**view.streams, name: replace(view.streams[name], **changes)})


def test_a_leak_names_both_cells_and_the_layers_between_them() -> None:
    four = tape(np.array([10, 11, 12, 13]))
    content = stream(four, {"content": order(np.array([0, 1, 2, 3]), np.array([0, 2, 1, 3]))},
                     answers=np.array([1, -1, -1, -1]))  # fmt: skip
    assert audit(View(four.ids, {"content": content})).clean
    ring = order(np.arange(4), np.arange(4)) | order(np.array([3, -9, -9, -9]), np.array([9, 9, 9, 3]))
    found = audit(View(four.ids, {"content": replace(content, sees={"content": ring})}))
    assert [(leak.asked, leak.place, leak.shown, leak.layers) for leak in found.leaks] == [
        (("content", 0), 1, ("content", 1), 2)
    ]
    assert str(found) == "content cell 0 is asked for place 1, and 2 layers up it sees content cell 1"


def test_pieces_kept_on_purpose_are_counted_and_not_reported() -> None:
    for name in ("bert", "mass", "mpnet", "unilm_left"):
        found = [audit(make(name, index)) for index in range(30)]
        questions, kept = sum(a.questions for a in found), sum(a.kept for a in found)
        assert kept / questions == pytest.approx(0.1, abs=3 * (0.09 / questions) ** 0.5)
    assert "shown on purpose" in str(audit(make("bert")))


def test_a_kept_piece_that_is_not_declared_is_a_leak() -> None:
    view = next(v for v in (make("bert", i) for i in range(20)) if v.streams["content"].tape.free.any())
    row = view.streams["content"].tape
    found = audit(swap(view, "content", tape=Tape(row.ids, row.shows, np.zeros(len(row), np.bool_))))
    assert found.leaks and any(leak.layers == 0 for leak in found.leaks)


def test_spans_ask_their_two_neighbours() -> None:
    view = make("spanbert")
    assert audit(view).questions == sum(
        (one.answers >= 0).sum() for one in view.streams.values()
    ) + 2 * sum(int(end - start) for start, end in view.spans)  # fmt: skip


@pytest.mark.parametrize("name", ["bert", "mass", "t5", "glm_token", "mpnet"])
def test_a_cell_that_hides_what_it_shows_is_a_lie(name: str) -> None:
    view = make(name)
    asked_in = next(k for k in view.streams if (view.streams[k].answers >= 0).any())
    label = next(int(i) for i in view.labels(asked_in) if i >= 8 and i not in view.marks)
    first = next(iter(view.streams))
    row = view.streams[first].tape
    cell = int(np.flatnonzero(row.shows == MARK)[0])
    ids = row.ids.copy()
    ids[cell] = label
    found = audit(swap(view, first, tape=Tape(ids, row.shows, row.free)))
    assert not found.clean and f"{first} cell {cell} claims to show nothing" in str(found)


def test_a_cell_that_shows_another_place_than_it_claims_is_a_lie() -> None:
    view = make("gpt")
    row = view.streams["content"].tape
    found = audit(swap(view, "content", tape=Tape(row.ids, np.roll(row.shows, 1), row.free)))
    assert len(found.lies) == len(row) and not found.clean


def test_a_view_with_a_row_that_sees_nothing_cannot_be_made() -> None:
    with pytest.raises(BadInput, match=r"cells \[0\] see nothing"):
        stream_ = stream(tape(np.array([9, 10])), {"content": order(np.array([-1, 0]), np.array([0, 1]))})
        View(np.array([9, 10]), {"content": stream_})
    view = make("t5")
    decoder = view.streams["decoder"]
    some = order(-np.arange(len(decoder)), np.full(len(view.streams["encoder"]), -2))
    with pytest.raises(BadInput, match="decoder: the cells .* see nothing"):  # its own stream is no help there
        swap(view, "decoder", sees={**decoder.sees, "encoder": some})


def test_a_view_that_does_not_fit_together_is_refused() -> None:
    row = tape(np.array([9, 10]))
    with pytest.raises(BadInput, match="no such stream"):
        View(row.ids, {"content": stream(row, {"encoder": full(2)})})
    with pytest.raises(BadInput, match="another shape"):
        View(row.ids, {"content": stream(row, {"content": full(3)})})
    with pytest.raises(BadInput, match="asks for place 5 of 2"):
        View(row.ids, {"content": stream(row, {"content": full(2)}, answers=np.array([5, 0]))})
    with pytest.raises(BadInput, match="as many answers"):
        View(row.ids, {"content": Stream(row, {}, np.zeros(3), np.zeros((2, 1)), np.zeros(2))})


def test_layers_between_counts_the_shortest_way() -> None:
    chain = np.eye(5, dtype=bool) | np.eye(5, k=1, dtype=bool)
    assert layers_between(chain, np.array([0, 3])).tolist() == [[0, 1, 2, 3, 4], [-1, -1, -1, 0, 1]]
    assert layers_between(causal(4).dense(), np.array([3])).tolist() == [[1, 1, 1, 0]]
