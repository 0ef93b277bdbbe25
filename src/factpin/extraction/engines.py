"""Who extracts the shards: this process, several on this machine, or a Ray cluster.

An engine takes the shards that are still to do and yields an outcome for each, in any order. A process that dies takes
only its shard with it: the shard is tried again, three times in all. A FactpinError and a full disk are the user's to
mend and stop the run at once; any other error is that of its shard, and the others are still extracted.
"""

import errno
import logging
import os
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import get_context, parent_process
from typing import Any

from factpin.errors import BadInput, FactpinError, MissingExtra
from factpin.extraction.request import Request
from factpin.extraction.shard_run import extract_shard
from factpin.extraction.shards import Receipt, Shard
from factpin.words import count

TRIES = 3
THREADS = "OMP_NUM_THREADS"
FULL = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True)
class Workers:
    """How many there are, and where."""

    count: int = 1
    address: str = ""  # of a Ray cluster; empty: one that is started on this machine


@dataclass(frozen=True)
class Failure:
    """A shard that could not be extracted."""

    shard: int
    reason: str


@dataclass(frozen=True)
class BadShard:
    """The message of an error that the user has to mend; an exception might not survive the way between processes."""

    message: str


Outcome = Receipt | Failure
Engine = Callable[[Request, Sequence[Shard], Workers], Iterator[Outcome]]


Result = Receipt | BadShard | Failure


def attempt(request: Request, shard: Shard) -> Result:
    """Extract a shard in another process."""
    try:
        return extract_shard(request, shard)
    except FactpinError as error:
        return BadShard(str(error))
    except Exception as error:
        if isinstance(error, OSError) and error.errno in FULL:
            message = f"{request.output}: {error.strerror}. Free some space and run the same command again."
            return BadShard(message)
        return Failure(shard.number, f"{type(error).__name__}: {error}")


def _accept(result: Result) -> Outcome:
    if isinstance(result, BadShard):
        raise BadInput(result.message)
    return result


def run_here(request: Request, shards: Sequence[Shard], workers: Workers) -> Iterator[Outcome]:  # noqa: ARG001
    """One shard after the other, in this process."""
    for shard in shards:
        yield extract_shard(request, shard)


def run_processes(request: Request, shards: Sequence[Shard], workers: Workers) -> Iterator[Outcome]:
    """Several processes on this machine, each with one thread and its own copy of the models."""
    waiting = deque(shards)
    tries: Counter[int] = Counter()
    while waiting:
        lost: list[Shard] = []
        with _one_thread(), _pool(workers.count) as pool:
            running: dict[Future[Result], Shard] = {}
            broken = False  # some process died: every shard under way is lost, and the pool takes no more
            try:
                while running or (waiting and not broken):
                    while waiting and not broken and len(running) < workers.count:
                        try:
                            running[pool.submit(attempt, request, waiting[0])] = waiting[0]
                        except BrokenProcessPool:
                            broken = True
                        else:
                            waiting.popleft()
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        shard = running.pop(future)
                        try:
                            yield _accept(future.result())
                        except BrokenProcessPool:
                            broken = True
                            lost.append(shard)
            finally:
                pool.shutdown(wait=True, cancel_futures=True)
        for shard in lost:
            tries[shard.number] += 1
            if tries[shard.number] < TRIES:
                waiting.append(shard)
            else:
                yield Failure(shard.number, f"its process died {count(TRIES, 'time')}; is there enough memory?")


def run_ray(request: Request, shards: Sequence[Shard], workers: Workers) -> Iterator[Outcome]:
    """Actors of Ray. Texts are read and written by the actors; only receipts travel."""
    try:
        ray: Any = import_module("ray")
    except ImportError:
        raise MissingExtra("--engine ray needs Ray: pip install 'factpin[ray]'") from None
    with _one_thread():
        _connect(ray, workers.address)
        try:
            actor = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=TRIES - 1)(_Actor)
            free = [actor.remote(request) for _ in range(min(workers.count, len(shards)))]
            waiting = deque(shards)
            running: dict[Any, tuple[Any, Shard]] = {}
            while waiting or running:
                while waiting and free:
                    worker, shard = free.pop(), waiting.popleft()
                    running[worker.extract.remote(shard)] = worker, shard
                (done,), _ = ray.wait(list(running), num_returns=1)
                worker, shard = running.pop(done)
                free.append(worker)
                try:
                    yield _accept(ray.get(done))
                except ray.exceptions.RayError as error:
                    yield Failure(shard.number, f"its actor died {count(TRIES, 'time')} ({type(error).__name__})")
        finally:
            if not workers.address:
                ray.shutdown()


def _connect(ray: Any, address: str) -> None:
    """Connect to a cluster, or start Ray on this machine, which on a busy one may take it more than its 30 seconds."""
    for _ in range(1 if address else TRIES):
        try:
            ray.init(address or None, ignore_reinit_error=True, log_to_driver=False, logging_level=logging.ERROR)
        except Exception as error:  # Ray raises the bare class
            ray.shutdown()
            reason = str(error).split("\n")[0]
        else:
            return
    where = (
        f"the cluster at {address} cannot be reached" if address else f"it did not start in {count(TRIES, 'attempt')}"
    )
    raise BadInput(f"Ray: {where} ({reason}). --engine processes needs no Ray.")


class _Actor:
    """A process of Ray that holds the models."""

    def __init__(self, request: Request) -> None:
        self.request = request

    def extract(self, shard: Shard) -> Result:
        return attempt(self.request, shard)


ENGINES: dict[str, Engine] = {"here": run_here, "processes": run_processes, "ray": run_ray}


def _pool(count: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(count, mp_context=get_context("spawn"), initializer=_die_with_parent)


def _die_with_parent() -> None:
    """End this process when its parent is killed; otherwise it would wait for work forever."""
    parent = parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class _one_thread:
    """Children that are started inside use one thread each."""

    def __enter__(self) -> None:
        self.before = os.environ.get(THREADS)
        os.environ[THREADS] = "1"

    def __exit__(self, *error: object) -> None:
        if self.before is None:
            del os.environ[THREADS]
        else:
            os.environ[THREADS] = self.before
