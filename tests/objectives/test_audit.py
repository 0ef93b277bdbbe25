"""Audit: a leak is named, what is shown on purpose is counted, and a view that lies is caught."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from factpin.errors import BadInput
from factpin.layers.masks import causal, full, order
from factpin.objectives import View, audit
from factpin.objectives.audit import how_often, layers_between
from factpin.objectives.tape import MARK, NOISE, Tape, tape
from factpin.objectives.view import Stream, stream
from proofs.faults import Fault, bert_pieces_called_noise, mass_pieces_called_noise
from proofs.leaks import make
from proofs.world import VOCABULARY


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


@pytest.mark.parametrize(("name", "fault"), [("bert", bert_pieces_called_noise), ("mass", mass_pieces_called_noise)])
def test_pieces_asked_for_that_are_called_noise_are_a_lie(name: str, fault: Fault) -> None:
    for vocabulary, n in ((None, 48), (VOCABULARY, 48), (VOCABULARY, 20)):
        view = make(name, n=n)
        sound, found = audit(view, vocabulary), audit(fault(view), vocabulary)
        assert sound.clean
        assert not found.clean and found.alike == found.noise == found.questions and not found.leaks
        assert "claim to be drawn by chance" in str(found) and "chance does not explain that" in str(found)


def test_what_chance_draws_may_be_asked_for_now_and_then_and_is_counted() -> None:
    found = [audit(make("mass", index), VOCABULARY) for index in range(60)]
    assert all(one.clean for one in found)
    noise, alike = sum(one.noise for one in found), sum(one.alike for one in found)
    p = 24 / len(VOCABULARY.ordinary)
    assert alike > 0 and alike / noise == pytest.approx(p, abs=3 * (p / noise) ** 0.5)
    assert f"Of {found[0].noise} cells drawn by chance {found[0].alike} hold what is asked for." in str(found[0])


def test_the_copies_of_one_draw_count_once() -> None:
    """MPNet shows a draw twice: one piece that chance hit is no proof of anything, however often it occurs there."""
    view = next(v for v in (make("mpnet", i) for i in range(40)) if (v.streams["query"].tape.shows == NOISE).any())
    label = int(view.labels("query")[0])
    for name in ("content", "query"):
        row = view.streams[name].tape
        ids = np.where(row.shows == NOISE, label, row.ids)
        view = swap(view, name, tape=Tape(ids, row.shows, row.free))
    found = audit(view, VOCABULARY)
    assert found.clean and found.alike == found.noise >= 2


def test_how_often_counts_all_ways_to_draw() -> None:
    drawn = [set(draw) for draw in combinations(range(9), 4)]
    for hits in range(5):
        assert how_often(hits, 4, 3, 9) == pytest.approx(np.mean([len(one & {0, 1, 2}) >= hits for one in drawn]))


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
