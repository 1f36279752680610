"""The shape "Python": call lists, assignments, whole programs; read statically, never run.

ast.parse reads what is Python; grammars/python.lark reads longer text, and call lists that Python
refuses (a keyword as argument name, a quote inside a text), and gives their located errors.
"""

from __future__ import annotations

import ast
import json
import keyword
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from functools import partial
from typing import Any, NoReturn, TypeAlias

from planner_eval.base import grammar
from planner_eval.base.errors import LimitError, ParseError, WriteError, strip_traceback
from planner_eval.base.grammar import describe_found
from planner_eval.base.json_text import ObjectSpans, loads
from planner_eval.base.limits import DEFAULT_LIMITS, Limits, check_calls, long_integer_error
from planner_eval.base.text import lazy_pattern, remembered
from planner_eval.plan.model import (
    Call,
    Diagnostic,
    Path,
    Plan,
    RawCall,
    RawPlan,
    Ref,
    Unresolved,
    Value,
    fold,
)
from planner_eval.reading.dialects.dialect import DEPENDENCY_ARGUMENT, Dialect
from planner_eval.reading.dialects.finding.edited_text import TextEdit, TextView, remove_call_spans, tokens
from planner_eval.reading.dialects.notations.json_calls import read_values
from planner_eval.reading.dialects.programs.plain_calls import read_plain_calls
from planner_eval.reading.dialects.programs.program import (
    DISPLAY_FUNCTIONS,
    Unknown,
    Variables,
    is_builtin_call,
    shift_names,
)
from planner_eval.reading.dialects.programs.python_ast import follow
from planner_eval.reading.dialects.programs.syntax import (
    LINE_END,
    MAX_PARSED_CHARS,
    PlacedTree,
    parse_anew,
    parse_syntax,
)
from planner_eval.reading.dialects.references import refuse_unwritable
from planner_eval.reading.dialects.table import Wrapper, json_dialect

TERMINAL_DESCRIPTIONS = {
    "TARGETS": "a variable with '='",
    "HEAD": "a call such as 'name('",
    "KEY": "an argument such as name=",
    "KEY_SCALAR": "an argument such as name='value'",
    "STRING": "a quoted value",
    "NUMBER": "a number",
    "NAME": "a name",
    "LSQB": "'['",
    "RSQB": "']'",
    "LPAR": "'('",
    "RPAR": "')'",
    "LBRACE": "'{'",
    "RBRACE": "'}'",
    "COMMA": "','",
    "COLON": "':'",
    "_GAP": "a new line",
}
_PROGRAM_LINE = lazy_pattern(
    r"^[ \t]*+(?:def |async def |class |import |from \S++ import |for |while |if |try\s*+:|with |return\b"
    r"|[^\W\d]\w*+\s*+=[^=])",
    re.M,
)


def dialect(row: Wrapper) -> Dialect:
    """The dialect of a row of shape ``python``, ``python-list``, ``code-block`` or ``call-texts``."""
    if row.shape == "code-block":
        return _code_block_dialect(row)
    if row.shape == "call-texts":
        return _call_texts_dialect(row)
    write: Callable[..., str] = write_list if row.shape == "python-list" else write_program
    write_plan = partial(write, dialect=row.name)
    return Dialect(row.name, row.title, row.example, read, write_plan, reference=_read_by_grammar)


def read(text: str, limits: Limits) -> RawPlan:
    """Read Python calls, or a program.

    Raises:
        ParseError: it is neither, or it calls no tool.

    >>> read("[f(x=g(a=1))]", Limits()).calls[1].arguments
    (('x', RawRef(name='@0', path=())),)
    """
    raw = read_calls(text, limits)
    if not raw.calls and text.strip().strip("[]()\n ;,"):
        raise _no_call_error(text)
    return raw


def _read_by_grammar(text: str, limits: Limits) -> RawPlan:
    raw = read_grammar(text, limits=limits)
    if not raw.calls:
        raise _no_call_error(text)
    return raw


def block_reader(
    variables: Variables, start: int, *, by_grammar: bool = False
) -> Callable[[str, Limits], RawPlan]:
    """A reader of one block of a text that knows the variables of the blocks before it.

    Args:
        variables: What those hold; they take what the block's own hold.
        start: How many calls stand before the block.
        by_grammar: Read as :func:`read_grammar` does.

    >>> variables = Variables()
    >>> first = block_reader(variables, 0)("t = f(x=1)", Limits())
    >>> block_reader(variables, 1)("g(y=t)", Limits()).calls[0].arguments
    (('y', RawRef(name='0@0', path=())),)
    """

    def read(text: str, limits: Limits) -> RawPlan:
        own_variables: dict[str, Value | Unknown] = {}
        if by_grammar:
            raw = read_grammar(text, (), limits, variables.held, own_variables)
        else:
            raw = read_calls(text, limits, (), None, variables.held, own_variables)
        variables.take(own_variables, start)
        if by_grammar and not raw.calls:
            raise _no_call_error(text)
        return raw

    return read


def _no_call_error(text: str) -> ParseError:
    start = len(text) - len(text.lstrip())
    return ParseError("the text calls no tool", text=text, offset=start, code="parse.shape")


def read_calls(
    text: str,
    limits: Limits,
    defined: Iterable[str] = (),
    tree: ast.Module | SyntaxError | None = None,
    before: Mapping[str, Value | Unknown] | None = None,
    own_variables: dict[str, Value | Unknown] | None = None,
) -> RawPlan:
    """Read Python calls, or a program; a program without calls of tools gives none.

    Args:
        text: The text.
        limits: Bounds on nesting and calls.
        defined: Names that are no tools.
        tree: What :func:`syntax` makes of the text, where that is known.
        before: What the variables of the text before hold.
        own_variables: Takes what the program's own variables hold after it.

    Raises:
        ParseError: it cannot be read, or a tool's argument cannot be known.
    """
    plain = None if tree or before else read_plain_calls(text, limits, frozenset(defined))
    if plain is not None:
        return plain
    tree = tree or parse_syntax(text)
    if isinstance(tree, SyntaxError) and not (tree.msg or "").startswith(_ERRORS_OF_SIGNS):
        tree = _parse_lenient(text) or tree
    if tree is not None and not isinstance(tree, SyntaxError):
        raw = follow(tree, text, defined, limits, 0, before, own_variables)
    else:
        _check_depth(text, limits)
        if len(text) > _MAX_GRAMMAR_CHARS:
            most = f"more than the limit of {_MAX_GRAMMAR_CHARS:,}"
            raise LimitError(f"the program has {len(text):,} characters, {most}", text=text, offset=0)
        if tree is None and _PROGRAM_END.search(text):
            refuse_long_program(text)
        try:
            raw = read_grammar(text, defined, limits, before, own_variables)
        except ParseError as error:
            if isinstance(tree, SyntaxError) and tree.msg and _PROGRAM_LINE.search(text):
                raise _python_error(tree, text) from None
            raise error from None
    return raw


def refuse_long_program(text: str, start: int = 0) -> NoReturn:
    """Refuse a program that is too long for Python's parser and more than calls, which begins at a place.

    Raises:
        LimitError: always.
    """
    most = f"the limit of {MAX_PARSED_CHARS:,} characters outside quotes"
    raise LimitError(
        f"the program is longer than {most}, and more than a list of calls", text=text, offset=start
    )


_ERRORS_OF_SIGNS = ("unterminated", "unexpected character", "unmatched", "closing", "invalid character")
"""How errors begin that are of quotes, brackets and single signs: other names or numbers mend none."""
_PROGRAM_END = lazy_pattern(r"^[ \t]*+(?:exit|quit|sys\.exit)[ \t]*+\(", re.M)
_MAX_GRAMMAR_CHARS = 1_000_000
"""The grammar takes some 300 times its text."""
_NOT_PYTHON = lazy_pattern(
    r"\"\"\"(?:[^\"\\]++|\\.|\"(?!\"\"))*+(?:\"\"\")?+|'''(?:[^'\\]++|\\.|'(?!''))*+(?:''')?+"
    r"|\"(?:[^\"\\\n]++|\\.)*+\"?+|'(?:[^'\\\n]++|\\.)*+'?+|#[^\n]*+"
    r"|[(,]\s*+(?P<name>[A-Za-z_][A-Za-z0-9_.\-]*+)(?=\s*+=(?!=))"
    r"|[=:,(\[]\s*+[+\-]?(?P<zero>0)(?=0*+[1-9][0-9]*+\s*+[,)\]}])",
    re.S,
)
"""Names of arguments and zeros before integers; texts and comments, which are passed over."""


@remembered(2_000)
def _parse_lenient(text: str) -> ast.Module | None:
    """The tree of calls that Python refuses only for names of arguments, or for zeros before integers.

    It is given other signs there, which leave all else in its place: such a number becomes an expression, of
    which the text counts.
    """
    names: dict[int, str] = {}
    edits: list[TextEdit] = []
    for match in _NOT_PYTHON.finditer(text):
        name, (start, end) = match["name"], match.span(match.lastgroup or 0)
        if match["zero"]:
            edits.append(TextEdit(start, end, "~"))
        elif name and (keyword.iskeyword(name) or not name.isidentifier()):
            names[start] = name
            edits.append(TextEdit(start, end, "_" * len(name)))
    tree = parse_anew(TextView(text).edit(edits).text) if edits else None
    if not isinstance(tree, ast.Module):
        return None
    places = PlacedTree(tree, text)
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword):
            node.arg = names.pop(places.span(node)[0], node.arg)
    return None if names else tree


def _check_depth(text: str, limits: Limits) -> None:
    """Keep deep nesting from the grammar: its parser works through megabytes of open brackets."""
    if text.count("(") + text.count("[") + text.count("{") <= limits.depth:
        return
    depth = 0
    for match in tokens(text, 0, len(text)):
        if match.lastgroup == "open":
            depth += 1
            if depth > limits.depth:
                reason = f"the text nests deeper than {limits.depth} levels"
                raise LimitError(reason, text=text, offset=match.start())
        elif match.lastgroup == "close":
            depth -= 1


def _python_error(error: SyntaxError, text: str) -> ParseError:
    if "integer string conversion" in (error.msg or ""):
        return long_integer_error(text)
    lines = [0, *(match.end() for match in LINE_END.finditer(text))]
    line = min(max(error.lineno or 1, 1), len(lines))
    reason = (error.msg or "this is not Python").split("(<")[0].strip()
    reason = reason[0].lower() + reason[1:] if reason else "this is not Python"
    return ParseError(reason, text=text, offset=lines[line - 1] + max((error.offset or 1) - 1, 0))


def read_grammar(
    text: str,
    defined: Iterable[str] = (),
    limits: Limits = DEFAULT_LIMITS,
    before: Mapping[str, Value | Unknown] | None = None,
    own_variables: dict[str, Value | Unknown] | None = None,
) -> RawPlan:
    """Read calls by the Lark grammar: the reference for what ast.parse reads of them; as :func:`read_calls`.

    Raises:
        ParseError: with the place and what was expected there.
    """
    tree = _parse_by_grammar(text)
    if isinstance(tree, ParseError):
        raise copy(tree)  # who takes it may say more of it
    return follow(tree, text, defined, limits, 0, before, own_variables)


@remembered(2_000)
def _parse_by_grammar(text: str) -> ast.Module | ParseError:
    """The tree that the grammar makes of a text, or why it is none."""
    from planner_eval.reading.dialects.programs.program_grammars import PythonTransformer

    parser = grammar.load("python", PythonTransformer)
    try:
        tree: ast.Module = grammar.run(parser, text, TERMINAL_DESCRIPTIONS, "pythonic")
    except ParseError as error:
        error.text = error.text or text
        return strip_traceback(_explain_error(error))
    return tree


def _explain_error(error: ParseError) -> ParseError:
    """The grammar's error, said of what follows a tool's name where that is what is wrong."""
    if error.text[error.offset : error.offset + 1] in ("'", '"') and "a quoted value" in error.reason:
        reason = "the quoted value is never closed"
        return ParseError(reason, text=error.text, offset=error.offset, dialect=error.dialect)
    name = re.compile(r"[^\W\d][\w.\-]*+").match(error.text, error.offset)
    if name and "a call" in error.reason and not error.text.startswith("(", name.end()):
        offset = name.end()
        reason = f"found {describe_found(error.text, offset)} after {name.group()[:40]!r}, expected '('"
        return ParseError(reason, text=error.text, offset=offset, dialect=error.dialect)
    return error


# ---------------------------------------------------------------- lists of texts that are calls
def read_texts(texts: list[str], limits: Limits) -> RawPlan | None:
    """The calls of a list of texts of which each is one call or more; None where one is not."""
    calls: list[RawCall] = []
    notes: list[Diagnostic] = []
    for text in texts:
        body = text.strip().rstrip("'\"")
        if not re.match(r"[^\W\d][\w.\-]*+\(", body):
            return None
        try:
            raw = read_calls(body, limits)
        except ParseError:
            return None
        if not raw.calls:
            return None
        _append_piece(raw, calls, notes)
        check_calls(len(calls), limits)
    return RawPlan(tuple(calls), None, tuple(notes))


def _append_piece(raw: RawPlan, calls: list[RawCall], notes: list[Diagnostic]) -> None:
    """Put the calls of one text after those of others, without places: in their list they have none."""
    raw = remove_call_spans(raw)
    notes += [n if n.call is None else n._replace(call=n.call + len(calls)) for n in raw.notes]
    calls += shift_names(raw.calls, len(calls))


def _call_texts_dialect(row: Wrapper) -> Dialect:

    def read_data(data: Any, limits: Limits, locations: ObjectSpans | None) -> RawPlan:
        texts = data if isinstance(data, list) else [data]
        raw = read_texts(texts, limits) if texts and all(isinstance(t, str) for t in texts) else None
        if raw is None:
            raise ParseError("expected a list of texts that are calls", code="parse.shape", dialect=row.name)
        return raw

    def read_text(text: str, limits: Limits) -> RawPlan:
        tree = parse_syntax(text.strip())
        texts = string_list(tree)
        if texts is not None:
            return read_data(texts, limits, None)
        try:
            return read_data(loads(text, limits, row.name)[0], limits, None)
        except ParseError as error:
            error.text = error.text or text
            raise

    def write(plan: Plan) -> str:
        return json.dumps(write_calls(plan, row.name), ensure_ascii=False)

    return Dialect(row.name, row.title, row.example, read_text, write, read_data)


def string_list(tree: Any) -> list[str] | None:
    """The texts of a Python text, or of a list, that holds nothing but texts."""
    if not isinstance(tree, ast.Module) or not tree.body:
        return None
    texts: list[str] = []
    for statement in tree.body:
        value = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(value, (ast.List, ast.Constant)):
            return None
        for item in value.elts if isinstance(value, ast.List) else [value]:
            if not isinstance(item, ast.Constant) or not isinstance(item.value, str):
                return None
            texts.append(item.value)
    return texts or None


# ---------------------------------------------------------------- Anthropic's code-execution blocks
def _code_block_dialect(row: Wrapper) -> Dialect:

    def read_data(data: Any, limits: Limits, locations: ObjectSpans | None) -> RawPlan:
        codes = list(_find_codes(data))
        if not codes:
            return read_values([data], limits, locations=locations)
        calls: list[RawCall] = []
        notes: list[Diagnostic] = []
        variables = Variables()
        for code in codes:
            _append_piece(block_reader(variables, len(calls))(code, limits), calls, notes)
        return RawPlan(tuple(variables.connected(calls)), None, tuple(notes))

    def write(plan: Plan) -> str:
        block = {
            "type": "server_tool_use",
            "id": "srvtoolu_1",
            "name": "code_execution",
            "input": {"code": write_program(plan, row.name)},
        }
        return json.dumps([block], ensure_ascii=False)

    return json_dialect(row, read_data, write, placed=False)


def _find_codes(data: Any, depth: int = 0) -> Iterable[str]:
    if depth > 8:
        return
    if isinstance(data, list):
        for item in data:
            yield from _find_codes(item, depth + 1)
    elif isinstance(data, dict):
        block_input = data.get("input")
        if (
            data.get("name") == "code_execution"
            and isinstance(block_input, dict)
            and isinstance(block_input.get("code"), str)
        ):
            yield block_input["code"]
        elif isinstance(data.get("content"), list):
            yield from _find_codes(data["content"], depth + 1)


# ----------------------------------------------------------------------
# Plans as Python: a program of assignments, or calls with their producers nested inside.
_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")


CallWriter: TypeAlias = "Callable[[Call, Callable[[Ref], str], str], str]"
"""Writes a call, given what writes a reference, for a dialect."""


def write_program(
    plan: Plan, dialect: str, write_call: CallWriter | None = None, assignment: str = "{} = {}"
) -> str:
    """A plan as assignments, a line a call; `v1["city"]` is a reference.

    Args:
        plan: The plan.
        dialect: The dialect's name.
        write_call: Writes a call, in Python where it is left out.
        assignment: How a variable is given a call's result.

    Raises:
        WriteError: a name that is none in the language, or a reference that no earlier line gives.
    """
    refuse_unwritable(plan)
    roots = {call.name.split(".")[0] for call in plan.calls}
    names: list[str] = []
    for i in range(len(plan.calls)):
        name = f"v{i + 1}"
        while name in roots:
            name += "_"
        names.append(name)
    used = {edge.producer for edge in plan.edges}
    lines = []
    for i, call in enumerate(plan.calls):

        def reference(ref: Ref, i: int = i) -> str:
            if ref.call >= i:
                target = "itself" if ref.call == i else f"the later call {ref.call + 1}"
                raise WriteError(f"call {i + 1} refers to {target}, which {dialect!r} cannot express")
            return names[ref.call] + _format_path(ref.path)

        text = (write_call or call_text)(call, reference, dialect)
        lines.append(assignment.format(names[i], text) if i in used else text)
    return "\n".join(lines)


def write_list(plan: Plan, dialect: str) -> str:
    """A plan as a list of calls, producers nested inside their consumers."""
    return f"[{', '.join(write_calls(plan, dialect))}]"


def write_calls(plan: Plan, dialect: str) -> list[str]:
    """The calls as texts, producers nested inside their consumers.

    Raises:
        WriteError: a result is used twice (nested it would be two calls), or the order cannot be kept.
    """
    refuse_unwritable(plan)
    users = Counter(edge.producer for edge in plan.edges)
    twice = next((producer for producer, count in sorted(users.items()) if count > 1), None)
    if twice is not None:
        raise WriteError(
            f"the result of call {twice + 1} is used {users[twice]} times, which nested calls cannot "
            "express: use --to code"
        )

    def reference(ref: Ref) -> str:
        if ref.call in running:
            raise WriteError("calls that depend on each other in a cycle and cannot be nested")
        return text(ref.call) + _format_path(ref.path)

    running: set[int] = set()

    def text(i: int) -> str:
        running.add(i)
        written = call_text(plan.calls[i], reference, dialect)
        running.discard(i)
        return written

    roots = [i for i in range(len(plan.calls)) if i not in users]
    if plan.calls and not roots:
        raise WriteError("calls that depend on each other in a cycle and cannot be nested")
    try:
        return [text(i) for i in roots]
    except RecursionError:
        raise WriteError("the plan is too deep to be nested: use --to code") from None


def _format_path(path: Path) -> str:
    return "".join(f"[{json.dumps(step) if isinstance(step, str) else step}]" for step in path)


def call_text(call: Call, reference: Callable[[Ref], str], dialect: str) -> str:
    """One call as Python source; `reference` writes what refers to other calls."""
    if (
        not _NAME.fullmatch(call.name)
        or call.name in DISPLAY_FUNCTIONS
        or set(call.name.split(".")) & set(keyword.kwlist)
    ):
        raise WriteError(f"call {call.id}: {call.name!r} is not a valid Python name, which {dialect!r} needs")
    arguments: list[str] = []
    position = 0
    for name, value in call.arguments:
        text = format_value(value, reference)
        if name == str(position) and position == len(arguments):
            position += 1
            arguments.append(text)
        elif re.fullmatch(r"[^\W\d]\w*", name) and not keyword.iskeyword(name):
            arguments.append(f"{name}={text}")
        else:
            what = (
                "a dependency without an argument"
                if name == DEPENDENCY_ARGUMENT
                else f"the argument {name!r}"
            )
            raise WriteError(f"call {call.id} ({call.name}): {dialect!r} cannot express {what}")
    named = [name for name, _ in call.arguments[position:]]
    if is_builtin_call(call.name, [*[None] * position, *named]):
        raise WriteError(f"call {call.id}: {call.name!r} would be read as a built-in Python function")
    return f"{call.name}({', '.join(arguments)})"


def format_value(value: Value, reference: Callable[[Ref], str]) -> str:
    """A value as Python source.

    Raises:
        WriteError: an unresolved reference, or a number that Python has no literal for.
    """

    def leaf(value: Value) -> str:
        if isinstance(value, str):
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\x7f")
        if isinstance(value, Ref):
            return reference(value)
        if isinstance(value, Unresolved):
            raise WriteError(
                f"the reference to {value.name!r}, which no call returns, cannot be expressed in Python"
            )
        if isinstance(value, float) and not math.isfinite(value):
            raise WriteError(f"{value!r} cannot be written as a literal of Python")
        return repr(value)

    def fields(texts: dict[str, str]) -> str:
        return f"{{{', '.join(f'{json.dumps(k, ensure_ascii=False)}: {text}' for k, text in texts.items())}}}"

    text: str = fold(
        value,
        leaf,
        items=lambda texts: f"[{', '.join(texts)}]",
        fields=fields,
        text=lambda pieces: " + ".join(map(leaf, pieces)),
    )
    return text
