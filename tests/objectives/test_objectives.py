"""One body of tests over the whole table: every entry is audited."""

import pickle
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from factpin.errors import BadInput
from factpin.layers.masks import full
from factpin.objectives import MIXTURES, OBJECTIVES, STAGES, Text, View, Vocabulary, audit
from factpin.objectives.audit import graph, layers_between
from factpin.objectives.glm import GLM
from factpin.objectives.gpt import behind_memory, left_to_right
from factpin.objectives.mass import MASS
from factpin.objectives.mpnet import MPNet
from factpin.objectives.objective import Declare
from factpin.objectives.palm import Continue
from factpin.objectives.spoil import Rates
from factpin.objectives.t5 import T5
from factpin.objectives.tape import MARK
from factpin.objectives.text import Chance
from factpin.objectives.xlnet import XLNet
from proofs.world import VOCABULARY, text
from tests.objectives.network import LAYERS, log_p, states

EACH = pytest.mark.parametrize("name", OBJECTIVES)


def make(name: str, x: Text, index: int = 0, *, epoch: int = 0) -> View:
    return OBJECTIVES[name].view(x, VOCABULARY, seed=3, epoch=epoch, index=index)


def same(one: View, other: View) -> bool:
    """Whether two views are equal in everything that a network gets."""
    columns = lambda s: (s.tape.ids, s.positions, s.segments, *(spec.dense() for spec in s.sees.values()))  # noqa: E731
    return (
        list(one.streams) == list(other.streams)
        and one.pair == other.pair
        and np.array_equal(one.spans, other.spans)
        and all(np.array_equal(one.labels(k), other.labels(k)) for k in one.streams)
        and all(
            np.array_equal(a, b)
            for k in one.streams
            for a, b in zip(columns(one.streams[k]), columns(other.streams[k]), strict=True)
        )
    )


@EACH
def test_nothing_asked_for_can_be_read_off(name: str) -> None:
    asked = 0
    for index in range(25):
        found = audit(make(name, text(40 + index, index, before=5), index))
        assert found.clean, str(found)
        asked += found.questions
    assert asked > 0


@EACH
def test_labels_are_pieces_of_the_text_or_marks(name: str) -> None:
    for index in range(10):
        x = text(60, index, before=5)
        view = make(name, x, index)
        pieces = set(x.ids.tolist()) | set(x.foreign.ids.tolist())
        labels = np.concatenate([view.labels(k) for k in view.streams])
        asked = set(labels[labels >= 0].tolist())
        assert asked <= pieces | view.marks
        assert view.marks <= VOCABULARY.specials
        for one in view.streams.values():
            shown = one.tape.shows >= 0
            assert np.array_equal(one.tape.ids[shown], view.text[one.tape.shows[shown]])


@EACH
def test_special_tokens_are_never_chosen_but_the_stop_of_unilm(name: str) -> None:
    for index in range(10):
        view = make(name, text(50, index), index)
        for one in view.streams.values():
            own = (one.answers >= 0) & (one.answers == one.tape.shows)
            chosen = set(one.tape.ids[own].tolist()) & VOCABULARY.specials
            assert chosen <= ({VOCABULARY.sep} if name == "unilm_sequence" else set())
            marks = one.tape.ids[one.tape.shows == MARK]
            assert np.isin(marks, list(VOCABULARY.specials)).all()


@EACH
def test_seed_epoch_and_index_fix_the_view(name: str) -> None:
    x = text(60, 1, before=4)
    assert same(make(name, x, 7, epoch=2), make(name, x, 7, epoch=2))
    elsewhere = pickle.loads(pickle.dumps(OBJECTIVES[name]))  # a worker process has the same rows
    assert same(make(name, x, 7, epoch=2), elsewhere.view(x, VOCABULARY, seed=3, epoch=2, index=7))
    fixed = name in ("gpt", "transformer", "transformer_xl")
    for others in ([make(name, x, i, epoch=2) for i in range(5)], [make(name, x, 7, epoch=i) for i in range(3, 8)]):
        assert all(same(make(name, x, 7, epoch=2), other) for other in others) == fixed


@EACH
def test_an_empty_text_and_a_single_piece_are_refused(name: str) -> None:
    for n in (0, 1):
        x = Text(np.arange(8, 8 + n), np.arange(n), np.arange(1, n + 1))
        assert not OBJECTIVES[name].fits(x)
        with pytest.raises(BadInput, match="skip the text"):
            make(name, x)


@EACH
def test_the_shortest_text_that_fits_is_enough(name: str) -> None:
    objective = OBJECTIVES[name]
    n = max(objective.pieces, objective.sentences)
    ends = np.append(np.arange(1, objective.sentences), n)
    columns = {"phrases": np.arange(n), "entities": np.arange(n)}
    x = Text(np.arange(8, 8 + n), np.arange(n), ends, **columns, foreign=text(9, foreign=False))
    assert objective.fits(x)
    for index in range(30):
        found = audit(make(name, x, index))
        assert found.clean, str(found)


@EACH
def test_a_network_depends_on_exactly_what_the_audit_says(name: str) -> None:
    view = make(name, text(14, 5, before=3), 1)
    cells, sees = graph(view)
    depth = layers_between(sees, np.arange(len(cells)))
    before = states(view)
    for c, cell in enumerate(cells):
        after = states(view, cell)
        moved = np.concatenate([np.abs(after[k] - before[k]).max(axis=1, initial=0) for k in view.streams]) > 0
        assert np.array_equal(moved, (depth[:, c] >= 0) & (depth[:, c] <= LAYERS)), cell


def test_a_long_text_has_as_many_blanks_as_there_are_sentinels_and_asks_for_its_share() -> None:
    x = text(2000, 1)
    view = make("t5", x)
    source, asked = view.streams["encoder"].tape.ids, view.streams["decoder"].answers
    assert np.isin(source, VOCABULARY.sentinels).sum() == len(VOCABULARY.sentinels) - 1
    assert (asked < len(x)).sum() == 300


def test_unilm_is_asked_for_its_stop_as_often_as_for_a_piece() -> None:
    stops = pieces = cells = 0
    for index in range(400):
        view = make("unilm_sequence", replace(text(24, index), ends=np.array([10, 24])), index)
        labels = view.labels("content")
        assert not (labels[:-1] == VOCABULARY.sep).any()
        stops += int(labels[-1] == VOCABULARY.sep)
        pieces, cells = pieces + int((labels[:-1] >= 0).sum()), cells + 24
    share = pieces / cells
    assert stops / 400 == pytest.approx(share, abs=3 * (share * (1 - share) / 400) ** 0.5)


def test_mixtures_and_stages_name_rows_of_the_table() -> None:
    for rows in (*MIXTURES.values(), *STAGES.values()):
        assert all(row in OBJECTIVES for row in rows)
    assert list(OBJECTIVES) == sorted(OBJECTIVES)


@EACH
def test_every_loss_has_its_stream_and_every_label_its_loss(name: str) -> None:
    view = make(name, text(60, 2, before=4))
    losses = OBJECTIVES[name].losses
    assert {loss.stream for loss in losses} <= set(view.streams)
    asked = {k for k, one in view.streams.items() if (one.answers >= 0).any()}
    assert asked == {loss.stream for loss in losses if loss.head in ("words", "copy")}
    assert (view.pair >= 0) == any(loss.head == "pair" for loss in losses)
    assert view.pair < OBJECTIVES[name].classes
    assert bool(len(view.spans)) == any(loss.head == "boundary" for loss in losses)


ALL_MASKED = Rates(1.0, 0.0)
FACTORED = {
    "glm": (GLM(), "content"),
    "gpt": (left_to_right, "content"),
    "mass": (MASS(rates=ALL_MASKED), "decoder"),
    "mpnet": (MPNet(rates=ALL_MASKED), "query"),
    "t5": (T5(), "decoder"),
    "transformer": (Continue(0.5, None), "decoder"),
    "transformer_xl": (behind_memory, "content"),
    "xlnet": (XLNet(), "query"),
}


def sum_over_fillings(declare: Declare, asked_in: str, n: int) -> float:
    """Σ Π p(piece | what its cell may see), over all ways to fill the places asked for with three ids."""
    ids, total = [8, 9, 10], 0.0
    base = text(n, 3, ids=np.full(n, 8), before=3)
    answers = declare(base, VOCABULARY, np.random.default_rng(4)).streams[asked_in].answers
    places = answers[(answers >= 0) & (answers < n)]
    assert 2 <= len(places) <= 6
    for filling in product(ids, repeat=len(places)):
        filled = base.ids.copy()
        filled[places] = filling
        x = text(n, 3, ids=filled, before=3)
        total += np.exp(log_p(declare(x, VOCABULARY, np.random.default_rng(4)), asked_in, ids))
    return total


@pytest.mark.parametrize("name", FACTORED)
def test_the_probabilities_of_all_fillings_sum_to_one(name: str) -> None:
    """Each factor sees only what was said before it: else the product over all fillings is no distribution."""
    n = {"glm": 12, "mpnet": 18, "t5": 18, "xlnet": 18}.get(name, 6)
    assert sum_over_fillings(*FACTORED[name], n) == pytest.approx(1, abs=1e-12)


def test_a_model_that_sees_what_it_is_asked_sums_to_something_else() -> None:
    def open_gpt(x: Text, vocabulary: Vocabulary, chance: Chance) -> View:
        view = left_to_right(x, vocabulary, chance)
        return replace(view, streams={"content": replace(view.streams["content"], sees={"content": full(len(x))})})

    assert abs(sum_over_fillings(open_gpt, "content", 6) - 1) > 1e-3
