"""A whole extraction in shards: plan, extract what is not done yet, and add up.

    request = Request(inputs=(Path("corpus"),), output=Path("found"))
    summary, failures = run_in_shards(request, ShardOptions("processes", Workers(8)))

Run it again after a crash, or with another engine or number of workers: finished shards are kept.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from factpin import files
from factpin.errors import BadInput, pick
from factpin.extraction.engines import ENGINES, Failure, Workers
from factpin.extraction.folder import describe_run, open_folder
from factpin.extraction.inputs import find_inputs
from factpin.extraction.progress import SILENT, Progress
from factpin.extraction.request import Request
from factpin.extraction.shards import DONE, SIZE, check_inputs, open_plan, read_receipt
from factpin.extraction.summary import Summary


@dataclass(frozen=True)
class ShardOptions:
    """How a corpus is divided, and who works on it."""

    engine: str = "here"
    workers: Workers = Workers()
    size: int = SIZE  # records of a shard


def run_in_shards(
    request: Request, sharding: ShardOptions, progress: Progress = SILENT
) -> tuple[Summary, list[Failure]]:
    """Extract every shard that is not done. Returns the summary of the whole corpus, and the shards that failed."""
    engine = pick(ENGINES, sharding.engine, kind="engine")
    if not request.into_folder:
        raise BadInput("Shards are written to a folder. Name one with --output, without an ending, such as found.")
    request = _resolved(request)
    inputs, skipped = find_inputs(request.inputs, request.kind, column=request.column, exclude=(request.output,))
    if not inputs:
        raise BadInput(
            f"{request.inputs[0]}: no file in it has a known ending. Name files, or say what they are with --from."
        )
    options = {**request.options, "shard-size": str(sharding.size)}
    open_folder(request.output, describe_run(request.model_folders(), request.inputs, options))
    shards = open_plan(request.output, inputs, sharding.size, request.encoding)
    receipts = {shard.number: read_receipt(request.output, shard) for shard in shards}
    pending = [shard for shard in shards if receipts[shard.number] is None]
    progress.start(len(pending))
    failures: list[Failure] = []
    for outcome in engine(request, pending, sharding.workers):
        progress.advance()
        if isinstance(outcome, Failure):
            failures.append(outcome)
        else:
            receipts[outcome.shard] = outcome
    check_inputs(request.output, inputs)  # they may have changed while they were read
    total = Summary(inputs=len(inputs), skipped=skipped)
    for number in sorted(receipts):
        if receipt := receipts[number]:
            total += receipt.summary
    if not failures:
        _finish(request.output, len(shards), total)
    return total, sorted(failures, key=lambda failure: failure.shard)


def _resolved(request: Request) -> Request:
    """The request with absolute paths, for processes elsewhere."""
    models = tuple(str(Path(name).resolve()) if Path(name).is_dir() else name for name in request.models)
    inputs = tuple(path if str(path) == "-" else path.resolve() for path in request.inputs)
    db = str(Path(request.db).resolve()) if Path(request.db).is_file() else request.db
    linker = str(Path(request.linker).resolve()) if request.linker else ""
    return replace(request, inputs=inputs, output=request.output.resolve(), models=models, db=db, linker=linker)


def _finish(folder: Path, shards: int, total: Summary) -> None:
    with files.write_bytes(folder / DONE) as stream:
        stream.write(orjson.dumps({"shards": shards, **total.to_json()}, option=orjson.OPT_INDENT_2) + b"\n")
