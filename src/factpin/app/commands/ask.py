"""`factpin ask`: an answer with citations, or none where nothing is certain enough. Only a reader needs torch."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import orjson

from factpin.app.commands._options import json_option, runtime_option, score_option
from factpin.app.commands._store import as_of_option, db_option, open_db
from factpin.app.console import Names, out, print_json
from factpin.documents.answer import answer_to_json
from factpin.errors import BadInput, BadRecord
from factpin.files import write_bytes

if TYPE_CHECKING:
    from factpin.answers.ask import Mode, Trace
    from factpin.answers.passages import PassageReader
    from factpin.answers.reasoners import Reasoner
    from factpin.memory import Store

MODES = ["auto", "facts", "extract", "hops", "generate", "memory"]


@click.command()
@click.argument("question", metavar="QUESTION|-")
@db_option
@click.option(
    "--mode",
    type=Names("mode", MODES),
    default="auto",
    show_default=True,
    metavar="|".join(MODES),
    help="Where to look: in facts, in passages (extract), in passages and those they lead to (hops), or in all; or "
    "write an answer from passages (generate), or let a model look up facts (memory).",
)
@click.option("--k", type=click.IntRange(1, 1000), default=8, show_default=True, help="Number of passages to look at.")
@as_of_option
@score_option(
    "Abstain where the best answer is less likely.  [default: 0.5 for facts; for what is read from passages, the score "
    "that was fitted for the reader]",
    default=None,
)
@click.option(
    "--reader",
    "reader_name",
    metavar="NAME|FOLDER|none",
    help="What reads answers from passages.  [default: en-reader or zh-reader, by the language of the question]",
)
@click.option(
    "--judge",
    "judge_name",
    metavar="FOLDER",
    help="A judge (`factpin train judge`): documents longer than a passage are read by the blocks that it keeps.",
)
@click.option(
    "--hops",
    "hops_name",
    metavar="FOLDER",
    help="For --mode hops: a model of hops (`factpin train hops`).  [default: follow titles]",
)
@click.option(
    "--generator",
    "generator_name",
    metavar="FOLDER",
    help="For --mode generate: what writes answers (`factpin train generator`).",
)
@click.option(
    "--graph",
    "graph_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="With --mode hops --hops FOLDER: write what was read, and why, as .json or .graphml.",
)
@click.option(
    "--memory",
    "memory_name",
    metavar="FOLDER",
    help="For --mode memory: a model that reads the facts of the store (`factpin pretrain --objective fae`).",
)
@runtime_option
@click.option(
    "--precision",
    type=click.Choice(["float32", "int8"]),
    default="float32",
    show_default=True,
    help="How the reader computes: int8 is faster and changes some answers.",
)
@click.option("--explain", is_flag=True, help="Show what was searched, and why the answer was chosen.")
@json_option
def ask(
    question: str,
    db: str | None,
    mode: "Mode",
    k: int,
    as_of: str | None,
    min_score: float | None,
    reader_name: str | None,
    judge_name: str | None,
    hops_name: str | None,
    generator_name: str | None,
    graph_file: Path | None,
    memory_name: str | None,
    runtime: str,
    precision: str,
    explain: bool,
    as_json: bool,
) -> int:
    """Ask a store. Every answer cites the texts it comes from. The exit code is 1 where there is no answer.

    With `-`, questions are read from standard input as JSONL, one {"question": …} per line, and one JSON object per
    line is written.

    \b
    factpin ask "谷爱凌出生在哪里？" --db kb.db
    factpin ask "When was the director of Ed Wood born?" --db kb.db --explain
    """
    from factpin.answers.ask import trace
    from factpin.app.show.answer_tree import answer_text, explanation
    from factpin.models.embedders import search_of
    from factpin.models.readers import find_readers

    _check_words(question, mode, judge_name, hops_name, graph_file)
    reader: PassageReader | None = find_readers(reader_name, runtime=runtime, precision=precision)
    reasoners = _reasoners(mode, hops_name, generator_name, memory_name)
    with open_db(db) as store:
        search = search_of(store, runtime)
        if judge_name is not None:
            reader = _long(reader, judge_name, store)
        if question == "-":
            abstained = False
            for one, more in _questions():
                searched = trace(
                    one, store, mode, min_score, k, as_of, reader=reader, search=search, reasoners=reasoners
                )
                sys.stdout.buffer.write(orjson.dumps({**more, **_record(searched, as_of)}) + b"\n")
                sys.stdout.buffer.flush()
                abstained |= searched.answer.abstained
            return int(abstained)
        searched = trace(question, store, mode, min_score, k, as_of, reader=reader, search=search, reasoners=reasoners)
    if graph_file is not None:
        _write_graph(searched, graph_file)
    if as_json:
        print_json(_record(searched, as_of))
    else:
        # a tree is wrapped to the width of the terminal; an answer stays on one line
        out().print(explanation(searched) if explain else answer_text(searched.answer), soft_wrap=not explain)
    return int(searched.answer.abstained)


def _check_words(question: str, mode: str, judge: str | None, hops: str | None, graph: Path | None) -> None:
    """Refuse options that would change nothing, before any model is loaded."""
    if judge is not None and (mode in ("facts", "generate", "memory") or hops is not None):
        raise BadInput("--judge is for what a reader reads. Ask with --mode auto, extract, or hops without --hops.")
    if graph is None:
        return
    if hops is None:
        raise BadInput("--graph needs a model of hops. Ask with --mode hops --hops FOLDER.")
    if question == "-":
        raise BadInput("--graph is for a single question. With `-`, every line of the output has its graph.")
    if graph.suffix not in (".json", ".graphml"):
        raise BadInput(f"{graph}: expected a file that ends in .json or .graphml.")


def _reasoners(mode: str, hops: str | None, generator: str | None, memory: str | None) -> "dict[str, Reasoner]":
    """The ways to answer that need a model of their own."""
    options = (("--hops", "hops", hops), ("--generator", "generate", generator), ("--memory", "memory", memory))
    for name, of, given in options:
        if given is not None and mode != of:
            raise BadInput(f"{name} has no meaning with --mode {mode}. Ask with --mode {of}, or leave it out.")
    if memory is not None:
        from factpin.models.memory_folder import MemoryReasoner, load_memory

        return {"memory": MemoryReasoner(load_memory(memory))}
    if hops is not None:
        from factpin.answers.cogqa_ask import HopReasoner
        from factpin.models.hops_folder import load_hops

        return {"hops": HopReasoner(load_hops(hops))}
    if generator is not None:
        from factpin.answers.rag_ask import RagReasoner
        from factpin.models.generator_folder import load_writer

        return {"generate": RagReasoner(load_writer(generator))}
    return {}


def _write_graph(searched: "Trace", path: Path) -> None:
    """Write the cognitive graph of an answer."""
    from factpin.answers.cogqa import CognitiveGraph, graph_to_graphml, graph_to_json

    graph = searched.graph or CognitiveGraph()
    graphml = path.suffix == ".graphml"
    with write_bytes(path) as stream:
        stream.write(graph_to_graphml(graph).encode() if graphml else orjson.dumps(graph_to_json(graph)))


def _long(reader: "PassageReader | None", judge: str, store: "Store") -> "PassageReader":
    """A reader that reads whole documents by what a judge keeps of them."""
    from factpin.answers.cogltx_reader import LongReader
    from factpin.models.judge_folder import load_judge

    if reader is None:
        raise BadInput("--judge needs a reader, and there is none. Name one with --reader.")

    def text_of(document: str) -> str:
        uri = store.uris([document]).get(document)  # None if another process has removed it meanwhile
        return store.document(uri)[0].text if uri is not None else ""

    return LongReader(reader, load_judge(judge), text_of)


def _record(searched: "Trace", as_of: str | None) -> dict[str, Any]:
    passages = searched.retrieval.passages if searched.retrieval else ()
    hops = len(searched.retrieval.hops) if searched.retrieval else 0
    counts = {"passages": len(passages), "read": searched.read, "hops": hops}
    record = {**answer_to_json(searched.answer), "as_of": as_of, "searched": counts}
    if searched.graph is None:
        return record
    from factpin.answers.cogqa import graph_to_json

    return {**record, "graph": graph_to_json(searched.graph)}


def _questions() -> Iterator[tuple[str, dict[str, Any]]]:
    """The questions in standard input, each with its id, if it has one."""
    for number, line in enumerate(sys.stdin.buffer, start=1):
        if not line.strip():
            continue
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise BadRecord(
                f'not JSON ({error}); expected one {{"question": …}} per line', file="stdin", line=number
            ) from None
        if not isinstance(record, dict) or not isinstance(record.get("question"), str):
            raise BadRecord('expected {"question": …}', file="stdin", line=number, field="question")
        yield record["question"], {"id": record["id"]} if "id" in record else {}
