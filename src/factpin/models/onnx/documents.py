"""A model whose head reads whole documents: its encoder is the graph, and its head is computed here in arrays."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from factpin.arrays import Floats32, Ints
from factpin.errors import BadInput
from factpin.models.onnx.atlop import atlop
from factpin.models.onnx.mention_pair import mention_pair
from factpin.models.onnx.rows import WindowRows, attention_rows, merge_hidden, merge_rows
from factpin.models.onnx.scores import THRESHOLDS, Config
from factpin.models.onnx.session import Session
from factpin.models.predictor import Inputs
from factpin.models.settings import Settings
from factpin.models.weights import Weights
from factpin.tasks.coreference.find import CandidateScores
from factpin.tasks.examples import DocumentBatch, DocumentExample
from factpin.tokens.reading import batched

Document = tuple[Floats32, WindowRows | None]  # H (N, D), and the attention of its mentions
Head = Callable[[Sequence[Document], Sequence[DocumentExample], Config, Weights], Any]


def _relations(read: Sequence[Document], documents: Sequence[DocumentExample], config: Config, w: Weights) -> Any:
    return [atlop(H, A, doc, config, w) for (H, A), doc in zip(read, documents, strict=True)]


def _coreference(read: Sequence[Document], documents: Sequence[DocumentExample], _: Config, w: Weights) -> Any:
    """The mentions of all documents one after the other, each with as many candidates as any has."""
    scores = [mention_pair(H, doc, w).s for (H, _), doc in zip(read, documents, strict=True)]
    most = max((s.shape[1] for s in scores), default=0)
    wide = [np.pad(s, ((0, 0), (0, most - s.shape[1])), constant_values=-np.inf) for s in scores]
    return CandidateScores(np.concatenate(wide) if wide else np.zeros((0, 0), np.float32))


DOCUMENT_SCORES: dict[str, Head] = {"atlop": _relations, "mention_pair": _coreference}  # heads that read documents


@dataclass(frozen=True)
class DocumentNetwork:
    """A model whose head reads documents."""

    session: Session
    head: Head
    config: Config
    weights: Weights  # of the head
    default_threshold: float

    @staticmethod
    def of(settings: Settings, session: Session, weights: Mapping[str, NDArray[Any]]) -> "DocumentNetwork":
        """The model of these settings."""
        own = {name: weights[name] for name in weights if name.startswith("head.")}
        threshold = THRESHOLDS.get(settings.head, 0.0)
        return DocumentNetwork(session, DOCUMENT_SCORES[settings.head], settings.head_config, own, threshold)

    def predict(self, inputs: Inputs, *, bf16: bool = False) -> Any:  # noqa: ARG002  (runtimes refuses it)
        """The head's scores."""
        if not isinstance(inputs, DocumentBatch):
            raise BadInput("This head reads documents, and was given windows.")
        return self.head(self._read(inputs), inputs.documents, self.config, self.weights)

    def _read(self, batch: DocumentBatch) -> list[Document]:
        """The windows of all documents, put together again."""
        documents, scaling = batch.documents, self.session.graph.scaling
        rows = [rows_of(doc) if scaling is not None else None for doc in documents]
        hidden: list[dict[int, Floats32]] = [{} for _ in documents]
        attention: list[dict[int, Floats32]] = [{} for _ in documents]
        for chosen, windows in batched([doc.windows for doc in documents], batch.tokenizer):
            out = self.session.run({"ids": windows.ids, "mask": windows.mask})
            for i, (d, w) in enumerate(chosen):
                hidden[d][w] = out["hidden"][i]
                if (own := rows[d]) is not None and scaling is not None:
                    tokens = own.token[own.window == w]
                    attention[d][w] = attention_rows(out, i, tokens, windows.mask[i], scaling)
        return [
            (merge_hidden(_in_order(h), doc.layout), None if own is None else own.merge(_in_order(a), doc))
            for h, a, own, doc in zip(hidden, attention, rows, documents, strict=True)
        ]


@dataclass(frozen=True)
class ChosenTokens:
    """The tokens whose attention is asked for: one for each window that holds the opening marker of a mention."""

    window: Ints  # (T,) in order
    token: Ints  # (T,) in the window
    mention: Ints  # (T,)

    def merge(self, attention: Sequence[Floats32], doc: DocumentExample) -> WindowRows:
        """The attention of all windows over the document."""
        return merge_rows(attention, self.window, self.mention, len(doc.targets.place), doc.layout)


def rows_of(doc: DocumentExample) -> ChosenTokens:
    """The tokens of the markers of a document."""
    layout, place = doc.layout, doc.targets.place
    first, last = (np.array([getattr(w, end) for w in layout.windows], np.int64) for end in ("first", "last"))
    window, mention = np.nonzero((place >= first[:, None]) & (place < last[:, None]))
    return ChosenTokens(window, place[mention] - first[window] + layout.prefix, mention)


def _in_order(parts: dict[int, Floats32]) -> list[Floats32]:
    return [parts[w] for w in sorted(parts)]
