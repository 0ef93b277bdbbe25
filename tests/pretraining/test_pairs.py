"""Pairs of sources and targets: read, framed as each method frames them, learned, and said again."""

from pathlib import Path

import numpy as np
import pytest

from factpin.errors import BadFile, BadInput, UnknownName
from factpin.objectives import PAIRED, audit
from factpin.objectives.generate import GenerationSearch
from factpin.objectives.text import Text
from factpin.pretraining.config import PretrainConfig
from factpin.pretraining.corpus import TextCut
from factpin.pretraining.generation import Generator
from factpin.pretraining.needs import needs
from factpin.pretraining.pairs import Pairs
from factpin.pretraining.pretrain import pretrain
from factpin.tokens import Tokenizer
from factpin.training.config import TrainConfig
from proofs.world import VOCABULARY

WORDS = ["red", "blue", "green", "cat", "dog", "bird"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    chance = np.random.default_rng(0)
    rows = [[WORDS[i] for i in chance.integers(len(WORDS), size=chance.integers(1, 4))] for _ in range(120)]
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{' '.join(row)}\t{' '.join(row[::-1])}\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("row", PAIRED)
def test_a_target_is_asked_for_and_never_shown(row: str) -> None:
    text = Text(np.arange(20, 26), np.arange(6), np.array([6]), target=np.arange(40, 44))
    view = PAIRED[row].view(text, VOCABULARY, seed=0, epoch=0, index=0)
    assert audit(view, VOCABULARY).clean and needs(PAIRED[row]).target
    labels = view.labels("decoder")
    assert [int(i) for i in labels if 40 <= i < 44] == [40, 41, 42, 43]
    assert labels[-1] in (VOCABULARY.end, VOCABULARY.sep)
    assert not set(view.streams["encoder"].tape.ids.tolist()) & {40, 41, 42, 43}
    with pytest.raises(BadInput, match="file of pairs"):
        PAIRED[row].view(Text(text.ids, text.words, text.ends), VOCABULARY, seed=0, epoch=0, index=0)


def test_a_pair_is_a_text_and_long_ones_are_counted(encoder_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text('{"source": "a b c d e f g h", "target": "b"}\n{"source": "c", "target": "d"}\n')
    pairs, tokenizer = Pairs([tmp_path / "p.jsonl"]), Tokenizer.load(encoder_folder)
    texts = [one.text for one in pairs.texts(tokenizer, TextCut(8, words=None))]
    assert [len(text) for text in texts] == [5, 1] and all(text.target is not None for text in texts)
    assert pairs.cut_off(tokenizer, 8) == 1
    again = list(pairs.texts(tokenizer, TextCut(8, words=None), wanted=lambda number: number == 1))
    assert len(again) == 1 and again[0].documents == {1}


@pytest.mark.parametrize(
    ("name", "line", "match"),
    [("p.tsv", "no tab here", "line 1: expected a source"), ("p.tsv", "a\t ", "target is empty"),
     ("p.jsonl", '{"source": 1}', "line 1: expected"), ("p.tsv", "\n", "has no pair")],
)  # fmt: skip
def test_what_is_no_pair_is_named_with_its_line(name: str, line: str, match: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(line + "\n")
    with pytest.raises(BadFile, match=match):
        list(Pairs([tmp_path / name]).pairs())


def test_a_transformer_learns_a_small_dictionary(tmp_path: Path) -> None:
    rows = [f"{word}\t{other}\n" for word, other in zip(WORDS, WORDS[3:] + WORDS[:3], strict=True)]
    (tmp_path / "pairs.tsv").write_text("".join(rows * 10))
    config = PretrainConfig("transformer", pairs=str(tmp_path / "pairs.tsv"), shape="1x32x2", length=8, vocab_size=60,
                            heldout=0)  # fmt: skip
    pretrain([], config, TrainConfig(max_steps=120, batch_size=30, learning_rate=5e-3), tmp_path / "run", quiet=True)
    generator = Generator.load(tmp_path / "run")
    said = [generator.answers(word, GenerationSearch("greedy", longest=4))[0].text for word in WORDS]
    assert generator.kind == "transformer_pairs" and said == WORDS[3:] + WORDS[:3]


def test_pairs_and_a_corpus_are_not_mixed_up(file: Path, tmp_path: Path) -> None:
    how, shape = TrainConfig(max_steps=1), {"shape": "1x16", "length": 12}
    with pytest.raises(BadInput, match="--pairs is the corpus"):
        pretrain([file], PretrainConfig("t5", pairs=str(file), **shape), how, tmp_path / "a")
    with pytest.raises(BadInput, match="--pairs FILE"):
        pretrain([file], PretrainConfig("t5_pairs", **shape), how, tmp_path / "b")
    with pytest.raises(UnknownName, match="objective for pairs"):
        pretrain([], PretrainConfig("wwm", pairs=str(file), **shape), how, tmp_path / "c")
