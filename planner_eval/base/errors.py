"""The exceptions of planner_eval, and the codes of its diagnostics.

    PlanevalError                 anything this package raises on purpose
    ├── InputError                a file, an option or a record cannot be used (exit code 2)
    │   ├── PairingError          no prediction has a gold plan: nothing can be evaluated (exit code 3)
    │   ├── AbsentError           a pair does not show what it should be made smaller for (exit code 3)
    │   ├── PolicyError           a comparison policy says something impossible
    │   ├── CatalogError          a tool catalog cannot be read
    │   └── DatasetError          a benchmark's data cannot be found, fetched or verified
    ├── ParseError                a text is not a plan; says line, column and what was expected
    │   ├── LimitError            a text is larger, deeper or longer than the limits allow
    │   └── AnswerError           an answer of an API is cut, refused or failed, or there is none
    ├── WriteError                a dialect cannot say what the plan says
    ├── ExecutionError            a plan cannot be run (not: one of its calls failed)
    ├── RenderError               a drawing cannot be made
    └── JudgeError                a model that judges did not answer usefully

Everything that is wrong *inside* a plan that can still be used is no exception but a
:class:`planner_eval.plan.model.Diagnostic` with one of the codes of :data:`CODES`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from operator import index
from typing import Any, SupportsIndex, TypeVar

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import shorten

E = TypeVar("E", bound=BaseException)


def strip_traceback(error: E) -> E:
    """An error that is kept, without the frames that it came through.

    They hold the error in turn, and all that was read on the way: nothing of that would be freed before the
    next collection of garbage, which took a twelfth of the time of a run.

    >>> try:
    ...     raise ValueError("no plan")
    ... except ValueError as error:
    ...     kept = strip_traceback(error)
    >>> kept, kept.__traceback__
    (ValueError('no plan'), None)
    """
    error.__context__ = error.__cause__ = None
    return error.with_traceback(None)


class PlanevalError(Exception):
    """Anything this package raises on purpose; the message is written for the user.

    >>> import planner_eval as pe
    >>> try:
    ...     pe.diff("f()", "f()", policy="nosuch")
    ... except pe.PlanevalError as error:
    ...     print(error.exit_code, str(error).partition(":")[0])
    2 unknown policy 'nosuch'
    """

    exit_code = 2

    @property
    def coded(self) -> str:
        """The message, with its code in brackets where it has one that ``planeval explain`` knows."""
        code = getattr(self, "code", "")
        first, line_end, rest = str(self).partition("\n")
        return f"{first} [{code}]{line_end}{rest}" if code in CODES else str(self)


class InputError(PlanevalError):
    """A file, an option or a record cannot be used."""


class PairingError(InputError):
    """No prediction has a gold plan, so nothing can be evaluated."""

    exit_code = 3


class AbsentError(InputError):
    """A pair of plans does not show what it should be made smaller for, so nothing can be done."""

    exit_code = 3


class PolicyError(InputError):
    """A comparison policy says something impossible."""


class CatalogError(InputError):
    """A tool catalog cannot be read."""


class DatasetError(InputError):
    """A benchmark's data cannot be found, fetched or verified."""


class ParseError(PlanevalError):
    """A text is not a plan in the dialect it was read in.

    Args:
        reason: What is wrong, in one sentence without a place.
        text: The whole text that was read.
        offset: Where reading stopped, in characters from the start of `text`.
        code: A stable dotted code, e.g. ``parse.syntax``.
        dialect: The dialect that was tried, when one was.

    >>> import planner_eval as pe
    >>> try:
    ...     pe.parse("f(a=")
    ... except pe.ParseError as error:
    ...     print(error.brief)
    line 1, column 5: cut off at the end, inside a call
    """

    exit_code = 1
    beyond_repair = False
    """Whether it is known that the text is refused with repairs too."""

    def __init__(
        self,
        reason: str,
        *,
        text: str = "",
        offset: int = 0,
        code: str = "parse.syntax",
        dialect: str | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.text = text
        self.offset = max(0, min(offset, len(text)))
        self.code = code
        self.dialect = dialect

    @property
    def line(self) -> int:
        """The line of the error, counted from 1."""
        return self.text.count("\n", 0, self.offset) + 1

    @property
    def column(self) -> int:
        """The column of the error in characters, counted from 1."""
        return self.offset - self.text.rfind("\n", 0, self.offset)

    def excerpt(self, width: int = 100) -> str:
        """The line of the error, cut to `width` characters around it, with a caret below."""
        start = self.text.rfind("\n", 0, self.offset) + 1
        end = self.text.find("\n", self.offset)
        line = self.text[start : end if end >= 0 else len(self.text)]
        column = self.offset - start
        left = max(0, min(column - width // 2, len(line) - width))
        visible = line[left : left + width]
        if not visible.isprintable():
            visible = "".join(c if c.isprintable() else "\ufffd" for c in visible)
        return f"{visible}\n{' ' * (column - left)}^"

    @property
    def brief(self) -> str:
        """The place and the reason, without the excerpt."""
        return f"line {self.line}, column {self.column}: {self.reason}" if self.text else self.reason

    def __str__(self) -> str:
        return f"{self.brief}\n{self.excerpt()}" if self.text else self.reason


class LimitError(ParseError):
    """A text is larger, deeper or longer than the limits allow."""

    def __init__(self, reason: str, *, text: str = "", offset: int = 0) -> None:
        super().__init__(reason, text=text, offset=offset, code="parse.limit")


class AnswerError(ParseError):
    """An answer of an API is none that counts: it was cut off, refused, failed, or there is none.

    Args:
        reason: What the API says, in one sentence.
        code: ``answer.cut``, ``answer.refused``, ``answer.failed`` or ``answer.absent``.
        plan: The plan of what there is of the answer; None where that cannot be read.
    """

    def __init__(self, reason: str, *, code: str, plan: object = None) -> None:
        super().__init__(reason, code=code)
        self.plan = plan


class WriteError(PlanevalError):
    """A dialect cannot say what the plan says."""

    exit_code = 1


class ExecutionError(PlanevalError):
    """A plan cannot be run at all."""


class RenderError(PlanevalError):
    """A drawing cannot be made."""


class JudgeError(PlanevalError):
    """A model that judges did not answer usefully.

    Args:
        reason: Why, in words.
        code: ``"missing"`` where nobody can be asked at all: the package or the key is missing, or the key is
            refused; "" otherwise.
    """

    def __init__(self, reason: str, *, code: str = "") -> None:
        super().__init__(reason)
        self.code = code


class ModelError(PlanevalError):
    """A model gave no answer.

    Args:
        reason: Why, in words.
        code: ``"transport"`` where asking again may help, ``"context"`` where the request is too long for
            the model, ``"refused"`` where the server will not answer it, ``"missing"`` where nothing can be
            asked at all.
    """

    def __init__(self, reason: str, *, code: str = "transport") -> None:
        super().__init__(reason)
        self.code = code


CODES: dict[str, str] = {
    "parse.syntax": "the text does not follow the dialect's grammar",
    "parse.name": "expected a tool's name, found something else",
    "parse.limit": "the text exceeds a limit on size, depth or number of calls",
    "parse.empty": "the text is empty",
    "parse.shape": "the text is valid JSON but not a plan",
    "parse.cut": "the text ends inside a call or right after its opening",
    "parse.traces": "the text has spans of several traces; each is a plan of its own",
    "parse.encoding": "the bytes are not UTF-8 text",
    "parse.crash": "processing a record crashed its worker or failed with an internal error",
    "parse.deadline": "processing a record exceeded its time limit",
    "answer.cut": "an API's answer was cut off, usually at the token limit",
    "answer.refused": "the model refused to answer, or a filter blocked the answer",
    "answer.failed": "an error is recorded instead of an answer",
    "answer.absent": "a conversation has no assistant turn, or not the requested one",
    "reference.unresolved": "a reference to a call that the plan does not have",
    "reference.forward": "a reference to a call that comes later in the text",
    "reference.self": "a reference to the call that contains it",
    "reference.ambiguous": "several earlier calls return this name; the nearest is used",
    "reference.text": "text such as $1 that may be a reference or an amount; says how it was read",
    "reference.malformed": "a text looks like a malformed reference",
    "label.duplicate": "two calls have the same label; a reference means the nearest earlier one",
    "argument.duplicate": "an argument is given twice in one call",
    "value.duplicate": "an object in an argument, an answer or a call gives a key twice",
    "argument.bare_number": "a number without the quotes that the notation requires",
    "shape.ignored": "an object has keys that do not belong to a call",
    "shape.flag": "a step has a number, yes or no instead of a tool; it calls none",
    "shape.length": "two lists that belong together differ in length",
    "value.joined": "quoted texts side by side, on one line of a program, are read as one text",
    "value.tag": "a value holds a tag of its own notation; another tag may not be closed",
    "value.untyped": "the notation has no types, and no schema gives them",
    "value.computed": "an argument is an expression; its source text or its computed value is used",
    "value.name": "a program uses an undefined variable as an argument; its name is used as text",
    "value.placeholder": "a placeholder for a value that is not known yet",
    "code.loop": "calls in a loop or a comprehension are counted once",
    "code.function": "calls inside a function that the program defines were not read",
    "code.branch": "calls in a branch that may not be taken are counted",
    "link.dangling": "a link of a graph has an end that is not a node",
    "trace.no_arguments": "a trace does not record a call's arguments",
    "trace.loop": "the same calls with the same answers, three rounds or more",
    "trace.repeated_call": "a call repeats an earlier one that had succeeded",
    "trace.failed_retry": "a failed call was retried unchanged and failed again",
    "trace.not_run": "a model asked for a tool that never ran",
    "trace.unused_result": "nothing from a tool's output appears in what followed",
    "trace.ungrounded_argument": "an identifier that appears in no earlier message or tool output",
    "trace.unagreed_action": "a call changes something before the user asked for it or agreed",
    "trace.critical_path": "the tools and models that determined a run's duration",
    "trace.incomplete": "spans are missing, unfinished or duplicated",
    "trace.untimed": "spans have no start times, so the order of calls is unknown",
    "trace.out_of_order": "a span ends before it starts, or starts before its parent",
    "find.thought": "a model's reasoning was ignored",
    "find.turn": "another turn of the conversation was ignored",
    "find.turns": "calls were read from several assistant turns",
    "find.choices": "an answer has several choices; the first was read",
    "find.said": "the calls were read from the text of an assistant message without tool calls",
    "find.code": "code that the model wrote after its calls was ignored",
    "find.token": "a chat token inside a tool's name was dropped",
    "find.alternative": "calls joined by 'or': it is unclear which are meant",
    "find.hypothetical": "the sentence around a call says that it is not made",
    "find.text": "text around the calls was ignored",
    "find.unread": "no call was read, but the text contains something that looks like one",
    "find.restated": "repeated calls are counted once",
    "find.stopped": "the search for calls in a long text stopped early",
    "dialect.ambiguous": "another notation fits as well and gives other calls",
    "dialect.mixed": "the blocks of a text use several notations",
    "plan.no_call": "the text calls no tool",
    "repair.quotes": "wrong quotation marks were replaced",
    "repair.python_literals": "True, False or None in JSON were replaced",
    "repair.trailing_comma": "a comma before a closing bracket was dropped",
    "repair.missing_comma": "a comma between two calls, arguments or keys was added",
    "repair.missing_bracket": "an unmatched bracket was dropped or completed",
    "repair.markdown_escape": "Markdown backslashes were dropped",
    "repair.escaped_newline": "escaped line ends and quotes were unescaped",
    "repair.unquoted_reference": "a reference without quotes was quoted",
    "repair.unquoted_key": "a key without quotes was quoted",
    "repair.control_character": "a line break inside a quoted text was escaped",
    "repair.comment": "a comment in JSON was dropped",
    "repair.cut_off": "the text ends inside a call; the complete calls before it were kept",
    "loss.answer": "a conversion dropped the plan's answer",
    "loss.app": "a conversion merged the app into the tool's name",
    "loss.argument": "a conversion dropped a repeated argument",
    "loss.dependency": "a conversion dropped a dependency that no argument expresses",
    "loss.reference": "a conversion wrote a reference as text",
    "loss.type": "a conversion lost a value's type, which the notation cannot express",
    "reference.base": "nodes are numbered from 0 or from 1, whichever fits the plan",
    "plan.cycle": "calls depend on each other in a cycle",
    "check.unknown_tool": "the catalog has no tool with this name",
    "check.permission": "the tool exists, but not in the app that the call names",
    "check.ambiguous_tool": "several apps offer the tool and the call names none of them",
    "check.missing_argument": "a required argument or field is missing",
    "check.unknown_argument": "the tool has no such argument, or the object no such field",
    "check.wrong_type": "a value has a different type than the tool declares",
    "check.format": "a text is not the date or time that the tool declares",
    "check.enum": "a value is not one that the tool allows",
    "check.out_of_range": "a number, a text's length or a list's size is outside the tool's limits",
    "check.pattern": "a text does not match the tool's regular expression",
    "check.repeated_item": "an item is repeated in a list whose items must be unique",
    "check.not_allowed": "a value that the tool excludes, or that matches several exclusive alternatives",
    "check.undecided": "a value is too large, or a regular expression too slow, to be checked",
    "check.unknown_output": "a reference to an output that the producer does not have",
    "check.output_type": "the producer's output has the wrong type for the argument",
    "check.unused_result": "neither a call nor the answer uses the result",
    "suggest.as_text": "a whole text value is the name of an earlier call's output",
    "suggest.no_app": "the call names no app although the others do, and one app offers the tool",
    "question.plan": "no question can be written: the plan has no calls, a broken reference, or is too long",
    "question.empty": "there is no question",
    "question.long": "a question is too long for its plan",
    "question.short": "a question has a single word",
    "question.hidden": "a question has unprintable characters",
    "question.refusal": "a refusal instead of a question",
    "question.around": "text around a question, or several lines",
    "question.blank": "a question has an unfilled blank",
    "question.several": "a question asks more than the plan answers",
    "question.names": "a question contains the technical name of a tool, an app or an argument",
    "question.leak": "a question reveals what its plan should find out",
    "question.ungrounded": "a question lacks a value that its plan uses",
    "question.cut": "the question was cut off, usually at the token limit",
    "question.refused": "the model refused to write a question, or a filter blocked it",
    "question.failed": "an API returned an error instead of a question",
    "question.poor": "a judge scored a question below the threshold",
    "question.unjudged": "a judge's score cannot be read",
    "dataset.record": "a record lacks a field or has one of another shape",
    "dataset.length": "two lists of a record that belong together differ in length",
    "dataset.difficulty": "a record's difficulty does not fit its number of calls",
    "dataset.repeated_tool": "a gold plan calls one tool several times",
    "dataset.unknown_tool": "a gold call names a tool that is not offered",
    "dataset.unknown_argument": "a gold call has an argument that its tool does not declare",
    "dataset.missing_argument": "a gold call lacks an argument that its tool declares",
    "dataset.type": "a gold value has another type than its tool declares",
    "dataset.untyped": "a tool lists its parameters without types",
    "dataset.placeholder": "a gold value is a placeholder for what is not known yet",
    "dataset.placeholder_first": "a placeholder in a plan's first call, where nothing precedes it",
    "dataset.placeholder_nested": "a placeholder inside a gold value",
    "dataset.empty_value": "a gold value is an empty object",
    "dataset.alternatives_text": "a sentence instead of a gold call's alternatives",
    "dataset.alternatives_object": "a gold call's alternatives are an object, not JSON text",
    "dataset.alternative_unlisted": "an alternative is neither a text nor a list",
    "dataset.alternative_argument": "an alternative belongs to an argument that gold does not have",
    "dataset.alternative_type": "an alternative has another type than the gold value",
    "dataset.alternative_instruction": "an instruction instead of an alternative",
    "dataset.tool_result": "a recorded tool result is not JSON",
    "dataset.repeated_id": "two records of a data set have the same id",
    "dataset.no_answer": "a recorded conversation ends before its final answer",
    "dataset.formula": "a formula or a list of steps cannot be read",
    "dataset.open_end": "a list of steps ends with an empty step",
    "dataset.shared": "a list of steps has fewer operations than its formula, which repeats some",
    "dataset.steps_differ": "a formula and its list of steps disagree",
    "dataset.list_argument": "separate operands where the tool takes one list",
    "dataset.operands": "an operation has more or fewer operands than its function takes",
    "dataset.number": "an operand is not a readable number",
    "dataset.value": "a formula has no value: a division by zero, a negative root, a number too large",
    "dataset.thousands": "a number has thousands separators",
    "dataset.constant": "a constant is spelled differently from the others",
    "dataset.options_list": "the options are the text of a Python list",
    "dataset.mojibake": "a text was decoded with a wrong encoding",
    "dataset.text": "a gold value or name has characters that break simple parsers",
    "dataset.mismatch": "two fields of a record disagree about a call",
    "dataset.repeated_call": "a gold plan holds the same line several times",
    "dataset.repeated_query": "two records have the same question",
    "dataset.repeated_spec": "a list of tools describes the same name several times",
    "dataset.shared_output": "several gold calls return the same name; only their order shows which is meant",
    "dataset.unknown_output": "a gold call names an output that its tool does not return",
    "dataset.encoded": "a field holds JSON as text instead of data",
    "dataset.answer": "a gold answer uses another notation than its data set",
    "dataset.layout": "tools are described in a layout that the published code cannot use",
    "dataset.embedded_reference": "a reference inside a longer text",
    "dataset.dollar": "a text begins with a dollar sign but is not a reference",
    "gold.unasked": "the question says almost nothing about a gold call's values",
    "gold.contradicted": "the question gives another value than gold: another day, time, choice, or the "
    "opposite",
    "gold.ungrounded": "the question does not mention a gold value",
    "gold.twin": "the same question with other values has a gold plan of another shape",
    "gold.candidate": "a gold value comes from an entry of a recorded output that is not the first",
    "gold.candidates": "several entries of a recorded output contain a gold value",
    "gold.outvoted": "models agree on a plan that differs from gold",
    "gold.outvoted_type": "models agree on gold's plan except for numbers written as text or the reverse",
    "gold.unreadable": "a gold plan cannot be read",
    "gold.unknown_tool": "gold calls a tool that is not offered",
    "gold.permission": "gold calls a tool through an app that does not offer it",
    "gold.missing_argument": "a gold call lacks a required argument",
    "gold.unknown_argument": "a gold call has an argument that its tool does not have",
    "gold.unknown_output": "gold refers to an output that the tool does not have",
    "gold.enum": "a gold value is not one that its tool allows",
    "gold.tool_default": "gold uses a default that its tool declares but does not allow",
    "gold.tool_enum": "a tool's schema lists the allowed items of a list as if they were the list",
    "gold.tool_schema": "gold contradicts a tool's schema in nearly all records that use it",
    "gold.accepted": "a value that gold accepts as well is not one that its tool allows",
    "gold.omittable": "gold treats a required argument as optional",
    "gold.disagreeing": "another record with the same question accepts other values",
    "gold.out_of_range": "a gold value is outside its tool's limits",
    "gold.format": "a gold value is not the date or time that its tool declares",
    "gold.pattern": "a gold value does not match its tool's regular expression",
    "gold.repeated_item": "a gold list repeats an item that its tool allows only once",
    "gold.not_allowed": "a gold value is one that its tool excludes",
    "gold.wrong_type": "a gold value has a different type than its tool declares",
    "gold.output_type": "gold passes an output to an argument of another type",
    "gold.unresolved": "a gold reference to a call that does not exist",
    "gold.cycle": "a gold call depends on its own result and can never run",
    "gold.dead": "nothing uses the result of a gold call",
    "gold.repeated": "gold repeats a call whose result is already available",
    "gold.shorter": "a gold call returns a value that is already available",
    "gold.fails": "the gold plan was run, and one of its calls failed",
    "gold.answer": "the gold plan was run, and its result differs from the gold answer",
    "gold.option": "the gold plan was run, and its result is a wrong option",
    "render.condensed": "a drawing shows tools with counts, because there are too many calls or references",
    "render.graphviz": "Graphviz reported a warning about a drawing",
    "render.mermaid": "a flowchart is larger than Mermaid's default limits allow",
}
"""Every diagnostic code with its meaning in one line."""


# ----------------------------------------------------------------------
# What callers give, held against what is expected of it.
class ArgumentKind(NamedTuple):
    """What may be given.

    Args:
        words: What it is, in words.
        fits: Whether something is one.
    """

    words: str
    fits: Callable[[Any], bool]


def _whole_number_from(least: int) -> Callable[[Any], bool]:
    return lambda value: (
        isinstance(value, SupportsIndex) and not isinstance(value, bool) and index(value) >= least
    )


def _is_duration(value: Any) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and 0 < value < float("inf")  # nan is neither


def _is_share(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1


def _are_names(value: Any) -> bool:
    return isinstance(value, str) or (
        isinstance(value, Collection) and all(isinstance(item, str) for item in value)
    )


def _are_paths(value: Any) -> bool:
    is_collection = isinstance(value, Collection) and not isinstance(value, (str, bytes))
    return is_collection and all(isinstance(item, (str, os.PathLike)) for item in value)


NAME = ArgumentKind("a name", lambda value: isinstance(value, str))
NAMES = ArgumentKind("a list of names", _are_names)
PATH = ArgumentKind("a path", lambda value: isinstance(value, (str, os.PathLike)))
PATHS = ArgumentKind("a list of paths", _are_paths)
FLAG = ArgumentKind("True or False", lambda value: isinstance(value, bool))
COUNT = ArgumentKind("a whole number, 0 or more", _whole_number_from(0))
POSITIVE_COUNT = ArgumentKind("a whole number, 1 or more", _whole_number_from(1))
SECONDS = ArgumentKind("a number of seconds above 0", _is_duration)
SHARE = ArgumentKind("a number from 0 to 1", _is_share)
FUNCTION = ArgumentKind("a function", callable)
MAPPING = ArgumentKind("a mapping", lambda value: isinstance(value, Mapping))
LIST = ArgumentKind(
    "a list", lambda value: isinstance(value, Iterable) and not isinstance(value, (str, bytes))
)


def instance_of(kind: type, words: str) -> ArgumentKind:
    """What is of a class.

    Args:
        kind: The class.
        words: How it is made.
    """
    return ArgumentKind(words, lambda value: isinstance(value, kind))


def one_of(names: Collection[str]) -> ArgumentKind:
    """What is one of some names.

    Args:
        names: The names.
    """
    words = " or ".join(filter(None, (", ".join([*map(repr, names)][:-1]), repr([*names][-1]))))
    return ArgumentKind(words, lambda value: isinstance(value, str) and value in names)


def expect(kind: ArgumentKind, /, **arguments: Any) -> None:
    """Refuse what is not of a kind.

    Args:
        kind: The kind.
        arguments: What has to be of it, by the names that the caller knows.

    Raises:
        InputError: names the first that is not.

    >>> expect(COUNT, examples=3)
    >>> expect(COUNT, examples="3")
    Traceback (most recent call last):
    planner_eval.base.errors.InputError: examples is '3', expected a whole number, 0 or more
    """
    for name, value in arguments.items():
        if not kind.fits(value):
            raise InputError(f"{name} is {shorten(repr(value), 40)}, expected {kind.words}")


def expect_or_none(kind: ArgumentKind, /, **arguments: Any) -> None:
    """Refuse what is neither of a kind nor left out.

    Args:
        kind: The kind.
        arguments: As for :func:`expect`.

    Raises:
        InputError: names the first that is neither.

    >>> expect_or_none(NAME, by=None, query="text")
    """
    expect(
        kind._replace(words=f"{kind.words}, or None"), **{k: v for k, v in arguments.items() if v is not None}
    )
