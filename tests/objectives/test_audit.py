"""Audit: views that leak, each in the way of a known fault, are caught; the proof counts what is shown on purpose."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from factpin.errors import BadInput
from factpin.layers.masks import FAR, causal, full, later, order, prefix
from factpin.objectives import OBJECTIVES, View, audit
from factpin.objectives.audit import layers_between
from factpin.objectives.tape import MARK, Tape, mark, tape
from factpin.objectives.view import Stream, stream
from tests.objectives.world import VOCABULARY, text


def make(name: str, index: int = 0, n: int = 48) -> View:
    return OBJECTIVES[name].view(text(n, index, before=6), VOCABULARY, seed=0, epoch=0, index=index)


def swap(view: View, name: str, **changes) -> View:
    """The view with some fields of one stream changed."""
    return replace(view, streams={**view.streams, name: replace(view.streams[name], **changes)})


def gpt_that_sees_everything(view: View) -> View:
    n = len(view.streams["content"])
    return swap(view, "content", sees={"content": full(n)})


def gpt_without_shift(view: View) -> View:
    return swap(view, "content", answers=np.arange(len(view.streams["content"])))


def mpnet_query_that_sees_itself(view: View) -> View:
    b = len(view.streams["query"])
    a = len(view.streams["content"]) - 2 * b
    know, nth = 1 + np.arange(b), np.arange(1, b + 1)
    pieces = np.concatenate([np.zeros(a, np.int64), nth, np.full(b, FAR)])
    masks = np.concatenate([np.full(a + b, -FAR), nth])
    return swap(view, "query", sees={"content": order(know, pieces) | later(know - 1, masks)})


def mpnet_masks_that_see_targets(view: View) -> View:
    content = view.streams["content"]
    b = len(view.streams["query"])
    opened = np.where(np.arange(len(content)) >= len(content) - b, 0, FAR)
    return swap(view, "content", sees={"content": content.sees["content"] | order(-opened, np.zeros(len(content)))})


def xlnet_context_that_sees_targets(view: View) -> View:
    n = len(view.streams["content"])
    return swap(view, "content", sees={**view.streams["content"].sees, "content": full(n)})


def xlnet_with_open_special_columns(view: View) -> View:
    """Only target columns are blocked, as in a public collator: special tokens see targets, and everybody sees them."""
    content, query = view.streams["content"], view.streams["query"]
    closed = np.where(content.tape.shows >= 0, FAR, 0)  # 0: a special token
    opened = content.sees["content"] | order(np.zeros(len(content), np.int64), closed)
    seen = query.sees["content"] | order(np.zeros(len(query), np.int64), closed)
    view = swap(view, "content", sees={**content.sees, "content": opened})
    return swap(view, "query", sees={**query.sees, "content": seen})


def xlnet_memory_of_the_present(view: View) -> View:
    """The memory holds the last pieces of the window it is used for."""
    places = view.streams["query"].answers[: len(view.streams["memory"])]
    kept = Tape(view.text[places], places, np.zeros(len(places), np.bool_))
    return swap(view, "memory", tape=kept)


def mass_masked_one_too_late(view: View) -> View:
    """The encoder hides the right number of pieces, one place to the right of those asked for."""
    asked = view.streams["decoder"].answers
    row = mark(VOCABULARY.cls) + tape(view.text) + mark(VOCABULARY.sep)
    ids, shows = row.ids.copy(), row.shows.copy()
    late = np.minimum(asked + 1, len(view.text) - 1) + 1
    ids[late], shows[late] = VOCABULARY.mask, MARK
    return swap(view, "encoder", tape=Tape(ids, shows, row.free))


def t5_source_that_keeps_a_blank(view: View) -> View:
    source = mark(VOCABULARY.sentinels[0]) + tape(view.text[:48]) + mark(VOCABULARY.end)
    decoder = view.streams["decoder"]
    seen = {**decoder.sees, "encoder": full(len(decoder), len(source))}
    return replace(view, streams={"encoder": stream(source, {"encoder": full(len(source))}),
                                  "decoder": replace(decoder, sees=seen)})  # fmt: skip


def glm_blanks_that_see_each_other(view: View) -> View:
    n = len(view.streams["content"])
    return swap(view, "content", sees={"content": prefix(n, n)})


def decoder_that_sees_one_ahead(view: View) -> View:
    decoder = view.streams["decoder"]
    at = np.arange(len(decoder))
    return swap(view, "decoder", sees={**decoder.sees, "decoder": order(at + 1, at)})


FAULTS = [
    ("gpt", gpt_that_sees_everything),
    ("gpt", gpt_without_shift),
    ("transformer_xl", gpt_without_shift),
    ("mpnet", mpnet_query_that_sees_itself),
    ("mpnet", mpnet_masks_that_see_targets),
    ("xlnet", xlnet_context_that_sees_targets),
    ("xlnet", xlnet_with_open_special_columns),
    ("xlnet", xlnet_memory_of_the_present),
    ("mass", mass_masked_one_too_late),
    ("t5", t5_source_that_keeps_a_blank),
    ("glm_token", glm_blanks_that_see_each_other),
    ("glm_document", glm_blanks_that_see_each_other),
    ("bart", decoder_that_sees_one_ahead),
    ("mass", decoder_that_sees_one_ahead),
    ("palm_continue", decoder_that_sees_one_ahead),
    ("pegasus", decoder_that_sees_one_ahead),
    ("t5", decoder_that_sees_one_ahead),
]


@pytest.mark.parametrize(("name", "fault"), FAULTS)
def test_a_known_fault_is_caught(name: str, fault: Callable[[View], View]) -> None:
    caught = 0
    for index in range(10):
        view = make(name, index)
        assert audit(view).clean
        caught += bool(audit(fault(view)).leaks)
    assert caught >= 9  # a target that is last in its order gives nothing away


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
