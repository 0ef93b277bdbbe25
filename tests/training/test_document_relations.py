"""Document relations end to end on a small world: learned across sentences, kept, found again, at any length."""

import random
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
import torch

import factpin
from factpin import formats
from factpin.corpora.evaluate import evaluate
from factpin.documents import Document, Entity, Evidence, Fact, Mention
from factpin.encoders import small_encoder
from factpin.errors import BadInput
from factpin.language.sentences import split_sentences
from factpin.tasks.document_relations.task import DOCUMENT_RELATIONS, RelationOptions
from factpin.tasks.spans.task import SPANS, SpanOptions
from factpin.tokens.small import build_tokenizer
from factpin.training.config import TrainConfig
from factpin.training.job import TaskJob
from factpin.training.loop import _TrainingRun
from factpin.training.parallel import World
from factpin.training.run import run_training, start
from tests.app.test_cli import factpin as command
from tests.conftest import PEOPLE, PLACES

QUICK = TrainConfig(epochs=15, batch_size=4, learning_rate=3e-3, head_learning_rate=3e-3, evaluate_every=75, seed=7)


def document(chance: random.Random, id: str, filling: str = "", before: str = "") -> Document:
    """Someone is named, and in a later sentence born somewhere; someone else only visits."""
    p, q = chance.sample([name for name in PEOPLE if name.isascii()], 2)
    here, there = chance.sample([name for name in PLACES if name.isascii()], 2)
    text, mentions = "", []
    for part in (before, f"|{p}| spoke. ", filling, f"|{p}| was born in |{here}|. ", f"|{q}| went to |{there}|."):
        for i, piece in enumerate(part.split("|")):
            if i % 2:
                kind = "person" if piece in PEOPLE else "place"
                mentions.append(Mention(f"m{len(mentions)}", len(text), len(text) + len(piece), piece, kind))
            text += piece
    names = dict.fromkeys(m.text for m in mentions)
    kinds = {m.text: m.type for m in mentions}
    entities = tuple(
        Entity(f"e{i}", tuple(m.id for m in mentions if m.text == name), kinds[name], name)
        for i, name in enumerate(names)
    )
    by_name = {e.name: e.id for e in entities}
    sentences = tuple(split_sentences(text))
    born = Fact(by_name[p], "born in", by_name[here], evidence=(Evidence(len(sentences) - 2),))
    return Document(id, text, sentences=sentences, mentions=tuple(mentions), entities=entities, facts=(born,))


def corpus(size: int, seed: int) -> list[Document]:
    """Short documents, long ones, and ones in which everything comes late."""
    chance = random.Random(seed)
    found = []
    for i in range(size):
        filling, before = chance.choice(((0, 0), (12, 0), (0, chance.randint(1, 20))))
        found.append(document(chance, f"r{seed}-{i}", "Nobody spoke. " * filling, "Nobody spoke. " * before))
    return found


def save_encoder(folder: Path) -> Path:
    """A small encoder whose vocabulary has the marker."""
    torch.manual_seed(0)
    tokenizer = build_tokenizer([*(doc.text for doc in corpus(100, 0)), "Nobody spoke. *"], vocab_size=300)
    small_encoder(tokenizer.vocab_size, width=32, layers=2, max_length=64, tokenizer=tokenizer).save(folder)
    return folder


@pytest.fixture(scope="module")
def encoder_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_encoder(tmp_path_factory.mktemp("marked") / "small")


@pytest.fixture(scope="module")
def folder(encoder_folder: Path) -> Path:
    target = encoder_folder.parent / "relations"
    config = RelationOptions(str(encoder_folder), size=32, group=8, evidence=0.3, dropout=0.0)
    report = run_training(DOCUMENT_RELATIONS, corpus(60, 1), corpus(30, 2), config, QUICK, target, quiet=True)
    assert report["scores"]["f1"] > 0.9
    assert report["labels"] == ["born in"]
    assert report["noted"]["facts"] == 60 and report["noted"]["not_asked"] == 0
    return target


def test_evaluation_is_equal_in_training_after_reload_and_by_the_command_line(folder: Path, tmp_path: Path) -> None:
    dev = corpus(30, 2)
    formats.write(dev, tmp_path / "dev.jsonl")
    done = command("predict", folder, tmp_path / "dev.jsonl", tmp_path / "out.jsonl")
    assert done.returncode == 0
    report = evaluate(formats.read(tmp_path / "out.jsonl"), dev, task="document_relations")
    written = orjson.loads((folder / "metrics.json").read_bytes())
    assert report["strict"]["f1"] == written["f1"]
    assert report["evidence"]["f1"] == written["evidence_f1"]


def test_a_fact_is_proved_scored_and_pinned_to_its_nearest_mentions(folder: Path) -> None:
    came = document(random.Random(9), "d")
    (doc,) = factpin.load(folder).annotate([came])
    (fact,) = doc.facts
    assert (fact.head, fact.relation, fact.tail) == (came.facts[0].head, "born in", came.facts[0].tail)
    head, tail = doc.mention(fact.head_mention or ""), doc.mention(fact.tail_mention or "")
    assert doc.sentence_of(head.start) == doc.sentence_of(tail.start) == 1  # the later of two mentions of the head
    assert fact.score is not None and fact.evidence and fact.assertion == "asserted"
    assert doc.mentions == came.mentions and doc.entities == came.entities


def test_a_long_document_is_read_to_its_end(folder: Path) -> None:
    came = document(random.Random(9), "d", "Nobody spoke. " * 400)
    (doc,) = factpin.load(folder).annotate([came])
    assert doc.coverage is not None and len(doc.coverage.read) > 10 and not doc.coverage.unread
    assert [(f.head, f.relation, f.tail) for f in doc.facts] == [(came.facts[0].head, "born in", came.facts[0].tail)]


def test_entities_beyond_token_1024_get_their_relations(folder: Path) -> None:
    late = document(random.Random(9), "d", before="Nobody spoke. " * 400)
    extractor = factpin.load(folder)
    pieces = extractor.reader.read(late).pieces
    first = min(m.start for m in late.mentions)
    assert int((pieces.end <= first).sum()) > 1024
    (doc,) = extractor.annotate([late])
    assert [(f.head, f.relation, f.tail) for f in doc.facts] == [(late.facts[0].head, "born in", late.facts[0].tail)]
    assert [e.sentence for e in doc.facts[0].evidence] == [e.sentence for e in late.facts[0].evidence]


def test_annotated_evidence_leads_attention_and_without_it_there_is_evidence_too(
    encoder_folder: Path, tmp_path: Path
) -> None:
    """The first sentence is said to prove, which names one of the two alone: only annotation can decide."""
    documents = []
    for seed in range(60):
        doc = document(random.Random(seed), f"d{seed}")
        documents.append(replace(doc, facts=(replace(doc.facts[0], evidence=(Evidence(0),)),)))
    scores = []
    for weight in (0.0, 1.0):
        config = RelationOptions(str(encoder_folder), size=32, group=8, evidence=weight, dropout=0.0)
        folder = tmp_path / str(weight)
        report = run_training(DOCUMENT_RELATIONS, documents[:36], documents[36:], config, QUICK, folder, quiet=True)
        scores.append(report["scores"])
        found = list(factpin.load(folder).annotate(documents[36:]))
        assert all(fact.evidence for doc in found for fact in doc.facts)
    without, told = scores
    assert min(without["f1"], told["f1"]) > 0.8
    assert 0.8 * told["f1"] < told["evidence_f1"] and without["evidence_f1"] < told["evidence_f1"] - 0.2


@pytest.mark.parametrize("change", [{"localized": False}, {"threshold": "global"}, {"negatives": 0.5},
                                    {"tune_thresholds": True}])  # fmt: skip
def test_every_choice_trains_and_loads(change: dict[str, object], encoder_folder: Path, tmp_path: Path) -> None:
    config = replace(RelationOptions(str(encoder_folder), size=32, group=8), **change)  # type: ignore[arg-type]
    how = replace(QUICK, epochs=3)
    report = run_training(DOCUMENT_RELATIONS, corpus(16, 1), corpus(8, 2), config, how, tmp_path / "m", quiet=True)
    found = evaluate(factpin.load(tmp_path / "m").annotate(corpus(8, 2)), corpus(8, 2), task="document_relations")
    assert found["strict"]["f1"] == report["scores"]["f1"]


def test_negatives_are_a_share_of_the_pairs_without_a_relation_and_no_batch_is_empty(encoder_folder: Path) -> None:
    documents = corpus(3, 1)
    documents[1] = replace(documents[1], facts=())
    config = RelationOptions(str(encoder_folder), size=32, group=8, negatives=0.0)
    job = TaskJob(start(DOCUMENT_RELATIONS, config, documents, 1), documents, [], config)
    inputs, gold = job.batch([0, 1])
    first, bare = inputs.documents
    assert len(first.targets.head) == len(gold[0].pair) == 1 and len(bare.targets.head) == 4
    assert job.model.loss(job.batch([1])).isfinite()
    job.options = replace(config, negatives=0.5)
    torch.manual_seed(0)
    sizes = [len(document.targets.head) for _ in range(60) for document in job.batch([0])[0].documents]
    assert min(sizes) == 1 and max(sizes) == 4 and 2.0 < sum(sizes) / 60 < 3.0  # one fact, three pairs without


def test_documents_without_facts_are_refused(encoder_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no fact"):
        options = RelationOptions(str(encoder_folder))
        run_training(DOCUMENT_RELATIONS, [Document("d", "x")], [], options, QUICK, tmp_path / "m", quiet=True)


def test_raw_text_goes_through_spans_coreference_and_relations(folder: Path, encoder_folder: Path) -> None:

    from factpin.extraction.extract import extract, load_models

    how = replace(QUICK, epochs=12, batch_size=8)
    spans = encoder_folder.parent / "spans"
    short = [document(random.Random(seed), f"s{seed}") for seed in range(60)]
    run_training(SPANS, short, [], SpanOptions(str(encoder_folder)), how, spans, quiet=True)
    came = document(random.Random(9), "d")
    (doc,) = extract([Document("d", came.text)], load_models([folder, spans]))
    names = {e.id: e.name for e in doc.entities}
    wanted = {e.id: e.name for e in came.entities}
    assert sorted(names.values()) == sorted(wanted.values())
    assert [(names[f.head], names[f.tail]) for f in doc.facts] == [(wanted[f.head], wanted[f.tail]) for f in came.facts]
    assert doc.facts[0].evidence and len(doc.entity(doc.facts[0].head).mentions) == 2
    with pytest.raises(BadInput, match="Add a model that finds mentions"):
        list(extract([Document("d", came.text)], load_models([folder])))


def test_a_batch_in_pieces_has_the_gradient_of_the_whole(encoder_folder: Path) -> None:
    """The loss is a mean over pairs, and documents have few or many."""
    documents = corpus(3, 5)
    few = documents[0]
    alone = {m for e in few.entities[:2] for m in e.mentions}
    few = replace(few, mentions=tuple(m for m in few.mentions if m.id in alone), entities=few.entities[:2])
    training = [few, *documents[1:]]
    extractor = start(
        DOCUMENT_RELATIONS, RelationOptions(str(encoder_folder), size=32, group=8, types=False), training, seed=1
    )
    job = TaskJob(extractor, training, [], RelationOptions(str(encoder_folder), size=32, group=8))
    assert len(set(job.terms)) > 1
    job.model.eval()  # no dropout
    found = []
    for size in (3, 1):
        how = TrainConfig(batch_size=size, accumulation=3 // size)
        run = _TrainingRun(job, how, Path(), World(0, 1, torch.device("cpu")), "", None)
        run.optimiser.zero_grad(set_to_none=True)
        loss = run._gradient([0, 1, 2], with_rdrop=False)
        found.append([loss, *(p.grad.clone() for p in job.model.parameters() if p.grad is not None)])
    for one, two in zip(*found, strict=True):
        torch.testing.assert_close(one, two, atol=1e-6, rtol=1e-4)
