"""Colours put on the lines of a command's text: of states, kinds of edits, severities and headings.

Each function takes text that is made already and gives the same text with colours; what a colour says stands
there in words. A text that only looks like a state is coloured as one, and means nothing more by it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

STATES = {
    "same": "32",
    "different": "33",
    "unreadable": "31",
    "cut": "31",
    "refused": "31",
    "failed": "31",
    "absent": "31",
    "gold unreadable": "35",
    "gold absent": "35",
    # of calls that were run, of files of data
    "ok": "32",
    "skipped": "33",
    "differs": "31",
    "missing": "31",
    "error": "31",
    "warning": "33",
    "info": "36",
    "no": "33",
}
"""What became of something, and its colour."""

BOLD, DIM = "1", "2"

_STATE = "|".join(STATES)
_CODE = r"[a-z]+\.[a-z_]+"
_HABIT = r"[a-z]+ for [a-z]+"
_COLUMNS = r"(?:^|(?<=  ))(status|state|severity)(?=  |$)"
"""The heads of columns of states."""


def _on(text: str, sgr: str) -> str:
    return f"\x1b[{sgr}m{text}\x1b[0m" if sgr else text


def _state(match: re.Match[str]) -> str:
    return _on(match[0], STATES[match[0]])


def _code(match: re.Match[str]) -> str:
    """A kind of edit in the colour that its role has in a drawing."""
    kind, _, what = match[0].partition(".")
    if what == "missing":
        return _on(match[0], "31")
    if what in ("extra", "duplicated"):
        return _on(match[0], "34")
    return _on(match[0], "35" if kind == "reference" else "33")


def _values(message: str) -> str:
    """What an edit says, with the words in bold in which two texts differ."""
    from planner_eval.comparison.contrast import marked

    return "".join(_on(piece, BOLD) if differs else piece for piece, differs in marked(message))


def _pair(line: str) -> str:
    """A line of what became of a pair, of an edit, or of how many pairs are in which state."""
    if re.match(r"[\d,]+ pairs?: ", line):
        return re.sub(rf"(?<=\d )({_STATE})\b", _state, line)
    if edit := re.match(rf" +(↳ )?(?:{_CODE}|{_HABIT})( ×\d+)?( \([^()]*\))?: ", line):
        return re.sub(f"{_CODE}|{_HABIT}", _code, edit[0], count=1) + _values(line[edit.end() :])
    match = re.match(rf"(?:.*?  )?(?P<state>{_STATE})(?=: | \(|$)", line)
    if match is None:
        return line
    head, tail = line[: match.start("state")], line[match.end("state") :]
    codes = re.match(rf": (?:{_CODE}(?: ×\d+)?(?:, |(?=: )))+", tail)
    end = codes.end() if codes else 0
    return head + _on(match["state"], STATES[match["state"]]) + re.sub(_CODE, _code, tail[:end]) + tail[end:]


def pairs(text: str) -> str:
    """What ``planeval diff`` says."""
    return "\n".join(map(_pair, text.split("\n")))


def findings(text: str) -> str:
    """What ``planeval check`` found: a severity and a code a line."""
    return re.sub(
        r"^(.*?: )??(error|warning|info)(: .*?)( \[[a-z_.]+\])?$",
        lambda m: f"{m[1] or ''}{_on(m[2], STATES[m[2]])}{m[3]}{_on(m[4] or '', DIM if m[4] else '')}",
        text,
        flags=re.M,
    )


def readings(text: str) -> str:
    """What ``planeval parse`` read: a head and a notation a plan, its calls, and what was noticed."""
    return "\n".join(map(_reading, text.split("\n")))


def _reading(line: str) -> str:
    if re.match(rf"  {_CODE}: ", line) or re.match(rf"(?:{_STATE}): ", line):
        return _pair(line)
    if re.match(r"[a-z][\w.-]*: ", line):
        return re.sub(r"^[^:]+", lambda m: _on(m[0], "36"), line)
    return _on(line, BOLD) if re.match(r"\S.*, (record|line) ", line) else line


def tables(text: str) -> str:
    """Tables, with lines of pairs before or between them: heads bold, states in their columns coloured."""
    return "\n\n".join("\n".join(_block(block.split("\n"))) for block in text.split("\n\n"))


def _block(lines: list[str]) -> Iterator[str]:
    painted = [_pair(line) for line in lines]
    if painted[0] != lines[0] or len(lines) == 1 or not re.search(r"\S  +\S", lines[0]):
        yield from painted
        return
    yield _on(lines[0], BOLD)
    heads = [m.start() for m in re.finditer(_COLUMNS, lines[0])]
    for line in lines[1:]:
        for column in heads:
            line = line[:column] + re.sub(rf"^({_STATE})(?=  |$)", _state, line[column:])
            break  # a second column of states would be moved by the colours of the first
        yield line


PAINTS: Mapping[str, Callable[[str], str]] = {
    "diff": pairs,
    "check": findings,
    "parse": readings,
    "score": tables,
    "agree": tables,
    "compare": tables,
    "stats": tables,
    "execute": tables,
    "dialects": tables,
    "doctor": tables,
    "selftest": tables,
    "data list": tables,
    "data verify": tables,
    "data check": tables,
}
"""How the text of each command is coloured; ``render`` draws in the colours of its theme."""

LINEWISE = (pairs, findings, readings)
"""Those that look at each line for itself."""
