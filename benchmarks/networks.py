"""Every method through the commands: 200 steps on a slice of Wikipedia, the loss on held-out text, and a sample.

    python benchmarks/networks.py run ../shared/data [--only gpt]      figures into docs/objectives/networks.json
    python benchmarks/networks.py table                                the tables of docs/objectives.md and networks.md

run     factpin pretrain --objective NAME --shape 2x32x2 on wiki_zh and wiki_en; factpin generate, where the method
        generates; factpin train spans --encoder, three steps on a few sentences of CLUENER. Runs that are in the file
        are not repeated.
table   for each method: the network that the command builds, and its parity, which `factpin verify` proves too, with
        the classes of transformers that load the folder: no weight missing, none left over.
"""

import io
import json
import lzma
import random
import re
import sys
import tempfile
import time
from collections.abc import Iterable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click

FIGURES, PAGE_FILE = Path("docs/objectives/networks.json"), Path("docs/objectives/networks.md")
DOCS = Path("docs/objectives.md")
BEGIN, END = "<!-- made by benchmarks/networks.py table -->", "<!-- end -->"
SHAPE, LENGTH, BATCH, PIECES = "2x32x2", 40, 4, 1000
BYTES = 500_000  # of a slice
SENTENCES = 24  # of CLUENER
FIRST = {"electra": 10}  # the step of the first loss that is shown, where it is not 50
PROMPTS = {
    "zh": {"": "中国是一个", "blank": "北京是[MASK]的首都，人口很多。"},
    "en": {"": "The city is", "blank": "London is the [MASK] of England. It is on a river."},
}
BLANKS = {"glm": "[MASK]", "t5": "[MASK]", "bart": "[MASK]", "pegasus": "[MASK]", "mass": "[MASK][MASK]"}
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
          "December")  # fmt: skip
SPEAKS = ("bart", "glm", "gpt", "mass", "palm", "pegasus", "t5", "transformer", "transformer_xl", "unilm", "xlnet")
NETWORKS = {  # what is built, and what differs from the paper
    "albert": ("shared layers, word vectors factorised", "none"),
    "bart": ("encoder and decoder, post-norm, learned positions", "none"),
    "bert": ("encoder with pooler", "none"),
    "electra": ("encoder, and a generator that shares its vectors", "none"),
    "ernie": ("BERT; 2.0 with task vectors", "phrases and entities by rules or a lexicon, not the paper's chunker"),
    "glm": ("pre-norm, two tables of positions", "none"),
    "gpt": ("decoder, post-norm, tied words", "none"),
    "mass": ("BART's network; the decoder counts positions of the text", "one language, no language vectors"),
    "mpnet": ("learned positions and buckets of distances", "none"),
    "nezha": ("BERT with functional relative positions", "none"),
    "palm": ("encoder and decoder that copies", "one head for words in encoder and decoder"),
    "pegasus": ("pre-norm, sinusoids", "none"),
    "roberta": ("BERT, positions behind the padding", "none"),
    "spanbert": ("BERT with a boundary head", "none"),
    "t5": ("pre-norm without mean, buckets of distances", "none"),
    "transformer": ("post-norm, sinusoids, label smoothing", "sines and cosines in two halves, as in its own code"),
    "transformer_xl": ("relative positions, carried memory", "plain softmax, not adaptive"),
    "unilm": ("BERT with six segments", "none"),
    "wwm": ("BERT", "none"),
    "xlnet": ("two streams, relative positions and segments, carried memory", "none"),
}


@click.group()
def main() -> None:
    """See the head of this file."""


@main.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--only", multiple=True)
@click.option("--steps", default=200, show_default=True)
def run(data: Path, only: tuple[str, ...], steps: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        for language in ("zh", "en"):
            slice_of(data / f"wiki_{language}" / f"wiki_{language}.txt.xz", Path(place) / f"{language}.txt")
        with lzma.open(data / "cluener" / "dev.json.xz", "rt", encoding="utf-8") as stream:
            some = [next(stream) for _ in range(SENTENCES)]
        (Path(place) / "spans.json").write_text("".join(some), encoding="utf-8")
        for name in only or NETWORKS:
            for language in ("zh", "en"):
                figures = json.loads(FIGURES.read_text(encoding="utf-8")) if FIGURES.exists() else {}
                if language in figures.get(name, {}):
                    continue
                figures.setdefault(name, {})[language] = measured(name, language, Path(place), steps)
                ordered = json.dumps(dict(sorted(figures.items())), ensure_ascii=False, indent=1)
                FIGURES.write_text(ordered + "\n", encoding="utf-8")
                print(name, language, figures[name][language], flush=True)


def slice_of(packed: Path, target: Path) -> None:
    with lzma.open(packed, "rb") as stream:
        target.write_bytes(stream.read(BYTES).rpartition(b"\n\n")[0])


def measured(name: str, language: str, place: Path, steps: int) -> dict[str, Any]:
    folder, start = place / f"{name}-{language}", time.perf_counter()
    objective = "ernie2" if name == "ernie" else name
    command("pretrain", "--objective", objective, "--corpus", place / f"{language}.txt", "--shape", SHAPE, "--length",
            LENGTH, "--batch-size", BATCH, "--vocab-size", PIECES, "--max-steps", steps, "--learning-rate", 2e-3,
            "--heldout", 0.1, "--evaluate-every", FIRST.get(name, 50), "--save-every", steps, "--json", "--output",
            folder)  # fmt: skip
    lines = map(json.loads, (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines())
    losses = [line["heldout_loss"] for line in lines if "heldout_loss" in line]
    found: dict[str, Any] = {"first": round(losses[0], 3), "last": round(losses[-1], 3)}
    if name in SPEAKS:
        prompt = PROMPTS[language]["blank" if name in BLANKS else ""].replace("[MASK]", BLANKS.get(name, ""))
        answer = command("generate", folder, prompt, "--top-k", 20, "--top-p", 0.9, "--seed", 1, "--max-pieces", 24,
                         "--json", "--quiet")  # fmt: skip
        found |= {"prompt": prompt, "sample": json.loads(answer)["text"]}
    if language == "zh":
        command("train", "spans", "--train", place / "spans.json", "--encoder", folder, "--max-steps", 3,
                "--batch-size", 4, "--output", place / f"{name}-spans", "--quiet")  # fmt: skip
        found["trains"] = True
    return found | {"seconds": round(time.perf_counter() - start)}


def command(name: str, *words: Any) -> str:
    """What a command of factpin prints."""
    from factpin.app.commands import COMMANDS

    raw = io.BytesIO()
    with redirect_stdout(io.TextIOWrapper(raw, encoding="utf-8", write_through=True)) as out:
        COMMANDS[name].main([str(word) for word in words], standalone_mode=False)
        out.flush()
        return raw.getvalue().decode()


@main.command()
@click.option("--steps", default=1200, show_default=True)
def pairs(steps: int) -> None:
    """Learn to write dates as ISO dates from pairs, generate those of held-out dates, and compare with copying."""
    chance = random.Random(0)
    made = {(chance.randint(1, 28), chance.randrange(12), chance.randint(1900, 2029)) for _ in range(3000)}
    rows = [(f"{day} {MONTHS[month]} {year}", f"{year}-{month + 1:02}-{day:02}") for day, month, year in sorted(made)]
    chance.shuffle(rows)
    asked, learned = rows[:200], rows[200:]
    found = {}
    with tempfile.TemporaryDirectory() as place:
        here = Path(place)
        (here / "pairs.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in learned), encoding="utf-8")
        (here / "asked.jsonl").write_text("".join(json.dumps({"prompt": a, "target": b}) + "\n" for a, b in asked))
        for name in ("transformer", "bart"):
            command("pretrain", "--objective", name, "--pairs", here / "pairs.tsv", "--shape", "2x64x4", "--length", 24,
                    "--vocab-size", 120, "--max-steps", steps, "--batch-size", 32, "--learning-rate", 2e-3, "--heldout",
                    0.05, "--evaluate-every", steps // 2, "--save-every", steps, "--json", "--output",
                    here / name)  # fmt: skip
            said = command("generate", here / name, here / "asked.jsonl", "--json", "--quiet", "--max-pieces", 16)
            answers = [json.loads(line) for line in said.splitlines()]
            right = sum(one["text"].replace(" ", "") == one["target"] for one in answers)
            found[name] = {"exact": right / len(answers), "sample": [answers[0]["prompt"], answers[0]["text"]]}
    found["copy"] = {"exact": sum(a == b for a, b in asked) / len(asked)}
    figures = json.loads(FIGURES.read_text(encoding="utf-8")) if FIGURES.exists() else {}
    figures["pairs"] = {"learned": len(learned), "asked": len(asked), "steps": steps, **found}
    FIGURES.write_text(json.dumps(figures, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(figures["pairs"])


@main.command()
def table() -> None:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # proofs is beside this folder, not installed
    from proofs.folders import FOLDERS
    from proofs.own_folders import OWN_FOLDERS

    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    if lacking := [
        name for name in (*NETWORKS, "pairs") if name not in figures or name in NETWORKS and len(figures[name]) < 2
    ]:
        raise click.ClickException(f"Not measured: {', '.join(lacking)}. Run the commands above first.")
    built = ["| method | network that `--shape` builds | differs from the paper | written folder against | largest "
             "difference | loads in | `factpin train` | generates |", "|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for name, (network, differs) in NETWORKS.items():
        against, compare = {**FOLDERS, **OWN_FOLDERS}[name]
        found, of = list(compare()), figures[name]
        wrong = [str(one) for one in found if not one.holds]
        worst = max(one.difference for one in found if isinstance(one.got, float))
        trains = "yes" if of["zh"].get("trains") else "no"
        built.append(f"| [{name}](objectives/{name}.md) | {network} | {differs} | {against} | "
                     f"{'; '.join(wrong) or f'{worst:.1g}'} | {loads(one.what for one in found)} | {trains} | "
                     f"{'yes' if name in SPEAKS else 'no'} |")  # fmt: skip
    PAGE_FILE.write_text(page_of(figures), encoding="utf-8")
    text = DOCS.read_text(encoding="utf-8")
    before, after = text[: text.index(BEGIN)], text[text.index(END) :]
    DOCS.write_text(f"{before}{BEGIN}\n\n" + "\n".join(built) + f"\n\n{after}", encoding="utf-8")


def page_of(figures: dict[str, Any]) -> str:
    """The text of the page on networks."""
    losses, samples = ["| method | zh | en |", "|---|---|---|"], ["| method | prompt | answer |", "|---|---|---|"]
    for name in NETWORKS:
        of = figures[name]
        cells = [f"{of[k]['first']:.2f} → {of[k]['last']:.2f}" for k in ("zh", "en")]
        losses.append(f"| {name} | {' | '.join(cells)} |")
        samples += [f"| {name} | {cell(of[k]['prompt'])} | {cell(of[k]['sample'])} |" for k in ("zh", "en")
                    if name in SPEAKS]  # fmt: skip
    return PAGE.format(losses="\n".join(losses), samples="\n".join(samples), pairs=of_pairs(figures["pairs"]))


def loads(names: Iterable[str]) -> str:
    """The classes that took every weight of a folder, and AutoModel, by which `factpin train` loads it."""
    found = {match[0] for name in names for match in re.finditer(r"AutoModelFor\w+", name)}
    return ", ".join(f"`{name}`" for name in ("AutoModel", *sorted(found)))


def of_pairs(found: dict[str, Any]) -> str:
    lines = ["| | exact match |", "|---|---|"]
    lines += [f"| {name} | {found[name]['exact']:.3f} |" for name in ("transformer", "bart", "copy")]
    return (
        f"{found['learned']:,} pairs learned, {found['steps']:,} steps, {found['asked']} other dates asked.\n\n"
        + "\n".join(lines)
    )


def cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


PAGE = """# Networks

This page shows what the networks that `factpin pretrain --shape` builds learn in 200 steps, measured through the commands. [What is built](../objectives.md#what-is-built) lists the network of each method and how it differs from its paper. [An hour](hour.md) shows what a larger model learns.

```sh
python benchmarks/networks.py run ../shared/data      # the losses and samples below
python benchmarks/networks.py pairs                   # the task with pairs
python benchmarks/networks.py table                   # this page
```

## Loss on held-out text

The loss after 50 steps (`electra`: 10) and after 200. A step has 4 texts of 40 tokens from a slice of Wikipedia; 2 layers of width 32; AdamW, where some papers use LAMB or Adafactor.

{losses}

Losses of different methods cannot be compared. ELECTRA's counts the judgement of replaced pieces fifty times, and its generator makes that harder while it learns: most of the fall is in the first 50 steps, and the English loss then stays as it is.

## Samples

After 200 steps, a model knows which pieces are frequent and little more: these samples show that the commands work together, not what a method can do. In an empty sample, the model ended at once, or filled the blank with nothing.

{samples}

## Pairs

`3 March 1984` becomes `1984-03-03`: learned with `factpin pretrain --pairs`, generated with `factpin generate` for dates that are not among the pairs learned from. The baseline copies the source, and is never right here. Spaces are not compared.

{pairs}
"""

if __name__ == "__main__":
    main()
