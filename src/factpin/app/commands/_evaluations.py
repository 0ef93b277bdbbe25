"""What `factpin evaluate` compares: documents, linked mentions, or answers; each with its table."""

from collections.abc import Callable
from typing import Any

from factpin.app.show.answers_table import render_answers
from factpin.app.show.evaluate_table import render
from factpin.app.show.linking_table import render_linking
from factpin.corpora.evaluate_answers import evaluate_answer_files
from factpin.corpora.evaluate_files import EvaluationFiles, evaluate_files
from factpin.corpora.evaluate_linking import evaluate_linking_files
from factpin.errors import BadInput
from factpin.formats import Options

Evaluated = tuple[dict[str, Any], float, Callable[[dict[str, Any]], Any]]  # a report, its F1, and how it is shown


def evaluate_answers(files: EvaluationFiles, _: str | None, samples: int, seed: int) -> Evaluated:
    """Answers against those of questions."""
    if files.train or files.rename or files.predicted_format:
        raise BadInput("--train, --rename and --pred-from have no meaning for answers. Leave them out.")
    report = evaluate_answer_files(
        files.predicted, files.gold, gold_format=files.gold_format, against=files.against, samples=samples, seed=seed
    )
    return report, report["figures"]["f1"]["value"], render_answers


def evaluate_linking(files: EvaluationFiles, _: str | None, samples: int, seed: int) -> Evaluated:
    """Linked mentions against linked gold."""
    if files.rename or files.against:
        raise BadInput("--rename and --against have no meaning for linking. Leave them out.")
    report = evaluate_linking_files(
        files.predicted,
        files.gold,
        gold_format=files.gold_format,
        predicted_format=files.predicted_format,
        train=files.train,
        options=Options(encoding=files.options.encoding),
        samples=samples,
        seed=seed,
    )
    return report, report["linked"]["f1"], render_linking


def evaluate_documents(files: EvaluationFiles, task: str | None, samples: int, seed: int) -> Evaluated:
    """Documents against documents."""
    report = evaluate_files(files, task=task, samples=samples, seed=seed)
    return report, report["strict"]["f1"], render


EVALUATIONS = {"answers": evaluate_answers, "linking": evaluate_linking}  # by task; documents for all others
