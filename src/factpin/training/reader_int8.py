"""The int8 graph of a reader, with a scale and a least score that are fitted for it on questions. No torch."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from factpin.documents import Question
from factpin.errors import BadInput
from factpin.models.graphs.int8 import Int8Report, write_int8
from factpin.models.onnx.graph import INT8, read_graph, write_graph
from factpin.models.onnx.reader import load_onnx_reader
from factpin.models.settings import read_settings
from factpin.training.reader_fit import best_readings, fitted, given_f1, raw_outcomes
from factpin.training.reader_options import ReaderOptions


def write_reader_int8(folder: Path, dev: Sequence[Question], precision: float = ReaderOptions.precision) -> Int8Report:
    """Write the int8 graph of a reader. precision: the share of right answers among those that are not withheld."""
    if not all(question.context for question in dev):
        raise BadInput("A reader is fitted on questions with passages; some of these have none.")
    report = write_int8(folder)
    exact, rough = load_onnx_reader(folder), load_onnx_reader(folder, INT8)
    same = given_f1(rough, dev)
    rough.settings = fitted(rough.settings, raw_outcomes(dev, best_readings(rough, dev)), precision)
    graph, model = read_graph(folder, INT8)
    tuned = {
        "temperature": rough.settings.scale.temperature,
        "shift": rough.settings.scale.shift,
        "task_config": {**read_settings(folder).task_config, "min_score": rough.settings.min_score},
    }
    write_graph(folder, replace(graph, tuned=tuned), model)
    return replace(report, documents=len(dev), before=given_f1(exact, dev), same=same, after=given_f1(rough, dev))
