"""How every part is prepared for training; with torch. `parts.py` has what is known of them without."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from factpin.encoders import resolve
from factpin.errors import BadInput
from factpin.knowledge.layer_folder import has_layer
from factpin.training.classify import prepare_classify
from factpin.training.classify_options import CLASSIFY
from factpin.training.config import TrainConfig
from factpin.training.generator import prepare_generator
from factpin.training.generator_options import GENERATOR
from factpin.training.hops import prepare_hops
from factpin.training.hops_options import HOPS
from factpin.training.judge import prepare_judge
from factpin.training.judge_options import JUDGE
from factpin.training.parallel import World
from factpin.training.part_run import PartRun, check_output, run_part
from factpin.training.reader import prepare_reader
from factpin.training.reader_options import READER
from factpin.training.retriever import prepare_retriever
from factpin.training.retriever_options import RETRIEVER

PREPARE: dict[str, Callable[[Sequence[Any], Sequence[Any], Any, TrainConfig], PartRun]] = {
    CLASSIFY: prepare_classify,
    GENERATOR: prepare_generator,
    HOPS: prepare_hops,
    JUDGE: prepare_judge,
    READER: prepare_reader,
    RETRIEVER: prepare_retriever,
}


def train_part(
    name: str,
    training: Sequence[Any],
    dev: Sequence[Any],
    options: Any,
    how: TrainConfig,
    folder: Path,
    *,
    data: dict[str, Any] | None = None,
    resume: bool = False,
    quiet: bool = False,
    world: World | None = None,
) -> dict[str, Any]:
    """Train a part on questions or documents, and write its folder; gives what was measured."""
    check_output(folder, resume=resume)
    if options.encoder and has_layer(source := resolve(options.encoder)):
        raise BadInput(f"{source} has a layer over a store, which is used by the tasks of extraction only. Take "
                       f"another encoder.")  # fmt: skip
    run = PREPARE[name](training, dev, options, how)
    return run_part(run, folder, data=data, resume=resume, quiet=quiet, world=world)
