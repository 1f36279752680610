"""AppBench's notation: its lines, `App: [ret1, ret2 = api(#a='v', #b=ret1)]`, its records, and writing it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import zip_longest
from typing import Any

from planner_eval.base.errors import ParseError, WriteError
from planner_eval.base.json_text import ObjectSpans, check_depth
from planner_eval.base.limits import DEFAULT_LIMITS, Limits, Span, check_calls
from planner_eval.base.text import JsonObject, lazy_pattern
from planner_eval.plan.model import (
    Diagnostic,
    Path,
    Plan,
    RawCall,
    RawPlan,
    RawRef,
    Ref,
    Unresolved,
    Value,
    fold,
    leaves,
)
from planner_eval.reading.dialects.dialect import Dialect
from planner_eval.reading.dialects.notations.appbench_terms import (
    CALL_HEAD,
    ESCAPED_CHARACTER,
    INVALID_WORD,
    LETTERS,
    LITERALS,
    NAME,
    SIGN,
    fits,
    word_value,
)

# ---------------------------------------------------------------- recognition


# ----------------------------------------------------------------------
# AppBench's lines read: three anchored regular expressions, and the Lark grammar where these refuse.
#
# An unquoted value is the name of an earlier call's returned argument; a quoted one is text, always.
# Source: AppBench's evaluation prompts and test files. Values there hold unescaped apostrophes, so a
# quote ends a text only before a comma, a closing bracket, a further ``#name=`` or the end.
TERMINAL_DESCRIPTIONS = {
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

_APP = re.compile(r"\s*+([^\W\d](?:[\w\- ]++|\.(?!\s))*+):[ \t]*+\[\s*+")
_NO_END = r"(?!\s*+(?:[,)\]]|#\w++\s*+=|\Z))"
_TEXT = rf"(?:[^'\\#]++|#(?!\w++\s*+=\s*+'{_NO_END})|\\.|'{_NO_END})*+"
_ARGUMENT = re.compile(
    rf"(#(\w++)\s*+=\s*+(?:'({_TEXT})'|([\w.+-]++)))\s*+(?:(,)\s*+|\))",
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
    raw = read_fast(text, limits)
    if raw is None:
        _refuse_deep(text, limits)
        if not limits.explained and _GRAMMAR_ONLY.search(text) is None:
            raise ParseError("these are not calls, one per line", text=text, dialect="appbench")
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
                reason = "this line is not a call (the text is too long to show where)"
                if len(line) <= LARK_CHARS:
                    try:
                        read_grammar(line)
                    except ParseError as error:
                        raise ParseError(
                            error.reason, text=text, offset=match.start() + error.offset, dialect="appbench"
                        ) from None
                    continue
                raise ParseError(reason, text=text, offset=match.start(), dialect="appbench")


def read_fast(text: str, limits: Limits = DEFAULT_LIMITS) -> RawPlan | None:
    """Read by three anchored regular expressions; None where the grammar has to decide.

    Every quantifier is possessive: the time is linear in the text, whatever it holds.

    Raises:
        LimitError: there are too many calls; they are counted line by line.
    """
    calls: list[RawCall] = []
    notes: list[Diagnostic] = []
    end = len(text.rstrip())
    position = len(text) - len(text.lstrip())
    bracketed = "[" in text
    while position < end:
        section = _APP.match(text, position) if bracketed else None
        if section:
            after = read_section_fast(text, section.end(), section[1].strip(), calls, notes)
        else:
            after = read_call_fast(text, position, None, calls, notes)
        stop = _LINE_END.match(text, after) if after is not None else None
        if stop is None:
            return None
        position = stop.end()
        check_calls(len(calls), limits)
    return RawPlan(tuple(calls), None, tuple(notes)) if calls else None


def read_section_fast(
    text: str, position: int, app: str | None, calls: list[RawCall], notes: list[Diagnostic]
) -> int | None:
    """Append the calls of an app's brackets from the first on; gives the place after, or None."""
    while (after := read_call_fast(text, position, app, calls, notes)) is not None:
        more = _SEPARATOR.match(text, after)
        if more is None:
            closing = _CLOSING.match(text, after)
            return closing.end() if closing else None
        position = more.end()
    return None


def read_call_fast(
    text: str, position: int, app: str | None, calls: list[RawCall], notes: list[Diagnostic]
) -> int | None:
    """Append the call that starts at `position`; gives the place after it, or None where none is read."""
    head = CALL_HEAD.match(text, position)
    if head is None:
        return None
    start, position = position, head.end()
    returned, called = head.groups()
    arguments: list[tuple[str, Value]] = []
    spans: list[Span] = []
    end = text.find(")", position) + 1
    if end == position + 1 or _read_plain_arguments(text, position, end, arguments, spans):
        position = end
    else:
        arguments, spans = [], []
        closing = ","
        while closing == ",":
            match = _ARGUMENT.match(text, position)
            if match is None:
                return None
            _, name, value, bare, closing = match.groups()
            if value is None:
                value = word_value(bare)
                if value is INVALID_WORD:
                    return None
                if type(value) is not RawRef:
                    _note_number(value, name, len(calls), match.span(1), notes)
            elif "\\" in value:
                value = ESCAPED_CHARACTER.sub(r"\1", value)
            arguments.append((name, value))
            spans.append(match.span(1))
            position = match.end()
    calls.append(_make_call(app, returned, called, arguments, (start, position), spans))
    return position


def _read_plain_arguments(
    text: str, position: int, end: int, arguments: list[tuple[str, Value]], spans: list[Span]
) -> bool:
    """Append the arguments up to the first closing bracket where all are texts and names, as most are.

    They are found in one go, at half of what it takes to ask for each: what is found stands side by side
    where its lengths come to that of the whole, and no other reading of it is possible.
    """
    for name, value, bare, after in _PLAIN_ARGUMENT.findall(text, position, end):
        if bare:
            value = word_value(bare)
            if type(value) is not RawRef:
                return False
            stop = position + len(name) + len(bare) + 2
        else:
            stop = position + len(name) + len(value) + 4
        arguments.append((name, value))
        spans.append((position, stop))
        position = stop + len(after)
    return position == end


_PLAIN_ARGUMENT = re.compile(
    rf"#([{LETTERS}]++)=(?:'([^'\\]*+)'|([{LETTERS}.+-]++))(, (?!\s)|\)|\s*+(?:,\s*+|\)))"
)
_GRAMMAR_ONLY = re.compile(r"\[\s*+(?:\[|\])|=\s*+\[")
"""What the grammar reads and :func:`read_fast` does not: a list as a value, and brackets without a call."""
_SEPARATOR = re.compile(r"\s*+,\s*+")
_LINE_END = re.compile(r"[ \t]*+(?:(?:\r?\n[ \t]*+)++|\Z)")
_CLOSING = re.compile(r"\s*+\]")


def _has_refused_word(value: Any) -> bool:
    """Whether a value is no word of the notation, or a list that holds one."""
    return any(leaf is INVALID_WORD for _, leaf in leaves(value))


def _note_number(value: Value, argument: str, call: int, span: Span, notes: list[Diagnostic]) -> None:
    if type(value) in (int, float):
        message = f"{argument!r} of call {call + 1} is the bare number {value}; the notation quotes values"
        notes.append(Diagnostic("argument.bare_number", message, "warning", call, argument, span))


def _declared_names(written: str) -> tuple[tuple[str, ...], tuple[tuple[str, Path], ...]]:
    """The names of `a, b, c`, and what each binds."""
    names = tuple(name.strip() for name in written.split(","))
    return names, tuple((name, (name,)) for name in names)


_cached_returned_names = lru_cache(maxsize=4096)(
    _declared_names
)  # the same tools return the same names all the time
_MAX_CACHED_CHARS = 1_000
"""Characters up to which it is remembered what they name: hostile text shall not fill the memory."""


def _make_call(
    app: str | None,
    returned: str | None,
    name: str,
    arguments: list[tuple[str, Value]],
    span: Span,
    spans: list[Span],
) -> RawCall:
    names = (
        _cached_returned_names if returned is None or len(returned) <= _MAX_CACHED_CHARS else _declared_names
    )
    returns, binds = names(returned) if returned else ((), ())
    return RawCall(name, tuple(arguments), app, None, binds, returns, span, tuple(spans))


def read_grammar(text: str) -> RawPlan:
    """Read by the Lark grammar: the reference for :func:`read_fast`, and the source of its errors.

    Raises:
        ParseError: with the place and what was expected there.
    """
    from planner_eval.base import grammar
    from planner_eval.reading.dialects.programs.grammars import AppBenchTransformer

    if not text.strip():
        raise ParseError(
            "the text is empty, expected a call", text=text, code="parse.empty", dialect="appbench"
        )
    try:
        items = grammar.run(
            grammar.load("appbench", AppBenchTransformer), text, TERMINAL_DESCRIPTIONS, "appbench"
        )
    except ParseError as error:
        raise _explain_error(error) from None
    calls: list[RawCall] = []
    notes: list[Diagnostic] = []
    for app, name, returned, arguments, span in items:
        for argument, value, bounds in arguments:
            if _has_refused_word(value):
                start = bounds[0] + re.match(r"#\w+\s*=\s*", text[bounds[0] : bounds[1]]).end()  # type: ignore[union-attr]
                raise ParseError(
                    f"found {text[start : bounds[1]][:40]!r}, expected a quoted value, "
                    f"a returned name or a number for #{argument}",
                    text=text,
                    offset=start,
                    dialect="appbench",
                )
            _note_number(value, argument, len(calls), bounds, notes)
        pairs = [(argument, value) for argument, value, _ in arguments]
        calls.append(_make_call(app, returned, name, pairs, span, [bounds for _, _, bounds in arguments]))
    return RawPlan(tuple(calls), None, tuple(notes))


def read_reference(text: str, limits: Limits) -> RawPlan:
    """Read by the grammar, within the limits; see :func:`read_grammar`."""
    raw = read_grammar(text)
    check_calls(len(raw.calls), limits)
    return raw


def _explain_error(error: ParseError) -> ParseError:
    """The grammar's error, said of the value where it is an argument's value that cannot be read."""
    match = re.compile(r"#(\w++)\s*+=\s*+").match(error.text, error.offset)
    if match is None or "#name" not in error.reason:
        return error
    if error.text.startswith("'", match.end()):
        reason = f"the quoted value of #{match[1]} is never closed"
    else:
        from planner_eval.base.grammar import describe_found

        sign = describe_found(error.text, match.end())
        reason = f"found {sign}, expected a quoted value, a returned name or a number for #{match[1]}"
    return ParseError(reason, text=error.text, offset=match.end(), dialect="appbench")


# ----------------------------------------------------------------------
# AppBench's notation: its lines, `App: [ret1, ret2 = api(#a='v', #b=ret1)]`, its records, and writing it.
_PLACEHOLDER = lazy_pattern(r"^app[^:\[\n]{0,100}(?=:)", re.IGNORECASE | re.MULTILINE)
"""An app's name at the beginning of a line that may stand for one of a first step."""


def read_data(data: Any, limits: Limits, locations: ObjectSpans | None = None) -> RawPlan:
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


def decided_text(data: JsonObject) -> str:
    """The answer in a record of AppBench's own result files, as the text that its scorer saw.

    ``decided_app_api`` is the model's text, ``decided_app`` and ``decided_api`` its parts; where the apps
    were matched with those of a first step, the scorer takes the matched ones.

    Raises:
        ParseError: the parts are no lists of texts.

    >>> decided_text({"decided_app": ["Movies"], "decided_api": ["x = buy(#city='Reno')"]})
    "Movies: [x = buy(#city='Reno')]"
    """
    matched = data.get("decided_app_matched_with_first_step")
    answer_text = data.get("decided_app_api")
    if matched is None and isinstance(answer_text, str):
        return answer_text
    decided, calls = data.get("decided_app"), data.get("decided_api")
    apps = decided if matched is None else matched
    for what, texts in (("decided_app", apps), ("decided_api", calls)):
        if not isinstance(texts, list) or not all(isinstance(text, str | None) for text in texts):
            raise _text_list_error(what, texts)
    if len(apps or ()) > len(calls or ()):  # the scorer passes over names that are none
        apps = [app for app in apps or () if app]
    first = data.get("decided_app_first_step")
    if matched is not None and isinstance(decided, list) and isinstance(first, list):
        placed = matched_apps(decided, first)
        if [app for app in placed if app is not None] == matched:  # those left out keep their calls' places
            apps = placed
    pairs = zip_longest(apps or [], calls or [], fillvalue="")
    return "\n".join(f"{app or ''}: [{call or ''}]" for app, call in pairs)


def matched_apps(decided: Sequence[Any], first_step: Sequence[Any]) -> list[Any]:
    """The apps of an answer, ``app1`` … being those that a separate first step chose, in its order.

    Returns:
        An app a name; None for a name that begins with ``app`` and is the number of none.

    Source: ``revise_api_call`` of the published code, which leaves out what is None here.

    >>> matched_apps(["app2", "Trams", "app3"], ["Shops", "Garden"])
    ['Garden', 'Trams', None]
    """
    apps = []
    for name in decided:
        if isinstance(name, str) and name.lower().startswith("app"):
            try:
                index = int(name.lower().replace("app", "").split("_")[0]) - 1
                apps.append(first_step[index] if index < len(first_step) else None)
            except (ValueError, IndexError):
                apps.append(None)
        else:
            apps.append(name)
    return apps


def first_step_text(text: str, first_step: Any) -> str:
    r"""An answer whose lines name ``app1`` … as one that names the apps of its first step.

    Raises:
        ParseError: the first step is no list of texts.

    >>> first_step_text("app1: [x = buy()]\\nTrams: [y = ride()]", ["Movies"])
    'Movies: [x = buy()]\\nTrams: [y = ride()]'
    """
    if not isinstance(first_step, list) or not all(isinstance(app, str) for app in first_step):
        raise _text_list_error("first_step_apps", first_step)
    return _PLACEHOLDER.sub(lambda name: matched_apps([name[0].strip()], first_step)[0] or "", text)


def _text_list_error(what: str, value: Any) -> ParseError:
    return ParseError(
        f"{what} holds {value!r:.60}, expected a list of texts", code="parse.shape", dialect="appbench"
    )


def _apps(output: JsonObject, calls: tuple[RawCall, ...]) -> list[str | None]:
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
    returned = _returned_names(plan)
    for i, call in enumerate(plan.calls):
        arguments = ", ".join(
            f"#{name}={_format_value(value, i, nearest, returned)}" for name, value in call.arguments
        )
        names = f"{', '.join(returned[i])} = " if returned[i] else ""
        line = f"{names}{call.name}({arguments})"
        lines.append(f"{call.app}: [{line}]" if call.app else line)
        nearest.update(dict.fromkeys(returned[i], i))
    return "\n".join(lines)


def _returned_names(plan: Plan) -> list[tuple[str, ...]]:
    """The names each call returns: as declared, and every output that some reference uses."""
    names = [dict.fromkeys(call.returns) for call in plan.calls]
    for edge in plan.edges:
        if edge.path and isinstance(edge.path[0], str):
            names[edge.producer].setdefault(edge.path[0])
    return [tuple(n) for n in names]


def _format_value(value: Value, i: int, nearest: dict[str, int], returned: list[tuple[str, ...]]) -> str:
    def leaf(value: Value) -> str:
        if isinstance(value, str):
            return _quote(value)
        if value is None or isinstance(value, (bool, int, float)):
            return repr(value)
        if isinstance(value, (Ref, Unresolved)):
            return _format_reference(value, i, nearest, returned)
        raise WriteError(f"call {i + 1}: the dialect 'appbench' cannot express the value {value!r}")

    def fields(written: dict[str, str]) -> str:
        raise WriteError(
            f"call {i + 1}: the dialect 'appbench' cannot express an object: {{{', '.join(written)}}}"
        )

    text: str = fold(value, leaf, items=lambda written: f"[{', '.join(written)}]", fields=fields)
    return text


def _format_reference(
    ref: Ref | Unresolved, i: int, nearest: dict[str, int], returned: list[tuple[str, ...]]
) -> str:
    path = ref.path if isinstance(ref, Ref) else (ref.name, *ref.path)
    text = ".".join(map(str, path))
    if not (NAME.fullmatch(text) and text not in LITERALS and all(isinstance(s, str) for s in path)):
        raise WriteError(f"call {i + 1}: the reference {list(path)!r} is not a returned name")
    if not _resolves_to(ref, str(path[0]), i, nearest, returned):
        where = f"the output {path[0]!r} of call {ref.call + 1}" if isinstance(ref, Ref) else text
        raise WriteError(f"call {i + 1}: {where} is hidden by another call's output with the same name")
    return text


def _resolves_to(
    value: Ref | Unresolved, name: str, i: int, nearest: dict[str, int], returned: list[tuple[str, ...]]
) -> bool:
    """Whether reading `name` in call `i` gives the same reference back."""
    later = (k for k in [*range(i + 1, len(returned)), i] if name in returned[k])
    producer = nearest[name] if name in nearest else next(later, None)
    return producer == (value.call if isinstance(value, Ref) else None)


def _quote(text: str) -> str:
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
    reference=read_reference,
    sign=SIGN,
    known="calls with #name= arguments",
    fits=fits,
    references="returned names",
    note="gold plans of AppBench",
    rows=(40,),
)
