"""Triples end to end on a small world: learned, kept, found again from every door, and honest about what is not."""

import random
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

import factpin
from factpin import formats
from factpin.corpora.evaluate import evaluate
from factpin.documents import Document, Entity, Fact, Mention, Qualifier, Span
from factpin.errors import BadInput
from factpin.extraction.extract import extract, load_models
from factpin.scoring import align, triples
from factpin.scoring.counts import total
from factpin.tasks.spans import Scale
from factpin.tasks.triples.finder import TripleSettings
from factpin.tasks.triples.task import TRIPLES, TripleOptions
from factpin.tasks.triples.tune import fact_candidates, mention_candidates
from factpin.training.config import TrainConfig
from factpin.training.job import TaskJob
from factpin.training.run import run_training, start
from tests.app.test_cli import factpin as command
from tests.conftest import PEOPLE, PLACES

QUICK = TrainConfig(epochs=14, batch_size=8, learning_rate=3e-3, head_learning_rate=3e-3, seed=7)
FRAMES: list[tuple[str, list[tuple[str, ...]]]] = [  # facts are head, relation, tail, and role and value of a qualifier
    ("{p}出生于{l}。", [("p", "born in", "l")]),
    ("昨天{p}到了{l}，今天{q}也来了。", [("p", "visited", "l"), ("q", "visited", "l")]),
    ("{p} was born in {l}.", [("p", "born in", "l")]),
    ("In {l} lives {p} with {q}.", [("p", "lives in", "l"), ("q", "lives in", "l")]),
    ("{l}下雪了。", []),
    ("{p} and {q} spoke.", []),
    ("{p} met {q} in {l}.", [("p", "met", "q", "where", "l")]),
]


def sentence(chance: random.Random, id: str, *, pinned: bool = True) -> Document:
    frame, facts = chance.choice(FRAMES)
    words = dict(zip("pq", chance.sample(PEOPLE, 2), strict=True)) | {"l": chance.choice(PLACES)}
    text, mentions = "", {}
    for part in re.split(r"\{(\w)\}", frame):
        if part in words and len(part) == 1:
            start, word = len(text), words[part]
            mentions[part] = Mention(part, start, start + len(word), word, "place" if part == "l" else "person")
            part = word
        text += part
    told = tuple(
        Fact(f"e{h}", r, f"e{t}", h if pinned else None, t if pinned else None,
             qualifiers=(Qualifier(rest[0], f"e{rest[1]}", rest[1] if pinned else None),) if rest else ())
        for h, r, t, *rest in facts
    )  # fmt: skip
    entities = tuple(Entity(f"e{m.id}", (m.id,), m.type, m.text) for m in mentions.values())
    return Document(id, text, sentences=(Span(0, len(text)),), mentions=tuple(mentions.values()), entities=entities,
                    facts=told)  # fmt: skip


def corpus(size: int, seed: int) -> list[Document]:
    chance = random.Random(seed)
    return [sentence(chance, f"t{seed}-{i}") for i in range(size)]


@pytest.fixture(scope="module")
def folder(encoder_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("triples") / "m"
    config = TripleOptions(str(encoder_folder), dropout=0.0)
    report = run_training(TRIPLES, corpus(200, 1), corpus(60, 2), config, QUICK, target, quiet=True)
    assert report["scores"]["typed_f1"] > 0.9
    assert report["labels"] == ["born in", "lives in", "met", "visited", "met.where"]
    assert report["noted"]["facts"] > 100
    assert not any(report["noted"][name] for name in ("not_taught", "lost_qualifiers", "lost_mentions", "ambiguous"))
    return target


def test_evaluation_is_equal_in_training_after_reload_by_the_command_line_and_in_python(
    folder: Path, tmp_path: Path
) -> None:
    dev = corpus(60, 2)
    written = orjson.loads((folder / "metrics.json").read_bytes())
    python = total(triples.score(align(factpin.load(folder).annotate(dev), dev).pairs).rows["strict"])
    formats.write(dev, tmp_path / "dev.jsonl")
    command("predict", str(folder), str(tmp_path / "dev.jsonl"), str(tmp_path / "out.jsonl"))
    report = evaluate(formats.read(tmp_path / "out.jsonl"), dev)
    assert report["task"] == "triples"
    assert report["strict"]["f1"] == python.f1 == written["f1"]
    assert report["conventions"]["typed"]["f1"] == written["typed_f1"]


def test_a_fact_is_pinned_scored_and_proved(folder: Path) -> None:
    (doc,) = factpin.load(folder).extract(["Nobody spoke. Tom Hill was born in Rome."])
    (fact,) = doc.facts
    assert (doc.entity(fact.head).name, fact.relation, doc.entity(fact.tail).name) == ("Tom Hill", "born in", "Rome")
    head = doc.mention(fact.head_mention or "")
    assert (head.text, head.type) == ("Tom Hill", "person") and doc.text[head.start : head.end] == head.text
    assert fact.score is not None and 0.5 < fact.score <= 1.0
    assert [e.sentence for e in fact.evidence] == [1]
    assert fact.assertion == "asserted"
    assert doc.coverage is not None and doc.coverage.notes == ("facts are looked for inside one sentence at a time",)


def test_what_is_denied_is_told_as_denied_with_its_cue(folder: Path) -> None:
    (doc,) = factpin.load(folder).extract(["昨天李雷没到上海市，今天韩梅也来了。"])
    (fact,) = [f for f in doc.facts if doc.entity(f.head).name == "李雷"]
    assert (fact.relation, doc.entity(fact.tail).name, fact.assertion) == ("visited", "上海市", "negated")
    assert fact.cue is not None and doc.text[fact.cue.start : fact.cue.end] == "没"


def test_qualifiers_are_learned_and_scored(folder: Path) -> None:
    (doc,) = factpin.load(folder).extract(["Tom Hill met Anna Weber in Rome."])
    (fact,) = doc.facts
    (where,) = fact.qualifiers
    assert (fact.relation, where.role, doc.mention(where.mention or "").text) == ("met", "where", "Rome")
    dev = corpus(60, 2)
    found = triples.score(align(factpin.load(folder).annotate(dev), dev).pairs)
    qualified = total(found.rows["complex"])
    assert qualified.f1 > 0.8 and qualified.gold == sum(bool(f.qualifiers) for doc in dev for f in doc.facts) > 5


def test_a_sentence_longer_than_a_window_is_read_to_its_end(folder: Path) -> None:
    extractor = factpin.load(folder)
    extractor.settings = replace(extractor.settings, max_length=24, overlap=12)
    read = extractor.reader.read(Document("d", "昨天王小明到了北京，" * 6))
    windows = [(window.start, window.end) for window in read.windows]
    assert len(windows) > 2 and len(read.sentences) == 1
    (found,) = extractor.find([read], -8.0)  # whatever is scored: this is about where, not about how sure
    start, end = read.pieces.start[found.first], read.pieces.end[found.last]
    ends = [(min(start[i], start[j]), max(end[i], end[j])) for i, j in zip(found.subject, found.object, strict=True)]
    assert min(first for first, _ in ends) < windows[0][1] and max(last for _, last in ends) > windows[-1][0]
    assert all(any(low <= first and last <= high for low, high in windows) for first, last in ends)
    assert len({*ends}) > 5


def test_a_functional_relation_is_kept_and_its_inverse_told(folder: Path) -> None:
    extractor = factpin.load(folder)
    marks = {"born in": {"functional": True}, "birthplace of": {"inverse": "born in"}}
    own = {"schema": {"relations": marks}, "functional": True, "complete": True}
    extractor.settings = replace(extractor.settings, task_config=extractor.settings.task_config | own)
    (doc,) = extractor.extract(["Tom Hill was born in Rome. Tom Hill was born in New York."])
    told = {(doc.entity(f.head).name, f.relation): doc.entity(f.tail).name for f in doc.facts}
    assert len(doc.facts) == len(told) == 2
    place = told["Tom Hill", "born in"]
    assert told[place, "birthplace of"] == "Tom Hill" and [e.name for e in doc.entities] == ["Tom Hill", place]


def twice(doc: Document) -> Document:
    """Everything is said two times, and the facts do not say which time is meant."""
    size = len(doc.text)
    again = [replace(m, id=f"{m.id}2", start=m.start + size, end=m.end + size) for m in doc.mentions]
    return replace(
        doc, text=doc.text * 2, sentences=(Span(0, size), Span(size, 2 * size)), mentions=(*doc.mentions, *again),
        entities=tuple(replace(e, mentions=(*e.mentions, *(f"{m}2" for m in e.mentions))) for e in doc.entities),
        facts=tuple(replace(f, head_mention=None, tail_mention=None,
                            qualifiers=tuple(replace(q, mention=None) for q in f.qualifiers)) for f in doc.facts),
    )  # fmt: skip


@pytest.mark.parametrize("cut", [-4.0, -2.0, 0.0, 2.0])
def test_what_tuning_counts_above_a_cut_is_what_scoring_counts(folder: Path, cut: float) -> None:
    extractor, dev = factpin.load(folder), [*map(twice, corpus(20, 2)), *corpus(20, 3)]
    found = fact_candidates(extractor, dev)
    cuts = dict.fromkeys(extractor.settings.labels, cut)
    extractor.settings = replace(extractor.settings, thresholds=cuts)
    strict = total(triples.score(align(extractor.annotate(dev), dev).pairs).rows["strict"])
    above = found.score > cut
    assert (above.sum(), (above & found.right).sum(), found.gold.sum()) == (strict.predicted, strict.tp, strict.gold)
    assert strict.fp > 3  # some are wrong, or the counts would show nothing


@pytest.mark.parametrize("mentions", ["linked", "all"])
def test_the_scale_of_mentions_is_fitted_on_those_that_are_told(folder: Path, mentions: str) -> None:
    extractor, dev = factpin.load(folder), corpus(30, 3)
    own = extractor.settings.task_config | {"mentions": mentions}
    extractor.settings = replace(extractor.settings, task_config=own)
    found = mention_candidates(extractor, dev, extractor.threshold())
    told = [m for doc in extractor.annotate(dev) for m in doc.mentions]
    settings = TripleSettings.of(extractor.settings)
    scale = Scale(settings.span_temperature, settings.span_shift)
    asked, scores = Counter(scale.probability(x) for x in found.score), Counter(m.score for m in told)
    assert not scores - asked  # what a rule of decoding takes away with its fact is asked, but not found
    assert (asked - scores).total() <= len(told) // 10
    gold = {(doc.id, m.start, m.end) for doc in dev for m in doc.mentions}
    places = [(doc.id, m.start, m.end) in gold for doc in extractor.annotate(dev) for m in doc.mentions]
    assert found.right.sum() >= sum(places) > 20


def test_facts_do_not_depend_on_batches_or_order(folder: Path) -> None:
    extractor, texts = factpin.load(folder), [doc.text for doc in corpus(40, 3)]
    together = extractor.extract(texts)
    alone = [extractor.extract([text])[0] for text in texts]
    turned = extractor.extract(texts[::-1])[::-1]
    assert [d.facts for d in together] == [d.facts for d in alone] == [d.facts for d in turned]


def test_a_model_of_triples_and_one_of_spans_are_put_together(folder: Path, encoder_folder: Path) -> None:
    from tests.models.small_model import small_model

    both = load_models([folder, small_model(encoder_folder)])
    (doc,) = extract([Document("d", "王小明出生于北京。今天李雷没有说话。")], both)
    assert {(m.text, m.type) for m in doc.mentions} >= {("王小明", "person"), ("北京", "place")}
    assert len({(m.start, m.end, m.type) for m in doc.mentions}) == len(doc.mentions)
    assert [(doc.entity(f.head).name, f.relation, doc.entity(f.tail).name) for f in doc.facts] == [
        ("王小明", "born in", "北京")
    ]


def test_the_schema_leaves_out_what_its_types_forbid(folder: Path, tmp_path: Path) -> None:
    extractor = factpin.load(folder)
    forbidden = {"types": [], "relations": {"born in": {"heads": ["place"], "tails": ["place"]}}}
    extractor.settings = replace(extractor.settings, task_config=extractor.settings.task_config | {"schema": forbidden})
    assert not extractor.extract(["Tom Hill was born in Rome."])[0].facts
    switched = extractor.settings.task_config | {"types": False}
    extractor.settings = replace(extractor.settings, task_config=switched)
    assert extractor.extract(["Tom Hill was born in Rome."])[0].facts


def test_a_budget_that_is_hit_is_said(encoder_folder: Path, tmp_path: Path) -> None:
    how = replace(QUICK, max_steps=1, learning_rate=1e-6, head_learning_rate=1e-6)
    config = TripleOptions(str(encoder_folder))
    run_training(TRIPLES, corpus(16, 1), [], config, how, tmp_path / "raw", quiet=True)
    (doc,) = factpin.load(tmp_path / "raw").extract(["In Rome lives Tom Hill" + ", and so on" * 12 + "."])
    assert doc.coverage is not None and any("the best were" in note for note in doc.coverage.notes)


@pytest.mark.parametrize("change", [{"typed": False}, {"rope": True}, {"bias": "hidden"}, {"max_span": 8},
                                    {"mentions": "all"}, {"tune_thresholds": True}])  # fmt: skip
def test_every_choice_trains_and_loads(change: dict[str, object], encoder_folder: Path, tmp_path: Path) -> None:
    config = replace(TripleOptions(str(encoder_folder)), **change)  # type: ignore[arg-type]
    docs = [replace(doc, facts=tuple(replace(f, head_mention=None) for f in doc.facts)) for doc in corpus(40, 1)]
    report = run_training(TRIPLES, docs, corpus(20, 2), config, replace(QUICK, epochs=4), tmp_path / "m", quiet=True)
    again = factpin.load(tmp_path / "m")
    found = total(triples.score(align(again.annotate(corpus(20, 2)), corpus(20, 2)).pairs).rows["strict"])
    assert found.f1 == report["scores"]["f1"]


def noted(documents: list[Document], config: TripleOptions) -> tuple[int, Counter[str]]:
    """How many links a job teaches, and what it notes."""
    job = TaskJob(start(TRIPLES, config, documents, 0), documents, [], config)
    return sum(len(y.relation) for y in (example.targets for example in job.examples)), job.notes


def test_all_occurrences_of_a_corpus_of_strings_are_taught_and_ambiguity_is_noted(
    encoder_folder: Path, tmp_path: Path
) -> None:
    records = [{"text": "Tom Hill left. Tom Hill came to Rome, in Rome.", "triple_list": [["Tom Hill", "b", "Rome"]]},
               {"text": "Anna Weber was born in Rome.", "triple_list": [["Anna Weber", "b", "Rome"]]}]  # fmt: skip
    (tmp_path / "x.json").write_bytes(orjson.dumps(records))
    taught = {}
    for choice in ("first", "nearest", "all"):
        docs = list(formats.read(tmp_path / "x.json", options=formats.Options(occurrences=choice)))
        config = TripleOptions(str(encoder_folder), occurrences=choice, context="window")
        links, own = noted(docs, config)
        taught[choice] = links, own["ambiguous"]
    assert taught == {"first": (2, 0), "nearest": (2, 0), "all": (5, 1)}


def test_qualifiers_and_mentions_that_are_not_taught_are_counted(encoder_folder: Path) -> None:
    docs = [doc for doc in corpus(60, 1) if doc.facts and doc.facts[0].qualifiers]
    plain = TripleOptions(str(encoder_folder))
    assert noted(docs, plain)[1]["lost_qualifiers"] == 0 < len(docs)
    far = [replace(doc, text=f"{doc.text[:-1]}。", sentences=(Span(0, doc.mentions[-1].start),
                                                            Span(doc.mentions[-1].start, len(doc.text))))
           for doc in docs]  # fmt: skip
    links, own = noted(far, plain)  # the place is in a sentence of its own
    assert own["lost_qualifiers"] == links == len(docs) and own["not_taught"] == 0
    every = noted(corpus(60, 1), replace(plain, mentions="all", max_span=1))[1]
    assert every["lost_mentions"] > 0 == noted(corpus(60, 1), replace(plain, mentions="all"))[1]["lost_mentions"]
    assert noted(corpus(60, 1), replace(plain, max_span=1))[1]["lost_mentions"] == 0


def test_mentions_of_no_fact_are_taught_where_that_is_asked_for(encoder_folder: Path) -> None:
    docs = corpus(20, 1)
    silent = [i for i, doc in enumerate(docs) if not doc.facts]
    spans = {}
    for mentions in ("linked", "all"):
        config = TripleOptions(str(encoder_folder), mentions=mentions)
        job = TaskJob(start(TRIPLES, config, docs, 0), docs, [], config)
        batch, gold = job.batch(silent)
        spans[mentions] = len(gold.spans)
        assert len(gold) == 0 and job.model.loss((batch, gold)).isfinite()
    assert spans["linked"] == 0 < sum(len(docs[i].mentions) for i in silent) <= spans["all"]


def test_the_command_line_trains_triples_and_refuses_options_of_other_tasks(
    encoder_folder: Path, tmp_path: Path
) -> None:
    formats.write(corpus(24, 1), tmp_path / "train.jsonl")
    common = ("--train", str(tmp_path / "train.jsonl"), "--encoder", str(encoder_folder), "--output")
    done = command("train", "triples", *common, str(tmp_path / "m"), "--max-steps", "2", "--quiet")
    assert done.returncode == 0 and (tmp_path / "m" / "factpin.json").is_file()
    wrong = command("train", "triples", *common, str(tmp_path / "n"), "--scheme", "bio")
    assert wrong.returncode == 2 and "--scheme has no meaning for triples" in wrong.stderr


def test_documents_without_facts_are_refused(encoder_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no fact"):
        run_training(
            TRIPLES, [Document("d", "x")], [], TripleOptions(str(encoder_folder)), QUICK, tmp_path / "m", quiet=True
        )


def test_relations_that_a_given_schema_does_not_have_are_counted(encoder_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "schema.toml").write_text('[relations."born on"]\n', encoding="utf-8")
    config = TripleOptions(str(encoder_folder), schema=str(tmp_path / "schema.toml"))
    report = run_training(TRIPLES, corpus(16, 1), [], config, replace(QUICK, max_steps=1), tmp_path / "m", quiet=True)
    assert report["noted"]["not_in_schema"] == report["noted"]["facts"] > 0
