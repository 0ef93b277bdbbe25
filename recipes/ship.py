"""A trained run as a model that ships: thresholds and scale fitted on dev, weights stored small, a card with origins.

    python recipes/ship.py runs/zh-entities recipes/zh-entities/recipe.toml --precision int8

Prints strict F1 on dev in float32 and as stored, and writes src/factpin/models/NAME.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import torch

import factpin
from factpin import formats
from factpin.documents import Document
from factpin.pipelines.card import Origin, write_card
from factpin.pipelines.extractor import Extractor
from factpin.pipelines.tune import candidates, fit_scale, fit_thresholds
from factpin.scoring import Scores, align, calibration, spans
from factpin.training.config import read_recipe
from factpin.training.spans import figures

MODELS = Path(__file__).parents[1] / "src" / "factpin" / "models"


def judge(extractor: Extractor, dev: list[Document]) -> Scores:
    return spans.score(align(extractor.annotate(dev), dev).pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("recipe", type=Path)
    parser.add_argument("--precision", choices=["float32", "float16", "int8"], default="int8")
    parser.add_argument("--models", type=Path, default=MODELS)
    options = parser.parse_args()
    tables = read_recipe(options.recipe)
    dev = list(formats.read(tables["task"]["dev"], format=tables["task"].get("from")))
    extractor = factpin.load(options.run)
    how = tables["spans"]
    settings = replace(
        extractor.settings,
        encoder=Path(extractor.settings.encoder).name,
        max_length=how["max_length"],
        overlap=how["overlap"],
        head_config={**extractor.settings.head_config, "max_span": how["max_span"]},
        thresholds={},
    )
    extractor.settings = settings
    extractor.model.head.config = replace(extractor.model.head.config, max_span=how["max_span"])
    plain = figures(judge(extractor, dev))
    found = candidates(extractor, dev)
    thresholds = fit_thresholds(found, settings.labels, float(extractor.model.head.default_threshold))
    extractor.settings = replace(settings, thresholds=thresholds)
    cut = torch.as_tensor(extractor.threshold()).expand(len(settings.labels)).double().numpy()
    scale = fit_scale(found, cut)
    extractor.settings = replace(extractor.settings, temperature=scale.temperature, shift=scale.shift)
    whole = figures(judge(extractor, dev))
    target = options.models / settings.name
    extractor.save(target, options.precision)
    stored = factpin.load(target)
    judged = judge(stored, dev)
    scores = figures(judged)
    reliability = calibration(judged.outcomes)
    card = tables["card"]
    remarks = (
        f"{card['remarks']} F1 with the head's own threshold {plain['f1']:.4f}, with thresholds by label "
        f"{whole['f1']:.4f}, as stored in {options.precision} {scores['f1']:.4f}."
    )
    origin = Origin(
        data=card["data"],
        data_licence=card["data_licence"],
        encoder_licence=card["encoder_licence"],
        command=f"factpin train --recipe {options.recipe} --output {options.run}\n"
        f"python recipes/ship.py {options.run} {options.recipe} --precision {options.precision}",
        hardware="two CPU cores",
        remarks=remarks,
    )
    write_card(target, stored.settings, origin, {**scores, "ece": reliability.ece}, reliability)
    size = sum(file.stat().st_size for file in target.rglob("*") if file.is_file()) / 1e6
    print(f"{target}: {size:.1f} MB, F1 {plain['f1']:.4f} -> {whole['f1']:.4f} -> {scores['f1']:.4f}, "
          f"calibration error {reliability.ece:.4f}")  # fmt: skip


if __name__ == "__main__":
    main()
