"""What a run has so far, a JSON line each: replies as they come, a row for each sample that is finished.

The file only grows. Whatever stops a run, the next one reads what is there: finished samples are not asked
again, the others get the replies that they had, and ask for the rest.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from planner_eval.base.errors import InputError
from planner_eval.llm.replies import Reply, as_data, of_data

FORMAT = "planeval.predict/1"


class Kept(NamedTuple):
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
        self._replies: dict[str, list[Kept]] = {}
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
            raise InputError(f"{self.path}: the sample {key!r} was another one then: name another folder")
        return True

    def replies(self, key: str) -> list[Kept]:
        """The replies that an unfinished sample had, in order."""
        return self._replies.get(key, [])

    def keys(self, order: Sequence[str]) -> list[str]:
        """All samples that have a row: in the order of those known, others in that of their rows.

        Args:
            order: The samples that are known.
        """
        ordered = dict.fromkeys(key for key in order if key in self._places)
        return list(ordered | dict.fromkeys(sorted(self._places, key=self._places.__getitem__)))

    def rows(self, keys: Iterable[str]) -> Iterator[dict[str, Any]]:
        """The rows of samples, in their order; those without one are passed over."""
        with self.path.open("rb") as file:
            for key in keys:
                if key in self._places:
                    file.seek(self._places[key])
                    yield json.loads(file.readline())["row"]

    # ------------------------------------------------------------ what is added
    def reply(self, key: str, number: int, hash: str, reply: Reply) -> None:
        """Keep a reply."""
        self._add({"sample": key, "request": number, "hash": hash, "reply": as_data(reply)})

    def finish(self, key: str, row: Mapping[str, Any]) -> None:
        """Keep a sample's row."""
        self._places[key] = self._add({"sample": key, "row": row})
        self._tasks[key] = row.get("task", "")
        self._replies.pop(key, None)

    def _add(self, line: Mapping[str, Any]) -> int:
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
                    raise InputError(f"{self.path} holds something else than a run: name another folder")
                if end and not self._learn(entry, end):
                    raise InputError(
                        f"{self.path}, line {number:,}: this is no line of a run, expected a reply or a "
                        "row as JSON: remove that line, and the same command asks its sample again"
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
                replies.append(Kept(entry["hash"], of_data(entry["reply"])))
                return True
            self._places[key] = offset
            self._tasks[key] = entry["row"].get("task", "")
            if asked_again(entry["row"]):
                self._replies.setdefault(key, [])
            else:
                self._replies.pop(key, None)
        except (KeyError, TypeError, ValueError, AttributeError):
            return False
        return True


FAILED_REQUESTS = frozenset({"transport", "context", "refused", "missing"})
"""The codes of rows whose sample could not be asked; a resumed run asks again."""


def asked_again(row: Mapping[str, Any]) -> bool:
    """Whether a row says that a request failed.

    >>> asked_again({"error": {"code": "transport"}}), asked_again({"error": {"code": "no_route"}})
    (True, False)
    """
    return (row.get("error") or {}).get("code") in FAILED_REQUESTS
