"""A trained reader as one that ships: scale and least score fitted on dev, weights stored small, a card with origins.

    python recipes/readers/ship.py runs/en-reader recipes/readers/en/recipe.toml
    python recipes/readers/ship.py runs/zh-reader recipes/readers/zh/recipe.toml --as-trained

Prints EM and F1 on dev as stored, and writes src/factpin/shipped/NAME.
"""

import argparse
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

from factpin.answers.reader import Reader, ReaderSettings, Reading
from factpin.documents import Question
from factpin.encoders.catalogue import CATALOGUE
from factpin.formats.questions import read
from factpin.models.card import Origin, write_card
from factpin.models.graphs.write import write_onnx
from factpin.models.reader_folder import load_reader, save_reader
from factpin.models.readers import open_reader
from factpin.models.settings import read_settings
from factpin.scoring import calibration
from factpin.scoring.answers import Reply, figures, score_answers
from factpin.scoring.calibration import Bin, Calibration
from factpin.scoring.risk import precision_at
from factpin.tasks.scale import Scale
from factpin.training.config import from_dict, read_recipe
from factpin.training.reader_fit import (
    best_readings,
    fitted,
    held_out_error,
    judge,
    probabilities,
    raw_outcomes,
    text_of,
)
from factpin.training.reader_options import ReaderOptions

MODELS = Path(__file__).parents[2] / "src" / "factpin" / "shipped"


def exact_share(dev: list[Question], best: list[Reading | None], least: float, scale: Scale) -> float:
    """The share of exact matches among the answers that are not withheld."""
    kept = [(q, r) for q, r in zip(dev, best, strict=True) if r is not None and scale.probability(r.sure) >= least]
    rows = score_answers([q for q, _ in kept], {q.id: Reply(text_of(r)) for q, r in kept}).rows["em"]
    return float(rows[:, 0].mean()) if kept else 0.0


def fit(
    stored: Reader[Any], dev: list[Question], precision: float
) -> tuple[ReaderSettings, dict[str, float], Calibration]:
    """Scale and least score of a reader as it is stored, and its scores on dev."""
    best = best_readings(stored, dev)
    outcomes = raw_outcomes(dev, best)
    chosen = stored.settings = fitted(stored.settings, outcomes, precision)
    judged = probabilities(chosen.scale, outcomes)
    kept = [right for score, right in judged if score >= chosen.min_score]
    curve = calibration(judged)
    scores = figures(judge(dev, best))
    scores |= {"ece": curve.ece, "ece_held_out": held_out_error(dev, best)}
    scores |= {"min_score": chosen.min_score, "kept": len(kept) / len(dev)}
    scores |= {"precision_kept": sum(kept) / max(1, len(kept))}
    scores |= {"em_kept": exact_share(dev, best, chosen.min_score, chosen.scale)}
    scores |= {f"precision_at_{share}": precision_at(judged, share / 100) or 0.0 for share in (10, 25, 50)}
    return chosen, scores, curve


def trained_scores(run: Path) -> tuple[dict[str, float], Calibration]:
    """The scores on dev that training ended with; its scale and least score are those of the run."""
    rows = json.loads((run / "metrics.json").read_text(encoding="utf-8"))
    bins = tuple(Bin(**row) for row in rows.pop("reliability"))
    return rows, Calibration(rows["ece"], math.nan, sum(bin.count for bin in bins), bins)  # the card has no Brier score


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("recipe", type=Path)
    parser.add_argument("--precision", choices=["float32", "float16", "int8"], default="int8")
    parser.add_argument("--models", type=Path, default=MODELS)
    parser.add_argument("--upon", default="", help="a shipped model whose encoder weights this one shares")
    parser.add_argument("--every", type=int, default=1, help="fit and score on one dev question in so many")
    parser.add_argument("--as-trained", action="store_true", help="keep what training fitted, and its scores on dev")
    options = parser.parse_args()
    tables = read_recipe(options.recipe)
    config = from_dict(ReaderOptions, tables["reader"], str(options.recipe))
    settings = replace(
        read_settings(options.run),
        encoder=config.encoder if config.encoder in CATALOGUE else tables["card"]["encoder"],
        name=config.name,
    )
    entry = CATALOGUE.get(settings.encoder)
    if entry is not None and not entry.ships:
        raise SystemExit(f"Weights derived from {settings.encoder} do not ship: {entry.licence}.")
    dev = list(read(tables["task"]["dev"]))[:: options.every]
    whole = load_reader(options.run)
    target = options.models / config.name
    save_reader(target, settings, whole, options.precision, options.upon)
    write_onnx(target)
    if options.as_trained:
        scores, curve = trained_scores(options.run)
        before = "as trained"
    else:
        some = figures(judge(dev[::10], best_readings(whole, dev[::10])))  # float32 is slow, and hardly different
        before = f"float32, every tenth question: {some['em']:.4f}, {some['f1']:.4f}"
        whole.settings, scores, curve = fit(open_reader(target), dev, config.precision)
    rows = "\n".join(f"| {name} | {value:.4f} |" for name, value in scores.items())
    card = tables["card"]
    origin = Origin(
        data=card["data"],
        data_licence=card["data_licence"],
        encoder_licence=card["encoder_licence"],
        command=f"factpin train --recipe {options.recipe} --output {options.run}\n"
        f"python recipes/readers/ship.py {options.run} {options.recipe} --precision {options.precision}"
        + (f" --upon {options.upon}" if options.upon else "")
        + (" --as-trained" if options.as_trained else ""),
        hardware="two CPU cores",
        remarks=f"## Scores on dev\n\nMeans over questions; every question is read in its passage and in four others "
        f"that its words find.\n\n| metric | value |\n|---|---|\n{rows}\n\n{card['remarks']}",
    )
    written = save_reader(target, settings, whole, options.precision, options.upon)
    write_onnx(target)
    write_card(target, written, origin, {}, curve)
    size = sum(file.stat().st_size for file in target.rglob("*") if file.is_file()) / 1e6
    print(
        f"{target}: {size:.1f} MB, EM {scores['em']:.4f}, F1 {scores['f1']:.4f} ({before}), calibration error "
        f"{scores['ece']:.4f}, on other halves {scores['ece_held_out']:.4f}, kept {scores['kept']:.4f}, right of these "
        f"{scores['precision_kept']:.4f}"
    )


if __name__ == "__main__":
    main()
