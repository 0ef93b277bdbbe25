"""Training the linker of a KAR alone: `factpin pretrain --objective linker --db kb.db`.

It is the linker of `factpin train … --knowledge kar`, trained by the same code: without a fifth of the documents first,
which say what NIL scores and how sure a score is, then anew from all. The encoder stays as it is, so that every text is
read once.
"""

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import torch

from factpin.encoders import Encoder, resolve
from factpin.errors import BadInput
from factpin.knowledge.layer_folder import save_layer
from factpin.knowledge.link_scores import FEW, FEW_OF_EACH, Scored, chances
from factpin.knowledge.mentions import FIRST, NIL
from factpin.memory import Store
from factpin.models.part_folder import part_settings
from factpin.models.settings import write_settings
from factpin.scoring import calibration
from factpin.tokens import Tokenizer
from factpin.training.config import TrainConfig, write_recipe
from factpin.training.knowledge_layer import Lessons, layer_over, train_linker
from factpin.training.knowledge_options import KnowledgeOptions
from factpin.training.part_run import SavedPart, mean, origin_of, write_scores
from factpin.words import count

READ = ("objective", "encoder", "db", "size", "vectors", "name", "language")  # of KnowledgeOptions
FOLLOWED = ("max_steps", "batch_size", "learning_rate", "bf16", "seed")  # of TrainConfig
BEFORE = "Measured before these documents were learned from as well."
FITTED = "fitted on these documents: NIL scores {nil:.2f}, and all scores are multiplied by {sharpness:.2f}"
UNFITTED = (
    "Nothing was fitted: the documents that were kept aside have {names} with candidates, and at least {least} are "
    "needed, {each} of them NIL and {each} not. So whether a name is NIL is decided as without this linker, which "
    "chooses between the candidates, and its scores are not calibrated. `candidates` is how often the right candidate "
    "scores best where there is one, before these documents were learned from as well."
)


def pretrain_linker(store: Store, options: KnowledgeOptions, how: TrainConfig, folder: Path) -> dict[str, Any]:
    """Train a linker over a store, and write its folder; gives what was measured."""
    _refuse_others(options, READ)
    _refuse_others(how, FOLLOWED)
    torch.manual_seed(how.seed)
    source = resolve(options.encoder)
    encoder, tokenizer = Encoder.load(source), Tokenizer.load(source)
    layer, reading = layer_over(store, "kar", encoder, tokenizer, size=options.size, vectors=options.vectors,
                                bf16=how.bf16)  # fmt: skip
    usual = Lessons()
    lessons = replace(usual, steps=how.max_steps or usual.steps, batch=how.batch_size or usual.batch,
                      rate=how.learning_rate or usual.rate)  # fmt: skip
    learned = train_linker(layer, reading.texts, lessons)
    found = outcomes(learned.scored, layer.config.nil, layer.config.sharpness)
    fitted = layer.config.fitted
    scores = {"accuracy": mean([float(right) for _, right in found])} if fitted else choices(learned.scored)

    folder.mkdir(parents=True, exist_ok=True)
    settled = replace(how, max_steps=lessons.steps, batch_size=lessons.batch, learning_rate=lessons.rate)
    data = {"train": options.db}
    write_recipe(folder / "recipe.toml", {"task": {"name": options.objective, **data},
                                          options.objective: {name: getattr(options, name) for name in READ},
                                          "train": {name: getattr(settled, name) for name in FOLLOWED}})  # fmt: skip
    encoder.save(folder)
    save_layer(folder, layer)
    settings = part_settings(options.objective, ("entity",), layer.config.kind, options,
                             {"store": layer.config.store, "vectors": options.vectors},
                             max_length=encoder.max_length or 512)  # fmt: skip
    settings = replace(settings, knowledge=layer.config.to_json())
    write_settings(settings, folder)
    if fitted:
        by = FITTED.format(nil=layer.config.nil, sharpness=layer.config.sharpness)
        saved = SavedPart(settings, scores, calibration(found), BEFORE, by)
    else:
        names = count(len(learned.scored), "name")
        saved = SavedPart(settings, scores, None, UNFITTED.format(names=names, least=FEW, each=FEW_OF_EACH))
    write_scores(folder, saved, scores, origin_of(settings, data, how.seed))
    return {"steps": lessons.steps, "best_step": lessons.steps, "train": learned.taught + learned.held,
            "dev": learned.held, "entities": layer.config.rows - FIRST, "noted": {}, "fitted": fitted,
            "scores": scores}  # fmt: skip


def outcomes(scored: Sequence[Scored], nil: float, sharpness: float) -> list[tuple[float, bool]]:
    """The probability of what is chosen for each name, and whether it is right."""
    probable = [chances(scores, nil, sharpness) for scores, _ in scored]
    best = [NIL if p[-1] >= p[:-1].max() else int(p[:-1].argmax()) for p in probable]
    return [(float(p.max()), n == gold) for p, n, (_, gold) in zip(probable, best, scored, strict=True)]


def choices(scored: Sequence[Scored]) -> dict[str, float]:
    """How often the best candidate is the right one, of names whose entity is a candidate."""
    right = [int(scores.argmax()) == gold for scores, gold in scored if gold != NIL]
    return {"candidates": mean([float(one) for one in right])} if right else {}


def _refuse_others(given: KnowledgeOptions | TrainConfig, followed: Sequence[str]) -> None:
    """Refuse settings that would change nothing."""
    for field in fields(given):
        if field.name not in followed and getattr(given, field.name) != field.default:
            raise BadInput(f"{field.name} has no effect on the training of a linker. Leave it out; what it follows is: "
                           f"{', '.join(FOLLOWED)}.")  # fmt: skip
