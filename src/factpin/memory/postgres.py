"""Tables in PostgreSQL with pgvector (extra `postgres`): many readers, one writer at a time.

Words are in a table of postings and scored in SQL by the formula of bm25.py. Vectors are halfvec, searched exactly
unless `approximate` has built an HNSW index. All tables are created in the first schema of the search path.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from typing import Any

import numpy as np

from factpin.documents.keys import digest
from factpin.errors import BadFile, BadInput, MissingExtra
from factpin.memory import bm25
from factpin.memory.nouns import Filter, Floats, Hit
from factpin.memory.rows import PassageRow
from factpin.memory.sql import SqlTables
from factpin.memory.tables import VectorRow
from factpin.memory.terms import after_prefix, is_prefix
from factpin.memory.vectors import KEPT, score, unit

LOCK = 0x666163747069  # advisory lock of the writer
MORE = 16  # vectors beyond k that are scored exactly
SLACK = 0.002  # how much half precision can change an inner product


def open_postgres(url: str, create: bool, settings: Mapping[str, str]) -> SqlTables:
    """Open the tables of a database, or create them with these settings."""
    connection = PostgresConnection(url)
    try:
        connection.prepare(create, settings)
    except BaseException:
        connection.close()
        raise
    return SqlTables(connection)


class PostgresConnection:
    """A connection to PostgreSQL."""

    def __init__(self, url: str) -> None:
        try:
            import psycopg  # noqa: PLC0415  (optional)
        except ImportError as error:
            raise MissingExtra(
                f"A store in PostgreSQL needs psycopg ({error}). Install it: pip install 'factpin[postgres]'."
            ) from None
        self._error: type[Exception] = psycopg.Error
        self._depth = 0
        try:
            self._connection = psycopg.connect(url, autocommit=True)
        except psycopg.Error as error:
            raise BadFile(
                f"The database does not answer: {_first_line(error)}. Check the URL and the server."
            ) from None
        info = self._connection.info
        self.url = f"postgresql://{info.user}@{info.host}/{info.dbname}"  # without the password

    def prepare(self, create: bool, settings: Mapping[str, str]) -> None:
        """Create the tables in one transaction if they do not exist."""
        if self.ask("SHOW server_encoding")[0][0] != "UTF8":
            raise BadInput(f"{self.url}: the database is not in UTF-8. Create one with ENCODING 'UTF8'.")
        if not create and not self._is_made():
            raise BadFile(f"{self.url}: there is no store. Check the URL, or create one: factpin index FILES --db URL")
        if self._is_made():
            return
        with self.writing():
            if self._is_made():  # another process created them
                return
            try:
                self.run("CREATE EXTENSION IF NOT EXISTS vector")
            except BadFile as error:
                raise BadInput(f"A store in PostgreSQL needs the extension pgvector 0.7 or newer. {error}") from None
            self.run((files("factpin.memory") / "ddl" / "postgres.sql").read_text("utf-8"))
            self.do("INSERT INTO setting(key, value) VALUES(?, ?)", list(settings.items()))

    def _is_made(self) -> bool:
        return bool(self.ask("SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'posting'"))

    # ---- transactions ---------------------------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self._transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"):
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        outermost = self._depth == 0
        with self._transaction("BEGIN"):
            if outermost:
                self.ask("SELECT pg_advisory_xact_lock(?)", (LOCK,))
            yield

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        if self._depth == 0:
            self.run(begin)
        self._depth += 1
        try:
            yield
            if self._depth == 1:
                self.run("COMMIT")
        except BaseException:
            if self._depth == 1 and not self._connection.closed:
                self._connection.rollback()
            raise
        finally:
            self._depth -= 1

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        try:
            yield
        except self._error as error:
            raise BadFile(f"{self.url}: {_first_line(error)}. Nothing was changed.") from None

    def close(self) -> None:
        self._connection.close()

    def run(self, statement: str) -> None:
        """Run one or more statements without values."""
        with self._clear_errors():
            self._connection.execute(statement.encode())

    def ask(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._clear_errors():
            return self._connection.execute(statement.replace("?", "%s").encode(), values).fetchall()

    def do(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        with self._clear_errors(), self._connection.cursor() as cursor:
            cursor.executemany(statement.replace("?", "%s").encode(), rows)

    # ---- words ----------------------------------------------------------------------------------------------------

    def add_passages(self, rows: Sequence[PassageRow], words: Sequence[str]) -> None:
        self.do("INSERT INTO passage(id, document, start, stop, length) VALUES(?, ?, ?, ?, ?)", rows)
        numbers = (
            dict(self.ask("SELECT id, number FROM passage WHERE document = ?", (rows[0].document,))) if rows else {}
        )
        copying = "COPY posting(term, passage, count) FROM STDIN"
        with self._clear_errors(), self._connection.cursor() as cursor, cursor.copy(copying) as copy:
            for row, found in zip(rows, words, strict=True):
                for term, count in Counter(found.split()).items():
                    copy.write_row((term, numbers[row.id], count))

    def words_of(self, document: str) -> list[str]:
        rows = self.ask(
            "SELECT p.start, t.term, t.count FROM passage p LEFT JOIN posting t ON t.passage = p.number "
            "WHERE p.document = ? ORDER BY p.start, t.term",
            (document,),
        )
        found: dict[int, list[str]] = {}
        for start, term, count in rows:
            found.setdefault(start, []).extend([term] * count if term is not None else [])
        return [" ".join(sorted(words)) for words in found.values()]

    def words(self, terms: Sequence[str], k: int, filter: Filter) -> list[Hit]:
        wanted = bm25.unique(terms)
        if not wanted or k < 1:
            return []
        prefixes = [term for term in wanted if is_prefix(term)]
        join = "JOIN document d ON d.id = p.document WHERE substr(d.published, 1, ?) <= ?" if filter.as_of else ""
        parts = ["SELECT term AS asked, passage, count FROM posting WHERE term = ANY(?)"]
        parts += [
            "SELECT ?, passage, sum(count) FROM posting WHERE term >= ? AND term < ? GROUP BY passage" for _ in prefixes
        ]
        values: list[Any] = [len(filter.as_of), filter.as_of] if filter.as_of else []
        values.append([term for term in wanted if not is_prefix(term)])
        for term in prefixes:
            values += [term, term, after_prefix(term)]
        statement = f"""
            WITH pool AS (SELECT p.number, p.id, p.length::float8 AS length FROM passage p {join}),
            n AS (SELECT count(*)::float8 AS documents, avg(length) AS average FROM pool),
            hit AS (SELECT h.asked, pool.id, pool.length, h.count::float8 AS count
                    FROM ({" UNION ALL ".join(parts)}) h JOIN pool ON pool.number = h.passage),
            weight AS (SELECT asked, ln(1 + (n.documents - count(*) + 0.5) / (count(*) + 0.5)) AS idf
                       FROM hit, n GROUP BY asked, n.documents),
            total AS (SELECT id, sum(idf * count * {bm25.K1 + 1} / (count + {bm25.K1} * ({1 - bm25.B} + {bm25.B} *
                      length / n.average))) AS score FROM hit JOIN weight USING (asked), n GROUP BY id)
            SELECT id, score FROM total ORDER BY round(score::numeric, {bm25.DECIMALS}) DESC, id LIMIT ?"""
        return bm25.best(((id, s) for id, s in self.ask(statement, (*values, k))), k)

    # ---- vectors --------------------------------------------------------------------------------------------------

    def add_vectors(self, rows: Sequence[VectorRow]) -> None:
        self.do(
            "INSERT INTO vector(passage, encoder, data) VALUES(?, ?, ?::halfvec) ON CONFLICT(passage, encoder) "
            "DO UPDATE SET data = excluded.data",
            [(row.passage, row.encoder, _written(np.frombuffer(row.data, KEPT))) for row in rows],
        )

    def vectors_of(self, document: str) -> list[VectorRow]:
        rows = self.ask(
            "SELECT v.passage, v.encoder, v.data::text FROM vector v JOIN passage p ON p.id = v.passage "
            "WHERE p.document = ?",
            (document,),
        )
        return [VectorRow(passage, encoder, _read(data)) for passage, encoder, data in rows]

    def encoders(self) -> dict[str, tuple[int, int]]:
        rows = self.ask(
            "SELECT encoder, count(*), max(vector_dims(data)) FROM vector GROUP BY encoder ORDER BY encoder"
        )
        return {encoder: (count, width) for encoder, count, width in rows}

    def width(self, encoder: str) -> int:
        found = self.ask("SELECT vector_dims(data) FROM vector WHERE encoder = ? LIMIT 1", (encoder,))
        return int(found[0][0]) if found else 0

    def nearest(self, encoder: str, query: Floats, k: int, filter: Filter) -> list[Hit]:
        wide = unit(query)
        if k < 1:
            return []
        size, asked = len(wide), _written(wide)
        join = "JOIN passage p ON p.id = v.passage JOIN document d ON d.id = p.document" if filter.as_of else ""
        where = "AND substr(d.published, 1, ?) <= ?" if filter.as_of else ""
        dates: list[Any] = [len(filter.as_of), filter.as_of] if filter.as_of else []
        source = f"FROM vector v {join} WHERE v.encoder = '{encoder}' {where}"
        distance = f"v.data::halfvec({size}) <#> ?::halfvec({size})"
        if self._is_approximate(encoder):
            rows = self.ask(
                f"SELECT v.passage, v.data::text {source} ORDER BY {distance} LIMIT ?", (*dates, asked, 2 * k + MORE)
            )
        else:  # everything that rounding the query could have kept out of the first k
            last = f"SELECT max(d) FROM (SELECT {distance} AS d {source} ORDER BY 1 LIMIT ?) AS first"
            rows = self.ask(
                f"SELECT v.passage, v.data::text {source} AND {distance} <= ({last}) + {SLACK}",
                (*dates, asked, asked, *dates, k),
            )
        exact = score([_read(data) for _, data in rows], query)
        return bm25.best(zip([passage for passage, _ in rows], exact, strict=True), k)

    def approximate(self, encoder: str) -> None:
        """Build an HNSW index for an encoder: faster from about 100,000 passages, but no longer exact."""
        self.run(
            f"CREATE INDEX IF NOT EXISTS {_index(encoder)} ON vector USING hnsw "
            f"((data::halfvec({self.width(encoder)})) halfvec_ip_ops) WHERE encoder = '{encoder}'"
        )

    def _is_approximate(self, encoder: str) -> bool:
        found = self.ask(
            "SELECT 1 FROM pg_indexes WHERE schemaname = current_schema() AND indexname = ?", (_index(encoder),)
        )
        return bool(found)

    def compact(self) -> None:
        """Write the tables anew without what was removed."""
        self.run("VACUUM (FULL) document, passage, posting, entity, mention, fact, evidence, vector, decision")

    def problems(self) -> list[str]:
        """Always empty: foreign keys prevent orphaned rows."""
        return []


def _index(encoder: str) -> str:
    return f"vector_near_{digest(encoder)}"


def _written(vector: Floats) -> str:
    return "[" + ",".join(repr(float(x)) for x in vector) + "]"


def _read(text: str) -> bytes:
    return np.array(text[1:-1].split(","), dtype=np.float64).astype(KEPT).tobytes()


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else type(error).__name__
