"""A corpus in shards: every record once, equal files whoever works on them, and runs that are killed and resumed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factpin import formats
from factpin.errors import BadInput, FactpinError
from factpin.extraction import engines
from factpin.extraction.engines import TRIES, Failure, Workers, _connect, run_processes
from factpin.extraction.inputs import Input, find_inputs
from factpin.extraction.progress import Progress
from factpin.extraction.request import Request
from factpin.extraction.run import run_extraction
from factpin.extraction.sharded_run import ShardOptions, run_in_shards
from factpin.extraction.shards import DONE, Receipt, Shard, open_plan, plan
from factpin.extraction.summary import Cases, Summary
from tests.conftest import corpus
from tests.models.small_model import small_model

PATIENCE = 600  # seconds for a run; Ray takes minutes to start on a machine that is busy
SLOW = pytest.mark.timeout(4 * PATIENCE)


@pytest.fixture(scope="module")
def model(encoder_folder: Path) -> Path:
    return small_model(encoder_folder)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Two JSONL files with 23 and 7 documents, and three texts."""
    folder = tmp_path / "in"
    folder.mkdir()
    for name, count in (("a", 23), ("b", 7)):
        lines = [json.dumps({"id": f"{name}{i}", "text": doc.text}) for i, doc in enumerate(corpus(count, 61))]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    for i, doc in enumerate(corpus(3, 62)):
        (folder / f"c{i}.txt").write_text(doc.text)
    return folder


def request(source: Path, output: Path, model: Path, *, skip_bad: bool = False) -> Request:
    return Request((source,), (str(model),), output, skip_bad=skip_bad)


def parts(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("part-*"))}


@given(st.lists(st.integers(0, 9), max_size=5), st.integers(1, 7))
def test_a_plan_has_every_line_once_and_in_order(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], size: int
) -> None:
    folder = tmp_path_factory.mktemp("plan")
    inputs = []
    for i, count in enumerate(sizes):
        path = folder / f"{i}.jsonl"
        path.write_text("".join(json.dumps({"id": f"{i}-{j}", "text": "é" * j}) + "\n" for j in range(count)))
        inputs.append(Input(path, "jsonl", path.name, str(i)))
    shards = plan(inputs, size)
    seen = [
        doc.id
        for shard in shards
        for part in shard.parts
        for doc in formats.read(part.input.path, options=formats.Options(only=part.lines), format="jsonl")
    ]
    assert seen == [f"{i}-{j}" for i, count in enumerate(sizes) for j in range(count)]
    assert all(sum(part.lines.count for part in shard.parts if part.lines) <= size for shard in shards)


def test_a_plan_is_kept_and_a_changed_input_is_refused(source: Path, tmp_path: Path) -> None:
    inputs, _ = find_inputs([source])
    first = open_plan(tmp_path, inputs, 10)
    assert open_plan(tmp_path, inputs, 10) == first == plan(inputs, 10)
    with open(source / "b.jsonl", "a") as stream:
        stream.write('{"text": "more"}\n')
    with pytest.raises(BadInput, match="b.jsonl has changed"):
        open_plan(tmp_path, inputs, 10)


def test_a_summary_survives_its_record() -> None:
    summary = Summary(documents=2, unread=3, partly_read=Cases(1, ("a (0–3)",)))
    summary.mentions["person"] = 4
    assert Summary.from_json(json.loads(json.dumps(summary.to_json()))) == summary


def test_shards_hold_what_one_run_finds(source: Path, tmp_path: Path, model: Path) -> None:
    whole = tmp_path / "whole.jsonl"
    expected = run_extraction(Request((source,), (str(model),), whole))
    summary, failures = run_in_shards(request(source, tmp_path / "found", model), ShardOptions(size=10))
    found = [doc for path in sorted((tmp_path / "found").glob("*.zst")) for doc in formats.read(path)]
    assert not failures and summary == expected
    assert [doc.id for doc in found] == [doc.id for doc in formats.read(whole)]
    assert [doc.mentions for doc in found] == [doc.mentions for doc in formats.read(whole)]
    assert (tmp_path / "found" / DONE).is_file()


def test_processes_write_the_same_bytes_and_a_second_run_does_nothing(
    source: Path, tmp_path: Path, model: Path
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    run_in_shards(request(source, here, model), ShardOptions(size=10))
    first, _ = run_in_shards(request(source, there, model), ShardOptions("processes", Workers(2), 10))
    assert parts(here) == parts(there) and len(parts(here)) == 8
    times = {path: path.stat().st_mtime_ns for path in there.glob("part-*")}
    again, _ = run_in_shards(request(source, there, model), ShardOptions("here", size=10))
    assert again == first and times == {path: path.stat().st_mtime_ns for path in there.glob("part-*")}


def test_a_damaged_shard_is_made_again(source: Path, tmp_path: Path, model: Path) -> None:
    run_in_shards(request(source, tmp_path / "found", model), ShardOptions(size=10))
    before = parts(tmp_path / "found")
    part = tmp_path / "found" / "part-00001-of-00004.jsonl.zst"
    for damaged in (b"cut", part.read_bytes()[:-1] + b"?"):  # of another size, and of the same
        part.write_bytes(damaged)
        run_in_shards(request(source, tmp_path / "found", model), ShardOptions(size=10))
        assert parts(tmp_path / "found") == before


def test_an_input_that_changes_during_a_run_is_refused(source: Path, tmp_path: Path, model: Path) -> None:
    found = request(source, tmp_path / "found", model)
    with pytest.raises(BadInput, match=r"b\.jsonl has changed since this run began"):
        run_in_shards(found, ShardOptions(size=100), Progress(advance=lambda: os.utime(source / "b.jsonl", (1, 1))))
    assert not (found.output / DONE).exists()
    with pytest.raises(BadInput, match=r"b\.jsonl has changed"):
        run_in_shards(found, ShardOptions(size=100))
    lost = request(source, tmp_path / "lost", model)
    with pytest.raises(BadInput, match=r"b\.jsonl: was removed during the run"):
        run_in_shards(
            lost, ShardOptions(size=100), Progress(advance=lambda: (source / "b.jsonl").unlink(missing_ok=True))
        )


def test_another_shard_size_or_a_folder_of_single_files_is_refused(source: Path, tmp_path: Path, model: Path) -> None:
    run_in_shards(request(source, tmp_path / "found", model), ShardOptions(size=10))
    with pytest.raises(BadInput, match="other options"):
        run_in_shards(request(source, tmp_path / "found", model), ShardOptions(size=5))
    with pytest.raises(BadInput, match="other options"):
        run_extraction(request(source, tmp_path / "found", model))
    with pytest.raises(BadInput, match="written to a folder"):
        run_in_shards(request(source, tmp_path / "found.jsonl", model), ShardOptions())


@pytest.mark.parametrize("engine", ["here", "processes"])
def test_a_bad_record_stops_the_run_or_is_set_aside(source: Path, tmp_path: Path, model: Path, engine: str) -> None:
    with open(source / "a.jsonl", "a") as stream:
        stream.write("{broken\n")
    with pytest.raises(FactpinError, match=r"a\.jsonl:24: not JSON"):
        run_in_shards(request(source, tmp_path / "strict", model), ShardOptions(engine, Workers(2), 10))
    summary, _ = run_in_shards(
        request(source, tmp_path / "found", model, skip_bad=True), ShardOptions(engine, Workers(2), 10)
    )
    assert summary.rejected == 1 and summary.documents == 33
    (rejects,) = (tmp_path / "found").glob("*.rejects.jsonl")
    assert json.loads(rejects.read_bytes())["line"] == 24


def test_a_worker_that_is_killed_costs_nothing_but_time(source: Path, tmp_path: Path, model: Path) -> None:
    found = request(source, tmp_path / "found", model)
    run_in_shards(request(source, tmp_path / "calm", model), ShardOptions(size=3))
    child = _start(source, tmp_path / "found", model)
    try:
        victim = _workers(child.pid)[0]
        os.kill(victim, signal.SIGKILL)
        assert child.wait(timeout=PATIENCE) == 0
    finally:
        child.kill()
    assert parts(found.output) == parts(tmp_path / "calm")


def test_a_killed_run_leaves_no_worker_and_goes_on(source: Path, tmp_path: Path, model: Path) -> None:
    run_in_shards(request(source, tmp_path / "calm", model), ShardOptions(size=3))
    child = _start(source, tmp_path / "found", model)
    workers = _workers(child.pid)
    child.kill()
    child.wait()
    until = time.monotonic() + PATIENCE
    while any(_alive(pid) for pid in workers) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(_alive(pid) for pid in workers)
    run_in_shards(request(source, tmp_path / "found", model), ShardOptions("processes", Workers(2), 3))
    assert parts(tmp_path / "found") == parts(tmp_path / "calm")


def test_a_shard_whose_process_always_dies_is_named(
    source: Path, tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{_deadly(tmp_path)}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    summary, failures = run_in_shards(
        request(source, tmp_path / "found", model), ShardOptions("processes", Workers(1), 20)
    )
    assert [failure.shard for failure in failures] == [0, 1] and isinstance(failures[0], Failure)
    assert summary.documents == 0 and not (tmp_path / "found" / DONE).exists()


def _one_hangs(request: Request, shard: Shard) -> Receipt:
    """Shard 1 hangs at the first attempt, having noted its process; the others wait for that."""
    note = request.output / "victim"
    if shard.number == 1 and not note.exists():
        (request.output / "noted").write_text(str(os.getpid()))
        (request.output / "noted").rename(note)
        time.sleep(PATIENCE)
    until = time.monotonic() + PATIENCE
    while not note.exists() and time.monotonic() < until:
        time.sleep(0.02)
    return Receipt(shard.number, 1, "", Summary(documents=1))


def test_a_worker_that_is_killed_while_a_receipt_is_handled_costs_its_shard_one_attempt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "attempt", _one_hangs)
    shards = [Shard(number, 4, ()) for number in range(4)]
    done = []
    for outcome in run_processes(Request((), (), tmp_path), shards, Workers(2)):
        if not done:
            victim = int((tmp_path / "victim").read_text())
            os.kill(victim, signal.SIGKILL)
            until = time.monotonic() + PATIENCE
            while Path(f"/proc/{victim}").exists() and time.monotonic() < until:  # until the pool knows that it died
                time.sleep(0.02)
        done.append(outcome)
    assert sorted(outcome.shard for outcome in done) == [0, 1, 2, 3]
    assert all(isinstance(outcome, Receipt) for outcome in done)


@SLOW
@pytest.mark.verify
def test_ray_writes_the_same_bytes_and_survives_a_killed_actor(source: Path, tmp_path: Path, model: Path) -> None:
    pytest.importorskip("ray")
    run_in_shards(request(source, tmp_path / "calm", model), ShardOptions(size=3))
    child = _start(source, tmp_path / "found", model, engine="ray")
    try:
        victims = _actors(child.pid)
        os.kill(victims[0], signal.SIGKILL)
        assert child.wait(timeout=PATIENCE) == 0
    finally:
        child.kill()
    assert parts(tmp_path / "found") == parts(tmp_path / "calm")
    assert (tmp_path / "found" / DONE).read_bytes() == (tmp_path / "calm" / DONE).read_bytes()


@SLOW
@pytest.mark.verify
def test_a_killed_driver_of_ray_leaves_no_actor_and_the_run_goes_on(source: Path, tmp_path: Path, model: Path) -> None:
    pytest.importorskip("ray")
    run_in_shards(request(source, tmp_path / "calm", model), ShardOptions(size=3))
    child = _start(source, tmp_path / "found", model, engine="ray")
    actors = _actors(child.pid)
    child.kill()
    child.wait()
    until = time.monotonic() + PATIENCE
    while any(_alive(pid) for pid in actors) and time.monotonic() < until:
        time.sleep(0.1)
    assert not any(_alive(pid) for pid in actors)
    assert not (tmp_path / "found" / DONE).exists()
    assert _start(source, tmp_path / "found", model, engine="ray").wait(timeout=PATIENCE) == 0
    assert parts(tmp_path / "found") == parts(tmp_path / "calm")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 48 kB; only root can make one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48k", "tmpfs", folder], capture_output=True).returncode:
        pytest.skip("needs the right to mount a file system")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)  # also if a run that has failed still holds it


@SLOW
@pytest.mark.verify
@pytest.mark.parametrize("engine", ["here", "processes", "ray"])
def test_a_full_disk_stops_the_run_and_with_more_room_it_goes_on(
    source: Path, tmp_path: Path, model: Path, small_disk: Path, engine: str
) -> None:
    if engine == "ray":
        pytest.importorskip("ray")
    run_in_shards(request(source, tmp_path / "calm", model), ShardOptions(size=3))
    child = _start(source, small_disk / "found", model, engine=engine, stderr=subprocess.PIPE)
    try:
        _, said = child.communicate(timeout=PATIENCE)
    finally:
        child.kill()
    assert child.returncode == 2 and b"No space left on device" in said
    assert not (small_disk / "found" / DONE).exists()
    subprocess.run(["mount", "-o", "remount,size=8m", small_disk], check=True)
    assert _start(source, small_disk / "found", model, engine=engine).wait(timeout=PATIENCE) == 0
    assert parts(small_disk / "found") == parts(tmp_path / "calm")
    assert not [path for path in (small_disk / "found").iterdir() if not path.name.startswith(("part-", "factpin-"))]


def _start(
    source: Path, output: Path, model: Path, engine: str = "processes", stderr: int | None = None
) -> subprocess.Popen[bytes]:
    words = [
        sys.executable,
        "-m",
        "factpin",
        "extract",
        source,
        "--model",
        model,
        "--output",
        output,
        "--engine",
        engine,
    ]
    return subprocess.Popen([*map(str, words), "--workers", "2", "--shard-size", "3", "--quiet"], stderr=stderr)


def _workers(parent: int) -> list[int]:
    """The two worker processes, once both are up (the third child of a spawning parent is its resource tracker)."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        children = [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]
        workers = [pid for pid in children if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]
        if len(workers) == 2:
            return workers
        time.sleep(0.02)
    raise AssertionError("no workers were started")


def _actors(driver: int) -> list[int]:
    """The actors of a driver, once both have begun: grandchildren whose name Ray has set."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        parents, names = {}, {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                names[int(folder.name)] = (folder / "cmdline").read_bytes()
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue  # it has ended
        found = [pid for pid, name in names.items() if b"ray::_Actor" in name and driver in _ancestors(pid, parents)]
        if len(found) == 2:
            return found
        time.sleep(0.02)
    raise AssertionError("no actors were started")


def _ancestors(pid: int, parents: dict[int, int]) -> list[int]:
    found = []
    while pid := parents.get(pid, 0):
        found.append(pid)
    return found


def _alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def _deadly(folder: Path) -> Path:
    """A sitecustomize that kills every process in which extraction is imported by a worker."""
    (folder / "sitecustomize.py").write_text(
        "import os, sys, threading\n"
        "if any('spawn_main' in word for word in sys.orig_argv):\n"
        "    threading.Timer(0.3, os._exit, [9]).start()\n"
    )
    return folder


class _Unready:
    """Ray on a machine that is too busy: it starts at the third attempt, or never."""

    def __init__(self, attempts: int) -> None:
        self.attempts, self.begun, self.ended = attempts, 0, 0

    def init(self, address: str | None, **_: object) -> None:
        self.begun += 1
        if self.begun < self.attempts:
            raise Exception("The current node timed out during startup.")

    def shutdown(self) -> None:
        self.ended += 1


def test_ray_gets_several_attempts_to_start_and_a_cluster_one() -> None:
    ray = _Unready(TRIES)
    _connect(ray, "")
    assert (ray.begun, ray.ended) == (TRIES, TRIES - 1)
    with pytest.raises(BadInput, match=r"did not start in 3 attempts \(The current node timed out"):
        _connect(_Unready(TRIES + 1), "")
    with pytest.raises(BadInput, match="cluster at ray://here cannot be reached"):
        _connect(_Unready(2), "ray://here")


def test_a_receipt_is_read_back(source: Path, tmp_path: Path, model: Path) -> None:
    from factpin.extraction.shards import read_receipt

    run_in_shards(request(source, tmp_path / "found", model), ShardOptions(size=10))
    shards = open_plan(tmp_path / "found", find_inputs([source])[0], 10)
    receipts = [read_receipt(tmp_path / "found", shard) for shard in shards]
    assert all(isinstance(receipt, Receipt) for receipt in receipts)
    assert sum(receipt.summary.documents for receipt in receipts if receipt) == 33
