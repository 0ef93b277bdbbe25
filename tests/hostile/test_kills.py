"""kill -9 at random moments of each command that writes: nothing half-written, equal results, no leftovers."""

import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from factpin import formats
from factpin.documents import Document
from factpin.files.lock import NAME as LOCK
from tests.conftest import corpus
from tests.models.small_model import small_model

KILLS = 20
FACTPIN = (sys.executable, "-m", "factpin")


@dataclass(frozen=True)
class Job:
    """A command that is killed: how it is called, and whether what it left so far is whole."""

    words: Callable[[Path, Path], list[str]]  # (world, output) -> arguments
    output: str
    sound: Callable[[Path, Path], bool]  # (whole output, output after a kill)


def world(folder: Path, encoder: Path) -> Path:
    """What the commands read."""
    (folder / "texts").mkdir()
    documents = [doc for seed in range(4) for doc in corpus(500, seed)]
    for number, doc in enumerate(documents[:300]):
        (folder / "texts" / f"{number:03}.txt").write_text(doc.text, encoding="utf-8")
    once = [Document(f"{i}", doc.text, mentions=doc.mentions) for i, doc in enumerate(documents)]
    formats.write(once, folder / "some.jsonl")
    formats.write((Document(f"{n}-{doc.id}", doc.text, mentions=doc.mentions) for n in range(20) for doc in once),
                  folder / "many.jsonl")  # fmt: skip
    (folder / "plain.txt").write_text("\n\n".join(doc.text for doc in documents[:600]), encoding="utf-8")
    (folder / "model").symlink_to(small_model(encoder))
    (folder / "encoder").symlink_to(encoder)
    return folder


def whole_or_absent(whole: Path, output: Path) -> bool:
    return not output.exists() or output.read_bytes() == whole.read_bytes()


def files_of(folder: Path) -> dict[str, bytes]:
    """The files of a folder that people see."""
    every = [path for path in folder.rglob("*") if path.is_file()]
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in every if not p.name.startswith(".")}


def files_are_whole(whole: Path, output: Path) -> bool:
    wanted = files_of(whole)
    return all(wanted[name] == raw for name, raw in files_of(output).items())


def weights_are_whole(whole: Path, output: Path) -> bool:
    """model.safetensors is there only as a whole; checkpoints can be loaded."""
    import torch

    last = output / "checkpoints" / "last.pt"
    if last.exists():
        torch.load(last, weights_only=True)
    file = output / "model.safetensors"
    return not (output / "factpin.json").exists() or file.read_bytes() == (whole / "model.safetensors").read_bytes()


JOBS = {
    "convert": Job(lambda w, out: ["convert", f"{w}/many.jsonl", str(out), "--to", "spacy"], "out.json.gz",
                   whole_or_absent),
    "extract": Job(lambda w, out: ["extract", f"{w}/texts", "--model", f"{w}/model", "--output", str(out)], "out",
                   files_are_whole),
    "predict": Job(lambda w, out: ["predict", f"{w}/model", f"{w}/some.jsonl", str(out)], "out.jsonl", whole_or_absent),
    "pretrain": Job(lambda w, out: ["pretrain", "--corpus", f"{w}/plain.txt", "--objective", "wwm", "--words",
                                    "characters", "--encoder", f"{w}/encoder", "--length", "48", "--max-steps", "30",
                                    "--batch-size", "8", "--save-every", "4", "--seed", "1", "--resume", "--output",
                                    str(out)], "out", weights_are_whole),
    "train": Job(lambda w, out: ["train", "spans", "--train", f"{w}/some.jsonl", "--encoder", f"{w}/encoder",
                                 "--max-steps", "40", "--batch-size", "8", "--save-every", "5", "--seed", "1",
                                 "--resume", "--output", str(out)], "out", weights_are_whole),
}  # fmt: skip


def same_result(whole: Path, output: Path) -> bool:
    if output.is_file():
        return output.read_bytes() == whole.read_bytes()
    weights = "model.safetensors"
    if (whole / weights).exists():
        return (output / weights).read_bytes() == (whole / weights).read_bytes()
    return files_of(output) == files_of(whole)


def killed(child: "subprocess.Popen[bytes]", seconds: float) -> bool:
    """Kill a process once it has used this much CPU time, however busy the machine is; False if it ends before."""
    while child.poll() is None:
        words = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()
        if (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK") >= seconds:
            os.kill(child.pid, signal.SIGKILL)
            child.wait()
            return True
        time.sleep(0.01)
    return False


def leftovers(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.rglob(".*") if p.name.endswith(".part") or p.name == LOCK)


@pytest.mark.verify
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("name", JOBS)
def test_twenty_kills(name: str, encoder_folder: Path, tmp_path: Path) -> None:
    job, here = JOBS[name], world(tmp_path, encoder_folder)
    whole = tmp_path / "whole" / job.output
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*FACTPIN, *job.words(here, whole), "--quiet"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    chance, kills, rounds = random.Random(0), 0, 0
    while kills < KILLS:
        output = tmp_path / f"killed-{rounds}" / job.output
        rounds += 1
        while True:
            child = subprocess.Popen([*FACTPIN, *job.words(here, output), "--quiet"])
            if kills >= KILLS or not killed(child, chance.uniform(0.1, 1.1) * seconds):
                assert child.wait() == 0
                break  # it came to its end
            kills += 1
            assert not output.exists() or job.sound(whole, output)
        assert same_result(whole, output) and leftovers(output.parent) == []
    print(f"{name}: {kills} kills over {rounds} runs of {seconds:.1f} CPU s")


def test_two_runs_into_one_folder(encoder_folder: Path, tmp_path: Path) -> None:
    model = small_model(encoder_folder)
    for name in ("a.txt", "b.txt"):
        os.mkfifo(tmp_path / name)  # the first run waits for what is never written
    words = [*FACTPIN, "extract", str(tmp_path / "a.txt"), str(tmp_path / "b.txt"), "--model", str(model)]
    first = subprocess.Popen([*words, "--output", str(tmp_path / "out")], stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 120
        while not (tmp_path / "out" / LOCK).exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        second = subprocess.run(
            [*words, "--output", str(tmp_path / "out")], capture_output=True, text=True, check=False
        )
    finally:
        first.kill()
        first.wait()
    assert second.returncode == 2 and re.search(rf"process {first.pid} \(factpin extract, since", second.stderr)
