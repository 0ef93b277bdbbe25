"""The work on one shard, in whichever process: read its records, extract, write its file, then its receipt."""

from collections.abc import Iterator
from contextlib import ExitStack
from functools import lru_cache
from typing import TYPE_CHECKING

from factpin import formats
from factpin.documents import Document
from factpin.extraction.linking import linked, names_unseen, store_linker
from factpin.extraction.read import read_inputs
from factpin.extraction.rejects import Rejects
from factpin.extraction.request import RULES, Request
from factpin.extraction.shards import Receipt, Records, Shard, digest, write_receipt
from factpin.extraction.summary import Summary

if TYPE_CHECKING:
    from factpin.models.extractor import Extractor


def extract_shard(request: Request, shard: Shard) -> Receipt:
    """Write the documents of a shard. Doing it twice writes the same bytes."""
    from factpin.extraction.extract import extract  # noqa: PLC0415  (the models' runtime)

    total = Summary()

    def add(one: Summary) -> None:
        nonlocal total
        total += one

    models = load_once(request)
    folder = request.output
    with ExitStack() as stack:
        linker = stack.enter_context(store_linker(request.db, request.linker)) if request.db else None
        rejects = stack.enter_context(Rejects(shard.rejects(folder))) if request.skip_bad else None
        documents = _read(shard.parts, request.encoding, rejects)
        rules = request.coreference == RULES
        found = extract(documents, models, request.min_score, coreference=rules, only=request.only, on_document=add)
        formats.write(linked(found, linker), shard.result(folder))
    total += Summary(rejected=rejects.count if rejects else 0, unseen=names_unseen(linker.judge) if linker else 0)
    receipt = Receipt(shard.number, shard.result(folder).stat().st_size, digest(shard.result(folder)), total)
    write_receipt(folder, shard, receipt)
    return receipt


@lru_cache(maxsize=1)
def load_once(request: Request) -> list["Extractor"]:
    """The models of a request; a process that extracts many shards loads them once."""
    from factpin.extraction.extract import load_models  # noqa: PLC0415  (the models' runtime)

    return load_models(
        request.model_folders(),
        request.on_overflow,
        precision=request.precision,
        device=request.device,
        runtime=request.runtime,
    )


def _read(parts: tuple[Records, ...], encoding: str | None, rejects: Rejects | None) -> Iterator[Document]:
    for part in parts:
        yield from read_inputs([part.input], encoding, rejects, part.lines)
