"""Facts as Experts: the null fact, sets of tails, and what editing, adding and removing facts does to answers.

edit   120 entities with two names each and 6 relations. Facts are learned from text and are rows of the memory; after
       training, rows are replaced, added and removed, and no weight changes
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from factpin.knowledge.entity_memory import EntityMemory, EntityMemoryConfig, linking_loss
from factpin.knowledge.fact_memory import (
    NO_FACT,
    FactMemory,
    FactMemoryConfig,
    FactReading,
    HeadFacts,
    answer_loss,
    fact_loss,
)
from factpin.knowledge.mentions import FIRST
from proofs.compare import Compared, Proof
from proofs.experiment import Bar, Experiment, Figures
from proofs.lookup_world import WIDTH, DrawnWeights, SmallReader, learn, one_mention

SYSTEM = "fae"
ENTITIES, RELATIONS, NAMES = 120, 6, 2
LEARNED, EDITED, INJECTED = 360, 100, 180
HIDDEN = 0.15  # share of the rows that a question does not see while it learns
BLANK = 0


def promises() -> Iterator[Compared]:
    """A memory with random weights."""
    torch.manual_seed(0)
    table = nn.Embedding(20, 8)
    memory = FactMemory(16, table, nn.Embedding(3, 8)).eval()
    rows = [HeadFacts(2, 0, (3,)), HeadFacts(2, 1, (4, 5)), HeadFacts(6, 0, (7,))]
    hidden = torch.randn(5, 16)
    with torch.no_grad():
        empty = memory(hidden)
        memory.replace_facts(rows)
        before = memory(hidden)
        yield Compared("null fact without facts", float(empty.null.min()), 1.0)
        gone = memory(hidden, hide=torch.ones(5, 3, dtype=torch.bool))
        yield Compared("null fact where all are hidden", float(gone.null.min()), 1.0)
        same = bool(torch.equal(gone.answers, gone.context) and torch.equal(gone.answers, empty.answers))
        yield Compared("answers are those of the text alone", same, True)
        mean = (table.weight[4] + table.weight[5]) / 2
        yield Compared("a set of tails is their mean", float((memory.values()[1] - mean).abs().max()), 0.0, 1e-6)
        weights = [p.clone() for p in memory.parameters()]
        memory.replace_facts([HeadFacts(2, 0, (9,)), *rows[1:]])
        moved = max(float((a - b).abs().max()) for a, b in zip(weights, memory.parameters(), strict=True))
        yield Compared("weights that an edit changes", moved, 0.0)
        yield Compared("answers that an edit changes", not torch.equal(memory(hidden).answers, before.answers), True)
        yield Compared("scores of facts that an edit changes", torch.equal(memory(hidden).facts, before.facts), True)
        memory.replace_facts(rows)
        yield Compared("undone", torch.equal(memory(hidden).answers, before.answers), True)
        memory.replace_facts(rows[::-1])
        off = float((memory(hidden).answers[:, FIRST:] - before.answers[:, FIRST:]).abs().max())
        yield Compared("the order of facts", off, 0.0, 1e-5)


PROOFS = (Proof(SYSTEM, "fact memory", "random weights", promises),)


@dataclass(frozen=True, eq=False)
class Facts:
    """Questions (entity, relation) and their answers, as numbers from 0."""

    head: Tensor
    relation: Tensor
    tail: Tensor

    def rows(self) -> list[HeadFacts]:
        triples = zip(self.head.tolist(), self.relation.tolist(), self.tail.tolist(), strict=True)
        return [HeadFacts(FIRST + h, r, (FIRST + t,)) for h, r, t in triples]

    def part(self, start: int, end: int) -> "Facts":
        return Facts(self.head[start:end], self.relation[start:end], self.tail[start:end])

    def __add__(self, other: "Facts") -> "Facts":
        both = zip((self.head, self.relation, self.tail), (other.head, other.relation, other.tail), strict=True)
        return Facts(*(torch.cat(pair) for pair in both))


def draw_facts(chance: np.random.Generator) -> Facts:
    """Every pair of entity and relation once, in random order, with a random tail."""
    pairs = chance.permutation(ENTITIES * RELATIONS)
    tails = chance.integers(ENTITIES, size=len(pairs))
    return Facts(*(torch.from_numpy(x) for x in (pairs // RELATIONS, pairs % RELATIONS, tails)))


class Asker(nn.Module):
    """Reads `name relation [blank]`; the entity memory is read at the name, the fact memory at the blank."""

    def __init__(self, *, memory: bool) -> None:
        super().__init__()
        self.on = memory
        self.reader = SmallReader(1 + NAMES * ENTITIES + RELATIONS, 3)
        self.entities = EntityMemory(WIDTH, FIRST + ENTITIES, EntityMemoryConfig(WIDTH))
        relations = nn.Embedding(RELATIONS, WIDTH)
        nn.init.normal_(relations.weight, std=WIDTH**-0.5)
        self.facts = FactMemory(WIDTH, self.entities.entities, relations)

    def forward(
        self, facts: Facts, name: int | Tensor, hide: Tensor | None = None
    ) -> tuple[FactReading, Tensor, Tensor]:
        """What is read, and what linking costs."""
        words = 1 + name * ENTITIES + facts.head
        ids = torch.stack([words, 1 + NAMES * ENTITIES + facts.relation, torch.full_like(words, BLANK)], dim=1)
        mentions = one_mention(0, FIRST + facts.head)
        seen: list[Tensor] = []

        def look(hidden: Tensor) -> Tensor:
            changed, scores = self.entities(hidden, mentions)
            seen.append(scores)
            return changed

        hidden = self.reader(ids, look)
        reading = self.facts(hidden[:, 2], self.entities.mix(seen[0]), hide)
        return reading, linking_loss(seen[0], mentions), reading.answers if self.on else reading.context


def edit(seed: int) -> Figures:
    """Shares of right answers before and after the facts are edited, with the fact memory and without it."""
    found: dict[str, float] = {}
    for arm, on in (("on", True), ("off", False)):
        torch.manual_seed(seed)
        chance = np.random.default_rng(seed)
        every = draw_facts(chance)
        learned, fresh = every.part(0, LEARNED), every.part(LEARNED, LEARNED + INJECTED)
        asker = Asker(memory=on)
        asker.facts.replace_facts(learned.rows())

        def loss(step: int, asker: Asker = asker, learned: Facts = learned, on: bool = on) -> Tensor:
            draw = np.random.default_rng([seed, step])
            some = torch.from_numpy(draw.choice(LEARNED, size=64, replace=False))
            asked = Facts(learned.head[some], learned.relation[some], learned.tail[some])
            hide = torch.from_numpy(draw.random((64, LEARNED)) < HIDDEN)
            reading, linking, scores = asker(asked, torch.from_numpy(draw.integers(NAMES, size=64)), hide)
            total: Tensor = linking + answer_loss(scores, FIRST + asked.tail)
            if on:
                unseen = hide[torch.arange(64), some]
                total = total + fact_loss(reading, torch.where(unseen, NO_FACT, some + 1))
            return total

        learn(asker.parameters(), loss, 900)
        asker.eval()
        found |= {f"{name}, {arm}": value for name, value in _judge(asker, learned, fresh, chance).items()}
    return found


@torch.no_grad()
def _judge(asker: Asker, learned: Facts, fresh: Facts, chance: np.random.Generator) -> dict[str, float]:
    def right(facts: Facts, tails: Tensor | None = None) -> float:
        best = torch.cat([asker(facts, name)[2].argmax(-1) for name in range(NAMES)])
        wanted = FIRST + (facts.tail if tails is None else tails)
        return float((best == wanted.repeat(NAMES)).float().mean())

    found = {"seen": right(learned)}
    some = learned.part(0, EDITED)
    new = torch.from_numpy((some.tail.numpy() + 1 + chance.integers(ENTITIES - 1, size=EDITED)) % ENTITIES)
    asker.facts.replace_facts((Facts(some.head, some.relation, new) + learned.part(EDITED, LEARNED)).rows())
    found |= {"edited, new answer": right(some, new), "edited, old answer": right(some)}
    asker.facts.replace_facts(learned.rows())
    found["not injected"] = right(fresh)
    without = asker(fresh, 0)[0].null
    asker.facts.replace_facts((learned + fresh).rows())
    found["injected"] = right(fresh)
    found["null fact chosen without the fact"] = float((without > 0.5).float().mean())
    found["null fact chosen with the fact"] = float((asker(fresh, 0)[0].null > 0.5).float().mean())
    asker.facts.replace_facts(learned.part(EDITED, LEARNED).rows())
    found["removed, old answer"] = right(some)
    return found


EXPERIMENTS = {
    "fae_edit": Experiment(
        SYSTEM,
        "edited facts are followed",
        f"{ENTITIES} entities with two names and {RELATIONS} relations; {LEARNED} facts are in the text and in the "
        f"memory. Then {EDITED} are replaced and {INJECTED} added, without training.",
        "share of right answers",
        edit,
        (
            Bar("seen, on", least=0.9),
            Bar("edited, new answer, on", least=0.85),
            Bar("edited, old answer, on", most=0.05),
            Bar("injected, on", least=0.6),
            Bar("edited, new answer, off", most=0.1),
            Bar("edited, old answer, off", least=0.9),
            Bar("injected, off", most=0.1),
        ),
        "Without its fact, an answer that was learned may still be known from the weights: `removed, old answer`.",
    ),
}


@torch.no_grad()
def drawn_facts() -> DrawnWeights:
    """The weights of facts for one question, before and after the store is edited: vectors without noise."""
    table = nn.Embedding(FIRST + 4, 4)
    table.weight.copy_(torch.cat([torch.zeros(FIRST, 4), torch.eye(4)]))
    relations = nn.Embedding(2, 4)
    relations.weight.copy_(torch.eye(4)[1:3])
    memory = FactMemory(4, table, relations, FactMemoryConfig(copy=False)).eval()
    memory.key.weight.copy_(torch.cat([torch.eye(4), torch.eye(4)], dim=1))
    memory.key.bias.zero_()
    memory.ask.weight.copy_(5 * torch.eye(4))
    memory.ask.bias.zero_()
    memory.null.copy_(torch.full((4,), 0.7))
    asked = torch.tensor([[1.0, 1.0, 0.0, 0.0]])  # the entity a and its first relation
    both = [HeadFacts(FIRST, 0, (FIRST + 2,)), HeadFacts(FIRST, 1, (FIRST + 3,))]
    weights = []
    for rows in (both, both[1:], ()):
        memory.replace_facts(rows)
        chances = memory(asked).facts.softmax(-1)[0].tolist()
        missing = [0.0] * (len(both) + 1 - len(chances))
        weights.append((chances[0], *missing, *chances[1:]))
    rows_named = ("a, r1, ?", "… without (a, r1)", "… without facts")
    return DrawnWeights(rows_named, ("null fact", "(a, r1)", "(a, r2)"), tuple(weights))
