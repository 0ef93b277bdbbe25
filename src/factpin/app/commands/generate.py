"""`factpin generate`: text from a pretrained model."""

import sys
from typing import TYPE_CHECKING

import click

from factpin.app.commands._options import quiet_option, threads_option
from factpin.app.console import notes
from factpin.errors import BadInput, need_torch

if TYPE_CHECKING:
    from factpin.objectives.generate import GenerationSearch


@click.command()
@click.argument("model", metavar="MODEL")
@click.argument("source", metavar="[PROMPT|FILE|-]")
@click.option("--beams", type=click.IntRange(min=1), default=1, show_default=True, help="Search with this many beams.")
@click.option(
    "--length-penalty",
    "penalty",
    type=float,
    default=0.0,
    show_default=True,
    help="With beams: above 0, prefer longer answers.",
)
@click.option("--top-k", type=click.IntRange(min=1), help="Draw from this many of the likeliest pieces.")
@click.option(
    "--top-p",
    type=click.FloatRange(0, 1, min_open=True),
    help="Draw from the likeliest pieces that together have this probability.",
)
@click.option(
    "--temperature", type=click.FloatRange(0, min_open=True), help="Draw; below 1, likely pieces are drawn more often."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the draws.")
@click.option("--count", type=click.IntRange(min=1), default=1, show_default=True, help="Answers for each prompt.")
@click.option(
    "--max-pieces", type=click.IntRange(min=1), default=64, show_default=True, help="Most pieces of an answer."
)
@click.option(
    "--min-pieces", type=click.IntRange(min=0), default=0, show_default=True, help="Fewest pieces of an answer."
)
@click.option("--no-repeat", type=click.IntRange(min=0), default=0, help="No run of this many pieces occurs twice.")
@click.option("--objective", default="", help="Which method to use, if the model learned several.")
@click.option(
    "--jsonl/--text", "jsonl", default=None, help="Format of the prompts; default: by the ending of the file."
)
@click.option("--encoding", default="utf-8", show_default=True, help="Encoding of the file of prompts.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per answer to standard output.")
@threads_option
@quiet_option
def generate(
    model: str,
    source: str,
    beams: int,
    penalty: float,
    top_k: int | None,
    top_p: float | None,
    temperature: float | None,
    seed: int,
    count: int,
    max_pieces: int,
    min_pieces: int,
    no_repeat: int,
    objective: str,
    jsonl: bool | None,
    encoding: str,
    as_json: bool,
    threads: int | None,
    quiet: bool,
) -> int:
    """Continue a text, fill in what is missing, or write the target of a source.

    MODEL is a folder that `factpin pretrain` wrote, or one of transformers: GPT, T5, BART, PEGASUS, Marian, XLNet. A
    file has one prompt per line, or one JSON object with a "prompt"; [MASK] marks what is missing. By default, the
    likeliest piece is taken each time.

    \b
    factpin generate runs/gpt "The river flows" --top-p 0.9 --seed 1
    factpin generate runs/t5 "Paris is the [MASK] of France."
    factpin generate runs/titles articles.jsonl --beams 4 --json > titles.jsonl
    """
    need_torch("Generating needs torch")
    import torch

    from factpin.app.show.answers_text import Typist, answer_notes, print_answers
    from factpin.pretraining.generation import GenerateRequest, generated

    if threads:
        torch.set_num_threads(threads)
    chance = (top_k, top_p, temperature)
    search = _search(beams, penalty, chance, count, max_pieces, min_pieces, no_repeat)
    typist = Typist(sys.stdout) if sys.stdout.isatty() and not as_json else None
    request = GenerateRequest(model, source, search, objective, seed, jsonl, encoding)
    note = notes(quiet).print
    for record, answers in generated(request, typist.type if typist else None, note):
        if typist and typist.shown:
            typist.type(answers[0].text)
        print_answers(record, answers, as_json=as_json, typed=typist.end() if typist else "")
        for line in answer_notes(answers, max_pieces):
            note(line)
    return 0


def _search(
    beams: int,
    penalty: float,
    chance: tuple[int | None, float | None, float | None],
    count: int,
    longest: int,
    shortest: int,
    repeat: int,
) -> "GenerationSearch":
    """The search that the options describe; `chance`: top-k, top-p and temperature."""
    from factpin.objectives.generate import GenerationSearch

    drawn = any(one is not None for one in chance)
    if drawn and beams > 1:
        raise BadInput("--beams searches; --top-k, --top-p and --temperature draw. Choose one of the two.")
    if penalty and beams == 1:
        raise BadInput("--length-penalty compares beams. Add --beams, such as --beams 4, or leave it out.")
    if shortest > longest:
        raise BadInput(f"--min-pieces {shortest} is more than --max-pieces {longest}.")
    if count > 1 and not drawn and beams < count:
        raise BadInput(f"{count} answers need as many beams (--beams {count}), or draw them (--top-p 0.9).")
    top_k, top_p, temperature = chance
    return GenerationSearch(
        "sample" if drawn else "beam" if beams > 1 else "greedy",
        beams, penalty, top_k or 0, top_p or 1.0, temperature or 1.0, count, longest, shortest, repeat,
    )  # fmt: skip
