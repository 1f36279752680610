"""How the published AppBench code reads an answer: lines, apps, calls, arguments.

Two modules of that code read calls differently; both readings are here, faults included, because
the published figures come from them. For a faithful reading use ``planner_eval.parse``.

Source: repository ruleGreen/AppBench at 81539ee, ``utils.py`` and ``analysis.py``.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_APP_LINE = re.compile(r"(\w+):\s*(\[.*\])")
_APP_FIRST_LINE = re.compile(r"(\w+): (\[.*\])")
# Words are matched from their first letter only, and calls only before the last ")": the published
# expressions without these fences, which change no result, take quadratic time on hostile text.
_SCORED_CALL = re.compile(r"\w\s*=\s*(\w++)\(([^)]*)\)")
_ANALYSED_CALL = re.compile(r"(?<!\w)(\w++)\((.*)\)")
_MAX_CACHED_CHARS = 1_000
"""Shorter lines are remembered: most lines of an answer are gold's, or another answer's."""
_ANALYSED_ARGUMENT = re.compile(r"""(?<!\w)(\w++)\s*=\s*(?:['"](.+?)['"]|(\[.*\])|(\w+))""")


class OfficialCall(NamedTuple):
    """A call as one of the two published readers understands it.

    One line is read once: treat what it holds as read-only.

    Args:
        name: The API name after the reader's clean-up.
        arguments: Keys and values; keys with ``#`` and values with quotes in the scoring reader,
            both bare in the analysing one.
        returns: The returned names, which no published figure looks at.
    """

    name: str
    arguments: dict[str, str]
    returns: list[str]


def split_answer(text: str) -> tuple[list[str], list[str]]:
    r"""The apps and the call texts of an answer, line by line.

    A line that is not ``App: [call]`` still names an app as long as it holds a colon and both
    brackets; any other line is lost, so a call that spans two lines is too.

    Args:
        text: The whole answer.

    Returns:
        The app names and the call texts; a call text may be empty, and the lists differ in length
        when a line begins with its colon.

    Source: ``utils.discompose_app_api``.

    >>> split_answer("Movies: [x = buy(#city='Reno')]\n- Rents: [y = ride()]")
    (['Movies', '- Rents'], ["x = buy(#city='Reno')", 'y = ride()'])
    """
    apps: list[str] = []
    calls: list[str] = []
    for line in text.split("\n"):
        match = _APP_LINE.match(line)
        if match:
            app, call = match.groups()
        elif ":" in line and "[" in line and "]" in line:
            app, _, call = line.partition(":")
            app = app.strip()
        else:
            continue
        if app:
            apps.append(app)
        calls.append(_strip_brackets(call))
    return apps, calls


def _strip_brackets(call: str) -> str:
    """A call's text without any square bracket; translate() takes five times as long."""
    return call.replace("[", "").replace("]", "").strip()


def split_answer_app_first(text: str) -> tuple[list[str], list[str]]:
    """The stricter splitter that the published code holds and never calls.

    Source: ``utils.discompose_app_api_with_app_first``.

    >>> split_answer_app_first("Movies: [x = buy()]")
    (['Movies'], ['x = buy()'])
    """
    pairs = [match.groups() for line in text.split("\n") if (match := _APP_FIRST_LINE.match(line))]
    return [app for app, _ in pairs], [_strip_brackets(call) for _, call in pairs]


def read_scored_call(line: str) -> OfficialCall | None:
    """One call text as the scoring module reads it; None where it finds no ``name = api(...)``.

    Of a name with underscores only the second part is kept. Arguments are cut at comma and blank,
    so such a value loses its text (the piece without ``=`` blanks the last key), a value with
    ``=`` loses its key, and one with ``)`` ends the list.

    Args:
        line: One call text of :func:`split_answer`, or one line of the gold's ``api_results``.

    Source: ``utils.extract_name_params``.

    >>> read_scored_call("x = Movies_Buy(#City='Reno, NV', n=2)")
    OfficialCall(name='buy', arguments={'#city': '', '#n': '2'}, returns=['x'])
    """
    return _cached_scored_call(line) if len(line) < _MAX_CACHED_CHARS else _parse_scored_call(line)


def _parse_scored_call(line: str) -> OfficialCall | None:
    match = _SCORED_CALL.search(line, 0, line.rfind(")") + 1)
    if match is None:
        return None
    name, inside = match.groups()
    arguments: dict[str, str] = {}
    last = ""
    for piece in inside.split(", "):
        halves = piece.split("=")
        if len(halves) == 2:
            last = halves[0].strip().lower()
            if not last.startswith("#"):
                last = "#" + last
            arguments[last] = halves[1].strip()
        elif len(halves) == 1 and last:
            arguments[last] = ""
    returns = [name.strip() for name in line.partition("=")[0].split(",")]
    return OfficialCall(_second_name_segment(name.lower()), arguments, returns)


def read_analysed_call(line: str) -> OfficialCall | None:
    """One call text as the analysis module reads it; None where it finds no ``api(...)``.

    An apostrophe ends a value, an empty value swallows the text up to the next quote, and keys and
    values come without their ``#`` and quotes.

    Source: ``analysis.extract_name_params``.

    >>> read_analysed_call("x = buy(#name='Mcdonald's', #n=2)").arguments
    {'name': 'Mcdonald', 'n': '2'}
    """
    return _cached_analysed_call(line) if len(line) < _MAX_CACHED_CHARS else _parse_analysed_call(line)


def _parse_analysed_call(line: str) -> OfficialCall | None:
    match = _ANALYSED_CALL.search(line, 0, line.rfind(")") + 1)
    if match is None:
        return None
    name, inside = match.groups()
    arguments = {
        key: quoted or listed or bare for key, quoted, listed, bare in _ANALYSED_ARGUMENT.findall(inside)
    }
    return OfficialCall(_second_name_segment(name), arguments, line.partition("=")[0].strip().split(","))


_cached_scored_call, _cached_analysed_call = map(
    lru_cache(maxsize=4096), (_parse_scored_call, _parse_analysed_call)
)


def _second_name_segment(name: str) -> str:
    """The name, or what stands between its first and second underscore."""
    return name.split("_")[1] if "_" in name else name
