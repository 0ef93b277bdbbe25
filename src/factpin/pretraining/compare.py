"""Which objective helps on this corpus: names and a recipe come in; F1 by pieces seen, and a verdict, go out.

    start/                    the encoder that all begin with: the same weights, the same vocabulary
    A/, B/, …                 a pretraining run each, over the same texts in the same order
    A/point-1, …, point-P     its encoder after 1/P, …, P/P of the steps
    results.jsonl             a line for each run that is done

Every point, and `start` itself ("none"), is fine-tuned by the recipe with each seed. One pretraining run is behind
a point: intervals are over the seeds of the fine-tuning. Points before the last are taken on the way, in the middle of
the schedule of the learning rate.

    spread    √((s_A² + s_B²) / 2)            s: standard deviation over the seeds
    A is better than B    mean_A - mean_B > 2 · spread;  else there is no difference
"""

import shutil
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from factpin.documents import Document
from factpin.errors import BadInput
from factpin.files import byte_lines, write_bytes, write_folder
from factpin.formats import Options
from factpin.pretraining.compare_drawing import draw
from factpin.pretraining.config import PretrainConfig
from factpin.pretraining.corpus import Corpus
from factpin.pretraining.folder import save_pretrained
from factpin.pretraining.job import stages_of
from factpin.pretraining.learner import Learners
from factpin.pretraining.plan import beginning_of, plan_of
from factpin.pretraining.prepare import prepare
from factpin.pretraining.pretrain import notes_of, pretrain
from factpin.tasks import find_task
from factpin.tokens import Tokenizer
from factpin.training.checkpoint import last_path
from factpin.training.config import TrainConfig, from_dict, read_recipe, to_dict
from factpin.training.data import read_training
from factpin.training.parallel import join_world
from factpin.training.run import run_training
from factpin.words import count

NONE = "none"  # the encoder as it was
POINT = "point.json"
T95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)  # Student's t, 1 to 9 degrees of freedom
NORMAL = 1.96

Result = dict[str, Any]  # objective, point, pieces, seed, score


@dataclass(frozen=True)
class Comparison:
    """What is compared."""

    objectives: tuple[str, ...]  # names of the table; several joined by + are drawn in turn
    recipe: str  # of `factpin train`
    points: int = 3
    seeds: int = 3

    def __post_init__(self) -> None:
        if not self.objectives or len(set(self.objectives)) < len(self.objectives) or NONE in self.objectives:
            raise BadInput(f"--compare takes different objectives with commas, got {', '.join(self.objectives)!r}.")
        if self.points < 1 or self.seeds < 1:
            raise BadInput(f"points is {self.points} and seeds {self.seeds}; expected 1 or more.")


def compare(
    paths: Sequence[Path],
    config: PretrainConfig,
    how: TrainConfig,
    asked: Comparison,
    folder: Path,
    *,
    dev: Sequence[Path] = (),
    resume: bool = False,
    note: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Pretrain with each objective, fine-tune at each point with each seed; `config.objective` counts for nothing.

    Results are kept in results.jsonl and not computed again. `note` is called with what is being done.
    """
    task = _Task.of(Path(asked.recipe))
    every = (how.max_steps or 0) // asked.points
    if not every:
        raise BadInput(f"--compare needs --max-steps, {asked.points} or more: as many for each objective.")
    if join_world().size > 1:
        raise BadInput("--compare runs in one process. Leave torchrun out, and give it --threads.")
    # As many steps for each: a run that stopped early would lack its last points.
    how = replace(how, max_steps=every * asked.points, evaluate_every=every, early_stopping=None)
    names = {name: name.replace("+", ",") for name in asked.objectives}
    rows = dict.fromkeys(row for name in names.values() for stage in stages_of(name) for row in stage)
    everything = replace(config, objective=",".join(rows), beside="")
    results = _Results(folder, [to_dict(everything), to_dict(how), asdict(asked), task.tables], resume=resume)

    plan = plan_of(everything)
    prepare(beginning_of(everything, plan, how.seed), Corpus(paths, divide=config.divide), folder / "start", begun=True)
    for name, meant in names.items():
        here = _on(replace(config, objective=meant, beside=",".join(rows)), folder / "start")
        _pretrained(paths, here, how, folder / name, every, dev, note)
    for seed in range(1, asked.seeds + 1):
        for name, point, source in _sources(folder, asked):
            if not results.has(name, point, seed):
                note(f"{name}, point {point} of {asked.points}, seed {seed}")
                pieces = orjson.loads((source / POINT).read_bytes())["pieces"] if point else 0
                score = task.score(source, seed, folder / "fine" / f"{name}-{point}-{seed}")
                results.add({"objective": name, "point": point, "pieces": pieces, "seed": seed, "score": score})
    report = summed(results.rows, asked.points, task.how.metric)
    draw(report, folder / "compare.svg")
    return report


def _on(config: PretrainConfig, start: Path) -> PretrainConfig:
    return replace(config, encoder=str(start), config="", shape="", tokenizer="", extend=0)


def _pretrained(
    paths: Sequence[Path],
    config: PretrainConfig,
    how: TrainConfig,
    folder: Path,
    every: int,
    dev: Sequence[Path],
    note: Callable[[str], None],
) -> None:
    """Pretrain with one objective and keep its points, unless they exist."""
    steps = how.max_steps or 0
    points = [folder / f"point-{k}" for k in range(1, steps // every + 1)]
    if all((point / POINT).exists() for point in points):
        return
    note(f"{config.objective}: {count(steps, 'step')}")

    def keep(model: Learners, tokenizer: Tokenizer, step: int, pieces: int) -> None:
        target = folder / f"point-{step // every}"
        if step % every == 0 and not target.exists():
            with write_folder(target) as point:
                save_pretrained(model, point, tokenizer)
                (point / POINT).write_bytes(orjson.dumps({"step": step, "pieces": pieces}))

    report = pretrain(paths, config, how, folder, dev=dev, resume=last_path(folder).exists(), quiet=True, at=keep)
    for line in notes_of(report):
        note(f"{config.objective}: {line}")
    missing = [point.name for point in points if not (point / POINT).exists()]
    if missing:
        raise BadInput(f"{folder}: the run is complete, but {', '.join(missing)} is missing. Remove this folder "
                       f"and continue (--resume): the objective is then pretrained again.")  # fmt: skip


def _sources(folder: Path, asked: Comparison) -> list[tuple[str, int, Path]]:
    """What is fine-tuned: name, point, encoder."""
    points = range(1, asked.points + 1)
    found = [(name, point, folder / name / f"point-{point}") for name in asked.objectives for point in points]
    return [(NONE, 0, folder / "start"), *found]


@dataclass(frozen=True, eq=False)
class _Task:
    """A recipe of `factpin train` and its corpus."""

    tables: dict[str, Any]
    config: Any
    how: TrainConfig
    training: Sequence[Document]
    dev: Sequence[Document]

    @classmethod
    def of(cls, recipe: Path) -> "_Task":
        tables = read_recipe(recipe)
        data = tables.get("task", {})
        task = find_task(data.get("name", ""))
        if "encoder" not in tables.get(task.name, {}):
            tables = {**tables, task.name: {**tables.get(task.name, {}), "encoder": ""}}
        config = from_dict(task.options, tables[task.name], str(recipe))
        how = from_dict(TrainConfig, tables.get("train", {}), str(recipe))
        reading = Options(occurrences=tables.get("triples", {}).get("occurrences", "nearest"))
        training, dev = read_training(data, reading)
        if not dev:
            raise BadInput(
                f"{recipe}: [task] names no dev corpus, on which objectives are judged. Give dev or hold_out."
            )
        return cls(tables, config, how, training, dev)

    def score(self, encoder: Path, seed: int, folder: Path) -> float:
        """Fine-tune that encoder; the model is thrown away."""
        task = find_task(self.tables["task"]["name"])
        config, how = replace(self.config, encoder=str(encoder)), replace(self.how, seed=seed)
        shutil.rmtree(folder, ignore_errors=True)  # what a cut run left
        report = run_training(task, self.training, self.dev, config, how, folder, quiet=True)
        shutil.rmtree(folder)
        return float(report["scores"][how.metric])


class _Results:
    """Lines that are done, behind one that says of what."""

    def __init__(self, folder: Path, settings: Any, *, resume: bool) -> None:
        self.path, head = folder / "results.jsonl", orjson.loads(orjson.dumps({"settings": settings}))
        self.rows: list[Result] = []
        if not self.path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            self.path.write_bytes(orjson.dumps(head) + b"\n")
            return
        if not resume:
            raise BadInput(f"{folder} contains a comparison already. Continue it (--resume), or name another folder.")
        lines = [row for _, _, line in byte_lines(self.path) if (row := _row(line)) is not None]
        if not lines or lines[0] != head:
            raise BadInput(f"{folder} was started with other settings. Name another folder, or use the same settings.")
        self.rows = lines[1:]
        with write_bytes(self.path) as stream:  # without a line that a crash cut off
            stream.writelines(orjson.dumps(line) + b"\n" for line in lines)

    def has(self, name: str, point: int, seed: int) -> bool:
        return any((row["objective"], row["point"], row["seed"]) == (name, point, seed) for row in self.rows)

    def add(self, row: Result) -> None:
        self.rows.append(row)
        with open(self.path, "ab") as stream:
            stream.write(orjson.dumps(row) + b"\n")


def _row(line: bytes) -> Result | None:
    try:
        row: Result = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return row


@dataclass(frozen=True)
class Verdict:
    """Which objective is better, and how sure that is."""

    best: str
    winner: str | None
    words: str


def interval(scores: Sequence[float]) -> tuple[float, float]:
    """95 % of the mean, by Student's t; of one score, nothing is known."""
    mean, n = statistics.fmean(scores), len(scores)
    if n < 2:
        return (float("-inf"), float("inf"))
    t = T95[n - 2] if n - 2 < len(T95) else NORMAL
    half = t * statistics.stdev(scores) / n**0.5
    return mean - half, mean + half


def verdict(last: Mapping[str, Sequence[float]]) -> Verdict:
    """The scores of each name at the last point, by seed -> the winner, if there is one."""
    means = {name: statistics.fmean(scores) for name, scores in last.items()}
    best = max(means, key=lambda name: means[name])
    if any(len(scores) < 2 for scores in last.values()):
        return Verdict(best, None, "One seed shows no spread, so nothing can be said. Take three (--seeds 3).")
    near: dict[str, float] = {}  # name -> two standard deviations
    for name in means:
        spread = ((statistics.variance(last[best]) + statistics.variance(last[name])) / 2) ** 0.5
        if name != best and means[best] - means[name] <= 2 * spread:
            near[name] = 2 * spread
    shown = {name: "no adaptation" if name == NONE else name for name in means}
    if near:
        others = " and ".join(f"{shown[name]} ({100 * means[name]:.2f})" for name in near)
        spreads = " and ".join(f"{100 * spread:.2f}" for spread in near.values())
        words = f"No difference: {shown[best]} is first with {100 * means[best]:.2f}, but not ahead of {others}"
        return Verdict(best, None, f"{words} by more than two standard deviations of the seeds ({spreads}).")
    second = max((name for name in means if name != best), key=lambda name: means[name])
    lead = f"{100 * means[best]:.2f}, {100 * (means[best] - means[second]):.2f} more than {shown[second]}"
    return Verdict(best, best, f"No adaptation is best: {lead}." if best == NONE else f"{best} is best: {lead}.")


def summed(rows: Sequence[Result], points: int, metric: str) -> dict[str, Any]:
    """Means and intervals by name and point, and the verdict on the last."""
    by: dict[tuple[str, int], list[Result]] = {}
    for row in sorted(rows, key=lambda row: (row["point"], row["seed"])):
        by.setdefault((row["objective"], row["point"]), []).append(row)
    summary = []
    for (name, point), each in by.items():
        scores = [row["score"] for row in each]
        low, high = interval(scores)
        summary.append({"objective": name, "point": point, "pieces": each[0]["pieces"], "scores": scores,
                     "mean": statistics.fmean(scores), "low": low, "high": high})  # fmt: skip
    last = {row["objective"]: row["scores"] for row in summary if row["point"] in (0, points)}
    found = verdict(last)
    return {"metric": metric, "points": summary, "best": found.best, "winner": found.winner, "verdict": found.words}
