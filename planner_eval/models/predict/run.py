"""Many samples through a pipeline at once, and the journal of what a run has so far."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeAlias, overload

from planner_eval.base.errors import InputError, ModelError, PlanevalError
from planner_eval.base.text import text_hash
from planner_eval.models.cache import request_text
from planner_eval.models.client import UNASKED
from planner_eval.models.pipelines.pipeline import (
    NO_FIELDS,
    CallRequest,
    Failure,
    Fields,
    Observations,
    Outcome,
    Request,
    Steps,
)
from planner_eval.models.replies import Model, Reply, read_reply_data
from planner_eval.reading.dialects.conversations.answers import answer_state

if TYPE_CHECKING:
    from planner_eval.models.pipelines.agent_pipelines import CallRunner


# ----------------------------------------------------------------------
# What a run has so far, a JSON line each: replies as they come, a row for each sample that is finished.
#
# The file only grows. Whatever stops a run, the next one reads what is there: finished samples are not
# asked again, the others get the replies that they had, and ask for the rest.
FORMAT = "planeval.predict/1"

Row: TypeAlias = dict[str, Any]
"""What a run says of a sample: its answer, and the requests that led to it."""


class StoredReply(NamedTuple):
    """A reply that was given before.

    Args:
        hash: Of its request.
        reply: The reply.
    """

    hash: str
    reply: Reply


class Journal:
    """The file of a run; opened when it is entered.

    Args:
        path: The file, in the folder of one run alone.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for _ in range(2):
    ...         with Journal(Path(folder) / "run.jsonl") as journal:
    ...             if not journal.finished("a"):
    ...                 journal.finish("a", {"id": "a", "prediction": "x", "error": None})
    ...     [row["prediction"] for row in journal.rows(["a"])]
    ['x']
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._places: dict[str, int] = {}
        self._tasks: dict[str, str] = {}
        self._replies: dict[str, list[StoredReply]] = {}
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Journal:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            end = self._read() if self.path.exists() else 0
            self._file = self.path.open("r+b" if self.path.exists() else "w+b")
            self._file.truncate(end)
            self._file.seek(end)
        except OSError as problem:
            raise InputError(f"{self.path}: {problem.strerror or problem}") from None
        if not end:
            self._add({"format": FORMAT})
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    # ------------------------------------------------------------ what there is
    def finished(self, key: str, task: str = "") -> bool:
        """Whether a sample has its row, and no request of it failed.

        Args:
            key: The sample.
            task: What tells what was asked.

        Raises:
            InputError: the row is of another task.
        """
        if key not in self._places or key in self._replies:
            return False
        if self._tasks.get(key, task) != task:
            raise InputError(f"{self.path}: the sample {key!r} has changed: use another folder")
        return True

    def has_row(self, key: str) -> bool:
        """Whether a sample has a row: it was asked."""
        return key in self._places

    def replies(self, key: str) -> list[StoredReply]:
        """The replies that an unfinished sample had, in order."""
        return self._replies.get(key, [])

    def keys(self, order: Sequence[str]) -> list[str]:
        """All samples that have a row: in the order of those known, others in that of their rows.

        Args:
            order: The samples that are known.
        """
        ordered = dict.fromkeys(key for key in order if key in self._places)
        return list(ordered | dict.fromkeys(sorted(self._places, key=self._places.__getitem__)))

    def rows(self, keys: Iterable[str]) -> Iterator[Row]:
        """The rows of samples, in their order; those without one are passed over."""
        with self.path.open("rb") as file:
            for key in keys:
                if key in self._places:
                    file.seek(self._places[key])
                    yield json.loads(file.readline())["row"]

    # ------------------------------------------------------------ what is added
    def reply(self, key: str, number: int, hash: str, reply: Reply) -> None:
        """Keep a reply."""
        self._add({"sample": key, "request": number, "hash": hash, "reply": asdict(reply)})

    def finish(self, key: str, row: Fields) -> None:
        """Keep a sample's row."""
        self._places[key] = self._add({"sample": key, "row": row})
        self._tasks[key] = row.get("task", "")
        self._replies.pop(key, None)

    def _add(self, line: Fields) -> int:
        assert self._file is not None, "the journal is entered first"
        offset = self._file.tell()
        data = json.dumps(line, ensure_ascii=False).encode("utf-8", "backslashreplace")
        self._file.write(data + b"\n")
        self._file.flush()
        return offset

    # ------------------------------------------------------------ an earlier run's
    def _read(self) -> int:
        """Learn what the file holds; gives the end of its last whole line."""
        end = 0
        with self.path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    break
                try:
                    entry = json.loads(line)
                except ValueError:
                    entry = None
                if not end and (not isinstance(entry, dict) or entry.get("format") != FORMAT):
                    raise InputError(f"{self.path} does not hold a run: use another folder")
                if end and not self._learn(entry, end):
                    raise InputError(
                        f"{self.path}, line {number:,}: not a line of a "
                        "run: remove it, and repeat the command"
                    )
                end += len(line)
        return end

    def _learn(self, entry: Any, offset: int) -> bool:
        """Take note of a line; False where it is none of a run."""
        try:
            key = entry["sample"]
            if "row" not in entry:
                replies = self._replies.setdefault(key, [])
                del replies[entry["request"] :]
                replies.append(StoredReply(entry["hash"], read_reply_data(entry["reply"])))
                return True
            if is_unasked(entry["row"]):
                return True
            self._places[key] = offset
            self._tasks[key] = entry["row"].get("task", "")
            if has_failed_request(entry["row"]):
                self._replies.setdefault(key, [])
            else:
                self._replies.pop(key, None)
        except (KeyError, TypeError, ValueError, AttributeError):
            return False
        return True


FAILED_REQUESTS = frozenset({"transport", "context", "refused", "missing"})
"""The codes of rows whose sample could not be asked; a resumed run asks again."""


def has_failed_request(row: Fields) -> bool:
    """Whether a row says that a request failed.

    >>> (
    ...     has_failed_request({"error": {"code": "transport"}}),
    ...     has_failed_request({"error": {"code": "no_route"}})
    ... )
    (True, False)
    """
    return (row.get("error") or {}).get("code") in FAILED_REQUESTS


def is_unasked(row: Fields) -> bool:
    """Whether a row says that a request was not sent: there is nothing yet that could count.

    >>> is_unasked({"error": {"code": "unasked"}}), is_unasked({"error": None})
    (True, False)
    """
    return (row.get("error") or {}).get("code") == UNASKED


# ----------------------------------------------------------------------
# Many samples through a pipeline at once: concurrency, rows in the samples' order, going on after a stop.


@dataclass(frozen=True, slots=True)
class Job:
    """One sample to be asked.

    Args:
        id: The sample's.
        begin: Begins its steps; each time anew.
        acting: Opens what makes its calls, where the pipeline has them made.
        task: What tells what is asked: an interrupted run goes on only with the same.
        repetition: Which of several runs of the sample this is, counted from 0; None where there is one.
        beside: What its row says besides, once it was begun.
    """

    id: str
    begin: Callable[[], Steps]
    acting: Callable[[], CallRunner] | None = None
    task: str = ""
    repetition: int | None = None
    beside: Callable[[], Fields] = lambda: NO_FIELDS


@dataclass(frozen=True, slots=True)
class AskOptions:
    """Whom to ask, and how.

    Args:
        model: The model, by the number of the repetition.
        router: The model that routes; None for the same.
        sampling: What every request asks with.
        concurrency: How many samples are in progress at a time.
        messages: Rows hold the messages of their requests, not only a hash.
    """

    model: Callable[[int], Model]
    router: Callable[[int], Model] | None
    sampling: Fields = field(default_factory=lambda: NO_FIELDS)
    concurrency: int = 8
    messages: bool = True

    def models(self) -> list[Model]:
        """Whoever is asked, for the first repetition."""
        return [self.model(0), *([self.router(0)] if self.router else [])]


def job_keys(jobs: Iterable[Job]) -> list[str]:
    """What tells the jobs apart, see :func:`unique_keys`."""
    return unique_keys(job.id for job in jobs)


def unique_keys(ids: Iterable[str]) -> list[str]:
    """Ids, with a number where one occurs again.

    >>> unique_keys(["a", "a", "b"])
    ['a', 'a#2', 'b']
    """
    seen: dict[str, int] = {}
    keys = []
    for id in ids:
        seen[id] = seen.get(id, 0) + 1
        keys.append(id if seen[id] == 1 else f"{id}#{seen[id]}")
    return keys


async def run_jobs(
    jobs: Sequence[Job],
    asking: AskOptions,
    journal: Journal,
    *,
    tell: Callable[[Fields], None] = lambda row: None,
) -> None:
    """Ask every sample that the journal has no row of; each row is kept as soon as it is there.

    Samples of which a request failed before come last: a server that fails them again is asked the others.

    Args:
        jobs: The samples.
        asking: Whom to ask, and how.
        journal: What there is so far, entered.
        tell: Is given each row.
    """
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    pairs = zip(job_keys(jobs), jobs, strict=True)
    unfinished = [(key, job) for key, job in pairs if not journal.finished(key, job.task)]
    todo = iter(sorted(unfinished, key=lambda keyed: journal.has_row(keyed[0])))

    # Tools run in one thread: a sandbox serves one caller at a time.
    with ThreadPoolExecutor(1) as hands:

        async def work() -> None:
            for key, job in todo:
                row = await _SampleRun(key, job, asking, journal, hands).row()
                if is_unasked(row) and journal.has_row(key):
                    (row,) = journal.rows([key])
                else:
                    journal.finish(key, row)
                tell(row)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(asking.concurrency, len(jobs))):
                    group.create_task(work())
        except BaseExceptionGroup as failures:  # a full disk stops all of them: the first says it
            raise failures.exceptions[0] from None


def finished_rows(order: Sequence[str], journal: Journal) -> Iterator[Row]:
    """All finished rows in the samples' order, without what differs from run to run of the same replies.

    Args:
        order: The samples' keys: those that were asked now, and others.
        journal: The run's.
    """
    for row in journal.rows(journal.keys(order)):
        row.pop("timing", None)
        yield row


TIMING_FILE = "timing.jsonl"
"""How long each answer took, and how often it was asked for."""


class Rows(Sequence[Row]):
    """The rows of a run's file, read when they are looked at.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._places = [0]
        with path.open("rb") as file:
            self._places += [file.tell() for _ in iter(file.readline, b"")]

    def __len__(self) -> int:
        return len(self._places) - 1

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(len(self)))]
        with self.path.open("rb") as file:
            file.seek(self._places[range(len(self))[index]])
            row: Row = json.loads(file.readline())
            return row

    def __iter__(self) -> Iterator[Row]:
        with self.path.open("rb") as file:
            yield from map(json.loads, file)


def write_rows(path: Path, order: Sequence[str], journal: Journal) -> Rows:
    """Write a run's rows in the samples' order, beside the file first, so that it is whole or not there.

    Those of samples that were not asked are left out: they are no answers. How long each took goes into a
    file of its own: the rows are the same of the same replies.
    """
    part_path, timing_path = path.with_suffix(".part"), path.with_name(TIMING_FILE)
    with (
        part_path.open("w", encoding="utf-8", errors="backslashreplace") as file,
        timing_path.open("w", encoding="utf-8", errors="backslashreplace") as times,
    ):
        for row in journal.rows(journal.keys(order)):
            if is_unasked(row):
                continue
            timing = {"id": row["id"], "repetition": row.get("repetition", 0), **row.pop("timing", {})}
            times.write(f"{json.dumps(timing, ensure_ascii=False)}\n")
            file.write(f"{json.dumps(row, ensure_ascii=False)}\n")
    part_path.replace(path)
    return Rows(path)


def read_seconds(rows: str) -> dict[tuple[str, int], float]:
    """How long each answer of a run took, by id and repetition; none of one with a reply out of a cache.

    Args:
        rows: The file of the run's rows; beside it may lie :data:`TIMING_FILE`.
    """
    try:
        with Path(rows).with_name(TIMING_FILE).open(encoding="utf-8") as file:
            times = [json.loads(line) for line in file]
        return {
            (str(timing["id"]), int(timing["repetition"])): timing["seconds"]
            for timing in times
            if "seconds" in timing and not timing.get("cached")
        }
    except (OSError, ValueError, KeyError, TypeError):  # seconds are beside the point: there are none
        return {}


def ending_fields(requests: Iterable[Fields]) -> dict[str, str]:
    """What stands in a record beside an answer that is cut, refused or failed; nothing where it is whole.

    A reply that is no whole one makes an answer of several none; those that only come before it in a
    conversation do not.

    >>> ending_fields([{"stage": "plan", "reply": {"text": "f("}, "finish_reason": "length"}])
    {'finish_reason': 'length'}
    """
    for request in requests:
        ending = {"finish_reason": request["finish_reason"], "refusal": request["reply"].get("refusal", "")}
        if request["stage"] != "history" and answer_state(ending) is not None:
            return {key: value for key, value in ending.items() if value}
    return {}


@dataclass
class _SampleRun:
    """One sample under way."""

    key: str
    job: Job
    asking: AskOptions
    journal: Journal
    hands: Executor
    requests: list[Row] = field(default_factory=list)
    tries: list[int] = field(default_factory=list)
    cached: int = 0
    before: Sequence[Any] = ()
    offered: Sequence[Any] | None = None

    def __post_init__(self) -> None:
        self.kept = list(self.journal.replies(self.key))

    async def row(self) -> Row:
        """The sample's row; whatever goes wrong, there is one."""
        started = time.perf_counter()
        try:
            outcome = await self._outcome()
        except ModelError as problem:
            outcome = Outcome("", stop="failed", error=Failure(problem.code, str(problem)))
        except Exception as problem:  # a reply that trips us is this sample's failure, not the run's
            message = (
                str(problem) if isinstance(problem, PlanevalError) else f"{type(problem).__name__}: {problem}"
            )
            outcome = Outcome("", stop="failed", error=Failure("failed", message[:500]))
        seconds = round(time.perf_counter() - started, 3)
        return self._as_row(outcome) | {
            "timing": {"seconds": seconds, "tries": self.tries, "cached": self.cached}
        }

    async def _outcome(self) -> Outcome:
        import asyncio

        steps = self.job.begin()
        acting = self.job.acting() if self.job.acting is not None else None
        sent: Any = None
        try:
            while True:
                step = steps.send(sent)
                if isinstance(step, Request):
                    sent = await self._ask(step)
                elif isinstance(step, CallRequest) and acting is not None:
                    loop = asyncio.get_running_loop()
                    sent = await loop.run_in_executor(self.hands, acting, step.calls)
                else:
                    sent = Observations(over=True)
        except StopIteration as end:
            outcome: Outcome = end.value
            return outcome
        finally:
            steps.close()

    async def _ask(self, request: Request) -> Reply:
        sampling = {**self.asking.sampling, **request.sampling}
        parameters = {**sampling, **request.constraint}
        prompt = request_text(request.messages, request.tools, router=request.router or None, **parameters)
        hash = text_hash(prompt)
        number = len(self.requests)
        if number < len(self.kept) and self.kept[number].hash == hash:
            reply = self.kept[number].reply
            self.cached += 1
        else:
            del self.kept[number:]
            choose = (self.asking.router if request.router else None) or self.asking.model
            model = choose(self.job.repetition or 0)
            reply = await model.complete(request.messages, request.tools, **parameters)
            self.tries.append(reply.tries)
            self.cached += reply.cached
            self.journal.reply(self.key, number, hash, reply)
        self.requests.append(self._logged(request, sampling, hash, reply))
        return reply

    def _logged(self, request: Request, sampling: Fields, hash: str, reply: Reply) -> Row:
        """What the row says of a request; of messages those that the request before did not have."""
        logged: Row = {"stage": request.stage, "prompt": hash, "sampling": sampling}
        logged |= {"router": True} if request.router and self.asking.router else {}
        if request.constraint:  # too long to stand in every row
            logged["constraint"] = text_hash(json.dumps(request.constraint, sort_keys=True))
        if self.asking.messages:
            shared = 0
            for earlier, current in zip(self.before, request.messages, strict=False):
                if earlier != current:
                    break
                shared += 1
            logged |= {"shared": shared, "messages": list(request.messages[shared:])}
            if request.tools and request.tools != self.offered:
                logged["tools"] = list(request.tools)
        self.offered = request.tools
        self.before = request.messages
        refusal = {"refusal": reply.refusal} if reply.refusal else {}
        calls = [{"id": c.id, "name": c.name, "arguments": c.arguments} for c in reply.tool_calls]
        return logged | {
            "reply": {"text": reply.text, **({"tool_calls": calls} if calls else {}), **refusal},
            "finish_reason": reply.finish_reason,
            "usage": {"input": reply.usage.input_tokens, "output": reply.usage.output_tokens}
            | ({} if reply.usage.counted else {"counted": False})
            | ({"cost": reply.usage.cost} if reply.usage.cost is not None else {}),
        }

    def _as_row(self, outcome: Outcome) -> Row:
        repetition = {} if self.job.repetition is None else {"repetition": self.job.repetition}
        error = None if outcome.error is None else outcome.error._asdict()
        return {
            "id": self.job.id,
            **repetition,
            "task": self.job.task,
            **self.job.beside(),
            "prediction": outcome.prediction,
            **outcome.beside,
            "stages": dict(outcome.stages),
            "stop": outcome.stop,
            "error": error,
            **ending_fields(self.requests),
            "requests": self.requests,
        }
