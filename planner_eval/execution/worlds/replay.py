"""A world that knows nothing but what was recorded: each call answers as it did then."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from threading import Lock
from typing import Any

from planner_eval.base.errors import InputError
from planner_eval.execution.worlds.definition import NotFound, UnknownApi
from planner_eval.plan.values import map_leaves


class Replay:
    """Tools that answer from recordings.

    A call is recognised by its name and arguments; their order and the difference between 10 and 10.0
    do not matter. A call recorded more than once gives its answers in turn, the last one for ever.

    Args:
        recorded: Tool name, arguments and answer of each call, in the order in which they were made.

    >>> replay = Replay([("search", {"city": "Oslo"}, {"id": 7})])
    >>> replay.call(None, "search", {"city": "Oslo"})
    {'id': 7}
    """

    def __init__(self, recorded: Iterable[tuple[str, Mapping[str, Any], Any]]) -> None:
        self._answers: dict[tuple[str, str], list[Any]] = {}
        self._given: dict[tuple[str, str], int] = {}
        self._lock = Lock()
        for name, arguments, answer in recorded:
            self._answers.setdefault((name, _arguments_key(arguments)), []).append(answer)

    @classmethod
    def from_conversations(cls, records: Any) -> Replay:
        """The calls and observations of one or more ComplexFuncBench records.

        Args:
            records: A record, or a list of them: ``conversations`` with ``function_call`` lists, each
                followed by an ``observation`` of as many answers.

        Raises:
            InputError: calls and observations do not pair up.
        """
        recorded_calls = []
        for number, record in enumerate(records if isinstance(records, list) else [records]):
            recorded_calls += _read_recorded_calls(record, f"record {number}")
        return cls(recorded_calls)

    @property
    def tools(self) -> dict[str, Callable[..., Any]]:
        """The recorded tools as functions with named arguments."""
        return {
            name: partial(self._called, name) for name in dict.fromkeys(name for name, _ in self._answers)
        }

    def call(self, app: str | None, name: str, arguments: Mapping[str, Any]) -> Any:
        """The recorded answer of a call.

        Raises:
            UnknownApi: no call to that tool was recorded.
            NotFound: none with these arguments was.
        """
        key = (name, _arguments_key(arguments))
        with self._lock:
            answers = self._answers.get(key)
            if answers is None:
                return self._missed(name, arguments)
            turn = self._given.get(key, 0)
            self._given[key] = turn + 1
        # A copy: what a consumer does to its copy must not change the recording.
        return json.loads(json.dumps(answers[min(turn, len(answers) - 1)]))

    def _called(self, name: str, /, **arguments: Any) -> Any:
        return self.call(None, name, arguments)

    def _missed(self, name: str, arguments: Mapping[str, Any]) -> Any:
        count = sum(1 for tool, _ in self._answers if tool == name)
        if not count:
            raise UnknownApi(f"no call to {name!r:.100} was recorded")
        arguments_text = json.dumps(arguments, ensure_ascii=False, default=str)
        raise NotFound(
            f"{name} was recorded with {count} other sets of arguments, not with {arguments_text:.200}"
        )


def _read_recorded_calls(record: Any, where: str) -> list[tuple[str, Mapping[str, Any], Any]]:
    turns = record.get("conversations") if isinstance(record, Mapping) else None
    if not isinstance(turns, list):
        raise InputError(f'{where}: expected a list under "conversations"')
    recorded_calls: list[tuple[str, Mapping[str, Any], Any]] = []
    calls: list[Any] = []
    for turn in turns:
        if isinstance(turn, Mapping) and turn.get("function_call"):
            calls = list(turn["function_call"])
        elif isinstance(turn, Mapping) and turn.get("role") == "observation":
            answers = turn.get("content")
            if not isinstance(answers, list) or len(answers) != len(calls):
                count = len(answers) if isinstance(answers, list) else "no"
                raise InputError(f"{where}: {len(calls)} calls are followed by {count} observations")
            recorded_calls += [
                (call["name"], call["arguments"], answer) for call, answer in zip(calls, answers, strict=True)
            ]
            calls = []
    return recorded_calls


def _arguments_key(arguments: Mapping[str, Any]) -> str:
    return json.dumps(
        map_leaves(_normalize_number, arguments), sort_keys=True, ensure_ascii=False, default=str
    )


def _normalize_number(leaf: Any) -> Any:
    return int(leaf) if isinstance(leaf, float) and leaf.is_integer() else leaf
