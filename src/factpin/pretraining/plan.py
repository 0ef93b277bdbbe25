"""The plan of a run: its settings come in; what its rows need, how its texts are packed and what it begins with go out.

What does not fit together is refused here, before anything is read or written.
"""

import json
from dataclasses import dataclass, replace

from factpin.encoders.views import ABSOLUTE
from factpin.errors import BadInput
from factpin.objectives import ROWS, Objective
from factpin.pretraining.config import Packing, PretrainConfig
from factpin.pretraining.corpus import TextCut
from factpin.pretraining.job import stages_of
from factpin.pretraining.layouts import LAYOUTS, network_of
from factpin.pretraining.needs import Needs, needs_of
from factpin.pretraining.networks import NETWORKS, architecture, shape_of
from factpin.pretraining.prepare import StartFolder, described
from factpin.pretraining.readers import says

WITHIN: tuple[Packing, ...] = ("document", "running")  # one document a text


@dataclass(frozen=True)
class PretrainingPlan:
    """What follows from the rows that a run learns, and from those that it is compared with."""

    learned: tuple[str, ...]
    rows: tuple[str, ...]  # with those beside
    need: Needs
    remembers: bool  # the network has a memory
    masks: bool = True  # the network takes any mask

    @property
    def objectives(self) -> list[Objective]:
        return [ROWS[row] for row in self.rows]


def plan_of(config: PretrainConfig) -> PretrainingPlan:
    """What the rows of a run need, checked against the network that it begins with."""
    learned, beside = (
        [row for stage in stages_of(names, pairs=bool(config.pairs)) for row in stage] if names else []
        for names in (config.objective, config.beside)
    )
    rows = tuple(dict.fromkeys((*learned, *beside)))
    need = needs_of([ROWS[row] for row in rows])
    plan = PretrainingPlan(tuple(dict.fromkeys(learned)), rows, need, False)
    given = described(beginning_of(config, plan, 0))
    network = network_of({"vocab_size": 0, **given}) if given["model_type"] in LAYOUTS else None
    remembers = need.memory and network is not None and network.positions == "relative"
    if config.memory and not need.memory:
        raise BadInput(f"{config.objective} has no memory. Leave --memory out.")
    if config.memory and not remembers:
        raise BadInput("An encoder without relative positions has no memory. Leave --memory out, or give --shape "
                       "for the network of the paper.")  # fmt: skip
    said = [row for row in rows if says(ROWS[row])]
    if said and network is not None and not network.decoder_layers:
        raise BadInput(f"{said[0]} needs a decoder, which {network.name} does not have. Take a model with one, such "
                       f"as T5 or BART, or --shape.")  # fmt: skip
    masks = network is not None or given["model_type"] in ABSOLUTE
    return replace(plan, remembers=remembers, masks=masks)


def beginning_of(config: PretrainConfig, plan: PretrainingPlan, seed: int) -> StartFolder:
    """What is written before the first step."""
    shape = ""
    if config.shape:
        shape = json.dumps(NETWORKS[architecture(plan.objectives)](
            shape_of(config.shape, config.length, config.decoder_layers)))  # fmt: skip
    return StartFolder(config.encoder, config.config, shape, config.tokenizer, config.vocab_size, config.vocabulary,
                     config.lowercase, config.extend, tuple(sorted(plan.need.marks)), seed)  # fmt: skip


def text_cut(config: PretrainConfig, plan: PretrainingPlan) -> TextCut:
    """How the documents of a run become texts."""
    memory = pieces_remembered(config, plan)
    packing = config.packing or ("document" if plan.need.pair else "running" if memory else "full")
    if plan.need.pair and packing not in WITHIN:
        raise BadInput(f"{config.objective} asks whether two parts of a text belong together, so its texts are packed "
                       f"within one document: --packing {' or '.join(WITHIN)}, not {packing}.")  # fmt: skip
    if packing == "apart" and not plan.masks:
        raise BadInput("--packing apart hides the documents of a text from each other by a mask, which this network "
                       "does not take. Take --packing filled.")  # fmt: skip
    if memory and packing == "apart":
        raise BadInput(f"{config.objective} remembers the text before, so its texts follow one another: --packing "
                       f"running, not apart; or --memory 0.")  # fmt: skip
    words = config.words if plan.need.words else None
    again = packing == "running" and any(row.again for row in plan.objectives)
    return TextCut(config.length, packing, words, memory, again)


def pieces_remembered(config: PretrainConfig, plan: PretrainingPlan) -> int:
    """How many pieces are remembered."""
    return (config.length if config.memory is None else config.memory) if plan.remembers else 0
