"""Documents of a text that do not see each other: each is read as if it were alone, on every kind of network."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoModel

from factpin.encoders import Encoder
from factpin.errors import BadInput
from factpin.objectives import OBJECTIVES, Batch, Objective, Text, Vocabulary, audit, collate
from factpin.objectives.text import chance_of
from factpin.pretraining.config import PretrainConfig
from factpin.pretraining.corpus import Corpus, Place, TextCut
from factpin.pretraining.learner import Beside, Learners, build_learner, build_network
from factpin.pretraining.networks import NETWORKS, shape_of
from factpin.pretraining.pretrain import notes_of, pretrain
from factpin.pretraining.source import CorpusSource
from factpin.pretraining.vocabulary import vocabulary_of
from factpin.tokens import Tokenizer
from factpin.training import loop
from factpin.training.config import TrainConfig
from factpin.training.parallel import World
from proofs.world import VOCABULARY, text
from tests.conftest import corpus
from tests.training.test_spans import equal

HOW = TrainConfig(max_steps=4, batch_size=4, learning_rate=3e-3, seed=7, save_every=2)
ALONE = [name for name, row in OBJECTIVES.items() if not any(loss.head == "pair" for loss in row.losses)]
ENCODERS: dict[str, dict[str, Any]] = {
    "albert": {"embedding_size": 8},
    "bert": {},
    "electra": {"embedding_size": 8},
    "mpnet": {"max_position_embeddings": 66},
    "roberta": {"max_position_embeddings": 66},
}  # of 64 positions
PAD_SECOND = replace(VOCABULARY, pad=1, cls=0)  # as of MPNet and RoBERTa, which count positions by what is not padding


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty short documents, of which some have a single sentence."""
    path = tmp_path_factory.mktemp("corpus") / "texts.txt"
    path.write_text("\n\n".join("\n".join(d.text for d in corpus(1 + k % 4, k)) for k in range(30)), encoding="utf-8")
    return path


def of_documents(*lengths: int) -> Text:
    """Documents in a row, numbered, each with enough sentences for every row."""
    parts = [text(n, n) for n in lengths]
    starts = np.cumsum([0, *lengths])
    return Text(
        np.concatenate([part.ids for part in parts]),
        np.concatenate([part.words + 100 * k for k, part in enumerate(parts)]),
        np.concatenate([part.ends + start for part, start in zip(parts, starts, strict=False)]),
        phrases=np.full(starts[-1], -1),
        entities=np.full(starts[-1], -1),
        documents=np.repeat(np.arange(len(lengths)), lengths),
        foreign=parts[0].foreign,
    )


def documents_of(row: Objective, whole: Text, v: Vocabulary = VOCABULARY) -> list[Batch]:
    """The view of each document in a batch of its own."""
    views = [row.declare(one, v, chance_of(0, 0, 5, k)) for k, one in enumerate(whole.by_document())]
    return [collate([view], v.pad) for view in views]


def same_states(model: Learners, row: Objective, whole: Text, v: Vocabulary = VOCABULARY) -> None:
    """A text of several documents in a batch with a longer one gives the states of its documents alone."""
    views = [row.view(one, v, seed=0, epoch=0, index=5, apart=True) for one in (whole, of_documents(58))]
    with torch.no_grad():
        together = model.learner.encoder(collate(views, v.pad)).hidden
        alone = [model.learner.encoder(batch).hidden for batch in documents_of(row, whole, v)]
    for name in together:
        expected = torch.cat([states[name][0] for states in alone])
        assert torch.allclose(together[name][0, : len(expected)], expected, atol=2e-6)


@pytest.mark.parametrize("name", ALONE)
def test_no_cell_sees_another_document_and_nothing_leaks(name: str) -> None:
    row, whole = OBJECTIVES[name], of_documents(20, 26, 31)
    view = row.view(whole, VOCABULARY, seed=0, epoch=0, index=5, apart=True)
    assert audit(view, VOCABULARY).clean
    for key, stream in view.streams.items():
        counts = [batch.streams[key].ids.shape[1] for batch in documents_of(row, whole)]
        mine = np.repeat(np.arange(len(counts)), counts)  # (cells,) the document of each
        assert len(mine) == len(stream)
        for seen, spec in stream.sees.items():
            theirs = [batch.streams[seen].ids.shape[1] for batch in documents_of(row, whole)]
            other = mine[:, None] != np.repeat(np.arange(len(theirs)), theirs)
            assert not (spec.dense() & other).any()
    crossing = row.view(whole, VOCABULARY, seed=0, epoch=0, index=5)
    assert {name: len(one) for name, one in crossing.streams.items()} != {
        name: len(one) for name, one in view.streams.items()
    } or name in ("gpt", "transformer_xl")


def test_a_text_of_one_document_has_the_view_that_it_always_has() -> None:
    row, one = OBJECTIVES["roberta"], of_documents(30)
    apart = row.view(one, VOCABULARY, seed=1, epoch=2, index=3, apart=True).streams["content"]
    usual = row.view(one, VOCABULARY, seed=1, epoch=2, index=3).streams["content"]
    assert np.array_equal(apart.tape.ids, usual.tape.ids) and np.array_equal(apart.answers, usual.answers)


def test_documents_of_a_text_are_hidden_by_different_chances() -> None:
    row, n = OBJECTIVES["roberta"], 40
    twice = of_documents(n, n)
    labels = row.view(twice, VOCABULARY, seed=0, epoch=0, index=0, apart=True).labels("content")
    assert not np.array_equal(labels[: n + 2] >= 0, labels[n + 2 :] >= 0)


@pytest.mark.parametrize("kind", ENCODERS)
def test_an_encoder_of_transformers_reads_each_document_as_if_it_were_alone(kind: str, tmp_path: Path) -> None:
    shape = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32,
             "max_position_embeddings": 64, "vocab_size": VOCABULARY.size}  # fmt: skip
    v = PAD_SECOND if kind in ("mpnet", "roberta") else VOCABULARY
    torch.manual_seed(0)
    config = AutoConfig.for_model(kind, **{**shape, **ENCODERS[kind], "pad_token_id": v.pad})
    encoder = Encoder(AutoModel.from_config(config))
    for name in ("electra", "roberta", "t5"):
        row = OBJECTIVES[name]
        model = build_learner({name: row}, encoder, 0, Beside(64, 1), apart=True).eval()
        same_states(model, row, of_documents(20, 26), v)
        same_states(model, row, of_documents(30), v)  # read without a mask


@pytest.mark.parametrize(
    ("name", "network"),
    [("bart", "bart"), ("glm_token", "glm"), ("mass", "bart"), ("palm_continue", "palm"), ("pegasus", "pegasus"),
     ("t5", "t5"), ("transformer", "transformer")],
)  # fmt: skip
def test_a_network_of_our_own_reads_each_document_as_if_it_were_alone(name: str, network: str) -> None:
    config = NETWORKS[network](shape_of("2x16x2", 128, 1))
    if "network" in config:
        config = {**config, "network": {**config["network"], "vocabulary": VOCABULARY.size}}
    model = build_network({name: OBJECTIVES[name]}, {**config, "vocab_size": VOCABULARY.size}, 0).eval()
    same_states(model, OBJECTIVES[name], of_documents(20, 26))


def small(objective: str, tokenizer: Path, **more: Any) -> PretrainConfig:
    return PretrainConfig(objective, shape="1x16x2", tokenizer=str(tokenizer), length=48, heldout=0.2, buffer=16,
                          words="characters", decoder_layers=1, packing="apart", **more)  # fmt: skip


@pytest.mark.parametrize("row", ["electra", "glm", "mpnet", "pegasus", "spanbert", "t5"])
def test_a_run_learns_by_a_shape(row: str, encoder_folder: Path, texts: Path, tmp_path: Path) -> None:
    report = pretrain([texts], small(row, encoder_folder), replace(HOW, max_steps=2), tmp_path, quiet=True)
    assert report["steps"] == 2 and math.isfinite(report["scores"]["heldout_loss"])


def test_a_run_that_stopped_goes_on_to_equal_weights(
    encoder_folder: Path, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = small("roberta", encoder_folder)
    pretrain([texts], config, HOW, tmp_path / "whole", quiet=True)
    saves = loop.save_last

    def stops(*args: Any) -> None:
        saves(*args)
        raise KeyboardInterrupt

    monkeypatch.setattr(loop, "save_last", stops)
    with pytest.raises(KeyboardInterrupt):
        pretrain([texts], config, HOW, tmp_path / "cut", quiet=True)
    monkeypatch.setattr(loop, "save_last", saves)
    pretrain([texts], config, HOW, tmp_path / "cut", quiet=True, resume=True)
    assert equal(tmp_path / "whole", tmp_path / "cut")


def test_documents_that_are_too_short_are_taken_out_and_counted(encoder_folder: Path, tmp_path: Path) -> None:
    lines = ["王小明出生于旧金山。他是医生。", "山。", "Anna Weber was born in Berlin. She works there.", "山。"]
    (tmp_path / "texts.txt").write_text("\n\n".join(lines * 6), encoding="utf-8")
    tokenizer = Tokenizer.load(encoder_folder)
    files, cut = Corpus([tmp_path / "texts.txt"]), TextCut(64, "apart", None)
    row, vocabulary = OBJECTIVES["bart_shuffle"], vocabulary_of(tokenizer)
    documents = [one for packed in files.texts(tokenizer, cut) for one in packed.text.by_document()]
    source = CorpusSource(files, tokenizer, cut, None, ("bart_shuffle",), 0, False)
    made = list(source.texts(Place(), World(0, 1, torch.device("cpu"))))
    unfit = [packed for packed in made if not source.fits(packed.text)]  # of such documents alone
    out = sum(packed.left_out for packed in made) + sum(len(packed.text.by_document()) for packed in unfit)
    assert out == sum(len(one.ends) < 2 for one in documents) >= 12
    learned = [packed for packed in made if source.fits(packed.text)]
    kept = [one.ids.tolist() for one in documents if len(one.ends) >= 2]
    assert [one.ids.tolist() for packed in learned for one in packed.text.by_document()] == kept
    for packed in learned:
        row.view(packed.text, vocabulary, seed=0, epoch=0, index=0, apart=True)
    report = pretrain(
        [tmp_path / "texts.txt"], replace(small("bart_shuffle", encoder_folder), heldout=0),
        replace(HOW, max_steps=1), tmp_path / "run", quiet=True,
    )  # fmt: skip
    assert report["passed_over"]["too_short"] >= 1 and any("were skipped" in line for line in notes_of(report))


@pytest.mark.parametrize(
    ("row", "packing", "match"),
    [("bert", "apart", "within one document: --packing document or running, not apart"),
     ("wwm", "filled", "not filled"), ("albert", "full", "not full"), ("gpt", "apart", "this network does not take"),
     ("transformer_xl", "apart", "--packing running"), ("xlnet", "apart", "--memory 0")],
)  # fmt: skip
def test_packings_that_a_row_cannot_use_are_refused(
    row: str, packing: Any, match: str, encoder_folder: Path, texts: Path, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=match):
        pretrain([texts], replace(small(row, encoder_folder), packing=packing), HOW, tmp_path / "run", quiet=True)
