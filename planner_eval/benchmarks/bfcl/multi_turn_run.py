"""BFCL's multi-turn check of one record, in the worker: both sides' calls are made and compared by turns.

Source: package bfcl-eval 2026.3.23, ``multi_turn_checker`` of ``multi_turn_eval/multi_turn_checker.py``.
The tools are the package's own classes; of the package only their modules are imported. Each record begins
with what these modules hold at first: the published code lets one record change it for the next.
"""

from __future__ import annotations

import copy
import marshal
import re
import sys
from collections import Counter
from importlib import import_module

from planner_eval.benchmarks.bfcl.multi_turn_calls import Call, Caller, parsed_call, read_step
from planner_eval.execution.core import copy_containers

TYPE_CHECKING = False  # typing would add to a worker's time to start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

TOOLS_PACKAGE = ("bfcl_eval", "eval_checker", "multi_turn_eval", "func_source_code")
"""Where the tools' modules lie in the package."""
STATELESS = frozenset({"MathAPI"})
"""The classes that begin in no state of the question's."""

MAX_REFUSED = 20
"""How many refused calls a verdict names."""


class NotJudged(BaseException):
    """The published code would end without a verdict, or this one cannot come to one; no tool may catch it.

    Args:
        kind: A stable word.
        message: For people.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


# ----------------------------------------------------------------------
# The tools.
class ToolClass:
    """A class of tools, the names of its tools, and what its module holds at first.

    Args:
        kind: The class.
        module: The module that it is in.
    """

    def __init__(self, kind: Any, module: Any) -> None:
        self.kind = kind
        self.module = module
        instance = kind()
        self.methods = [
            name
            for name in dir(instance)
            if not name.startswith("_") and type(getattr(instance, name)) is type(self.restore)
        ]
        self.held: list[tuple[str, bytes, Any]] = []
        for name, value in vars(module).items():
            if type(value) in (dict, list) and not name.startswith("__"):
                try:
                    self.held.append((name, marshal.dumps(value), copy_containers(value)))
                except ValueError:  # objects of classes, which the tools copy themselves
                    continue

    def restore(self) -> None:
        """Put back what the module held when it was imported."""
        for name, data, first in self.held:
            # Lists are long and seldom changed; comparing them with their own items takes a tenth of reading.
            if type(first) is dict or getattr(self.module, name) != first:
                setattr(self.module, name, marshal.loads(data))


class Checker:
    """The check, with the tools' classes of a folder.

    Args:
        folder: The folder of the package ``bfcl_eval``.
        files: Class → the module that it is in.
    """

    def __init__(self, folder: str, files: dict[str, str]) -> None:
        self.files = files
        self.classes: dict[str, ToolClass] = {}
        for depth in range(len(TOOLS_PACKAGE)):
            name = ".".join(TOOLS_PACKAGE[: depth + 1])
            if name not in sys.modules:  # not by import: what the package's own files do there is not needed
                package = type(sys)(name)
                package.__path__ = ["/".join((folder, *TOOLS_PACKAGE[1 : depth + 1]))]
                sys.modules[name] = package

    def tool_class(self, name: str) -> ToolClass:
        """A class of tools, imported when it is first needed.

        Raises:
            NotJudged: there is none of that name, or it cannot be imported.
        """
        if name not in self.classes:
            if name not in self.files:
                raise NotJudged("unknown-class", f"the package has no tools called {name}")
            try:
                module: Any = import_module(".".join((*TOOLS_PACKAGE, self.files[name])))
                if getattr(module, "deepcopy", None) is copy.deepcopy:
                    module.deepcopy = _copy
                self.classes[name] = ToolClass(getattr(module, name), module)
            except Exception as error:
                raise NotJudged("unloadable", f"{name}: {type(error).__name__}: {error}") from error
        return self.classes[name]

    def caller(self, side: str, record: dict[str, Any]) -> Caller:
        """The tools of one side, in their first state.

        Args:
            side: How the published code calls it.
            record: A dict with ``id``, ``classes``, ``states`` and ``long``.

        Raises:
            NotJudged: they do not take it.
        """
        methods, objects = {}, {}
        for name in record["classes"]:
            tool_class = self.tool_class(name)
            # The name gets into texts that hold what looks like a tool's call, and differs on the two sides.
            variable = re.sub(r"[-./:]", "_", f"{side}_{record['id']}_{name}_instance")
            try:
                objects[variable] = tool_class.kind()
                if name not in STATELESS:
                    state = marshal.loads(record["states"][name])
                    objects[variable]._load_scenario(state, long_context=record["long"])
            except Exception as error:
                raise _raised(error) from error
            methods.update(dict.fromkeys(tool_class.methods, variable))
        return Caller(methods, objects)

    def check(self, record: bytes) -> dict[str, Any]:
        """The verdict on an answer whose turns are as many as gold's.

        Args:
            record: A dict as marshal writes it: ``id``, ``classes``, ``states`` (class → state, written so
                too), ``gold``, ``turns``, ``mode``, ``long``. In prompt mode the turns are lists of steps
                that are lists of calls as texts.

        Returns:
            ``valid``, ``error_type``, ``error``, ``details``; or ``failure``, a kind and a message.
        """
        return self._checked(record, later=True)

    def check_briefly(self, record: bytes) -> dict[str, Any]:
        """The same without a look at the turns after the first wrong one, which may never end."""
        return self._checked(record, later=False)

    def _checked(self, record: bytes, *, later: bool) -> dict[str, Any]:
        try:
            return self._check(marshal.loads(record), later)
        except NotJudged as failure:
            return {"failure": [failure.kind, str(failure)]}

    def call(self, record: bytes) -> dict[str, Any]:
        """What the last calls of a conversation return, those before them made again.

        Args:
            record: A dict as marshal writes it: ``id``, ``classes``, ``states``, ``long`` as for `check`;
                ``calls``, texts, and ``known``, how many of them are made again.

        Returns:
            ``results``; or ``failure``, a kind and a message.
        """
        try:
            sent = marshal.loads(record)
            self._restore(sent)
            caller = self.caller("model", sent)
            results = [caller.make(parsed_call(text)) for text in sent["calls"]]
            return {"results": results[sent["known"] :]}
        except NotJudged as failure:
            return {"failure": [failure.kind, str(failure)]}

    def _restore(self, record: dict[str, Any]) -> None:
        """Put back what modules hold, where it is for long contexts; their default states are copied."""
        for name in record["classes"] if record["long"] else ():
            self.tool_class(name).restore()

    def _check(self, record: dict[str, Any], later: bool) -> dict[str, Any]:
        answer = [_read_turn(turn, record["mode"]) for turn in record["turns"]]
        self._restore(record)
        trial = Trial(
            record["classes"],
            self.caller("model_eval", record),
            self.caller("model_ground_truth_eval", record),
        )
        turns = enumerate(zip(answer, record["gold"], strict=True))
        for turn, (steps, gold_texts) in turns:
            problem = trial.problem_of_turn(turn, steps, gold_texts)
            if problem is not None:
                turn_title = f"turn {turn + 1} of {len(answer)}"
                trial.details.update(
                    turn=turn + 1, explanation=[f"{turn_title}: {text}" for text in problem.explanation]
                )
                if later:
                    trial.look_at_later_turns(turns)
                return {
                    "valid": False,
                    "error_type": f"multi_turn:{problem.kind}",
                    "error": problem.message,
                    "details": trial.details,
                }
        return {"valid": True, "details": trial.details}


# ----------------------------------------------------------------------
# Both sides' calls, turn by turn.
class Problem:
    """What is wrong in a turn.

    Args:
        kind: The published kind of error.
        message: The published message.
        explanation: Lines for people.
    """

    __slots__ = ("explanation", "kind", "message")

    def __init__(self, kind: str, message: str, explanation: list[str]) -> None:
        self.kind = kind
        self.message = message
        self.explanation = explanation


class Trial:
    """The answer's and gold's tools, and what their calls came to so far.

    Args:
        classes: The classes of tools, in the order in which their states are compared.
        pred: The answer's tools.
        gold: Gold's.
    """

    def __init__(self, classes: Sequence[str], pred: Caller, gold: Caller) -> None:
        self.classes = classes
        self.pred = pred
        self.gold = gold
        self.results: Counter[str] = Counter()
        self.gold_results: Counter[str] = Counter()
        self.log: list[tuple[int, Call, str]] = []
        self.details: dict[str, Any] = {}

    def problem_of_turn(
        self, turn: int, steps: Sequence[Sequence[Call]], gold_texts: Sequence[str]
    ) -> Problem | None:
        """Make both sides' calls of a turn; what is wrong then, or None.

        Args:
            turn: Counted from 0.
            steps: The answer's calls.
            gold_texts: Gold's calls.

        Raises:
            NotJudged: gold holds what is refused, or the states cannot be compared.
        """
        for call in (call for step in steps for call in step):
            result = self.pred.make(call)
            self.results[result] += 1
            self.log.append((turn, call, result))
        gold_calls = [parsed_call(text) for text in gold_texts]
        gold_results = [self.gold.make(call) for call in gold_calls]
        self.gold_results.update(gold_results)
        if self.pred.refused:
            self.details["refused"] = self.pred.refused[:MAX_REFUSED]
        if self.gold.refused:
            raise NotJudged(
                "unreadable-gold", f"gold is not a call with literal arguments: {self.gold.refused[0]}"
            )
        if not gold_calls:
            return None
        if not steps:
            message = f"Model response list is empty for turn {turn}"
            return Problem("empty_turn_model_response", message, describe_empty_turn(gold_texts))
        return self._state_problem(turn, gold_calls) or self._result_problem(turn, gold_calls, gold_results)

    def look_at_later_turns(self, turns: Iterable[tuple[int, tuple[list[list[Call]], list[str]]]]) -> None:
        """Which turns after the first wrong one are wrong too, and which of them are right in gold's state.

        The published code ends at the first wrong turn. What cannot be told is left out.

        Args:
            turns: The turns that follow, each with its position, the answer's steps and gold's calls.
        """
        wrong: list[int] = []
        follow: list[int] = []
        refused = self.details.get("refused")
        try:
            for turn, (steps, gold_texts) in turns:
                # As if all turns before had been right: from here the answer's calls begin in gold's state.
                alone = Trial(self.classes, copy.deepcopy(self.gold), copy.deepcopy(self.gold))
                alone.results.update(self.gold_results)
                if self.problem_of_turn(turn, steps, gold_texts) is not None:
                    wrong.append(turn + 1)
                    if alone.problem_of_turn(turn, steps, gold_texts) is None:
                        follow.append(turn + 1)
        except (NotJudged, Exception):  # objects that cannot be copied; the verdict stands without it
            return
        finally:
            if refused is None:  # of the turns that the published code looks at alone
                self.details.pop("refused", None)
            else:
                self.details["refused"] = refused
        self.details.update(wrong=wrong, follow=follow)

    def _state_problem(self, turn: int, gold_calls: Sequence[Call]) -> Problem | None:
        objects = zip(self.pred.objects.values(), self.gold.objects.values(), strict=True)
        for name, (pred_object, gold_object) in zip(self.classes, objects, strict=True):
            if differing := _differing_attributes(name, pred_object, gold_object):
                message = f"Model instance for {name} does not match the state with ground truth instance."
                calls = [call for position, call, _ in self.log if position == turn]
                explanation = describe_states(name, differing, calls, gold_calls)
                return Problem("instance_state_mismatch", message, explanation)
        return None

    def _result_problem(
        self, turn: int, gold_calls: Sequence[Call], gold_results: Sequence[str]
    ) -> Problem | None:
        left = self.results.copy()
        missing = []
        for call, result in zip(gold_calls, gold_results, strict=True):
            left[result] -= 1
            if left[result] < 0:
                missing.append((call, result))
        if not missing:
            return None
        message = (
            "Model response execution results so far does not contain all the ground truth response "
            f"execution results for turn {turn}."
        )
        return Problem("execution_response_mismatch", message, describe_missing_results(missing, self.log))


def _copy(value: Any) -> Any:
    """What `copy.deepcopy` gives, ten times sooner for plain data."""
    try:
        return marshal.loads(marshal.dumps(value))
    except ValueError:
        return copy.deepcopy(value)


def _read_turn(turn: Any, mode: str) -> list[list[Call]]:
    """The steps of a turn that make calls."""
    try:
        steps = list(turn)
    except TypeError as error:
        raise _raised(error) from error
    if mode == "prompt":
        return [[parsed_call(text) for text in texts] for texts in steps]
    return [calls for calls in map(read_step, steps) if calls]


def _differing_attributes(name: str, pred: Any, gold: Any) -> list[tuple[str, Any, Any]]:
    """The public attributes of gold's object that the other one has otherwise."""
    try:
        return [
            (attribute, getattr(pred, attribute), value)
            for attribute, value in vars(gold).items()
            if not attribute.startswith("_") and getattr(pred, attribute) != value
        ]
    except Exception as error:
        raise _raised(error) from error


def _raised(error: Exception) -> NotJudged:
    """What the published code ends with, and gives no verdict on any record."""
    return NotJudged("raised", f"{type(error).__name__}: {error}")


def load_tools(folder: str, files: dict[str, str]) -> dict[str, Callable[[bytes], dict[str, Any]]]:
    """What the sandbox runs: the check, and a model's calls, as tools.

    Args:
        folder: The folder of the package ``bfcl_eval``.
        files: Class → the module that it is in.
    """
    checker = Checker(folder, files)
    return {"check": checker.check, "check_briefly": checker.check_briefly, "call": checker.call}


# ----------------------------------------------------------------------
# What is wrong in a turn, in words.
_MAX_LINES = 6
_MAX_TEXT = 120
_MAX_DEPTH = 30
_ABSENT = object()


def describe_empty_turn(gold_texts: Sequence[str]) -> list[str]:
    """What to say of a turn without calls."""
    return [f"no call was made; expected {', '.join(map(_cut, gold_texts[:_MAX_LINES]))}"]


def describe_missing_results(
    missing: Sequence[tuple[Call, str]], pred_log: Sequence[tuple[int, Call, str]]
) -> list[str]:
    """What to say of gold's results that no call of the answer returned.

    Args:
        missing: Gold's calls and their results.
        pred_log: The answer's calls so far, with their turns and results.
    """
    lines = []
    for gold_call, gold_result in missing[:_MAX_LINES]:
        results = [(call, result) for _, call, result in pred_log if call.name == gold_call.name]
        if not results:
            lines.append(f"{gold_call.name} was not called; expected {_cut(gold_call.text)}")
            continue
        call, result = results[-1]
        if result == gold_result:
            lines.append(f"{_cut(gold_call.text)} was not called once more")
        else:
            returned = f"returned {_cut(result)}, expected {_cut(gold_result)}"
            of_gold_call = "" if call.text == gold_call.text else f" of {_cut(gold_call.text)}"
            lines.append(f"{_cut(call.text)} {returned}{of_gold_call}")
    return lines


def describe_states(
    name: str, differing: Sequence[tuple[str, Any, Any]], calls: Sequence[Call], gold_calls: Sequence[Call]
) -> list[str]:
    """What to say of a state that is not gold's.

    Args:
        name: The class of tools.
        differing: Each attribute that differs, with its value in the answer and in gold.
        calls: The answer's calls in this turn.
        gold_calls: Gold's.
    """
    lines = []
    for attribute, pred, gold in differing:
        for location, value, expected in _differences(f"{name}.{attribute}", pred, gold, 0):
            if value is _ABSENT:
                lines.append(f"{location} is missing; expected {_show(expected)}")
            elif expected is _ABSENT:
                lines.append(f"{location} is extra: {_show(value)}")
            else:
                lines.append(f"{location} is {_show(value)}, expected {_show(expected)}")
            if len(lines) == _MAX_LINES:
                break
    called = {call.name for call in calls}
    absent = [call for call in gold_calls if call.name not in called]
    return lines[:_MAX_LINES] + [f"{_cut(call.text)} was not called" for call in absent[:_MAX_LINES]]


def _differences(location: str, pred: Any, gold: Any, depth: int) -> Iterator[tuple[str, Any, Any]]:
    """The smallest parts that differ, with where they are."""
    if depth > _MAX_DEPTH or type(pred) is not type(gold):
        yield location, pred, gold
    elif isinstance(gold, dict):
        for key in [*gold, *(key for key in pred if key not in gold)]:
            value, expected = pred.get(key, _ABSENT), gold.get(key, _ABSENT)
            if value is _ABSENT or expected is _ABSENT:
                yield f"{location}[{key!r}]", value, expected
            elif value != expected:
                yield from _differences(f"{location}[{key!r}]", value, expected, depth + 1)
    elif isinstance(gold, list) and len(gold) == len(pred):
        for position, (value, expected) in enumerate(zip(pred, gold, strict=True)):
            if value != expected:
                yield from _differences(f"{location}[{position}]", value, expected, depth + 1)
    elif type(gold).__module__ != "builtins" and hasattr(gold, "__dict__"):
        for attribute, expected in vars(gold).items():
            value = getattr(pred, attribute, _ABSENT)
            if not attribute.startswith("_") and attribute != "parent" and value != expected:
                yield from _differences(f"{location}.{attribute}", value, expected, depth + 1)
    else:
        yield location, pred, gold


def _show(value: Any) -> str:
    if type(value).__module__ != "builtins" and hasattr(value, "__dict__"):
        return f"a {type(value).__name__.lower()}"
    return _cut(repr(value))


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}…"
