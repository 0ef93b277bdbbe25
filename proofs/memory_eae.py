"""Entities as Experts: what the memory changes and what it leaves alone, and when it is bypassed.

alias   400 facts, each learned under one of two names of its entity and asked under the other; names are linked
"""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from factpin.knowledge.entity_memory import (
    EntityMemory,
    EntityMemoryConfig,
    linking_loss,
    spans_of_tags,
    tags_of,
)
from factpin.knowledge.mentions import FIRST, MentionSpan, collate_mentions
from proofs.compare import Compared, Proof
from proofs.experiment import Bar, Experiment, Figures
from proofs.lookup_world import WIDTH, DrawnWeights, SmallReader, learn, one_mention
from proofs.memory_hidden import nothing_shows

SYSTEM = "eae"
ENTITIES, RELATIONS, VALUES, FACTS = 200, 8, 20, 400
HIDE = 0.5  # share of the names that are hidden while it learns
BLANK, HIDDEN = 0, 1


def promises() -> Iterator[Compared]:
    """A memory with random weights over 50 entities."""
    torch.manual_seed(0)
    memory = EntityMemory(16, FIRST + 50, EntityMemoryConfig(8, top=50)).eval()
    hidden = torch.randn(3, 9, 16)
    mentions = collate_mentions([[MentionSpan(1, 2), MentionSpan(5, 5)], [], [MentionSpan(0, 3)]])
    with torch.no_grad():
        scores = memory.scores(hidden, mentions)
        added = memory.read(hidden, scores, mentions)
        starts = torch.zeros(3, 9, dtype=torch.bool)
        starts[0, 1] = starts[0, 5] = starts[2, 0] = True
        yield Compared("other tokens before the norm", torch.equal((hidden + added)[~starts], hidden[~starts]), True)
        yield Compared("tokens that the memory changes", int((added != 0).any(-1).sum()), 3)
        whole = memory.mix(scores)
        memory.config = EntityMemoryConfig(8, top=10)
        memory.train()
        yield Compared("training reads all entities", torch.equal(memory.mix(scores), whole), True)
        memory.eval()
        best = scores.topk(10).indices
        weights = torch.full_like(scores, float("-inf")).scatter(1, best, scores.gather(1, best)).softmax(-1)
        off = float((memory.mix(scores) - weights @ memory.entities.weight).abs().max())
        yield Compared("the best ten", off, 0.0, 1e-6)
        real = torch.ones(3, 9, dtype=torch.bool)
        spans = spans_of_tags(tags_of(mentions, 9), real)
        yield Compared("mentions from their tags", spans, [[(1, 2), (5, 5)], [], [(0, 3)]])
        scores[:, FIRST + 7] = 50.0
        target = collate_mentions([[MentionSpan(1, 2, entity=FIRST + 7)], [], []])
        yield Compared("a sure link costs nothing", float(linking_loss(scores[:1], target)), 0.0, 1e-6)


PROOFS = (
    Proof(SYSTEM, "entity memory", "random weights", promises),
    Proof(SYSTEM, "hidden names", "the audit of all objectives", nothing_shows),
)


def alias(seed: int) -> Figures:
    """Shares of right values under the other name."""
    arms = {
        "memory and hidden names": (True, HIDE, 0),
        "memory alone": (True, 0.0, 0),
        "no memory": (False, 0.0, 0),
        "no memory, hidden names": (False, HIDE, 0),
        "memory behind a layer, hidden names": (True, HIDE, 1),
    }
    found: dict[str, float] = {}
    for arm, (on, hide, after) in arms.items():
        found |= {f"{arm}{more}": value for more, value in _taught(seed, on=on, hide=hide, after=after).items()}
    return found


def _taught(seed: int, *, on: bool, hide: float, after: int) -> dict[str, float]:
    torch.manual_seed(seed)
    chance = np.random.default_rng(seed)
    pairs = torch.from_numpy(chance.permutation(ENTITIES * RELATIONS)[:FACTS])
    head, relation = pairs // RELATIONS, pairs % RELATIONS
    value = torch.from_numpy(chance.integers(VALUES, size=FACTS))
    name = torch.from_numpy(chance.integers(2, size=FACTS))  # under which each fact is learned
    first = 2 + 2 * ENTITIES
    reader = SmallReader(first + RELATIONS, 3)
    memory = EntityMemory(WIDTH, FIRST + ENTITIES, EntityMemoryConfig(WIDTH))
    head_of_values = nn.Linear(WIDTH, VALUES)

    def read(entity: Tensor, said: Tensor, third: Tensor, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """The vector of the blank, and the scores of entities. A hidden name is linked before it is hidden."""
        words = 2 + 2 * entity + said
        ids = torch.stack([words, third, torch.full_like(words, BLANK)], dim=1)
        mentions, seen = one_mention(0, FIRST + entity), list[Tensor]()
        shown = ids.clone()
        shown[hidden, 0] = HIDDEN

        def ask(x: Tensor) -> Tensor:
            seen.append(memory.scores(x, mentions))
            return x

        def look(x: Tensor) -> Tensor:
            reader(ids, ask, after)
            return memory.norm(x + memory.read(x, seen[0], mentions)) if on else x

        return reader(shown, look, after)[:, 2], seen[0]

    def loss(step: int) -> Tensor:
        draw = np.random.default_rng([seed, step])
        some = torch.from_numpy(draw.choice(FACTS, size=64, replace=False))
        hidden = torch.from_numpy(draw.random(64) < hide)
        blank, scores = read(head[some], name[some], first + relation[some], hidden)
        linking = linking_loss(scores, one_mention(0, FIRST + head[some]))
        total = cross_entropy(head_of_values(blank), value[some]) + linking
        other = torch.from_numpy(draw.integers(ENTITIES, size=64))  # a sentence that only says a name
        said = torch.from_numpy(draw.integers(2, size=64))
        _, scores = read(other, said, torch.full((64,), BLANK), torch.zeros(64, dtype=torch.bool))
        return total + linking_loss(scores, one_mention(0, FIRST + other))

    parts = nn.ModuleList([reader, memory, head_of_values])
    learn(parts.parameters(), loss, 500)
    parts.eval()
    with torch.no_grad():
        nobody = torch.zeros(FACTS, dtype=torch.bool)
        blank, scores = read(head, 1 - name, first + relation, nobody)
        unnamed, _ = read(head, 1 - name, first + relation, ~nobody)
        same, _ = read(head, name, first + relation, nobody)
    return {
        "": _share(head_of_values(blank).argmax(-1) == value),
        ", asked with a hidden name": _share(head_of_values(unnamed).argmax(-1) == value),
        ", same name": _share(head_of_values(same).argmax(-1) == value),
        ", linked": _share(scores.argmax(-1) == FIRST + head),
    }


def _share(right: Tensor) -> float:
    return float(right.float().mean())


EXPERIMENTS = {
    "eae_alias": Experiment(
        SYSTEM,
        "what was learned under one name is known under another",
        f"{ENTITIES} entities with two names, {FACTS} facts, each said under one name and asked under the other.",
        f"share of right values; by chance {1 / VALUES:g}",
        alias,
        (
            Bar("memory and hidden names", least=0.08, minus="memory alone"),
            Bar("memory and hidden names", least=0.08, minus="no memory, hidden names"),
            Bar("memory and hidden names, asked with a hidden name", least=0.8),
            Bar("no memory, hidden names, asked with a hidden name", most=0.2),
            Bar("memory and hidden names, linked", least=0.95),
        ),
        "A name that is hidden from the rest of the network is still linked: the memory is asked before it is hidden. "
        "Asking in the same way, with the name hidden, leaves the network nothing but the memory.",
    ),
}


@torch.no_grad()
def drawn_entities() -> DrawnWeights:
    """The weights of entities for three mentions: vectors without noise."""
    memory = EntityMemory(4, FIRST + 3, EntityMemoryConfig(3)).eval()
    memory.entities.weight.copy_(torch.cat([torch.zeros(FIRST, 3), torch.eye(3)]))
    memory.ask.weight.copy_(torch.cat([2.5 * torch.eye(3, 4), 2.5 * torch.eye(3, 4)], dim=1))
    memory.ask.bias.zero_()
    hidden = torch.tensor([[[1.0, 0, 0, 0], [0, 1.0, 0, 0], [0.4, 0.6, 0, 0]]])
    mentions = collate_mentions([[MentionSpan(0, 0), MentionSpan(1, 1), MentionSpan(2, 2)]])
    chances = memory.scores(hidden, mentions).softmax(-1)[:, FIRST:].tolist()
    rows = ("a name of A", "a name of B", "a hidden name")
    return DrawnWeights(rows, ("A", "B", "C"), tuple(map(tuple, chances)))
