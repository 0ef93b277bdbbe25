"""The documents that wait for the models, in batches for one worker thread. Knows no model and no HTTP.

While the worker reads a batch, requests gather; the next batch takes the oldest of them, all with the same options.
Clients that were answered together tend to ask again within milliseconds of each other. So after a batch of several
requests, the next one waits until as many have come, or for a small part of the time that the last batch took. After a
request that came alone nothing waits: a single user never waits for others.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from factpin.documents import Document

RECENT = 30.0  # seconds of work that the rate is measured over
GATHER = 0.2  # of the time that the last batch took: how long the next one may wait for requests
LONGEST_GATHER = 0.1  # seconds


class QueueFull(Exception):
    """There is no room for a request now. retry: seconds until there may be."""

    def __init__(self, retry: float) -> None:
        super().__init__(f"full for {retry:.0f} s")
        self.retry = retry


class Overdue(Exception):
    """A request waited for too long."""


@dataclass(eq=False)
class Ticket:
    """The documents of one request, and what was found in them so far."""

    documents: Sequence[Document]
    options: Hashable
    client: str = ""
    arrived: float = field(default_factory=time.monotonic)
    future: Future[list[Document]] = field(default_factory=Future)
    taken: int = 0  # documents that a batch has
    found: dict[int, Document] = field(default_factory=dict)

    @property
    def waiting(self) -> int:
        """The characters that no batch has yet."""
        return sum(len(doc.text) for doc in self.documents[self.taken :])

    def finish(self, index: int, doc: Document) -> None:
        """Keep one result; with the last one, the request is answered."""
        self.found[index] = doc
        if len(self.found) == len(self.documents) and not self.future.done():
            self.future.set_result([self.found[i] for i in range(len(self.documents))])

    def fail(self, error: BaseException) -> None:
        """Answer the request with an error."""
        if not self.future.done():
            self.future.set_exception(error)


@dataclass(frozen=True)
class BatchPart:
    """One document of a request, as part of a batch."""

    ticket: Ticket
    index: int

    @property
    def document(self) -> Document:
        """The document."""
        return self.ticket.documents[self.index]


class Queue:
    """Requests in the order of their arrival.

    budget: characters of a batch. requests, characters: how many may wait. longest: seconds that a request may expect
    to wait until it is read, at the measured rate; None for any.
    """

    def __init__(
        self,
        budget: int,
        requests: int,
        characters: int,
        longest: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.budget, self.requests, self.characters, self.longest = budget, requests, characters, longest
        self._clock = clock
        self._tickets: deque[Ticket] = deque()
        self._waiting = 0  # characters
        self._work: deque[tuple[float, int, float]] = deque()  # (when, characters, seconds) of recent batches
        self._closed = False
        self._changed = threading.Condition()
        self._together, self._until = 1, 0.0  # requests in the last batch, and until when their clients may ask again
        self._reading, self._since = 0, 0.0  # characters of the batch under way, and since when

    def put(self, ticket: Ticket) -> None:
        """Add a request; QueueFull if there is no room, or it would wait for too long. A request of any size fits into
        an empty queue."""
        size = ticket.waiting
        with self._changed:
            if self._closed:
                raise QueueFull(1.0)
            full = len(self._tickets) >= self.requests or self._waiting + size > self.characters
            late = self.longest is not None and self._expected() > self.longest
            if (self._tickets and full) or late:
                raise QueueFull(max(1.0, self._expected()))
            self._tickets.append(ticket)
            self._waiting += size
            self._changed.notify()

    def take(self) -> list[BatchPart]:
        """Wait for documents and take a batch of them; empty once the queue is closed and has none left."""
        with self._changed:
            while True:
                self._drop_answered()
                if self._tickets and self._gathered():
                    return self._batch()
                if self._closed and not self._tickets:
                    return []
                if not self._tickets:
                    self._changed.wait()

    def drop(self, ticket: Ticket, *, untouched: bool = False) -> bool:
        """Take a request out; whether it was there. untouched: only if no batch has any of it."""
        with self._changed:
            if ticket not in self._tickets or (untouched and ticket.taken):
                return False
            self._tickets.remove(ticket)
            self._waiting -= ticket.waiting
            return True

    def close(self) -> None:
        """Take no more requests. Those that wait are still taken."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def worked(self, characters: int, seconds: float) -> None:
        """Note how long a batch took."""
        with self._changed:
            now = self._clock()
            self._work.append((now, characters, seconds))
            self._until = now + min(GATHER * seconds, LONGEST_GATHER)
            self._reading = 0
            while self._work and self._work[0][0] < now - RECENT:
                self._work.popleft()

    def state(self) -> tuple[int, int]:
        """How many requests and characters wait."""
        with self._changed:
            return len(self._tickets), self._waiting

    def retry_after(self) -> float:
        """Seconds until what waits now is read."""
        with self._changed:
            return max(1.0, self._expected())

    def _expected(self) -> float:
        """Seconds until what waits now is read, after the batch under way; that one counts towards the rate as soon
        as it takes longer than others did."""
        characters, seconds = sum(work[1] for work in self._work), sum(work[2] for work in self._work)
        running = self._clock() - self._since if self._reading else 0.0
        if characters and running * characters > self._reading * seconds:
            characters, seconds = characters + self._reading, seconds + running
        pace = seconds / max(1, characters)
        return max(0.0, self._reading * pace - running) + self._waiting * pace

    def _gathered(self) -> bool:
        """Whether nothing more is worth waiting for; otherwise waits a moment for the clients of the last batch."""
        left = self._until - self._clock()
        if self._closed or len(self._tickets) >= self._together or self._waiting >= self.budget or left <= 0:
            return True
        self._changed.wait(left)
        return False

    def _drop_answered(self) -> None:
        """Forget requests that nobody waits for any more."""
        gone = [ticket for ticket in self._tickets if ticket.future.done()]
        for ticket in gone:
            self._tickets.remove(ticket)
            self._waiting -= ticket.waiting

    def _batch(self) -> list[BatchPart]:
        """Documents with the options of the oldest request, oldest first. A client has at most a quarter of a batch
        while others wait for the same one. Where the oldest that is left does not fit, the batch ends, so that later
        ones cannot overtake it again and again."""
        options = self._tickets[0].options
        fitting = [ticket for ticket in self._tickets if ticket.options == options]
        several = len({ticket.client for ticket in fitting}) > 1
        parts: list[BatchPart] = []
        total = 0
        full = False
        for share in [self.budget // 4, self.budget] if several else [self.budget]:
            by_client: dict[str, int] = {}
            for ticket in fitting:
                while ticket.taken < len(ticket.documents) and not full:
                    size = len(ticket.documents[ticket.taken].text) + 1
                    used = by_client.get(ticket.client, 0)
                    full = bool(parts) and total + size > self.budget
                    if full or (parts and used + size > share):
                        break
                    parts.append(BatchPart(ticket, ticket.taken))
                    ticket.taken += 1
                    total += size
                    self._waiting -= size - 1
                    by_client[ticket.client] = used + size
        self._tickets = deque(ticket for ticket in self._tickets if ticket.taken < len(ticket.documents))
        self._together = len({id(part.ticket) for part in parts})
        self._reading, self._since = total, self._clock()
        return parts
