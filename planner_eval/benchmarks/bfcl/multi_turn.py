"""BFCL's multi-turn check, and a model's calls: both run on the benchmark's own tool classes, in a sandbox.

Source: package bfcl-eval 2026.3.23, ``_evaluate_single_multi_turn_entry`` of ``eval_checker/eval_runner.py``;
what happens to a record that gets as far as its calls is in `multi_turn_run`. Nothing that a model wrote is
evaluated: the verdict's ``details`` name under ``refused`` the calls that Python would have evaluated, under
``turn`` (from 1) and ``explanation`` what is wrong first, under ``wrong`` which later turns are, under
``follow`` which of those would be right in gold's state, under ``failure`` why there is no verdict.
"""

from __future__ import annotations

import marshal
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib.util import find_spec
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from planner_eval.base.errors import DatasetError, ExecutionError
from planner_eval.benchmarks.bfcl.call_check import RAISED, VALID, Verdict
from planner_eval.benchmarks.bfcl.reading import decode_step, is_empty_step
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.execution.sandbox.job import CallSettings, Program, Row, Step
from planner_eval.execution.sandbox.reply import Reply
from planner_eval.execution.sandbox.sandbox import Limits, Sandbox
from planner_eval.execution.tool_sources import ToolSource, factory_source

NOT_JUDGED = "not_judged"
"""The kind of error of a record that ran out of time, ended the worker or has no tools here."""
SECONDS_PER_RECORD = 30.0
RECORDS_PER_BATCH = 8
"""How many records the worker is sent together; where one of them ends it, each is sent again by itself."""
MODES = ("function-calling", "prompt")
_CLASS = re.compile(r"^class (\w+)", re.MULTILINE)
_IMPORT = re.compile(r"^(?:from|import) (\w+)", re.MULTILINE)
_TOOLS_FOLDER = Path("eval_checker", "multi_turn_eval", "func_source_code")


class MultiTurnRecord(NamedTuple):
    """An answer to a multi-turn question, with what it is judged by.

    Args:
        question: The published record: ``id``, ``involved_classes``, ``initial_config``.
        ground_truth: The right calls, a list of texts a turn.
        answer: What the model answered: turns of steps; anything else is an error of its run.
        category: The question's category.
        mode: One of `MODES`; "" takes prompt mode where no step of the answer is an object or a list.
    """

    question: Mapping[str, Any]
    ground_truth: Sequence[Sequence[str]]
    answer: Any
    category: str
    mode: str = ""


class MultiTurnChecker:
    """Judges multi-turn answers in a sandbox that is started when the first of them makes a call.

    Args:
        source: The folder of the package ``bfcl_eval``.
        seconds: The limit for one record.
    """

    def __init__(self, source: str | PathLike[str], *, seconds: float = SECONDS_PER_RECORD) -> None:
        self.source = Path(source).resolve()
        self.seconds = seconds
        self._box: Sandbox | None = None

    def __enter__(self) -> MultiTurnChecker:
        return self

    def __exit__(self, *_: object) -> None:
        if self._box is not None:
            self._box.close()

    def check(self, record: MultiTurnRecord) -> Verdict:
        """The verdict on one record."""
        return next(self.check_many([record]))

    def check_many(self, records: Iterable[MultiTurnRecord]) -> Iterator[Verdict]:
        """The verdicts on many records in order, with work sent ahead.

        Raises:
            DatasetError: the folder holds no tools, or they need a package that is not installed.
            ExecutionError: the sandbox cannot be had here.
        """
        batches: deque[list[Verdict | bytes]] = deque()

        def programs() -> Iterator[Program]:
            items = map(_verdict_or_message, self._with_packages(records))
            while batch := list(islice(items, RECORDS_PER_BATCH)):
                batches.append(batch)
                if messages := _messages(batch):
                    yield _program(messages)

        waiting = programs()
        first = next(waiting, None)
        replies = iter(()) if first is None else self._sandbox().map(chain([first], waiting))
        for reply in replies:
            while not _messages(batches[0]):
                yield from _verdicts(batches.popleft())
            yield from self._judge(batches.popleft(), reply)
        for batch in batches:
            yield from _verdicts(batch)

    def _with_packages(self, records: Iterable[MultiTurnRecord]) -> Iterator[MultiTurnRecord]:
        """The records; an error before the first whose tools need a package that is not installed."""
        for record in records:
            require_packages(self.source, record.question)
            yield record

    def _judge(self, batch: Sequence[Verdict | bytes], reply: Reply) -> Iterator[Verdict]:
        """The verdicts of a batch; where one of several records ended it, each is sent again by itself."""
        messages = _messages(batch)
        rows: Iterable[Verdict]
        if reply.ended is None:
            rows = map(_row_verdict, sorted(reply.rows, key=lambda row: row.position))
        elif len(messages) == 1:  # the turns that the published code does not look at may have ended it
            reply = self._sandbox().run(_program(messages, "check_briefly"))
            ended = reply.ended
            rows = (
                map(_row_verdict, reply.rows) if ended is None else [_not_judged(ended.kind, ended.message)]
            )
        else:
            runs = ((message, self._sandbox().run(_program([message]))) for message in messages)
            rows = (verdict for message, alone in runs for verdict in self._judge([message], alone))
        judged = iter(rows)
        for item in batch:
            yield item if isinstance(item, Verdict) else next(judged)

    def _sandbox(self) -> Sandbox:
        if self._box is None:
            self._box = Sandbox(tools_source(self.source), limits=Limits(seconds=self.seconds))
        return self._box


# ----------------------------------------------------------------------
# Records and verdicts.
def _verdict_without_calls(record: MultiTurnRecord) -> Verdict | None:
    """The verdict on an answer whose turns are not as many as gold's; None where its calls decide."""
    if type(record.answer) is not list:
        message = "Error during inference phase. Model did not output a list of model responses."
        return Verdict(False, "multi_turn:inference_error", (message,))
    turns, gold_turns = len(record.answer), len(record.ground_truth)
    if turns == gold_turns:
        return None
    message = (
        "Model was force-terminated during inference phase. The length of the model result turns "
        f"({turns}) does not match the length of the ground truth turns ({gold_turns})."
    )
    explanation = (f"the answer ends after turn {turns} of {gold_turns}",) if turns < gold_turns else ()
    return Verdict(False, "multi_turn:force_terminated", (message,), {"explanation": explanation})


def _verdict_or_message(record: MultiTurnRecord) -> Verdict | bytes:
    """The verdict on a record that needs no tools, or what the worker is sent of another."""
    verdict = _verdict_without_calls(record)
    if verdict is not None:
        return verdict
    try:
        return _message(record)
    except ValueError as error:  # it nests deeper than a message can
        return _not_judged("unsendable", str(error))
    except (KeyError, TypeError, AttributeError) as error:  # the question is none
        return _not_judged(RAISED, f"{type(error).__name__}: {error}")


def _message(record: MultiTurnRecord) -> bytes:
    mode = record.mode
    if not mode:
        steps = (step for turn in record.answer if isinstance(turn, list) for step in turn)
        has_calls = any(isinstance(step, (dict, list)) for step in steps)
        mode = "function-calling" if has_calls else "prompt"
    message = {
        **_setting(record.question, record.category),
        "gold": [list(turn) for turn in record.ground_truth],
        "turns": record.answer if mode != "prompt" else [_read_texts(turn) for turn in record.answer],
        "mode": mode,
    }
    return marshal.dumps(message)


def _setting(question: Mapping[str, Any], category: str) -> dict[str, Any]:
    """In which state which tools are at first, as the worker is told."""
    classes, config = list(question["involved_classes"]), question["initial_config"]
    return {
        "id": question["id"],
        "classes": classes,
        "states": {name: marshal.dumps(config.get(name, {})) for name in classes},
        "long": "long_context" in category or "composite" in category,
    }


def _messages(batch: Iterable[Verdict | bytes]) -> list[bytes]:
    return [item for item in batch if isinstance(item, bytes)]


def _verdicts(batch: Iterable[Verdict | bytes]) -> list[Verdict]:
    return [item for item in batch if isinstance(item, Verdict)]


def _program(messages: Sequence[bytes], tool: str = "check") -> Program:
    steps = [Step(tool, tool, [("record", ("value", message))], [], []) for message in messages]
    return Program(steps, [[position] for position in range(len(steps))], [], "", CallSettings(shared=True))


def _read_texts(turn: Any) -> Any:
    """The steps of a turn in prompt mode that make calls, as texts; what is no list of steps as it is."""
    if not isinstance(turn, (list, str, dict)):
        return turn
    steps = []
    for step in turn:
        try:
            calls = decode_step(step, calls=False)
        except Exception:
            continue
        if not is_empty_step(calls):
            steps.append(calls)
    return steps


def _row_verdict(row: Row) -> Verdict:
    if row.problem is not None:
        return _not_judged(row.problem[0], row.problem[1])
    report = row.value
    if not isinstance(report, dict):
        return _not_judged("worker-lied", "the worker sent no verdict")
    if "failure" in report:
        return _not_judged(*report["failure"])
    details = {
        key: tuple(value) if isinstance(value, list) else value for key, value in report["details"].items()
    }
    if report["valid"]:
        return Verdict(True, details=details) if details else VALID
    return Verdict(False, report["error_type"], report["error"], details)


def _not_judged(kind: str, message: str) -> Verdict:
    """A record without a verdict counts as wrong, as none may be dropped, and says what happened."""
    if kind == RAISED:
        return Verdict(False, RAISED, (message,), {"failure": kind})
    return Verdict(False, NOT_JUDGED, (f"{kind}: {message}",), {"failure": kind})


# ----------------------------------------------------------------------
# A model's calls, made while it answers.
def open_tools(samples: Iterable[Sample], level: str | None) -> Sandbox | None:
    """The sandbox in which a model's calls for these questions are made; None where none has several turns.

    Args:
        samples: Questions of one folder.
        level: How the tools are kept apart; None for the usual.

    Raises:
        DatasetError: the folder holds no tools.
    """
    multi_turn_samples = [sample for sample in samples if sample.extra["visible"].several]
    if not multi_turn_samples:
        return None
    folder = Path(multi_turn_samples[0].extra["package"]).resolve()
    source = tools_source(folder)
    for sample in multi_turn_samples:
        require_packages(folder, sample.extra["question"])
    return Sandbox(source, level=level, limits=Limits(seconds=SECONDS_PER_RECORD))


def make_caller(sample: Sample, box: Sandbox) -> Callable[[Sequence[str]], Sequence[str]]:
    """Makes the calls of one question, step after step: the tools remember what was done.

    The worker forgets, so that the calls before are made again; a run that was interrupted goes on alike.

    Args:
        sample: The question.
        box: Where the tools run; of :func:`open_tools`.
    """
    earlier_calls: list[str] = []

    def make(calls: Sequence[str]) -> Sequence[str]:
        setting = _setting(sample.extra["question"], sample.category)
        message = marshal.dumps({**setting, "calls": [*earlier_calls, *calls], "known": len(earlier_calls)})
        reply = box.run(_program([message], "call"))
        earlier_calls.extend(calls)
        if reply.ended is not None:
            raise ExecutionError(f"the tools did not answer: {reply.ended.kind}: {reply.ended.message}")
        row = reply.rows[0]
        report = row.value if row.problem is None else {"failure": row.problem[:2]}
        results = report.get("results") if isinstance(report, dict) else None
        if isinstance(results, list) and len(results) == len(calls):
            return [str(result) for result in results]
        kind, why = report["failure"] if isinstance(report, dict) and "failure" in report else ("", report)
        raise ExecutionError(f"the tools did not answer: {f'{kind}: ' if kind else ''}{why}")

    return make


def run_gold(samples: Sequence[Sample]) -> Iterator[list[str] | None]:
    """What the calls of each question's gold return, as texts; None where they cannot be made.

    Args:
        samples: Questions of several turns, of one folder.

    Raises:
        DatasetError: the folder holds no tools, or they need a package that is not installed.
        ExecutionError: the sandbox cannot be had here.
    """
    box = open_tools(samples, None)
    if box is None:
        return
    with box:
        for reply in box.map(_program([_gold_message(sample)], "call") for sample in samples):
            report = reply.rows[0].value if reply.ended is None else None
            yield report.get("results") if isinstance(report, dict) else None


def _gold_message(sample: Sample) -> bytes:
    calls = [text for turn in sample.extra["ground_truth"] for text in turn]
    setting = _setting(sample.extra["question"], sample.category)
    return marshal.dumps({**setting, "calls": calls, "known": 0})


# ----------------------------------------------------------------------
# The tools.
def tools_source(folder: Path) -> ToolSource:
    """What the sandbox runs: the check, with the tools' classes of a folder.

    Args:
        folder: The folder of the package ``bfcl_eval``.

    Raises:
        DatasetError: it holds no tools.
    """
    tools_folder, files = folder / _TOOLS_FOLDER, _tool_files(folder)
    if not files:
        raise DatasetError(f"{tools_folder}: no BFCL tools here; the package bfcl-eval holds them")
    arguments = {"folder": str(folder), "files": files}
    source = factory_source("bfcl", "planner_eval.benchmarks.bfcl.multi_turn_run", "load_tools", arguments)
    return replace(
        source, level="process", stateful=False, writes=False, read=(*source.read, str(tools_folder))
    )


@lru_cache(4)
def _tool_files(folder: Path) -> dict[str, str]:
    """The module that each class of tools is in."""
    files: dict[str, str] = {}
    for path in sorted((folder / _TOOLS_FOLDER).glob("*.py")):
        for name in _CLASS.findall(path.read_text(encoding="utf-8", errors="replace")):
            files.setdefault(name, path.stem)
    return files


def require_packages(folder: Path, question: Mapping[str, Any]) -> None:
    """Refuse a question whose tools need a package that is not installed.

    Without it calls fail on both sides, and a score would say something of this machine.

    Args:
        folder: The folder of the package ``bfcl_eval``.
        question: The published record.

    Raises:
        DatasetError: a package is not installed.
    """
    for name in question.get("involved_classes", ()):
        if missing := _missing_packages(folder, name):
            raise DatasetError(
                f"{question['id']}: BFCL's {name} needs {missing}, not installed here: pip install {missing}"
            )


@lru_cache(64)
def _missing_packages(folder: Path, name: str) -> str:
    """The packages that the module of a class imports, and that are not installed."""
    stem = _tool_files(folder).get(name)
    if stem is None:
        return ""
    text = (folder / _TOOLS_FOLDER / f"{stem}.py").read_text(encoding="utf-8", errors="replace")
    packages = sorted(set(_IMPORT.findall(text)) - {"bfcl_eval"})
    return " ".join(package for package in packages if find_spec(package) is None)
