"""A language model that was trained within an hour on a busy machine: what it can do and cannot, beside counting.

    factpin pretrain --recipe recipes/pretraining/en-gpt.toml --threads 1 --output runs/en-gpt
    python benchmarks/hour.py rates ../shared/data/wiki_en/wiki_en.txt.xz       short runs at several learning rates
    python benchmarks/hour.py cut runs/en-gpt                                   if the run was killed
    python benchmarks/hour.py measure runs/en-gpt --minutes 20                  baselines, sentences, samples
    python benchmarks/hour.py page                                              docs/objectives/hour.md

cut        writes the folder of a run that was killed, with its best weights so far
rates      120 steps of `factpin pretrain` on the first 4 MB: GPT (norms behind each layer) and GPT-2 (before)
baselines  the loss on the very texts that the run held out, by counts over other documents, as many pieces as the run
           read: of pieces, and of pairs of pieces (Witten-Bell)
sentences  two that differ in a few words: how often the model gives the right one the higher probability
samples    `factpin generate` with the prompts and seeds below, as they come

Figures are kept in docs/objectives/hour.json.
"""

import io
import itertools
import json
import lzma
import math
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch

FIGURES, PAGE = Path("docs/objectives/hour.json"), Path("docs/objectives/hour.md")
TEXTS, LENGTH = 16, 128  # of a step
BYTES = 4_000_000
GPT2 = Path("recipes/pretraining/en-gpt.json")
RATES = (("GPT, `--shape 4x256`", 1e-3), ("GPT, `--shape 4x256`", 3e-4), ("GPT-2, `--config`", 1e-3))
PROMPTS = ("The city is located in", "She was born in", "The album was released in", "The species is found in",
           "During the Second World War,", "The capital of France is", "Two plus three is",
           "The king of the small island had three daughters.")  # fmt: skip
SEARCHES = {"likeliest": (), "beams": ("--beams", "4", "--no-repeat", "3"), "drawn": ("--top-p", "0.9", "--seed", "1")}
NOUNS = (("city", "cities"), ("song", "songs"), ("river", "rivers"), ("player", "players"), ("school", "schools"),
         ("book", "books"), ("station", "stations"), ("building", "buildings"), ("film", "films"),
         ("team", "teams"))  # fmt: skip
CAPITALS = {"France": "Paris", "Germany": "Berlin", "Italy": "Rome", "Spain": "Madrid", "Japan": "Tokyo",
            "Russia": "Moscow", "China": "Beijing", "Egypt": "Cairo", "Greece": "Athens",
            "Austria": "Vienna"}  # fmt: skip


@click.group()
def main() -> None:
    """See the head of this file."""


def keep(name: str, value: Any) -> None:
    figures = json.loads(FIGURES.read_text(encoding="utf-8")) if FIGURES.exists() else {}
    FIGURES.write_text(json.dumps(figures | {name: value}, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def command(name: str, *words: Any) -> str:
    """What a command of factpin prints."""
    from factpin.app.commands import COMMANDS

    raw = io.BytesIO()
    with redirect_stdout(io.TextIOWrapper(raw, encoding="utf-8", write_through=True)) as out:
        COMMANDS[name].main([str(word) for word in words], standalone_mode=False)
        out.flush()
        return raw.getvalue().decode()


@main.command()
@click.argument("corpus", type=click.Path(path_type=Path))
@click.option("--steps", default=120, show_default=True)
@click.option("--only", type=click.IntRange(0, len(RATES) - 1), help="One of the runs.")
def rates(corpus: Path, steps: int, only: int | None) -> None:
    with tempfile.TemporaryDirectory() as place, lzma.open(corpus, "rb") as stream:
        text = Path(place) / "corpus.txt"
        text.write_bytes(stream.read(BYTES).rpartition(b"\n\n")[0])
        for k, (network, rate) in enumerate(RATES):
            if only not in (None, k):
                continue
            begin = ("--config", GPT2) if "GPT-2" in network else ("--shape", "4x256")
            told = json.loads(command(
                "pretrain", "--objective", "gpt", "--corpus", text, *begin, "--vocab-size", 4000, "--length", 128,
                "--packing", "filled", "--max-steps", steps, "--learning-rate", rate, "--evaluate-every", steps,
                "--save-every", steps, "--bf16", "--threads", 1, "--json", "--quiet", "--output", Path(place) / str(k),
            ))  # fmt: skip
            found = {"network": network, "rate": rate, "steps": steps, "loss": told["scores"]["heldout_loss"],
                     "pieces": told["frequency_loss"]}  # fmt: skip
            print(found, flush=True)
            keep(f"rate {k}", found)


@main.command()
@click.argument("run", type=click.Path(path_type=Path))
def cut(run: Path) -> None:
    from factpin.pretraining.config import PretrainConfig
    from factpin.pretraining.folder import save_pretrained
    from factpin.pretraining.plan import plan_of
    from factpin.pretraining.pretrain import begun, save_into
    from factpin.tokens import Tokenizer
    from factpin.training.checkpoint import load_best
    from factpin.training.config import from_dict, read_recipe

    recipe = read_recipe(run / "recipe.toml")
    config = from_dict(PretrainConfig, recipe["pretrain"], "pretrain")
    model = begun(config, plan_of(config), run, recipe["train"]["seed"])
    load_best(run, model)
    save_into(run, partial(save_pretrained, model, tokenizer=Tokenizer.load(run / "start")))


@main.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--minutes", type=float, required=True, help="CPU minutes of the run.")
def measure(run: Path, minutes: float) -> None:
    lines = list(map(json.loads, (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()))
    judged = {line["step"]: round(line["heldout_loss"], 3) for line in lines if "heldout_loss" in line}
    steps = max(judged)
    keep("run", {"minutes": minutes, "elapsed": round(lines[-1]["seconds"] / 60), "steps": steps, "loss": judged})
    keep("sentences", sentences(run))
    keep("samples", list(samples(run)))
    keep("counts", counted(run, steps * TEXTS * LENGTH))


def counted(run: Path, most: int) -> dict[str, Any]:
    """The loss of counts of so many pieces on the texts that the run held out."""
    from factpin.pretraining.config import PretrainConfig
    from factpin.pretraining.corpus import Corpus
    from factpin.pretraining.plan import plan_of, text_cut
    from factpin.pretraining.source import CorpusSource
    from factpin.tokens import Tokenizer
    from factpin.training.config import from_dict, read_recipe

    recipe, tokenizer = read_recipe(run / "recipe.toml"), Tokenizer.load(run / "start")
    config = from_dict(PretrainConfig, recipe["pretrain"], "pretrain")
    plan, corpus = plan_of(config), Corpus([Path(path) for path in recipe["corpus"]["paths"]])
    source = CorpusSource(corpus, tokenizer, text_cut(config, plan), None, plan.rows, round(1 / config.heldout), False)
    single, after = np.full(tokenizer.vocab_size, 0.5), Counter[tuple[int, int]]()
    for portion in corpus.portions():
        if single.sum() >= most:
            break
        if not source.held(portion.document):
            ids = tokenizer.encode(portion.text).ids
            single += np.bincount(ids, minlength=len(single))
            after.update(itertools.pairwise(ids.tolist()))
    before, kinds = np.zeros(len(single)), np.zeros(len(single))
    for (a, _), n in after.items():
        before[a] += n
        kinds[a] += 1
    p, pieces, pairs, count = single / single.sum(), 0.0, 0.0, 0
    for text in source.judged():
        for a, b in itertools.pairwise(text.ids.tolist()):
            new = kinds[a] / (before[a] + kinds[a]) if before[a] else 1.0  # the chance of a piece not seen after a
            seen = after[a, b] / before[a] if before[a] else 0.0
            pieces, pairs, count = pieces - math.log(p[b]), pairs - math.log((1 - new) * seen + new * p[b]), count + 1
    return {"learned": int(single.sum() - 0.5 * len(single)), "judged": count, "pieces": pieces / count,
            "pairs": pairs / count}  # fmt: skip


def sentences(run: Path) -> dict[str, Any]:
    """How often the right one of two sentences, or of ten, is the likeliest."""
    from transformers import AutoModelForCausalLM

    from factpin.tokens import Tokenizer

    model, tokenizer = AutoModelForCausalLM.from_pretrained(run).eval(), Tokenizer.load(run)

    @torch.no_grad()
    def score(text: str) -> float:
        ids = torch.as_tensor(tokenizer.encode(text).ids.astype(np.int64))[None]
        logs = model(input_ids=ids).logits.log_softmax(dim=-1)[0, :-1]
        return float(logs.gather(1, ids[0, 1:, None]).sum())

    def right(groups: list[list[str]]) -> list[int]:
        """[right, asked]: the first of each group is the right one."""
        return [sum(max(group, key=score) == group[0] for group in groups), len(groups)]

    both = [(noun, verbs) for one, many in NOUNS for noun, verbs in ((one, ("is", "are")), (many, ("are", "is")))]
    other = {noun: other for (one, many), (a, b) in zip(NOUNS, NOUNS[1:] + NOUNS[:1], strict=True)
             for noun, other in ((one, b), (many, a))}  # of the other number  # fmt: skip
    beside = [
        [f"The {noun} {verb} {rest}" for verb in verbs] for noun, verbs in both for rest in ("in the", "known as")
    ]
    apart = [[f"The {noun} near the {other[noun]} {verb} in the" for verb in verbs] for noun, verbs in both]
    orders = [[f"The {many} of the {one}", f"The {many} the of {one}"]
              for (one, _), (_, many) in itertools.permutations(NOUNS, 2)][:40]  # fmt: skip
    towns = sorted(CAPITALS.values())
    facts = [[f"The capital of {land} is {town}." for town in (right_one, *(t for t in towns if t != right_one))]
             for land, right_one in CAPITALS.items()]  # fmt: skip
    return {"order of words": [*right(orders), "1 of 2"], "verb beside its noun": [*right(beside), "1 of 2"],
            "verb after another noun": [*right(apart), "1 of 2"], "capitals": [*right(facts), "1 of 10"]}  # fmt: skip


def samples(run: Path) -> Iterator[dict[str, str]]:
    for prompt in PROMPTS:
        for how, options in SEARCHES.items():
            said = command("generate", run, prompt, *options, "--max-pieces", 40, "--json", "--quiet")
            yield {"prompt": prompt, "how": how, "text": json.loads(said)["text"]}


@main.command()
def page() -> None:
    PAGE.write_text(page_of(json.loads(FIGURES.read_text(encoding="utf-8"))), encoding="utf-8")


def page_of(found: dict[str, Any]) -> str:
    """The text of the page."""
    run, counts = found["run"], found["counts"]
    best = min(run["loss"].values())
    losses = [("pieces counted", counts["pieces"]), ("pairs of pieces counted", counts["pairs"]), ("the model", best)]
    tables = {
        "loss": rows("loss | perplexity", ((what, f"{loss:.2f}", f"{math.exp(loss):,.0f}") for what, loss in losses)),
        "steps": rows("loss", ((step, f"{loss:.2f}") for step, loss in run["loss"].items()), "step"),
        "rates": rows("learning rate | loss | pieces counted", (
            (one["network"], f"{one['rate']:g}", f"{one['loss']:.2f}", f"{one['pieces']:.2f}")
            for one in (found[name] for name in sorted(found) if name.startswith("rate "))), "network"),
        "sentences": rows("right | by chance", ((what, f"{a} of {b}", chance)
                                                for what, (a, b, chance) in found["sentences"].items())),
        "samples": rows("how | answer", ((one["prompt"], one["how"], " ".join(one["text"].split()))
                                         for one in found["samples"]), "prompt"),
    }  # fmt: skip
    facts = {"minutes": f"{run['minutes']:g}", "elapsed": run["elapsed"], "done": run["steps"],
             "learned": f"{counts['learned'] / 1e6:.1f}", "judged": f"{counts['judged']:,}",
             "read": f"{run['steps'] * TEXTS * LENGTH / 1e6:.1f}", "short": found["rate 2"]["steps"]}  # fmt: skip
    return TEXT.format(**facts, **tables)


def rows(columns: str, cells: Iterable[Sequence[Any]], first: str = "") -> str:
    """A table of Markdown."""
    head = f"| {first} | {columns} |" if first else f"| | {columns} |"
    lines = [head, "|" + "---|" * (columns.count("|") + 2)]
    return "\n".join(
        [*lines, *(f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in row)} |" for row in cells)]
    )


TEXT = """# An hour

What a small language model can do that `factpin pretrain` trained within an hour on a busy machine, and what it cannot. It is a GPT-2 with 4 layers of width 256 and a vocabulary of 4,000 pieces, 4.2 million weights in all, and learns from 7,000 articles of the English Wikipedia (30 million characters).

```sh
factpin pretrain --recipe recipes/pretraining/en-gpt.toml --threads 1 --output runs/en-gpt
python benchmarks/hour.py rates ../shared/data/wiki_en/wiki_en.txt.xz
python benchmarks/hour.py measure runs/en-gpt --minutes {minutes}
python benchmarks/hour.py page
```

All figures are of the checkpoint after {done:,} of the 3,000 steps of the recipe, with {read} million pieces read, a third of the corpus; the learning rate was still more than half of the highest. Until then, the run took {elapsed} minutes on two cores that were shared with much other work, and {minutes} CPU minutes (bf16): an hour on a core of its own would be six times as much. `python benchmarks/hour.py cut runs/en-gpt` wrote the checkpoint as a folder.

## Loss on held-out text

The loss for a piece, in nats, on the {judged} held-out pieces by which the run was judged. For comparison, pieces and pairs of neighbouring pieces were counted in {learned} million pieces of other articles, as many as the run read.

{loss}

{steps}

## Sentences

How often the model finds the right one of two sentences likelier than the wrong one: "The cities of the song" rather than "The cities the of song", "The city is in the" rather than "The city are in the", "The city near the songs is in the" rather than "… are in the". For capitals, the right one of ten sentences such as "The capital of France is Paris." has to be the likeliest.

{sentences}

It has learned the order of small words and that a noun and the verb beside it agree. With another noun in between, the verb agrees with the nearest one. It knows no facts.

## Samples

All answers of `factpin generate` to these prompts, with at most 40 pieces: the likeliest piece each time, `--beams 4 --no-repeat 3`, and `--top-p 0.9 --seed 1`. The vocabulary is in small letters.

{samples}

The likeliest piece each time ends in circles; beams give sentences that are often grammatical and say nothing that is true, or has to do with the prompt beyond its first words; drawing gives words that do not exist. To write texts that are of use, take a pretrained model (`factpin generate` reads folders of GPT-2, Llama or Qwen2) and train it further, or give the task by pairs ([Pairs](../objectives.md#pairs)), where a network as small as this can be right every time.

## Learning rate

{short} steps on the first 4 MB of the corpus, 16 texts of 128 tokens per step, a tenth of them to warm up:

{rates}

The network of the GPT paper has its norms behind each layer. At both learning rates, it has learned only how frequent each piece is after these steps; GPT-2, with its norms before each layer, already learns from the context. Whether a GPT of this size gets further with many more steps was not measured. This is not a fault of the network that is built: with the same weights, data and optimiser, it takes the same steps as `OpenAIGPTLMHeadModel`, and a smaller one learns texts by heart (`tests/pretraining/test_by_heart.py`). `factpin pretrain` warns if a model does not beat the frequencies.
"""


if __name__ == "__main__":
    main()
