"""REALM: candidates, the null document and the gradient are what they should be; ICT and REALM learn to retrieve."""

import random
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

from factpin.answers.marginal import posterior, prior, sequence, token
from factpin.answers.realm import (
    Blank,
    IctBatch,
    blank_inputs,
    blanks_of,
    ict_pairs,
    nearest,
    pool_of,
    utilities,
    without,
)
from factpin.documents import Document, Mention, Span
from factpin.encoders import small_encoder
from factpin.errors import BadInput
from factpin.memory import Source, open_store
from factpin.models.embedders import embed_store, search_of
from factpin.tokens.small import build_tokenizer
from factpin.training.config import TrainConfig
from factpin.training.part_table import train_part
from factpin.training.retriever import DEPTH, RetrieverJob, mask_of, recall_of, start_retriever
from factpin.training.retriever_options import RetrieverOptions
from tests.answers.hop_world import PEOPLE, PLACES

QUICK = TrainConfig(epochs=8, batch_size=8, learning_rate=3e-3, head_learning_rate=3e-3, seed=5, evaluate_every=1000)


def documents(count: int, seed: int) -> list[Document]:
    """Two sentences about a person; the place is a mention."""
    chance, found = random.Random(seed), []
    for i in range(count):
        name, place = chance.choice(PEOPLE), chance.choice(PLACES)
        text = f"{name}去了{place}。{name}在{place}下了车。"
        spans = [text.index(place), text.rindex(place)]
        mentions = tuple(Mention(f"m{n}", at, at + len(place), place, "LOC") for n, at in enumerate(spans))
        found.append(Document(f"r{seed}-{i}", text, mentions=mentions))
    return found


@cache
def encoder(home: Path) -> Path:
    torch.manual_seed(0)
    tokenizer = build_tokenizer([doc.text for doc in documents(40, 0)], vocab_size=300)
    folder = home / "realm-small"
    small_encoder(tokenizer.vocab_size, width=32, layers=2, max_length=96, tokenizer=tokenizer).save(folder)
    return folder


def options(home: Path, **other: object) -> RetrieverOptions:
    base = RetrieverOptions(str(encoder(home)), max_length=64, k=3, refresh=4)
    return replace(base, **other)


def job_of(home: Path, **other: object) -> RetrieverJob:
    chosen = options(home, objective="realm", **other)
    return RetrieverJob(start_retriever(chosen, 1), documents(8, 1), documents(4, 2), chosen, 1)


def test_blanks_are_mentions_and_passages_are_exact() -> None:
    docs = documents(3, 4)
    pool, blanks = pool_of(docs, 64), blanks_of(docs)
    for passage in pool:
        assert docs[passage.document].text[passage.span.start : passage.span.end] == passage.text
    assert len(blanks) == 6
    for blank in blanks:
        place = blank.sentence[blank.span.start : blank.span.end]
        assert place in PLACES and blank.masked("[MASK]").count("[MASK]") == 1 and place not in blank.masked("_")
    for number, span in ict_pairs(pool):
        sentence = pool[number].text[span.start : span.end]
        assert sentence in pool[number].text and sentence not in without(pool[number].text, span)
    assert without("A b. C d. E f.", Span(5, 9)) == "A b. E f."


def test_a_sentence_never_finds_its_own_document_and_the_null_document_is_first(home: Path) -> None:
    job = job_of(home)
    for i in range(0, len(job.blanks), 4):
        blanks = job.blanks[i : i + 4]
        batch = job.realm_batch(blanks)
        for blank, row in zip(blanks, batch.passages, strict=True):
            own = {p.shown for p in job.pool if p.document == blank.document}
            others = {p.shown for p in job.pool if p.document != blank.document}
            assert row[0] == "" and len(row) == 3 and set(row[1:]) <= others
            assert not (set(row[1:]) & own) or own & others  # another document may say the same
    assert all(row[0] for row in job_of(home, null=False).realm_batch(job.blanks[:2]).passages)
    vectors, owners = torch.eye(4), np.array([0, 0, 1, 2])
    assert nearest(torch.tensor([[4.0, 3, 2, 1]]), vectors, owners, [0], 2) == [[2, 3]]
    assert nearest(torch.tensor([[4.0, 3, 2, 1]]), vectors, owners, [7], 2) == [[0, 1]]


def crowded(home: Path) -> RetrieverJob:
    """A pool of four passages, three of which are of one document."""
    (first, other) = documents(2, 1)
    long = replace(first, text=first.text + "天晴了。下雨了。" * 20)
    chosen = options(home, objective="realm", k=4, passage_size=32)
    job = RetrieverJob(start_retriever(chosen, 1), [long, other], [], chosen, 1)
    assert [p.document for p in job.pool] == [0] * (len(job.pool) - 1) + [1] and len(job.pool) >= 4
    return job


def test_a_blank_with_few_passages_takes_none_from_the_others_of_its_batch(home: Path) -> None:
    job = crowded(home)
    job.model.eval()
    mine, other = ([b for b in job.blanks if b.document == d] for d in (0, 1))
    batch = job.realm_batch([mine[0], other[0]])
    assert batch.found.tolist() == [[True, True, False, False], [True] * 4]
    with torch.no_grad():
        alone = [float(job.model.loss(job.realm_batch([b]))) for b in (mine[0], other[0])]
        assert float(job.model.loss(batch)) == pytest.approx(sum(alone) / 2, abs=1e-5)
        assert bool((prior(job.model.documents(batch))[0, 2:].exp() == 0).all())
    job.model.loss(batch).backward()
    assert all(p.grad is None or bool(p.grad.isfinite().all()) for p in job.model.parameters())


def test_masks_are_where_the_name_was(home: Path) -> None:
    job = job_of(home)
    blank, tokenizer = job.blanks[0], job.retriever.tokenizer
    found = blank_inputs(tokenizer, blank, ["", "天晴了。"], job.mask, 64)
    assert found is not None
    pairs, places, pieces = found
    name = tokenizer.encode(blank.sentence[blank.span.start : blank.span.end]).ids
    assert pieces == tuple(name)
    for pair in pairs:
        assert all(pair.ids[at] == job.mask for at in places) and int((pair.ids == job.mask).sum()) == len(places)
    assert blank_inputs(tokenizer, Blank(0, "长" * 80, Span(0, 2)), [""], job.mask, 64) is None


@pytest.mark.parametrize("marginal", ["token", "sequence"])
def test_the_loss_is_the_marginal_and_reaches_the_retriever_by_posterior_minus_prior(home: Path, marginal: str) -> None:
    job = job_of(home, marginal=marginal)
    job.model.eval()
    batch = job.realm_batch(job.blanks[:3])
    with torch.no_grad():
        doc, y = job.model.log_p(batch)
        loss = float(job.model.loss(batch))
    total = token(doc, y).sum(-1) if marginal == "token" else sequence(doc, y)
    sizes = torch.tensor([float(len(p)) for p in batch.pieces])
    assert loss == pytest.approx(-float((total / sizes).mean()), abs=1e-5)
    scores = job.model.documents(batch).detach().requires_grad_()
    sequence(prior(scores), y.detach()).sum().backward()
    expected = posterior(prior(scores), y.detach()) - prior(scores).exp()
    assert torch.allclose(scores.grad, expected, atol=1e-5)
    assert float(utilities(torch.zeros(1, 1), y[:1, :1], marginal)) == pytest.approx(0.0, abs=1e-5)


def test_a_frozen_retriever_gets_no_gradient_by_its_scores(home: Path) -> None:
    for frozen in (True, False):
        job = job_of(home, frozen=frozen)
        job.model.eval()
        batch = job.realm_batch(job.blanks[:2])
        scores = job.model.documents(batch)
        assert scores.requires_grad is not frozen
        with torch.no_grad():  # what the reader learns is its own
            job.model.head.encoder.word_vectors.add_(0.5 * torch.randn_like(job.model.head.encoder.word_vectors))
        assert torch.equal(job.model.documents(batch), scores)


def test_a_piece_is_said_from_memory_or_copied_from_the_passage(home: Path) -> None:
    job = job_of(home)
    job.model.eval()
    reader, words = job.model.head, job.model.head.encoder.word_vectors
    batch = job.realm_batch(job.blanks[:2])
    with torch.no_grad():
        y = reader(batch)
        for b, pair in ((0, 0), (1, 4)):  # beside the null document, and beside the second of three passages
            one, k = batch.pairs[3 * b + pair % 3], pair % 3
            ids = torch.from_numpy(one.ids).long()[None]
            hidden = reader.encoder(ids, torch.ones_like(ids, dtype=torch.bool),
                                    segments=torch.from_numpy(one.segments).long()[None]).hidden[0]  # fmt: skip
            for t, (place, piece) in enumerate(zip(batch.places[b], batch.pieces[b], strict=True)):
                weights = (reader.words(hidden[place]) @ words.T).exp()
                copied = [(i, (reader.copied(hidden[place]) @ hidden[i] / hidden.shape[1] ** 0.5).exp())
                          for i in range(len(one.ids)) if one.real[i]]  # fmt: skip
                mine = weights[piece] + sum(w for i, w in copied if one.ids[i] == piece)
                expected = torch.log(mine / (weights.sum() + sum(w for _, w in copied)))
                assert float(y[b, k, t]) == pytest.approx(float(expected), abs=1e-4)
        alone = replace(batch, places=tuple(p[:1] for p in batch.places))
        every = [reader(replace(alone, pieces=((v,), (v,)))) for v in range(len(words))]
    assert torch.allclose(torch.cat(every, -1).exp().sum(-1), torch.ones(2, 3), atol=1e-4)


def test_in_its_lesson_the_reader_learns_alone_beside_passages_that_state_the_name(home: Path) -> None:
    job = job_of(home, lesson=3)
    assert len(job.order(0, 4)) == 3 and job.lesson and not len(job.vectors)
    torch.manual_seed(1)
    batch = job.batch(range(4))
    assert batch.lesson
    for blank, (null, stating) in zip(job.blanks[:4], batch.passages, strict=True):
        others = [p.shown for p in job.pool if p.document != blank.document and blank.name in p.shown]
        assert null == "" and (stating in others or not others and stating == "")
        assert job.stating(blank) == [i for i, p in enumerate(job.pool) if p.shown in others and
                                      p.document != blank.document]  # fmt: skip
    job.model.loss(batch).backward()
    assert all(p.grad is None for p in job.model.retriever.parameters())
    assert any(p.grad is not None and p.grad.any() for p in job.model.head.parameters())
    assert len(job.order(1, 4)) == 4 and not job.lesson and len(job.vectors)
    assert not job.batch(range(4)).lesson


@pytest.mark.parametrize("lesson", [0, 1, 3])
def test_a_lesson_comes_before_the_epochs_and_is_not_one_of_them(home: Path, tmp_path: Path, lesson: int) -> None:
    chosen, how = options(home, objective="realm", lesson=lesson, refresh=2), replace(QUICK, epochs=3)
    report = train_part("retriever", documents(8, 1), [], chosen, how, tmp_path / "realm", quiet=True)
    assert report["steps"] == lesson + 3 * 2
    all_blanks = options(home, objective="realm", lesson=lesson, refresh=0)
    job = RetrieverJob(start_retriever(all_blanks, 1), documents(8, 1), [], all_blanks, 1)
    assert job.steps(3, 8) == lesson + 3 * len(job.order(1, 8))


def test_recall_asks_with_a_sentence_that_is_not_in_its_passage(home: Path) -> None:
    job = job_of(home)
    pool = pool_of(documents(40, 2), 64)
    pairs, right = ict_pairs(pool), 0
    for number, span in pairs:
        texts = [p.shown_without(span) if n == number else p.shown for n, p in enumerate(pool)]
        scores = job.retriever.embed([pool[number].text[span.start : span.end]]) @ job.retriever.embed(texts).T
        right += number in scores[0].topk(DEPTH).indices
    assert recall_of(job.retriever, pool, pairs) == pytest.approx(right / len(pairs)) and right < 0.7 * len(pairs)
    titled = replace(pool[0], title="旅行")
    assert titled.shown == f"旅行\n{pool[0].text}" and titled.shown_without(pairs[0][1]).startswith("旅行\n")


def test_utility_is_measured_with_vectors_of_the_retriever_as_it_is(home: Path) -> None:
    job = job_of(home, refresh=0)
    job.order(0, 4)
    before = job.vectors
    with torch.no_grad():
        job.model.encoder.word_vectors.add_(torch.randn_like(job.model.encoder.word_vectors))
    job.model.eval()
    found = job.evaluate()["utility"]
    assert job.vectors is before  # training goes on with the vectors that it had
    job.refresh(0)
    assert found == job.evaluate()["utility"]


def test_the_reader_may_be_another_encoder(home: Path) -> None:
    torch.manual_seed(3)
    tokenizer = build_tokenizer([doc.text for doc in documents(40, 0)], vocab_size=200)
    other = home / "realm-other"
    small_encoder(tokenizer.vocab_size, width=16, layers=1, max_length=96, tokenizer=tokenizer).save(other)
    job = job_of(home, reader=str(other))
    batch = job.realm_batch(job.blanks[:2])
    assert job.model.head.encoder.width == 16 and job.model.encoder.width == 32
    job.model.loss(batch).backward()
    assert all(part.grad is not None for part in (job.model.encoder.word_vectors, job.model.head.copied.weight))


def test_passages_are_embedded_anew_as_often_as_asked(home: Path) -> None:
    for refresh, frozen, changes in ((2, False, True), (0, False, False), (2, True, False)):
        job = job_of(home, refresh=refresh, frozen=frozen)
        assert len(job.order(0, 4)) == (refresh or len(job.blanks) // 4)
        before = job.vectors
        with torch.no_grad():
            job.model.encoder.word_vectors.add_(0.5 * torch.randn_like(job.model.encoder.word_vectors))
        job.order(1, 4)
        assert torch.equal(before, job.vectors) is not changes


def test_a_passage_that_is_in_a_batch_twice_is_not_wrong_for_its_own_sentences(home: Path) -> None:
    chosen = options(home)
    job = RetrieverJob(start_retriever(chosen, 1), documents(8, 1), [], chosen, 1)
    job.model.eval()
    twice = IctBatch(("天晴了。", "下雨了。"), ("天晴了。", "天晴了。"), (3, 3))
    with torch.no_grad():
        assert float(job.model.loss(twice)) == 0.0
        assert float(job.model.loss(replace(twice, numbers=(3, 4)))) > 0.1


def test_ict_learns_and_the_store_takes_what_it_learned(home: Path, tmp_path: Path) -> None:
    folder = home / "ict"
    train_part("retriever", documents(30, 1), documents(16, 3), options(home), QUICK, folder, quiet=True)
    losses = []
    for source in (encoder(home), folder):
        chosen = options(home, encoder=str(source), removed=1.0)
        job = RetrieverJob(start_retriever(chosen, 5), documents(8, 6), [], chosen, 5)
        job.model.eval()
        with torch.no_grad():
            losses.append(float(job.model.loss(job.batch(range(0, 16, 2)))))
    assert losses[1] < losses[0]
    with open_store(str(tmp_path / "kb.db"), create=True) as store:
        for doc in documents(6, 9):
            store.put(doc, Source(doc.id))
        assert embed_store(store, str(folder)) == 6
        search = search_of(store)  # finds the folder again
        assert search.encoder.startswith("ict@") and search("李雷去了巴黎", 3, by="vectors")


def test_realm_learns_and_a_frozen_one_stays_as_it_was(home: Path) -> None:
    start = train_part("retriever", documents(12, 1), documents(6, 2), options(home, objective="realm"),
                            replace(QUICK, epochs=2), home / "realm", quiet=True)  # fmt: skip
    assert start["steps"] == 8 and np.isfinite(start["scores"]["utility"])
    kept, pool = start_retriever(options(home, encoder=str(home / "realm")), 1).retriever, pool_of(documents(6, 2), 64)
    assert start["scores"]["recall"] == pytest.approx(recall_of(kept, pool, ict_pairs(pool)))
    frozen = options(home, objective="realm", frozen=True)
    train_part("retriever", documents(12, 1), [], frozen, replace(QUICK, epochs=1), home / "frozen", quiet=True)
    first, last = (
        start_retriever(replace(frozen, encoder=str(f)), 1).encoder for f in (encoder(home), home / "frozen")
    )
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), last.parameters(), strict=True))


def test_what_makes_no_sense_is_refused(home: Path) -> None:
    with pytest.raises(BadInput, match="expected 2 or more passages"):
        RetrieverOptions(k=1)
    with pytest.raises(BadInput, match="to blank out"):
        chosen = options(home, objective="realm")
        RetrieverJob(start_retriever(chosen, 1), [Document("d", "没有名字。")], [], chosen, 1)
    for null in (True, False):
        with pytest.raises(BadInput, match="there is only one document"):
            job_of_one = options(home, objective="realm", null=null)
            RetrieverJob(start_retriever(job_of_one, 1), documents(1, 1), [], job_of_one, 1)
    with pytest.raises(BadInput, match="has two sentences"):
        RetrieverJob(start_retriever(options(home), 1), [Document("d", "没有名字。")], [], options(home), 1)
    assert mask_of(start_retriever(options(home), 1).retriever.tokenizer) > 0
