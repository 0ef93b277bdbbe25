"""Make a shipped model of a run: thresholds and scale fitted on dev, compact weights, a card with the origins.

    python recipes/ship.py runs/zh-entities recipes/zh-entities/recipe.toml --precision int8

Prints strict F1 on dev in float32 and as stored, and writes src/factpin/shipped/NAME.
"""

import argparse
from dataclasses import replace
from math import log
from pathlib import Path
from shlex import quote
from typing import Any

import orjson
from numpy import array_equal, cumsum
from safetensors.numpy import load_file, save

import factpin
from factpin.documents import Document
from factpin.encoders.catalogue import CATALOGUE
from factpin.files import open_bytes, write_bytes
from factpin.formats import Options
from factpin.models.card import Origin, write_card
from factpin.models.checks import write_sums
from factpin.models.extractor import Extractor
from factpin.models.settings import Settings, settings_bytes, write_settings
from factpin.models.weights import stored_weights
from factpin.scoring import Scores, align, calibration
from factpin.tasks import TASKS, Task
from factpin.training.config import from_dict, read_recipe
from factpin.training.data import read_training
from factpin.training.run import tune

MODELS = Path(__file__).parents[1] / "src" / "factpin" / "shipped"


def judge(task: Task, extractor: Extractor, dev: list[Document]) -> Scores:
    return task.score(align(extractor.annotate(dev), dev).pairs)


def with_recipe(extractor: Extractor, config: Any) -> None:
    """The windows and widths that the recipe asks for, and nothing tuned yet."""
    settings = extractor.settings
    extractor.settings = replace(
        settings,
        encoder=Path(settings.encoder).name,
        name=config.name,
        finds=config.finds,
        max_length=config.max_length or settings.max_length,
        overlap=config.overlap,
        context=config.context,
        thresholds={},
        temperature=1.0,
        shift=0.0,
    )
    if "max_span" in settings.head_config:
        head_config = {**settings.head_config, "max_span": config.max_span}
        extractor.settings = replace(extractor.settings, head_config=head_config)
        head = extractor.model.head
        for scorer in (head, getattr(head, "spans", head)):  # a head that links has its own scorer of spans
            scorer.config = replace(scorer.config, max_span=config.max_span)


def with_linked_mentions(settings: Settings) -> Settings:
    """The settings of a model of triples that finds the mentions of its facts alone: a model of mentions ships too."""
    return replace(settings, task_config={**settings.task_config, "mentions": "linked"})


def with_caution(settings: Settings, judged: Scores, share: float) -> Settings:
    """The settings with scores so much lower that of the facts from 0.5 on this share is right on dev."""
    outcomes = sorted(judged.outcomes, reverse=True)
    right = cumsum([correct for _, correct in outcomes])
    good = [score for n, (score, _) in enumerate(outcomes, 1) if right[n - 1] >= share * n]
    least = min(max(min(good, default=0.5), 0.5), 0.99)
    return replace(settings, shift=round(settings.shift + settings.temperature * log(least / (1 - least)), 4))


def renamed(settings: Settings, names: dict[str, str]) -> Settings:
    """The settings of a model of document relations with other names of its relations; weights do not know names."""
    schema = settings.task_config["schema"]
    relations = {names[code]: relation for code, relation in schema["relations"].items()}
    labels = tuple(names[code] for code in settings.labels)
    return replace(
        settings,
        labels=labels,
        head_config={**settings.head_config, "relations": list(labels)},
        thresholds={names[code]: cut for code, cut in settings.thresholds.items()},
        task_config={**settings.task_config, "schema": {**schema, "relations": relations}},
    )


def with_one_tail(settings: Settings, relations: list[str]) -> Settings:
    """The settings of a model that keeps one tail of these relations."""
    if settings.task == "triples":  # he and she are not one head: mentions are grouped first
        return replace(settings, task_config={**settings.task_config, "one_tail": relations})
    schema = settings.task_config["schema"]
    marked = {name: {**relation, "functional": name in relations} for name, relation in schema["relations"].items()}
    task_config = {**settings.task_config, "schema": {**schema, "relations": marked}, "functional": True}
    return replace(settings, task_config=task_config)


def keep_stored(run: Path, before: Path, target: Path) -> int:
    """Store weights that a run left as a shipped model has them with the same bytes; how many.

    Rounding rounded weights again would change them, and other models share them.
    """
    trained, shipped = stored_weights(run), stored_weights(before)
    same = {name for name in shipped if name in trained and array_equal(shipped[name], trained[name])}
    old, new = load_file(before / "model.safetensors"), load_file(target / "model.safetensors")
    kept = {name: w for name, w in old.items() if name.removesuffix(".scale") in same}
    with write_bytes(target / "model.safetensors") as stream:
        stream.write(save({**new, **kept}))
    return len(same)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("recipe", type=Path)
    parser.add_argument("--precision", choices=["float32", "float16", "int8"], default="int8")
    parser.add_argument("--models", type=Path, default=MODELS)
    parser.add_argument("--upon", default="", help="a shipped model whose encoder weights this one shares")
    parser.add_argument("--keep", type=Path, help="a copy of the model that shipped before, from which the run started")
    parser.add_argument("--names", type=Path, help="JSON: relation -> {name}, what the corpus' codes mean")
    parser.add_argument("--functional", nargs="+", default=[], help="relations of which a head has one tail")
    parser.add_argument("--shown", type=float, default=0.0, help="the score from which on extract shows mentions")
    parser.add_argument("--definitions", action="store_true", help="extract adds what English definitions state")
    parser.add_argument("--right", type=float, help="the share of facts from 0.5 on that is right on dev, at least")
    return parser.parse_args()


def loaded(options: argparse.Namespace, task: Task, config: Any) -> Extractor:
    """The model of a run as the recipe and the options want it, not tuned yet."""
    extractor = factpin.load(options.run, runtime="torch")
    made_from = CATALOGUE.get(Path(extractor.settings.encoder).name)
    if made_from is not None and not made_from.ships:
        raise SystemExit(f"Weights derived from {extractor.settings.encoder} do not ship: {made_from.licence}.")
    with_recipe(extractor, config)
    extractor.settings = replace(extractor.settings, shown=options.shown, definitions=options.definitions)
    if options.functional:
        extractor.settings = with_one_tail(extractor.settings, options.functional)
    if task.name == "triples":
        extractor.settings = with_linked_mentions(extractor.settings)
    return extractor


def write_stored(extractor: Extractor, options: argparse.Namespace, target: Path) -> None:
    """Write the folder in the precision that ships."""
    extractor.save(target, options.precision, options.upon)
    if options.keep:
        print(f"{keep_stored(options.run, options.keep, target)} weights are stored as in {options.keep}")
        write_sums(target, settings_bytes(extractor.settings))


def write_names(stored: Extractor, names: Path, target: Path) -> None:
    """Write the folder's settings with the names of the relations."""
    with open_bytes(names) as stream:
        stored.settings = renamed(stored.settings, {k: v["name"] for k, v in orjson.loads(stream.read()).items()})
    write_settings(stored.settings, target)


def origin_of(options: argparse.Namespace, card: dict[str, Any], remarks: str) -> Origin:
    """The card's data and licences, and the commands that made the model."""
    return Origin(
        data=card["data"],
        data_licence=card["data_licence"],
        encoder_licence=card["encoder_licence"],
        command=f"factpin train --recipe {options.recipe} --output {options.run}\n"
        f"python recipes/ship.py {options.run} {options.recipe} --precision {options.precision}"
        + (f" --upon {options.upon}" if options.upon else "")
        + (f" --keep {options.keep}" if options.keep else "")
        + (f" --names {options.names}" if options.names else "")
        + (f" --functional {' '.join(map(quote, options.functional))}" if options.functional else "")
        + (f" --right {options.right}" if options.right else "")
        + (f" --shown {options.shown}" if options.shown else "")
        + (" --definitions" if options.definitions else ""),
        hardware="two CPU cores",
        remarks=remarks,
    )


def main() -> None:
    options = parse()
    tables = read_recipe(options.recipe)
    task = TASKS[tables["task"]["name"]]
    config = from_dict(task.options, tables[task.name], str(options.recipe))
    if hasattr(config, "tune_thresholds"):  # events and coreference have none
        config = replace(config, tune_thresholds=True)
    reading = Options(occurrences=config.occurrences) if task.name == "triples" else Options()
    _, dev = read_training(tables["task"], reading)
    extractor = loaded(options, task, config)
    plain = task.figures(judge(task, extractor, dev))
    tune(extractor, dev, config)
    tuned = judge(task, extractor, dev)
    whole = task.figures(tuned)
    if options.right:
        extractor.settings = with_caution(extractor.settings, tuned, options.right)
    target = options.models / config.name
    write_stored(extractor, options, target)
    stored = factpin.load(target)
    judged = judge(task, stored, dev)
    scores = task.figures(judged)
    reliability = calibration(judged.outcomes)
    if options.names:
        write_names(stored, options.names, target)
    remarks = (
        f"{tables['card']['remarks']} F1 on dev is {plain['f1']:.4f} with the default threshold of the head, "
        f"{whole['f1']:.4f} with thresholds and scale fitted on dev, and {scores['f1']:.4f} as stored in "
        f"{options.precision}."
    )
    origin = origin_of(options, tables["card"], remarks)
    write_card(target, stored.settings, origin, {**scores, "ece": reliability.ece}, reliability)
    size = sum(file.stat().st_size for file in target.rglob("*") if file.is_file()) / 1e6
    print(f"{target}: {size:.1f} MB, F1 {plain['f1']:.4f} -> {whole['f1']:.4f} -> {scores['f1']:.4f}, "
          f"calibration error {reliability.ece:.4f}")  # fmt: skip


if __name__ == "__main__":
    main()
