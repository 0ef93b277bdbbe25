"""Compare two runtimes of one model: the scores of random windows, and what is found in documents."""

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from factpin.answers.pair_reader import collate_pairs
from factpin.answers.reader import Reader
from factpin.documents import Document, Entity, Mention, Span
from factpin.documents.schema import schema_of
from factpin.errors import BadModel
from factpin.models.extractor import Extractor
from factpin.models.predictor import Inputs
from factpin.tokens.pairs import frame_pair
from factpin.tokens.reading import collate

SHAPES = ((1, 1), (1, 40), (3, 17))  # windows and pieces
CLOSE = 1e-3  # of scores, which are some units large
SAME = 1e-4 + 1e-9  # of probabilities, which are rounded to four digits
NOTHING = np.zeros(0, np.int32)
SENTENCE, ENTITIES = 20, 6  # of a trial document: pieces of a sentence, entities


def compare_batches(one: Extractor, two: Extractor) -> float:
    """The greatest difference of scores of random windows; an error where it is not small."""
    chance, worst = np.random.default_rng(0), 0.0
    longest = one.settings.max_length - one.tokenizer.frame_size
    for count, length in (*SHAPES, (1, longest)):
        windows = [
            chance.integers(0, one.tokenizer.vocab_size, max(1, min(length, longest) - i)).astype(np.int32)
            for i in range(count)
        ]
        batch = collate(windows, one.tokenizer)
        for (name, a), (_, b) in zip(arrays(one.predict(batch)), arrays(two.predict(batch)), strict=True):
            worst = max(worst, near(name, a, b))
    return worst


def compare_trial(one: Extractor, two: Extractor) -> float:
    """The greatest difference of scores of a document of several windows; an error where it is not small."""
    doc = trial_document(one)
    first, second = (list(arrays(scores_in(model, doc))) for model in (one, two))
    if not first:
        raise BadModel("The runtimes could not be compared: no pair of a trial document is scored.")
    return max(near(name, a, b) for (name, a), (_, b) in zip(first, second, strict=True))


def scores_in(model: Extractor, doc: Document) -> list[Any]:
    """What the head of a model gives for a document."""
    given: list[Any] = []

    def predict(inputs: Inputs) -> Any:
        given.append(model.predict(inputs))
        return given[-1]

    model.finder.find([model.read(doc)], predict, model.threshold())
    return given


def trial_document(model: Extractor) -> Document:
    """Random words, longer than two windows, with an entity in every sentence; entities are named several times."""
    chance, text = np.random.default_rng(0), ""
    relations = [*schema_of(model.settings.task_config.get("schema", {})).relations.values()]
    kinds = [(ends or ("",))[0] for ends in (relations[0].heads, relations[0].tails)] if relations else ["", ""]
    mentions: list[Mention] = []
    for i in range(max(12, 2 * model.settings.max_length // SENTENCE)):
        ids = chance.integers(0, model.tokenizer.vocab_size, SENTENCE).astype(np.int32)
        name = f"Name{i % ENTITIES}"
        mentions.append(Mention(f"m{i}", len(text), len(text) + len(name), name, kinds[i % 2]))
        text += f"{name} {' '.join(model.tokenizer.decode(ids).split())}. "
    of = [tuple(m.id for m in mentions[i::ENTITIES]) for i in range(ENTITIES)]
    entities = tuple(Entity(f"e{i}", ids, mentions[i].type) for i, ids in enumerate(of))
    ends = [*(m.start for m in mentions[1:]), len(text)]
    sentences = tuple(Span(m.start, end) for m, end in zip(mentions, ends, strict=True))
    return Document("trial", text, sentences=sentences, mentions=tuple(mentions), entities=entities)


def compare_documents(one: Extractor, two: Extractor, documents: Sequence[Document]) -> None:
    """Raise BadModel where the two find something else in a document."""
    for a, b in zip(one.annotate(documents), two.annotate(documents), strict=True):
        if not same(a, b):
            raise BadModel(f"{a.id}: the two runtimes find different things in it.")


def compare_pairs(one: Reader[Any], two: Reader[Any]) -> float:
    """The greatest difference of a reader's scores of random pairs; an error where it is not small."""
    chance, worst = np.random.default_rng(0), 0.0
    longest = one.settings.max_length - len(frame_pair(one.tokenizer, NOTHING, NOTHING).ids)
    for count, length in (*SHAPES, (1, longest - 1)):
        parts = [
            [chance.integers(0, one.tokenizer.vocab_size, n).astype(np.int32) for n in (1, max(1, length - i))]
            for i in range(count)
        ]
        batch = collate_pairs([frame_pair(one.tokenizer, *part) for part in parts], one.tokenizer.pad_id)
        worst = max(worst, near("scores", one.model.table(batch), two.model.table(batch)))
    return worst


def same(a: Document, b: Document) -> bool:
    """Whether two documents are equal, but for the last digits of scores."""
    near = all(abs(x - y) <= SAME for x, y in zip(scores_of(a), scores_of(b), strict=False))
    return near and without_scores(a) == without_scores(b)


def scores_of(doc: Document) -> list[float]:
    """The scores of everything that was found, in order."""
    found: list[Any] = [*doc.mentions, *doc.facts, *doc.events]
    return [one.score or 0.0 for one in found]


def without_scores(doc: Document) -> Document:
    """The document with every score set to 0."""
    mentions = tuple(replace(one, score=0.0) for one in doc.mentions)
    facts = tuple(replace(one, score=0.0) for one in doc.facts)
    return replace(doc, mentions=mentions, facts=facts, events=tuple(replace(one, score=0.0) for one in doc.events))


def arrays(scores: Any, name: str = "scores") -> Iterator[tuple[str, NDArray[Any]]]:
    """The arrays of numbers in scores, by name."""
    if isinstance(scores, list | tuple):
        for i, one in enumerate(scores):
            yield from arrays(one, f"{name}[{i}]")
    elif is_dataclass(scores):
        for field in fields(scores):
            yield from arrays(getattr(scores, field.name), f"{name}.{field.name}")
    elif isinstance(scores, np.ndarray) and np.issubdtype(scores.dtype, np.floating):
        yield name, scores


def near(name: str, a: NDArray[Any], b: NDArray[Any]) -> float:
    """The greatest difference; an error where it is not small."""
    apart = difference(a, b)
    if not apart <= CLOSE:
        raise BadModel(f"{name} of the two runtimes differs by {apart:.3g}; expected at most {CLOSE}.")
    return apart


def difference(a: NDArray[Any], b: NDArray[Any]) -> float:
    """The greatest difference; infinite where shapes or infinities differ."""
    if a.shape != b.shape or not np.array_equal(np.isfinite(a), np.isfinite(b)):
        return np.inf
    finite = np.isfinite(a)
    return float(np.abs(a[finite] - b[finite]).max(initial=0.0))
