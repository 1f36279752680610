"""JavaScript programs that are top-level sequences of calls: `const x = await f({...});`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from planner_eval.base import grammar
from planner_eval.base.errors import ParseError, WriteError
from planner_eval.base.json_text import check_depth
from planner_eval.base.limits import Limits
from planner_eval.plan.model import Call, Plan, RawPlan, Ref, Unresolved, Value, fold
from planner_eval.reading.dialects.dialect import DEPENDENCY_ARGUMENT, Dialect
from planner_eval.reading.dialects.programs.program import Unknown
from planner_eval.reading.dialects.programs.python_ast import follow
from planner_eval.reading.dialects.programs.python_calls import write_program
from planner_eval.reading.dialects.table import Wrapper

TERMINAL_DESCRIPTIONS = {
    "TARGET": "a variable with '='",
    "HEAD": "a call such as 'name('",
    "STRING": "a quoted text",
    "TEMPLATE": "a template text",
    "NUMBER": "a number",
    "NAME": "a name",
    "KEY": "a key with ':'",
    "LSQB": "'['",
    "RSQB": "']'",
    "RPAR": "')'",
    "LBRACE": "'{'",
    "RBRACE": "'}'",
    "COMMA": "','",
    "_END": "';'",
}
_DEFINITION = re.compile(r"\bfunction\b\s*+(\w++)\s*+\(|\bclass\s++(\w++)")


def dialect(row: Wrapper) -> Dialect:
    """The dialect of the shape ``javascript``."""

    def read_text(text: str, limits: Limits) -> RawPlan:
        raw = read(text, limits)
        if not raw.calls:
            raise ParseError("the program calls no tool", text=text, code="parse.shape", dialect=row.name)
        return raw

    return Dialect(
        row.name, row.title, row.example, read_text, lambda plan: write(plan, row.name), reference=read_text
    )


def read(
    text: str,
    limits: Limits,
    defined: Iterable[str] = (),
    before: Mapping[str, Value | Unknown] | None = None,
    own_variables: dict[str, Value | Unknown] | None = None,
) -> RawPlan:
    r"""Read a program of top-level calls.

    Args:
        text: The program.
        limits: Bounds on nesting and calls.
        defined: Names that are no tools.
        before: What the variables of the text before hold.
        own_variables: Takes what the program's own variables hold after it.

    Raises:
        ParseError: it holds something else, or an argument cannot be known.

    >>> read('const r = await f({a: 1});\ng({b: r.x, c: `at ${r.y}`});', Limits()).calls[1].arguments[0]
    ('b', RawRef(name='@0', path=('x',)))
    """
    from planner_eval.reading.dialects.programs.program_grammars import JavaScriptTransformer

    check_depth(text, limits)
    names = {name for match in _DEFINITION.finditer(text) for name in match.groups() if name}
    tree = grammar.run(
        grammar.load("javascript", JavaScriptTransformer), text, TERMINAL_DESCRIPTIONS, "openai-programmatic"
    )
    return follow(tree, text, {*defined, *names}, limits, 0, before, own_variables)


# ---------------------------------------------------------------- writing
def write(plan: Plan, dialect: str) -> str:
    """A plan as a program, a line a call.

    Raises:
        WriteError: a name that is no JavaScript name, or a reference that no earlier line gives.
    """
    return write_program(plan, dialect, _format_call, "const {} = {}")


def _format_call(call: Call, reference: Callable[[Ref], str], dialect: str) -> str:
    if not re.fullmatch(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*", call.name):
        raise WriteError(f"call {call.id}: {call.name!r} is not a valid JavaScript name")
    if any(key == DEPENDENCY_ARGUMENT for key, _ in call.arguments):
        raise WriteError(f"call {call.id}: {dialect!r} cannot express a dependency without an argument")
    arguments = [f"{_format_key(key)}: {_format_value(value, reference)}" for key, value in call.arguments]
    return f"await {call.name}({{{', '.join(arguments)}}});" if arguments else f"await {call.name}();"


def _format_key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z_]\w*", key) else json.dumps(key, ensure_ascii=False)


def _format_value(value: Value, reference: Callable[[Ref], str]) -> str:
    def leaf(value: Value) -> str:
        if isinstance(value, Unresolved):
            raise WriteError(f"the reference to {value.name!r}, which no call returns, cannot be expressed")
        return reference(value) if isinstance(value, Ref) else json.dumps(value, ensure_ascii=False)

    def text(pieces: tuple[Any, ...]) -> str:
        written_pieces = (
            re.sub(r"([`\\$])", r"\\\1", p) if isinstance(p, str) else f"${{{leaf(p)}}}" for p in pieces
        )
        return f"`{''.join(written_pieces)}`"

    written: str = fold(
        value,
        leaf,
        items=lambda written_items: f"[{', '.join(written_items)}]",
        fields=lambda written_fields: (
            f"{{{', '.join(f'{_format_key(key)}: {item}' for key, item in written_fields.items())}}}"
        ),
        text=text,
    )
    return written
