"""The conformance tests for each kind of store."""

from collections.abc import Callable
from itertools import count

import pytest

from factpin.memory import STORES, Store, open_store
from tests.memory.conformance import StoreConformance
from tests.memory.histories import SMALL


class TestInMemory(StoreConformance):
    kind = "memory"

    @pytest.fixture(scope="class")
    @classmethod
    def fresh(cls) -> Callable[[], Store]:
        return lambda: open_store("memory:", create=True, passages=SMALL)


class TestSqlite(StoreConformance):
    kind = "sqlite"

    @pytest.fixture(scope="class")
    @classmethod
    def fresh(cls, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Store]:
        folder = tmp_path_factory.mktemp("stores")
        number = count()
        return lambda: open_store(str(folder / f"{next(number)}.db"), create=True, passages=SMALL)


class TestPostgres(StoreConformance):
    kind = "postgresql"

    @pytest.fixture(scope="class")
    @classmethod
    def fresh(cls, fresh_postgres: Callable[[], Store]) -> Callable[[], Store]:
        return fresh_postgres


def test_every_store_is_tested() -> None:
    assert {cls.kind for cls in StoreConformance.__subclasses__()} == set(STORES)
