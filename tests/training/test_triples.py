"""Triples end to end on a small world: learned, kept, found again from every door, and honest about what is not."""

import random
import re
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

import factpin
from factpin import formats
from factpin.documents import Document, Entity, Fact, Mention, Span
from factpin.errors import BadInput
from factpin.pipelines.evaluate import evaluate
from factpin.pipelines.extract import extract, load_models
from factpin.scoring import align, triples
from factpin.scoring.counts import total
from factpin.training.config import TrainConfig
from factpin.training.triples import TriplesConfig, train_triples
from tests.app.test_cli import factpin as command
from tests.conftest import PEOPLE, PLACES

QUICK = TrainConfig(epochs=14, batch_size=8, learning_rate=3e-3, head_learning_rate=3e-3, seed=7)
FRAMES = [
    ("{p}出生于{l}。", [("p", "born in", "l")]),
    ("昨天{p}到了{l}，今天{q}也来了。", [("p", "visited", "l"), ("q", "visited", "l")]),
    ("{p} was born in {l}.", [("p", "born in", "l")]),
    ("In {l} lives {p} with {q}.", [("p", "lives in", "l"), ("q", "lives in", "l")]),
    ("{l}下雪了。", []),
    ("{p} and {q} spoke.", []),
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
        Fact(f"e{h}", r, f"e{t}", h if pinned else None, t if pinned else None, evidence=()) for h, r, t in facts
    )
    entities = tuple(Entity(f"e{m.id}", (m.id,), m.type, m.text) for m in mentions.values())
    return Document(id, text, sentences=(Span(0, len(text)),), mentions=tuple(mentions.values()), entities=entities,
                    facts=told)  # fmt: skip


def corpus(size: int, seed: int) -> list[Document]:
    chance = random.Random(seed)
    return [sentence(chance, f"t{seed}-{i}") for i in range(size)]


@pytest.fixture(scope="module")
def folder(encoder_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("triples") / "m"
    report = train_triples(corpus(160, 1), corpus(60, 2), TriplesConfig(str(encoder_folder)), QUICK, target, quiet=True)
    assert report["scores"]["typed_f1"] > 0.9
    assert report["labels"] == ["born in", "lives in", "visited"]
    assert report["noted"]["facts"] > 100 and report["noted"]["not_taught"] == 0
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
    (doc,) = factpin.load(folder).extract(["Tom Hill was never born in Rome."])
    for fact in doc.facts:
        assert fact.assertion == "negated"
        assert fact.cue is not None and doc.text[fact.cue.start : fact.cue.end] == "never"


def test_facts_do_not_depend_on_batches_or_order(folder: Path) -> None:
    extractor, texts = factpin.load(folder), [doc.text for doc in corpus(40, 3)]
    together = extractor.extract(texts)
    alone = [extractor.extract([text])[0] for text in texts]
    turned = extractor.extract(texts[::-1])[::-1]
    assert [d.facts for d in together] == [d.facts for d in alone] == [d.facts for d in turned]


def test_a_model_of_triples_and_one_of_spans_are_put_together(folder: Path, encoder_folder: Path) -> None:
    from tests.pipelines.small_model import small_model

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
    config = TriplesConfig(str(encoder_folder))
    train_triples(corpus(16, 1), [], config, how, tmp_path / "raw", quiet=True)
    (doc,) = factpin.load(tmp_path / "raw").extract(["In Rome lives Tom Hill" + ", and so on" * 12 + "."])
    assert doc.coverage is not None and "the best were" in doc.coverage.notes[-1]


@pytest.mark.parametrize("change", [{"typed": False}, {"rope": True}, {"bias": "hidden"}, {"max_span": 8},
                                    {"occurrences": "all"}, {"tune_thresholds": True}])  # fmt: skip
def test_every_choice_trains_and_loads(change: dict[str, object], encoder_folder: Path, tmp_path: Path) -> None:
    config = replace(TriplesConfig(str(encoder_folder)), **change)  # type: ignore[arg-type]
    docs = [replace(doc, facts=tuple(replace(f, head_mention=None) for f in doc.facts)) for doc in corpus(40, 1)]
    report = train_triples(docs, corpus(20, 2), config, replace(QUICK, epochs=4), tmp_path / "m", quiet=True)
    again = factpin.load(tmp_path / "m")
    found = total(triples.score(align(again.annotate(corpus(20, 2)), corpus(20, 2)).pairs).rows["strict"])
    assert found.f1 == report["scores"]["f1"]


def test_the_command_line_trains_triples_and_refuses_options_of_other_tasks(
    encoder_folder: Path, tmp_path: Path
) -> None:
    formats.write(corpus(24, 1), tmp_path / "train.jsonl")
    common = ("--train", str(tmp_path / "train.jsonl"), "--encoder", str(encoder_folder), "--output")
    done = command("train", "triples", *common, str(tmp_path / "m"), "--max-steps", "2", "--quiet")
    assert done.returncode == 0 and (tmp_path / "m" / "factpin.json").is_file()
    wrong = command("train", "triples", *common, str(tmp_path / "n"), "--scheme", "bio")
    assert wrong.returncode == 2 and "--scheme means nothing for triples" in wrong.stderr


def test_documents_without_facts_are_refused(encoder_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no fact"):
        train_triples([Document("d", "x")], [], TriplesConfig(str(encoder_folder)), QUICK, tmp_path / "m", quiet=True)
