"""Thresholds and the scale, fitted on what a model of spans would show."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from factpin.documents import Document, Mention
from factpin.tasks.scale import Scale
from factpin.tasks.settings import Settings
from factpin.tasks.spans.finder import SpanFinder
from factpin.tasks.spans.scores import FactoredScores
from factpin.tasks.spans.tune import tune
from factpin.tokens import Tokenizer
from factpin.tokens.reading import WindowedDocument, WindowReader
from factpin.tokens.small import build_tokenizer

LETTERS = "甲乙丙"  # the first of a document says which scores it has
SURE, WRONG, HIDDEN, PAD = 5.0, 2.0, 1.0, -50.0


@dataclass
class ScoredModel:
    """Documents and the scores of their spans of two labels, read and found as for any model of spans."""

    settings: Settings
    tokenizer: Tokenizer
    scores: list[dict[tuple[int, int, int], float]]  # of every document: (label, first, last) -> score
    default_threshold = 0.0

    @property
    def finder(self) -> SpanFinder:
        return SpanFinder.prepare(self.settings, self.tokenizer)

    def read(self, doc: Document) -> WindowedDocument:
        return WindowReader(self.tokenizer, 60, 0).read(doc)

    def find(self, documents: Any, cut: Any = None) -> list[Any]:
        return self.finder.find(documents, self.predict, self.settings.cut(0.0) if cut is None else cut)

    def predict(self, batch: Any) -> FactoredScores:
        """The scores of a document by its first letter."""
        B, N = batch.ids.shape
        first = len(self.tokenizer.prefix)
        u, v = np.full((B, 2, N), PAD, np.float32), np.zeros((B, 2, N), np.float32)
        q = k = np.zeros((B, N, 1), np.float32)
        for b in range(B):
            number = int(self.kinds[int(batch.ids[b, first])])
            for (label, start, end), score in self.scores[number].items():
                u[b, label, first + start] = score
                v[b, label, :] = PAD
                v[b, label, first + end] = 0.0
        return FactoredScores(q, k, u, v, batch.real)

    @property
    def kinds(self) -> dict[int, int]:
        return {int(self.tokenizer.encode(letter).ids[0]): i for i, letter in enumerate(LETTERS)}


def marked(number: int, kind: int, *spans: tuple[int, int, str]) -> Document:
    text = LETTERS[kind] + "天地人"
    mentions = tuple(Mention(f"m{i}", a, b, text[a:b], label) for i, (a, b, label) in enumerate(spans))
    return Document(f"d{number}", text, mentions=mentions)


def test_the_scale_is_fitted_on_the_spans_that_are_shown() -> None:
    """A wrong span of A scores more than a span of B that overlaps it, and less than the threshold of A."""
    settings = Settings("spans", ("A", "B"), "efficient_global_pointer", {}, "e", task_config={"overlaps": False})
    tokenizer = build_tokenizer([*LETTERS, "天地人"] * 3, vocab_size=60)
    scores = [{(0, 0, 1): SURE}, {(0, 0, 2): WRONG, (1, 0, 1): HIDDEN}, {(0, 0, 2): WRONG, (1, 0, 1): HIDDEN}]
    model = ScoredModel(settings, tokenizer, scores)
    dev = [marked(i, 0, (0, 2, "A")) for i in range(30)]
    dev += [marked(30 + i, 1, (0, 2, "B")) for i in range(15)] + [marked(50 + i, 2) for i in range(25)]
    tuned = tune(model, dev, SimpleNamespace(tune_thresholds=True))
    assert WRONG < tuned.thresholds["A"] < SURE and "B" not in tuned.thresholds
    model.settings = tuned
    shown = model.find([model.read(doc) for doc in dev])
    assert [one.label.tolist() for one in shown] == [[0]] * 30 + [[1]] * 40  # all of B are shown
    scale = Scale(tuned.temperature, tuned.shift)
    assert scale.probability(HIDDEN) == pytest.approx(15 / 40, abs=0.05) and scale.probability(SURE) > 0.9
