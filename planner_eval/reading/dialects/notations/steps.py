"""Plans of steps: numbered calls, evidence, actions (LLMCompiler, ReWOO, T-Eval, ReAct)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from planner_eval.base import grammar
from planner_eval.base.errors import ParseError, WriteError
from planner_eval.base.frozen import replace
from planner_eval.base.json_text import loads
from planner_eval.base.limits import Limits, Span, check_calls
from planner_eval.base.text import JSON_STRING, Branch, find_matches, lazy_pattern, shorten, to_json
from planner_eval.plan.model import (
    Arguments,
    Diagnostic,
    Plan,
    RawCall,
    RawPlan,
    RawRef,
    Ref,
    Value,
    map_leaves,
    read_references_in,
)
from planner_eval.reading.dialects.conversations.answers import decode_answer
from planner_eval.reading.dialects.dialect import Dialect, add_dependencies
from planner_eval.reading.dialects.finding.cut_texts import CutError, open_brackets
from planner_eval.reading.dialects.finding.edited_text import TextEdit, TextView, extent
from planner_eval.reading.dialects.notations.json_calls import arguments_of
from planner_eval.reading.dialects.programs.python_ast import read_call_in_name
from planner_eval.reading.dialects.programs.python_calls import call_text, read_calls
from planner_eval.reading.dialects.references import (
    NOTATIONS,
    WrittenPlan,
    refuse_references,
    separate_dependencies,
)
from planner_eval.reading.dialects.repairs import parse_json, repairs
from planner_eval.reading.dialects.table import Wrapper, text_dialect

TERMINAL_DESCRIPTIONS = {
    "STEP": "a step",
    "CALL": "a call such as '#E1 = f(a)'",
    "PLAN": "'Plan:'",
    "END": "'<END_OF_PLAN>'",
    "THOUGHT": "'Thought:'",
}
_BARE_REFERENCE = Branch("bare", r"(?<=[(\[,=:\s])\$(?:\{\d{1,6}+\}|\d{1,6}+)(?=\s*+[,)\]}])")
_TEXTS_AND_REFERENCES = (JSON_STRING, Branch("single", r"'(?:[^'\\]++|\\.)*+'", "'"), _BARE_REFERENCE)
"""References without quotes, which a text in quotes has none of."""
_STEP_NUMBER = re.compile(r"(\d{1,6}+)[.)][ \t]++")
_EVIDENCE = re.compile(r"(?:Action(?:\s\d{1,6}+)?\s*+:\s*+)?+#(E\d{1,6}+)\s*+=\s*+")
_TOOL = re.compile(r"([^\W\d][\w .\-]*+)\[")


def dialect(row: Wrapper) -> Dialect:
    """The dialect of a row of shape ``llmcompiler``, ``rewoo``, ``t-eval`` or ``react``."""
    if row.shape == "react":
        return text_dialect(row, read_actions, write_actions, read_actions)
    read, write = {
        "llmcompiler": (read_numbered, write_numbered),
        "rewoo": (read_evidence, write_rewoo),
        "t-eval": (read_evidence, write_teval),
    }[row.shape]

    def read_named(text: str, limits: Limits) -> RawPlan:
        try:
            return read(text, limits)
        except ParseError as error:
            error.dialect = row.name
            raise

    return text_dialect(row, read_named, write, read_named)


def _tokens(name: str, text: str) -> list[Any]:
    tree = grammar.run(grammar.load(name), text, TERMINAL_DESCRIPTIONS, name)
    return list(tree.children)


def _read_step(view: TextView, limits: Limits, text: str) -> RawCall:
    """The one call of a step's text, with its places in the whole text."""
    bare = (
        [m for m in find_matches(_TEXTS_AND_REFERENCES, view.text) if m.lastgroup == "bare"]
        if "$" in view.text
        else []
    )
    edits = [TextEdit(m.start(), m.end(), f'"${{{m.group().strip("${}")}}}"') for m in bare]
    edited = view.edit(edits) if edits else view
    try:
        raw = read_calls(edited.text, limits)
    except ParseError as error:
        raise ParseError(error.reason, text=text, offset=edited.origin(error.offset)) from None
    if len(raw.calls) != 1:
        raise ParseError(
            f"found {len(raw.calls)} calls in one step, expected one", text=text, offset=view.origin(0)
        )
    call = raw.calls[0]
    return edited.place_call(call)


def read_numbered(text: str, limits: Limits) -> RawPlan:
    r"""Read LLMCompiler's numbered calls; the closing join() is no call.

    Raises:
        ParseError: something stands between the steps, or a step cannot be read.

    >>> read_numbered('1. f("x")\n2. g("$1 * 2")', Limits()).calls[1].arguments
    (('0', RawTemplate(parts=(RawRef(name='1', path=()), ' * 2'))),)
    """
    calls: list[RawCall] = []
    notes: list[Diagnostic] = []
    signs = _DollarSigns()
    for token in _tokens("numbered", text):
        ignored = token.removeprefix("<END_OF_PLAN>").strip() if token.type == "END" else ""
        if ignored:
            message = f"{len(ignored):,} characters of text after the plan were ignored"
            span = (token.start_pos, token.start_pos + len(token))
            notes.append(Diagnostic("find.text", message, "info", None, None, span))
        if token.type != "STEP":
            continue
        number = _STEP_NUMBER.match(token)
        assert number is not None
        view = TextView(text).cut(token.start_pos + number.end(), token.start_pos + len(token.rstrip()))
        if re.fullmatch(r"join(?:inish)?\s*\(.*\)", view.text, re.S):
            continue
        call = _read_step(view, limits, text)
        if "$" in view.text:
            call = signs.referred(call, number[1], len(calls))
        calls.append(replace(call, label=number[1], binds=((number[1], ()),)))
        check_calls(len(calls), limits)
    if not calls:
        raise ParseError("found no numbered call such as '1. f(x)'", text=text)
    return RawPlan(tuple(calls), None, (*notes, *signs.notes()))


class _DollarSigns:
    """What the dollar signs of a plan's steps mean, read step by step; and what may have been money.

    As in LLMCompiler's runner a sign with the number of an earlier step is that step's result, alone and
    inside a longer text, and one with another number is text. With braces or without quotes it is no money.
    """

    def __init__(self) -> None:
        self.certain = False
        self.doubtful: list[Diagnostic] = []
        self.kept: list[Diagnostic] = []

    def referred(self, call: RawCall, number: str, position: int) -> RawCall:
        """The call with the references in its values."""
        arguments = []
        for index, (key, value) in enumerate(call.arguments):
            span = call.spans[index] if index < len(call.spans) else call.span
            read = partial(self._leaf, int(number), (position, key, span))
            arguments.append((key, map_leaves(read, value)))
        return replace(call, arguments=tuple(arguments))

    def _leaf(self, number: int, argument_place: tuple[int, str, Span | None], text: Value) -> Value:
        """A text as itself, a reference, or text around references; no other value holds any."""
        if not isinstance(text, str) or "$" not in text:
            return text

        def read(match: re.Match[str]) -> RawRef | None:
            where = f"{match.group()!r} in {argument_place[1]!r} of call {argument_place[0] + 1}"
            if match[2] and int(match[2]) >= number:
                message = f"{where} is text: no earlier step has that number"
                self.kept.append(Diagnostic("reference.text", message, "warning", *argument_place))
                return None
            is_whole = match.span() == (0, len(text))
            self.certain |= is_whole or match[1] is not None
            if match[2] and not is_whole:
                message = f"{where} is read as that step's result; write a sum of money as {match.group()}.00"
                self.doubtful.append(Diagnostic("reference.text", message, "warning", *argument_place))
            return RawRef(match[1] or match[2])

        return read_references_in(text, NOTATIONS["dollar"].pattern, read)

    def notes(self) -> Iterator[Diagnostic]:
        """What is worth saying, once all steps were read."""
        yield from self.kept
        if not self.certain:
            yield from self.doubtful


def read_evidence(text: str, limits: Limits) -> RawPlan:
    r"""Read ReWOO's and T-Eval's plans: `#E1 = Tool[text]` or `#E1 = f(a)`.

    Raises:
        ParseError: something stands between the steps, or a step cannot be read.

    >>> read_evidence("#E1 = Find[x]\n#E2 = LLM[what is #E1?]", Limits()).calls[1].arguments[0][1].parts
    ('what is ', RawRef(name='E1', path=()), '?')
    """
    notation = NOTATIONS["hash"]
    calls: list[RawCall] = []
    needed: list[str] = []
    for token in _tokens("rewoo", text):
        if token.type == "DEPENDENCY":
            needed = re.findall(r"#(E\d{1,6})", token)
            continue
        if token.type not in ("STEP", "CALL"):
            continue
        head = _EVIDENCE.match(token)
        assert head is not None
        view = TextView(text).cut(token.start_pos + head.end(), token.start_pos + len(token.rstrip()))
        call = _read_bracketed_call(view) if token.type == "STEP" else _read_step(view, limits, text)
        arguments = tuple((key, notation.value(value)) for key, value in call.arguments)
        binds = ((head[1], ()),)
        call = RawCall(call.name, arguments, None, head[1], binds, (), call.span, call.spans)
        calls.append(_add_unstated(call, needed))
        needed = []
        check_calls(len(calls), limits)
    if not calls:
        raise ParseError("found no step such as '#E1 = Tool[text]'", text=text)
    return RawPlan(tuple(calls))


def _read_bracketed_call(view: TextView) -> RawCall:
    match = _TOOL.match(view.text)
    assert match is not None
    start, end = view.origin(match.end()), view.origin(len(view.text) - 1)
    inside = view.text[match.end() : -1]
    arguments = (("0", inside),) if inside else ()
    spans = ((start, end),) if inside else ()
    return RawCall(match[1].strip(), arguments, span=(view.origin(0), end + 1), spans=spans)


def _add_unstated(call: RawCall, needed: list[str]) -> RawCall:
    """The call with the stated dependencies that no argument of it says."""
    named = set(re.findall(r"name='(E\d+)'", repr(call.arguments)))
    unstated = [name for name in needed if name not in named]
    spans = (*call.spans, call.span) if call.spans and call.span else ()
    return replace(add_dependencies(call, unstated), spans=spans) if unstated else call


# ---------------------------------------------------------------- writing
def write_numbered(plan: Plan) -> str:
    """A plan as LLMCompiler's numbered calls."""
    lines = []
    names = [str(i + 1) for i in range(len(plan.calls))]
    for i, call in enumerate(WrittenPlan(plan, names, NOTATIONS["dollar"]).calls):
        plain = replace(plan.calls[i], arguments=tuple(call.arguments.items()))
        lines.append(f"{i + 1}. {call_text(plain, _refuse_reference, 'llmcompiler')}")
    return "\n".join([*lines, f"{len(lines) + 1}. join()<END_OF_PLAN>"])


def write_rewoo(plan: Plan) -> str:
    """A plan as ReWOO's steps: each call has one text."""
    names = [f"E{i + 1}" for i in range(len(plan.calls))]
    lines = []
    for name, call in zip(names, WrittenPlan(plan, names, NOTATIONS["hash"]).calls, strict=True):
        values = list(call.arguments.items())
        if [key for key, _ in values] not in ([], ["0"]) or not all(isinstance(v, str) for _, v in values):
            raise WriteError(
                f"call {call.id} ({call.name}): ReWOO's calls have one text and no named arguments"
            )
        lines.append(f"Plan: call {call.name}\n#{name} = {call.name}[{values[0][1] if values else ''}]")
    return "\n".join(lines)


def write_teval(plan: Plan) -> str:
    """A plan as T-Eval's plans: an action is a call with named arguments."""
    names = [f"E{i + 1}" for i in range(len(plan.calls))]
    lines = []
    for i, call in enumerate(WrittenPlan(plan, names, NOTATIONS["hash"]).calls):
        arguments, needed = separate_dependencies(plan, i, call)
        text = call_text(
            replace(plan.calls[i], arguments=tuple(arguments.items())), _refuse_reference, "t-eval"
        )
        dependency = ", ".join(f"#{names[p]}" for p in needed) or "None"
        lines.append(
            f"Plan {i + 1}: call {call.name}\nDependency {i + 1}: {dependency}\n"
            f"Action {i + 1}: #{names[i]} = {text}"
        )
    return "\n".join(lines)


def _refuse_reference(ref: Ref) -> str:
    raise WriteError(f"a reference to call {ref.call + 1} is left over")  # pragma: no cover - written before


# ----------------------------------------------------------------------
# ReAct: Thought, Action, Action Input, Observation; an observation is the call's result.
ACTION_TERMINALS = {
    "ACTION": "'Action:'",
    "INPUT": "'Action Input:'",
    "OBSERVATION": "'Observation:'",
    "OTHER": "'Thought:'",
}
_LABEL = re.compile(r"[^:\uff1a]*+[:\uff1a]++\**+\s*+")
_INPUT_WITHOUT_COLON = re.compile(r"(?m)^[ \t*]*+Action Input[ \t*]++(?=[\[{\"'`])")
_OBJECT_INPUT = re.compile(r"(?i:action input)\**+\s*+[:\uff1a]\**+\s*+(?:```\w*+\s*+)?+(?=\{)")
_NAME_IN_BRACKETS = re.compile(r"[\w.\-]++\([^\W\d][\w ]*+\)")
"""A tool's name that ends in brackets, as ComplexFuncBench's ``Get_Hotel_Reviews(Tips)``."""
_FENCED = re.compile(r"```(?:json)?\s++(?P<body>[^`]*?)\s*+(?:```)?+")
_TRIPLE_QUOTED = re.compile(r"(?P<quotes>\"\"\"|''')(?P<text>.*)(?P=quotes)", re.S)
_LABELS = re.compile(
    r"(?m)^([ \t]*+\**+)(thought|action input|action|observation|final answer|question)((?:[ \t]\d{1,3}+)?+)"
    r"(?=\**+\s*+[:\uff1a])",
    re.I,
)
"""Labels as the paper that the notation is from numbers them, and as some models write them."""
NO_TOOL = frozenset({"", "none", "n/a", "no action", "finish", "final answer"})
"""Actions that call nothing."""


def read_actions(text: str, limits: Limits) -> RawPlan:
    r"""Read the actions of a text.

    Raises:
        ParseError: there is no action, or an input opens JSON that is broken.

    >>> read_actions('Action: f\nAction Input: {"a": 1}\nObservation: 2', Limits()).calls[0].result
    '2'
    """
    text = _normalize_labels(text)
    broken = _INPUT_WITHOUT_COLON.search(text)
    if broken is not None:
        reason = "found an action's input without a colon before it, expected 'Action Input:'"
        raise ParseError(reason, text=text, offset=broken.end(), dialect="react")
    tree = grammar.run(grammar.load("react"), text, ACTION_TERMINALS, "react")
    calls: list[RawCall] = []
    notes: list[Diagnostic] = []
    for step in tree.children:
        if not hasattr(step, "children"):
            continue
        by_type = {token.type: token for token in step.children}
        action = by_type["ACTION"]
        name = _read_action(action)
        if name.lower() in NO_TOOL:
            continue
        if "Action Input" in name:
            reason = "found an action and its input on one line, expected a line each"
            raise ParseError(reason, text=text, offset=action.start_pos, dialect="react")
        end = action.start_pos + len(action.rstrip())
        arguments: Arguments = ()
        spans: tuple[Span, ...] = ()
        call = re.fullmatch(r"([^\W\d][\w.\-]*)\[(.*)\]", name, re.S)
        if "INPUT" in by_type:
            token = by_type["INPUT"]
            end = token.start_pos + len(token.rstrip())
            start, stop = _span_inside_fence(text, token.start_pos + _LABEL.match(token).end(), end)  # type: ignore[union-attr]
            at_end = end == len(text.rstrip())
            if at_end and (
                start == end or (text[start : start + 1] in ("[", "{") and open_brackets(text[start:stop]))
            ):
                raise CutError("inside an action", text=text, start=action.start_pos, dialect="react")
            arguments = _read_input(text, start, stop, len(calls), limits)
            if len(arguments) == 1 and arguments[0][0] == "0":
                spans = ((start, end),)
        elif call:
            name = call[1]
            if name.lower() in NO_TOOL:
                continue
            start = action.start_pos + action.index("[") + 1
            arguments = _read_input(text, start, start + len(call[2]), len(calls), limits)
        name, arguments = _split_action(name, arguments, len(calls), notes, has_input="INPUT" in by_type)
        has_observation = "OBSERVATION" in by_type
        result = decode_answer(_text_after_label(by_type["OBSERVATION"])) if has_observation else None
        calls.append(
            RawCall(
                name,
                arguments,
                span=(action.start_pos, end),
                spans=spans,
                result=result,
                has_result=has_observation,
            )
        )
        check_calls(len(calls), limits)
    if not calls:
        raise ParseError("found no 'Action:' line", text=text, dialect="react")
    return RawPlan(tuple(calls), None, tuple(notes))


def _read_action(token: str) -> str:
    """The name of an action, or the call that it is; of a list of one call this."""
    name = _text_after_label(token).strip("`*")
    name = name[1:-1].strip() if name.startswith("[") and name.endswith("]") else name
    if name[:1] not in ("'", '"', "{"):
        return name
    quoted = _QUOTED_NAME.fullmatch(name)
    if quoted is None:
        reason = f"the action is {shorten(name, 60)}, expected the name of one tool"
        raise ParseError(reason, code="parse.shape", dialect="react")
    return quoted[2]


_QUOTED_NAME = lazy_pattern(r"(['\"])([^'\"]++)\1")


def _split_action(
    action: str, arguments: Arguments, position: int, notes: list[Diagnostic], *, has_input: bool
) -> tuple[str, Arguments]:
    """The tool's name and the arguments of an action that is a whole call, as Python has it."""
    is_name = "(" not in action or (has_input and _NAME_IN_BRACKETS.fullmatch(action))
    call = None if is_name else read_call_in_name(action, position, notes)
    if call is None:
        return action, arguments
    if call.arguments and arguments and call.arguments != arguments:
        reason = f"the action of call {position + 1} has arguments of its own and an input with others"
        raise ParseError(reason, code="parse.shape", dialect="react")
    return call.name, arguments or call.arguments


def repair_inputs(text: str, limits: Limits) -> RawPlan | None:
    """The actions of a text whose inputs are mended, each by itself; None where that is in vain."""
    view, notes = TextView(text), list[Diagnostic]()
    edits = []
    for match in _OBJECT_INPUT.finditer(text):
        piece = extent(text, match.end())
        for mended, edit_notes in repairs(view.cut(match.end(), piece.end)) if piece.closed else ():
            if isinstance(parse_json(mended.text), dict):
                edits.append(TextEdit(match.end(), piece.end, mended.text))
                notes += edit_notes
                break
    try:
        raw = read_actions(view.edit(edits).text, limits) if edits else None
    except ParseError:
        return None
    return raw and view.edit(edits).place(raw)._replace(notes=(*raw.notes, *notes))


def _normalize_labels(text: str) -> str:
    """A text with its labels as the grammar has them, of the same length.

    >>> _normalize_labels("action 1: find[a]")
    'Action  : find[a]'
    """
    if "Action Input:" in text or "Action Input\uff1a" in text:
        return text
    return _LABELS.sub(lambda m: f"{m[1]}{_LABEL_SPELLINGS.get(m[2].lower(), m[2])}{' ' * len(m[3])}", text)


_LABEL_SPELLINGS = {
    label.lower(): label
    for label in ("Thought", "Action Input", "Action", "Observation", "Final Answer", "Question")
}


def _text_after_label(token: str) -> str:
    """What follows a label."""
    return token[_LABEL.match(token).end() :].strip()  # type: ignore[union-attr]


def _span_inside_fence(text: str, start: int, end: int) -> Span:
    """Where an input stands, without the fence that may be around it."""
    fence = _FENCED.fullmatch(text, start, end)
    return fence.span("body") if fence else (start, end)


def _read_input(text: str, start: int, end: int, position: int, limits: Limits) -> Arguments:
    action_input = text[start:end].strip("`")
    if not action_input or action_input.lower() == "none":
        return ()
    quoted = _TRIPLE_QUOTED.fullmatch(action_input)
    if quoted is not None:
        return (("0", quoted["text"]),)
    if action_input[:1] == "{":
        try:
            values = loads(action_input, limits, "react")
        except ParseError as error:
            raise ParseError(error.reason, text=text, offset=start + error.offset, dialect="react") from None
        if len(values) == 1:
            return arguments_of(values[0], position, text)
    return (("0", action_input),)


def write_actions(plan: Plan) -> str:
    """Write a plan as actions with JSON inputs.

    Raises:
        WriteError: the plan has references, or a name is no line.
    """
    refuse_references(plan, "react")
    lines = []
    for call in WrittenPlan(plan).calls:
        if not re.fullmatch(r"\S(?:[^\n]*\S)?", call.name) or call.name.lower() in NO_TOOL:
            raise WriteError(f"call {call.id}: {call.name!r} cannot be an action's name")
        action_input = to_json(call.arguments)
        lines.append(f"Action: {call.name}\nAction Input: {action_input}")
    return "\n".join(lines)
