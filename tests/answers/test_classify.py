"""Long texts get their class and pieces their labels, from what a judge keeps that only interventions taught."""

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

from factpin.answers.cogltx import TextBlock, first_relevance
from factpin.answers.cogltx_judge import collate_windows
from factpin.answers.cogltx_long import LongSettings, blocks_at_both_ends, first_blocks, piece_labels, without_block
from factpin.documents import Document, Mention, Span
from factpin.errors import BadInput
from factpin.models.classify_folder import load_labeller
from factpin.training.classify import ClassifyJob, examples_of, label_of, start_labeller
from factpin.training.classify_options import ClassifyOptions
from factpin.training.config import TrainConfig
from factpin.training.part_table import train_part
from tests.answers.long_world import WEATHER, long_encoder
from tests.conftest import PEOPLE, PLACES

QUICK = TrainConfig(epochs=14, evaluate_every=1000, batch_size=8, learning_rate=3e-3, head_learning_rate=3e-3, seed=7)


def texts(count: int, seed: int, sentences: int = 14) -> list[Document]:
    """Texts about the weather in which one sentence says where somebody went: the place is the class."""
    chance, found = random.Random(seed), []
    for i in range(count):
        parts = [chance.choice(WEATHER) for _ in range(sentences)]
        place, number = chance.choice(PLACES[:3]), chance.randrange(sentences)
        parts[number] = f"{chance.choice(PEOPLE[:4])}去了{place}。"
        at = sum(map(len, parts[:number])) + parts[number].index(place)
        mention = Mention("m0", at, at + len(place), place, "PLACE")
        found.append(Document(f"t{seed}-{i}", "".join(parts), mentions=(mention,), meta={"label": place}))
    return found


def options(home: Path, **other: object) -> ClassifyOptions:
    return replace(ClassifyOptions(str(long_encoder(home)), max_length=64, block_size=16, keep="1"), **other)


@cache
def trained(home: Path) -> tuple[Path, dict[str, object]]:
    folder = home / "classify"
    return folder, train_part(
        "classify", texts(80, 1, 10), texts(30, 2, 10), options(home, interventions=16), QUICK, folder, quiet=True
    )


def test_a_class_is_found_by_what_is_kept_and_comes_back_from_its_folder(home: Path) -> None:
    folder, report = trained(home)
    assert report["scores"]["accuracy"] > 0.9  # type: ignore[index]
    assert report["interventions"]["lowered"] > 0 and report["noted"] == {"not_fitting": 80}  # type: ignore[index]
    labeller, right = load_labeller(folder), 0
    for doc in texts(10, 5, sentences=30):
        found = labeller.classify(doc.text)
        right += found.label == label_of(doc)
        assert sum(found.probabilities.values()) == pytest.approx(1.0, abs=1e-5)
        assert sum(span.end - span.start for span in found.read) < len(doc.text)
    assert right >= 8
    with pytest.raises(BadInput, match="labels texts"):
        labeller.label("x")


def test_pieces_are_labelled_block_by_block_as_exact_spans(home: Path) -> None:
    folder = home / "pieces"
    how, chosen = replace(QUICK, epochs=4), options(home, unit="pieces", interventions=8)
    report = train_part("classify", texts(16, 1, 8), texts(6, 2, 8), chosen, how, folder, quiet=True)
    assert report["scores"]["macro_f1"] > 0.9
    labeller = load_labeller(folder)
    found = [labeller.label(doc.text) for doc in texts(10, 6, 8)]
    gold = [[(Span(m.start, m.end), m.type) for m in doc.mentions] for doc in texts(10, 6, 8)]
    assert sum(a == b for a, b in zip(found, gold, strict=True)) >= 8
    with pytest.raises(BadInput, match="labels pieces"):
        labeller.classify("x")


def test_labels_of_pieces_are_those_of_the_spans_they_are_in(home: Path) -> None:
    labeller = start_labeller(options(home, unit="pieces"), ("O", "PLACE"), 1)
    for doc in texts(5, 3):
        mention = doc.mentions[0]
        spans = [(Span(mention.start, mention.end), "PLACE")]
        marked = [
            (int(a), int(b))
            for block in labeller.cut(doc.text)
            for a, b, label in zip(block.starts, block.ends, piece_labels(block, spans), strict=True)
            if label == "PLACE"
        ]
        assert marked[0][0] == mention.start and marked[-1][1] == mention.end
        for one in examples_of(doc, labeller):
            assert len(one.gold) == len(one.query)


def test_an_intervention_hides_one_block_and_moves_nothing(home: Path) -> None:
    job = ClassifyJob(load_labeller(trained(home)[0]), texts(3, 8), [], options(home), 1)
    one = job.taught[0]
    kept = job.labeller.windows(one.query, one.blocks)[0]
    window = job.labeller.assemble(one.query, one.blocks, kept)
    pairs = collate_windows([window], 0)
    hidden = without_block(pairs, 0, window.places[1])
    first, last = window.places[1]
    assert not hidden.mask[0, first : last + 1].any() and hidden.mask.sum() == pairs.mask.sum() - (last + 1 - first)
    assert np.array_equal(hidden.ids, pairs.ids)
    changes = job.changes(one, kept)
    slow = []
    with torch.no_grad():
        gold = torch.tensor([one.gold[0]])
        whole = float(job.model.losses(pairs, gold))
        slow = [float(job.model.losses(without_block(pairs, 0, p), gold)) - whole for p in window.places]
    assert changes == pytest.approx(slow, abs=1e-4)
    needed = one.kept or kept
    told = [i for i, n in enumerate(needed) if label_of(texts(3, 8)[0]) in _text(texts(3, 8)[0], one.blocks[n])]
    assert told and int(np.argmax(changes)) in told  # without the block that names the class, the loss rises most


def _text(doc: Document, block: object) -> str:
    return doc.text[block.span.start : block.span.end]  # type: ignore[attr-defined]


def test_first_labels_are_those_of_bm25_for_the_name_of_the_class(home: Path) -> None:
    labeller = start_labeller(options(home), tuple(PLACES[:3]), 1)
    doc = texts(1, 4)[0]
    one = examples_of(doc, labeller, "bm25")[0]
    assert one.relevance == first_relevance(label_of(doc), [_text(doc, b) for b in one.blocks]) and sum(one.relevance)
    assert not any(examples_of(doc, labeller)[0].relevance)


@pytest.mark.parametrize("long", ["head", "ends", "windows"])
def test_simpler_ways_to_read_what_does_not_fit(home: Path, long: str) -> None:
    labeller = load_labeller(trained(home)[0])
    labeller.settings = replace(labeller.settings, long=long)
    doc = texts(1, 9, 30)[0]
    blocks, nothing = labeller.cut(doc.text), np.zeros(0, np.int32)
    windows = labeller.windows(nothing, blocks)
    assert all(sum(len(blocks[i].ids) + 1 for i in w) <= labeller.room(nothing) for w in windows)
    if long == "windows":
        assert sorted(i for w in windows for i in w) == list(range(len(blocks)))
    else:
        assert windows[0][0] == 0 and (windows[0][-1] == len(blocks) - 1) == (long == "ends")
    found = labeller.classify(doc.text)
    assert [doc.text[s.start : s.end] for s in found.read] == _runs(doc, blocks, {i for w in windows for i in w})
    with torch.no_grad():
        each = [
            labeller.model.label_scores(collate_windows([labeller.assemble(nothing, blocks, w)], 0)) for w in windows
        ]
    expected = torch.cat(each).log_softmax(-1).mean(0).softmax(-1)
    assert list(found.probabilities.values()) == pytest.approx(expected.tolist(), abs=1e-5)
    assert found.probabilities[found.label] == max(found.probabilities.values())


def _runs(doc: Document, blocks: Sequence[TextBlock], chosen: set[int]) -> list[str]:
    """The texts of runs of neighbouring blocks."""
    runs = [i for i in sorted(chosen) if i - 1 not in chosen]
    ends = [i for i in sorted(chosen) if i + 1 not in chosen]
    return [doc.text[blocks[a].span.start : blocks[b].span.end] for a, b in zip(runs, ends, strict=True)]


def test_blocks_at_the_ends_by_hand() -> None:
    assert first_blocks([2, 3, 4, 5], 9) == (0, 1, 2) and first_blocks([9], 3) == ()
    assert blocks_at_both_ends([2] * 10, 8) == (0, 7, 8, 9)


def test_what_makes_no_sense_is_refused(home: Path) -> None:
    with pytest.raises(BadInput, match=r"expected meta\.label"):
        label_of(Document("d", "text"))
    with pytest.raises(BadInput, match="expected two or more different ones"):
        LongSettings(("a",))
    with pytest.raises(BadInput, match="long=windows has no meaning"):
        LongSettings(("a", "b"), "pieces", "windows")
    with pytest.raises(BadInput, match="cannot be resumed"):
        train_part("classify", texts(4, 1), [], options(home), QUICK, home / "other", resume=True, quiet=True)
