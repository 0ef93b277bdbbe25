"""Events under every convention."""

from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factpin.documents import Argument, Document, Event, Mention
from factpin.scoring import events
from factpin.scoring.counts import Counts, total
from tests.events_corpus import corpus
from tests.scoring import make

TEXT = "Ann hired Bob and Cid in Rome; Ann fired Bob."
ANN, HIRED, BOB, CID, ROME, ANN2, FIRED, BOB2 = (
    (0, 3), (4, 9), (10, 13), (18, 21), (25, 29), (31, 34), (35, 40), (41, 44),
)  # fmt: skip
Place = tuple[int, int]


def doc(*told: tuple[str, Place | None, dict[str, Place] | list[tuple[str, Place]]], scores: tuple = ()) -> Document:
    """A document with these events (type, trigger, arguments)."""
    mentions: dict[Place, Mention] = {}

    def id(place: Place) -> str:
        return mentions.setdefault(place, Mention(f"m{len(mentions)}", *place, TEXT[slice(*place)])).id

    made = []
    for k, (type, trigger, arguments) in enumerate(told):
        pairs = arguments.items() if isinstance(arguments, dict) else arguments
        own = tuple(Argument(role, id(place)) for role, place in pairs)
        made.append(Event(f"v{k}", type, trigger and id(trigger), own, scores[k] if scores else None))
    return Document("d", TEXT, mentions=tuple(mentions.values()), events=tuple(made))


def totals(gold: Document, predicted: Document) -> dict[str, Counts]:
    return {name: total(rows) for name, rows in events.score(make.pair(gold, predicted)).rows.items()}


HIRE = ("Hire", HIRED, {"by": ANN, "who": BOB, "where": ROME})
FIRE = ("Fire", FIRED, {"by": ANN2, "who": BOB2})


def test_gold_against_itself_is_right_under_every_convention() -> None:
    for gold in (doc(HIRE, FIRE), *corpus(11, 0)):
        found = totals(gold, gold)
        assert all(c.fp == c.fn == 0 for c in found.values()) and tuple(found) == events.CONVENTIONS
    assert totals(doc(HIRE, FIRE), doc(HIRE, FIRE)) == {
        "strict": Counts(tp=7), "trigger": Counts(tp=2), "argument": Counts(tp=5), "text": Counts(tp=5),
        "event": Counts(tp=2),
    }  # fmt: skip


def test_a_wrong_argument_costs_itself_and_the_whole_event() -> None:
    found = totals(doc(HIRE, FIRE), doc(("Hire", HIRED, {"by": ANN, "who": CID, "where": ROME}), FIRE))
    assert found["strict"] == Counts(6, 1, 1) and found["argument"] == Counts(4, 1, 1)
    assert found["trigger"] == Counts(tp=2) and found["event"] == Counts(1, 1, 1)


def test_another_place_with_the_same_text_is_right_by_text_alone() -> None:
    found = totals(doc(HIRE), doc(("Hire", HIRED, {"by": ANN2, "who": BOB, "where": ROME})))
    assert found["strict"] == Counts(3, 1, 1) and found["argument"] == Counts(2, 1, 1)
    assert found["text"] == Counts(tp=3) and found["event"] == Counts(0, 1, 1)


def test_a_wrong_type_makes_everything_wrong() -> None:
    found = totals(doc(HIRE), doc(("Fire", *HIRE[1:])))
    assert found["strict"] == Counts(0, 4, 4) and found["trigger"] == Counts(0, 1, 1)
    assert found["argument"] == found["text"] == Counts(0, 3, 3)


def test_a_wrong_trigger_costs_strict_and_trigger_but_no_argument() -> None:
    found = totals(doc(HIRE), doc(("Hire", FIRED, HIRE[2])))
    assert found["strict"] == Counts(3, 1, 1) and found["trigger"] == Counts(0, 1, 1)
    assert found["argument"] == Counts(tp=3) and found["event"] == Counts(0, 1, 1)


TWO = (("Hire", HIRED, {"by": ANN, "who": BOB}), ("Hire", HIRED, {"by": ANN, "who": CID}))


def test_events_that_were_run_together_cost_strict_but_not_argument() -> None:
    found = totals(doc(*TWO), doc(("Hire", HIRED, [("by", ANN), ("who", BOB), ("who", CID)])))
    assert found["argument"] == found["text"] == Counts(tp=3) and found["trigger"] == Counts(tp=1)
    assert found["strict"] == Counts(tp=3, fp=1, fn=3) and found["event"] == Counts(0, 1, 2)


def test_arguments_that_changed_places_between_events_are_right_only_regardless_of_the_event() -> None:
    gold = doc(("Hire", HIRED, {"by": ANN, "who": BOB}), ("Hire", FIRED, {"by": ANN2, "who": BOB2}))
    swapped = doc(("Hire", HIRED, {"by": ANN, "who": BOB2}), ("Hire", FIRED, {"by": ANN2, "who": BOB}))
    found = totals(gold, swapped)
    assert found["argument"] == Counts(tp=4) and found["strict"] == Counts(4, 2, 2)
    confusions = events.score(make.pair(gold, swapped)).confusions
    assert [(c.kind, c.gold, c.predicted, c.count) for c in confusions] == [("event", "Hire.who", "Hire.who", 2)]


def test_equal_events_and_equal_arguments_count_once() -> None:
    twice = doc(TWO[0], TWO[0], ("Hire", HIRED, [("by", ANN), ("who", BOB), ("who", BOB)]))
    assert totals(doc(TWO[0]), twice) == totals(doc(TWO[0]), doc(TWO[0]))


def test_an_argument_that_is_an_event_stands_at_its_trigger() -> None:
    gold = doc(FIRE, ("Report", HIRED, {}))
    nested = replace(gold, events=(gold.events[0], replace(gold.events[1], arguments=(Argument("of", event="v0"),))))
    assert totals(nested, doc(FIRE, ("Report", HIRED, {"of": FIRED})))["event"] == Counts(tp=2)
    bare = doc(("Fire", None, FIRE[2]), ("Report", HIRED, {}))
    silent = replace(bare, events=(bare.events[0], replace(bare.events[1], arguments=(Argument("of", event="v0"),))))
    assert totals(silent, bare)["event"] == Counts(tp=2)  # nothing there that could be compared


def test_labels_are_classes_and_outcomes_are_whole_events() -> None:
    wrong = ("Fire", FIRED, {"by": ANN2, "who": BOB})
    found = events.score(make.pair(doc(HIRE, FIRE), doc(HIRE, wrong, wrong, scores=(0.9, 0.2, 0.4))))
    assert found.labels["Fire.who"] == Counts(0, 1, 1) and found.labels["Fire"] == Counts(tp=1)
    assert sorted(found.labels) == ["Fire", "Fire.by", "Fire.who", "Hire", "Hire.by", "Hire.where", "Hire.who"]
    assert sorted(found.outcomes) == [(0.4, False), (0.9, True)]


def test_confusions_name_labels_boundaries_and_both_ends() -> None:
    predicted = doc(("Hire", HIRED, {"who": ANN, "where": (22, 29)}), ("Fire", None, {"by": (14, 17)}))
    found = events.score(make.pair(doc(HIRE), predicted)).confusions
    assert {(c.kind, c.gold, c.predicted) for c in found} == {
        ("label", "Hire.by", "Hire.who"), ("boundary", "Hire.where", "Hire.where"), ("missed", "Hire.who", None),
        ("spurious", None, "Fire.by"),
    }  # fmt: skip
    assert next(c for c in found if c.kind == "boundary").example.endswith("(predicted: in Rome)")


parts = st.frozensets(st.sampled_from([events.EventPart(f"T.{r}", (i, i + 1), r) for r in "ab" for i in range(3)]))
some = st.lists(st.builds(events.EventKey, st.sampled_from(["T", "U"]), parts), max_size=4, unique=True)


@given(some, some)
@settings(max_examples=100, deadline=None)
def test_pairs_share_as_much_as_the_best_of_all_pairings(gold, predicted) -> None:
    def common(p, g) -> int:
        return len(p.parts & g.parts) if p.type == g.type else 0

    found = events.pair_up(gold, predicted)
    assert len(set(found.values())) == len(found)
    assert all(gold[g].type == predicted[p].type for p, g in found.items())
    longer, shorter = (gold, predicted) if len(gold) > len(predicted) else (predicted, gold)
    best = max(sum(map(common, shorter, order)) for order in permutations(longer, len(shorter)))
    assert sum(common(predicted[p], gold[g]) for p, g in found.items()) == best


@pytest.mark.parametrize("side", ["gold", "predicted", "both"])
def test_empty_sides_divide_nothing(side: str) -> None:
    full, empty = doc(HIRE), Document("d", TEXT)
    found = totals(empty if side != "predicted" else full, empty if side != "gold" else full)
    assert all(counts.f1 == 0 for counts in found.values())
