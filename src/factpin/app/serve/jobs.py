"""Jobs: many texts in the background. They are kept in memory, for a while after they end."""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from factpin.app.serve.extraction import record_of
from factpin.app.serve.limits import Limits
from factpin.app.serve.refusal import Refusal
from factpin.app.serve.service import ReadOptions, Service
from factpin.app.serve.shapes import ExtractOptions
from factpin.documents import Document
from factpin.words import count

AT_ONCE = 16  # documents between two reports of progress
ALIVE = 15.0  # seconds between comments that keep a connection open


@dataclass(eq=False)
class TextJob:
    """Texts that are read in the background, and what was found so far."""

    total: int
    id: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    state: str = "waiting"
    done: int = 0
    message: str = ""  # why it failed
    lines: list[bytes] = field(default_factory=list)
    ended: float = float("inf")
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    task: "asyncio.Task[None] | None" = None

    def record(self) -> dict[str, Any]:
        """What a client sees of it."""
        record = {"id": self.id, "state": self.state, "done": self.done, "total": self.total}
        return {**record, "message": self.message} if self.message else record

    def change(self, state: str, message: str = "") -> None:
        """Go to a state, and wake those who watch."""
        self.state, self.message = state, message
        if state not in ("waiting", "running"):
            self.ended = time.monotonic()
        self.changed.set()
        self.changed = asyncio.Event()

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen."""
        return self.ended < float("inf")


class Jobs:
    """The jobs of a server."""

    def __init__(self, service: Service, limits: Limits) -> None:
        self.service, self.limits = service, limits
        self._jobs: dict[str, TextJob] = {}

    def add(self, documents: Sequence[Document], used: ReadOptions, asked: ExtractOptions, client: str) -> TextJob:
        """Begin a job."""
        old = time.monotonic() - self.limits.job_seconds
        self._jobs = {id: job for id, job in self._jobs.items() if job.ended > old}
        if len(self._jobs) >= self.limits.jobs:
            ended = sorted((job for job in self._jobs.values() if job.is_over), key=lambda job: job.ended)
            if not ended:
                raise Refusal(
                    429, f"{count(self.limits.jobs, 'job is', 'jobs are')} under way. Try again later.", retry=60
                )
            del self._jobs[ended[0].id]
        job = TextJob(len(documents))
        self._jobs[job.id] = job
        job.task = asyncio.create_task(self._run(job, documents, used, asked, client))
        return job

    def get(self, id: str) -> TextJob:
        """The job with this id; 404 if there is none."""
        if id not in self._jobs:
            raise Refusal(404, "There is no such job, or it ended long ago.")
        return self._jobs[id]

    def remove(self, id: str) -> None:
        """Stop and forget a job."""
        job = self.get(id)
        if job.task is not None:
            job.task.cancel()
        job.change("cancelled")
        del self._jobs[id]

    def stop(self) -> None:
        """Stop all jobs."""
        for id in list(self._jobs):
            self.remove(id)

    async def _run(
        self, job: TextJob, documents: Sequence[Document], used: ReadOptions, asked: ExtractOptions, client: str
    ) -> None:
        try:
            for i in range(0, len(documents), AT_ONCE):
                found = await self.service.extract(documents[i : i + AT_ONCE], used, client, patient=True)
                job.lines += [orjson.dumps(record_of(doc, asked)) + b"\n" for doc in found]
                job.done = len(job.lines)
                job.change("running")
            job.change("done")
        except Refusal as refusal:
            job.change("failed", refusal.detail)
        except Exception:
            job.change("failed", "An error in the server.")


async def events(job: TextJob, last: int) -> AsyncIterator[bytes]:
    """Server-sent events: progress until the end. last: what the client has seen already, -1 for nothing."""
    while True:
        changed = job.changed
        name = "end" if job.is_over else "progress"
        if job.done > last or job.is_over:
            yield b"id: %d\nevent: %s\ndata: %s\n\n" % (job.done, name.encode(), orjson.dumps(job.record()))
            last = job.done
        if job.is_over:
            return
        try:
            await asyncio.wait_for(changed.wait(), ALIVE)
        except TimeoutError:
            yield b": alive\n\n"
