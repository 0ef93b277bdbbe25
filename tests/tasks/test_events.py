"""Events: decode undoes targets, whatever is shared; what cannot be told apart is counted."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factpin.documents import Argument, Document, Event, Mention, Span, canonical
from factpin.tasks.events import Decoding, Labels, Rules, Targets, cliques, decode, labels_of, targets
from factpin.tasks.links import Links, merge
from factpin.tasks.spans import Scale
from factpin.tokens import Pieces, windows
from tests.events_corpus import corpus
from tests.tokens.families import FAMILIES, characters

WORDS = ["谷爱凌", "美国", "北京", "café", "Zürich", "😀", "12", "ab", "ﬁne"]


def make(text: str, spans: dict[str, tuple[int, int]], events: list[tuple]) -> Document:
    """A document from named spans and events (type, trigger or None, {(role, span), …})."""
    mentions = tuple(Mention(id, s, e, text[s:e]) for id, (s, e) in spans.items())
    made = tuple(
        Event(f"v{k}", type, trigger, tuple(Argument(role, id) for role, id in sorted(arguments)))
        for k, (type, trigger, arguments) in enumerate(events)
    )
    return Document("d", text, sentences=(Span(0, len(text)),), mentions=mentions, events=made)


def letters(*events: tuple) -> Document:
    """The mentions a, b, c, … are the letters of the text."""
    used = sorted({x for _, trigger, arguments in events for x in (trigger, *(id for _, id in arguments)) if x})
    return make("abcdefgh", {x: ("abcdefgh".index(x), "abcdefgh".index(x) + 1) for x in used}, list(events))


def as_found(y: Targets, labels: Labels, score: float = 1.0) -> Links:
    """What a head that makes no mistake finds: pairs of spans whose ends are both taught, by the definition."""
    spans = list(zip(y.label.tolist(), y.first.tolist(), y.last.tolist(), strict=True))
    heads = {tuple(sorted((spans[a][1], spans[b][1]))) for a, b in y.links()}
    tails = {tuple(sorted((spans[a][2], spans[b][2]))) for a, b in y.links()}
    kind = [labels.classes[c] for c, _, _ in spans]
    links = {
        (0, spans[a], spans[b]): score
        for a, b in combinations(range(len(spans)), 2)
        if kind[a][0] == kind[b][0]
        and tuple(sorted((spans[a][1], spans[b][1]))) in heads
        and tuple(sorted((spans[a][2], spans[b][2]))) in tails
    }
    return Links.of(dict.fromkeys(spans, score), links)


def through(doc: Document, labels: Labels, rules: Rules | None = None, tokenizer=characters) -> Decoding:
    pieces = tokenizer().encode(doc.text)
    return decode(as_found(targets(doc, pieces, labels), labels), doc, pieces, labels, rules)


def said(doc: Document, decoded: Decoding) -> Document:
    """The document with what was decoded, without scores."""
    mentions = tuple(replace(m, score=None) for m in decoded.mentions)
    return canonical(replace(doc, mentions=mentions, events=tuple(replace(v, score=None) for v in decoded.events)))


def taught(doc: Document, **options: bool) -> tuple[Targets, Pieces, Labels]:
    labels, pieces = labels_of([doc], **options), characters().encode(doc.text)
    return targets(doc, pieces, labels), pieces, labels


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """Words with mentions over runs of them; only mentions of events, some without triggers."""
    words = draw(st.lists(st.sampled_from(WORDS), min_size=2, max_size=9))
    text, ends = "", []
    for word in words:
        ends.append((len(text), len(text) + len(word)))
        text += word + draw(st.sampled_from(["", " ", "，"]))
    spans: dict[str, tuple[int, int]] = {}
    for n in range(draw(st.integers(1, 7))):
        i = draw(st.integers(0, len(words) - 1))
        j = draw(st.integers(i, min(i + 2, len(words) - 1)))
        if (ends[i][0], ends[j][1]) not in spans.values():
            spans[f"m{n}"] = (ends[i][0], ends[j][1])
    names = sorted(spans)
    pairs = st.tuples(st.sampled_from(["r0", "r.1", ""]), st.sampled_from(names))
    events = []
    for _ in range(draw(st.integers(1, 4))):
        trigger = draw(st.sampled_from([None, *names]))
        arguments = draw(st.sets(pairs, min_size=trigger is None, max_size=4))
        events.append((draw(st.sampled_from(["T", "事件"])), trigger, arguments))
    used = {x for _, trigger, arguments in events for x in (trigger, *(id for _, id in arguments))}
    return make(text, {id: spans[id] for id in spans if id in used}, events)


@pytest.mark.parametrize("family", FAMILIES)
@given(doc=documents())
def test_decode_undoes_targets(family: str, doc: Document) -> None:
    labels, pieces = labels_of([doc]), FAMILIES[family]().encode(doc.text)
    y = targets(doc, pieces, labels)
    back = through(doc, labels, tokenizer=FAMILIES[family])
    assert not y.unknown and not back.truncated and not back.dropped
    whole = len(doc.events) - len(y.unalignable) - len(y.merged)
    assert len(back.events) == whole + y.invented  # what is lost and what is added is counted
    if y.unalignable or y.lost_arguments:
        assert family != "characters"
        return
    kept = [event for event in doc.events if event not in y.merged]
    both = {_content(doc.mentions, v) for v in kept} & {_content(back.mentions, v) for v in back.events}
    assert len(both) == whole  # the others come back as they were
    if not y.merged and not y.invented:
        assert said(doc, back) == canonical(doc)


def _content(mentions: tuple[Mention, ...], event: Event) -> tuple:
    place = {m.id: (m.start, m.end) for m in mentions}
    return event.type, place.get(event.trigger), frozenset((a.role, place[a.mention]) for a in event.arguments)


@pytest.mark.parametrize("seed", range(3))
def test_the_small_world_comes_back(seed: int) -> None:
    docs = corpus(33, seed)
    labels = labels_of(docs)
    for doc in docs:
        y = targets(doc, characters().encode(doc.text), labels)
        assert (y.unalignable, y.unknown, y.merged, y.lost_arguments, y.invented) == ((), (), (), 0, 0)
        assert said(doc, through(doc, labels)) == canonical(doc)


# ---- what events can share ------------------------------------------------------------------------------------------

SHARED = {
    "one trigger, one argument": [("T", "a", {("r", "b")}), ("T", "a", {("r", "c")})],
    "all arguments, two triggers": [("T", "a", {("r", "c"), ("s", "d")}), ("T", "b", {("r", "c"), ("s", "d")})],
    "an argument in another role": [("T", "a", {("r", "b")}), ("U", "c", {("s", "b"), ("r", "d")})],
    "everything but the type": [("T", "a", {("r", "b"), ("s", "c")}), ("U", "a", {("r", "b"), ("s", "c")})],
    "a trigger that is an argument": [("T", "a", {("r", "b")}), ("U", "b", {("r", "a")})],
    "one span in two roles": [("T", "a", {("r", "b"), ("s", "b")})],
    "no trigger": [("T", None, {("r", "a"), ("s", "b")}), ("T", None, {("r", "c"), ("s", "b")})],
    "one argument alone": [("T", None, {("r", "a")}), ("T", "b", set()), ("T", "c", {("r", "d")})],
    "two of one role": [("T", "a", {("r", "b"), ("r", "c"), ("r", "d")})],
}


@pytest.mark.parametrize("kind", SHARED)
def test_events_that_share_come_back(kind: str) -> None:
    doc = letters(*SHARED[kind])
    y, _, labels = taught(doc)
    assert not y.merged and not y.invented
    assert said(doc, through(doc, labels)) == canonical(doc)


def test_nested_arguments_come_back() -> None:
    text = "北京大学校长林晓获奖"
    spans = {"school": (0, 4), "city": (0, 2), "head": (0, 8), "name": (6, 8), "won": (8, 10)}
    doc = make(text, spans, [("获奖", "won", {("单位", "school"), ("地点", "city"), ("得主", "head"), ("人", "name")})])
    assert said(doc, through(doc, taught(doc)[2])) == canonical(doc)


MERGED = {
    "inside another": ([("T", "a", {("r", "b"), ("s", "c")}), ("T", "a", {("r", "b")})], [1], 0),
    "told twice": ([("T", "a", {("r", "b")}), ("T", "a", {("r", "b")})], [1], 0),
    "their union is a clique": (
        [("T", None, {("r", "a"), ("s", "b")}), ("T", None, {("s", "b"), ("t", "c")}),
         ("T", None, {("r", "a"), ("t", "c")})], [0, 1, 2], 1,
    ),
    "a clique between three": (
        [("T", "a", {("r", "d"), ("s", "e")}), ("T", "b", {("s", "e"), ("t", "f")}),
         ("T", "c", {("r", "d"), ("t", "f")})], [], 1,
    ),
    "one span, another role in each": ([("T", "a", {("r", "b")}), ("T", "c", {("s", "b"), ("r", "d")})], [], 2),
    "alone and in company": ([("T", None, {("r", "a")}), ("T", "b", {("r", "a")})], [0], 0),
    "linked by another type": (
        [("T", None, {("r", "a")}), ("T", None, {("s", "b")}), ("U", None, {("r", "a"), ("s", "b")})], [0, 1], 1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", MERGED)
def test_events_that_cannot_be_told_apart_are_counted(kind: str) -> None:
    events, merged, invented = MERGED[kind]
    doc = letters(*events)
    y, _, labels = taught(doc)
    assert (y.merged, y.invented) == (tuple(doc.events[k] for k in merged), invented)
    assert len(through(doc, labels).events) == len(events) - len(merged) + invented


# ---- targets --------------------------------------------------------------------------------------------------------


def test_labels_are_triggers_and_roles_by_type() -> None:
    doc = letters(("U", "a", {("r", "b")}), ("T", "a", {("s", "b"), ("r", "c")}), ("V", None, {("r", "c")}))
    labels = labels_of([doc])
    assert labels == Labels(("T", "U"), (("T", "r"), ("T", "s"), ("U", "r"), ("V", "r")))
    assert labels.names == ("T", "U", "T.r", "T.s", "U.r", "V.r") and labels.types == ("T", "U", "V")
    assert labels.classes[1:3] == (("U", None), ("T", "r"))
    assert labels_of([doc], triggers=False) == replace(labels, triggers=())


def test_what_cannot_be_taught_is_counted() -> None:
    text = "Hello world café"
    spans = {"a": (0, 5), "b": (6, 11), "half": (7, 9), "c": (12, 16)}
    doc = make(text, spans, [
        ("T", "a", {("r", "b"), ("r", "half"), ("unheard", "c")}),
        ("T", "half", set()), ("U", "a", {("r", "b")}), ("T", None, set()),
    ])  # fmt: skip
    doc = replace(doc, events=(*doc.events, Event("n", "T", "c", (Argument("r", event="v0"),))))
    y = targets(doc, FAMILIES["word_piece"]().encode(text), Labels(("T",), (("T", "r"),)))
    assert y.unknown == (doc.events[2],) and y.unalignable == (doc.events[1], doc.events[3])
    assert y.lost_arguments == 3  # half a word, an unknown role, an event
    assert sorted(set(y.event.tolist())) == [0, 4] and y.outside([]) == [0, 4]


def test_without_triggers_only_arguments_are_told() -> None:
    doc = letters(("T", "a", {("r", "b"), ("s", "c")}), ("T", "d", {("r", "e")}))
    y, _, labels = taught(doc, triggers=False)
    assert y.lost_arguments == 0 and not y.merged
    bare = letters(("T", None, {("r", "b"), ("s", "c")}), ("T", None, {("r", "e")}))
    assert said(doc, through(doc, labels)) == canonical(bare)


def test_every_pair_of_an_event_is_linked_once() -> None:
    doc = letters(("T", "a", {("r", "b"), ("s", "c")}), ("T", "a", {("r", "b"), ("t", "d")}))
    y, _, _ = taught(doc)
    assert len(y.links()) == 5 and all(a < b for a, b in y.links())
    assert sorted(map(len, y.members().values())) == [3, 3]


# ---- windows --------------------------------------------------------------------------------------------------------


def test_a_window_teaches_what_it_holds_and_names_what_none_holds() -> None:
    doc = letters(("T", "a", {("r", "b"), ("s", "g")}), ("U", "b", {("r", "h")}), ("V", None, {("r", "f")}))
    y, pieces, _ = taught(doc)
    layout = windows(pieces, [(0, 4), (4, 8)], 4, 0, context="sentence")
    left, right = (y.inside(window) for window in layout)
    assert (left.event.tolist(), len(left.links())) == ([0, 0], 1)  # the pair a, b
    assert (right.event.tolist(), right.first.tolist()) == ([2], [1])  # f alone, since that is the whole event
    assert y.outside(layout) == [0, 1]
    assert y.outside(windows(pieces, [], 8, 0)) == []


@given(doc=documents(), size=st.integers(4, 40), overlap=st.integers(0, 3))
def test_windows_that_hold_everything_give_what_one_window_gives(doc: Document, size: int, overlap: int) -> None:
    y, pieces, labels = taught(doc)
    layout = windows(pieces, doc.sentences, size, overlap)
    parts = [as_found(y.inside(window), labels) for window in layout]
    found = decode(merge(layout, parts), doc, pieces, labels)
    if not y.outside(layout) and not y.merged and not y.invented:
        assert said(doc, found) == canonical(doc)
    if len(layout) == 1:
        assert found == through(doc, labels)


# ---- cliques --------------------------------------------------------------------------------------------------------


def by_definition(size: int, links: set[tuple[int, int]]) -> list[tuple[int, ...]]:
    """Every set of nodes that are all linked, and that no further node is linked to."""
    near = {a: {b for b in range(size) if (min(a, b), max(a, b)) in links and a != b} for a in range(size)}
    whole = [set(c) for n in range(1, size + 1) for c in combinations(range(size), n)
             if all(pair in links for pair in combinations(c, 2))]  # fmt: skip
    return sorted(tuple(sorted(c)) for c in whole if not any(c <= near[x] for x in range(size)))


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, set[tuple[int, int]]]:
    size = draw(st.integers(0, 7))
    pairs = list(combinations(range(size), 2))
    return size, draw(st.sets(st.sampled_from(pairs))) if pairs else set()


@given(graphs())
def test_cliques_are_those_of_the_definition(graph: tuple[int, set[tuple[int, int]]]) -> None:
    size, links = graph
    assert cliques(size, links) == (by_definition(size, links), False)


def test_a_search_that_would_not_end_stops_and_says_so() -> None:
    size = 60  # groups of three that are not linked inside: 3 ** 20 cliques
    links = [(a, b) for a, b in combinations(range(size), 2) if a // 3 != b // 3]
    found, cut = cliques(size, links, steps=500)
    assert cut and found and all(len(clique) == 20 for clique in found)
    assert cliques(9, [(a, b) for a, b in combinations(range(9), 2) if a // 3 != b // 3])[1] is False
    assert len(cliques(9, [(a, b) for a, b in combinations(range(9), 2) if a // 3 != b // 3])[0]) == 27


def test_each_part_of_a_long_text_has_its_own_budget() -> None:
    links = [(5 * k + a, 5 * k + b) for k in range(200) for a, b in combinations(range(5), 2)]
    found, cut = cliques(1000, links, steps=6)
    assert len(found) == 200 and not cut
    assert cliques(1000, links, steps=5) == ([], True)


def test_a_large_event_needs_few_steps_and_no_recursion() -> None:
    found, cut = cliques(1500, combinations(range(1500), 2))
    assert found == [tuple(range(1500))] and not cut


# ---- decode ---------------------------------------------------------------------------------------------------------


def test_scores_are_the_least_of_an_event_and_probabilities() -> None:
    doc = letters(("T", "a", {("r", "b"), ("s", "c")}))
    y, pieces, labels = taught(doc)
    found = as_found(y, labels)
    found = replace(found, span_score=np.array([3.0, 2.0, 5.0]), score=np.array([4.0, 0.5, 6.0]))
    decoded = decode(found, doc, pieces, labels, Rules(scale=Scale(2.0, 1.0)))
    assert decoded.events[0].score == Scale(2.0, 1.0).probability(0.5)
    assert [m.score for m in decoded.mentions] == [Scale().probability(x) for x in (3.0, 2.0, 5.0)]
    replace(doc, mentions=decoded.mentions, events=decoded.events)  # the nouns agree


def test_a_missing_link_parts_an_event_and_a_trigger_can_be_required() -> None:
    doc = letters(("T", "a", {("r", "b"), ("s", "c")}))
    y, pieces, labels = taught(doc)
    whole = as_found(y, labels)
    kept = ~((whole.subject == 0) & (whole.object == 2))  # trigger and s are not linked
    parted = replace(whole, relation=whole.relation[kept], subject=whole.subject[kept], object=whole.object[kept],
                     score=whole.score[kept])  # fmt: skip
    assert [len(v.arguments) + (v.trigger is not None) for v in decode(parted, doc, pieces, labels).events] == [2, 2]
    strict = decode(parted, doc, pieces, labels, Rules(trigger="required"))
    assert [[a.role for a in v.arguments] for v in strict.events] == [["r"]] and strict.dropped == {"no trigger": 1}
    assert [m.text for m in strict.mentions] == ["a", "b"]
    larger = decode(parted, doc, pieces, labels, Rules(least=3))
    assert (larger.events, larger.mentions, larger.dropped) == ((), (), {"too few arguments": 2})


def test_two_triggers_are_never_in_one_event_and_order_of_a_pair_means_nothing() -> None:
    doc = letters(("T", "a", {("r", "c")}), ("T", "b", {("r", "c")}))
    y, pieces, labels = taught(doc)
    cells = list(zip(y.label.tolist(), y.first.tolist(), y.last.tolist(), strict=True))
    links = {(0, b, a): 1.0 for a, b in combinations(cells, 2)}  # a head may well link them
    decoded = decode(Links.of(dict.fromkeys(cells, 1.0), links), doc, pieces, labels)
    assert said(doc, decoded) == canonical(doc)


def test_a_budget_that_was_used_up_is_told() -> None:
    doc = letters(("T", "a", {("r", "b")}), ("T", "c", {("r", "d")}))
    decoded = through(doc, labels_of([doc]), Rules(steps=2))
    assert decoded.truncated and len(decoded.events) < 2
    assert not through(doc, labels_of([doc])).truncated
    y, pieces, labels = taught(doc)
    assert decode(replace(as_found(y, labels), truncated=True), doc, pieces, labels).truncated


def test_a_document_without_events_is_no_trouble() -> None:
    doc = Document("d", "无")
    y, pieces, labels = taught(doc)
    assert len(y.label) == len(y.event) == 0 and y.links() == [] and y.outside([]) == []
    (window,) = windows(pieces, [], 4, 0)
    assert len(y.inside(window).label) == 0
    assert decode(as_found(y, labels), doc, pieces, labels) == Decoding((), (), {}, truncated=False)
