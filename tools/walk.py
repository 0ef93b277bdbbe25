"""The walk of one example through the program: which files it passes, in order.

    python tools/walk.py extract              # one Chinese sentence through `Extractor.extract`
    python tools/walk.py train                # one example through a step of `train triples`

A hop is a call from one file of factpin into another. A file is listed where it is entered for the first time, with the
function that is called there; the count is of all hops into it. `--source FOLDER` walks through another checkout.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

TEXT = "谷爱凌出生于旧金山。"


class Walk:
    """Hops between files, in the order of the first."""

    def __init__(self, root: Path) -> None:
        self.root = str(root) + "/"
        self.first: dict[str, str] = {}  # file -> the function that was entered first
        self.hops: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()  # file:function

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:  # noqa: ARG002
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(self.root):
            return
        file = code.co_filename.removeprefix(self.root)
        self.calls[f"{file}:{code.co_name}"] += 1
        caller = frame.f_back
        if caller is not None and caller.f_code.co_filename == code.co_filename:
            return
        self.first.setdefault(file, code.co_name)
        self.hops[file] += 1

    def print(self) -> None:
        """A numbered list."""
        for i, (file, function) in enumerate(self.first.items(), 1):
            print(f"{i}. `{file}` {function}" + (f" (×{self.hops[file]})" if self.hops[file] > 1 else ""))
        split = sum(n for name, n in self.calls.items() if name.endswith(":split_sentences"))
        print(f"\n{len(self.first)} files, {self.hops.total()} hops, {self.calls.total()} calls; split {split}×")


def main() -> None:
    """Print the walk."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["extract", "train"])
    parser.add_argument("--source", type=Path, default=Path(__file__).parents[1] / "src")
    parser.add_argument("--model", type=Path, help="a model folder; default: the shipped zh-facts of the checkout")
    options = parser.parse_args()
    sys.path.insert(0, str(options.source))
    walk = Walk(options.source.resolve() / "factpin")
    run = _extract(options.model) if options.what == "extract" else _train(options.model)
    sys.setprofile(walk)
    run()
    sys.setprofile(None)
    walk.print()


def _extractor(folder: Path | None) -> Any:
    try:
        from factpin.models.extractor import Extractor
        from factpin.models.shipped import find_model
    except ImportError:  # version 0.1
        from factpin.pipelines.extractor import Extractor  # type: ignore[no-redef, import-not-found]
        from factpin.pipelines.shipped import find_model  # type: ignore[no-redef, import-not-found]
    return Extractor.load(folder or find_model("zh-facts"))


def _extract(folder: Path | None) -> Callable[[], Any]:
    extractor = _extractor(folder)
    extractor.extract([TEXT])  # what is prepared once is prepared
    return lambda: extractor.extract([TEXT])


def _train(folder: Path | None) -> Callable[[], Any]:
    extractor = _extractor(folder)
    documents = extractor.extract([TEXT])
    try:
        from factpin.tasks.triples.task import TripleOptions
        from factpin.training.job import TaskJob
    except ImportError:  # version 0.1
        from factpin.training.triples import TripleJob as TaskJob  # type: ignore[no-redef, import-not-found]
        from factpin.training.triples import TriplesConfig as TripleOptions  # type: ignore[no-redef, import-not-found]

    def step() -> None:
        job = TaskJob(extractor, documents, [], TripleOptions(encoder=""))
        job.model.loss(job.batch([0])).backward()

    return step


if __name__ == "__main__":
    main()
