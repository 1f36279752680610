"""AppBench's lines: `App: [ret1, ret2 = api(#a='v', #b=ret1)]`, and the bare calls of its data.

An unquoted value is the name of an earlier call's returned argument; a quoted one is text, always.
Source: AppBench's evaluation prompts and test files. Values there hold unescaped apostrophes, so a
quote ends a text only before a comma, a closing bracket, a further ``#name=`` or the end.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import zip_longest
from typing import Any

from planner_eval.base.errors import ParseError, WriteError
from planner_eval.base.jsontext import Places, check_depth
from planner_eval.base.limits import Limits, Span, check_calls
from planner_eval.dialects.appbench_terms import (
    HEAD,
    LITERALS,
    NAME,
    REFUSED,
    SIGN,
    UNESCAPE,
    fits,
    word_value,
)
from planner_eval.dialects.dialect import Dialect
from planner_eval.plan.model import Diagnostic, Path, Plan, RawCall, RawPlan, Ref, Unresolved, Value

WORDS = {
    "APP": "an app's name with ': ['",
    "HEAD": "a call such as 'a, b = name('",
    "ARG_TEXT": "an argument such as #name='value'",
    "ARG_WORD": "an argument such as #name='value'",
    "ARG_LIST": "an argument such as #name='value'",
    "TEXT": "a quoted value",
    "BARE": "a name or a number",
    "LSQB": "'['",
    "RSQB": "']'",
    "RPAR": "')'",
    "COMMA": "','",
    "_NEWLINE": "a new line",
}
LARK_CHARS = 256_000

_APP = re.compile(r"\s*+([^\W\d](?:[\w\- ]|\.(?!\s))*+):[ \t]*+\[\s*+")
_ARGUMENT = re.compile(
    r"#(\w++)\s*+=\s*+(?:'((?:[^'\\]++|\\.|'(?!\s*+(?:[,)\]]|#\w++\s*+=|\Z)))*+)'|([\w.+-]++))"
    r"\s*+(?:(,)\s*+|\))",
    re.S,
)


def read(text: str, limits: Limits) -> RawPlan:
    """Read AppBench lines.

    Raises:
        ParseError: with the line and column of what does not follow the notation.

    >>> raw = read("Hotels: [h = search(#city='Rome'), book(#name=h)]", Limits())
    >>> raw.calls[1].app, raw.calls[1].arguments
    ('Hotels', (('name', RawRef(name='h', path=())),))
    """
    raw = read_fast(text)
    if raw is None:
        _refuse_deep(text, limits)
        raw = read_grammar(text)
    check_calls(len(raw.calls), limits)
    return raw


def _refuse_deep(text: str, limits: Limits) -> None:
    """Keep hostile text from the grammar: it is exact about errors and slow about megabytes."""
    check_depth(text, limits)
    if len(text) > LARK_CHARS:
        for match in re.finditer(r"[^\n]++", text):
            line = match.group()
            if line.strip() and (len(line) > LARK_CHARS or read_fast(line) is None):
                reason = "this line is no call, and the text is too long to say more"
                if len(line) <= LARK_CHARS:
                    try:
                        read_grammar(line)
                    except ParseError as error:
                        raise ParseError(
                            error.reason, text=text, offset=match.start() + error.offset, dialect="appbench"
                        ) from None
                    continue
                raise ParseError(reason, text=text, offset=match.start(), dialect="appbench")


def read_fast(text: str) -> RawPlan | None:
    """Read by three anchored regular expressions; None where the grammar has to decide.

    Every quantifier is possessive: the time is linear in the text, whatever it holds.
    """
    calls: list[RawCall] = []
    notes: list[Diagnostic] = []
    end = len(text.rstrip())
    at = len(text) - len(text.lstrip())
    while at < end:
        section = _APP.match(text, at)
        if section:
            at = fast_section(text, section.end(), section[1].strip(), calls, notes)
        else:
            at = fast_call(text, at, None, calls, notes)
        stop = _LINE_END.match(text, at) if at >= 0 else None
        if stop is None:
            return None
        at = stop.end()
    return RawPlan(tuple(calls), None, tuple(notes)) if calls else None


def fast_section(text: str, at: int, app: str | None, calls: list[RawCall], notes: list[Diagnostic]) -> int:
    """Append the calls of an app's brackets from the first on; gives the place after, or -1."""
    while True:
        at = fast_call(text, at, app, calls, notes)
        more = _SEPARATOR.match(text, at) if at >= 0 else None
        if more is None:
            break
        at = more.end()
    closing = _CLOSING.match(text, at) if at >= 0 else None
    return closing.end() if closing else -1


def fast_call(text: str, at: int, app: str | None, calls: list[RawCall], notes: list[Diagnostic]) -> int:
    """Append the call that starts at `at`; gives the place after it, or -1 where none is read."""
    head = HEAD.match(text, at)
    if head is None:
        return -1
    at = head.end()
    arguments: list[tuple[str, Value]] = []
    spans: list[Span] = []
    if text.startswith(")", at):
        at += 1
    else:
        closing = ","
        while closing == ",":
            match = _ARGUMENT.match(text, at)
            if match is None:
                return -1
            name, quoted, bare, closing = match.groups()
            if quoted is None:
                span = (match.start(), match.end(3))
                value = word_value(bare)
                if value is REFUSED:
                    return -1
                _note_number(value, name, len(calls), span, notes)
            else:
                span = (match.start(), match.end(2) + 1)
                value = UNESCAPE.sub(r"\1", quoted) if "\\" in quoted else quoted
            arguments.append((name, value))
            spans.append(span)
            at = match.end()
    calls.append(_call(app, head[1], head[2], arguments, (head.start(), at), spans))
    return at


_SEPARATOR = re.compile(r"\s*+,\s*+")
_LINE_END = re.compile(r"[ \t]*+(?:(?:\r?\n[ \t]*+)++|\Z)")
_CLOSING = re.compile(r"\s*+\]")


def _refused(value: Any) -> bool:
    """Whether a value is no word of the notation, or a list that holds one."""
    return any(map(_refused, value)) if isinstance(value, list) else value is REFUSED


def _note_number(value: Value, argument: str, call: int, span: Span, notes: list[Diagnostic]) -> None:
    if type(value) in (int, float):
        message = f"{argument!r} of call {call + 1} is the bare number {value}; the notation quotes values"
        notes.append(Diagnostic("argument.bare_number", message, "warning", call, argument, span))


@lru_cache(maxsize=4096)
def _returned_names(written: str) -> tuple[tuple[str, ...], tuple[tuple[str, Path], ...]]:
    """The names of `a, b, c`, and what each binds; the same tools return the same names all the time."""
    names = tuple(name.strip() for name in written.split(","))
    return names, tuple((name, (name,)) for name in names)


def _call(
    app: str | None,
    returned: str | None,
    name: str,
    arguments: list[tuple[str, Value]],
    span: Span,
    spans: list[Span],
) -> RawCall:
    returns, binds = _returned_names(returned) if returned else ((), ())
    return RawCall(name, tuple(arguments), app, None, binds, returns, span, tuple(spans))


def read_grammar(text: str) -> RawPlan:
    """Read by the Lark grammar: the reference for :func:`read_fast`, and the source of its errors.

    Raises:
        ParseError: with the place and what was expected there.
    """
    from planner_eval.base import grammar
    from planner_eval.dialects.appbench_tree import AppBenchTransformer

    if not text.strip():
        raise ParseError(
            "the text is empty, expected a call", text=text, code="parse.empty", dialect="appbench"
        )
    try:
        items = grammar.run(grammar.load("appbench", AppBenchTransformer), text, WORDS, "appbench")
    except ParseError as error:
        raise _explained(error) from None
    calls: list[RawCall] = []
    notes: list[Diagnostic] = []
    for app, name, returned, arguments, span in items:
        for argument, value, place in arguments:
            if _refused(value):
                start = place[0] + re.match(r"#\w+\s*=\s*", text[place[0] : place[1]]).end()  # type: ignore[union-attr]
                raise ParseError(
                    f"found {text[start : place[1]][:40]!r}, expected a quoted value, "
                    f"a returned name or a number for #{argument}",
                    text=text,
                    offset=start,
                    dialect="appbench",
                )
            _note_number(value, argument, len(calls), place, notes)
        pairs = [(argument, value) for argument, value, _ in arguments]
        calls.append(_call(app, returned, name, pairs, span, [place for _, _, place in arguments]))
    return RawPlan(tuple(calls), None, tuple(notes))


def _reference(text: str, limits: Limits) -> RawPlan:
    raw = read_grammar(text)
    check_calls(len(raw.calls), limits)
    return raw


def _explained(error: ParseError) -> ParseError:
    """The grammar's error, said of the value where it is an argument's value that cannot be read."""
    match = re.compile(r"#(\w++)\s*+=\s*+").match(error.text, error.offset)
    if match is None or "#name" not in error.reason:
        return error
    if error.text.startswith("'", match.end()):
        reason = f"the quoted value of #{match[1]} is never closed"
    else:
        from planner_eval.base.grammar import found_at

        found = found_at(error.text, match.end())
        reason = f"found {found}, expected a quoted value, a returned name or a number for #{match[1]}"
    return ParseError(reason, text=error.text, offset=match.end(), dialect="appbench")


def read_data(data: Any, limits: Limits, places: Places | None = None) -> RawPlan:
    """Read a gold record's ``output`` (``api_results`` with ``used_app``), or a list of lines.

    Raises:
        ParseError: it is neither.
    """
    if isinstance(data, dict) and "decided_api" in data:
        return read(decided_text(data), limits)
    lines = data.get("api_results") if isinstance(data, dict) else data
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise ParseError(
            "expected lines of calls, or an object with 'api_results'", code="parse.shape", dialect="appbench"
        )
    if not lines:
        return RawPlan(())
    raw = read("\n".join(lines), limits)
    if isinstance(data, dict):
        apps = _apps(data, raw.calls)
        calls = tuple(
            RawCall(c.name, c.arguments, app or c.app, None, c.binds, c.returns, c.span, c.spans)
            for c, app in zip(raw.calls, apps, strict=True)
        )
        return RawPlan(calls, None, raw.notes)
    return raw


def decided_text(data: dict[str, Any]) -> str:
    """The answer in a record of AppBench's own result files, as the text that its scorer saw.

    ``decided_app_api`` is the model's text, ``decided_app`` and ``decided_api`` its parts; where the apps
    were matched with those of a first step, the scorer takes the matched ones.

    Raises:
        ParseError: the parts are no lists of texts.

    >>> decided_text({"decided_app": ["Movies"], "decided_api": ["x = buy(#city='Reno')"]})
    "Movies: [x = buy(#city='Reno')]"
    """
    matched = data.get("decided_app_matched_with_first_step")
    whole = data.get("decided_app_api")
    if matched is None and isinstance(whole, str):
        return whole
    apps, calls = data.get("decided_app") if matched is None else matched, data.get("decided_api")
    for parts in (apps, calls):
        if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
            raise ParseError(
                f"decided_app and decided_api hold {parts!r:.60}, expected lists of texts",
                code="parse.shape",
                dialect="appbench",
            )
    return "\n".join(f"{app}: [{call}]" for app, call in zip_longest(apps or [], calls or [], fillvalue=""))


def _apps(output: dict[str, Any], calls: tuple[RawCall, ...]) -> list[str | None]:
    """The app of each call: by position, or by the API's name where the lists differ in length."""
    used = [str(app) for app in output.get("used_app") or ()]
    if len(used) == len(calls):
        return list(used)
    names = [next(iter(api), "") for api in output.get("used_api") or () if isinstance(api, dict)]
    by_name = dict(zip(names, used, strict=False))
    return [by_name.get(call.name) for call in calls]


def write(plan: Plan) -> str:
    """Write a plan as AppBench lines, a line a call.

    Raises:
        WriteError: a reference that the notation cannot say (it is a bare returned name, and means
            the nearest earlier call that returns it), an object as a value, a name that is no word.

    >>> from planner_eval.plan.model import Call
    >>> write(Plan((Call("c1", "search", (("city", "Rome"),), "Hotels", ("h",)),)))
    "Hotels: [h = search(#city='Rome')]"
    """
    nearest: dict[str, int] = {}
    lines = []
    returned = _returned(plan)
    for i, call in enumerate(plan.calls):
        arguments = ", ".join(
            f"#{name}={_written(value, plan, i, nearest, returned)}" for name, value in call.arguments
        )
        names = f"{', '.join(returned[i])} = " if returned[i] else ""
        line = f"{names}{call.name}({arguments})"
        lines.append(f"{call.app}: [{line}]" if call.app else line)
        nearest.update(dict.fromkeys(returned[i], i))
    text = "\n".join(lines)
    if lines and read_fast(text) is None:
        read_grammar(text)
    return text


def _returned(plan: Plan) -> list[tuple[str, ...]]:
    """The names each call returns: as declared, and every output that some reference uses."""
    names = [dict.fromkeys(call.returns) for call in plan.calls]
    for edge in plan.edges:
        if edge.path and isinstance(edge.path[0], str):
            names[edge.producer].setdefault(edge.path[0])
    return [tuple(n) for n in names]


def _written(
    value: Value, plan: Plan, i: int, nearest: dict[str, int], returned: list[tuple[str, ...]]
) -> str:
    if isinstance(value, str):
        return _quoted(value)
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value)
    if isinstance(value, list):
        return f"[{', '.join(_written(item, plan, i, nearest, returned) for item in value)}]"
    if isinstance(value, (Ref, Unresolved)):
        path = value.path if isinstance(value, Ref) else (value.name, *value.path)
        text = ".".join(map(str, path))
        if NAME.fullmatch(text) and text not in LITERALS and all(isinstance(s, str) for s in path):
            if _meant(value, str(path[0]), i, nearest, returned):
                return text
            where = f"the output {path[0]!r} of call {value.call + 1}" if isinstance(value, Ref) else text
            raise WriteError(f"call {i + 1}: {where} is hidden by another call's output of that name")
        raise WriteError(f"call {i + 1}: the reference {list(path)!r} is no returned name")
    raise WriteError(f"call {i + 1}: the dialect 'appbench' cannot say the value {value!r}")


def _meant(
    value: Ref | Unresolved, name: str, i: int, nearest: dict[str, int], returned: list[tuple[str, ...]]
) -> bool:
    """Whether reading `name` in call `i` gives the same reference back."""
    later = (k for k in [*range(i + 1, len(returned)), i] if name in returned[k])
    found = nearest[name] if name in nearest else next(later, None)
    return found == (value.call if isinstance(value, Ref) else None)


def _quoted(text: str) -> str:
    text = text.replace("\\\\", "\\\\\\\\") if "\\" in text else text
    text = re.sub(r"\\(?=')|\\\Z", r"\\\\", text)
    return "'" + re.sub(r"'(?=\s*(?:[,)\]]|#\w+\s*=|\Z))", r"\\'", text) + "'"


DIALECT = Dialect(
    name="appbench",
    title="AppBench lines: App: [ret1, ret2 = api(#a='v', #b=ret1)]",
    example="Hotels: [hotel_name, price = searchhotel(#city='Rome')]\n"
    "Hotels: [reservehotel(#hotel=hotel_name, #nights='2')]",
    read=read,
    write=write,
    read_data=read_data,
    reference=_reference,
    sign=SIGN,
    known="calls with #name= arguments",
    fits=fits,
    references="returned names",
    note="gold plans of AppBench",
    rows=(40,),
)
