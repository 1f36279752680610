"""What a reply says, and what a pipeline is told that it cannot use."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.json_text import decode_object
from planner_eval.base.limits import DEFAULT_LIMITS
from planner_eval.base.text import parse_day, shorten
from planner_eval.benchmarks.benchmark import asking_of
from planner_eval.models.pipelines.pipeline import ModelCall, Pipeline
from planner_eval.models.pipelines.setup import Setup, refuse_texts, refuse_unserved
from planner_eval.models.replies import Reply, ToolCall
from planner_eval.plan.model import Call, Ref, Unresolved, Value, fold
from planner_eval.reading.dialects.finding.thoughts import strip_thoughts
from planner_eval.reading.dialects.read import parse

# ----------------------------------------------------------------------
# What a reply says: lists of names, calls of tools wherever a model writes them, a step of ReAct.
_QUOTED = re.compile(r"""["'`“”‘’]""")
_LIST = re.compile(r"\[([^\[\]]*+)\]")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+")
_LABEL = re.compile(r"^\s*(?:apis?|apps?|answer|functions?)\s*:\s*", re.IGNORECASE)
_CALL_MARKERS = re.compile(
    r"```|<tool_call|<\|python_tag\|>|\[TOOL_CALLS\]|<function|<\|tool_call|<tool▁call|functools\[|\A\s*[\[{]"
)
"""How a text looks that holds calls and does not only speak of them."""

_FENCE = re.compile(r"\A\s*+```\w*+\s*+|\s*+```\s*+\Z")
"""A fence around a whole text."""

_ACTION = re.compile(
    r"^[ \t*]*+Action[ \t*]*+:[ \t*]*+(?P<name>[^\n]*+)\n++"
    r"[ \t*]*+Action[ _]Input[ \t*]*+:[\s*]*+(?P<input>.*+)",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
_FINAL_ANSWER = re.compile(
    r"^[ \t*#]*+Final[ _]Answer[ \t*]*+:[ \t*]*+(?P<answer>.*+)", re.IGNORECASE | re.DOTALL | re.MULTILINE
)
_OBSERVATION = re.compile(r"^[ \t*]*+Observation[ \t*]*+:", re.IGNORECASE | re.MULTILINE)


def reply_text(reply: Reply) -> str:
    """The words of a reply; its calls as JSON where it has only calls.

    >>> reply_text(Reply("", (ToolCall("1", "f", '{"a": 1}'),)))
    '[{"name": "f", "arguments": {"a": 1}}]'
    """
    if reply.text.strip() or not reply.tool_calls:
        return reply.text
    calls = [{"name": call.name, "arguments": arguments_of(call)} for call in reply.tool_calls]
    return json.dumps(calls, ensure_ascii=False)


def arguments_of(call: ToolCall) -> Any:
    """A call's arguments as data; the text itself where it is no JSON object."""
    decoded = decode_arguments(call.arguments)
    return call.arguments if decoded is None else decoded


def decode_arguments(text: str) -> dict[str, Any] | None:
    """Arguments written as JSON; nothing and ``null`` mean none. None where the text is no object.

    >>> decode_arguments(""), decode_arguments("null"), decode_arguments("[1]"), decode_arguments("{")
    ({}, {}, None, None)
    """
    return decode_object(text) if text.strip() else {}


def plan_text(reply: Reply) -> str:
    """The plan of a reply: its calls as JSON where it makes some, whatever words stand beside them.

    >>> plan_text(Reply("I will look.", (ToolCall("1", "f", "{}"),))), plan_text(Reply("f()"))
    ('[{"name": "f", "arguments": {}}]', 'f()')
    """
    return reply_text(replace(reply, text="") if reply.tool_calls else reply)


# ---------------------------------------------------------------- lists of names
def listed_names(text: str) -> list[str]:
    r"""The names that a text lists, in order, repeated ones again: JSON, brackets, commas or lines.

    >>> (
    ...     listed_names("['a','b']"), listed_names("API: a, b"), listed_names("- a\n- b"),
    ...     listed_names("Sure: [a]")
    ... )
    (['a', 'b'], ['a', 'b'], ['a', 'b'], ['a'])
    """
    text = strip_thoughts(text)
    lists = _LIST.findall(text)
    if lists:
        return _split_names(lists[-1])
    lines = [_LABEL.sub("", _BULLET.sub("", line)) for line in text.replace("```", "\n").splitlines()]
    return [name for line in lines for name in _split_names(line)]


def _split_names(listed: str) -> list[str]:
    names = (
        _QUOTED.sub("", name).strip().rstrip(".").removesuffix("()") for name in re.split(r"[,;]", listed)
    )
    return [name for name in names if name]


class KnownNames(NamedTuple):
    """The names of a reply that are known, and those that are not, in the order of the reply."""

    known: list[str]
    unknown: list[str]


def known_names(text: str, names: Collection[str]) -> KnownNames:
    """The listed names that are among some, whatever their case.

    >>> known_names("[trains, Boats]", ["Trains"])
    KnownNames(known=['Trains'], unknown=['Boats'])
    """
    by_lower = {name.lower(): name for name in names}
    listed = listed_names(text)
    matched = [by_lower[name.lower()] for name in listed if name.lower() in by_lower]
    return KnownNames(matched, [name for name in listed if name.lower() not in by_lower])


# ---------------------------------------------------------------- calls
class ReplyTurn(NamedTuple):
    """What a reply to an offer of tools, or in a ReAct run, says.

    Args:
        calls: The calls, by the names that the sample gives its tools.
        text: The words beside them; in a ReAct run up to an observation that the model made up.
        written: Where the calls were: ``"tool_calls"``, ``"text"``, or ``""`` where there are none.
        final: The final answer that a ReAct run's step states; None where it states none.
    """

    calls: tuple[ModelCall, ...]
    text: str
    written: str
    final: str | None = None


def read_reply(reply: Reply, names: Mapping[str, str]) -> ReplyTurn:
    r"""The calls of a reply: those of its ``tool_calls``, else those that its text holds in a fence or alone.

    Small models answer an offer of tools with a fenced JSON text. Its calls count where all of them are of
    tools on offer, in whatever case their names are written, which stays; prose that mentions a call is none.

    Args:
        reply: The reply.
        names: Name in the request → the sample's own.

    >>> read_reply(Reply('```json\n{"name": "f", "arguments": {"a": 1}}\n```'), {"f": "f"}).calls
    (ModelCall(name='f', arguments={'a': 1}, written='{"a": 1}', id=''),)
    """
    if reply.tool_calls:
        calls = [
            ModelCall(names.get(c.name, c.name), decode_arguments(c.arguments), c.arguments, c.id)
            for c in reply.tool_calls
        ]
        return ReplyTurn(tuple(calls), reply.text, "tool_calls")
    text_calls = _find_calls(reply.text, names)
    return ReplyTurn(text_calls, reply.text, "text") if text_calls else ReplyTurn((), reply.text, "")


def _find_calls(text: str, names: Mapping[str, str]) -> tuple[ModelCall, ...]:
    if len(text) > DEFAULT_LIMITS.chars:
        return ()
    bare = strip_thoughts(text)
    if not _CALL_MARKERS.search(bare):
        return ()
    calls = _parse_calls(bare)
    row = _FENCE.sub("", bare)
    if (
        not calls and row.startswith("{") and row.endswith("}")
    ):  # with commas between, where a list was wanted
        calls = _parse_calls(f"[{row}]")
    offered_names = {name.lower() for name in names}
    if not calls or not all({call.tool.lower(), call.name.lower()} & offered_names for call in calls):
        return ()
    model_calls = []
    for call in calls:
        arguments = {name: plain_value(value, calls) for name, value in call.arguments}
        name = names.get(call.tool) or names.get(call.name) or call.tool
        model_calls.append(ModelCall(name, arguments, json.dumps(arguments, ensure_ascii=False)))
    return tuple(model_calls)


def _parse_calls(text: str) -> tuple[Call, ...]:
    """The calls of a text, small faults mended as they are for scores; none where it is no plan."""
    try:
        return parse(text, repair=True).calls if text else ()
    except (ParseError, RecursionError):
        return ()


def plain_value(value: Any, calls: Sequence[Call]) -> Any:
    """A value of a plan as JSON data; a reference becomes the text ``$id.path$``."""

    def as_text(leaf: Value) -> Any:
        if not isinstance(leaf, (Ref, Unresolved)):
            return leaf
        name = calls[leaf.call].id if isinstance(leaf, Ref) else leaf.name
        return f"${'.'.join(map(str, (name, *leaf.path)))}$"

    return fold(value, as_text, text=lambda pieces: "".join(map(as_text, pieces)))


# ---------------------------------------------------------------- ReAct
def read_step(reply: Reply, names: Mapping[str, str]) -> ReplyTurn:
    r"""The step that a reply takes; a call comes before a final answer that is stated with it.

    >>> made_up = Reply('Action: f\nAction Input: {"a": 1}\nObservation: 2\nFinal Answer: 2')
    >>> step = read_step(made_up, {"f": "f"})
    >>> step.calls[0].arguments, step.final
    ({'a': 1}, None)
    >>> read_step(Reply("Thought: done\nFinal Answer: 2"), {}).final
    '2'
    """
    if reply.tool_calls:
        return read_reply(reply, names)
    text = _cut_made_up(reply.text)
    action, final = _ACTION.search(text), _FINAL_ANSWER.search(text)
    if action and not (final and final.start() < action.start()):
        name = _QUOTED.sub("", action["name"]).strip("* ").removesuffix("()")
        written = _strip_fence(action["input"])
        call = ModelCall(names.get(name, name), decode_arguments(written), written)
        return ReplyTurn((call,), text, "text")
    if final:
        return ReplyTurn((), text, "text", final["answer"].strip())
    calls = _find_calls(text, names)
    return ReplyTurn(calls, text, "text" if calls else "")


def _cut_made_up(text: str) -> str:
    r"""The text up to an observation that the model made up; one that it begins with is an echo, and let be.

    >>> _cut_made_up("Observation: 1\nAction: f\nAction Input: {}\nObservation: 2")
    'Observation: 1\nAction: f\nAction Input: {}'
    """
    action = _ACTION.search(text)
    made_up = _OBSERVATION.search(text, action.start("input") if action else 0)
    before = text[: made_up.start()].rstrip() if made_up else text
    return before or text


def _strip_fence(text: str) -> str:
    """JSON out of a fence, and without what follows the object."""
    fenced = re.search(r"```(?:json)?\s*(.*?)```", text, re.DOTALL)
    inner = (fenced[1] if fenced else text).strip()
    try:
        _, end = json.JSONDecoder().raw_decode(inner)
    except (ValueError, RecursionError):
        return inner
    return inner[:end]


def distinct(names: Iterable[str]) -> list[str]:
    """Each name once, in order of its first appearance."""
    return list(dict.fromkeys(names))


# ----------------------------------------------------------------------
# What a pipeline is told that it cannot use, said before anything is asked.
def refuse_setup(setup: Setup, chosen: Pipeline, form: str) -> None:
    """Refuse what has no effect, or cannot have the one that is wanted.

    Args:
        setup: What the pipeline is told.
        chosen: The pipeline.
        form: The data set.

    Raises:
        InputError: says what applies where.
    """
    name, own = chosen.name, form == "own"
    target = name if own else f"{name} of {form}"
    if setup.history != "gold" and name != "dialog":
        raise InputError(f"--run history={setup.history} applies only with --pipeline dialog, not {name}")
    if setup.explain_references and (name, form) != ("flat", "nestful"):
        message = "--run explain-references applies only to NESTful's prompt of flat"
        raise InputError(f"{message}, not to {name} of {form}")
    refuse_texts(setup.prompts, name, form, chosen.serves[form])
    if setup.dialect is not None and not (own and name == "flat"):
        raise InputError(f"--dialect applies only to flat with tasks of your own, not to {target}")
    if setup.listing and form != "callnavi" and not (own and name in ("flat", "react")):
        raise InputError(f"--run list-form applies only to prompts that list tools, not to {target}")
    makes_calls = name in ("react", "stepwise") or (own and name == "function-calling" and setup.makes_calls)
    if setup.steps is not None and not makes_calls and asking_of(form) is None:
        raise InputError(
            "--run max-steps=N applies only to pipelines that make calls: react, stepwise, "
            f"function-calling with --tools, a benchmark's questions of several turns; not to {target}"
        )
    if form != "appbench" and setup.today != Setup().today:
        raise InputError(
            f"--run today applies only to AppBench, whose instructions depend on the date, not to {form}"
        )
    if parse_day(setup.today) is None:
        raise InputError(f"--run today is {shorten(repr(setup.today), 40)}, expected a date, yyyy-mm-dd")
    if setup.constrain is not None:
        refuse_unserved(setup.constrain, name, form, setup.notation)
