"""Two processes on one machine pretrain one encoder: they share the documents, stay equal, and one of them talks."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

from safetensors.torch import load_file

from tests.conftest import corpus


def test_two_processes_make_one_encoder_and_one_report(encoder_folder: Path, tmp_path: Path) -> None:
    texts = tmp_path / "texts.txt"
    texts.write_text("\n\n".join("\n".join(d.text for d in corpus(5, seed)) for seed in range(16)), encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-m", "factpin", "pretrain", "--objective", "bert", "--corpus", texts, "--encoder",
             encoder_folder, "--length", "32", "--words", "characters", "--heldout", "0", "--max-steps", "3",
             "--batch-size", "2", "--accumulation", "3", "--json", "--output", tmp_path / "run"]  # fmt: skip
    group = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1"}
    children = [
        subprocess.Popen(list(map(str, words)), env={**os.environ, **group, "RANK": str(rank)}, stdout=subprocess.PIPE)
        for rank in (0, 1)
    ]
    said = [child.communicate()[0] for child in children]
    assert [child.returncode for child in children] == [0, 0]
    report = json.loads(said[0])
    assert report["steps"] == 3 and report["texts"] == 2 * 3 * 3 * 2 and said[1] == b""
    before, after = (
        load_file(folder / "model.safetensors") for folder in (tmp_path / "run" / "start", tmp_path / "run")
    )
    assert any((value != after[f"bert.{name}"]).any() for name, value in before.items())
    assert {path.name for path in (tmp_path / "run" / "checkpoints").glob("corpus-*")} == {
        "corpus-0.jsonl", "corpus-1.jsonl"
    }  # fmt: skip
