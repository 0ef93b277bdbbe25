"""Training the linker of a KAR alone: `factpin pretrain --objective linker --db kb.db`.

learns from   the names in the store's documents, each text as if its document were not in the store
dev           a fifth of the documents: they say what NIL scores and how sure a score is; at last it learns from all

The encoder stays as it is, so that every text is read once.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from factpin.encoders import Encoder, resolve
from factpin.errors import BadInput
from factpin.knowledge.layer_folder import save_layer
from factpin.knowledge.link_scores import Scored, chances
from factpin.knowledge.mentions import FIRST, NIL, NameBatch
from factpin.knowledge.reading import EncodedText
from factpin.knowledge.store_layer import StoreLayer
from factpin.memory import Store
from factpin.models.part_folder import part_settings
from factpin.models.settings import write_settings
from factpin.scoring import calibration
from factpin.tokens import Tokenizer
from factpin.tokens.pieces import Ints
from factpin.training.config import TrainConfig
from factpin.training.knowledge_layer import (
    BATCH,
    KEPT,
    RATE,
    STEPS,
    is_held,
    layer_over,
    learn_links,
    lesson_batch,
    linkable,
    linking,
    scored,
    set_decision,
)
from factpin.training.knowledge_options import KnowledgeOptions
from factpin.training.part_run import PartRun, SavedPart

METRICS = ("accuracy",)  # of the names that the store knows, NIL among them


class LinkerModel(nn.Module):
    """An encoder with a KAR, of which the linker learns."""

    def __init__(self, encoder: Encoder, layer: StoreLayer) -> None:
        super().__init__()
        self.encoder, self.layer = encoder, layer
        self.head = nn.Module()  # everything that learns is in the layer
        for weight in encoder.model.parameters():
            weight.requires_grad_(False)

    def loss(self, batch: tuple[Tensor, NameBatch]) -> Tensor:
        """Cross entropy over the candidates and NIL."""
        return linking(self.layer, *batch)


class LinkerJob:
    """The texts of a store, read once."""

    def __init__(self, model: LinkerModel, texts: Sequence[EncodedText]) -> None:
        self.model = model
        usable = [one for one in texts if one.hidden is not None and linkable(model.layer, one)]
        self.taught = [one for one in usable if not is_held(one.text.source, KEPT)]
        self.dev = [one for one in usable if is_held(one.text.source, KEPT)]
        if not self.taught:
            raise BadInput("No name of the store occurs in two documents, so there is nothing to learn from. Fill it "
                           "with `factpin index`.")  # fmt: skip
        self.lengths = [len(one.text.ids) for one in self.taught]
        self.terms = None

    def batch(self, examples: Sequence[int]) -> tuple[Tensor, NameBatch]:
        """Texts side by side, with random candidates drawn anew."""
        chance = np.random.default_rng(int(torch.randint(2**31, ())))  # the loop seeds torch at every step
        return lesson_batch(self.model.layer, [self.taught[i] for i in examples], chance)

    def judged(self) -> list[Scored]:
        """The scores of the names of dev; sets what NIL scores."""
        self.model.eval()
        found = scored(self.model.layer, self.dev)
        set_decision(self.model.layer, found)
        return found

    def evaluate(self) -> dict[str, float]:
        """How often the entity is right, or NIL."""
        outcomes = self.outcomes(self.judged())
        return {"accuracy": sum(right for _, right in outcomes) / len(outcomes)} if outcomes else {}

    def outcomes(self, found: Sequence[Scored]) -> list[tuple[float, bool]]:
        """The probability of what is chosen for each name, and whether it is right."""
        config = self.model.layer.config
        probable = [chances(scores, config.nil, config.sharpness) for scores, _ in found]
        best = [NIL if p[-1] >= p[:-1].max() else int(p[:-1].argmax()) for p in probable]
        return [(float(p.max()), n == gold) for p, n, (_, gold) in zip(probable, best, found, strict=True)]

    def columns(self) -> list[Ints]:
        """All that it learns from."""
        rows = ((one.text.ids, [x for m in one.text.mentions for x in (m.first, m.last, m.entity)])
                for one in self.taught)  # fmt: skip
        return [np.array([*ids, *places], np.int32) for ids, places in rows]


def prepare_linker(store: Store, options: KnowledgeOptions, how: TrainConfig) -> PartRun:
    """A linker over a store, ready to learn."""
    torch.manual_seed(how.seed)
    source = resolve(options.encoder)
    encoder, tokenizer = Encoder.load(source), Tokenizer.load(source)
    layer, reading = layer_over(store, "kar", encoder, tokenizer, size=options.size, vectors=options.vectors,
                                bf16=how.bf16)  # fmt: skip
    job = LinkerJob(LinkerModel(encoder, layer), reading.texts)
    how = replace(how, batch_size=how.batch_size or BATCH, learning_rate=how.learning_rate or RATE)
    if how.epochs is None and how.max_steps is None:
        epoch = -(-len(job.taught) // how.texts)
        how = replace(how, max_steps=STEPS, epochs=-(-STEPS // epoch), evaluate_every=how.evaluate_every or STEPS // 10)

    start = {name: weight.clone() for name, weight in layer.layer.state_dict().items()}
    steps = how.max_steps or STEPS

    def save(folder: Path) -> SavedPart:
        found = job.outcomes(job.judged())
        torch.manual_seed(how.seed)
        layer.layer.load_state_dict(start)
        learn_links(layer, [*job.taught, *job.dev], steps)
        encoder.save(folder)
        save_layer(folder, layer)
        settings = part_settings(options.objective, ("entity",), layer.config.kind, options,
                                 {"store": layer.config.store, "vectors": options.vectors},
                                 max_length=encoder.max_length or 512)  # fmt: skip
        settings = replace(settings, knowledge=layer.config.to_json())
        write_settings(settings, folder)
        right = {"accuracy": sum(ok for _, ok in found) / len(found)} if found else {}
        remark = "Before these documents were learned from as well; they say what NIL scores, and how sure a score is."
        return SavedPart(settings, right, calibration(found) if found else None, remark if found else "")

    counts = {"train": len(job.taught), "dev": len(job.dev), "entities": layer.config.rows - FIRST, "noted": {}}
    return PartRun(options.objective, job, options, how, METRICS, counts, save, job.columns)
