"""An encoder with a head on it: windows or documents in, scores and losses out."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from factpin.encoders.merge_windows import AttentionRows, merge_hidden, merge_rows, rows_of
from factpin.encoders.plain import PlainEncoder
from factpin.errors import BadInput
from factpin.layers.dropout import Dropout
from factpin.layers.half import half_precision
from factpin.layers.window_attention import WindowAttention
from factpin.models.predictor import Inputs, LatePredictor, Predictor
from factpin.tasks.examples import DocumentBatch, DocumentExample, Example
from factpin.tokens import Tokenizer
from factpin.tokens.reading import batched, collate

if TYPE_CHECKING:
    from factpin.encoders import Encoder


class Model(nn.Module):
    """Scores = head(dropout(encoder(inputs))).

    A head that reads windows gets a padded batch. A head that reads documents gets, for each of them, the token vectors
    of its windows merged, and where it asks for attention the rows of the pieces that its targets name.
    """

    def __init__(self, encoder: "Encoder | PlainEncoder", head: nn.Module, dropout: float = 0.1) -> None:
        super().__init__()
        self.encoder: Any = encoder  # an Encoder; a PlainEncoder where it was loaded to predict
        self.head: Any = head  # of HEADS: each has its type of scores
        self.dropout = Dropout(dropout)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.parameters()).device

    def scores(self, inputs: Inputs) -> Any:
        """The head's scores."""
        if isinstance(inputs, DocumentBatch):
            H, A = self._read(inputs)
            return self.head.score_documents(H, A, inputs.documents)
        ids, mask, real = (torch.from_numpy(x).to(self.device) for x in (inputs.ids, inputs.mask, inputs.real))
        hidden = self.encoder(ids, mask).hidden  # (B, N, D)
        return self.head(self.dropout(hidden), real)

    def collate(self, examples: Sequence[Example], tokenizer: Tokenizer) -> tuple[Inputs, Any]:
        """Examples side by side, and what the head is taught there."""
        gold = self.head.gold([example.targets for example in examples], len(tokenizer.prefix))
        documents = tuple(example for example in examples if isinstance(example, DocumentExample))
        if documents:
            return DocumentBatch(documents, tokenizer), gold
        return collate(
            [example.ids for example in examples if not isinstance(example, DocumentExample)], tokenizer
        ), gold

    def loss(self, example: tuple[Inputs, Any]) -> Tensor:
        """The mean loss over the terms of a batch."""
        inputs, gold = example
        return self.head.loss(self.scores(inputs), gold)

    def agreement(self, example: tuple[Inputs, Any]) -> tuple[Tensor, Tensor]:
        """R-Drop: the mean loss of two passes under dropout, and how far their scores are apart."""
        inputs, gold = example
        a, b = self.scores(inputs), self.scores(inputs)
        return (self.head.loss(a, gold) + self.head.loss(b, gold)) / 2, self.head.apart(a, b)

    @property
    def default_threshold(self) -> float:
        """The head's own threshold."""
        return float(self.head.default_threshold)

    @torch.no_grad()
    def predict(self, inputs: Inputs, *, bf16: bool = False) -> Any:
        """The head's scores as arrays; a list of them where the head scores documents one by one."""
        self.eval()
        with half_precision(self.device.type, enabled=bf16):
            scores = self.scores(inputs)
        return [self.head.to_arrays(one) for one in scores] if isinstance(scores, list) else self.head.to_arrays(scores)

    def _read(self, batch: DocumentBatch) -> tuple[list[Tensor], list[WindowAttention | None]]:
        """H (N, D) of each document, and the attention of M pieces where the head asks for it."""
        documents = batch.documents
        rows = [_rows(doc) if self.head.attends else None for doc in documents]
        hidden: list[dict[int, Tensor]] = [{} for _ in documents]
        attention: list[dict[int, Tensor]] = [{} for _ in documents]
        for chosen, windows in batched([doc.windows for doc in documents], batch.tokenizer):
            ids, mask = (torch.from_numpy(x).to(self.device) for x in (windows.ids, windows.mask))
            tokens = [own.token[own.window == w] for own, w in ((rows[d], w) for d, w in chosen) if own is not None]
            asked = torch.cat([F.pad(t[:, None], (1, 0), value=i) for i, t in enumerate(tokens)]) if tokens else None
            encoded = self.encoder(ids, mask, None if asked is None else asked.to(self.device))  # asked (T, 2)
            vectors = self.dropout(encoded.hidden)  # (B, N, D)
            parts = torch.split(encoded.attention, [len(t) for t in tokens]) if tokens else ()  # B x (t, heads, N)
            for i, (d, w) in enumerate(chosen):
                hidden[d][w] = vectors[i]
                if tokens:
                    attention[d][w] = parts[i]
        H = [
            merge_hidden([own[w] for w in sorted(own)], doc.layout) for own, doc in zip(hidden, documents, strict=True)
        ]
        A = [_attention(own, r, doc) for own, r, doc in zip(attention, rows, documents, strict=True)]
        return H, A


def torch_model(network: Predictor) -> Model:
    """The torch model behind a network, which has weights that can be changed and saved."""
    network = network.loaded() if isinstance(network, LatePredictor) else network
    if isinstance(network, Model) and isinstance(network.encoder, PlainEncoder):
        from factpin.encoders import Encoder  # noqa: PLC0415  (transformers)

        network.encoder = Encoder.of_plain(network.encoder)
    if not isinstance(network, Model):
        raise BadInput(
            "This model was loaded by the runtime onnx, which cannot train or save it. Load it with runtime='torch'."
        )
    return network


def _rows(doc: DocumentExample) -> AttentionRows:
    return rows_of(doc.layout, torch.from_numpy(doc.targets.place))


def _attention(parts: dict[int, Tensor], rows: AttentionRows | None, doc: DocumentExample) -> WindowAttention | None:
    """The attention of the requested pieces."""
    if rows is None:
        return None
    widest = max(part.shape[2] for part in parts.values())
    A = torch.cat([F.pad(parts[w], (0, widest - parts[w].shape[2])) for w in sorted(parts)])  # (T, heads, n)
    own = AttentionRows(rows.window.to(A.device), rows.token.to(A.device), rows.chosen.to(A.device))
    return merge_rows(A, own, doc.layout, len(doc.targets.place))
