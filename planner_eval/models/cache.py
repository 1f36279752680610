"""Answers of judges and models kept in SQLite: nothing is paid twice, and runs repeat without a model."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from planner_eval.base.errors import JudgeError, ModelError
from planner_eval.base.text import encodable, text_hash
from planner_eval.benchmarks.judging import Judge, JudgeReply, JudgeRequest, Usage, request_key
from planner_eval.models.replies import Model, Reply, read_reply_data

_T = TypeVar("_T", JudgeReply, Reply)

# ----------------------------------------------------------------------
# The file that keeps answers: SQLite, for several threads and processes at a time.
_APPLICATION_ID = 0x504C4A31  # "PLJ1": tells a cache of ours from any other SQLite file
_SCHEMA = """
CREATE TABLE replies (
    key TEXT PRIMARY KEY, task TEXT NOT NULL, model TEXT NOT NULL, request TEXT NOT NULL, reply TEXT NOT NULL
) WITHOUT ROWID;
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
                raise self._wrong(f"{self.path}: the answer cannot be stored: {problem}") from None

    def find(self, key: str, read: Callable[[Any], _T]) -> _T | None:
        """The answer kept under a key, as it is read from JSON data, marked as kept."""
        rows = self.read("SELECT reply FROM replies WHERE key = ?", (key,))
        try:
            return replace(read(json.loads(rows[0][0])), cached=True) if rows else None
        except (ValueError, TypeError, KeyError):
            message = f"{self.path}: the answer stored under {key} is damaged: delete the row"
            raise self._wrong(message) from None

    def keep(self, key: str, task: str, model: str, request: str, reply: Mapping[str, Any]) -> None:
        """Keep an answer."""
        row = (key, task, model, encodable(request), json.dumps(reply))
        self.write("INSERT OR IGNORE INTO replies VALUES (?, ?, ?, ?, ?)", row)

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
            raise self._wrong(f"{self.path}: no such cache of answers, and no model to ask")
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
        for statement in _SCHEMA.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")


# ----------------------------------------------------------------------
# Answers kept in SQLite, keyed by the whole request: nothing is paid twice, and runs can be repeated.
class Cache(Store):
    """A judge that answers from a file, and asks another judge only for what the file does not hold.

    Several threads and processes may use one file at a time.

    Args:
        path: The file; it is made where there is none, unless answers are only replayed.
        judge: Whom to ask; None replays only: no network is needed, and the file stays as it is.
        model: The model of requests that name none. It is part of the key, so a replay must name the
            model that was asked.

    >>> import tempfile
    >>> from planner_eval.benchmarks.judging import ScriptedJudge
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cache = Cache(Path(folder) / "judge.sqlite", ScriptedJudge(lambda request: "pass"), model="m")
    ...     request = JudgeRequest("t", (("user", "ok?"),))
    ...     [cache.ask(request).cached, cache.ask(request).cached, cache.close()]
    [False, True, None]
    """

    def __init__(self, path: Path, judge: Judge | None = None, *, model: str = "") -> None:
        super().__init__(path, writable=judge is not None, wrong=JudgeError)
        self.judge = judge
        self.model = model

    def ask(self, request: JudgeRequest) -> JudgeReply:
        """The kept answer, or the judge's, which is then kept.

        Raises:
            JudgeError: there is no kept answer and no judge, the judge failed, or the file is no cache.
        """
        request = replace(request, model=request.model or self.model, fields=())
        key = request_key(request)
        if (stored := self.find(key, _read_judge_reply)) is not None:
            return stored
        if self.judge is None:
            raise JudgeError(
                f"{self.path} has no answer to a request of task {request.task!r} to model "
                f"{request.model!r} ({self.held()}), and no judge is there to ask"
            )
        reply = self.judge.ask(request)
        self.keep(key, request.task, request.model, json.dumps(asdict(request)), asdict(reply))
        return reply


def _read_judge_reply(reply: Any) -> JudgeReply:
    return JudgeReply(**reply | {"usage": Usage(**reply["usage"])})


# ----------------------------------------------------------------------
# A model whose answers are kept in a file: nothing is paid twice, and runs can be repeated without it.
_TASK = "predict"


class CachedModel(Store):
    """A model that answers from a file, and asks another one only for what the file does not hold.

    The file is one of :mod:`.store`; a judge's may be the same.

    Args:
        path: The file; it is made where there is none, unless answers are only replayed.
        model: Whom to ask; None replays only: no network is needed, and the file stays as it is.
        name: The model's name, part of the key: a replay must name the model that was asked.
        repetition: Which of several answers to one request is meant, counted from 0.

    >>> import asyncio, tempfile
    >>> class Echo:
    ...     async def complete(self, messages, tools=None, **sampling):
    ...         return Reply(messages[-1]["content"])
    >>> async def twice(path):
    ...     kept = CachedModel(path, Echo(), name="echo")
    ...     said = [await kept.complete([{"role": "user", "content": "a"}]) for _ in range(2)]
    ...     kept.close()
    ...     return [(reply.text, reply.cached) for reply in said]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     asyncio.run(twice(Path(folder) / "model.sqlite"))
    [('a', False), ('a', True)]
    """

    def __init__(self, path: Path, model: Model | None = None, *, name: str, repetition: int = 0) -> None:
        super().__init__(path, writable=model is not None, wrong=partial(ModelError, code="missing"))
        self.model = model
        self.name = name
        self.repetition = repetition

    async def complete(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any] | None = None, **sampling: Any
    ) -> Reply:
        """The kept answer, or the model's, which is then kept.

        Raises:
            ModelError: there is no kept answer and no model, the model failed, or the file is no cache.
        """
        import asyncio

        request = request_text(messages, tools, model=self.name, repetition=self.repetition, **sampling)
        key = text_hash(request)
        if (stored := self.find(key, read_reply_data)) is not None:
            return stored
        if self.model is None:
            raise ModelError(
                f"{self.path} has no answer to this request to model {self.name!r} "
                f"({self.held()}), and no model is there to ask",
                code="missing",
            )
        reply = await self.model.complete(messages, tools, **sampling)
        await asyncio.to_thread(self.keep, key, _TASK, self.name, request, asdict(reply))
        return reply


def request_text(messages: Sequence[Mapping[str, Any]], tools: Sequence[Any] | None, **sampling: Any) -> str:
    """A request as one JSON text with sorted keys; without what is not set.

    >>> request_text([], None, temperature=0.0, top_p=None)
    '{"messages": [], "temperature": 0.0}'
    """
    request = {key: value for key, value in sampling.items() if value is not None}
    request |= {"messages": list(messages), **({"tools": list(tools)} if tools else {})}
    return json.dumps(request, sort_keys=True, ensure_ascii=False)
