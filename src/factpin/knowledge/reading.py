"""What a layer over a store learns to link from: the store's texts, read once by the encoder, and entity vectors.

    H    vectors of a text where the layer reads them                                                  (n, D)
    c    mean of the last layer's vectors around a mention, those of the mention left out              (D,)
    e    mean of c over all mentions of an entity, along the main directions of all, of unit length    (E,)

With contexts, an entity is never described by the text that names it; descriptions and facts are those of the whole
store, and may hold what the text itself states. The rows behind those of the entities are their vectors without
one document, and the mentions in that document offer these. Otherwise a candidate would show the words around its own
mention, hidden ones as well.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from torch import Tensor

from factpin.encoders import Encoder
from factpin.encoders.between import layers_of
from factpin.errors import BadInput
from factpin.knowledge.linked import LONGEST, LinkedText, linked_texts
from factpin.knowledge.mentions import FIRST, NIL, MentionSpan
from factpin.knowledge.store_entities import StoreEntities, read_entities
from factpin.knowledge.tables import store_digest
from factpin.knowledge.translate import translated
from factpin.layers.half import half_precision
from factpin.memory import Store
from factpin.tokens import Tokenizer

Vectors = Literal["", "contexts", "descriptions", "facts"]  # where entity vectors come from; "": USUAL
USUAL: dict[str, Vectors] = {"entities": "descriptions", "kar": "contexts"}
SIZE = 128  # of an entity vector
WINDOW = 24  # pieces on both sides of a mention
MOST_KEPT = 4000  # texts whose vectors are kept, for the linker; of more, every second is, or third, and so on
MOST_TOKENS = 64  # of a description
BATCH = 32
AT_ONCE = 4096  # vectors that are reduced
NOTHING = 1e-9  # the share of the largest variance below which a direction says nothing


@dataclass(frozen=True, eq=False)
class EncodedText:
    """A linked text, and its vectors where a layer reads them; None where there are more texts than needed."""

    text: LinkedText
    hidden: Tensor | None  # (n, D)


@dataclass(frozen=True, eq=False)
class StoreReading:
    """The entities of a store, their vectors, and its texts."""

    kind: str
    after: int  # the layer whose output was kept
    entities: StoreEntities
    digest: str
    table: Tensor  # (rows and more, E)
    texts: tuple[EncodedText, ...]

    @property
    def rows(self) -> int:
        """NULL, MASK and the entities; what is behind them in the table is for these texts only."""
        return FIRST + len(self.entities.keys)


def read_store(
    store: Store,
    kind: str,
    encoder: Encoder,
    tokenizer: Tokenizer,
    *,
    size: int = SIZE,
    vectors: Vectors = "",
    longest: int = LONGEST,
    bf16: bool = False,
) -> StoreReading:
    """Read all texts of a store for a layer of this kind."""
    if encoder.insert is not None:
        raise BadInput("This encoder has a layer over a store already, which would change what is read. Take it out: "
                       "encoder.put_between(None).")  # fmt: skip
    entities = read_entities(store)
    if not entities.keys:
        raise BadInput("The store has no entities. Fill it with `factpin index` (--no-facts reads names only from "
                       "files that annotate them).")  # fmt: skip
    encoder.eval()
    longest = min(longest, (encoder.max_length or longest + tokenizer.frame_size) - tokenizer.frame_size)
    after = place_of(kind, int(encoder.config.num_hidden_layers))
    texts = list(linked_texts(store, entities, tokenizer, longest))
    vectors = vectors or USUAL[kind]
    sums = ContextSums(texts, encoder.width) if vectors == "contexts" else None
    with half_precision(next(encoder.parameters()).device.type, enabled=bf16):
        hidden = _read(encoder, texts, after, sums)
    if sums is not None:
        table, texts = context_vectors(texts, sums, len(entities.keys), size)
    elif vectors == "descriptions":
        table = encode_descriptions(encoder, entities.described, size)
    else:
        table = _from_facts(entities, size)
    read = tuple(EncodedText(text, hidden.get(i)) for i, text in enumerate(texts))
    return StoreReading(kind, after, entities, store_digest(store), table, read)


def place_of(kind: str, layers: int) -> int:
    """The layer behind which a layer of knowledge is put: of 12, the tenth for KAR, the fourth for an entity memory."""
    return max(1, 5 * layers // 6 if kind == "kar" else layers // 3)


class ContextSums:
    """The sums of the contexts of every entity in every document that names it."""

    def __init__(self, texts: Sequence[LinkedText], width: int) -> None:
        self.numbers: dict[tuple[int, str], int] = {}  # of pairs of an entity and a document
        for text in texts:
            for mention in text.mentions:
                self.numbers.setdefault((mention.entity, text.source), len(self.numbers))
        self.entity = torch.tensor([row for row, _ in self.numbers], dtype=torch.long)  # of each pair
        self.total = torch.zeros(len(self.numbers), width)
        self.count = torch.zeros(len(self.numbers), dtype=torch.long)

    def add(self, text: LinkedText, contexts: Tensor) -> None:
        """Add the contexts (m, D) of the mentions of a text."""
        pairs = torch.tensor([self.numbers[one.entity, text.source] for one in text.mentions])
        self.total.index_add_(0, pairs, contexts)
        self.count.index_add_(0, pairs, torch.ones_like(pairs))


@torch.no_grad()
def _read(encoder: Encoder, texts: Sequence[LinkedText], after: int, sums: ContextSums | None) -> dict[int, Tensor]:
    """The vectors of texts behind a layer, by number; the contexts of all mentions are added to the sums."""
    every = -(-len(texts) // MOST_KEPT) or 1
    below, seen = dict[int, Tensor](), list[Tensor]()

    def keep(_: Any, __: Any, output: Any) -> None:
        seen[:] = [output[0] if isinstance(output, tuple) else output]

    handle = layers_of(encoder.model)[after - 1].register_forward_hook(keep)
    wanted = [i for i in range(len(texts)) if sums is not None or i % every == 0]
    wanted.sort(key=lambda i: len(texts[i].ids))
    for at in range(0, len(wanted), BATCH):
        some = wanted[at : at + BATCH]
        ids, mask = encoder.batch([texts[i].ids for i in some])
        top = encoder(ids, mask).hidden.float()  # (B, N, D)
        for row, i in enumerate(some):
            if i % every == 0:
                below[i] = seen[0][row, mask[row]].float()
            if sums is not None:
                sums.add(texts[i], contexts_of(top[row, mask[row]], texts[i].mentions))
    handle.remove()
    return below


def contexts_of(hidden: Tensor, mentions: Sequence[MentionSpan]) -> Tensor:
    """The means of the vectors (n, D) around each mention, those of the mention left out (m, D)."""
    length = len(hidden)
    sums = torch.cat([hidden.new_zeros(1, hidden.shape[1]), hidden]).double().cumsum(0)  # (n + 1, D)
    first = torch.tensor([one.first for one in mentions])
    end = torch.tensor([one.last + 1 for one in mentions])
    before, behind = (first - WINDOW).clamp_min(0), (end + WINDOW).clamp_max(length)
    total = sums[first] - sums[before] + sums[behind] - sums[end]
    many = (first - before + behind - end)[:, None]
    return torch.where(many > 0, total / many.clamp_min(1), sums[-1] / length).float()


def context_vectors(
    texts: Sequence[LinkedText], sums: ContextSums, entities: int, size: int
) -> tuple[Tensor, list[LinkedText]]:
    """A table of entity vectors (rows and more, size), and the texts with the rows that their mentions may see.

    A candidate that has no context outside the document is not offered.
    """
    rows, entity = FIRST + entities, sums.entity
    total = torch.zeros(rows, sums.total.shape[1]).index_add_(0, entity, sums.total)
    count = torch.zeros(rows, dtype=torch.long).index_add_(0, entity, sums.count)
    means = total.div_(count.clamp_min(1)[:, None])
    known = (count > 0).nonzero()[:, 0]
    kept = (count[entity] > sums.count).nonzero()[:, 0]  # pairs whose entity another document names, too
    directions = main_directions(means, size, known)
    table = torch.zeros(rows + len(kept), size)
    for some in torch.split(known, AT_ONCE):
        table[some] = directions.reduce(means[some])
    at = rows
    for some in torch.split(kept, AT_ONCE):
        row = entity[some]
        others = means[row] * count[row, None] - sums.total[some]
        table[at : at + len(some)] = directions.reduce(others / (count[row] - sums.count[some])[:, None])
        at += len(some)
    without = dict(zip(kept.tolist(), range(rows, len(table)), strict=True))
    is_known = (count > 0).tolist()

    def seen(text: LinkedText) -> LinkedText:
        offered: dict[int, int | None] = {}
        for row in {row for m in text.mentions for row in m.candidates}:
            pair = sums.numbers.get((row, text.source))
            offered[row] = without.get(pair) if pair is not None else row if is_known[row] else None
        return replace(text, mentions=tuple(only_offered(m, offered) for m in text.mentions))

    return table, [seen(text) for text in texts]


def only_offered(mention: MentionSpan, offered: Mapping[int, int | None]) -> MentionSpan:
    """A mention whose candidates have other rows, or none: it is NIL if the right one has none."""
    kept = [i for i, row in enumerate(mention.candidates) if offered[row] is not None]
    total = sum(mention.priors[i] for i in kept)
    gold = mention.gold if mention.gold < 0 else kept.index(mention.gold) if mention.gold in kept else NIL
    rows = tuple(row for i in kept if (row := offered[mention.candidates[i]]) is not None)
    return replace(mention, candidates=rows, priors=tuple(mention.priors[i] / total for i in kept), gold=gold)


def _from_facts(entities: StoreEntities, size: int) -> Tensor:
    """Vectors of entities that follow from the facts alone (rows, size)."""
    relations = sorted({relation for _, relation, _ in entities.facts})
    facts = [(head, relations.index(relation), tail) for head, relation, tail in entities.facts]
    return torch.cat([torch.zeros(FIRST, size), translated(facts, len(entities.keys), len(relations), size)])


@torch.no_grad()
def encode_descriptions(encoder: Encoder, texts: Sequence[str], size: int) -> Tensor:
    """Vectors of entities (rows, size): the means of token vectors, reduced to their main directions."""
    encoder.eval()
    tokenizer = encoder.tokenizer
    if tokenizer is None:
        raise BadInput("This encoder has no tokenizer. Give it one: Encoder(model, tokenizer).")
    longest = min(MOST_TOKENS, (encoder.max_length or MOST_TOKENS) - tokenizer.frame_size)
    found = []
    for at in range(0, len(texts), BATCH):
        framed = [encoder.frame(tokenizer.encode(text).ids[:longest])[0] for text in texts[at : at + BATCH]]
        ids, mask = encoder.batch(framed)
        hidden = encoder(ids, mask).hidden.float() * mask[..., None]
        found.append(hidden.sum(1) / mask.sum(1, keepdim=True))
    whole = torch.cat(found)
    return torch.cat([torch.zeros(FIRST, size), main_directions(whole, size).reduce(whole)])


@dataclass(frozen=True, eq=False)
class Directions:
    """The main directions of some vectors."""

    mean: Tensor  # (D,)
    axes: Tensor  # (at most E, D)
    size: int

    def reduce(self, vectors: Tensor) -> Tensor:
        """(n, D) -> (n, E) of unit length."""
        reduced = (vectors - self.mean) @ self.axes.T
        found = vectors.new_zeros(len(vectors), self.size)
        found[:, : reduced.shape[1]] = reduced / reduced.norm(dim=1, keepdim=True).clamp_min(1e-6)
        return found


def main_directions(vectors: Tensor, size: int, rows: Tensor | None = None) -> Directions:
    """The main directions of vectors (n, D), or of some of their rows, from the covariance of all."""
    rows = torch.arange(len(vectors)) if rows is None else rows
    total = torch.zeros(vectors.shape[1], dtype=torch.double)
    for some in torch.split(rows, AT_ONCE):
        total += vectors[some].sum(0, dtype=torch.double)
    mean = (total / max(1, len(rows))).float()
    spread = torch.zeros(len(mean), len(mean), dtype=torch.double)
    for some in torch.split(rows, AT_ONCE):
        around = (vectors[some] - mean).double()
        spread += around.T @ around
    found = torch.linalg.eigh(spread)
    many = min(size, int((found.eigenvalues > NOTHING * found.eigenvalues[-1]).sum()))
    axes = found.eigenvectors.flip(1)[:, :many]  # (D, E)
    return Directions(mean, axes.T.float().contiguous(), size)
