"""Triples through the extractor: sentences longer than a window, the schema's rules, and what coverage says of it."""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from factpin.documents import Document, Entity, Fact, Mention, Span
from factpin.language.sentences import split_sentences
from factpin.models.extractor import Extractor
from factpin.models.settings import Settings
from factpin.tasks import TASKS
from factpin.tasks.links import Links
from factpin.tasks.triples.finder import TripleFinder
from factpin.tasks.triples.task import TRIPLES, TripleOptions
from factpin.tokens import piece_spans
from factpin.training.config import TrainConfig
from factpin.training.run import run_training
from tests.conftest import PEOPLE, PLACES

HOW = TrainConfig(epochs=12, batch_size=8, learning_rate=3e-3, head_learning_rate=3e-3, seed=7)
CLAUSES = ("{}出生于{}", "{}住在{}")
RELATIONS = ("born in", "lives in")
NAMES, TOWNS = PEOPLE[:4], PLACES[:4]


def sentence(chance: random.Random, id: str, clauses: int) -> Document:
    """One sentence of so many clauses, each with its fact; who is in one has nothing to do with the next."""
    text, mentions, facts = "", [], []
    for _ in range(clauses):
        kind, name, town = chance.randrange(2), chance.choice(NAMES), chance.choice(TOWNS)
        for word, type in ((name, "person"), (town, "place")):
            at = len(text) + CLAUSES[kind].format(name, town).rindex(word)
            mentions.append(Mention(f"m{len(mentions)}", at, at + len(word), word, type))
        text += CLAUSES[kind].format(name, town) + "，"
        head, tail = mentions[-2:]
        facts.append(Fact(f"e{head.id}", RELATIONS[kind], f"e{tail.id}", head.id, tail.id))
    entities = tuple(Entity(f"e{m.id}", (m.id,), m.type, m.text) for m in mentions)
    return Document(id, text[:-1] + "。", "zh", (Span(0, len(text)),), tuple(mentions), entities, tuple(facts))


def told(doc: Document) -> list[tuple[int, str, int]]:
    """The facts by the characters at which they are pinned."""
    start = {m.id: m.start for m in doc.mentions}
    return sorted((start[f.head_mention or ""], f.relation, start[f.tail_mention or ""]) for f in doc.facts)


@pytest.fixture(scope="module")
def extractor(encoder_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Extractor:
    chance = random.Random(1)
    docs = [sentence(chance, f"s{i}", 1 + i % 4) for i in range(150)]
    config = TripleOptions(str(encoder_folder), rope=True, dropout=0.0, max_length=24, overlap=10)
    target = tmp_path_factory.mktemp("clauses") / "m"
    run_training(TRIPLES, docs, [], config, HOW, target, quiet=True)
    return Extractor.load(target)


def reading(extractor: Extractor, *, size: int, overlap: int = 10, **task) -> Extractor:
    """The same model, with windows of so many pieces and with other rules."""
    settings = extractor.settings
    settings = replace(settings, max_length=size + extractor.tokenizer.frame_size, overlap=overlap,
                       task_config={**settings.task_config, **task})  # fmt: skip
    return replace(extractor, settings=settings)


def notes(doc: Document) -> tuple[str, ...]:
    return doc.coverage.notes if doc.coverage else ()


# ---- long sentences -------------------------------------------------------------------------------------------------


def test_facts_of_a_sentence_longer_than_a_window_are_found_once_where_they_stand(extractor: Extractor) -> None:
    chance = random.Random(2)
    gold = [sentence(chance, f"t{i}", 6) for i in range(15)]
    docs = list(extractor.annotate(gold))
    found, right = [told(doc) for doc in docs], [told(doc) for doc in gold]
    hits = sum(len({*a} & {*b}) for a, b in zip(found, right, strict=True))
    assert hits > 0.65 * sum(map(len, right)) and hits > 0.65 * sum(map(len, found))
    for doc, facts in zip(docs, found, strict=True):
        assert len(set(facts)) == len(facts)
        assert doc.coverage is not None and len(doc.coverage.read) >= 3
        assert doc.coverage.read[0].start == 0 and doc.coverage.read[-1].end == len(doc.text)
        for fact in doc.facts:
            ends = [doc.mention(id or "") for id in (fact.head_mention, fact.tail_mention)]
            assert any(all(r.start <= m.start and m.end <= r.end for m in ends) for r in doc.coverage.read)
            assert [e.sentence for e in fact.evidence] == [0] and fact.assertion == "asserted"


def test_a_window_that_holds_the_whole_sentence_changes_nothing(extractor: Extractor) -> None:
    chance = random.Random(3)
    docs = [sentence(chance, f"t{i}", 2) for i in range(10)]
    narrow, wide = ([told(doc) for doc in model.annotate(docs)]
                    for model in (extractor, reading(extractor, size=60)))  # fmt: skip
    assert narrow == wide and any(narrow)


def test_a_fact_that_no_window_holds_is_not_found_and_the_note_says_why(extractor: Extractor) -> None:
    (doc,) = extractor.extract(["王小明出生于北京。"])
    assert told(doc) == [(0, "born in", 6)]
    assert notes(doc) == ("facts are looked for inside one sentence at a time",)
    (cut,) = reading(extractor, size=4, overlap=1).extract(["王小明出生于北京。"])
    assert not cut.facts and cut.coverage is not None and len(cut.coverage.read) > 1
    assert notes(cut) == ("facts are looked for inside one window at a time",)


@pytest.mark.parametrize("task", ["triples", "events"])
@pytest.mark.parametrize(
    ("text", "context", "said"),
    [
        ("北京。上海。广州。", "sentence", "sentence"),
        ("北京。上海。广州。", "window", "window"),
        ("北京。" + "上海，" * 20 + "广州。", "sentence", "window"),  # one sentence of two has more than one window
        ("", "sentence", "sentence"),
    ],
)
def test_coverage_says_window_where_a_sentence_was_not_read_whole(
    task: str, text: str, context: str, said: str, extractor: Extractor
) -> None:
    settings = replace(extractor.settings, context=context)
    if task == "events":
        settings = Settings("events", (), "event_linker", {"triggers": (), "roles": ()}, "", context=context)
    read = replace(extractor.reader, context=context).read(Document("d", text))
    doc = TASKS[task].prepare(settings, extractor.tokenizer).annotate(read, Links.of({}, {}))
    assert f"looked for inside one {said} at a time" in notes(doc)[0]


# ---- rules ----------------------------------------------------------------------------------------------------------


def test_a_functional_relation_keeps_the_best_tail_and_an_inverse_is_told_too(extractor: Extractor) -> None:
    relations = {
        "born in": {"heads": ["person"], "tails": ["place"], "functional": True, "inverse": "birthplace of"},
        "birthplace of": {"heads": ["place"], "tails": ["person"]},
    }
    text = "王小明出生于北京，王小明出生于广州。"
    (free,) = reading(extractor, size=40).extract([text])
    assert {*told(free)} >= {(0, "born in", 6), (9, "born in", 15)}
    rules = {"schema": {"types": [], "relations": relations}, "functional": True, "complete": True}
    (ruled,) = reading(extractor, size=40, **rules).extract([text])
    forth = [(head, tail) for head, relation, tail in told(ruled) if relation == "born in"]
    back = [(tail, head) for head, relation, tail in told(ruled) if relation == "birthplace of"]
    assert len({ruled.entity(f.tail).name for f in ruled.facts if f.relation == "born in"}) == 1
    assert forth == sorted(back) and forth


def given(extractor: Extractor, text: str, facts: dict[tuple[str | tuple[str, int], str], float], **task) -> Document:
    """The document of a text in which the head found "born in" between words, or (word, n) for its n-th time."""
    read = extractor.reader.read(Document("d", text, "zh", tuple(Span(*s) for s in split_sentences(text))))

    def cell(x: str | tuple[str, int], label: int) -> tuple[int, int, int]:
        word, nth = (x, 0) if isinstance(x, str) else x
        at = -1
        for _ in range(nth + 1):
            at = text.index(word, at + 1)
        first, last, ok = piece_spans(read.pieces, [at], [at + len(word)])
        assert ok[0]
        return label, int(first[0]), int(last[0])

    labels = TripleFinder.prepare(extractor.settings, extractor.tokenizer).labels
    links = {(labels.relations.index("born in"), cell(h, labels.subject("person")), cell(t, labels.object("place"))): x
             for (h, t), x in facts.items()}  # fmt: skip
    spans = {cell: 5.0 for _, *cells in links for cell in cells}
    return reading(extractor, size=40, **task).finder.annotate(read, Links.of(spans, links))


ONE = {"schema": {"relations": {"born in": {"functional": True}}}, "functional": True}


def statuses(doc: Document) -> set[tuple[str, str, str | None]]:
    text = {m.id: m.text for m in doc.mentions}
    return {(text[f.head_mention or ""], text[f.tail_mention or ""], f.assertion) for f in doc.facts}


def test_a_functional_relation_never_keeps_a_denial_for_what_is_asserted(extractor: Extractor) -> None:
    found = {("王小明", "北京"): 6.0, (("王小明", 1), "广州"): 1.0}
    both = {("王小明", "北京", "negated"), ("王小明", "广州", "asserted")}
    doc = given(extractor, "王小明没有出生于北京。王小明出生于广州。", found, **ONE)
    assert statuses(doc) == both and len(notes(doc)) == 1
    doc = given(extractor, "王小明可能出生于北京。王小明出生于广州。", found, **ONE)
    assert statuses(doc) == {("王小明", "广州", "asserted")}
    assert notes(doc)[1:] == ("1 fact left out for a better one, where there can be one alone",)


def test_what_the_rules_leave_out_is_counted_in_the_notes(extractor: Extractor) -> None:
    text = "王小明没有出生于北京，王小明可能出生于广州。"
    found = {(("王小明", n), town): 3.0 for n in (0, 1) for town in ("北京", "广州", "可能")}
    doc = given(extractor, text, found)
    assert statuses(doc) == {("王小明", "北京", "negated"), ("王小明", "广州", "hedged")}
    assert notes(doc)[1:] == (
        "2 facts left out with an argument that is not one name of its own",
        "2 facts left out that other mentions of the same names, closer to each other, state",
    )
    assert {m.text for m in doc.mentions} == {"王小明", "北京", "广州"}
    assert {f.assertion for f in given(extractor, text, found, assertion=False).facts} == {None}


def test_mentions_that_are_told_alone_pass_the_threshold_of_the_head_however_low_a_relation_s_is(
    extractor: Extractor,
) -> None:
    chance = random.Random(4)
    docs = [sentence(chance, f"t{i}", 4) for i in range(10)]
    low = replace(extractor, settings=replace(extractor.settings, thresholds={"born in": -4.0}))
    alone = []
    for doc in reading(low, size=40, mentions="all").annotate(docs):
        linked = {id for f in doc.facts for id in (f.head_mention, f.tail_mention)}
        alone += [m.score for m in doc.mentions if m.id not in linked]
    weak = [m.score for doc in reading(low, size=40).annotate(docs) for m in doc.mentions]
    assert min(weak) < 0.5  # a link takes its spans with it
    assert alone and all(score is not None and score >= 0.5 for score in alone)
