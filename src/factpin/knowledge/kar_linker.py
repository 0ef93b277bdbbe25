"""KarLinker: `factpin pretrain --objective linker` decides which entities the names in a document refer to.

Candidates and priors are those of the store as it is now. An entity without a vector is never chosen: it came into the
store afterwards (`unseen` counts the names with one), or no text mentions it by itself. A name that has no
other candidate is left to the features.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch

from factpin.documents import Document, Mention, Span
from factpin.encoders import Encoder
from factpin.errors import BadInput, BadModel
from factpin.knowledge.kar import Kar
from factpin.knowledge.layer_folder import has_layer, load_layer
from factpin.knowledge.link_scores import chances
from factpin.knowledge.linked import LONGEST, TextPart, cut
from factpin.knowledge.mentions import FIRST, MentionSpan, collate_mentions
from factpin.knowledge.store_layer import StoreLayer
from factpin.layers.half import half_precision
from factpin.memory import Store
from factpin.memory.link_fit import Array, softmax
from factpin.memory.linking import NameUse
from factpin.tokens import Tokenizer

BATCH = 32
ASKED = 500  # keys at once


@dataclass
class KarLinker:
    """An encoder with a KAR, as `memory.linking.Linker` takes it."""

    encoder: Encoder
    tokenizer: Tokenizer
    layer: StoreLayer
    bf16: bool = False
    unseen: int = 0  # names with a candidate that came into the store afterwards

    @cached_property
    def _rows(self) -> dict[str, int]:
        own = self.layer.layer
        known = (own.entities != 0).any(dim=1).tolist() if isinstance(own, Kar) else []
        return {key: FIRST + i for i, key in enumerate(self.layer.keys) if known[FIRST + i]}

    @cached_property
    def _keys(self) -> frozenset[str]:
        return frozenset(self.layer.keys)

    def __call__(self, doc: Document, asked: Sequence[tuple[Mention, Sequence[NameUse]]]) -> list[Array | None]:
        """The probabilities of the candidates of each mention, and of NIL; None where no candidate has a vector.

        Without NIL where nothing said what NIL scores.
        """
        longest = min(LONGEST, (self.encoder.max_length or LONGEST + 2) - self.tokenizer.frame_size)
        names = [Span(mention.start, mention.end) for mention, _ in asked]
        found: list[Array | None] = [None] * len(asked)
        known = [self._known(uses) for _, uses in asked]
        parts = list(cut(doc.text, names, self.tokenizer, longest))
        for at in range(0, len(parts), BATCH):
            some = parts[at : at + BATCH]
            for part, rows in zip(some, self._scores(some, [uses for _, uses in asked], known), strict=True):
                for number, scores in zip(part.names, rows, strict=True):
                    config, offered = self.layer.config, known[number]
                    if offered:
                        own = scores[: len(offered)]
                        p = np.zeros(len(asked[number][1]) + config.fitted)
                        p[[*offered, -1][: len(own) + config.fitted]] = (
                            chances(own, config.nil, config.sharpness) if config.fitted else softmax(own)
                        )
                        found[number] = p
        return found

    def knows(self, store: Store) -> bool:
        """Whether an entity that it has seen is in a store."""
        keys = list(self._rows)
        return any(store.tables.entities(keys[at : at + ASKED]) for at in range(0, len(keys), ASKED))

    def _known(self, uses: Sequence[NameUse]) -> list[int]:
        """The numbers of the candidates that have a vector."""
        found = [i for i, use in enumerate(uses) if use.entity.id in self._rows]
        self.unseen += any(use.entity.id not in self._keys for use in uses)
        return found

    @torch.no_grad()
    def _scores(
        self, parts: Sequence[TextPart], uses: Sequence[Sequence[NameUse]], known: Sequence[Sequence[int]]
    ) -> list[list[Array]]:
        """The scores of the candidates of each name in each part, padded."""
        spans = []
        for part in parts:
            own = []
            for number, place in part.names.items():
                offered = [uses[number][i] for i in known[number]]
                counts = [max(1, use.count()) for use in offered]  # 0: only the entity itself has the name
                priors = tuple(n / sum(counts) for n in counts)
                own.append(MentionSpan(*place, tuple(self._rows[use.entity.id] for use in offered), priors))
            spans.append(own)
        self.encoder.eval()
        ids, mask = self.encoder.batch([part.ids for part in parts])
        with self.layer.given(collate_mentions(spans)), half_precision(ids.device.type, enabled=self.bf16):
            self.encoder(ids, mask)
        if self.layer.scores is None:
            return [[np.zeros(0)] * len(own) for own in spans]
        scores = self.layer.scores.double().cpu().numpy()  # (B, C, M)
        return [[scores[b, c] for c in range(len(own))] for b, own in enumerate(spans)]


def load_linker(folder: Path) -> KarLinker:
    """The linker in a folder."""
    again = "Make one: factpin pretrain --objective linker --db kb.db --encoder NAME --output FOLDER."
    if not has_layer(folder):
        raise BadInput(f"{folder} holds no linker. {again}")
    encoder, tokenizer = Encoder.load(folder), Tokenizer.load(folder)
    layer = load_layer(folder, encoder, tokenizer)
    if not isinstance(layer.layer, Kar):
        raise BadInput(f"{folder} holds an entity memory, which has no linker for candidates. {again}")
    if not layer.keys:
        raise BadModel(f"{folder} does not say which entities its vectors belong to. {again}")
    return KarLinker(encoder, tokenizer, layer)
