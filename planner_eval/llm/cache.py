"""Answers kept in SQLite, keyed by the whole request: nothing is paid twice, and runs can be repeated.

Every exchange is recorded as well: what was asked when, whether it was answered, replayed or failed.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from planner_eval.base.errors import JudgeError
from planner_eval.llm.protocol import Judge, JudgeReply, JudgeRequest, Usage, request_key
from planner_eval.llm.store import Store


class Spent(NamedTuple):
    """What one task took, over the whole life of a cache.

    Args:
        task: The task of the requests.
        answered: Answers that an endpoint gave.
        replayed: Answers that came from the cache.
        failed: Requests that were not answered.
        input_tokens: Tokens of the answered questions.
        output_tokens: Tokens of the answers.
        cost: Their price; None where an answer has none.
    """

    task: str
    answered: int
    replayed: int
    failed: int
    input_tokens: int
    output_tokens: int
    cost: float | None


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and what became of it.

    Args:
        key: The key of the request.
        task: Its task.
        asked: When, in UTC, ISO 8601.
        seconds: How long it took.
        outcome: ``"answered"``, ``"replayed"`` or ``"failed"``.
        detail: Why it failed.
    """

    key: str
    task: str
    asked: str
    seconds: float
    outcome: str
    detail: str


class Cache:
    """A judge that answers from a file, and asks another judge only for what the file does not hold.

    Several threads and processes may use one file at a time.

    Args:
        path: The file; it is made where there is none, unless answers are only replayed.
        judge: Whom to ask; None replays only: no network is needed, and the file stays as it is.
        model: The model of requests that name none. It is part of the key, so a replay must name the
            model that was asked.

    >>> import tempfile
    >>> from planner_eval.llm.protocol import ScriptedJudge
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cache = Cache(Path(folder) / "judge.sqlite", ScriptedJudge(lambda request: "pass"), model="m")
    ...     request = JudgeRequest("t", (("user", "ok?"),))
    ...     [cache.ask(request).cached, cache.ask(request).cached, cache.close()]
    [False, True, None]
    """

    def __init__(self, path: Path, judge: Judge | None = None, *, model: str = "") -> None:
        self.path = path
        self.judge = judge
        self.model = model
        self._store = Store(path, writable=judge is not None, wrong=JudgeError)

    def ask(self, request: JudgeRequest) -> JudgeReply:
        """The kept answer, or the judge's, which is then kept.

        Raises:
            JudgeError: there is no kept answer and no judge, the judge failed, or the file is no cache.
        """
        request = replace(request, model=request.model or self.model, fields=())
        key, started = request_key(request), time.perf_counter()
        stored = self._find(key)
        if stored is not None:
            self._record(request, key, started, "replayed")
            return replace(stored, cached=True)
        if self.judge is None:
            raise JudgeError(self._nothing_kept(request))
        try:
            reply = self.judge.ask(request)
        except JudgeError as problem:
            self._record(request, key, started, "failed", str(problem))
            raise
        self._keep(request, key, reply)
        self._record(request, key, started, "answered")
        return reply

    def check(self) -> None:
        """Refuse a file that is no cache before anything is asked; a new one is made.

        Raises:
            JudgeError: says what the file is, or that there is none.
        """
        self._store.check()

    def exchanges(self) -> list[Exchange]:
        """Every exchange so far, oldest first."""
        rows = self._store.read(
            "SELECT key, task, asked, seconds, outcome, detail FROM exchanges ORDER BY number"
        )
        return [Exchange(*row) for row in rows]

    def spent(self) -> list[Spent]:
        """What each task took so far, by name."""
        outcomes: dict[str, dict[str, int]] = {}
        for task, outcome, count in self._store.read(
            "SELECT task, outcome, count(*) FROM exchanges GROUP BY 1, 2 ORDER BY 1"
        ):
            outcomes.setdefault(task, {})[outcome] = count
        usages: dict[str, list[Usage]] = {}
        for task, text in self._store.read("SELECT task, reply FROM replies ORDER BY key"):
            usages.setdefault(task, []).append(Usage(**json.loads(text)["usage"]))
        return [_spent(task, counts, usages.get(task, [])) for task, counts in outcomes.items()]

    def close(self) -> None:
        """Close the file; it opens again by itself."""
        self._store.close()

    # ------------------------------------------------------------ the file
    def _find(self, key: str) -> JudgeReply | None:
        text = self._store.find(key)
        if text is None:
            return None
        try:
            reply = json.loads(text)
            return JudgeReply(**reply | {"usage": Usage(**reply["usage"])})
        except (ValueError, TypeError, KeyError):
            raise self._store.damaged(key) from None

    def _keep(self, request: JudgeRequest, key: str, reply: JudgeReply) -> None:
        row = (key, request.task, request.model, json.dumps(asdict(request)), json.dumps(asdict(reply)))
        self._store.keep(row)

    def _record(
        self, request: JudgeRequest, key: str, started: float, outcome: str, detail: str = ""
    ) -> None:
        if self.judge is None:
            return
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        row = (key, request.task, now, time.perf_counter() - started, outcome, _ascii(detail))
        insert = (
            "INSERT INTO exchanges (key, task, asked, seconds, outcome, detail) VALUES (?, ?, ?, ?, ?, ?)"
        )
        self._store.write(insert, row)

    def _nothing_kept(self, request: JudgeRequest) -> str:
        description = f"a request of task {request.task!r} to model {request.model!r}"
        return (
            f"{self.path} has no answer to {description} ({self._store.held()}), and no judge is there to ask"
        )


def _spent(task: str, counts: dict[str, int], usages: list[Usage]) -> Spent:
    costs = [usage.cost for usage in usages if usage.cost is not None]
    return Spent(
        task,
        answered=counts.get("answered", 0),
        replayed=counts.get("replayed", 0),
        failed=counts.get("failed", 0),
        input_tokens=sum(usage.input_tokens for usage in usages),
        output_tokens=sum(usage.output_tokens for usage in usages),
        cost=sum(costs) if len(costs) == len(usages) else None,
    )


def _ascii(text: str) -> str:
    """The text without what SQLite cannot hold (half a surrogate pair)."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
