"""Entities as Experts on sentences of Wikipedia: is what was learned under one name known under another?

    python recipes/knowledge/alias.py ../shared/data/wiki_en/wiki_en.txt.xz --seed 1 --output runs/alias.json

The dump has no links, so names are found by rules: the subject of an article is its title, and the names in its
sentences are runs of capitalised words that occur in several articles. A fact is a subject and a name that two or more
sentences of its article mention. The text of a fact is one of these sentences behind the name of the subject, the other
name hidden; the last of the sentences is kept for asking. Sentences with a word of the title are left out.

Every subject has two names, its title and an invented one that shares no word with it. A fact is learned under one of
them and asked under the other; which name means which subject is also learned from sentences without any fact.

off            no memory; names are linked all the same, as a loss beside the others
on             the memory is read at the subject
hidden         a name is hidden in half of the texts from all layers but the memory's
asked hidden   the same, where the question hides the subject's name from all layers but the memory's

The lower two layers are those of the encoder, fixed, and read every text once; the next two learn, and the rest is cut
off. An entity is read off the last layer at the hidden name, against the memory's own table.
"""

import argparse
import json
import lzma
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from factpin.encoders import Encoder, resolve
from factpin.encoders.between import layers_of
from factpin.knowledge.asker import mask_id
from factpin.knowledge.entity_memory import EntityMemory, EntityMemoryConfig, ends_of, linking_loss
from factpin.knowledge.mentions import FIRST, MentionSpan, NameBatch, collate_mentions
from factpin.layers.half import half_precision
from factpin.scoring.intervals import paired_bootstrap
from factpin.scoring.means import as_mean_rows, mean_interval, mean_of
from factpin.tokens import Tokenizer

BELOW, ABOVE, SIZE, LONGEST, BATCH = 2, 2, 128, 40, 24
HIDE = 0.5
MOST = 8  # facts about a subject
NAME = re.compile(r"[A-Z][a-z]+(?: (?:of |the )?[A-Z][a-z]+)*")
SENTENCE = re.compile(r"(?<=[.!?]) (?=[A-Z])")
MONTHS = {"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
          "December"}  # fmt: skip
SYLLABLES = ("zo", "vex", "qua", "tri", "mork", "lu", "fen", "dra", "pim", "ost", "yul", "gha")
ARMS = {"off": (False, 0.0), "on": (True, 0.0), "off, hidden": (False, HIDE), "on, hidden": (True, HIDE)}


@dataclass(frozen=True)
class Article:
    """A subject, and the sentences that mention each of the names that are facts about it."""

    title: str
    facts: dict[str, list[str]]
    plain: list[str]  # sentences without any of them


def articles(path: Path, most: int = 1500, least: int = 5) -> Iterator[Article]:
    """Those of the first `most` articles that have facts. least: articles that a name occurs in."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        text = file.read()
    read: list[tuple[str, list[str], list[set[str]]]] = []
    for article in list(filter(None, text.split("\n\n")))[:most]:
        title, _, body = article.strip("\n").partition("\n")
        if 1 <= len(title.split()) <= 3 and NAME.fullmatch(title):
            own = [word for word in title.split() if len(word) > 3]  # only the name in front shows the subject
            sentences = [s for line in body.split("\n") for s in SENTENCE.split(line)
                         if 40 <= len(s) <= 300 and not any(word in s for word in own)]  # fmt: skip
            read.append((title, sentences, [set(NAME.findall(s)) for s in sentences]))
    many = Counter(name for _, _, found in read for name in set().union(*found))
    for title, sentences, found in read:
        places = defaultdict[str, list[str]](list)
        for sentence, names in zip(sentences, found, strict=True):
            for name in names:
                starts_only = sentence.startswith(name) and " " not in name  # any first word has a capital
                if many[name] >= least and not starts_only and name not in MONTHS:
                    places[name].append(sentence)
        often = sorted((name for name in places if len(places[name]) >= 2), key=lambda name: (-len(places[name]), name))
        facts = {name: places[name] for name in often[:MOST]}
        plain = [s for s in sentences if not any(name in s for name in facts)]
        if plain:
            yield Article(title, facts, plain)


@dataclass(frozen=True, eq=False)
class Text:
    """A sentence behind the name of its subject, as the lower layers read it: with the name, and with it hidden."""

    shown: Tensor  # (n, D)
    hidden: Tensor  # (n, D)
    last: int  # of the pieces of the subject's name, which start at 1
    subject: int
    blank: int  # 0: nothing is asked
    answer: int  # row


class World:
    """The subjects, their facts and names, and their texts."""

    def __init__(
        self, path: Path, encoder: Encoder, tokenizer: Tokenizer, subjects: int, around: int, seed: int
    ) -> None:
        chance = np.random.default_rng(seed)
        chosen = sorted(articles(path), key=lambda one: (-len(one.facts), one.title))[:subjects]
        words = ["".join(chance.choice(SYLLABLES, 3)).capitalize() for _ in range(4 * subjects)]
        invented = list(dict.fromkeys(words))[:subjects]
        many = Counter(name for one in chosen for name in one.facts)
        names = sorted(many)
        self.rows = FIRST + subjects + len(names)
        self.answers = FIRST + subjects  # the first row of a name
        taught, links, asked = [], [], {"other name": [], "same name": []}
        for i, one in enumerate(chosen):
            both = (one.title, invented[i])
            for name, sentences in sorted(one.facts.items()):
                first = int(chance.integers(2))
                row = self.answers + names.index(name)
                taught += [(both[first], i, s, name, row) for s in sentences[:-1][:4]]
                asked["same name"].append((both[first], i, sentences[-1], name, row))
                asked["other name"].append((both[1 - first], i, sentences[-1], name, row))
            links += [(name, i, s, "", 0) for name in both for s in one.plain[:4]]
        self.taught, self.links = (read(some, encoder, tokenizer, around) for some in (taught, links))
        self.asked = {kind: read(some, encoder, tokenizer, around) for kind, some in asked.items()}
        self.usual = Counter(row for *_, row in taught)
        self.said = (f"{subjects} subjects, {sum(len(one.facts) for one in chosen)} facts about {len(names)} names, "
                     f"{len(self.taught)} texts of facts, {len(self.links)} without; seed {seed}")  # fmt: skip


Raw = tuple[str, int, str, str, int]  # name of the subject, its number, sentence, hidden name, its row


@torch.no_grad()
def read(texts: Sequence[Raw], encoder: Encoder, tokenizer: Tokenizer, around: int) -> list[Text]:
    """What the lower layers make of texts, cut to so many pieces on both sides of the hidden name."""
    layers, kept = layers_of(encoder.model), list[Tensor]()
    handle = layers[BELOW - 1].register_forward_hook(
        lambda _, __, output: kept.append(output[0] if isinstance(output, tuple) else output)
    )
    mask, framed = mask_id(tokenizer), list[tuple[np.ndarray, np.ndarray, int, int]]()
    for subject, _, sentence, name, _ in texts:
        said = tokenizer.encode(f"{subject}:").ids.tolist()
        before, _, behind = sentence.partition(name) if name else (sentence, "", "")
        left, right = (tokenizer.encode(part).ids.tolist() for part in (before, behind))
        room = LONGEST - tokenizer.frame_size - len(said) - 1
        if name:
            left, right = left[len(left) - min(len(left), around) :], right[:around]
            left = left[-max(room // 2, room - len(right)) :]
            ids = [*said, *left, mask, *right[: room - len(left)]]
        else:
            ids = [*said, *left[:room]]
        hidden = [mask] * (len(said) - 1) + ids[len(said) - 1 :]
        blank = 1 + len(said) + len(left) if name else 0
        framed.append((tokenizer.frame(np.array(ids, np.int32))[0], tokenizer.frame(np.array(hidden, np.int32))[0],
                       len(said) - 1, blank))  # fmt: skip
    found = []
    for at in range(0, len(texts), 64):
        some, sides = framed[at : at + 64], list[list[Tensor]]()
        for side in (0, 1):
            kept.clear()
            ids, real = encoder.batch([one[side] for one in some])
            with half_precision("cpu", enabled=True):
                encoder(ids, real)
            sides.append([row[m].to(torch.bfloat16) for row, m in zip(kept[0], real, strict=True)])
        for (_, _, last, blank), shown, hidden, raw in zip(some, *sides, texts[at : at + 64], strict=True):
            found.append(Text(shown, hidden, last, raw[1], blank, raw[4]))
    handle.remove()
    return found


class Upper(nn.Module):
    """The memory, the layers above it, and what is read off the last one."""

    def __init__(self, encoder: Encoder, rows: int) -> None:
        super().__init__()
        self.memory = EntityMemory(encoder.width, rows, EntityMemoryConfig(SIZE))
        self.layers = nn.ModuleList(list(layers_of(encoder.model))[BELOW : BELOW + ABOVE])
        self.named = nn.Linear(2 * encoder.width, SIZE)

    def forward(self, texts: Sequence[Text], *, on: bool, gone: Sequence[bool]) -> tuple[Tensor, Tensor]:
        """The last layer at the blanks as scores of entities (B, rows), and what the memory links (B, rows)."""
        pad = nn.utils.rnn.pad_sequence
        shown = pad([one.shown for one in texts], batch_first=True).float()  # (B, N, D)
        below = pad([one.hidden if g else one.shown for one, g in zip(texts, gone, strict=True)],
                    batch_first=True).float()  # fmt: skip
        sizes = torch.tensor([len(one.shown) for one in texts])
        real = torch.arange(shown.shape[1]) < sizes[:, None]
        subjects = mentions_of(texts)
        scores = self.memory.scores(shown, subjects)  # the name is linked before it is hidden
        hidden = self.memory.norm(below + self.memory.read(below, scores, subjects)) if on else below
        shut = torch.zeros(real.shape).masked_fill(~real, torch.finfo(torch.float32).min)[:, None, None]
        for layer in self.layers:
            output = layer(hidden, attention_mask=shut)
            hidden = output[0] if isinstance(output, tuple) else output
        blanks = collate_mentions([[MentionSpan(one.blank, one.blank)] for one in texts])
        return self.named(ends_of(hidden, blanks)) @ self.memory.entities.weight.T, scores


def mentions_of(texts: Sequence[Text]) -> NameBatch:
    """The subject of each text."""
    return collate_mentions([[MentionSpan(1, one.last, entity=FIRST + one.subject)] for one in texts])


def learn(world: World, folder: Path, *, on: bool, hide: float, steps: int, seed: int) -> tuple[Upper, float]:
    """Train one arm; gives its last loss."""
    torch.manual_seed(seed)
    model, chance = Upper(Encoder.load(folder), world.rows).train(), np.random.default_rng(seed)
    own = [p for name, p in model.named_parameters() if not name.startswith("layers")]
    optimiser = torch.optim.AdamW([{"params": own, "lr": 2e-3}, {"params": model.layers.parameters(), "lr": 3e-4}])
    rates, total = [group["lr"] for group in optimiser.param_groups], torch.zeros(())
    for step in range(steps):
        for group, rate in zip(optimiser.param_groups, rates, strict=True):
            group["lr"] = rate * min((step + 1) / 20, (steps - step) / steps)
        facts = [world.taught[int(i)] for i in chance.integers(len(world.taught), size=BATCH)]
        plain = [world.links[int(i)] for i in chance.integers(len(world.links), size=BATCH)]
        with half_precision("cpu", enabled=True):
            scores, links = model(facts, on=on, gone=(chance.random(BATCH) < hide).tolist())
            shown = nn.utils.rnn.pad_sequence([one.shown for one in plain], batch_first=True).float()
            more = model.memory.scores(shown, mentions_of(plain))
        answers = torch.tensor([one.answer for one in facts])
        total = cross_entropy(scores.float()[:, world.answers :], answers - world.answers)
        total = total + linking_loss(links.float(), mentions_of(facts)) + linking_loss(more.float(), mentions_of(plain))
        optimiser.zero_grad()
        total.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    return model.eval(), float(total.detach())


@torch.no_grad()
def rights(model: Upper, world: World, texts: Sequence[Text], *, on: bool, gone: bool) -> tuple[list[float], float]:
    """Which hidden names are found, and the share of subjects that are linked right."""
    right, linked = list[float](), 0.0
    for at in range(0, len(texts), 64):
        some = texts[at : at + 64]
        scores, links = model(some, on=on, gone=[gone] * len(some))
        best = scores[:, world.answers :].argmax(-1) + world.answers
        right += (best == torch.tensor([one.answer for one in some])).float().tolist()
        linked += float((links.argmax(-1) == FIRST + torch.tensor([one.subject for one in some])).sum())
    return right, linked / len(texts)


def show(found: dict[str, dict[str, list[float]]], usual: float) -> None:
    """Shares of right names, and differences."""
    print(f"\n| | {' | '.join(next(iter(found.values())))} |\n" + "|---" * (1 + len(next(iter(found.values())))) + "|")
    for arm, kinds in found.items():
        cells = []
        for values in kinds.values():
            low, high = mean_interval(as_mean_rows(values))
            cells.append(f"{100 * np.mean(values):.1f} ({100 * low:.1f} to {100 * high:.1f})")
        print(f"| {arm} | " + " | ".join(cells) + " |")
    print(f"\nThe most frequent name for every text: {100 * usual:.1f}\n")
    for first, second in (("on", "off"), ("on, hidden", "off, hidden"), ("on, hidden", "off"), ("on, hidden", "on")):
        if first in found and second in found:
            for kind in found[first]:
                d = paired_bootstrap(as_mean_rows(found[first][kind]), as_mean_rows(found[second][kind]),
                                     statistic=mean_of)  # fmt: skip
                print(f"{first} − {second}, {kind}: {100 * d.difference:+.1f} ({100 * d.interval[0]:+.1f} to "
                      f"{100 * d.interval[1]:+.1f}), p {d.p_value:.3f}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--encoder", default="minilm-en")
    parser.add_argument("--subjects", type=int, default=100)
    parser.add_argument("--around", type=int, default=LONGEST, help="pieces of the sentence beside the hidden name")
    parser.add_argument("--steps", type=int, default=250)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--arms", nargs="+", default=list(ARMS), choices=ARMS)
    parser.add_argument("--output", type=Path, required=True, help="keeps what each arm got right")
    args = parser.parse_args()
    folder = resolve(args.encoder)
    encoder, tokenizer = Encoder.load(folder).eval(), Tokenizer.load(folder)
    world = World(args.data, encoder, tokenizer, args.subjects, args.around, args.seed)
    print(world.said, flush=True)
    found = json.loads(args.output.read_text()) if args.output.exists() else {}
    for arm in args.arms:
        if arm not in found:
            on, hide = ARMS[arm]
            model, loss = learn(world, folder, on=on, hide=hide, steps=args.steps, seed=args.seed)
            found[arm] = {}
            for kind, texts in world.asked.items():
                found[arm][kind], linked = rights(model, world, texts, on=on, gone=False)
                print(f"{arm}, {kind}: {np.mean(found[arm][kind]):.3f}, linked {linked:.3f}", flush=True)
            found[arm]["asked hidden"], _ = rights(model, world, world.asked["other name"], on=on, gone=True)
            found[arm]["learned texts"], _ = rights(model, world, world.taught, on=on, gone=False)
            print(f"{arm}: last loss {loss:.2f}", flush=True)
            args.output.write_text(json.dumps(found))
    most = world.usual.most_common(1)[0][0]
    show(found, float(np.mean([one.answer == most for one in world.asked["other name"]])))


if __name__ == "__main__":
    main()
