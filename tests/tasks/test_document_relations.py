"""Relations of a document: decode undoes targets; what could not be read, taught or asked is named."""

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factpin.documents import Document, Entity, Evidence, Fact, Mention, Relation, Schema, Span, canonical
from factpin.language.assertion import with_assertions
from factpin.tasks.document_relations import Decoding, Relations, Rules, Targets, decode, naming, nearest, targets
from factpin.tasks.spans import Scale
from tests.tokens.families import FAMILIES, characters

STAR = 10_000
WORDS = ["谷爱凌", "美国", "北京", "café", "Zürich", "😀", "12", "ab", "ﬁne"]
RELATIONS = ("r0", "r1", "r2")


def village() -> Document:
    """Ten sentences, six entities named several times, facts proved by one sentence or two."""
    sentences = [
        "Anna Weber was born in Berlin.",
        "She is a doctor.",
        "Tom Hill, her husband, lives in Rome.",
        "Rome is the capital of Italy.",
        "In 2010 Anna moved to Rome.",
        "The hospital of Rome hired Anna Weber.",
        "Mr Hill teaches music.",
        "Berlin is cold.",
        "Maria Rossi is the daughter of Tom Hill.",
        "Maria was born in Rome.",
    ]
    names = {
        "anna": ["Anna Weber", "She", "Anna", "Anna Weber"],
        "berlin": ["Berlin", "Berlin"],
        "tom": ["Tom Hill", "Mr Hill", "Tom Hill"],
        "rome": ["Rome", "Rome", "Rome"],
        "italy": ["Italy"],
        "maria": ["Maria Rossi", "Maria"],
    }
    text = " ".join(sentences)
    spans, at = [], 0
    for sentence in sentences:
        spans.append(Span(at, at + len(sentence)))
        at += len(sentence) + 1
    mentions, entities = [], []
    for id, surfaces in names.items():
        own, after = [], 0
        for surface in surfaces:
            start = text.index(surface, after)
            own.append(Mention(f"{id}{len(own)}", start, start + len(surface), surface))
            after = start + len(surface)
        mentions += own
        entities.append(
            Entity(id, tuple(m.id for m in own), "place" if id in ("berlin", "rome", "italy") else "person")
        )
    told = [
        ("anna", "born", "berlin", (0,)),
        ("maria", "born", "rome", (9,)),
        ("anna", "lives", "rome", (2, 4)),
        ("tom", "lives", "rome", (2,)),
        ("anna", "spouse", "tom", (0, 2)),
        ("tom", "spouse", "anna", (0, 2)),
        ("rome", "in", "italy", (3,)),
        ("tom", "child", "maria", (8,)),
    ]
    facts = tuple(Fact(h, r, t, evidence=tuple(Evidence(s) for s in proof)) for h, r, t, proof in told)
    return Document("village", text, "en", tuple(spans), tuple(mentions), tuple(entities), facts)


def as_found(y: Targets, score: float = 1.0) -> Relations:
    """What a head that makes no mistake finds; it proves a pair, and so each of its relations."""
    proofs = [(f, int(s)) for f, p in enumerate(y.pair) for q, s in zip(y.proof_pair, y.proof, strict=True) if p == q]
    proof_of, proof = np.array(proofs, np.int64).reshape(-1, 2).T
    return Relations(y.head[y.pair], y.relation, y.tail[y.pair], np.full(len(y.pair), score), proof_of, proof)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """Words in sentences, mentions over runs of them, mentions dealt out to entities, facts with evidence."""
    text, ends, sentences = "", [], []
    for _ in range(draw(st.integers(1, 4))):
        first = len(text)
        for word in draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4)):
            ends.append((len(text), len(text) + len(word)))
            text += word + draw(st.sampled_from(["", " ", "，"]))
        text += "。"
        sentences.append(Span(first, len(text)))
    mentions = []
    for n in range(draw(st.integers(1, 7))):
        i = draw(st.integers(0, len(ends) - 1))
        j = draw(st.integers(i, min(i + 2, len(ends) - 1)))
        start, end = ends[i][0], ends[j][1]
        mentions.append(Mention(f"m{n}", start, end, text[start:end], draw(st.sampled_from(["", "x", "y"]))))
    owner = [draw(st.integers(0, 3)) for _ in mentions]
    groups = [[m.id for m, o in zip(mentions, owner, strict=True) if o == e] for e in range(4)]
    entities = [Entity(f"e{e}", tuple(ids)) for e, ids in enumerate(groups) if ids]
    facts: dict[tuple[str, str, str], Fact] = {}
    proofs: dict[tuple[str, str], tuple[Evidence, ...]] = {}  # by pair
    for _ in range(draw(st.integers(0, 5)) if len(entities) > 1 else 0):
        head, tail = draw(st.permutations([e.id for e in entities]))[:2]
        some = st.sets(st.integers(0, len(sentences) - 1), min_size=1)
        if (head, tail) not in proofs:
            proofs[head, tail] = tuple(Evidence(s) for s in sorted(draw(some)))
        relation = draw(st.sampled_from(RELATIONS))
        facts[head, relation, tail] = Fact(head, relation, tail, evidence=proofs[head, tail])
    return Document("d", text, None, tuple(sentences), tuple(mentions), tuple(entities), tuple(facts.values()))


def without_pins(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    return tuple(replace(f, head_mention=None, tail_mention=None, score=None) for f in facts)


@pytest.mark.parametrize("family", FAMILIES)
@given(doc=documents())
def test_decode_undoes_targets(family: str, doc: Document) -> None:
    y = targets(doc, FAMILIES[family]().encode_sentences(doc.text, doc.sentences), STAR, RELATIONS)
    assert not y.unread and not y.lost and not y.unknown and not y.unasked and not y.qualifiers
    assert family != "characters" or not y.widened
    decoded = decode(as_found(y), doc, RELATIONS)
    assert canonical(replace(doc, facts=without_pins(decoded.facts))) == canonical(doc) and not decoded.dropped
    replace(doc, facts=decoded.facts)  # the pins are the document's own


# ---- targets --------------------------------------------------------------------------------------------------------


def read(
    doc: Document, relations: tuple[str, ...] = RELATIONS, schema: Schema | None = None, windows: Any = None
) -> Targets:
    return targets(doc, characters().encode(doc.text), STAR, relations, schema, windows=windows)


def small(**changes) -> Document:
    """甲 twice, 乙 inside 乙丙, in two sentences."""
    text = "甲见乙丙。甲走"
    mentions = tuple(
        Mention(id, s, e, text[s:e], type)
        for id, s, e, type in [("a", 0, 1, "人"), ("b", 2, 3, "地"), ("c", 2, 4, "地"), ("a2", 5, 6, "人")]
    )
    entities = (Entity("A", ("a", "a2"), "人"), Entity("B", ("b",)), Entity("C", ("c",), "地"))
    facts = (Fact("A", "r1", "B", evidence=(Evidence(1),)), Fact("C", "r0", "A"), Fact("A", "r0", "B"))
    return replace(Document("s", text, None, (Span(0, 5), Span(5, 7)), mentions, entities, facts), **changes)


def test_targets_say_where_mentions_open_and_which_pairs_are_related() -> None:
    y = read(small())
    assert [("*" if i == STAR else x) for i, x in zip(y.pieces.ids, y.pieces.surfaces(), strict=True)] == list(
        "*甲*见**乙*丙*。*甲*走"
    )
    assert list(zip(y.place.tolist(), y.entity.tolist(), strict=True)) == [(0, 0), (11, 0), (5, 1), (4, 2)]
    assert y.sentence.tolist() == [0] * 11 + [1] * 4 and y.sentences == 2
    pairs = list(zip(y.head.tolist(), y.tail.tolist(), strict=True))
    assert pairs == [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]
    assert [(pairs[p], int(r)) for p, r in zip(y.pair, y.relation, strict=True)] == [
        ((0, 1), 0),
        ((0, 1), 1),
        ((2, 0), 0),
    ]
    assert y.fact.tolist() == [2, 0, 1]
    assert [(pairs[p], int(s)) for p, s in zip(y.proof_pair, y.proof, strict=True)] == [((0, 1), 1)]


def test_a_marker_belongs_to_the_sentence_of_its_mention() -> None:
    """甲 ends the first sentence and begins the second; there is no space between."""
    text = "见甲甲走"
    mentions = (Mention("a", 1, 2, "甲"), Mention("b", 2, 3, "甲"))
    entities = (Entity("A", ("a",)), Entity("B", ("b",)))
    y = read(Document("d", text, None, (Span(0, 2), Span(2, 4)), mentions, entities))
    assert y.sentence.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def test_pieces_outside_all_sentences_belong_to_none() -> None:
    y = read(small(sentences=(Span(1, 4),), facts=()))
    assert y.sentence.tolist() == [-1] * 3 + [0] * 7 + [-1] * 5
    assert (read(small(sentences=(), facts=())).sentence == -1).all()


def test_a_fact_told_twice_is_one_label_with_the_sentences_of_both() -> None:
    facts = (Fact("A", "r1", "B", evidence=(Evidence(1),)), Fact("A", "r1", "B", "a", "b", evidence=(Evidence(0),)))
    y = read(small(facts=facts))
    assert y.fact.tolist() == [0] and y.proof.tolist() == [0, 1]


def test_what_cannot_be_taught_is_named() -> None:
    strange, itself = Fact("A", "other", "B"), Fact("A", "r0", "A")
    y = read(small(facts=(strange, itself, Fact("B", "r0", "A"))))
    assert y.unknown == (strange,) and y.unasked == (itself,) and len(y.pair) == 1


def test_a_schema_says_which_pairs_are_asked() -> None:
    schema = Schema(("人", "地"), {"r0": Relation("r0", ("人",), ("地",)), "r1": Relation("r1", ("人",), ("地",))})
    y = read(small(), ("r0", "r1"), schema)
    assert list(zip(y.head.tolist(), y.tail.tolist(), strict=True)) == [(0, 1), (0, 2)]  # B has its mention's type
    assert [f.head for f in y.unasked] == ["C"] and y.fact.tolist() == [2, 0] and y.pair.tolist() == [0, 0]
    assert len(read(small(), RELATIONS, schema).head) == 6  # r2 may join anything


def test_a_sample_keeps_every_related_pair_and_a_share_of_the_others() -> None:
    doc = village()
    y = read(doc, tuple(sorted({f.relation for f in doc.facts})))
    sizes = []
    for seed in range(40):
        z = y.sampled(0.3, np.random.default_rng(seed))
        assert decode(as_found(z), doc, sorted({f.relation for f in doc.facts})) == decode(
            as_found(y), doc, sorted({f.relation for f in doc.facts})
        )
        sizes.append(len(z.head))
    assert len(y.head) == 30 and 12 < np.mean(sizes) < 17  # 8 related pairs of 30, and 0.3 * 22
    assert len(y.sampled(0.0, np.random.default_rng(0)).head) == 8


def test_a_mention_that_no_piece_holds_is_named() -> None:
    text = "甲 乙"
    mentions = (Mention("a", 0, 1, "甲"), Mention("x", 1, 2, " "), Mention("b", 2, 3, "乙"))
    entities = (Entity("A", ("a",)), Entity("X", ("x",)), Entity("B", ("b", "x")))
    doc = Document("d", text, None, (Span(0, 3),), mentions, entities, (Fact("A", "r0", "X"), Fact("A", "r0", "B")))
    y = targets(doc, FAMILIES["word_piece"]().encode(text), STAR, RELATIONS)
    assert [m.id for m in y.unread] == ["x"] and [e.id for e in y.lost] == ["X"]
    assert y.unasked == (doc.facts[0],) and y.fact.tolist() == [1] and y.entities == 3
    assert list(zip(y.head.tolist(), y.tail.tolist(), strict=True)) == [(0, 2), (2, 0)]


def test_a_document_without_entities_is_no_trouble() -> None:
    y = read(Document("d", "无"))
    assert len(y.place) == len(y.head) == len(y.pair) == 0 and len(y.pieces) == 1 and y.sentence.tolist() == [-1]
    assert decode(as_found(y), Document("d", "无"), RELATIONS) == Decoding((), {})


# ---- decode ---------------------------------------------------------------------------------------------------------


def found(*rows: tuple[int, int, int, float], proofs: tuple[tuple[int, int], ...] = ()) -> Relations:
    head, relation, tail = np.array([row[:3] for row in rows], np.int64).reshape(-1, 3).T
    proof_of, proof = np.array(proofs, np.int64).reshape(-1, 2).T
    return Relations(head, relation, tail, np.array([row[3] for row in rows]), proof_of, proof)


def test_facts_carry_their_nearest_mentions_probability_and_sentences() -> None:
    scale = Scale(2.0, 1.0)
    decoded = decode(found((0, 1, 1, 3.0), (1, 0, 0, 0.5), proofs=((0, 1),)), small(), RELATIONS, Rules(scale=scale))
    assert decoded.facts == (
        Fact("A", "r1", "B", "a", "b", scale.probability(3.0), (Evidence(1),)),
        Fact("B", "r0", "A", "b", "a", scale.probability(0.5), (Evidence(0),)),  # proved by its mentions' sentences
    )


def test_a_fact_between_found_mentions_is_right_only_where_they_are() -> None:
    doc = small()
    unsure = tuple(replace(m, score={"a": 0.5, "b": 0.8}.get(m.id)) for m in doc.mentions)  # others: gold
    rows = found((0, 1, 1, 3.0), (1, 0, 0, 0.5))
    gold, told = (decode(rows, d, RELATIONS).facts for d in (doc, replace(doc, mentions=unsure)))
    assert [(f.head_mention, f.tail_mention) for f in told] == [("a", "b"), ("b", "a")]
    assert [f.score for f in told] == pytest.approx([0.4 * f.score for f in gold])


def test_a_fact_across_sentences_is_proved_by_both_where_nothing_else_is_said() -> None:
    doc = small(entities=(Entity("A", ("a2",)), Entity("B", ("b",))), facts=())
    (fact,) = decode(found((0, 0, 1, 1.0)), doc, RELATIONS).facts
    assert fact.evidence == (Evidence(0), Evidence(1))


def test_the_nearest_mentions_do_not_overlap_where_others_do_not() -> None:
    text = "甲乙丙丁"
    outer, inner, far = (Mention(str(n), s, e, text[s:e]) for n, (s, e) in enumerate([(0, 2), (1, 2), (3, 4)]))
    assert nearest([outer], [inner, far]) == (outer, far)
    assert nearest([outer], [inner]) == (outer, inner)
    assert nearest([far, inner], [outer, outer]) == (far, outer)


SCHEMA = Schema(
    ("人", "地"),
    {
        "r0": Relation("r0", ("人",), ("地",), inverse="back", functional=True),
        "r1": Relation("r1", symmetric=True),
        "back": Relation("back"),
    },
)


def test_types_that_the_schema_forbids_are_left_out() -> None:
    decoded = decode(found((0, 0, 1, 1.0), (1, 0, 0, 2.0)), small(), RELATIONS, Rules(SCHEMA))
    assert [(f.head, f.tail) for f in decoded.facts] == [("A", "B")] and decoded.dropped == {"schema": 1}


def test_a_functional_relation_keeps_its_best_tail() -> None:
    for b, c, kept in ((2.0, 1.0, "B"), (1.0, 2.0, "C"), (1.0, 1.0, "B")):
        decoded = decode(found((0, 0, 1, b), (0, 0, 2, c)), small(), RELATIONS, Rules(SCHEMA))
        assert [f.tail for f in decoded.facts] == [kept] and decoded.dropped == {"functional": 1}


@pytest.mark.parametrize(
    ("first", "status", "kept"),
    [
        ("王小明没有担任蓝天科技董事长。", "negated", ["李雷", "王小明"]),  # what is not competes with nothing
        ("王小明可能担任蓝天科技董事长。", "hedged", ["李雷"]),
        ("据报道，王小明任蓝天科技董事长。", "reported", ["李雷"]),
        ("王小明担任过蓝天科技的董事长。", "asserted", ["王小明"]),
    ],
)
def test_what_is_asserted_keeps_a_functional_relation_whatever_the_scores(first: str, status: str, kept) -> None:
    text = first + "李雷现任蓝天科技董事长。"
    n = len(first)
    names = {
        "王小明": [text.index("王小明")],
        "李雷": [n],
        "蓝天科技": [text.index("蓝天科技"), text.rindex("蓝天科技")],
    }
    mentions = [Mention(f"{x}{i}", s, s + len(x), x) for x, at in names.items() for i, s in enumerate(at)]
    entities = tuple(Entity(x, tuple(f"{x}{i}" for i in range(len(at)))) for x, at in names.items())
    doc = Document("d", text, "zh", (Span(0, n), Span(n, len(text))), tuple(mentions), entities)
    schema = Schema((), {"董事长": Relation("董事长", functional=True)})
    decoded = decode(found((2, 0, 0, 5.0), (2, 0, 1, 1.0)), doc, ["董事长"], Rules(schema))
    assert sorted(f.tail for f in decoded.facts) == kept
    assert decoded.dropped == ({} if len(kept) == 2 else {"functional": 1})
    assert {f.assertion for f in decoded.facts} == {None}  # the status comes from with_assertions
    judged = with_assertions(replace(doc, facts=decoded.facts)).facts
    assert {f.tail: f.assertion for f in judged}.get("王小明", status) == status


def test_what_follows_and_falls_is_counted() -> None:
    schema = Schema((), {"r0": Relation("r0", symmetric=True, functional=True)})
    decoded = decode(found((0, 0, 1, 2.0), (2, 0, 1, 1.0)), small(), RELATIONS, Rules(schema, complete=True))
    assert decoded.dropped == {"functional": 1} and len(decoded.facts) == 3


def test_symmetric_and_inverse_facts_are_added_only_where_that_is_asked_for() -> None:
    what = found((0, 0, 1, 1.0), (0, 1, 2, 3.0), (2, 1, 0, 1.0), proofs=((0, 1),))
    plain = decode(what, small(), RELATIONS, Rules(SCHEMA)).facts
    full = decode(what, small(), RELATIONS, Rules(SCHEMA, complete=True)).facts
    assert len(plain) == 3 and len(full) == 4
    (back,) = [f for f in full if f.relation == "back"]
    assert (back.head, back.tail, back.evidence) == ("B", "A", (Evidence(1),))
    assert {f.score for f in full if f.relation == "r1"} == {Scale().probability(3.0)}


def test_a_relation_found_twice_counts_once_with_its_best_score() -> None:
    decoded = decode(found((0, 0, 1, 1.0), (0, 0, 1, 2.0), proofs=((0, 0), (1, 1))), small(), RELATIONS)
    assert [(f.score, len(f.evidence)) for f in decoded.facts] == [(Scale().probability(2.0), 2)]


def test_excluded_pairs_are_asked_in_neither_direction() -> None:
    doc = village()
    pieces = characters().encode(doc.text)
    every = targets(doc, pieces, STAR, RELATIONS)
    some = targets(doc, pieces, STAR, RELATIONS, excluded=[frozenset((0, 3))])
    gone = {(0, 3), (3, 0)}
    pairs = {*zip(every.head.tolist(), every.tail.tolist(), strict=True)}
    assert {*zip(some.head.tolist(), some.tail.tolist(), strict=True)} == pairs - gone


def test_pairs_that_no_window_shows_together_are_not_asked() -> None:
    doc = village()
    y = read(doc)
    half = len(y.pieces) // 2
    near = read(doc, windows=lambda pieces: [(0, half), (half, len(pieces))])
    sides = [{0 if place < half else 1 for place, e in zip(y.place, y.entity, strict=True) if e == i}
             for i in range(y.entities)]  # fmt: skip
    together = [bool(sides[h] & sides[t]) for h, t in zip(y.head, y.tail, strict=True)]
    assert 0 < near.apart == together.count(False)
    assert list(zip(near.head, near.tail, strict=True)) == [
        pair for pair, good in zip(zip(y.head, y.tail, strict=True), together, strict=True) if good
    ]
    assert len(near.pair) + len(near.unasked) == len(y.pair)
    whole = read(doc, windows=lambda pieces: [(0, len(pieces))])
    assert whole.apart == y.apart == 0 and np.array_equal(whole.head, y.head) and np.array_equal(whole.tail, y.tail)


@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_mentions_are_those_of_all_pairs(seed: int) -> None:
    chance = random.Random(seed)

    def mentions(count: int) -> list[Mention]:
        starts = [chance.randrange(40) for _ in range(count)]
        return [Mention(f"m{i}", s, s + chance.randrange(1, 9), "x") for i, s in enumerate(starts)]

    def distance(pair: tuple[Mention, Mention]) -> tuple[bool, int, int, int]:
        h, t = pair
        gap = max(h.start, t.start) - min(h.end, t.end)
        return gap < 0, max(gap, 0), h.start, t.start

    for _ in range(200):
        heads, tails = mentions(chance.randrange(1, 9)), mentions(chance.randrange(1, 9))
        expected = min(((h, t) for h in heads for t in tails), key=distance)
        assert distance(nearest(heads, tails)) == distance(expected)


def test_sentences_that_name_neither_entity_prove_nothing() -> None:
    doc = village()
    index = {e.id: i for i, e in enumerate(doc.entities)}
    places = {doc.sentence_of(m.start) for m in doc.mentions if m.id.startswith(("rome", "italy"))}
    other = next(s for s in range(len(doc.sentences)) if s not in places)
    rows = [(index["rome"], 0, index["italy"], 1.0), (index["rome"], 1, index["italy"], 1.0)]
    good = min(places)
    told = naming(found(*rows, proofs=((0, other), (1, other), (1, good))), doc)
    assert list(zip(told.proof_of, told.proof, strict=True)) == [(1, good)]
