"""Tables in one SQLite file. Words are in FTS5 with our own terms; vectors are blobs, searched exactly in numpy.

A connection belongs to the thread that opened it: each thread opens the store for itself.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from factpin.errors import BadFile, BadInput
from factpin.memory import ann, bm25
from factpin.memory.nouns import Filter, Floats, Hit
from factpin.memory.rows import PassageRow
from factpin.memory.sql import SqlTables
from factpin.memory.tables import VectorRow
from factpin.memory.terms import after_prefix, is_prefix
from factpin.memory.vectors import unit, unpack
from factpin.words import count

APPLICATION = 0x666163  # marks the file as a store of factpin
SLACK = 1e-5  # how much single precision can change an inner product
REMEMBERED = 4_000_000  # places of terms to keep in memory between questions, 16 bytes each
WAIT = 10_000  # milliseconds for another writer


def open_sqlite(url: str, create: bool, settings: Mapping[str, str]) -> SqlTables:
    """Open the tables of a file, or create them with these settings. `url` is a path or sqlite:///path."""
    path = Path(url.removeprefix("sqlite:///"))
    if not path.exists() and not create:
        raise BadFile(f"{path}: there is no store. Check the path, or create one: factpin index FILES --db {path}")
    if path.is_dir() or not path.parent.is_dir():
        raise BadFile(f"{path}: expected a file in an existing folder. Give another path.")
    connection = SqliteConnection(path)
    try:
        connection.prepare(create, settings)
    except BaseException:
        connection.close()
        raise
    return SqlTables(connection)


@dataclass
class _Pool:
    """All passages of one version of the file as arrays, ordered by number."""

    version: tuple[int, int]
    numbers: NDArray[np.int64]
    lengths: Floats
    ids: list[str]
    published: list[str]
    masks: dict[str, NDArray[np.bool_]] = field(default_factory=dict)
    places: dict[str, tuple[NDArray[np.intp], Floats]] = field(default_factory=dict)  # of terms asked for before
    remembered: int = 0  # how many these are


@dataclass
class _Matrix:
    version: tuple[int, int]
    encoder: str
    rows: Floats
    ids: list[str]
    published: list[str]
    asked: int = 0
    index: ann.Neighbours | None = None


class SqliteConnection:
    """A connection to a SQLite file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.url = str(path)
        self._depth = 0
        self._pool: _Pool | None = None
        self._matrix: _Matrix | None = None
        with self._explain_errors():
            self._connection = sqlite3.connect(path, isolation_level=None, timeout=WAIT / 1000)

    def prepare(self, create: bool, settings: Mapping[str, str]) -> None:
        """Set up the connection; create the tables in one transaction if they do not exist."""
        with self._explain_errors():
            for pragma in (
                "foreign_keys = ON",
                f"busy_timeout = {WAIT}",
                "cache_size = -65536",
                "synchronous = NORMAL",
            ):
                self._connection.execute(f"PRAGMA {pragma}")
        made = self._is_made(create)  # before writing to a file that may belong to another program
        self.ask("PRAGMA journal_mode = WAL")
        if made:
            return
        with self.writing():
            if self._is_made(create):  # another process created them
                return
            for statement in _statements((files("factpin.memory") / "ddl" / "sqlite.sql").read_text("utf-8")):
                self._connection.execute(statement)
            self.do("INSERT INTO setting(key, value) VALUES(?, ?)", list(settings.items()))
            self._connection.execute(f"PRAGMA application_id = {APPLICATION}")

    def _is_made(self, create: bool) -> bool:
        """Whether the tables exist. Raise BadFile if the file is something else, or missing without `create`."""
        if self.ask("PRAGMA application_id")[0][0] == APPLICATION:
            return True
        if not create or self.ask("SELECT 1 FROM sqlite_master LIMIT 1"):
            raise BadFile(f"{self.path}: not a factpin store. Give another file.")
        return False

    # ---- transactions ---------------------------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self._transaction("BEGIN"):
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self._transaction("BEGIN IMMEDIATE"):
            yield

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        if self._depth == 0:
            with self._explain_errors():
                self._connection.execute(begin)
        self._depth += 1
        try:
            yield
            if self._depth == 1:
                with self._explain_errors():
                    self._connection.execute("COMMIT")
        except BaseException:
            if self._depth == 1 and self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            self._pool = self._matrix = None  # they may include changes that were rolled back
            raise
        finally:
            self._depth -= 1

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        """Raise SQLite's errors as ours, with a sentence that says what to do."""
        try:
            yield
        except sqlite3.ProgrammingError as error:
            raise BadInput(f"{self.path}: {error}. Open the store in each thread that uses it.") from None
        except sqlite3.Error as error:
            raise BadFile(f"{self.path}: {_advice(str(error))}") from None

    def close(self) -> None:
        self._connection.close()

    def ask(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._explain_errors():
            return self._connection.execute(statement, values).fetchall()

    def do(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        with self._explain_errors():
            self._connection.executemany(statement, rows)

    # ---- words ----------------------------------------------------------------------------------------------------

    def add_passages(self, rows: Sequence[PassageRow], words: Sequence[str]) -> None:
        with self._explain_errors():
            for row, found in zip(rows, words, strict=True):
                number = self._connection.execute(
                    "INSERT INTO passage(id, document, start, stop, length) VALUES(?, ?, ?, ?, ?)", row
                ).lastrowid
                self._connection.execute("INSERT INTO words(rowid, terms) VALUES(?, ?)", (number, found))

    def words_of(self, document: str) -> list[str]:
        rows = self.ask(
            "SELECT w.terms FROM passage p LEFT JOIN words w ON w.rowid = p.number WHERE p.document = ? "
            "ORDER BY p.start",
            (document,),
        )
        return [" ".join(sorted((found or "").split())) for (found,) in rows]

    def words(self, terms: Sequence[str], k: int, filter: Filter) -> list[Hit]:
        pool = self._passages()
        mask = self._mask(pool, filter)
        total = int(mask.sum())
        if not total or k < 1:
            return []
        average = float(pool.lengths[mask].sum()) / total
        scores = np.zeros(len(pool.ids))
        for term in bm25.unique(terms):
            places, counts = self._places(term, pool, mask)
            if len(places):
                weight = bm25.idf(total, len(places))
                lengths = pool.lengths[places]
                scores[places] += (
                    weight * counts * (bm25.K1 + 1.0) / (counts + bm25.K1 * (1.0 - bm25.B + bm25.B * lengths / average))
                )
        return _best(scores, np.flatnonzero(scores), pool.ids, k)

    def _places(self, term: str, pool: _Pool, mask: NDArray[np.bool_]) -> tuple[NDArray[np.intp], Floats]:
        """The rows of the pool that contain a term, and how often."""
        found = pool.places.get(term)
        if found is None:
            where, values = "term = ?", [term]
            if is_prefix(term):
                where, values = "term >= ? AND term < ?", [term, after_prefix(term)]
            # One long string: a Python object per row would take three times as long as the rest.
            joined = self.ask(f"SELECT group_concat(doc, ' ') FROM word_places WHERE {where}", values)[0][0]
            numbers = np.fromstring(joined, dtype=np.int64, sep=" ") if joined else np.zeros(0, dtype=np.int64)
            numbers, counts = np.unique(numbers, return_counts=True)
            found = np.searchsorted(pool.numbers, numbers), counts.astype(np.float64)
            if pool.remembered > REMEMBERED:
                pool.places, pool.remembered = {}, 0
            pool.places[term] = found
            pool.remembered += len(numbers)
        places, frequencies = found
        seen = mask[places]
        return places[seen], frequencies[seen]

    def _version(self) -> tuple[int, int]:
        return self.ask("PRAGMA data_version")[0][0], self._connection.total_changes

    def _passages(self) -> _Pool:
        version = self._version()
        if self._pool is None or self._pool.version != version:
            rows = self.ask(
                "SELECT p.number, p.length, p.id, d.published FROM passage p JOIN document d "
                "ON d.id = p.document ORDER BY p.number"
            )
            self._pool = _Pool(version, np.array([r[0] for r in rows], dtype=np.int64),
                               np.array([r[1] for r in rows], dtype=np.float64), [r[2] for r in rows],
                               [r[3] for r in rows])  # fmt: skip
        return self._pool

    def _mask(self, pool: _Pool, filter: Filter) -> NDArray[np.bool_]:
        if filter.as_of not in pool.masks:
            pool.masks[filter.as_of] = np.array([filter.allows(date) for date in pool.published], dtype=bool)
        return pool.masks[filter.as_of]

    # ---- vectors --------------------------------------------------------------------------------------------------

    def add_vectors(self, rows: Sequence[VectorRow]) -> None:
        self.do(
            "INSERT INTO vector(passage, encoder, data) VALUES(?, ?, ?) ON CONFLICT(passage, encoder) "
            "DO UPDATE SET data = excluded.data",
            rows,
        )

    def vectors_of(self, document: str) -> list[VectorRow]:
        rows = self.ask(
            "SELECT v.passage, v.encoder, v.data FROM vector v JOIN passage p ON p.id = v.passage WHERE p.document = ?",
            (document,),
        )
        return [VectorRow(*row) for row in rows]

    def encoders(self) -> dict[str, tuple[int, int]]:
        rows = self.ask("SELECT encoder, count(*), max(length(data)) / 2 FROM vector GROUP BY encoder ORDER BY encoder")
        return {encoder: (count, width) for encoder, count, width in rows}

    def width(self, encoder: str) -> int:
        found = self.ask("SELECT length(data) / 2 FROM vector WHERE encoder = ? LIMIT 1", (encoder,))
        return int(found[0][0]) if found else 0

    def nearest(self, encoder: str, query: Floats, k: int, filter: Filter) -> list[Hit]:
        matrix = self._vectors(encoder)
        wide = unit(query)
        if not matrix.ids or k < 1:
            return []
        places = _near(matrix, wide, k, filter)
        exact = matrix.rows[places].astype(np.float64) @ wide
        return bm25.best(((matrix.ids[i], float(s)) for i, s in zip(places, exact, strict=True)), k)

    def _vectors(self, encoder: str) -> _Matrix:
        version = self._version()
        if self._matrix is None or (self._matrix.version, self._matrix.encoder) != (version, encoder):
            rows = self.ask(
                "SELECT v.data, v.passage, d.published FROM vector v JOIN passage p ON p.id = v.passage "
                "JOIN document d ON d.id = p.document WHERE v.encoder = ?",
                (encoder,),
            )
            self._matrix = _Matrix(version, encoder, unpack([r[0] for r in rows]).astype(np.float32),
                                   [r[1] for r in rows], [r[2] for r in rows])  # fmt: skip
        return self._matrix

    def compact(self) -> None:
        """Erase the bytes of what was removed, which SQLite keeps in the word index, in free pages and in its log."""
        self.do("INSERT INTO words(words) VALUES(?)", [("optimize",)])
        self.ask("VACUUM")
        if self.ask("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]:
            raise BadFile(
                f"{self.path}: another process is using the store, and its log is still needed. Try again later."
            )
        self._pool = self._matrix = None

    def problems(self) -> list[str]:
        found = [f"the file is damaged: {row[0]}" for row in self.ask("PRAGMA integrity_check(10)") if row[0] != "ok"]
        found += [f"a row of {row[0]} refers to nothing in {row[2]}" for row in self.ask("PRAGMA foreign_key_check")]
        try:
            with self.writing():
                self._connection.execute("INSERT INTO words(words) VALUES('integrity-check')")
        except (sqlite3.Error, BadFile) as error:
            found.append(f"the word index is damaged ({error})")
        lost = self.ask("SELECT count(*) FROM words WHERE rowid NOT IN (SELECT number FROM passage)")[0][0]
        return found + ([f"{count(lost, 'passage is', 'passages are')} only in the word index"] if lost else [])


def _near(matrix: _Matrix, query: Floats, k: int, filter: Filter) -> NDArray[np.integer[Any]]:
    """Rows that include the k nearest: for certain, or probably if an index is used."""
    matrix.asked += 1
    if not filter.as_of and ann.worthwhile(len(matrix.ids), matrix.asked):
        matrix.index = matrix.index or ann.Neighbours(matrix.rows)
        return matrix.index.near(query, 4 * k + 64)
    near = matrix.rows @ query.astype(np.float32)
    if filter.as_of:
        near[[not filter.allows(date) for date in matrix.published]] = -np.inf
    last = np.partition(near, len(near) - k)[len(near) - k] if len(near) > k else -np.inf
    return np.flatnonzero(np.isfinite(near) & (near >= last - SLACK))


def _best(scores: Floats, places: NDArray[np.integer[Any]], ids: list[str], k: int) -> list[Hit]:
    """The k best; only scores at least as good as the k-th are sorted."""
    rounded = np.round(scores[places], bm25.DECIMALS)
    if len(places) > k:
        places = places[rounded >= np.partition(rounded, len(rounded) - k)[len(rounded) - k]]
    return bm25.best(((ids[i], float(scores[i])) for i in places), k)


def _statements(script: str) -> Iterator[str]:
    """Split a script into statements; a trigger contains semicolons of its own."""
    pending = ""
    for line in script.splitlines():
        pending += line + "\n"
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""


def _advice(error: str) -> str:
    if "locked" in error or "busy" in error:
        return f"another process has been writing for {WAIT // 1000} seconds ({error}). Try again later."
    if "full" in error or "disk I/O" in error:
        return f"writing failed and nothing was changed ({error}). Free some disk space and run the command again."
    if "readonly" in error or "unable to open" in error:
        return f"the file cannot be opened for writing ({error}). Check its permissions and those of its folder."
    if "malformed" in error or "not a database" in error:
        return f"the file is damaged or not a store ({error}). Restore it from a copy, or index the documents again."
    return f"{error}."
