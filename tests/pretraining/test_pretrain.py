"""Pretraining end to end on a small world: it learns, it can be had again, and what it writes is an encoder."""

import json
import math
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from factpin.encoders import Encoder
from factpin.encoders.own.network import Network
from factpin.encoders.own.parts import NetworkConfig
from factpin.errors import BadFile, BadInput, UnknownName
from factpin.layers.masks import full
from factpin.objectives import OBJECTIVES, ROWS, Text, View, Vocabulary
from factpin.objectives.losses import Learner
from factpin.objectives.text import Chance
from factpin.pretraining.config import Divide, PretrainConfig
from factpin.pretraining.corpus import Corpus, PackedTexts, Place, TextCut
from factpin.pretraining.job import PretrainJob, stages_of
from factpin.pretraining.learner import Learners
from factpin.pretraining.pretrain import notes_of, pretrain
from factpin.pretraining.source import CorpusSource
from factpin.pretraining.stream import BatchStream
from factpin.tasks.spans.task import SPANS, SpanOptions
from factpin.tokens import Tokenizer
from factpin.training.config import TrainConfig
from factpin.training.parallel import World
from factpin.training.run import run_training
from tests.conftest import corpus
from tests.training.test_spans import equal

QUICK = TrainConfig(max_steps=6, batch_size=4, learning_rate=3e-3, seed=7)


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty documents of a few sentences each."""
    path = tmp_path_factory.mktemp("corpus") / "texts.txt"
    path.write_text("\n\n".join("\n".join(d.text for d in corpus(5, seed)) for seed in range(40)), encoding="utf-8")
    return path


def source_of(encoder: Path, paths: list[Path], divide: Divide = "blank") -> CorpusSource:
    cut = TextCut(48, "document" if divide == "file" else "full", None)
    return CorpusSource(Corpus(paths, divide=divide), Tokenizer.load(encoder), cut, None, ("roberta",), 0, False)


def job_of(name: str, how: TrainConfig, world: World, steps: int) -> PretrainJob:
    """The job of a run on texts of four pieces; it has no model, and nothing is asked of one."""
    v = Vocabulary(size=99, pad=0, cls=1, sep=2, mask=3, gap=4, tail=5, start=6, end=7, sentinels=())
    texts = [PackedTexts(Text(np.arange(20, 24) + k, np.arange(4), np.array([4])), frozenset([k]), Place(k + 1))
             for k in range(40)]  # fmt: skip
    stream = BatchStream(lambda place: iter(texts[place.document :]), size=how.texts, buffer=8, seed=how.seed)
    model = Learners(Learner(Network(NetworkConfig(99, 8, 1, 1, 8)), None), {})  # type: ignore[arg-type]
    return PretrainJob(model, stages_of(name), stream, v, [], how, world, steps)


def small(encoder: Path, objective: str = "roberta", **more: Any) -> PretrainConfig:
    return PretrainConfig(objective, str(encoder), length=48, heldout=0.1, buffer=16, words="characters", **more)


def test_what_is_held_out_becomes_likelier_and_the_folder_is_an_encoder(
    encoder_folder: Path, texts: Path, tmp_path: Path
) -> None:
    how = replace(QUICK, max_steps=40, batch_size=8, evaluate_every=20)
    report = pretrain([texts], small(encoder_folder), how, tmp_path / "run", quiet=True)
    records = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    losses = [record["heldout_loss"] for record in records if "heldout_loss" in record]
    assert losses[-1] < losses[0] < math.log(Encoder.load(encoder_folder).config.vocab_size) - 0.5
    assert report["steps"] == 40 and report["heldout"] > 0 and report["pieces"] > 40 * 8 * 20

    model = AutoModel.from_pretrained(tmp_path / "run")
    start = Encoder.load(encoder_folder).model.state_dict()
    assert any(not torch.equal(value, start[name]) for name, value in model.state_dict().items() if name in start)
    tokens = AutoTokenizer.from_pretrained(tmp_path / "run")("王小明 was born in Berlin.")["input_ids"]
    assert tokens[0] == Encoder.load(tmp_path / "run").frame(torch.zeros(0).int().numpy())[0][0]
    span = run_training(
        SPANS, corpus(8, 1), [], SpanOptions(str(tmp_path / "run")), TrainConfig(epochs=1), tmp_path / "m", quiet=True
    )
    assert span["steps"] == 1


def test_two_runs_are_equal_and_another_seed_is_not(encoder_folder: Path, texts: Path, tmp_path: Path) -> None:
    for name, seed in (("a", 7), ("b", 7), ("c", 8)):
        pretrain([texts], small(encoder_folder), replace(QUICK, seed=seed), tmp_path / name, quiet=True)
    assert equal(tmp_path / "a", tmp_path / "b")
    assert not equal(tmp_path / "a", tmp_path / "c")


def test_a_run_that_stopped_goes_on_to_equal_weights(
    encoder_folder: Path, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    how = replace(QUICK, max_steps=12, save_every=3, accumulation=2, fgm=0.1)
    config = small(encoder_folder, "bert,palm_cloze")
    pretrain([texts], config, how, tmp_path / "whole", quiet=True)

    from factpin.training import loop

    saves = loop.save_last

    def stops(*args: Any) -> None:
        saves(*args)
        raise KeyboardInterrupt

    monkeypatch.setattr(loop, "save_last", stops)
    with pytest.raises(KeyboardInterrupt):
        pretrain([texts], config, how, tmp_path / "cut", quiet=True)
    with pytest.raises(KeyboardInterrupt):
        pretrain([texts], config, how, tmp_path / "cut", quiet=True, resume=True)
    with pytest.raises(BadInput, match="--resume"):
        pretrain([texts], config, how, tmp_path / "cut", quiet=True)
    with pytest.raises(BadFile, match="belongs to another run"):
        pretrain([texts], config, replace(how, seed=9), tmp_path / "cut", quiet=True, resume=True)
    with pytest.raises(BadFile, match="belongs to another run"):
        pretrain([texts], config, replace(how, clip=0.5), tmp_path / "cut", quiet=True, resume=True)
    monkeypatch.setattr(loop, "save_last", saves)
    (tmp_path / "cut" / "checkpoints" / "corpus-0.jsonl").unlink()  # marks are lost without harm
    report = pretrain([texts], config, how, tmp_path / "cut", quiet=True, resume=True)
    assert report["steps"] == 12 and equal(tmp_path / "whole", tmp_path / "cut")


def test_kill_and_resume_end_with_equal_weights(encoder_folder: Path, texts: Path, tmp_path: Path) -> None:
    how = replace(QUICK, max_steps=80, save_every=8, evaluate_every=40)
    pretrain([texts], small(encoder_folder), how, tmp_path / "whole", quiet=True)
    program = (
        "import sys; from pathlib import Path; from tests.pretraining.test_pretrain import *\n"
        "how = replace(QUICK, max_steps=80, save_every=8, evaluate_every=40)\n"
        "pretrain([Path(sys.argv[1])], small(Path(sys.argv[2])), how, Path(sys.argv[3]), quiet=True)\n"
    )
    last = tmp_path / "killed" / "checkpoints" / "last.pt"
    child = subprocess.Popen([sys.executable, "-c", program, str(texts), str(encoder_folder), str(tmp_path / "killed")])
    while not last.exists() and child.poll() is None:
        time.sleep(random.Random(0).uniform(0.01, 0.05))
    assert child.poll() is None
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    pretrain([texts], small(encoder_folder), how, tmp_path / "killed", quiet=True, resume=True)
    assert equal(tmp_path / "whole", tmp_path / "killed")


def test_an_encoder_is_made_from_a_config_and_a_trained_tokenizer(texts: Path, tmp_path: Path) -> None:
    shape = {"model_type": "bert", "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2,
             "intermediate_size": 64, "max_position_embeddings": 64}  # fmt: skip
    (tmp_path / "bert.json").write_text(json.dumps(shape))
    for kind in ("wordpiece", "bpe"):
        config = PretrainConfig("wwm", config=str(tmp_path / "bert.json"), vocabulary=kind, vocab_size=400, length=48,
                                words="characters")  # fmt: skip
        report = pretrain([texts], config, replace(QUICK, max_steps=2), tmp_path / kind, quiet=True)
        assert report["vocabulary"]["size"] == Encoder.load(tmp_path / kind).config.vocab_size
        assert report["vocabulary"]["after"]["unknown_pieces"] == 0


def test_words_that_were_cut_up_get_pieces_of_their_own(encoder_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("\n\n".join(["The phosphatase binds kinase."] * 30))
    report = pretrain([tmp_path / "t.txt"], small(encoder_folder, extend=5), replace(QUICK, max_steps=1),
                      tmp_path / "run", quiet=True)["vocabulary"]  # fmt: skip
    assert "phosphatase" in report["words"]
    assert report["after"]["pieces_per_word"] < report["before"]["pieces_per_word"]
    assert report["after"]["oversplit_words"] == 0


def test_a_vocabulary_that_does_not_fit_is_told(encoder_folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "strange.txt"
    path.write_text("\n\n".join(f"Ωμέγα δέλτα {k}." for k in range(60)), encoding="utf-8")
    config = PretrainConfig("roberta", str(encoder_folder), extend=50, length=24, heldout=0.1)
    told = notes_of(pretrain([path], config, replace(QUICK, max_steps=1), tmp_path / "run", quiet=True))
    assert any("--extend 50: " in note for note in told) and any("are unknown" in note for note in told)


def test_a_corpus_in_another_encoding_is_read(encoder_folder: Path, texts: Path, tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    path.write_bytes(texts.read_text(encoding="utf-8").encode("gb18030"))
    config, how = small(encoder_folder), replace(QUICK, max_steps=2)
    one = pretrain([path], replace(config, encoding="gb18030"), how, tmp_path / "one", quiet=True)
    assert one["scores"] == pretrain([texts], config, how, tmp_path / "two", quiet=True)["scores"]


def test_a_corpus_of_its_own_judges_and_none_that_is_learned_from(
    encoder_folder: Path, texts: Path, tmp_path: Path
) -> None:
    dev = tmp_path / "dev.txt"
    dev.write_text("\n\n".join(d.text for d in corpus(12, 99)), encoding="utf-8")
    report = pretrain([texts], small(encoder_folder), QUICK, tmp_path / "run", dev=[dev], quiet=True)
    assert report["heldout"] == len(source_of(encoder_folder, [dev]).judged()) > 0
    for shared in (texts, texts.parent):
        with pytest.raises(BadInput, match="in both --corpus and --dev"):
            pretrain([texts], small(encoder_folder), QUICK, tmp_path / "both", dev=[dev, shared], quiet=True)
    assert not (tmp_path / "both").exists()


def test_a_row_that_shows_what_it_asks_for_is_refused(
    encoder_folder: Path, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = OBJECTIVES["gpt"]

    def leaking(text: Text, v: Vocabulary, chance: Chance) -> View:
        """GPT that sees the piece it is asked for, one place on."""
        view = honest.declare(text, v, chance)
        (stream,) = view.streams.values()
        return replace(view, streams={"content": replace(stream, sees={"content": full(len(stream), len(stream))})})

    monkeypatch.setitem(ROWS, "gpt", replace(honest, declare=leaking))
    with pytest.raises(BadInput, match="gpt shows what it asks for: .* up it sees"):
        pretrain([texts], small(encoder_folder, "gpt"), QUICK, tmp_path / "run", quiet=True)


def test_a_lexicon_that_nothing_of_the_corpus_stands_in_is_refused(
    encoder_folder: Path, texts: Path, tmp_path: Path
) -> None:
    lexicon = tmp_path / "lexicon.txt"
    lexicon.write_text("nowhere to be found\tentity\n", encoding="utf-8")
    config = replace(small(encoder_folder, "ernie_entity"), lexicon=str(lexicon))
    with pytest.raises(BadInput, match="none of its entries"):
        pretrain([texts], config, QUICK, tmp_path / "run", quiet=True)
    lexicon.write_text("Berlin entity\n", encoding="utf-8")
    with pytest.raises(BadFile, match="expected a tab"):
        pretrain([texts], config, QUICK, tmp_path / "run", quiet=True)


def test_the_table_of_objectives_is_what_names_stand_for() -> None:
    assert stages_of("bert") == ({"bert": 1.0},)
    assert stages_of("unilm")[0]["unilm_both"] == 2
    assert [list(stage) for stage in stages_of("ernie")] == [["ernie_basic"], ["ernie_phrase"], ["ernie_entity"]]
    assert stages_of("bert, wwm,bert") == ({"bert": 2.0, "wwm": 1.0},)
    with pytest.raises(UnknownName, match="Did you mean 'roberta'"):
        stages_of("robrta")
    with pytest.raises(BadInput, match="stages"):
        stages_of("ernie,bert")


def test_ernie_two_adds_a_row_in_every_stage_and_the_old_ones_go_on() -> None:
    stages = stages_of("ernie2")
    rows = list(stages[-1])
    assert [list(stage) for stage in stages] == [rows[: k + 1] for k in range(5)]
    total = sum(sum(stage.values()) for stage in stages)
    for k, row in enumerate(rows):
        steps = [stage[row] for stage in stages if row in stage]
        assert len(steps) == 5 - k and len(set(steps)) == 1 and sum(steps) == total / 5


@pytest.mark.parametrize("name", ["ernie", "ernie2", "palm", "unilm"])
def test_a_stage_takes_its_share_of_the_steps_and_a_row_its_share_of_the_stage(name: str) -> None:
    stages, steps = stages_of(name), 3000
    job = job_of(name, replace(QUICK, accumulation=2), World(0, 1, torch.device("cpu")), steps)
    drawn = [job.row(2 * step) for step in range(steps)]
    total, at = sum(sum(stage.values()) for stage in stages), 0.0
    for stage in stages:
        begin, at = round(at / total * steps), at + sum(stage.values())
        counts = Counter(drawn[begin : round(at / total * steps)])
        n = counts.total()
        assert set(counts) == set(stage)
        for row, weight in stage.items():
            p = weight / sum(stage.values())
            assert abs(counts[row] - p * n) <= 4 * (p * (1 - p) * n) ** 0.5 + 1


def test_stages_follow_one_another_with_a_lexicon_or_without(encoder_folder: Path, texts: Path, tmp_path: Path) -> None:
    report = pretrain([texts], small(encoder_folder, "ernie"), QUICK, tmp_path / "rules", quiet=True)
    assert report["steps"] == 6 and any("found by rules" in note for note in report["notes"])
    (tmp_path / "names.txt").write_text("王小明\n旧金山\nAnna Weber\n")
    config = small(encoder_folder, "ernie", lexicon=str(tmp_path / "names.txt"))
    report = pretrain([texts], config, QUICK, tmp_path / "run", quiet=True)
    assert report["steps"] == 6 and "the same spans" in report["notes"][0]
    (tmp_path / "kinds.txt").write_text("王小明\tentity\n旧金山\tentity\n出生于\tphrase\n")
    config = small(encoder_folder, "ernie2", lexicon=str(tmp_path / "kinds.txt"))
    report = pretrain([texts], config, QUICK, tmp_path / "two", quiet=True)
    assert report["steps"] == 6 and not any("the same spans" in note for note in report["notes"])
    (tmp_path / "kinds.txt").write_text("王小明\tentity\n")
    with pytest.raises(BadInput, match="hides phrases"):
        pretrain([texts], config, QUICK, tmp_path / "three", quiet=True)


def test_mixtures_and_rows_of_two_streams_run_on_an_encoder(encoder_folder: Path, texts: Path, tmp_path: Path) -> None:
    for names in ("unilm", "gpt,mpnet,spanbert,xlnet", "glm"):
        report = pretrain([texts], small(encoder_folder, names), QUICK, tmp_path / names, quiet=True)
        assert report["steps"] == 6 and math.isfinite(report["scores"]["heldout_loss"])
    assert "[START]" in (tmp_path / "glm" / "tokenizer.json").read_text(encoding="utf-8")


def test_epochs_are_counted_where_no_steps_are_given(encoder_folder: Path, texts: Path, tmp_path: Path) -> None:
    one, two = (
        pretrain(
            [texts], small(encoder_folder), replace(QUICK, max_steps=None, epochs=n), tmp_path / str(n), quiet=True
        )
        for n in (1, 2)
    )
    assert one["steps"] > 1 and abs(two["steps"] - 2 * one["steps"]) <= 1


@pytest.fixture
def books(tmp_path: Path) -> list[Path]:
    """Three long documents: a block of the stream lies inside one."""
    for k in range(3):
        (tmp_path / f"{k}.txt").write_text("\n".join(d.text for d in corpus(120, k)), encoding="utf-8")
    return [tmp_path / f"{k}.txt" for k in range(3)]


def test_long_documents_are_learned_from_to_the_end(encoder_folder: Path, books: list[Path], tmp_path: Path) -> None:
    config = replace(small(encoder_folder, "bert"), divide="file")
    how = replace(QUICK, max_steps=None, epochs=1, batch_size=1)
    report = pretrain(books, config, how, tmp_path / "run", quiet=True)
    count = sum(1 for _ in source_of(encoder_folder, books, "file").texts(Place(), World(0, 1, torch.device("cpu"))))
    assert report["texts"] == report["steps"] == count > 3 * config.buffer
    assert report["passed_over"] == {"too_short": 0, "no_other_document": 0}
    assert any("nothing was held out" in told for told in notes_of(report))
    with pytest.raises(BadInput, match="--divide"):
        pretrain(books[:1], config, QUICK, tmp_path / "one", quiet=True)


def test_a_process_with_one_document_is_set_against_those_of_others(encoder_folder: Path, books: list[Path]) -> None:
    source = source_of(encoder_folder, books, "file")
    world = World(1, 3, torch.device("cpu"))
    stream = BatchStream(lambda place: source.texts(place, world), size=4, buffer=16, seed=0, needs_foreign=True,
                    reserve=lambda epoch: source.reserve(7, epoch))  # fmt: skip
    own = {piece for one in source.texts(Place(), world) for piece in [one.text.ids.tobytes()]}
    drawn = [text for n in range(8) for text in stream.batch(n).texts]
    assert all(text.ids.tobytes() in own for text in drawn)
    foreign = {text.foreign.ids.tobytes() for text in drawn if text.foreign is not None}
    assert len(foreign) > 10 and not foreign & own
    assert [one.text.ids.tolist() for one in source.reserve(7, 0)] == [
        one.text.ids.tolist() for one in source_of(encoder_folder, books, "file").reserve(7, 0)
    ]


def test_texts_that_are_too_short_are_counted_and_told(encoder_folder: Path, tmp_path: Path) -> None:
    documents = ["\n".join(d.text for d in corpus(1 if k % 3 else 5, k)) for k in range(30)]
    (tmp_path / "t.txt").write_text("\n\n".join(documents), encoding="utf-8")
    config = replace(small(encoder_folder, "ernie_distance"), heldout=0)
    report = pretrain([tmp_path / "t.txt"], config, replace(QUICK, max_steps=3, batch_size=3), tmp_path / "run",
                      quiet=True)  # fmt: skip
    assert report["passed_over"]["too_short"] >= 20 and report["passed_over"]["no_other_document"] == 0
    assert any(f"{report['passed_over']['too_short']} texts were skipped" in told for told in notes_of(report))


def test_a_finished_run_that_is_resumed_tells_the_same(encoder_folder: Path, texts: Path, tmp_path: Path) -> None:
    for resume in (False, True):
        report = pretrain([texts], small(encoder_folder), QUICK, tmp_path / "run", quiet=True, resume=resume)
        if not resume:
            first = report
    assert report == first and report["pieces"] > 0 and report["texts"] == 6 * 4


@pytest.mark.parametrize(("accumulation", "processes"), [(3, 1), (1, 3), (3, 2), (2, 1)])
def test_every_step_gets_the_next_batches_of_every_process(accumulation: int, processes: int) -> None:
    steps, how = 700, replace(QUICK, accumulation=accumulation)
    for rank in range(processes):
        world = World(rank, processes, torch.device("cpu"))
        job = job_of("gpt", how, world, steps)
        order, numbers = job.order(0), []
        assert len(order) == steps
        for at in range(steps):
            assert len(order[at]) == accumulation * processes
            mine = world.share(order[at])
            numbers += [place // processes for place in mine]
            assert len(mine) == accumulation and job.row(mine[0]) == "gpt"
        assert numbers == list(range(steps * accumulation))
        last = order[steps - 1]
        assert job.batch(world.share(last)[-1:])[0] == "gpt" and job.done == steps
        assert job.seen(steps) == job.stream.batch(steps * accumulation - 1).seen


def test_steps_are_as_many_as_asked_whatever_they_accumulate(
    encoder_folder: Path, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["factpin.tokens.batches"], "BUCKET", 8)  # what other tasks are shuffled in
    told: list[int] = []
    how = replace(QUICK, max_steps=8, accumulation=3, evaluate_every=2, batch_size=2)
    report = pretrain([texts], small(encoder_folder), how, tmp_path / "run", quiet=True,
                      at=lambda model, tokenizer, step, pieces: told.append(step))  # fmt: skip
    assert report["steps"] == 8 and told == [2, 4, 6, 8] and report["texts"] > 7 * 3 * 2


@pytest.mark.parametrize(
    ("change", "match"),
    [({"length": 100}, "at most 64"), ({"encoder": "", "config": ""}, "--encoder"), ({"extend": -1}, "extend"),
     ({"heldout": 0.9}, "heldout"), ({"decoder_layers": 0}, "decoder_layers"), ({"shape": "1x16"}, "--shape"),
     ({"memory": -1}, "memory"), ({"memory": 8}, "has no memory"), ({"vocab_size": 99}, "has its vocabulary")],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(
    change: dict[str, Any], match: str, encoder_folder: Path, texts: Path, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=match):
        pretrain([texts], replace(small(encoder_folder), **change), QUICK, tmp_path / "run", quiet=True)


def test_processes_share_the_documents_and_no_text_is_learned_twice(
    encoder_folder: Path, texts: Path, tmp_path: Path
) -> None:
    source = replace(source_of(encoder_folder, [texts]), every=10)
    shares = [
        {d for packed in source.texts(Place(), World(rank, 2, torch.device("cpu"))) for d in packed.documents}
        for rank in (0, 1)
    ]
    assert not shares[0] & shares[1]
    assert shares[0] | shares[1] == {d for d in range(40) if d % 10 != 9}
