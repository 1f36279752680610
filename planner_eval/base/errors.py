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
    2 there is no policy 'nosuch'
    """

    exit_code = 2


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
    "parse.name": "something else stands where a tool's name should",
    "parse.limit": "the text exceeds a limit on size, depth or number of calls",
    "parse.empty": "the text holds nothing",
    "parse.shape": "the text is valid JSON but not a plan",
    "parse.cut": "the text is cut off at its end, inside a call or right after what opens one",
    "parse.traces": "the text holds spans of several traces, of which each is a plan",
    "parse.encoding": "the bytes are not UTF-8 text",
    "parse.crash": "work on a record ended its process, or failed in the program itself",
    "parse.deadline": "work on a record took longer than a record may take",
    "answer.cut": "an API's answer was cut off before its end, mostly at the token limit",
    "answer.refused": "the model refused the answer, or a filter held it back",
    "answer.failed": "an API gave an error in place of an answer",
    "answer.absent": "a conversation has no turn of the assistant, or not the one asked for",
    "reference.unresolved": "a reference names no call of the plan",
    "reference.forward": "a reference names a call that is written later",
    "reference.self": "a reference names the call it stands in",
    "reference.ambiguous": "several earlier calls return the name; the nearest is taken",
    "reference.text": "a sign such as $1 inside a text: whether it is a reference or money is told",
    "reference.malformed": "a text looks like a reference with a broken bracket or sign",
    "label.duplicate": "two calls carry one label; a reference means the nearest earlier one",
    "argument.duplicate": "an argument is given twice in one call",
    "value.duplicate": "an object in an argument, an answer or a call gives a key twice",
    "argument.bare_number": "a number stands where the notation wants quotes",
    "shape.ignored": "an object has keys that are no part of the call",
    "shape.flag": "a number, yes or no stands for a step's tool: it calls none",
    "shape.length": "two lists that belong together differ in length",
    "value.untyped": "the notation writes values without types and no schema gives them",
    "value.computed": "an argument is computed: its source text stands for it, or the number it comes to",
    "value.name": "nothing assigns a name that a program gives to a call; it stands as a text",
    "value.placeholder": "a value stands for what is not known yet",
    "code.loop": "a loop or a comprehension repeats calls, which are counted once",
    "code.function": "calls in a function of the program's own were not read",
    "code.branch": "a branch may pass over calls, which are counted",
    "link.dangling": "a link of a graph has an end that is no node",
    "trace.no_arguments": "a trace does not record a call's arguments",
    "trace.loop": "the same calls with the same answers, three rounds or more",
    "trace.repeated_call": "a call whose answer an equal call had given already",
    "trace.failed_retry": "a call that failed was made again unchanged and failed again",
    "trace.not_run": "a model asked for a tool that never ran",
    "trace.unused_result": "nothing of a tool's answer stands in what came after",
    "trace.ungrounded_argument": "an identifier that no message and no tool's answer before the call holds",
    "trace.unagreed_action": "a call that changes something, before the user asked for it or agreed",
    "trace.critical_path": "the tools and models that a run waited for, and how long",
    "trace.incomplete": "a trace lacks spans, or spans their ends, or spans stand twice",
    "trace.untimed": "spans do not say when they began, so that the order of calls is not known",
    "trace.out_of_order": "a span ended before it began, or began before the span that it ran in",
    "find.thought": "a model's thought was ignored",
    "find.turn": "another turn of the conversation was ignored",
    "find.turns": "the calls are those of several turns of the assistant",
    "find.choices": "an answer offers several choices, of which the first was read",
    "find.said": "the calls stand in the words of an assistant's message that lists none",
    "find.code": "code of the model's own that follows its calls was ignored",
    "find.token": "a chat token stood in a tool's name and was dropped",
    "find.alternative": "'or' stands between calls: which of them are meant is not said",
    "find.hypothetical": "the sentence around a call says that it is not made",
    "find.text": "text around the calls was ignored",
    "find.unread": "no call was read, and what looks like one stands in the text",
    "find.restated": "calls that were read before are repeated and count once",
    "find.stopped": "the search for calls in a long text stopped early",
    "dialect.ambiguous": "a second notation fits too and reads other calls",
    "dialect.mixed": "the blocks of a text are in several notations",
    "plan.no_call": "the text calls no tool",
    "repair.quotes": "other quotes than the notation wants were replaced",
    "repair.python_literals": "True, False or None in JSON were replaced",
    "repair.trailing_comma": "a comma before a closing bracket was dropped",
    "repair.missing_comma": "a comma between two calls was added",
    "repair.missing_bracket": "a bracket without its partner was dropped, or its partner added",
    "repair.markdown_escape": "backslashes of Markdown were dropped",
    "repair.escaped_newline": "line ends and quotes written with a backslash were undone",
    "repair.unquoted_reference": "a reference without quotes was quoted",
    "repair.unquoted_key": "a key without quotes was quoted",
    "repair.control_character": "a line end inside a quoted text was escaped",
    "repair.comment": "a comment in JSON was dropped",
    "repair.cut_off": "a text ends inside a call; the whole calls before it were kept",
    "loss.answer": "a conversion gave up what the user gets",
    "loss.app": "a conversion made an app part of a tool's name",
    "loss.argument": "a conversion gave up a repeated argument",
    "loss.dependency": "a conversion gave up a dependency that no argument says",
    "loss.reference": "a conversion wrote a reference as text",
    "loss.type": "a conversion gave up a value's type, which the notation does not write",
    "reference.base": "nodes are counted from 0 or from 1, as fits the plan",
    "plan.cycle": "calls depend on one another in a circle",
    "check.unknown_tool": "the catalog has no tool of that name",
    "check.permission": "the tool exists, but the app that the call names does not offer it",
    "check.ambiguous_tool": "several apps offer the tool and the call names none of them",
    "check.missing_argument": "a required argument or field is not given",
    "check.unknown_argument": "the tool takes no argument, or an object has no field, of that name",
    "check.wrong_type": "a value is of another type than the tool declares",
    "check.format": "a text is no date or time where the tool declares one",
    "check.enum": "a value is none of those that the tool allows",
    "check.out_of_range": "a number, a text's length or a list's size is outside the tool's limits",
    "check.pattern": "a text does not match the tool's regular expression",
    "check.repeated_item": "an item stands twice in a list whose items must be unique",
    "check.not_allowed": "a value that the tool excludes, or that fits several of its alternatives",
    "check.undecided": "a value is too large, or a regular expression too slow, to be checked",
    "check.unknown_output": "a reference asks for an output that the producer does not have",
    "check.output_type": "the producer's output does not fit the argument that it feeds",
    "check.unused_result": "no call and no answer uses the result",
    "suggest.as_text": "a text names an earlier call's output from its first letter to its last",
    "suggest.no_app": "the call names no app in a plan that names them, and one app offers the tool",
    "question.plan": "a made plan cannot be told: it calls nothing, refers to nothing or is too long",
    "question.empty": "there is no question",
    "question.long": "a question is longer than any to its plan has to be",
    "question.short": "a question has a single word",
    "question.hidden": "a question holds characters that do not print",
    "question.refusal": "words of a refusal stand where a question should",
    "question.around": "something stands around a question, or it has several lines",
    "question.blank": "a question has a blank that is still to be filled in",
    "question.several": "more is asked than the plan answers",
    "question.names": "a question names a tool, an app or an argument as programs do",
    "question.leak": "a question tells what its plan is to find out",
    "question.ungrounded": "a question does not say a value that its plan is given",
    "question.cut": "the question was cut off before its end, mostly at the token limit",
    "question.refused": "the model refused to write a question, or a filter held it back",
    "question.failed": "an API gave an error in place of a question",
    "question.poor": "a judge found a question to be worse than is wanted",
    "question.unjudged": "a judge gave no score that can be read",
    "dataset.record": "a record of a data set lacks a field or has one of another shape",
    "dataset.length": "two lists of a record that belong together differ in length",
    "dataset.difficulty": "a record's difficulty does not fit its number of calls",
    "dataset.repeated_tool": "a gold plan calls one tool several times",
    "dataset.unknown_tool": "a gold call names a tool that is not on offer",
    "dataset.unknown_argument": "a gold call has an argument that its tool does not declare",
    "dataset.missing_argument": "a gold call lacks an argument that its tool declares",
    "dataset.type": "a gold value has another type than its tool declares",
    "dataset.untyped": "a tool lists its parameters without types",
    "dataset.placeholder": "a gold value is a placeholder for what is not known yet",
    "dataset.placeholder_first": "a placeholder stands in a plan's first call, where nothing precedes it",
    "dataset.placeholder_nested": "a placeholder stands inside a gold value",
    "dataset.empty_value": "a gold value is an empty object",
    "dataset.alternatives_text": "a sentence stands where a gold call's alternatives are expected",
    "dataset.alternatives_object": "a gold call's alternatives are an object, not JSON text",
    "dataset.alternative_unlisted": "an alternative is neither a text nor a list",
    "dataset.alternative_argument": "an alternative belongs to an argument that gold does not have",
    "dataset.alternative_type": "an alternative has another type than the gold value",
    "dataset.alternative_instruction": "an instruction stands where an alternative is expected",
    "dataset.tool_result": "a recorded tool result is not JSON",
    "dataset.repeated_id": "two records of a data set have one id",
    "dataset.no_answer": "a recorded conversation ends before its final answer",
    "dataset.formula": "a formula or a list of steps cannot be read",
    "dataset.open_end": "a list of steps ends with an empty step",
    "dataset.shared": "a list of steps has another number of operations than its formula, which repeats some",
    "dataset.steps_differ": "a formula and its list of steps do not say the same",
    "dataset.list_argument": "operands stand where the tool takes one list",
    "dataset.operands": "an operation has more or fewer operands than its function takes",
    "dataset.number": "an operand is no number that can be read",
    "dataset.value": "a formula has no value: a division by zero, a negative root, a number too large",
    "dataset.thousands": "a number has thousands separators",
    "dataset.constant": "a constant is spelled otherwise than the others",
    "dataset.options_list": "the options are the text of a Python list",
    "dataset.mojibake": "a text was decoded with a wrong encoding",
    "dataset.text": "a gold value or name holds characters that trip simple readers",
    "dataset.mismatch": "two fields of a record tell different stories of one call",
    "dataset.repeated_call": "a gold plan holds the same line several times",
    "dataset.repeated_query": "two records ask for the same thing in the same words",
    "dataset.repeated_spec": "a list of tools describes one name several times",
    "dataset.shared_output": "several gold calls return a name, and only their order tells which is meant",
    "dataset.unknown_output": "a gold call names an output that its tool does not return",
    "dataset.encoded": "a field holds JSON as text instead of data",
    "dataset.answer": "a gold answer is written in another notation than the data set's",
    "dataset.layout": "tools are described in a layout that the published code cannot use",
    "dataset.embedded_reference": "a reference stands inside a longer text",
    "dataset.dollar": "a text begins with a dollar sign and is no reference",
    "gold.unasked": "the query says nothing to the point of what a gold call is given",
    "gold.contradicted": "the query says another value than gold: another day, time, choice, or the opposite",
    "gold.ungrounded": "the query does not say a gold value",
    "gold.twin": "the same question up to values has a gold plan of another shape",
    "gold.candidate": "a gold value is of an entry of a recorded answer that is not the first",
    "gold.candidates": "several entries of a recorded answer hold a gold value",
    "gold.outvoted": "models agree with one another on a plan that is not gold's",
    "gold.outvoted_type": "models give gold's plan but for a number that is a text, or the other way",
    "gold.unreadable": "a gold plan cannot be read",
    "gold.unknown_tool": "gold calls a tool that is not on offer",
    "gold.permission": "gold has an app call a tool that belongs to another",
    "gold.missing_argument": "a gold call lacks an argument that its tool needs",
    "gold.unknown_argument": "a gold call has an argument that its tool does not take",
    "gold.unknown_output": "gold asks for an output that the tool does not have",
    "gold.enum": "a gold value is none of those that its tool allows",
    "gold.tool_default": "a tool declares a default that it does not allow, and gold has it",
    "gold.tool_enum": "a tool lists the allowed items of a list as if they were the whole list",
    "gold.accepted": "another value that gold accepts is none that its tool allows",
    "gold.omittable": "gold lets an argument be left out that its tool needs",
    "gold.disagreeing": "gold of the same question accepts other values in another record",
    "gold.out_of_range": "a gold value is outside its tool's limits",
    "gold.format": "a gold value is no date or time where its tool declares one",
    "gold.pattern": "a gold value does not match its tool's regular expression",
    "gold.repeated_item": "a gold list has an item twice where its tool allows each once",
    "gold.not_allowed": "a gold value is one that its tool excludes",
    "gold.wrong_type": "a gold value is of another type than its tool declares",
    "gold.output_type": "gold gives an output to an argument of another type",
    "gold.unresolved": "a reference of gold names no call",
    "gold.cycle": "a gold call waits for its own result, and can never run",
    "gold.dead": "neither the answer nor another call needs the result of a gold call",
    "gold.repeated": "gold makes an equal call again, though its result is there",
    "gold.shorter": "a gold call gives back a value that is there already",
    "gold.fails": "the gold plan was run, and a call of it failed",
    "gold.answer": "the gold plan was run, and comes to another answer than its record says",
    "gold.option": "the gold plan was run, and comes to the value of a wrong option",
    "render.condensed": "a drawing shows tools with counts, for it has too many calls or references",
    "render.graphviz": "Graphviz had something to say about a drawing",
    "render.mermaid": "a flowchart is larger than Mermaid draws in its usual settings",
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
COUNT = ArgumentKind("a whole number from 0 on", _whole_number_from(0))
POSITIVE_COUNT = ArgumentKind("a whole number from 1 on", _whole_number_from(1))
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
    planner_eval.base.errors.InputError: examples is '3', expected a whole number from 0 on
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
