from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factpin.formats import Options, ReadContext, Report
from factpin.formats._occurrences import ArgumentName, Triple, nearest_pair, occurrences, place


def placed(text, *triples, occurrences="first"):
    report = Report()
    reading = ReadContext(Path("x.json"), Options(occurrences=occurrences), report)
    return place([Triple(ArgumentName(h), r, ArgumentName(t)) for h, r, t in triples], text, reading, 1, "x-1"), report


@pytest.mark.parametrize(
    ("text", "surface", "starts", "whole"),
    [
        ("Aaron met Ron", "Ron", [10], True),
        ("Aaron sang", "aron", [1], False),
        ("Aaron, Baron", "ron", [2, 9], False),
        ("在2014年", "2014", [1], True),
        ("12014年", "2014", [1], False),
        ("中国中国", "中国", [0, 2], True),
        ("北京人Ron说", "Ron", [3], True),
        ("哈哈哈", "哈哈", [0], True),
        ("text", "", [], True),
        ("text", "absent", [], False),
    ],
)
def test_occurrences_at_word_borders_are_preferred(text, surface, starts, whole):
    assert occurrences(text, surface) == (starts, whole)


def test_an_occurrence_inside_a_word_is_taken_if_there_is_no_other_and_noted():
    found, report = placed("Aaron lives in Town", ("aron", "home", "Town"))
    assert found.mentions[0].start == 1
    assert report.counts == {"inside_word": 1}


def test_the_choice_of_occurrence_moves_the_pins():
    text = "Ann was ill. Bo met Ann. Ann left."
    starts = {}
    for choice in ("first", "nearest", "all"):
        found, report = placed(text, ("Ann", "knows", "Bo"), occurrences=choice)
        start = {None: None} | {m.id: m.start for m in found.mentions}
        (fact,) = found.facts
        starts[choice] = start[fact.head_mention], start[fact.tail_mention], len(found.mentions)
        assert report.counts == {"ambiguous_argument": 1}
    assert starts == {"first": (0, 13, 2), "nearest": (20, 13, 2), "all": (None, 13, 4)}


def test_a_name_told_at_two_places_is_one_entity():
    text = "Ann met Bo. Later Cy saw Ann."
    found, _ = placed(text, ("Ann", "met", "Bo"), ("Cy", "saw", "Ann"), occurrences="nearest")
    assert len(found.mentions) == 4
    assert sorted(len(e.mentions) for e in found.entities) == [1, 1, 2]


def test_an_argument_joined_to_itself_takes_two_occurrences_if_there_are_two():
    found, _ = placed("Ann and Ann", ("Ann", "is", "Ann"), occurrences="nearest")
    assert {m.start for m in found.mentions} == {0, 8}


def test_what_is_not_there_is_told_apart_from_what_is():
    found, report = placed("Ann left.", ("Ann", "met", "Bo"), ("Ann", "did", "left"))
    assert found.unfound == [0]
    assert len(found.facts) == 1
    assert report.counts["argument_not_found"] == 1
    assert "'Bo'" in report.notes[0].message


places = st.lists(st.integers(0, 60), min_size=1, max_size=6, unique=True).map(sorted)


@given(places, st.integers(1, 4), places, st.integers(1, 4))
def test_the_nearest_pair_is_the_best_of_all_pairs(heads, head_size, tails, tail_size):
    gaps = {(h, t): max(h - t - tail_size, t - h - head_size) for h in heads for t in tails}
    head, tail = nearest_pair(heads, head_size, tails, tail_size)
    apart = [gap for gap in gaps.values() if gap >= 0]
    if apart:
        assert gaps[head, tail] == min(apart)
    else:
        assert (head, tail) == (heads[0], tails[0])
