"""`factpin pretrain`: an encoder adapted to a corpus, or made from it."""

from pathlib import Path
from typing import Any

import click

from factpin.app.console import Names, notes, out, print_json
from factpin.errors import BadInput
from factpin.pipelines.inputs import KINDS


@click.command()
@click.option("--recipe", type=click.Path(path_type=Path), help="A recipe.toml of another run; options override it.")
@click.option("--objective", help="A method, a mixture or stages, such as wwm or ernie (all in docs/objectives.md); "
              "several with commas: one is drawn for each batch.")  # fmt: skip
@click.option(
    "--compare", help="Instead of --objective: several with commas, each pretrained, then fine-tuned on --task."
)
@click.option("--task", "recipe_of_task", help="With --compare: a recipe.toml of `factpin train`, with train and dev.")
@click.option(
    "--points",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="With --compare: how often on the way it is fine-tuned.",
)
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="With --compare: fine-tunings of each point.",
)
@click.option("--corpus", "corpus", type=click.Path(path_type=Path), multiple=True,
              help="Text, JSONL, HTML or PDF files, also packed, or folders; may be given several times.")  # fmt: skip
@click.option("--dev", "dev", type=click.Path(path_type=Path), multiple=True,
              help="Held-out text; a share of the corpus where none is given.")  # fmt: skip
@click.option("--encoder", help="Go on with: a name (`factpin models --encoders`), a folder, or a hub id.")
@click.option("--config", help="Or begin anew: a config.json of transformers, such as of bert.")
@click.option("--shape", help="Or begin anew with layers x width, such as 4x256; the method decides the architecture.")
@click.option("--decoder-layers", type=int, help="Of methods with a decoder, which is no part of the encoder.")
@click.option(
    "--tokenizer", help="With --config or --shape: a folder; one is trained on the corpus where none is given."
)
@click.option("--vocab-size", type=int, help="Pieces of a tokenizer that is trained.")
@click.option("--vocabulary", type=click.Choice(["wordpiece", "bpe"]), help="Kind of a tokenizer that is trained.")
@click.option("--lowercase/--no-lowercase", default=None, help="Of a tokenizer that is trained.")
@click.option("--extend", type=int, help="Give so many frequent over-split words of the corpus a piece of their own.")
@click.option("--output", type=click.Path(path_type=Path), required=True, help="Folder of the run and of the encoder.")
@click.option("--length", type=int, help="Tokens of a text, special ones included.")
@click.option(
    "--packing",
    type=click.Choice(["full", "document", "filled"]),
    help="Whole sentences over borders of documents, never over them, or cut where a text is full.",
)
@click.option("--memory", type=int, help="Pieces that are remembered, for methods with a memory.")
@click.option("--words", type=click.Choice(["jieba", "characters"]), help="What a Chinese word is.")
@click.option("--lexicon", help="Phrases and entities, one a line; behind a tab: phrase or entity.")
@click.option("--divide", type=click.Choice(["blank", "line", "file"]),
              help="What parts the documents of a text file: a blank line, every line, nothing.")  # fmt: skip
@click.option("--from", "source_format", type=Names("kind of input", list(KINDS)), metavar="|".join(KINDS),
              help="What the files are, instead of by their endings.")  # fmt: skip
@click.option("--encoding", help="Encoding of text files.  [default: utf-8; HTML: what the page declares]")
@click.option("--heldout", type=float, help="Share of the documents that is held out.")
@click.option("--buffer", type=int, help="Texts that are shuffled together.")
@click.option("--learning-rate", type=float)
@click.option("--head-learning-rate", type=float, help="Default: --learning-rate.")
@click.option("--layer-decay", type=float)
@click.option("--num-train-epochs", "--epochs", "epochs", type=int,
              help="Passes; counting them takes one pass more: --max-steps is quicker.")  # fmt: skip
@click.option("--max-steps", type=int)
@click.option("--per-device-train-batch-size", "--batch-size", "batch_size", type=int)
@click.option("--gradient-accumulation-steps", "--accumulation", "accumulation", type=int)
@click.option("--warmup-ratio", "--warmup", "warmup", type=float)
@click.option("--schedule", type=click.Choice(["linear", "cosine", "constant"]))
@click.option("--weight-decay", type=float)
@click.option("--clip", "--max-grad-norm", "clip", type=float)
@click.option("--bf16/--no-bf16", default=None, help="Half precision: faster where the processor has it.")
@click.option("--ema", type=float, help="Decay of the average of the weights.")
@click.option("--early-stopping", type=int, help="Evaluations without a lower loss before it stops.")
@click.option("--evaluate-every", type=int, help="Steps; default: ten times a run.")
@click.option("--save-every", type=int, help="Steps between checkpoints; default: twenty times a run.")
@click.option("--seed", type=int)
@click.option("--tensorboard", is_flag=True, default=None)
@click.option("--threads", type=click.IntRange(min=1), help="CPU threads.")
@click.option("--resume", is_flag=True, help="Go on from the last checkpoint in --output, if there is one.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
@click.option("--quiet", is_flag=True, help="No notes, no bar.")
def pretrain(
    recipe: Path | None, compare: str | None, recipe_of_task: str | None, points: int, seeds: int,
    corpus: tuple[Path, ...], dev: tuple[Path, ...], output: Path, threads: int | None,
    resume: bool, as_json: bool, quiet: bool, **choices: Any,
) -> int:  # fmt: skip
    """Adapt an encoder to a corpus, or make one; `factpin train --encoder OUTPUT` takes it.

    \b
    factpin pretrain --objective wwm --corpus texts/ --encoder m3e-zh --max-steps 2000 --output runs/ours
    factpin pretrain --objective roberta --corpus wiki.txt.xz --config bert.json --output runs/new
    factpin pretrain --recipe runs/ours/recipe.toml --seed 2 --output runs/ours-2
    factpin pretrain --compare wwm,electra --task spans.toml --corpus texts/ --encoder m3e-zh --max-steps 900 …
    torchrun --nproc-per-node 2 -m factpin pretrain …                    data parallel
    """
    import torch

    from factpin.layers.half import bf16_warning
    from factpin.training import compare as comparing
    from factpin.training import pretrain as training
    from factpin.training.compare_table import table
    from factpin.training.config import TrainConfig, chosen, from_dict, read_recipe
    from factpin.training.parallel import join_world

    if threads:
        torch.set_num_threads(threads)
    tables = read_recipe(recipe) if recipe else {}
    files = tables.get("corpus", {})
    paths, held = list(corpus) or _paths(files.get("paths")), list(dev) or _paths(files.get("dev"))
    if not paths:
        raise BadInput("--corpus is missing: name text files, or folders of them.")
    what = chosen(training.PretrainConfig, tables.get("pretrain", {}), choices)
    if compare and choices["objective"]:
        raise BadInput("--compare names the objectives. Leave --objective out.")
    if compare:
        what["objective"] = compare
    if "objective" not in what:
        raise BadInput("--objective is missing, such as --objective wwm.")
    settings = {"learning_rate": training.LEARNING_RATE, **chosen(TrainConfig, tables.get("train", {}), choices)}
    config, how = from_dict(training.PretrainConfig, what, "pretrain"), from_dict(TrainConfig, settings, "train")
    if how.bf16 and (warning := bf16_warning()):
        notes(quiet or as_json).print(warning, style="yellow")
    if compare:
        asked = _asked(compare, recipe_of_task, points, seeds)
        said = notes(quiet or as_json)
        report = comparing.compare(paths, config, how, asked, output, dev=held, resume=resume, note=said.print)
        if as_json:
            print_json(report)
        else:
            out().print(table(report))
        return 0
    world = join_world()
    silent = quiet or as_json
    report = training.pretrain(paths, config, how, output, dev=held, resume=resume, quiet=silent, world=world)
    if not world.leads:
        return 0
    if as_json:
        print_json(report)
    elif not quiet:
        for told in training.told_of(report):
            notes().print(told, style="yellow", markup=False)
        out().print(_table(report, output))
    return 0


def _asked(names: str, recipe: str | None, points: int, seeds: int) -> Any:
    from factpin.training.compare import Comparison

    if not recipe:
        raise BadInput("--compare needs --task RECIPE, a recipe.toml of `factpin train`: on it objectives are judged.")
    return Comparison(tuple(name.strip() for name in names.split(",")), recipe, points, seeds)


def _paths(names: Any) -> list[Path]:
    return [Path(name) for name in names or []]


def _table(report: dict[str, Any], output: Path) -> Any:
    from rich.table import Table

    table = Table("", "", title=f"{output}: learned from {report['pieces']:,} pieces", title_justify="left",
                  show_header=False)  # fmt: skip
    table.add_row("steps (best)", f"{report['steps']} ({report['best_step']})")
    if "heldout_loss" in report["scores"]:
        table.add_row("loss on held-out texts", f"{report['scores']['heldout_loss']:.4f}")
    vocabulary = report["vocabulary"]
    table.add_row("vocabulary", f"{vocabulary['size']:,} pieces, {vocabulary.get('added', 0):,} of them new words")
    for when in ("before", "after"):
        if when in vocabulary:
            told = vocabulary[when]
            words = "" if told["pieces_per_word"] is None else f"{told['pieces_per_word']} a word, "
            table.add_row(f"pieces ({when})", f"{words}{told['unknown_pieces']:,} of {told['pieces']:,} unknown")
    return table
