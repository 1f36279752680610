"""Texts that are a plan from end to end, in the notations that need no search.

Most records of most files are such texts. What this module accepts, the search of
:mod:`planner_eval.reading.dialects.finding.find` reads to the same calls (tested); it is only dearer, and it
imports every shape that a text may have.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from itertools import islice
from typing import Any

from planner_eval.base.errors import LimitError, ParseError
from planner_eval.base.json_text import decode, loads_if_json, skip_whitespace, unwrap_single
from planner_eval.base.limits import Limits, too_many_calls_error
from planner_eval.base.text import lazy_pattern
from planner_eval.plan.model import RawPlan
from planner_eval.reading import dialects
from planner_eval.reading.dialects.conversations.messages import (
    ARGUMENT_KEYS,
    CALL_LIST_KEYS,
    CONTAINER_KEYS,
    JSON_STARTS,
    NODE_KEYS,
    NON_ASSISTANT_ROLES,
    WRAPPER_KEYS,
    is_call,
    is_plain_call,
)
from planner_eval.reading.dialects.dialect import Data, RecognisedPlan
from planner_eval.reading.dialects.finding.edited_text import TextView
from planner_eval.reading.dialects.programs.program import BUILTINS, DISPLAY_FUNCTIONS, SELF_NAMES


def read_whole_text(source: str, limits: Limits, values: list[Any] | None = None) -> RecognisedPlan | None:
    """The dialect and the calls of a text that is nothing but a plan; None where a search has to decide.

    Args:
        source: The text.
        limits: Bounds on nesting and the number of calls.
        values: The JSON values of the text, where they are known already.

    Raises:
        LimitError: it nests too deeply, or holds too long a number.

    >>> read_whole_text("a = f(#x='1')", Limits()).dialect
    'appbench'
    >>> read_whole_text('Sure: [{"name": "f", "arguments": {}}]', Limits())
    """
    if source.lstrip()[:1] in ("[", "{"):
        values = loads_if_json(source, limits) if values is None else values
        return None if values is None else _read_json(source, limits, values)
    if "#" in source and "<" not in source and "```" not in source:
        raw = _appbench_reader()(source, limits)
        if raw is not None:
            return RecognisedPlan("appbench", raw)
    return None


@cache
def _appbench_reader() -> Callable[[str, Limits], RawPlan | None]:
    """The reader of AppBench's lines: an import inside a function takes a microsecond at each call."""
    from planner_eval.reading.dialects.notations.appbench import read_fast

    return read_fast


_OTHER_SIGNS = re.compile(r"[<>`#\\\x1b]")
"""What may mean something to another notation than Python."""
_QUOTED = lazy_pattern(r"'[^']*+'|\"[^\"]*+\"")
_BRACKETS = frozenset("()[]{}")


def read_plain_text(source: str, limits: Limits) -> RecognisedPlan | None:
    """The calls of a text that is plain Python calls; None where a search has to decide.

    >>> read_plain_text("[f(a=1), g(b='x')]", Limits()).raw.calls[1].arguments
    (('b', 'x'),)
    >>> read_plain_text("f(a=1); g(b='</think>')", Limits())
    """
    if "(" not in source or _OTHER_SIGNS.search(source) is not None:
        return None
    may_be_other, read = _python_reader()
    view = TextView(source).strip()
    raw = read(view.text, limits)
    if raw is None or may_be_other(source) or not _BRACKETS.isdisjoint("".join(_QUOTED.findall(source))):
        return None  # in a text a bracket may begin another call, or a token
    return RecognisedPlan("pythonic", view.place(raw)._replace(reason="Python calls"))


@cache
def _python_reader() -> tuple[Callable[[str], bool], Callable[[str, Limits], RawPlan | None]]:
    """What tells another notation, and the reader of plain calls."""
    from planner_eval.reading.dialects.detect import may_be_other_notation
    from planner_eval.reading.dialects.programs.plain_calls import read_plain_calls

    return may_be_other_notation, read_plain_calls


_NAMED_ARGUMENT = re.compile(r"\(\s*+[^\W\d]\w*+=")
_CLASS_CALL = re.compile(r"[A-Z]\w*+ ?+\(")
_PRINTED_SIGNS = (
    "tool_calls=", "function_call=", "_kwargs=", "call_id=", "trajectory=", "_reason=", "arguments=", "args=",
    "input=", "role=", "parts=", "Message(", "MessageChunk(", "Block(", "ChatCompletion", "Agent",
    "GenerateContentResponse(", "final_output=", "ToolResult(", "CrewOutput(", "next_tool_name=",
)  # fmt: skip
"""Of which one stands in each text of a printed object."""


def may_be_printed(source: str) -> bool:
    """Whether a text may hold objects of clients as Python prints them, or an error's traceback.

    >>> may_be_printed("Message(role='user')"), may_be_printed("f(args=1)")
    (True, False)
    """
    if source.lstrip().startswith("Traceback ("):
        return True
    # Most texts end at the first look: the others are much dearer.
    is_called = _NAMED_ARGUMENT.search(source) is not None and _CLASS_CALL.search(source) is not None
    return is_called and any(map(source.__contains__, _PRINTED_SIGNS))


def _read_json(source: str, limits: Limits, values: list[Any]) -> RecognisedPlan | None:
    value = unwrap_single(values)
    has_schema = isinstance(value, dict) and "schema" in value
    items = value.get("calls", value) if isinstance(value, dict) and has_schema else value
    calls: list[Any] = items if isinstance(items, list) else [items]
    plain = bool(calls) and all(map(is_plain_call, calls))
    recognised = (
        dialects.recognise_plain(Data(value, calls, calls if plain else [], source))
        if has_schema or plain
        else None
    )
    if recognised is None:
        return None
    dialect = recognised[0]
    target = dialects.get(dialect)
    assert target.read_data is not None
    try:
        if plain and value is calls and target.read_plain is not None:
            raw = target.read_plain(calls, limits)
        else:
            raw = target.read_data(value, limits, None)
    except (ParseError, RecursionError):
        return None
    return RecognisedPlan(dialect, raw) if raw.calls else None


# ----------------------------------------------------------------------
# Words in the place of a plan, told without the tables of notations: most plans are none at first sight.
_TEXT = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_TEXT_ONLY_JSON = lazy_pattern(rf"\s*+(?:\{{\s*+\}}|\[\s*+(?:{_TEXT}\s*+,?+\s*+)++\]|{_TEXT})\s*+")
"""JSON that holds nothing, or nothing but texts."""


@cache
def _call_predicate() -> Callable[[str], bool]:
    """What is asked of each record: an import inside a function takes a microsecond at each call."""
    from planner_eval.reading.dialects.detect import may_hold_call

    return may_hold_call


def is_prose(source: Any) -> bool:
    """Whether what stands in a plan's place is words in which nothing could be a call, or nothing at all.

    Texts alone, in a list or as JSON, are words; an empty object says nothing. An empty list is a plan.

    >>> [is_prose(source) for source in ("It is sunny.", '["sunny"]', ["sunny"], "{}", "[]", "f(a=1)")]
    [True, True, True, True, False, False]
    >>> is_prose(["sunny", ""]), is_prose([""])
    (True, False)
    """
    if isinstance(source, list):
        texts = [text for text in source if not (isinstance(text, str) and not text.strip())]
        return bool(texts) and all(isinstance(text, str) and is_prose(text) for text in texts)
    if not isinstance(source, str):
        return False
    if source.lstrip()[:1] not in JSON_STARTS:
        return bool(source.strip()) and not _call_predicate()(source)
    if _TEXT_ONLY_JSON.fullmatch(source) is None:  # as most plans, from the second sign on
        return False
    try:
        value = json.loads(source)
    except ValueError:
        return False
    return value == {} or is_prose(value)


# ----------------------------------------------------------------------
# Texts of nothing but calls, more than a plan may have: refused before anything is made of them.
_MIN_CALL_LENGTH = 4
"""Characters of the shortest call, with what stands between two."""


def refuse_too_many_calls(text: str, limits: Limits) -> None:
    r"""Refuse a text of calls alone that are surely too many; what is left is counted as it is read.

    Args:
        text: The text.
        limits: Bounds on calls.

    Raises:
        LimitError: the text is calls of tools from end to end, and more than ``limits.calls``.

    >>> refuse_too_many_calls("f(a=1)\n" * 3, Limits(calls=3))
    >>> refuse_too_many_calls("f(a=1)\n" * 4, Limits(calls=3))  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    planner_eval.base.errors.LimitError: the plan has more calls than the limit of 3
    """
    if len(text) < _MIN_CALL_LENGTH * limits.calls:
        return
    if has_too_many_calls(text, limits) or (
        text.count("{") > limits.calls
        and "<" not in text  # another notation may stand between
        and _has_excess_json_calls(text, limits.calls)
    ):
        raise too_many_calls_error(limits, text)
    many = _find_excess_listing(text, limits.calls)
    if many is not None:
        raise LimitError(f"the plan has more {many}", text=text, offset=0)


def has_too_many_calls(text: str, limits: Limits) -> bool:
    r"""Whether a text is calls of a program or of AppBench lines alone, and surely too many.

    >>> (
    ...     has_too_many_calls("[f(a=1)]\n" * 4, Limits(calls=3)),
    ...     has_too_many_calls("print(a=1)\n" * 4, Limits(calls=3))
    ... )
    (True, False)
    """
    if text.count("(") <= limits.calls:
        return False
    position = _FENCE.match(text).end()  # type: ignore[union-attr]
    roots: set[str] = set()
    targets: set[str] = set()
    for _ in range(limits.calls + 1):
        match = _call_pattern().match(text, position)
        if match is None:
            return False
        position = match.end()
        roots.add(match["root"])
        targets.update(re.findall(r"\w+", match["targets"] or ""))
    if targets & roots:  # a name that they assign is no tool
        return False
    if _MORE_CALLS_OR_WORDS.fullmatch(text, position):
        return True
    while match := _call_pattern().match(text, position):
        position = match.end()
    return _FENCE_END.fullmatch(text, position) is not None


@cache
def _call_pattern() -> re.Pattern[str]:
    """A call of a tool as programs and AppBench lines write it, with what may stand before and after."""
    not_tools = "|".join(re.escape(name) for name in sorted({*DISPLAY_FUNCTIONS, *BUILTINS, *SELF_NAMES}))
    inside = r"[^()\"'\n#<`]|\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'|\#(?=\w++\s*+=)"
    nested = rf"\((?:{inside})*+\)"
    targets = r"(?:const |let |var )?+(?P<targets>[^\W\d]\w*+(?:, ?[^\W\d]\w*+)*+) ?+=(?!=) ?+"
    return re.compile(
        rf"(?:[^\W\d][\w ]*+: ?+(?=\[))?+[\s\[]*+(?:{targets})?+(?:await )?+"
        rf"(?!(?:{not_tools})\b)(?P<root>[^\W\d]\w*+)[\w.\-]*+\((?:{inside}|{nested})*+\)"
        r"(?:[.\[]\w++\]?+)*+ *+(?:[,;\n\]]\s*+|\Z|(?<= )(?=[^\W\d]))[\s,;\]]*+"
    )


_FENCE = lazy_pattern(r"\s*+(?:```\w*+\n)?+")
_FENCE_END = lazy_pattern(r"(?:```)?+\s*+")
_MORE_CALLS_OR_WORDS = lazy_pattern(r"[^<`#:{|]*+")
"""What may follow calls of Python and open no other notation, in which the calls could be a thought."""


def refuse_too_many_openings(opened: re.Pattern[str], text: str, limits: Limits) -> None:
    """Refuse a text that opens more calls than a plan may have, before a grammar makes objects of them.

    Args:
        opened: Where a call opens, as its last group, and what is passed over, for no call opens in it.
        text: The text.
        limits: Bounds on calls.

    Raises:
        LimitError: it does.

    >>> refuse_too_many_openings(re.compile("(<f>)|'[^']*'"), "<f> '<f>' <f>", Limits(calls=2))
    """
    if len(text) > _MIN_CALL_LENGTH * limits.calls:
        openings = islice(
            (match for match in opened.finditer(text) if match.lastindex == opened.groups), limits.calls + 1
        )
        if sum(1 for _ in openings) > limits.calls:
            raise too_many_calls_error(limits, text)


def refuse_too_many_json_calls(text: str, start: int, limits: Limits) -> None:
    """Refuse JSON with more calls than a plan may have, before data is made of all of it.

    Args:
        text: The text.
        start: Where the JSON begins.
        limits: Bounds on calls.

    Raises:
        LimitError: it has.
    """
    if len(text) - start >= _MIN_CALL_LENGTH * limits.calls and _has_excess_json_calls(
        text, limits.calls, start
    ):
        raise too_many_calls_error(limits, text)


def has_too_many_json_calls(text: str, limits: Limits) -> bool:
    """Whether a text is calls of JSON, or one message of them, and surely too many; no records of plans.

    >>> has_too_many_json_calls('[{"name": "f", "arguments": {}}, {"name": "g", "arguments": {}}]',
    ...     Limits(calls=1))
    True
    """
    if _find_excess_listing(text, limits.calls) is not None:
        return True
    if len(text) < _MIN_CALL_LENGTH * limits.calls or "<" in text:
        return False
    position = skip_whitespace(text, 0)
    alone = text.startswith(('{"role"', '{"schema"'), position)
    return _has_excess_json_calls(text, limits.calls, position, plain=not alone)


def _has_excess_json_calls(text: str, most: int, position: int = 0, *, plain: bool = False) -> bool:
    """Whether JSON begins with more calls than so many: in a list, in a message, or one after another."""
    position, count = skip_whitespace(text, position), 0
    try:
        listed = None if plain else _find_inner_call_list(text, position)
        between = "," if listed is not None or text.startswith("[", position) else ""
        position = (
            skip_whitespace(text, position + len(between))
            if listed is None
            else skip_whitespace(text, listed + 1)
        )
        while count <= most:
            value, position = decode(text, position)
            if not is_plain_call(value) and (
                plain or not is_call(value) or _CALL_CONTENT_KEYS.isdisjoint(value)
            ):
                return False
            count += 1
            position = skip_whitespace(text, position)
            if not text.startswith(between, position):
                break
            position = skip_whitespace(text, position + len(between))
    except (ValueError, RecursionError):
        return False
    from planner_eval.reading.dialects.detect import is_schema

    return count > most and (is_plain_call(value) or not is_schema([value]))


def _find_excess_listing(text: str, most: int) -> str | None:
    """What JSON lists more of than it may, of so many calls: their names or parameters, or a graph's links.

    Three links a call take the memory of a call.
    """
    if len(text) < _MIN_CALL_LENGTH * most or not _LIMITED_LISTS.search(text):
        return None
    position, mark = skip_whitespace(text, _FENCE.match(text).end()), "{"  # type: ignore[union-attr]
    try:
        while text.startswith(mark, position):
            key, position = decode(text, skip_whitespace(text, position + 1))
            position = skip_whitespace(text, skip_whitespace(text, position) + 1)
            if key in _ITEMS_PER_CALL and text.startswith("[", position):
                allowed = most * _ITEMS_PER_CALL[key]
                count, position = _count_items(text, position, allowed)
                if count > allowed:
                    return (
                        f"links than {allowed:,}" if allowed > most else f"calls than the limit of {most:,}"
                    )
            else:
                position = decode(text, position).end
            mark, position = ",", skip_whitespace(text, position)
    except (ValueError, RecursionError):
        pass
    return None


def _count_items(text: str, position: int, most: int) -> tuple[int, int]:
    """How many items a list of JSON has, counted up to one too many, and where it ends.

    Raises:
        ValueError: it is no JSON up to there.
        RecursionError: an item nests too deeply.
    """
    count, position = 0, skip_whitespace(text, position + 1)
    while count <= most and not text.startswith("]", position):
        position = skip_whitespace(text, decode(text, position).end)
        count += 1
        if text.startswith(",", position):
            position = skip_whitespace(text, position + 1)
    return count, position + 1


def _find_inner_call_list(text: str, position: int, depth: int = 0) -> int | None:
    """Where the list of calls begins in a message, or in the answer of an API that holds one.

    Raises:
        ValueError: it is no JSON up to there.
        RecursionError: what stands before nests too deeply.
    """
    if text.startswith("[", position):
        position = skip_whitespace(text, position + 1)
    if not text.startswith("{", position) or depth > _MAX_DEPTH:
        return None
    mark = "{"
    while text.startswith(mark, position):
        key, position = decode(text, skip_whitespace(text, position + 1))
        position = skip_whitespace(text, skip_whitespace(text, position) + 1)
        if key == "role" and str(decode(text, position).value) in NON_ASSISTANT_ROLES:
            return None
        if key in _CALL_LIST_KEYS and text[position : position + 1] in ("[", "{"):
            inner = _find_inner_call_list(text, position, depth + 1)
            return position if inner is None and text[position] == "[" else inner
        mark, position = ",", skip_whitespace(text, decode(text, position).end)
    return None


_CALL_LIST_KEYS = frozenset({*CALL_LIST_KEYS, *CONTAINER_KEYS})
_LINK_KEYS = ("task_links", "tool_links", "links")
_ITEMS_PER_CALL = dict.fromkeys(("API", "parameters", *NODE_KEYS), 1) | dict.fromkeys(_LINK_KEYS, 3)
"""Under which CallNavi and TaskBench list what is one call each, and links: how many there may be a call."""
_LIMITED_LISTS = re.compile(r'"(?:API|(?:task_|tool_)?nodes)"\s*+:\s*+\[')
_CALL_CONTENT_KEYS = frozenset({*ARGUMENT_KEYS, *WRAPPER_KEYS})
"""A name alone may be words."""
_MAX_DEPTH = 6
"""How deep the answers of APIs nest the calls of a message."""
