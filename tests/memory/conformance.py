"""What every store must do. A class of tests/memory/test_stores.py inherits it for each entry of STORES."""

import math
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from factpin.memory import Store
from factpin.memory.in_memory import InMemoryTables
from tests.memory.histories import SCHEMA, SMALL, Step, answers, histories, live

SAME = [HealthCheck.differing_executors, HealthCheck.too_slow, HealthCheck.data_too_large]


class StoreConformance:
    """`fresh` opens a new, empty store; `kind` is its name in STORES."""

    kind = ""

    @pytest.fixture(scope="class")
    @classmethod
    def fresh(cls) -> Callable[[], Store]:
        raise NotImplementedError

    @settings(max_examples=30, suppress_health_check=SAME)
    @given(histories)
    def test_deleting_is_never_having_ingested(self, fresh: Callable[[], Store], history: list[Step]) -> None:
        law(fresh, history)

    @pytest.mark.verify
    @pytest.mark.timeout(3000)
    @settings(max_examples=300, suppress_health_check=SAME)
    @given(histories)
    def test_deleting_is_never_having_ingested_at_length(self, fresh: Callable[[], Store], history: list[Step]) -> None:
        law(fresh, history)


def law(fresh: Callable[[], Store], history: list[Step]) -> None:
    """A store with a history answers as one that only saw what is left, and as one in memory does."""
    with fresh() as old, fresh() as new, Store(InMemoryTables(), new=True, passages=SMALL) as plain:
        old.set_schema(SCHEMA)
        left = live(old, history)
        assert {source.uri: (doc, source) for doc, source in old.documents()} == left
        assert old.check() == []
        found = answers(old)
        for other in (new, plain):
            other.set_schema(SCHEMA)
            for decision in old.decisions():
                other.tables.put_decision(decision)
            for uri in sorted(left, reverse=True):
                other.put(*left[uri])
            assert_equal(found, answers(other))


def assert_equal(a: Any, b: Any, where: str = "") -> None:
    """Equal values; numbers to 1e-9."""
    if isinstance(a, float) and isinstance(b, float):
        assert math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9), (where, a, b)
    elif isinstance(a, dict):
        assert a.keys() == b.keys(), where
        for key in a:
            assert_equal(a[key], b[key], f"{where}.{key}")
    elif isinstance(a, list | tuple):
        assert len(a) == len(b), (where, a, b)
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            assert_equal(x, y, f"{where}[{i}]")
    elif is_dataclass(a):
        for field in fields(a):
            assert_equal(getattr(a, field.name), getattr(b, field.name), f"{where}.{field.name}")
    else:
        assert a == b, (where, a, b)
