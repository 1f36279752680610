"""The file that keeps answers: SQLite, for several threads and processes at a time."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

_APPLICATION_ID = 0x504C4A31  # "PLJ1": tells a cache of ours from any other SQLite file
_TABLES = """
CREATE TABLE replies (
    key TEXT PRIMARY KEY, task TEXT NOT NULL, model TEXT NOT NULL, request TEXT NOT NULL, reply TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE exchanges (
    number INTEGER PRIMARY KEY, key TEXT NOT NULL, task TEXT NOT NULL, asked TEXT NOT NULL,
    seconds REAL NOT NULL, outcome TEXT NOT NULL, detail TEXT NOT NULL
);
"""


class Store:
    """One file of answers, opened when it is first needed.

    Args:
        path: The file; it is made where there is none, if it may be written.
        writable: Whether answers are added; a file that is only read stays as it is.
        wrong: Makes the error of a sentence.
    """

    def __init__(self, path: Path, *, writable: bool, wrong: Callable[[str], Exception]) -> None:
        self.path = path
        self.writable = writable
        self._wrong = wrong
        self._lock = threading.Lock()
        self._opened: tuple[int, sqlite3.Connection] | None = None

    def read(self, statement: str, values: tuple[Any, ...] = ()) -> list[Any]:
        """The rows that a statement gives."""
        with self._lock:
            try:
                return self._connection().execute(statement, values).fetchall()
            except sqlite3.Error as problem:
                raise self._wrong(f"{self.path}: not a usable cache of answers: {problem}") from None

    def write(self, statement: str, values: tuple[Any, ...]) -> None:
        """Run a statement that adds something."""
        with self._lock:
            try:
                with self._connection() as connection:
                    connection.execute(statement, values)
            except sqlite3.Error as problem:
                raise self._wrong(f"{self.path}: the answer cannot be kept: {problem}") from None

    def find(self, key: str) -> str | None:
        """The answer kept under a key, as text."""
        rows = self.read("SELECT reply FROM replies WHERE key = ?", (key,))
        return rows[0][0] if rows else None

    def keep(self, row: tuple[str, str, str, str, str]) -> None:
        """Keep an answer: its key, task, model, request and text."""
        self.write("INSERT OR IGNORE INTO replies VALUES (?, ?, ?, ?, ?)", row)

    def damaged(self, key: str) -> Exception:
        """The error of an answer that cannot be read."""
        return self._wrong(f"{self.path}: the answer kept under {key} is damaged; delete the row")

    def held(self) -> str:
        """Whose answers there are, in words."""
        models = [row[0] for row in self.read("SELECT DISTINCT model FROM replies ORDER BY model")]
        return f"it holds answers of {', '.join(map(repr, models))}" if models else "it is empty"

    def check(self) -> None:
        """Refuse a file that is no cache before anything is asked; a new one is made."""
        self.read("SELECT 1 FROM replies LIMIT 1")

    def close(self) -> None:
        """Close the file; it opens again by itself."""
        with self._lock:
            if self._opened is not None and self._opened[0] == os.getpid():
                self._opened[1].close()
            self._opened = None

    def _connection(self) -> sqlite3.Connection:
        """This process's connection; a forked child opens its own."""
        if self._opened is None or self._opened[0] != os.getpid():
            self._opened = (os.getpid(), self._open())
        return self._opened[1]

    def _open(self) -> sqlite3.Connection:
        if not self.writable and not self.path.is_file():
            raise self._wrong(f"{self.path}: no such cache of answers, and nobody is there to ask")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise self._wrong(f"{self.path}: the folder cannot be made: {problem.strerror}") from None
        address = f"{self.path.absolute().as_uri()}?mode={'rwc' if self.writable else 'ro'}"
        connection = sqlite3.connect(address, timeout=60, check_same_thread=False, uri=True)
        try:
            _prepare(connection, writable=self.writable)
        except sqlite3.Error:
            connection.close()
            raise
        return connection


def _prepare(connection: sqlite3.Connection, *, writable: bool) -> None:
    """Tables in a new file; sqlite3.DatabaseError for a file that is something else."""
    if writable:
        connection.execute("BEGIN IMMEDIATE")
    with connection:
        if connection.execute("PRAGMA application_id").fetchone()[0] == _APPLICATION_ID:
            return
        if not writable or connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise sqlite3.DatabaseError("it holds something else")
        for statement in _TABLES.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
