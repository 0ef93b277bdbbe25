"""Service: the loaded models behind one queue and one worker thread.

Documents of different requests are read together. What comes out for a document does not depend on which others shared
its batch; if a batch fails, its documents are read again one by one, so only the request with the bad one fails.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from factpin.app.serve.limits import Limits
from factpin.app.serve.queue import BatchPart, Overdue, Queue, QueueFull, Ticket
from factpin.app.serve.refusal import Refusal, refusal_of
from factpin.documents import Document
from factpin.documents.likely import LIKELY
from factpin.errors import BadInput, FactpinError, pick
from factpin.extraction.fingerprint import fingerprint
from factpin.models.settings import Settings, read_settings

if TYPE_CHECKING:
    from factpin.models.extractor import Extractor

STEP = 0.2  # seconds between attempts
PATIENCE = 0.5  # share of the timeout that a request may expect to wait: the machine may become half as fast
NOTHING: Callable[..., None] = lambda *_: None  # noqa: E731


@dataclass(frozen=True)
class ReadOptions:
    """How documents are read. Requests with the same options share batches."""

    models: tuple[str, ...] = ()  # names; none: all of the server
    min_score: float = LIKELY
    coreference: bool = False
    on_overflow: Literal["window", "error"] = "window"
    mark_unsure: bool = False


class Service:
    """Models that many clients use at once. on_batch: is called with each batch, its wait and its seconds. on_failure:
    is called with an error after which no more is read."""

    def __init__(self, folders: Sequence[Path], limits: Limits, device: str = "cpu", precision: str = "auto") -> None:
        self.folders = {folder.name: folder for folder in folders}
        if len(self.folders) < len(folders):
            raise BadInput("Two of the models have the same name. Rename a folder.")
        self.settings: dict[str, Settings] = {name: read_settings(folder) for name, folder in self.folders.items()}
        self.fingerprints = dict(fingerprint(folder).split(":") for folder in folders)
        self.limits, self.device, self.precision = limits, device, precision
        self.on_batch: Callable[[Sequence[Document], float, float], None] = NOTHING
        self.on_failure: Callable[[Exception], None] = NOTHING
        self.failure = ""  # why no more is read
        self.queue = Queue(
            limits.batch_characters, limits.waiting_requests, limits.waiting_characters, limits.timeout * PATIENCE
        )
        self._models: dict[tuple[str, str], Extractor] = {}
        self._loaded = threading.Event()
        self._worker = threading.Thread(target=self._work, name="models", daemon=True)

    @property
    def ready(self) -> bool:
        """Whether the models are loaded and requests are taken."""
        return self._loaded.is_set() and not self.failure and self._worker.is_alive()

    def start(self) -> None:
        """Load the models and begin to read."""
        self._worker.start()

    def stop(self, seconds: float) -> None:
        """Read what waits, for at most so many seconds."""
        self.queue.close()
        self._worker.join(seconds)

    def choose(self, names: Sequence[str]) -> tuple[str, ...]:
        """The models of these names, in the order of the server; none: all of them."""
        for name in names:
            pick(self.folders, name, kind="model")
        wanted = {name if name in self.folders else name.replace("_", "-") for name in names}
        return tuple(name for name in self.folders if not wanted or name in wanted)

    async def extract(
        self, documents: Sequence[Document], options: ReadOptions, client: str = "", *, patient: bool = False
    ) -> list[Document]:
        """The documents with what the models find in them. patient: wait for room, and then for any time."""
        if not self.ready:
            reason = self.failure or "The models are still being loaded."
            raise Refusal(503, reason, retry=5)
        if not documents:
            return []
        ticket = Ticket(documents, options, client)
        while not self._put(ticket, patient):
            await asyncio.sleep(STEP)
        seconds = self.limits.job_seconds if patient else self.limits.timeout
        timer = asyncio.get_running_loop().call_later(seconds, self._expire, ticket)
        try:
            return await asyncio.wrap_future(ticket.future)
        except Overdue:
            message = f"The request waited for {seconds:g} seconds. Try again later."
            raise Refusal(503, message, retry=self.queue.retry_after()) from None
        finally:
            timer.cancel()
            self.queue.drop(ticket)

    def _put(self, ticket: Ticket, patient: bool) -> bool:
        try:
            self.queue.put(ticket)
        except QueueFull as full:
            if patient:
                return False
            message = "The server has no room for more requests now. Try again later."
            raise Refusal(429, message, retry=full.retry) from None
        return True

    def _expire(self, ticket: Ticket) -> None:
        if self.queue.drop(ticket, untouched=True):  # what is being read is finished
            ticket.fail(Overdue())

    def _work(self) -> None:
        try:
            self._load()
            self._loaded.set()
            while parts := self.queue.take():
                started = time.monotonic()
                self._read_batch(parts)
                seconds = time.monotonic() - started
                documents = [part.document for part in parts]
                self.queue.worked(documents, seconds)
                self.on_batch(documents, started - min(part.ticket.arrived for part in parts), seconds)
        except Exception as error:
            known = isinstance(error, FactpinError)
            self.failure = str(error) if known else "The models cannot be used. The log of the server has the error."
            self.on_failure(error)
        finally:
            self._loaded.set()

    def _load(self) -> None:
        from factpin.extraction.extract import load_models  # noqa: PLC0415  (heavy)

        loaded = load_models(list(self.folders.values()), device=self.device, precision=self.precision)
        for name, model in zip(self.folders, loaded, strict=True):
            model.warm()
            self._models[name, "window"] = model
            self._models[name, "error"] = replace(model, on_overflow="error")
        first = [Document("d0", "谷爱凌出生于旧金山。Marie Curie was born in Warsaw.")]
        for _ in range(2):  # the first time takes longer
            started = time.monotonic()
            list(self._read(first, ReadOptions()))
        self.queue.worked(first, time.monotonic() - started)

    def _read(self, documents: Sequence[Document], options: ReadOptions) -> Iterator[Document]:
        from factpin.extraction.extract import extract  # noqa: PLC0415  (heavy)

        names = options.models or tuple(self.folders)
        models = [self._models[name, options.on_overflow] for name in names]
        return extract(
            documents, models, options.min_score, coreference=options.coreference, mark_unsure=options.mark_unsure
        )

    def _read_batch(self, parts: Sequence[BatchPart]) -> None:
        options = parts[0].ticket.options
        try:
            results = list(self._read([part.document for part in parts], options))  # type: ignore[arg-type]
        except Exception as error:
            if len(parts) > 1:
                for part in parts:
                    if not part.ticket.future.done():
                        self._read_batch([part])
            else:
                part = parts[0]
                part.ticket.fail(refusal_of(error, f"[{part.index}]") if isinstance(error, FactpinError) else error)
            return
        for part, doc in zip(parts, results, strict=True):
            part.ticket.finish(part.index, doc)
