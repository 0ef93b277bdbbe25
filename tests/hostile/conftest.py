"""A limit on memory for tests with hostile input."""

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

MOST = 4_000_000_000  # bytes beyond what the process has when a test starts


@pytest.fixture
def limited() -> Iterator[None]:
    """4 GB more than now."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MOST, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)
