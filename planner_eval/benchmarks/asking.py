"""How a benchmark asks a model by rules of its own: a dialog that :mod:`planner_eval.models` holds.

A dialog yields a :class:`Question` and is sent the model's reply, or :class:`CallTexts` and is sent what the
calls returned; what it returns is the :class:`Result`. It reads no gold: it is begun with what may be seen.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from planner_eval.benchmarks.datasets.published import Sample
    from planner_eval.execution.sandbox.sandbox import Sandbox


ModelReply: TypeAlias = Any
"""A reply as :mod:`planner_eval.models` has it, a room below this one: ``text``, and ``tool_calls``, each an
``id``, a ``name`` and ``arguments`` as text."""


class Question(NamedTuple):
    """A request to the model.

    Args:
        messages: The conversation so far.
        tools: The tools on offer, as the protocol has them; none where the words name them.
    """

    messages: tuple[Mapping[str, Any], ...]
    tools: tuple[Mapping[str, Any], ...] = ()


class CallTexts(NamedTuple):
    """Calls that are to be made, in order, as the benchmark writes them."""

    texts: tuple[str, ...]


class Result(NamedTuple):
    """What became of a sample.

    Args:
        prediction: The answer as the benchmark's own runner keeps it.
        stop: Why it ended: ``"answered"``, or the limit that it met.
        beside: Fields of the answer's record that its scorer reads too.
    """

    prediction: Any
    stop: str = "answered"
    beside: Mapping[str, Any] = {}


Dialog: TypeAlias = "Generator[Question | CallTexts, ModelReply | Sequence[str], Result]"
"""A sample under way."""

Caller: TypeAlias = Callable[[Sequence[str]], Sequence[str]]
"""Makes the calls of one sample, one step after the other; gives what each returned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """How a benchmark asks.

    Args:
        dialog: Begins a dialog, given a pipeline's name, what may be seen of a sample beside its tools, the
            tools, and the most steps of a turn where that is not the usual. InputError where it cannot.
        visible: What may be seen of a sample beside its tools.
        refusal: Why a pipeline cannot ask a sample, in words; None where it can.
        open_tools: The tools that make the calls of these samples; None where they make none.
        caller: Makes the calls of a sample with these tools; ExecutionError where it cannot.
    """

    dialog: Callable[[str, Any, Sequence[Any], int | None], Dialog]
    visible: Callable[[Sample], Any]
    refusal: Callable[[Sample, str], str | None]
    open_tools: Callable[[Sequence[Sample], str | None], Sandbox | None]
    caller: Callable[[Sample, Sandbox], Caller]
