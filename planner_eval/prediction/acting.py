"""What makes a model's calls: tools in a sandbox, or ComplexEval with the recorded answers.

Only here a sample's gold may be looked at, by ComplexEval: it decides whether a call is accepted, and answers
it with what was recorded. What it says of a call that it does not accept says nothing of gold.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from planner_eval.base.errors import PlanevalError
from planner_eval.dialects import read
from planner_eval.execution.program import Options
from planner_eval.execution.run import execute
from planner_eval.plan.model import Call, Plan
from planner_eval.prediction.pipeline import Called, Observed

if TYPE_CHECKING:
    from planner_eval.benchmarks.complexfuncbench.scoring import Settings
    from planner_eval.datasets.sample import Sample
    from planner_eval.execution import Sandbox

Acting: TypeAlias = Callable[[Sequence[Called]], Observed]
"""Makes the calls of one sample, turn after turn."""

_MOST_NAMES = 50
"""Tools that a model is told of which named another."""

_LONGEST = 20_000
"""Characters of a text that an observation shows; what is longer is cut, and says so."""


def with_tools(box: Sandbox, offered: Collection[str] | None = None) -> Acting:
    """Calls made with tools; those before are made again where the tools remember what was done.

    Args:
        box: Where the tools run; it is left open, and used by one caller at a time.
        offered: The tools that may be called; None for all that there are.

    >>> from planner_eval.execution import Sandbox, tool_source
    >>> with Sandbox(tool_source("nestful"), level="inline") as box:
    ...     make = with_tools(box, ["add"])
    ...     make([Called("add", {"arg_0": 1, "arg_1": 2}, ""), Called("sqrt", {}, "")]).contents
    (3, {'error': "there is no tool 'sqrt'; the tools are add"})
    """
    before: list[Called] = []

    def make(calls: Sequence[Called]) -> Observed:
        refused = [_refusal(call, offered) for call in calls]
        sound = [call for call, why in zip(calls, refused, strict=True) if why is None]
        history = list(before) if box.source.stateful else []
        plan = Plan(tuple(_call(number, call) for number, call in enumerate([*history, *sound])))
        rows = iter(execute(plan, box).calls[len(history) :]) if sound else iter(())
        before.extend(sound)
        return Observed(tuple(_seen(next(rows)) if why is None else {"error": why} for why in refused))

    return make


def played(answer: str, box: Sandbox) -> str | None:
    """A demonstration's plan with what its calls came to, as JSON; None where one of them fails.

    Args:
        answer: The plan, in any notation.
        box: Where the tools run.

    >>> from planner_eval.execution import Sandbox, tool_source
    >>> plan = '[{"name": "add", "label": "$x", "arguments": {"arg_0": 1, "arg_1": 2}}]'
    >>> with Sandbox(tool_source("nestful"), level="inline") as box:
    ...     played(plan, box)
    '[{"name": "add", "arguments": {"arg_0": 1, "arg_1": 2}, "saw": 3}]'
    """
    try:
        trace = execute(read.parse(answer), box, options=Options(arguments=True))
    except PlanevalError:
        return None
    if not trace.ok or not trace.calls:
        return None
    records = [
        {"name": call.tool, "arguments": _data(dict(call.arguments or ())), "saw": _data(call.value)}
        for call in trace.calls
    ]
    return json.dumps(records, ensure_ascii=False)


def _refusal(called: Called, offered: Collection[str] | None) -> str | None:
    """Why a call is not made; None where it is."""
    if offered is not None and called.name not in offered:
        names = list(offered)
        named = ", ".join(names[:_MOST_NAMES]) + (", …" if len(names) > _MOST_NAMES else "")
        return f"there is no tool {called.name[:80]!r}; the tools are {named}"
    return "the arguments are no JSON object" if called.arguments is None else None


def _call(number: int, called: Called) -> Call:
    return Call(f"call_{number}", called.name, tuple((called.arguments or {}).items()))


def _seen(row: Any) -> Any:
    if row.error is not None:
        return {"error": _short(f"{row.error.kind}: {row.error.message}")}
    return _data(row.value)


def _data(value: Any) -> Any:
    """A value as JSON data."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return _short(value)
    if isinstance(value, dict):
        return {str(key): _data(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_data(item) for item in value]
    return _short(str(value))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text):,} characters)"


def simulated(sample: Sample, *, runner: str = "glm", settings: Settings | None = None) -> Acting:
    """ComplexEval as the API: it answers accepted calls with what was recorded.

    Args:
        sample: One of ComplexFuncBench's.
        runner: The published runner to follow: ``"gpt"`` as the code of most models; ``"glm"`` gives a call
            of an unknown tool a message, as the paper has it.
        settings: What calls are judged with.

    Raises:
        InputError: the sample's record is no ComplexFuncBench conversation.
    """
    from planner_eval.benchmarks.complexfuncbench.calls import OfficialFailure
    from planner_eval.benchmarks.complexfuncbench.conversation import answer, start
    from planner_eval.benchmarks.complexfuncbench.runners import RUNNERS, Undecodable
    from planner_eval.benchmarks.complexfuncbench.scoring import DEFAULTS, prepare

    prepared = prepare(sample, settings or DEFAULTS)
    state = start(prepared.steps, prepared.rules, RUNNERS[runner])

    def make(calls: Sequence[Called]) -> Observed:
        nonlocal state
        turn = [
            Undecodable(call.name, call.written)
            if call.arguments is None
            else {"name": call.name, "arguments": call.arguments}
            for call in calls
        ]
        try:
            state = answer(state, turn)
        except OfficialFailure:
            return Observed(over=True)
        return Observed(over=True) if state.outcome is not None else Observed(state.replies)

    return make
