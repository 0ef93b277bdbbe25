"""Broken files through every reader: an error of the tree or a right result, never a traceback, never a hang."""

import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from factpin import formats
from factpin.errors import FactpinError
from factpin.formats import FORMATS, Options, Report
from tests.formats.test_formats import sample

FILES = 2000  # over all formats
SPICE = ["null", "[]", "{}", '""', "-1", "1e400", "99999999999999999999999", "NaN", "true", '"\\ud83d"', "[" * 3000,
         '{"a":' * 2000, "\x00", "\ufeff", "\t", "|", "\n\n", "T1\t", "0 1;3 4"]  # fmt: skip


def mutate(data: bytes, chance: random.Random) -> bytes:
    """One of: cut, doubled, swapped, spiced, bytes flipped, a number or word replaced."""
    if not data:
        return b"\xff"
    a, b = sorted(chance.randrange(len(data)) for _ in range(2))
    match chance.randrange(7):
        case 0:
            return data[:a]
        case 1:
            return data[:a] + data[b:]
        case 2:
            return data[:b] + data[a:]
        case 3:
            return data[:a] + chance.choice(SPICE).encode("utf-8", "surrogatepass") + data[b:]
        case 4:
            flipped = bytearray(data)
            flipped[a] = chance.randrange(256)
            return bytes(flipped)
        case 5:
            return data[:a] + chance.choice(SPICE).encode("utf-8", "surrogatepass") + data[a:]
        case _:
            text = data.decode("utf-8", "replace")
            words = sorted(set(text.split()))
            return text.replace(chance.choice(words), chance.choice(words + SPICE), 1).encode("utf-8", "surrogatepass")


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """A guard against hangs: far more than any of these files needs."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"still reading after {seconds} s")

    old = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, old)


@pytest.mark.parametrize("name", FORMATS)
def test_a_broken_file_never_gives_a_traceback(name: str, tmp_path: Path) -> None:
    chance = random.Random(name)
    original = sample(name)
    parts = [p for p in sorted(original.rglob("*")) if p.is_file()] if original.is_dir() else [original]
    outcomes = {"read": 0, "refused": 0, "set aside": 0}
    for number in range(FILES // len(FORMATS) + 1):
        target = tmp_path / f"{number}"
        for part in parts:
            place = target / part.relative_to(original) if original.is_dir() else target.with_suffix(original.suffix)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(part.read_bytes())
        victim = place if not original.is_dir() else target / chance.choice(parts).relative_to(original)
        victim.write_bytes(mutate(victim.read_bytes(), chance))
        path = target if original.is_dir() else place
        report = Report()
        with at_most(20):
            try:
                for doc in formats.read(path, format=name, options=Options(skip_bad=number % 2 == 0), report=report):
                    assert all(doc.text[m.start : m.end] == m.text for m in doc.mentions)
                outcomes["set aside" if report.rejected else "read"] += 1
            except FactpinError as error:
                assert len(str(error)) > 10
                outcomes["refused"] += 1
    assert all(outcomes.values()), outcomes
