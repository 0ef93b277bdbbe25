"""The conformance tests for each kind of store."""

from collections.abc import Callable
from itertools import count

import pytest

from factpin.memory import Store, open_store
from tests.memory.conformance import StoreConformance
from tests.memory.histories import SMALL


class TestInMemory(StoreConformance):
    @pytest.fixture(scope="class")
    @classmethod
    def fresh(cls) -> Callable[[], Store]:
        return lambda: open_store("memory:", create=True, passages=SMALL)


class TestSqlite(StoreConformance):
    @pytest.fixture(scope="class")
    @classmethod
    def fresh(cls, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Store]:
        folder = tmp_path_factory.mktemp("stores")
        number = count()
        return lambda: open_store(str(folder / f"{next(number)}.db"), create=True, passages=SMALL)
