"""`factpin pretrain --objective knowbert|eae|fae|linker --db kb.db`: what is learned from a store."""

from pathlib import Path
from typing import Any

from factpin.errors import BadInput, need_torch, pick
from factpin.memory import open_store
from factpin.training.config import TrainConfig
from factpin.training.knowledge_options import KNOWLEDGE, KnowledgeOptions


def pretrain_knowledge(
    options: KnowledgeOptions, how: TrainConfig, folder: Path, *, resume: bool = False, quiet: bool = False
) -> dict[str, Any]:
    """Learn from a store, and write the model folder; gives what was measured."""
    pick(KNOWLEDGE, options.objective, kind="objective that learns from a store")
    if not options.db:
        raise BadInput(f"--objective {options.objective} learns from a store. Name it with --db kb.db.")
    if not options.encoder:
        raise BadInput("--encoder is missing. `factpin models --encoders` lists encoders that need no model hub.")
    need_torch("Pretraining needs torch")
    from factpin.encoders import resolve  # noqa: PLC0415
    from factpin.knowledge.layer_folder import has_layer  # noqa: PLC0415
    from factpin.pretraining.knowledge_texts import prepare_texts  # noqa: PLC0415  (torch)
    from factpin.training.fact_asker import prepare_asker  # noqa: PLC0415
    from factpin.training.knowledge_linker import pretrain_linker  # noqa: PLC0415
    from factpin.training.part_run import check_output, run_part  # noqa: PLC0415

    check_output(folder, resume=resume)
    if has_layer(source := resolve(options.encoder)):
        raise BadInput(f"{source} has a layer over a store already, which would be lost. Take another encoder.")
    if options.objective == "linker" and resume:
        raise BadInput("The training of a linker takes seconds and keeps no checkpoint. Leave --resume out.")
    with open_store(options.db) as store:
        if options.objective == "linker":
            return pretrain_linker(store, options, how, folder)
        run = (prepare_asker if options.objective == "fae" else prepare_texts)(store, options, how)
        return run_part(run, folder, data={"train": options.db}, resume=resume, quiet=quiet)
