"""Pairs as a corpus: a file of sources and targets comes in, one text for each pair goes out.

    source<tab>target                              any ending but .jsonl
    {"source": "…", "target": "…"}                 .jsonl

A source or a target that is longer than a text is cut at its end; `cut_off` counts how many are.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from factpin.errors import BadFile
from factpin.extraction.inputs import Input
from factpin.files import lines
from factpin.pretraining.corpus import FRAME, Corpus, PackedTexts, Place, Portion, TextCut, text_of_portion
from factpin.pretraining.known import Units
from factpin.tokens import Tokenizer


@dataclass(frozen=True)
class SourceTarget:
    """A source and its target."""

    source: str
    target: str


class Pairs(Corpus):
    """Read as a corpus is; every pair is a document."""

    def __init__(self, paths: Sequence[Path], *, encoding: str | None = None) -> None:
        self.inputs = [Input(Path(path), "pairs", Path(path).name, Path(path).stem) for path in paths]
        self.passed = Counter()
        self.encoding = encoding
        if next(self.pairs(), None) is None:
            raise BadFile(f"{paths[0]}: has no pair. Expected a source, a tab and a target in every line.")

    def pairs(self) -> Iterator[SourceTarget]:
        for given in self.inputs:
            for number, line in lines(given.path, self.encoding or "utf-8"):
                if line.strip():
                    yield _pair(line, given.path, number)

    def portions(self) -> Iterator[Portion]:
        """Sources and targets, as a vocabulary is trained on them."""
        for number, pair in enumerate(self.pairs()):
            yield Portion(number, pair.source)
            yield Portion(number, pair.target)

    def texts(
        self,
        tokenizer: Tokenizer,
        cut: TextCut,
        *,
        known: Units | None = None,
        start: Place | None = None,
        wanted: Callable[[int], bool] = lambda _: True,
    ) -> Iterator[PackedTexts]:
        first, room = (start or Place()).document, cut.cells - FRAME
        for number, pair in enumerate(self.pairs()):
            if number < first or not wanted(number):
                continue
            source = text_of_portion(Portion(number, pair.source), tokenizer, cut, known)
            target = tokenizer.encode(pair.target).ids.astype("int64")
            if len(source) and len(target):
                text = replace(source.part(0, min(room, len(source))), target=target[:room])
                yield PackedTexts(text, frozenset([number]), Place(number + 1))

    def cut_off(self, tokenizer: Tokenizer, cells: int) -> int:
        """How many pairs have a side that is longer than a text."""
        room = cells - FRAME
        return sum(max(len(tokenizer.encode(side).ids) for side in (p.source, p.target)) > room for p in self.pairs())


def _pair(line: str, path: Path, number: int) -> SourceTarget:
    if path.suffix == ".jsonl":
        try:
            record = orjson.loads(line)
            source, target = record["source"], record["target"]
        except (orjson.JSONDecodeError, KeyError, TypeError):
            source = target = None
        if not isinstance(source, str) or not isinstance(target, str):
            raise BadFile(f'{path}, line {number}: expected {{"source": "…", "target": "…"}}, got {line[:60]!r}.')
    else:
        source, tab, target = line.partition("\t")
        if not tab:
            raise BadFile(f"{path}, line {number}: expected a source, a tab and a target, got {line[:60]!r}.")
    if not source.strip() or not target.strip():
        raise BadFile(f"{path}, line {number}: the {'target' if source.strip() else 'source'} is empty. Remove the "
                      f"line, or complete it.")  # fmt: skip
    return SourceTarget(source, target)
