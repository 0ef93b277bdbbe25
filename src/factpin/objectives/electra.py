"""ELECTRA: a small generator fills a cloze; the encoder says of every cell whether the generator changed it.

    x        the text between its special tokens        x̃  the cloze, 85 % masked, 15 % left
    x̂        x with the generator's draws at the chosen cells, drawn without gradient
    label    x̂ != x                                     a draw that hits the piece counts as original

    loss     Σ -log p_G(x_i | x̃) / targets  +  50 · Σ binary cross entropy of (x̂_i != x_i) / all cells

The view is the generator's cloze. Pieces are chosen without repetition: public code draws cells twice, and then gives
them the mean of two ids. Both networks read the same word vectors; of our own networks also the same positions and
segments. No gradient passes from the encoder through the draws. The generator is thrown away in the end.
"""

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from factpin.encoders.own.batch import Batch
from factpin.encoders.own.network import Backbone, Memory, Network
from factpin.encoders.own.parts import NetworkConfig
from factpin.errors import BadInput
from factpin.layers.masks import Bools, Ints
from factpin.objectives.heads import Heads, HeadsConfig
from factpin.objectives.losses import Learner, Losses, Part, counted, total
from factpin.objectives.objective import Objective
from factpin.objectives.view import NO_LOSS, View
from factpin.words import count


def replaced(view: View, drawn: Ints) -> tuple[Ints, Bools]:
    """`drawn` (targets,) in the order of the cells -> x̂ (n,) for the encoder, and where it differs from x."""
    content = view.streams["content"]
    asked = content.answers >= 0
    if len(drawn) != asked.sum():
        cells = count(int(asked.sum()), "cell")
        raise BadInput(f"The generator fills {cells}, got {count(len(drawn), 'id')}. Give one for each answer.")
    x = np.where(asked, view.labels("content"), content.tape.ids)  # cells that were not chosen are as they were
    filled = x.copy()
    filled[asked] = drawn
    return filled, filled != x


class Electra(nn.Module):
    """Called as a Learner is. `encoder` is what is kept in the end; `generator` is a reader with a words head."""

    def __init__(self, encoder: Backbone, head: Heads, generator: Learner) -> None:
        super().__init__()
        self.encoder, self.head, self.generator = encoder, head, generator

    def forward(
        self, batch: Batch, objective: Objective, memory: Memory | None = None, *, keep: int | None = None
    ) -> Losses:
        """The losses on words are the generator's, those on replaced pieces the encoder's."""
        if self.head.replaced is None:
            raise BadInput("These heads cannot judge replaced pieces. Make them for the row 'electra'.")
        block = batch.streams["content"]
        h = self.generator.encoder(batch, memory, keep=keep).hidden["content"]
        y = torch.as_tensor(block.labels, device=h.device)
        asked = y != NO_LOSS
        logits = self.generator.head.words(h[asked], self.generator.encoder.words.weight)  # (T, V)

        spoilt, changed = filled(batch, draw(logits.detach()).cpu().numpy())
        states = self.encoder(spoilt, memory, keep=keep)
        real = torch.as_tensor(block.real, device=h.device)
        s = self.head.replaced(states.hidden["content"][real])  # (cells,)
        fake = torch.as_tensor(changed, device=h.device)[real].to(s.dtype)

        sums = {
            "words": cross_entropy(logits, y[asked], reduction="sum"),
            "replaced": binary_cross_entropy_with_logits(s, fake, reduction="sum"),
        }
        parts = {f"{loss.head} {loss.stream}": Part(sums[loss.head], counted(loss, len(logits), batch))
                 for loss in objective.losses}  # fmt: skip
        return total(objective, parts, states)


def draw(logits: Tensor) -> Tensor:
    """logits (T, V) -> (T,) an id each, by its probability."""
    return torch.multinomial(torch.softmax(logits, dim=-1), 1).squeeze(-1)


def filled(batch: Batch, drawn: Ints) -> tuple[Batch, Bools]:
    """`replaced` for a batch: the batch that the encoder reads, nothing asked in it, and where it is not the text."""
    block = batch.streams["content"]
    asked = block.labels != NO_LOSS
    x = np.where(asked, block.labels, block.ids)
    ids = x.copy()
    ids[asked] = drawn
    content = replace(block, ids=ids, labels=np.full_like(block.labels, NO_LOSS))
    return replace(batch, streams={**batch.streams, "content": content}), ids != x


def electra(config: NetworkConfig, heads: HeadsConfig, objective: Objective, *, share: float = 0.25) -> Electra:
    """Two networks of our own; the generator has `share` of the width, and the input of the encoder."""
    encoder = Network(config)
    generator = Network(smaller(config, encoder.words.embedding_dim, share))
    generator.words, generator.input = encoder.words, encoder.input
    guess = Learner(generator, Heads(heads, generator.width, encoder.words, ()))
    return Electra(encoder, Heads(heads, encoder.width, encoder.words, [objective]), guess)


def electra_over(
    encoder: Backbone, config: NetworkConfig, heads: HeadsConfig, objective: Objective, *, share: float = 0.25
) -> Electra:
    """Over a reader that is there already."""
    generator = generator_over(encoder, config, heads, share=share)
    return Electra(encoder, Heads(heads, encoder.width, encoder.words, [objective]), generator)


def generator_over(reader: Backbone, config: NetworkConfig, heads: HeadsConfig, *, share: float = 0.25) -> Learner:
    """A smaller network like `config`, with the reader's word vectors.

    They are borrowed: they are listed among the reader's weights alone, as files of weights want every tensor once.
    """
    generator = Network(smaller(config, reader.words.embedding_dim, share))
    del generator.words
    generator.__dict__["words"] = reader.words
    return Learner(generator, Heads(heads, generator.width, reader.words, ()))


def smaller(config: NetworkConfig, embedding: int, share: float) -> NetworkConfig:
    """A config for a generator that reads word vectors of this width."""
    heads = max(1, int(config.heads * share))
    width = heads * (config.width // config.heads)  # heads stay as wide as they are
    return replace(config, width=width, heads=heads, inner=max(1, int(config.inner * share)), embedding=embedding)
