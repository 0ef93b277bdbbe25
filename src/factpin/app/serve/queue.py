"""The documents that wait for the models, in batches for one worker thread. Knows no model and no HTTP.

Clients share the models fairly (start-time fair queueing). A document costs its characters and a constant. The turn of
a document is the cost of what its client asked for before, counted from where the queue is when the client comes;
documents are read in the order of their turns. So a client that asks for much waits for itself, and others pass. How
long a request will wait follows from the same order: it is the cost of the turns before its own, at the rate of recent
batches, after the batch under way.

While the worker reads a batch, requests gather; the next batch takes the first of them, all with the same options.
Clients that were answered together tend to ask again within milliseconds of each other. So after a batch of several
requests, the next one waits until as many have come, or for a small part of the time that the last batch took. After a
request that came alone nothing waits: a single user never waits for others.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from heapq import heapify, heappop, heapreplace

from factpin.documents import Document

RECENT = 30.0  # seconds of work that the rate is measured over
GATHER = 0.2  # of the time that the last batch took: how long the next one may wait for requests
LONGEST_GATHER = 0.1  # seconds
OVERHEAD = 80  # characters that take as long as what every text costs, however short


class QueueFull(Exception):
    """There is no room for a request now. retry: seconds until there may be."""

    def __init__(self, retry: float) -> None:
        super().__init__(f"full for {retry:.0f} s")
        self.retry = retry


class Overdue(Exception):
    """A request waited for too long."""


def cost(doc: Document) -> int:
    """How long a document takes, in characters."""
    return len(doc.text) + OVERHEAD


@dataclass(eq=False)
class Ticket:
    """The documents of one request, and what was found in them so far."""

    documents: Sequence[Document]
    options: Hashable
    client: str = ""
    arrived: float = field(default_factory=time.monotonic)
    future: Future[list[Document]] = field(default_factory=Future)
    taken: int = 0  # documents that a batch has
    turn: int = 0  # of the first document that no batch has
    found: dict[int, Document] = field(default_factory=dict)
    left: int = field(init=False)  # the cost of the documents that no batch has

    def __post_init__(self) -> None:
        self.left = sum(map(cost, self.documents))

    @property
    def waiting(self) -> int:
        """The characters that no batch has yet."""
        return sum(len(doc.text) for doc in self.documents[self.taken :])

    def before(self, turn: float) -> float:
        """The cost of its documents that are read before one with this turn that comes now."""
        return 0 if self.turn > turn else min(self.left, turn - self.turn + cost(self.documents[self.taken]))

    def finish(self, index: int, doc: Document) -> None:
        """Keep one result; with the last one, the request is answered."""
        self.found[index] = doc
        if len(self.found) == len(self.documents):
            with suppress(InvalidStateError):  # the client has gone away
                self.future.set_result([self.found[i] for i in range(len(self.documents))])

    def fail(self, error: BaseException) -> None:
        """Answer the request with an error."""
        with suppress(InvalidStateError):
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
    """Requests in the order of their turns.

    budget: characters of a batch. requests, characters: how many may wait. longest: seconds that a request may expect
    to wait until its first document is read; None for any.
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
        self._turn = 0  # of the first document of the last batch
        self._next: dict[str, int] = {}  # the turn of the next document of each client that is ahead of that
        self._work: deque[tuple[float, int, float]] = deque()  # (when, cost, seconds) of recent batches
        self._closed = False
        self._changed = threading.Condition()
        self._together, self._until = 1, 0.0  # requests in the last batch, and until when their clients may ask again
        self._reading, self._since = 0, 0.0  # cost of the batch under way, and since when

    def put(self, ticket: Ticket) -> None:
        """Add a request; QueueFull if there is no room, or it would wait for too long. A request of any size fits into
        an empty queue."""
        size = ticket.waiting
        with self._changed:
            if self._closed:
                raise QueueFull(1.0)
            turn = max(self._turn, self._next.get(ticket.client, 0))
            if self._tickets and (len(self._tickets) >= self.requests or self._waiting + size > self.characters):
                raise QueueFull(self._expected())
            wait = self._expected(turn)
            if self.longest is not None and wait > self.longest:
                raise QueueFull(wait)
            ticket.turn, self._next[ticket.client] = turn, turn + ticket.left
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
            self._remove(ticket)
            return True

    def close(self) -> None:
        """Take no more requests. Those that wait are still taken."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def worked(self, documents: Sequence[Document], seconds: float) -> None:
        """Note how long a batch took."""
        with self._changed:
            now = self._clock()
            self._work.append((now, sum(map(cost, documents)), seconds))
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
            return self._expected()

    def _expected(self, turn: float = float("inf")) -> float:
        """Seconds until a document with this turn would be read, or until all are."""
        done, seconds = sum(work[1] for work in self._work), sum(work[2] for work in self._work)
        running = self._clock() - self._since if self._reading else 0.0
        if not done or running * done > self._reading * seconds:  # counts as soon as it takes longer than others did
            done, seconds = done + self._reading, seconds + running
        pace = seconds / max(1, done)
        ahead = sum(ticket.before(turn) for ticket in self._tickets)
        return max(0.0, self._reading * pace - running) + ahead * pace

    def _gathered(self) -> bool:
        """Whether nothing more is worth waiting for; otherwise waits a moment for the clients of the last batch."""
        left = self._until - self._clock()
        if self._closed or len(self._tickets) >= self._together or self._waiting >= self.budget or left <= 0:
            return True
        self._changed.wait(left)
        return False

    def _drop_answered(self) -> None:
        """Forget requests that nobody waits for any more."""
        for ticket in [ticket for ticket in self._tickets if ticket.future.done()]:
            self._remove(ticket)

    def _remove(self, ticket: Ticket) -> None:
        """Take a request out. If it is the last one of its client, the next one gets its turn."""
        self._tickets.remove(ticket)
        self._waiting -= ticket.waiting
        others = (other.turn + other.left for other in self._tickets if other.client == ticket.client)
        self._next[ticket.client] = max(others, default=ticket.turn)

    def _batch(self) -> list[BatchPart]:
        """Documents with the options of the first request, by their turns. Where the next one does not fit, the batch
        ends, so that shorter ones cannot overtake it again and again."""
        first = min(self._tickets, key=lambda ticket: ticket.turn)
        self._turn = first.turn
        order = [(t.turn, i, t) for i, t in enumerate(self._tickets) if t.options == first.options]
        heapify(order)
        parts: list[BatchPart] = []
        total = 0
        while order:
            _, i, ticket = order[0]
            doc = ticket.documents[ticket.taken]
            size = len(doc.text) + 1
            if parts and total + size > self.budget:
                break
            parts.append(BatchPart(ticket, ticket.taken))
            ticket.taken, ticket.turn, ticket.left = ticket.taken + 1, ticket.turn + cost(doc), ticket.left - cost(doc)
            total += size
            self._waiting -= size - 1
            if ticket.left:
                heapreplace(order, (ticket.turn, i, ticket))
            else:
                heappop(order)
        self._tickets = deque(ticket for ticket in self._tickets if ticket.left)
        ahead = self._next if self._tickets else {}
        self._next = {client: turn for client, turn in ahead.items() if turn > self._turn}
        self._together = len({id(part.ticket) for part in parts})
        self._reading, self._since = sum(cost(part.document) for part in parts), self._clock()
        return parts
