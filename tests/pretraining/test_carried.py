"""Memory is carried from batch to batch, and is what reading the texts in a row gives."""

from pathlib import Path

import numpy as np
import pytest
import torch

from factpin.encoders.own.network import Network
from factpin.encoders.own.parts import NetworkConfig
from factpin.objectives import OBJECTIVES, collate
from factpin.objectives.text import Text
from factpin.pretraining.carried import CarriedMemory
from factpin.pretraining.config import PretrainConfig
from factpin.pretraining.corpus import FRAME, Corpus, TextCut, packed
from factpin.pretraining.pretrain import pretrain
from factpin.pretraining.stream import in_lanes
from factpin.tokens import Tokenizer
from factpin.training.config import TrainConfig
from proofs.world import VOCABULARY
from tests.conftest import corpus

CONFIG = NetworkConfig(VOCABULARY.size, 16, 2, 2, 32, positions="relative", segments=0, memory=8, dropout=0.0)


def running(ids: np.ndarray, length: int) -> list[Text]:
    """A document as texts of this length, each behind the eight pieces before it."""
    one = np.arange(length)
    return [
        Text(ids[at : at + length], one, np.array([length]), before=ids[max(0, at - 8) : at])
        for at in range(0, len(ids), length)
    ]


def test_a_lane_remembers_more_than_the_text_before_it() -> None:
    """With two layers the third text depends on the first, two texts back; made anew from the ids, it would not."""
    torch.manual_seed(0)
    network, row = Network(CONFIG).eval(), OBJECTIVES["transformer_xl"]
    ids = np.random.default_rng(0).integers(10, 200, 24)
    found = []
    for first in (ids[0], 201):
        carried, hidden = CarriedMemory(CONFIG, 1), None
        for text in running(np.concatenate([[first], ids[1:]]), 8):
            (given,) = carried.behind([text])
            assert len(given.before) == len(text.before)
            batch = collate([row.view(given, VOCABULARY, seed=0, epoch=0, index=0)], VOCABULARY.pad)
            states = network(batch, carried.memory(batch))
            assert states.memory is not None
            carried.keep_of(batch, states.memory)
            hidden = states.hidden["content"]
        found.append(hidden)
    assert found[0] is not None and found[1] is not None and not torch.equal(found[0], found[1])


def test_a_lane_forgets_where_another_document_begins_or_a_text_was_passed_over() -> None:
    carried = CarriedMemory(CONFIG, 2)
    first, second, third = running(np.arange(20, 44), 8)
    batch = collate([OBJECTIVES["transformer_xl"].view(t, VOCABULARY, seed=0, epoch=0, index=0)
                     for t in carried.behind([first, first])], VOCABULARY.pad)  # fmt: skip
    memory = Network(CONFIG)(batch, None).memory
    assert memory is not None
    carried.keep_of(batch, memory)
    follows, leaps = carried.behind([second, third])
    assert follows.before.tolist() == first.ids.tolist() and not len(leaps.before)
    assert not any(len(text.before) for text in carried.empty().behind([second, second]))


def test_lanes_are_runs_of_neighbours_side_by_side() -> None:
    assert in_lanes(7, 3) == [[0, 3, 6], [1, 4], [2, 5]]
    assert sorted(sum(in_lanes(10, 4), [])) == list(range(10))


@pytest.mark.parametrize("again", [False, True])
def test_running_texts_follow_one_another_inside_a_document(again: bool, encoder_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("\n\n".join("\n".join(d.text for d in corpus(9, k)) for k in range(3)))
    tokenizer = Tokenizer.load(encoder_folder)
    cut = TextCut(32, "running", None, 64, again)
    texts = list(packed(Corpus([tmp_path / "t.txt"]).portions(), tokenizer, cut))
    for last, one in zip(texts, texts[1:], strict=False):
        assert len(one.documents) == 1
        if one.documents != last.documents:
            assert not len(one.text.before)
            continue
        step = len(last.text) // 2 if again else len(last.text)
        assert len(last.text) == 32 - FRAME and one.text.before[-step:].tolist() == last.text.ids[:step].tolist()


@pytest.mark.parametrize("row", ["transformer_xl", "xlnet"])
def test_a_run_carries_memory_and_reads_every_piece(row: str, encoder_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("\n\n".join("\n".join(d.text for d in corpus(40, k)) for k in range(4)))
    seen: list[int] = []
    config = PretrainConfig(row, shape="2x16x2", tokenizer=str(encoder_folder), length=32, heldout=0.3, buffer=16,
                            words="characters")  # fmt: skip
    report = pretrain([tmp_path / "t.txt"], config, TrainConfig(max_steps=4, batch_size=2, learning_rate=1e-3),
                      tmp_path / "run", quiet=True,
                      at=lambda model, *_: seen.append(int((model.carried.ids >= 0).sum())))  # fmt: skip
    assert report["steps"] == 4 and seen[-1] > 32
