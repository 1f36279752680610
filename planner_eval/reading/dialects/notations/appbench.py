"""AppBench's notation: its lines, `App: [ret1, ret2 = api(#a='v', #b=ret1)]`, its records, and writing it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from planner_eval.base.errors import ParseError, WriteError
from planner_eval.base.json_text import ObjectSpans
from planner_eval.base.limits import Limits
from planner_eval.base.text import lazy_pattern
from planner_eval.plan.model import Plan, RawCall, RawPlan, Ref, Unresolved, Value, fold
from planner_eval.reading.dialects.dialect import Dialect
from planner_eval.reading.dialects.notations.appbench_lines import read, read_reference
from planner_eval.reading.dialects.notations.appbench_terms import LITERALS, NAME, SIGN, fits

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
        raise WriteError(f"call {i + 1}: the dialect 'appbench' cannot say the value {value!r}")

    def fields(written: dict[str, str]) -> str:
        raise WriteError(
            f"call {i + 1}: the dialect 'appbench' cannot say an object: {{{', '.join(written)}}}"
        )

    text: str = fold(value, leaf, items=lambda written: f"[{', '.join(written)}]", fields=fields)
    return text


def _format_reference(
    ref: Ref | Unresolved, i: int, nearest: dict[str, int], returned: list[tuple[str, ...]]
) -> str:
    path = ref.path if isinstance(ref, Ref) else (ref.name, *ref.path)
    text = ".".join(map(str, path))
    if not (NAME.fullmatch(text) and text not in LITERALS and all(isinstance(s, str) for s in path)):
        raise WriteError(f"call {i + 1}: the reference {list(path)!r} is no returned name")
    if not _resolves_to(ref, str(path[0]), i, nearest, returned):
        where = f"the output {path[0]!r} of call {ref.call + 1}" if isinstance(ref, Ref) else text
        raise WriteError(f"call {i + 1}: {where} is hidden by another call's output of that name")
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
