"""One small trained reader of each head for all tests here."""

from pathlib import Path

import pytest

from factpin.models.reader_folder import READER_HEADS
from tests.answers.small_world import trained


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("readers")


@pytest.fixture(params=READER_HEADS)
def reader_folder(home: Path, request: pytest.FixtureRequest) -> Path:
    return trained(home, request.param)[0]
