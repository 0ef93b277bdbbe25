"""The queue and the worker, without HTTP."""

import asyncio
import random
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from threading import Thread
from typing import Any

import pytest

from factpin.app.serve.limits import Limits
from factpin.app.serve.queue import OVERHEAD, BatchPart, Queue, QueueFull, Ticket, cost
from factpin.app.serve.refusal import Refusal
from factpin.app.serve.service import ReadOptions, Service
from factpin.documents import Document
from factpin.errors import BadInput
from factpin.models.shipped import choose_models


def ticket(*sizes: int, options: str = "", client: str = "") -> Ticket:
    return Ticket([Document(f"d{i}", "x" * size) for i, size in enumerate(sizes)], options, client)


def costing(*costs: int, client: str = "") -> Ticket:
    """A request for documents that cost so much."""
    return ticket(*(number - OVERHEAD for number in costs), client=client)


class Reading:
    """A queue whose batches take a second per so much of cost."""

    def __init__(self, pace: int, longest: float | None = 15.0, budget: int = 8000) -> None:
        self.now, self.pace = 0.0, pace
        self.queue = Queue(budget, 10_000, 100_000_000, longest, clock=lambda: self.now)

    def seconds(self, parts: Sequence[BatchPart]) -> float:
        return sum(cost(part.document) for part in parts) / self.pace

    def end(self, parts: Sequence[BatchPart]) -> None:
        """The end of a batch that began just now."""
        self.now += self.seconds(parts)
        self.queue.worked([part.document for part in parts], self.seconds(parts))

    def until(self, wanted: Ticket) -> float:
        """Seconds until a batch has the first document of a request."""
        began = self.now
        while True:
            parts = self.queue.take()
            if any(part.ticket is wanted for part in parts):
                return self.now - began
            self.end(parts)


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
    queue.worked(costing(100).documents, 1.0)
    queue.put(costing(5000))
    with pytest.raises(QueueFull) as full:
        queue.put(costing(100))
    assert full.value.retry == 50
    queue.take()
    with pytest.raises(QueueFull):  # behind a batch that takes 50 seconds
        queue.put(costing(100))
    queue.worked(costing(5000).documents, 50.0)
    queue.put(ticket(1))
    queue.put(ticket(1))
    with pytest.raises(QueueFull):
        queue.put(ticket(1))


def test_a_long_text_after_short_ones_keeps_nobody_out() -> None:
    now = [0.0]
    queue = Queue(8000, 512, 4_000_000, 15.0, clock=lambda: now[0])
    for _ in range(20):
        queue.put(ticket(3))
        parts = queue.take()
        now[0] += 0.024
        queue.worked([part.document for part in parts], 0.024)
    queue.put(ticket(20_000, client="long"))  # takes about 7 seconds
    queue.take()
    now[0] += 0.3
    queue.put(ticket(3, client="short"))
    assert queue.retry_after() < 10


@pytest.mark.parametrize("size", [3000, 5000, 7000])
def test_a_client_with_long_texts_does_not_keep_others_out(size: int) -> None:
    queue = Queue(8000, 512, 4_000_000)
    for _ in range(30):
        queue.put(ticket(size, client="A"))
    queue.put(short := ticket(20, client="B"))
    batches = [[part.ticket for part in queue.take()] for _ in range(2)]
    assert short in batches[0] + batches[1]


def test_clients_who_ask_again_and_again_do_not_keep_one_with_much_out() -> None:
    reading = Reading(10_000, longest=None, budget=1000)
    much = ticket(*[500] * 40, client="much")
    reading.queue.put(much)
    for name in "abcd":
        reading.queue.put(ticket(900, client=name))
    for _ in range(400):
        parts = reading.queue.take()
        reading.end(parts)
        for part in parts:
            if part.ticket is not much:
                reading.queue.put(ticket(900, client=part.ticket.client))
    assert not much.left


def test_who_asks_for_much_waits_behind_it_and_others_do_not() -> None:
    reading = Reading(1000)
    reading.queue.put(ticket(5000, client="C"))
    reading.end(reading.queue.take())
    reading.queue.put(ticket(*[920] * 256, client="A"))  # 256 seconds
    parts = reading.queue.take()
    with pytest.raises(QueueFull):
        reading.queue.put(ticket(20, client="A"))
    reading.queue.put(short := ticket(20, client="B"))
    reading.end(parts)
    assert reading.until(short) == 0


def test_the_first_minute_is_no_exception() -> None:
    reading = Reading(10_000, longest=15.0)
    reading.queue.put(ticket(7000, client="first"))
    reading.queue.take()
    reading.now = 1.0  # it takes at least a second
    accepted = 0
    with pytest.raises(QueueFull):
        for accepted in range(100):
            reading.queue.put(ticket(7000, client=f"c{accepted}"))
    assert accepted == 16  # the last one waits for 15 others


def test_what_a_request_is_expected_to_wait_is_what_it_waits() -> None:
    chance = random.Random(7)
    for _ in range(200):
        reading = Reading(1000, longest=None, budget=1)  # a document at a time
        reading.queue.put(ticket(chance.randrange(500)))
        reading.end(reading.queue.take())
        clients, longest = "ABCDEFG"[: chance.randrange(1, 8)], 0
        for _ in range(chance.randrange(30)):
            sizes = [chance.randrange(1, 500) for _ in range(chance.randrange(1, 9))]
            longest = max(longest, *sizes)
            reading.queue.put(ticket(*sizes, client=chance.choice(clients)))
            if not chance.randrange(4):
                reading.end(reading.queue.take())
        reading.queue.longest = -1.0  # nobody may wait: the refusal says how long it would be
        last = ticket(1, client=chance.choice(clients))
        with pytest.raises(QueueFull) as refused:
            reading.queue.put(last)
        reading.queue.longest = None
        reading.queue.put(last)
        texts = len(clients)  # of each other client, one is counted in part or in whole
        assert abs(reading.until(last) - refused.value.retry) <= texts * (longest + OVERHEAD) / 1000 + 1e-6


def test_who_gives_up_gets_the_turn_back() -> None:
    queue = Queue(100, 100, 100_000)
    queue.put(ticket(10, client="A"))
    assert len(queue.take()) == 1
    queue.put(given_up := ticket(*[90] * 20, client="A"))
    for _ in range(5):
        queue.put(ticket(90, client="B"))
    assert queue.drop(given_up)
    queue.put(again := ticket(90, client="A"))
    assert again in [part.ticket for _ in range(2) for part in queue.take()]


def test_a_request_alone_never_waits_for_others() -> None:
    queue = Queue(1000, 10, 10_000, clock=lambda: 0.0)  # time does not pass: waiting would not end
    for _ in range(3):
        queue.put(ticket(10))
        assert len(queue.take()) == 1
        queue.worked(ticket(10).documents, 1.0)


def test_clients_that_were_answered_together_are_read_together_again() -> None:
    queue = Queue(1000, 10, 10_000, clock=lambda: 0.0)
    for _ in range(3):
        queue.put(ticket(10))
    assert len(queue.take()) == 3
    queue.worked(ticket(10, 10, 10).documents, 1.0)
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
    queue.worked(ticket(10, 10, 10).documents, 0.1)
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
    queue.put(costing(100))
    assert len(queue.take()) == 1
    queue.worked(costing(100).documents, 1.0)
    queue.put(costing(100))
    assert len(queue.take()) == 1
    queue.put(costing(100))
    assert queue.retry_after() == pytest.approx(2.0)  # both at the rate of the first
    now[0] = 9.0
    assert queue.retry_after() == pytest.approx(5.0)  # 100 at 10 seconds for 200


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
    for patient, seconds in ((False, "0.05"), (True, "0.1")):
        service = Fragile([], Limits(timeout=0.05, job_seconds=0.1))
        service.queue.take = lambda: time.sleep(0.5)  # type: ignore[assignment, method-assign, return-value]
        service.start()
        asking = service.extract([Document("d0", "x")], ReadOptions(), patient=patient)
        with pytest.raises(Refusal, match=f"waited for {seconds} seconds") as refused:
            asyncio.run(asking)
        assert refused.value.status_code == 503 and refused.value.headers["Retry-After"]  # type: ignore[index]
        assert service.queue.state() == (0, 0)


class Leaving(Future[list[Document]]):
    """A future whose client goes away just before it is answered."""

    def set_result(self, result: list[Document]) -> None:
        self.cancel()
        super().set_result(result)

    def set_exception(self, exception: BaseException | None) -> None:
        self.cancel()
        super().set_exception(exception)


@pytest.mark.parametrize("text", ["fine", "bad"])
def test_a_client_that_leaves_at_the_last_moment_does_not_end_the_worker(text: str) -> None:
    service = Fragile([], Limits(timeout=10))
    service.queue.put(Ticket([Document("d0", text)], ReadOptions(), future=Leaving()))
    service.start()
    service._loaded.wait(10)
    (doc,) = asyncio.run(service.extract([Document("d0", "fine")], ReadOptions()))
    assert doc.text == "fine"
    assert service.ready
    service.stop(5)


def test_a_server_whose_models_cannot_be_loaded_is_not_ready() -> None:
    class Broken(Fragile):
        def _load(self) -> None:
            raise RuntimeError("a damaged graph")

    service, failures = Broken([], Limits()), list[Exception]()
    service.on_failure = failures.append
    service.start()
    service._worker.join(5)
    assert not service.ready
    assert [str(error) for error in failures] == ["a damaged graph"]
    with pytest.raises(Refusal, match="The log of the server"):
        asyncio.run(service.extract([Document("d0", "x")], ReadOptions()))


def test_the_rate_is_known_before_the_first_request() -> None:
    service = Service(choose_models(("zh-facts",)), Limits())
    service._load()
    service.queue.put(ticket(*[40_000] * 99))
    with pytest.raises(QueueFull):
        service.queue.put(ticket(1))


def test_int8_reads_a_text_as_if_it_were_alone() -> None:
    texts = ["Maria Weiss was born in Graz in 1931.", "!!!! $$$$ 0000 qqqq ((((", "Otto lives in Bern.",
             "The Rhine flows through Basel and Cologne, and Anna Berg of Siemens rowed on it.",
             "In May 2019 Nokia hired Erik Lund, who had studied in Uppsala and in Rome."]  # fmt: skip
    service = Service(choose_models(("en-entities",)), Limits(), precision="int8")
    service.start()

    async def run() -> tuple[list[list[Document]], list[Document]]:
        while not service.ready:
            await asyncio.sleep(0.05)
        alone = [await service.extract([Document("d", text)], ReadOptions()) for text in texts]
        return alone, await service.extract([Document("d", text) for text in texts], ReadOptions())

    alone, together = asyncio.run(run())
    service.stop(5)
    assert [doc for (doc,) in alone] == together
    assert any(doc.mentions for doc in together)
