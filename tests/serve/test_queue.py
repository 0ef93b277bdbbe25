"""The queue and the worker, without HTTP."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from threading import Thread
from typing import Any

import pytest

from factpin.app.serve.limits import Limits
from factpin.app.serve.queue import Queue, QueueFull, Ticket
from factpin.app.serve.service import ReadOptions, Service
from factpin.documents import Document
from factpin.errors import BadInput


def ticket(*sizes: int, options: str = "", client: str = "") -> Ticket:
    return Ticket([Document(f"d{i}", "x" * size) for i, size in enumerate(sizes)], options, client)


def test_a_batch_has_one_kind_of_options_and_keeps_the_order() -> None:
    queue = Queue(1000, 10, 10_000)
    a, b, c = ticket(10, 10, options="a"), ticket(10, options="b"), ticket(10, options="a")
    for one in (a, b, c):
        queue.put(one)
    assert [(part.ticket, part.index) for part in queue.take()] == [(a, 0), (a, 1), (c, 0)]
    assert [part.ticket for part in queue.take()] == [b]
    assert queue.state() == (0, 0)


def test_a_document_larger_than_the_budget_is_a_batch_of_its_own() -> None:
    queue = Queue(100, 10, 10_000)
    queue.put(ticket(50, 500, 10))
    assert [[part.index for part in queue.take()] for _ in range(3)] == [[0], [1], [2]]


def test_no_client_fills_a_batch_while_others_wait() -> None:
    queue = Queue(400, 100, 100_000)
    greedy, modest = ticket(*[49] * 20, client="greedy"), ticket(49, client="modest")
    queue.put(greedy)
    queue.put(modest)
    batch = queue.take()
    assert [part.ticket for part in batch].count(modest) == 1
    assert sum(len(part.document.text) + 1 for part in batch) <= 400


def test_short_requests_do_not_overtake_a_long_one_that_does_not_fit() -> None:
    queue = Queue(100, 10, 10_000)
    first, long, short = ticket(60), ticket(60), ticket(10)
    for one in (first, long, short):
        queue.put(one)
    assert [[part.ticket for part in queue.take()] for _ in range(2)] == [[first], [long, short]]


def test_a_full_queue_says_when_to_come_back_and_an_empty_one_takes_all() -> None:
    queue = Queue(100, 2, 1000, longest=10.0)
    queue.worked(100, 1.0)
    queue.put(ticket(5000))
    with pytest.raises(QueueFull) as full:
        queue.put(ticket(1))
    assert full.value.retry == 50
    queue.take()
    with pytest.raises(QueueFull):  # behind a batch that takes 50 seconds
        queue.put(ticket(1))
    queue.worked(5000, 50.0)
    queue.put(ticket(1))
    queue.put(ticket(1))
    with pytest.raises(QueueFull):
        queue.put(ticket(1))


def test_a_request_alone_never_waits_for_others() -> None:
    queue = Queue(1000, 10, 10_000, clock=lambda: 0.0)  # time does not pass: waiting would not end
    for _ in range(3):
        queue.put(ticket(10))
        assert len(queue.take()) == 1
        queue.worked(10, 1.0)


def test_clients_that_were_answered_together_are_read_together_again() -> None:
    queue = Queue(1000, 10, 10_000, clock=lambda: 0.0)
    for _ in range(3):
        queue.put(ticket(10))
    assert len(queue.take()) == 3
    queue.worked(30, 1.0)
    batches: list[int] = []
    worker = Thread(target=lambda: batches.append(len(queue.take())))
    worker.start()
    for _ in range(3):
        queue.put(ticket(10))
    worker.join(10)
    assert batches == [3]


def test_those_who_do_not_come_again_are_not_waited_for() -> None:
    queue = Queue(1000, 10, 10_000)
    for _ in range(3):
        queue.put(ticket(10))
    assert len(queue.take()) == 3
    queue.worked(30, 0.1)
    queue.put(ticket(10))
    assert len(queue.take()) == 1


def test_requests_that_nobody_waits_for_are_not_read() -> None:
    queue = Queue(100, 10, 1000)
    gone, here = ticket(10), ticket(20)
    queue.put(gone)
    queue.put(here)
    gone.future.cancel()
    assert [part.ticket for part in queue.take()] == [here]
    queue.close()
    assert queue.take() == []


class Fragile(Service):
    """A service whose model fails at one text."""

    def _load(self) -> None:
        pass

    def _read(self, documents: Sequence[Document], options: ReadOptions) -> Iterator[Document]:
        for doc in documents:
            if doc.text == "bad":
                raise BadInput("bad text")
            if doc.text == "bug":
                raise RuntimeError("a bug")
            yield doc


def test_one_bad_text_fails_its_own_request_only() -> None:
    service = Fragile([], Limits())

    async def run() -> list[Any]:
        texts = ["fine", "bad", "bug", *map(str, range(17))]
        wanted = [service.extract([Document("d0", text)], ReadOptions()) for text in texts]
        service.start()
        while not service.ready:
            await asyncio.sleep(0.01)
        return await asyncio.gather(*wanted, return_exceptions=True)

    results = asyncio.run(run())
    service.stop(5)
    assert (results[1].status_code, results[1].field) == (422, "[0]")
    assert isinstance(results[2], RuntimeError)
    assert [result[0].text for i, result in enumerate(results) if i not in (1, 2)] == ["fine", *map(str, range(17))]


def test_a_batch_that_takes_longer_than_others_counts_at_once() -> None:
    now = [0.0]
    queue = Queue(100, 10, 10_000, clock=lambda: now[0])
    queue.put(ticket(99))
    assert len(queue.take()) == 1
    queue.worked(100, 1.0)
    queue.put(ticket(99))
    assert len(queue.take()) == 1
    queue.put(ticket(100))
    assert queue.retry_after() == pytest.approx(2.0)  # both at the rate of the first
    now[0] = 9.0
    assert queue.retry_after() == pytest.approx(5.0)  # 100 characters at 10 seconds for 200


def test_a_request_that_is_half_read_when_its_time_is_over_is_finished() -> None:
    limits = Limits(timeout=0.3, batch_characters=10)

    class Slow(Fragile):
        def _read(self, documents: Sequence[Document], options: ReadOptions) -> Iterator[Document]:
            time.sleep(0.2)
            return super()._read(documents, options)

    service = Slow([], limits)
    service.start()

    async def run() -> list[Document]:
        while not service.ready:
            await asyncio.sleep(0.01)
        asking = service.extract([Document(f"d{i}", "x" * 9) for i in range(4)], ReadOptions())
        return await asyncio.wait_for(asking, 10)

    assert len(asyncio.run(run())) == 4
    service.stop(5)


def test_a_request_that_waits_too_long_gets_503() -> None:
    service = Fragile([], Limits(timeout=0.05))
    service._loaded.set()  # but no worker

    async def run() -> Any:
        return await asyncio.gather(service.extract([Document("d0", "x")], ReadOptions()), return_exceptions=True)

    (refused,) = asyncio.run(run())
    assert refused.status_code == 503 and refused.headers["Retry-After"]
    assert service.queue.state() == (0, 0)
