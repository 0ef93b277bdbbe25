"""kill -9, twenty times, at random moments of a training: never an unreadable folder, the same weights at the end."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

import factpin
from factpin import formats
from tests.conftest import corpus
from tests.training.test_spans import equal

KILLS = 20


@pytest.mark.verify
@pytest.mark.timeout(3600)
def test_twenty_kills_change_nothing(encoder_folder: Path, tmp_path: Path) -> None:
    formats.write(corpus(160, 1), tmp_path / "train.jsonl")
    formats.write(corpus(20, 2), tmp_path / "dev.jsonl")
    words = [sys.executable, "-m", "factpin", "train", "spans", "--train", str(tmp_path / "train.jsonl"), "--dev",
             str(tmp_path / "dev.jsonl"), "--encoder", str(encoder_folder), "--epochs", "6", "--batch-size", "4",
             "--save-every", "7", "--evaluate-every", "25", "--ema", "0.9", "--quiet"]  # fmt: skip
    start = time.monotonic()
    subprocess.run([*words, "--output", str(tmp_path / "whole")], check=True)
    seconds = time.monotonic() - start
    chance = random.Random(0)
    kills, runs = 0, 0
    while kills < KILLS:
        killed = tmp_path / f"killed-{runs}"
        runs += 1
        while True:
            child = subprocess.Popen([*words, "--output", str(killed), "--resume"])
            try:
                assert child.wait(None if kills == KILLS else chance.uniform(0.2, 1.0) * seconds) == 0
                break  # it came to its end
            except subprocess.TimeoutExpired:
                os.kill(child.pid, signal.SIGKILL)
                child.wait()
                kills += 1
            if (killed / "checkpoints" / "last.pt").exists():
                torch.load(killed / "checkpoints" / "last.pt", weights_only=True)
            if (killed / "factpin.json").exists():
                factpin.load(killed)
        assert equal(tmp_path / "whole", killed)
    print(f"{kills} kills over {runs} runs of {seconds:.0f} s")
