"""What `factpin pretrain` was asked for: a recipe with options on top, checked before torch is imported."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from factpin.errors import BadInput, need_torch
from factpin.files import one_writer
from factpin.pretraining.config import LEARNING_RATE, PretrainConfig
from factpin.training.config import TrainConfig, chosen, from_dict, read_recipe


@dataclass(frozen=True)
class CompareRequest:
    """A comparison of objectives by how well their encoders are fine-tuned on a task."""

    objectives: str  # names with commas
    recipe: str | None  # of `factpin train`
    points: int
    seeds: int


@dataclass(frozen=True)
class PretrainRequest:
    """A pretraining run."""

    corpus: tuple[Path, ...]
    dev: tuple[Path, ...]
    config: PretrainConfig
    how: TrainConfig
    output: Path
    resume: bool = False
    compare: CompareRequest | None = None


def pretrain_request(
    recipe: Path | None,
    corpus: Sequence[Path],
    dev: Sequence[Path],
    output: Path,
    settings: Mapping[str, Any],
    *,
    resume: bool = False,
    compare: CompareRequest | None = None,
) -> PretrainRequest:
    """A request from a recipe and options; options that are None are left to the recipe."""
    tables = read_recipe(recipe) if recipe else {}
    files = tables.get("corpus", {})
    paths = tuple(corpus) or tuple(map(Path, files.get("paths", ())))
    what = chosen(PretrainConfig, tables.get("pretrain", {}), dict(settings))
    if not paths and not what.get("pairs"):
        raise BadInput("--corpus is missing: name text files, or folders of them.")
    if compare:
        if settings.get("objective"):
            raise BadInput("--compare names the objectives. Leave --objective out.")
        if not compare.recipe:
            raise BadInput("--compare needs --task RECIPE, a recipe.toml of `factpin train` to fine-tune on.")
        what["objective"] = compare.objectives
    if "objective" not in what:
        raise BadInput("--objective is missing, such as --objective wwm.")
    how = {"learning_rate": LEARNING_RATE, **chosen(TrainConfig, tables.get("train", {}), dict(settings))}
    return PretrainRequest(
        paths,
        tuple(dev) or tuple(map(Path, files.get("dev", ()))),
        from_dict(PretrainConfig, what, "pretrain"),
        from_dict(TrainConfig, how, "train"),
        output,
        resume,
        compare,
    )


def run_pretraining(
    request: PretrainRequest, *, threads: int | None = None, quiet: bool = False, note: Callable[[str], None]
) -> dict[str, Any] | None:
    """Pretrain or compare, and write the folder; returns what was measured, in the leading process only."""
    need_torch("Pretraining needs torch")
    import torch  # noqa: PLC0415  (what the user may have got wrong is checked before)

    from factpin.layers.half import bf16_warning  # noqa: PLC0415
    from factpin.pretraining import compare, pretrain  # noqa: PLC0415
    from factpin.training.parallel import join_world  # noqa: PLC0415

    if threads:
        torch.set_num_threads(threads)
    if request.how.bf16 and (warning := bf16_warning()):
        note(warning)
    paths, dev, config, how = request.corpus, request.dev, request.config, request.how
    if request.compare:
        names = tuple(name.strip() for name in request.compare.objectives.split(","))
        task = compare.Comparison(names, request.compare.recipe or "", request.compare.points, request.compare.seeds)
        with one_writer(request.output, "factpin pretrain --compare"):
            return compare.compare(paths, config, how, task, request.output, dev=dev, resume=request.resume, note=note)
    world = join_world()
    with one_writer(request.output, "factpin pretrain") if world.leads else nullcontext():
        report = pretrain.pretrain(
            paths, config, how, request.output, dev=dev, resume=request.resume, quiet=quiet, world=world
        )
    if not world.leads:
        return None
    for line in pretrain.notes_of(report):
        note(line)
    return report
