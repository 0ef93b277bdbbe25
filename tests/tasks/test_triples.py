"""Triples: decode undoes targets, whatever overlaps; what cannot be taught is counted."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from factpin.documents import Document, Entity, Evidence, Fact, Mention, Qualifier, Relation, Schema, Span, canonical
from factpin.errors import BadInput
from factpin.language.sentences import split_sentences
from factpin.tasks.links import Labels, Links, allowed, labels_of, merge
from factpin.tasks.spans import Scale
from factpin.tasks.triples import Decoding, Rules, Targets, decode, targets
from factpin.tokens import windows
from tests.tokens.families import FAMILIES, characters

WORDS = ["谷爱凌", "美国", "北京", "café", "Zürich", "😀", "12", "ab", "ﬁne"]
TYPES = ["人物", "地点", "x"]


def make(text: str, spans: dict[str, tuple[int, int, str]], facts: list[tuple], *, pinned: bool = True) -> Document:
    """A document from named spans and facts (head, relation, tail, {role: value}); equal text and type: one entity."""
    mentions = tuple(Mention(id, s, e, text[s:e], t) for id, (s, e, t) in spans.items())
    groups: dict[tuple[str, str], list[Mention]] = {}
    for m in sorted(mentions, key=lambda m: m.start):
        groups.setdefault((m.text, m.type), []).append(m)
    entities = tuple(
        Entity(f"e{i}", tuple(m.id for m in group), type, name)
        for i, ((name, type), group) in enumerate(groups.items())
    )
    of = {id: e.id for e in entities for id in e.mentions}
    made = []
    for head, relation, tail, *rest in facts:
        qualifiers = tuple(
            Qualifier(role, of[x], x if pinned else None) for role, x in (rest[0] if rest else {}).items()
        )
        pins = (head, tail) if pinned else (None, None)
        made.append(Fact(of[head], relation, of[tail], *pins, qualifiers=qualifiers))
    return Document("d", text, sentences=(Span(0, len(text)),), mentions=mentions, entities=entities, facts=tuple(made))


def as_found(y: Targets, score: float = 1.0) -> Links:
    """What a head that makes no mistake finds."""
    return Links(
        y.label, y.first, y.last, np.full(len(y.label), score), y.relation, y.subject, y.object,
        np.full(len(y.relation), score),
    )  # fmt: skip


def through(doc: Document, labels: Labels, rules: Rules | None = None, tokenizer=characters) -> Decoding:
    pieces = tokenizer().encode(doc.text)
    return decode(as_found(targets(doc, pieces, labels)), doc, pieces, labels, rules)


def said(doc: Document, decoded: Decoding, *, bare: bool = True) -> Document:
    """The document with what was decoded, without scores and evidence."""
    mentions = tuple(replace(m, score=None) for m in decoded.mentions)
    facts = tuple(replace(f, score=None, evidence=() if bare else f.evidence) for f in decoded.facts)
    return canonical(replace(doc, mentions=mentions, entities=decoded.entities, facts=facts))


@st.composite
def documents(draw: st.DrawFn, *, typed: bool) -> Document:
    """Words with mentions over runs of them; only mentions of facts, facts pinned, given once."""
    words = draw(st.lists(st.sampled_from(WORDS), min_size=2, max_size=9))
    text, ends = "", []
    for word in words:
        ends.append((len(text), len(text) + len(word)))
        text += word + draw(st.sampled_from(["", " ", "，"]))
    spans: dict[str, tuple[int, int, str]] = {}
    for n in range(draw(st.integers(2, 6))):
        i = draw(st.integers(0, len(words) - 1))
        j = draw(st.integers(i, min(i + 2, len(words) - 1)))
        span = (ends[i][0], ends[j][1], draw(st.sampled_from(TYPES)) if typed else "")
        if span not in spans.values():
            spans[f"m{n}"] = span
    assume(len(spans) > 1)
    names = sorted(spans)
    facts: dict[tuple[str, str, str], dict[str, str]] = {}
    for _ in range(draw(st.integers(1, 5))):
        head, tail = draw(st.lists(st.sampled_from(names), min_size=2, max_size=2, unique=True))
        roles = draw(st.dictionaries(st.sampled_from(["when", "in.area"]), st.sampled_from(names), max_size=2))
        facts.setdefault((head, draw(st.sampled_from(["r0", "r1", "r.2"])), tail), roles)
    used = {x for (h, _, t), roles in facts.items() for x in (h, t, *roles.values())}
    return make(text, {id: spans[id] for id in spans if id in used}, [(*key, roles) for key, roles in facts.items()])


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("typed", [False, True])
@given(data=st.data())
def test_decode_undoes_targets(family: str, typed: bool, data: st.DataObject) -> None:
    doc = data.draw(documents(typed=typed))
    labels = labels_of([doc], typed=typed)
    y = targets(doc, FAMILIES[family]().encode(doc.text), labels)
    assert not y.unknown and not y.ambiguous
    assume(not y.merged)
    if y.unalignable or y.lost_qualifiers:  # these are counted, and the others come back
        assert family != "characters"
        back = through(doc, labels, tokenizer=FAMILIES[family])
        assert len(back.facts) == len(doc.facts) - len(y.unalignable)
        return
    assert said(doc, through(doc, labels, tokenizer=FAMILIES[family])) == canonical(doc)


# ---- the five ways to overlap ---------------------------------------------------------------------------------------

TEXT = "李白在长安写下静夜思，长安的李白又名太白。"
OVERLAPS = {
    "one subject, many objects": [("李白", "住", "长安"), ("李白", "写", "静夜思"), ("李白", "别名", "太白")],
    "one pair, many relations": [("李白", "住", "长安"), ("李白", "爱", "长安"), ("李白", "离", "长安")],
    "subject inside object": [("长安", "属", "长安的李白"), ("李白2", "在", "长安的李白")],
    "object inside subject": [("长安的李白", "含", "李白2")],
    "shared spans": [("李白", "写", "静夜思"), ("静夜思", "作者", "李白"), ("长安", "居民", "李白")],
    "subject after object": [("太白", "同", "李白"), ("静夜思", "作者", "李白")],
}
PLACES = {
    "李白": (0, 2, ""), "长安": (3, 5, ""), "静夜思": (7, 10, ""), "长安2": (11, 13, ""),
    "长安的李白": (11, 16, ""), "李白2": (14, 16, ""), "太白": (18, 20, ""),
}  # fmt: skip


@pytest.mark.parametrize("kind", OVERLAPS)
def test_facts_that_overlap_come_back(kind: str) -> None:
    facts = OVERLAPS[kind]
    used = {x for head, _, tail in facts for x in (head, tail)}
    doc = make(TEXT, {id: PLACES[id] for id in PLACES if id in used}, facts)
    assert said(doc, through(doc, labels_of([doc], typed=False))) == canonical(doc)


# ---- targets --------------------------------------------------------------------------------------------------------


def cells(y: Targets) -> list[tuple]:
    spans = list(zip(y.label.tolist(), y.first.tolist(), y.last.tolist(), strict=True))
    return [(int(r), spans[s], spans[o]) for r, s, o in zip(y.relation, y.subject, y.object, strict=True)]


def loose() -> Document:
    """李白 and 长安 occur twice each; the fact does not say which is meant."""
    used = ("李白", "长安", "长安2", "李白2")
    return make(TEXT, {id: PLACES[id] for id in used}, [("李白", "住", "长安")], pinned=False)


@pytest.mark.parametrize(
    ("occurrences", "expected"),
    [
        ("first", [((0, 0, 1), (1, 3, 4))]),
        ("nearest", [((0, 0, 1), (1, 3, 4))]),
        ("all", [((0, a, a + 1), (1, b, b + 1)) for a in (0, 14) for b in (3, 11)]),
    ],
)
def test_an_unpinned_fact_is_taught_by_the_named_policy(occurrences, expected) -> None:
    doc = loose()
    y = targets(doc, characters().encode(TEXT), labels_of([doc], typed=False), occurrences)
    assert cells(y) == [(0, s, o) for s, o in expected]
    assert y.ambiguous == doc.facts


def test_the_nearest_pair_may_be_a_later_one_and_a_pin_is_obeyed() -> None:
    text = "李白。他很久以后到了长安，长安李白"
    spans = {"a": (0, 2, ""), "b": (10, 12, ""), "c": (13, 15, ""), "d": (15, 17, "")}
    doc = make(text, spans, [("a", "住", "b")], pinned=False)
    labels, pieces = labels_of([doc], typed=False), characters().encode(text)
    assert cells(targets(doc, pieces, labels, "nearest")) == [(0, (0, 15, 16), (1, 13, 14))]
    assert cells(targets(doc, pieces, labels, "first")) == [(0, (0, 0, 1), (1, 10, 11))]
    half = replace(doc, facts=(replace(doc.facts[0], head_mention="a"),))
    y = targets(half, pieces, labels, "nearest")
    assert cells(y) == [(0, (0, 0, 1), (1, 10, 11))] and y.ambiguous == half.facts
    whole = replace(doc, facts=(replace(doc.facts[0], head_mention="a", tail_mention="c"),))
    y = targets(whole, pieces, labels, "all")
    assert cells(y) == [(0, (0, 0, 1), (1, 13, 14))] and not y.ambiguous


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(BadInput, match="first, nearest, all"):
        targets(loose(), characters().encode(TEXT), Labels(("住",)), "some")  # type: ignore[arg-type]


def test_what_cannot_be_taught_is_counted() -> None:
    text = "Hello world café"
    spans = {"a": (0, 5, "p"), "b": (6, 11, "p"), "half": (7, 9, "p"), "c": (12, 16, "q")}
    facts = [("a", "r", "b"), ("a", "r", "half"), ("b", "s", "a"), ("a", "r", "c"), ("b", "r", "a", {"w": "half"}),
             ("c", "r", "b", {"unheard": "a"})]  # fmt: skip
    doc = make(text, spans, facts)
    pieces = FAMILIES["word_piece"]().encode(text)
    labels = Labels(("r",), (("r", "w"),), ("p", "q"), ("p",))
    y = targets(doc, pieces, labels)
    assert y.unalignable == (doc.facts[1],)
    assert y.unknown == (doc.facts[2], doc.facts[3])
    assert y.lost_qualifiers == 2
    assert sorted(set(y.fact.tolist())) == [0, 4, 5]
    untyped = targets(doc, pieces, Labels(("r", "s"), (("r", "w"),)))
    assert untyped.unknown == ()


def test_qualifiers_that_cannot_be_told_apart_are_named() -> None:
    spans = {id: PLACES[id] for id in ("李白", "长安", "静夜思", "太白")}
    facts = [("李白", "写", "静夜思", {"地": "长安"}), ("太白", "写", "静夜思"), ("李白", "别名", "太白")]
    doc = make(TEXT, spans, facts)
    labels = labels_of([doc], typed=False)
    assert targets(doc, characters().encode(TEXT), labels).merged == doc.facts[:2]
    assert [(f.relation, len(f.qualifiers)) for f in through(doc, labels).facts] == [("写", 1), ("别名", 0), ("写", 1)]


def test_one_head_with_several_tails_keeps_their_qualifiers_apart() -> None:
    text = "该片2016年在美国、2017年在中国上映"
    spans = {"film": (0, 2, ""), "y1": (2, 7, ""), "us": (8, 10, ""), "y2": (11, 16, ""), "cn": (17, 19, "")}
    doc = make(text, spans, [("film", "上映", "y1", {"inArea": "us"}), ("film", "上映", "y2", {"inArea": "cn"})])
    labels = labels_of([doc], typed=False)
    assert labels.names == ("上映", "上映.inArea")
    assert said(doc, through(doc, labels)) == canonical(doc)


def test_labels_hold_relations_slots_and_types_by_role() -> None:
    spans = {"a": (0, 2, "人物"), "b": (3, 5, "地点"), "c": (7, 10, "作品")}
    doc = make(TEXT, spans, [("a", "写", "c", {"地": "b"}), ("a", "住", "b")])
    assert labels_of([doc], typed=True) == Labels(
        ("住", "写"), (("写", "地"),), ("人物", "作品"), ("作品", "地点")
    )  # fmt: skip
    assert labels_of([doc], typed=False) == Labels(("住", "写"), (("写", "地"),))
    labels = labels_of([doc], typed=True)
    assert [labels.type_of(c) for c in range(4)] == ["人物", "作品", "作品", "地点"]
    assert labels.subject("作品") == 1 and labels.object("作品") == 2 and labels.object("人物") is None


# ---- windows --------------------------------------------------------------------------------------------------------


def test_windows_teach_what_they_hold_and_name_what_none_holds() -> None:
    doc = make(TEXT, {id: PLACES[id] for id in PLACES if id != "长安的李白"},
               [("李白", "住", "长安"), ("长安2", "居民", "李白2"), ("李白", "别名", "太白")])  # fmt: skip
    pieces = characters().encode(TEXT)
    layout = windows(pieces, [(0, 11), (11, len(TEXT))], 12, 2, context="sentence")
    y = targets(doc, pieces, labels_of([doc], typed=False))
    parts = [y.inside(window) for window in layout]
    assert [part.fact.tolist() for part in parts] == [[0], [1]]
    assert cells(parts[1]) == [(2, (0, 0, 1), (1, 3, 4))]
    assert y.outside(layout) == [2]


def test_qualifiers_that_are_too_wide_or_in_no_window_are_known() -> None:
    spans = {id: PLACES[id] for id in ("李白", "长安", "静夜思", "太白")}
    doc = make(TEXT, spans, [("李白", "住", "长安", {"作": "静夜思", "字": "太白"})])
    pieces = characters().encode(TEXT)
    y = targets(doc, pieces, labels_of([doc], typed=False))
    whole, first = windows(pieces, [(0, len(TEXT))], 40, 0), windows(pieces, [(0, 11), (11, len(TEXT))], 12, 2)
    assert y.held(whole).all() and y.fact.tolist().count(-1) == 2
    narrow = y.no_wider(2)
    assert narrow.fact[narrow.held(whole)].tolist().count(-1) == 1
    assert y.fact[y.held(first)].tolist().count(-1) == 1 and y.outside(first) == []


def test_every_mention_is_taught_in_every_role_where_that_is_asked_for() -> None:
    spans = {"a": (0, 2, "人"), "b": (3, 5, "地"), "c": (7, 10, "作"), "d": (18, 20, "人")}
    doc, pieces = make(TEXT, spans, [("a", "住", "b")]), characters().encode(TEXT)
    labels = labels_of([doc], typed=True, mentions="all")
    assert (labels.subjects, labels.objects) == (("人",), ("作", "地"))  # a type of no fact is an object's
    assert labels_of([doc], typed=True).objects == ("地",)
    y = targets(doc, pieces, labels, taught="all")
    taught = {(labels.type_of(c), i, j) for c, i, j in zip(y.label, y.first, y.last, strict=True)}
    assert taught == {("人", 0, 1), ("地", 3, 4), ("作", 7, 9), ("人", 18, 19)} and y.alone() == 4
    assert cells(y) == cells(targets(doc, pieces, labels))
    bare = labels_of([doc], typed=False)
    y = targets(doc, pieces, bare, taught="all")
    assert sorted(zip(y.label, y.first, strict=True)) == [(c, i) for c in (0, 1) for i in (0, 3, 7, 18)]
    layout = windows(pieces, [(0, 11), (11, len(TEXT))], 12, 2, context="sentence")
    parts = [y.inside(window) for window in layout]
    assert [part.first.tolist() for part in parts] == [[0, 3, 7] * 2, [7] * 2]
    assert cells(parts[0]) == [(0, (0, 0, 1), (1, 3, 4))]
    assert y.no_wider(2).alone(layout) == 3 and y.alone(layout[:1]) == 3
    half = replace(doc, mentions=(*doc.mentions, Mention("e", 1, 1 + 1, "白", "无")))
    assert targets(half, pieces, labels, taught="all").lost_mentions == 1  # a type without a class


@given(doc=documents(typed=False), size=st.integers(4, 40), overlap=st.integers(0, 3))
def test_merged_windows_give_every_fact_that_a_window_holds_once(doc: Document, size: int, overlap: int) -> None:
    pieces, labels = characters().encode(doc.text), labels_of([doc], typed=False)
    layout = windows(pieces, doc.sentences, size, overlap)
    y = targets(doc, pieces, labels)
    found = merge(layout, [as_found(y.inside(window)) for window in layout])
    held = {link for window in layout for link in _shifted(cells(y.inside(window)), window.first)}
    got = cells(
        Targets(found.label, found.first, found.last, found.relation, found.subject, found.object, found.relation)
    )
    assert set(got) == held and len(got) == len(held)
    if len(layout) == 1:
        assert decode(found, doc, pieces, labels) == through(doc, labels)


def test_the_window_that_answers_for_a_link_gives_its_score() -> None:
    text = "一二三四五六七八"
    doc = make(text, {"a": (2, 3, ""), "b": (4, 5, "")}, [("a", "r", "b")])
    pieces, labels = characters().encode(text), labels_of([doc], typed=False)
    layout = windows(pieces, [], 6, 4)
    assert [(w.first, w.last, w.keep_first, w.keep_last) for w in layout] == [(0, 6, 0, 4), (2, 8, 4, 8)]
    y = targets(doc, pieces, labels)
    parts = [as_found(y.inside(window), score) for window, score in zip(layout, (1.0, 2.0), strict=True)]
    found = merge(layout, parts)
    assert found.score.tolist() == [1.0]  # its centre is piece 3
    assert found.span_score.tolist() == [1.0, 2.0]  # a span may belong to another window than its link
    silent = replace(parts[0], relation=parts[0].relation[:0], subject=parts[0].subject[:0],
                     object=parts[0].object[:0], score=parts[0].score[:0])  # fmt: skip
    assert len(merge(layout, [silent, parts[1]]).relation) == 0


def _shifted(links: list[tuple], by: int) -> list[tuple]:
    return [(r, (a, b + by, c + by), (d, e + by, f + by)) for r, (a, b, c), (d, e, f) in links]


# ---- decode ---------------------------------------------------------------------------------------------------------


def family() -> tuple[Document, Labels]:
    text = "王明的妻子李红生于北京。王明生于上海。"
    spans = {
        "m": (0, 2, "人物"),
        "h": (5, 7, "人物"),
        "b": (9, 11, "地点"),
        "m2": (12, 14, "人物"),
        "s": (16, 18, "地点"),
    }
    facts = [("m", "配偶", "h"), ("h", "生于", "b"), ("m", "生于", "b"), ("m2", "生于", "s")]
    doc = replace(make(text, spans, facts), sentences=(Span(0, 12), Span(12, 19)))
    return doc, labels_of([doc], typed=True)


SCHEMA = Schema(
    ("人物", "地点"),
    {
        "配偶": Relation("配偶", ("人物",), ("人物",), symmetric=True),
        "生于": Relation("生于", ("人物",), ("地点",), inverse="出生者", functional=True),
        "出生者": Relation("出生者", ("地点",), ("人物",)),
    },
)


def scored(doc: Document, labels: Labels, scores: dict[tuple[str, str], float]) -> tuple[Links, Targets]:
    """The targets as found, links scored by (head mention, tail mention)."""
    y = targets(doc, characters().encode(doc.text), labels)
    own = [scores[doc.facts[k].head_mention, doc.facts[k].tail_mention] for k in y.fact]
    return replace(as_found(y), score=np.array(own)), y


def triples(decoded: Decoding) -> list[tuple[str, str, str]]:
    text = {m.id: m.text for m in decoded.mentions}
    return [(text[f.head_mention], f.relation, text[f.tail_mention]) for f in decoded.facts]


def test_facts_carry_their_mentions_sentence_and_probability() -> None:
    doc, labels = family()
    found, _ = scored(doc, labels, {("m", "h"): 0.0, ("h", "b"): 2.0, ("m", "b"): 4.0, ("m2", "s"): -1.0})
    decoded = decode(found, doc, characters().encode(doc.text), labels, Rules(scale=Scale(2.0, 1.0)))
    assert {m.score for m in decoded.mentions} == {Scale().probability(1.0)}
    got = {(t, f.score, f.evidence) for t, f in zip(triples(decoded), decoded.facts, strict=True)}
    expected = {
        ("王明", "配偶", "李红"): (0.0, 0),
        ("李红", "生于", "北京"): (2.0, 0),
        ("王明", "生于", "北京"): (4.0, 0),
        ("王明", "生于", "上海"): (-1.0, 1),
    }
    assert got == {(t, Scale(2.0, 1.0).probability(x), (Evidence(n),)) for t, (x, n) in expected.items()}
    assert [e.name for e in decoded.entities] == ["王明", "李红", "北京", "上海"]
    assert len(decoded.entities[0].mentions) == 2
    replace(doc, mentions=decoded.mentions, entities=decoded.entities, facts=decoded.facts)  # the nouns agree


def test_a_fact_across_sentences_is_proved_by_both() -> None:
    doc, _ = family()
    doc = replace(doc, facts=(Fact("e1", "住", "e3", "h", "s"),))
    (fact,) = through(doc, labels_of([doc], typed=False)).facts
    assert fact.evidence == (Evidence(0), Evidence(1))


def test_a_functional_relation_keeps_its_best_tail() -> None:
    doc, labels = family()
    for best, kept in (((4.0, 3.0), "北京"), ((3.0, 4.0), "上海"), ((3.0, 3.0), "北京")):
        found, _ = scored(doc, labels, {("m", "h"): 1.0, ("h", "b"): 1.0, ("m", "b"): best[0], ("m2", "s"): best[1]})
        decoded = decode(found, doc, characters().encode(doc.text), labels, Rules(SCHEMA))
        assert [t for t in triples(decoded) if t[:2] == ("王明", "生于")] == [("王明", "生于", kept)]
        assert ("李红", "生于", "北京") in triples(decoded) and decoded.dropped == {"functional": 1}


def test_types_that_the_schema_forbids_are_left_out_of_facts() -> None:
    doc, labels = family()
    wrong = replace(doc, facts=(*doc.facts, Fact("e1", "配偶", "e2", "h", "b")))
    labels = labels_of([wrong], typed=True)
    decoded = through(wrong, labels, Rules(replace(SCHEMA, relations={"配偶": SCHEMA.relations["配偶"]})))
    assert ("李红", "配偶", "北京") not in triples(decoded) and len(decoded.facts) == 4
    assert decoded.dropped == {"schema": 1}
    table = allowed(labels, SCHEMA)
    person, place = labels.object("人物"), labels.object("地点")
    marry, born = labels.relations.index("配偶"), labels.relations.index("生于")
    assert table[marry, 0, person] and not table[marry, 0, place]
    assert table[born, 0, place] and not table[born, 0, person]


def test_symmetric_and_inverse_facts_are_added_only_where_that_is_asked_for() -> None:
    doc, labels = family()
    doc = replace(doc, facts=doc.facts[:2])
    plain = through(doc, labels, Rules(SCHEMA))
    full = through(doc, labels, Rules(SCHEMA, complete=True))
    assert set(triples(plain)) == {("王明", "配偶", "李红"), ("李红", "生于", "北京")}
    assert set(triples(full)) - set(triples(plain)) == {("李红", "配偶", "王明"), ("北京", "出生者", "李红")}
    back = next(f for f in full.facts if f.relation == "出生者")
    there = next(f for f in full.facts if f.relation == "生于")
    assert (back.score, back.evidence, back.head_mention) == (there.score, there.evidence, there.tail_mention)
    told = replace(doc, mentions=full.mentions, entities=full.entities, facts=full.facts)
    again = through(told, labels_of([told], typed=True), Rules(SCHEMA, complete=True))
    assert sorted(triples(again)) == sorted(triples(full))  # nothing is found twice


def ruled(schema: Schema, facts: dict[tuple, float], types: str = "") -> Decoding:
    """Facts between single characters (head, relation, tail, {role: value}) with their scores, through a schema."""
    text = "甲乙丙丁"
    spans = {letter: (i, i + 1, types) for i, letter in enumerate(text)}
    told = [(*key[:3], dict(key[3:])) for key in facts]
    doc = make(text, spans, told)
    labels = labels_of([doc], typed=bool(types))
    y = targets(doc, characters().encode(text), labels)
    score = [9.0 if k < 0 else [*facts.values()][k] for k in y.fact]
    found = replace(as_found(y), score=np.array(score))
    return decode(found, doc, characters().encode(text), labels, Rules(schema, complete=True))


def relations(*marks: Relation) -> Schema:
    return Schema((), {relation.name: relation for relation in marks})


MARRIED = relations(Relation("妻", inverse="夫", functional=True), Relation("夫", inverse="妻", functional=True))


def test_a_fact_that_falls_takes_along_what_follows_from_it() -> None:
    decoded = ruled(MARRIED, {("甲", "妻", "乙"): 5.0, ("乙", "夫", "丙"): 1.0})
    assert triples(decoded) == [("甲", "妻", "乙"), ("乙", "夫", "甲")]
    assert decoded.dropped == {"functional": 2}
    assert [m.text for m in decoded.mentions] == ["甲", "乙"]


def test_a_fact_falls_where_what_follows_from_it_contradicts_a_surer_one() -> None:
    schema = relations(Relation("配偶", symmetric=True, functional=True))
    decoded = ruled(schema, {("甲", "配偶", "丙"): 1.0, ("乙", "配偶", "丙"): 2.0})
    assert triples(decoded) == [("乙", "配偶", "丙"), ("丙", "配偶", "乙")]
    assert decoded.dropped == {"functional": 2}


def test_both_sides_of_a_statement_have_the_score_of_the_surer_and_outlive_others_by_it() -> None:
    both = {("甲", "妻", "乙"): 1.0, ("乙", "夫", "甲"): 5.0, ("甲", "妻", "丙"): 3.0}
    decoded = ruled(MARRIED, both)
    assert triples(decoded) == [("甲", "妻", "乙"), ("乙", "夫", "甲")]
    assert {fact.score for fact in decoded.facts} == {Scale().probability(5.0)}
    assert decoded.dropped == {"functional": 2}  # and the husband of 丙, who followed


def test_an_inverse_that_one_side_names_is_read_from_both() -> None:
    schema = relations(Relation("著", inverse="作者"), Relation("作者"))
    assert triples(ruled(schema, {("甲", "著", "乙"): 1.0})) == [("甲", "著", "乙"), ("乙", "作者", "甲")]
    assert triples(ruled(schema, {("乙", "作者", "甲"): 1.0})) == [("甲", "著", "乙"), ("乙", "作者", "甲")]


def test_what_follows_has_to_fit_the_schema_too() -> None:
    schema = Schema(
        ("人物", "地点"), {"生于": Relation("生于", inverse="出生者"), "出生者": Relation("出生者", ("地点",))}
    )
    decoded = ruled(schema, {("甲", "生于", "乙"): 1.0}, types="人物")
    assert triples(decoded) == [("甲", "生于", "乙")] and decoded.dropped == {"schema": 1}


def test_what_follows_keeps_the_qualifiers_of_its_source() -> None:
    schema = relations(Relation("配偶", symmetric=True))
    decoded = ruled(schema, {("甲", "配偶", "乙", ("时间", "丁")): 1.0})
    text = {m.id: m.text for m in decoded.mentions}
    got = [[(q.role, text[q.mention]) for q in fact.qualifiers] for fact in decoded.facts]
    assert got == [[("时间", "丁")], [("时间", "丁")]] and decoded.dropped == {}


def test_spans_without_links_are_mentions_only_where_that_is_asked_for() -> None:
    doc, labels = family()
    y = targets(doc, characters().encode(doc.text), labels)
    none = np.zeros(0, np.int64)
    found = replace(as_found(y), relation=none, subject=none, object=none, score=np.zeros(0))
    pieces = characters().encode(doc.text)
    assert decode(found, doc, pieces, labels).mentions == ()
    everything = decode(found, doc, pieces, labels, Rules(mentions="all"))
    assert [(m.text, m.type) for m in everything.mentions] == [(m.text, m.type) for m in doc.mentions]
    assert everything.facts == ()


def test_a_qualifier_without_its_fact_is_dropped_and_counted() -> None:
    doc = make(TEXT, {id: PLACES[id] for id in ("李白", "长安", "静夜思")}, [("李白", "写", "静夜思", {"地": "长安"})])
    labels = labels_of([doc], typed=False)
    y = targets(doc, characters().encode(TEXT), labels)
    only = y.relation == 1
    found = replace(as_found(y), relation=y.relation[only], subject=y.subject[only], object=y.object[only],
                    score=np.ones(1))  # fmt: skip
    decoded = decode(found, doc, characters().encode(TEXT), labels)
    assert decoded == Decoding((), (), (), {"loose qualifier": 1})


def test_a_document_without_facts_is_no_trouble() -> None:
    doc = Document("d", "无")
    y = targets(doc, characters().encode("无"), Labels(("r",)))
    assert len(y.label) == len(y.relation) == 0 and y.outside([]) == []
    assert decode(as_found(y), doc, characters().encode("无"), Labels(("r",))) == Decoding((), (), (), {})


# ---- rules that read the text ---------------------------------------------------------------------------------------

CHAIR = relations(Relation("董事长", functional=True))


def ruled_in(text: str, facts: dict[tuple, float], rules: Rules, *, language: str | None = None) -> tuple:
    """Facts (head, relation, tail, {role: value}) with their scores, through decode; an argument is a word of the text,
    or (word, n) for its n-th occurrence. Gives what is kept as (head, start, tail, start, status), and dropped.
    """

    def place(x: str | tuple[str, int]) -> tuple[int, int, str]:
        word, nth = (x, 0) if isinstance(x, str) else x
        at = -1
        for _ in range(nth + 1):
            at = text.index(word, at + 1)
        return at, at + len(word), ""

    names = {x for key in facts for x in (key[0], key[2], *(value for _, value in key[3:]))}
    told = [(*(str(x) if i != 1 else x for i, x in enumerate(key[:3])), {r: str(v) for r, v in key[3:]})
            for key in facts]  # fmt: skip
    doc = make(text, {str(x): place(x) for x in names}, told)
    doc = replace(doc, language=language, sentences=tuple(Span(*s) for s in split_sentences(text)))
    labels = labels_of([doc], typed=False)
    pieces = characters().encode(text)
    y = targets(doc, pieces, labels)
    score = [9.0 if k < 0 else [*facts.values()][k] for k in y.fact]
    decoded = decode(replace(as_found(y), score=np.array(score)), doc, pieces, labels, rules)
    replace(doc, mentions=decoded.mentions, entities=decoded.entities, facts=decoded.facts)  # the nouns agree
    at = {m.id: m for m in decoded.mentions}
    ends = [(at[f.head_mention], at[f.tail_mention], f.assertion) for f in decoded.facts]
    return {(h.text, h.start, t.text, t.start, status) for h, t, status in ends}, decoded.dropped


TWO = "王小明没有担任蓝天科技董事长。李雷现任蓝天科技董事长。"


def test_a_denied_fact_neither_takes_another_s_place_nor_loses_its_own() -> None:
    facts = {("蓝天科技", "董事长", "王小明"): 5.0, (("蓝天科技", 1), "董事长", "李雷"): 2.0}
    both = {("蓝天科技", 7, "王小明", 0, "negated"), ("蓝天科技", 19, "李雷", 15, "asserted")}
    assert ruled_in(TWO, facts, Rules(CHAIR, assertion=True)) == (both, {})
    silent = {(*fact[:4], None) for fact in both}
    assert ruled_in(TWO, facts, Rules(CHAIR)) == (silent, {})  # given or not, the status is known to the rule


@pytest.mark.parametrize(
    ("weak", "status"),
    [
        ("王小明可能担任蓝天科技董事长。", "hedged"),
        ("据报道，王小明担任蓝天科技董事长。", "reported"),
        ("如果王小明担任蓝天科技董事长，股价会涨。", "conditional"),
    ],
)
def test_what_is_asserted_outlives_what_is_not_whatever_the_scores(weak: str, status: str) -> None:
    facts = {("蓝天科技", "董事长", "王小明"): 9.0, (("蓝天科技", 1), "董事长", "李雷"): 0.1}
    text = weak + "李雷现任蓝天科技董事长。"
    free, _ = ruled_in(text, facts, Rules(assertion=True))
    assert {(t, s) for _, _, t, _, s in free} == {("王小明", status), ("李雷", "asserted")}
    kept, dropped = ruled_in(text, facts, Rules(CHAIR, assertion=True))
    assert {(t, s) for _, _, t, _, s in kept} == {("李雷", "asserted")} and dropped == {"functional": 1}


def test_two_facts_of_one_status_are_ranked_by_score() -> None:
    facts = {("蓝天科技", "董事长", "王小明"): 1.0, (("蓝天科技", 1), "董事长", "李雷"): 2.0}
    text = "王小明可能担任蓝天科技董事长。李雷也许担任蓝天科技董事长。"
    kept, dropped = ruled_in(text, facts, Rules(CHAIR, assertion=True))
    assert {t for _, _, t, _, _ in kept} == {"李雷"} and dropped == {"functional": 1}


def test_a_denied_fact_stands_with_what_follows_from_it() -> None:
    schema = relations(Relation("妻", inverse="夫", functional=True), Relation("夫", functional=True))
    facts = {("王明", "妻", "李红"): 9.0, (("王明", 1), "妻", "赵兰"): 1.0}
    kept, dropped = ruled_in("王明没有娶李红。王明娶了赵兰。", facts, Rules(schema, complete=True, assertion=True))
    assert {(h, t, s) for h, _, t, _, s in kept} == {
        ("王明", "李红", "negated"),
        ("李红", "王明", "negated"),
        ("王明", "赵兰", "asserted"),
        ("赵兰", "王明", "asserted"),
    } and dropped == {}


SIFT = Rules(sift=True, assertion=True)


@pytest.mark.parametrize(
    ("text", "word", "tails", "kept"),
    [
        (
            "周杰伦没有演唱过《红豆》，《红豆》的歌手是王菲。",
            "红豆",
            ("周杰伦", "王菲"),
            {("红豆", 9, "周杰伦", 0, "negated"), ("红豆", 14, "王菲", 21, "asserted")},
        ),
        (  # the later 活着 is nearer to 莫言, in another clause
            "据传《活着》的作者是莫言，但《活着》的作者其实是余华。",
            "活着",
            ("莫言", "余华"),
            {("活着", 3, "莫言", 10, "hedged"), ("活着", 15, "余华", 24, "asserted")},
        ),
        (
            "Alive may have been by Mo Yan, but Alive was written by Yu Hua.",
            "Alive",
            ("Mo Yan", "Yu Hua"),
            {("Alive", 0, "Mo Yan", 23, "hedged"), ("Alive", 35, "Yu Hua", 56, "asserted")},
        ),
    ],
)
def test_of_several_mentions_in_a_sentence_the_pair_of_one_clause_is_kept_then_the_nearest(
    text: str, word: str, tails: tuple[str, ...], kept: set
) -> None:
    facts = {((word, n), "r", tail): 1.0 for n in (0, 1) for tail in tails}
    everything, _ = ruled_in(text, facts, replace(SIFT, sift=False))
    assert len(everything) == 4
    assert ruled_in(text, facts, SIFT) == (kept, {"several mentions": 2})


def test_the_same_told_in_two_sentences_or_across_them_is_told_twice() -> None:
    text = "王明认识李红。王明见过李红。"
    inside = {(("王明", n), "认识", ("李红", n)): 1.0 for n in (0, 1)}
    assert len(ruled_in(text, inside, SIFT)[0]) == 2 and ruled_in(text, inside, SIFT)[1] == {}
    across = {("王明", "认识", ("李红", 1)): 1.0, **inside}
    assert len(ruled_in(text, across, SIFT)[0]) == 3


def test_what_is_kept_of_several_mentions_has_the_qualifiers_of_all_and_its_own_score() -> None:
    text = "胡歌饰演李逍遥，胡歌演的李逍遥在仙剑中。"
    facts = {("胡歌", "饰演", "李逍遥"): 3.0, (("胡歌", 1), "饰演", ("李逍遥", 1), ("作品", "仙剑")): 1.0}
    doc = make(
        text,
        {"a": (0, 2, ""), "b": (4, 7, ""), "c": (8, 10, ""), "d": (12, 15, ""), "w": (16, 18, "")},
        [("a", "饰演", "b"), ("c", "饰演", "d", {"作品": "w"})],
    )
    labels = labels_of([doc], typed=False)
    decoded = through(doc, labels, SIFT)
    (fact,) = decoded.facts
    assert [q.role for q in fact.qualifiers] == ["作品"] and decoded.dropped == {"several mentions": 1}
    assert ruled_in(text, facts, SIFT)[1] == {"several mentions": 1}


def test_both_sides_of_a_statement_keep_the_same_pair() -> None:
    schema = relations(Relation("配偶", symmetric=True))
    facts = {("王明", "配偶", "李红"): 1.0, (("李红", 1), "配偶", "王明"): 1.0}
    kept, dropped = ruled_in("王明和李红结婚，李红是老师。", facts, Rules(schema, complete=True, sift=True))
    assert {fact[:4] for fact in kept} == {("王明", 0, "李红", 3), ("李红", 3, "王明", 0)}
    assert dropped == {"several mentions": 2}


@pytest.mark.parametrize(
    ("text", "head", "tail", "language"),
    [
        ("苏良嗣是大臣。", "苏良嗣", "苏良嗣", None),
        ("《三体》的作者可能是他。", "三体", "可能", None),
        ("《红豆》，《红豆》的歌手是王菲。", "红豆》，《红豆", "王菲", None),  # two names
        ("《活着》的作者是莫言，又一本。", "活着》的作者是莫言，", "莫言", None),
        ("他读《乔布斯传，不错。", "《乔布斯传", "乔布斯", None),
        ("甲公司,乙公司合并。", "甲公司,乙公司", "乙公司", None),
        ("Orion may buy it.", "Orion", "may", None),
    ],
)
def test_arguments_that_are_no_names_are_left_out(text: str, head: str, tail: str, language: str | None) -> None:
    facts = {(head, "作者", tail): 5.0}
    assert len(ruled_in(text, facts, Rules(), language=language)[0]) == 1
    assert ruled_in(text, facts, SIFT, language=language) == (set(), {"no name": 1})


@pytest.mark.parametrize(
    ("text", "head", "tail", "language"),
    [
        ("他是如何说服听众的：乔布斯演讲会。", "他是如何说服听众的：乔布斯演讲会", "乔布斯", None),
        ("北京大学在招生。", "北京大学", "北京", None),
        ("He lives in Auburn, Washington now.", "Auburn, Washington", "Washington", None),
        ("他写了库洛洛版《来信，丝莲很喜欢。", "库洛洛版《来信", "丝莲", None),  # broken, and not around the other
        ("《可能》的作者是刘慈欣。", "可能", "刘慈欣", None),  # a title
        ("歌曲“如果”的歌手是王菲，很好听。", "如果", "王菲", None),
        ("May was born in Ulm.", "May", "Ulm", None),
        ("Orion sah may in Ulm.", "Orion", "may", "de"),  # no cues are known
    ],
)
def test_arguments_that_may_be_names_stay(text: str, head: str, tail: str, language: str | None) -> None:
    kept, dropped = ruled_in(text, {(head, "作者", tail): 5.0}, SIFT, language=language)
    assert {(h, t) for h, _, t, _, _ in kept} == {(head, tail)} and dropped == {}
