"""What can be trained beside the tasks: parts of the systems that answer questions and read long texts. No torch.

Every part has its own options, learns from questions or from documents, and writes a model folder. How each of them is
trained is in `part_table`.
"""

from dataclasses import dataclass
from typing import Any, Literal

from factpin.training.classify_options import CLASSIFY, ClassifyOptions
from factpin.training.generator_options import GENERATOR, GeneratorOptions
from factpin.training.hops_options import HOPS, HopOptions
from factpin.training.judge_options import JUDGE, JudgeOptions
from factpin.training.reader_options import READER, ReaderOptions
from factpin.training.retriever_options import RETRIEVER, RetrieverOptions


@dataclass(frozen=True)
class TrainablePart:
    """A part that can be trained: its options, and what it learns from."""

    options: type[Any]
    learns_from: Literal["questions", "documents"]


PARTS: dict[str, TrainablePart] = {
    CLASSIFY: TrainablePart(ClassifyOptions, "documents"),
    GENERATOR: TrainablePart(GeneratorOptions, "questions"),
    HOPS: TrainablePart(HopOptions, "questions"),
    JUDGE: TrainablePart(JudgeOptions, "questions"),
    READER: TrainablePart(ReaderOptions, "questions"),
    RETRIEVER: TrainablePart(RetrieverOptions, "documents"),
}
