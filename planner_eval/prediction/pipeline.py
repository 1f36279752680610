"""What a pipeline is: a generator over what may be seen of one sample.

It yields a :class:`Request` and is sent the model's reply, or an :class:`Act` and is sent what the calls came
to; what it returns is the :class:`Outcome`. It reads no file, no clock and no gold, so the same replies give
the same requests: a run that was interrupted is gone through again with the replies that it had.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from planner_eval.llm.replies import Reply

if TYPE_CHECKING:
    from planner_eval.prediction.setup import Setup
    from planner_eval.prediction.visible import Task

Message: TypeAlias = Mapping[str, Any]
"""A chat message as the protocol has it."""

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Request:
    """One question to the model.

    Args:
        stage: What it is asked for: ``"plan"``, ``"apps"``, ``"route"`` …
        messages: The conversation so far.
        tools: The tools on offer, as the protocol has them; None where the words name them.
        sampling: What this request wants other than the run's usual: ``stop``, ``seed``, ``temperature``.
        router: The model that routes is asked, where a run has one.
        constraint: What holds the answer to a grammar, as fields of the request.
    """

    stage: str
    messages: tuple[Message, ...]
    tools: tuple[Message, ...] | None = None
    sampling: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    router: bool = False
    constraint: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)


class Called(NamedTuple):
    """A call that the model makes.

    Args:
        name: The tool, by the name that the sample gives it.
        arguments: Its arguments; None where they are no JSON object.
        written: The arguments as written.
        id: What the model calls the call.
    """

    name: str
    arguments: Mapping[str, Any] | None
    written: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class Act:
    """Calls that are to be made, in order."""

    calls: tuple[Called, ...]


@dataclass(frozen=True, slots=True)
class Observed:
    """What calls came to.

    Args:
        contents: JSON data, one a call.
        over: Nothing more can be done.
    """

    contents: tuple[Any, ...] = ()
    over: bool = False


class Failure(NamedTuple):
    """Why a sample has no answer.

    Args:
        code: ``transport``, ``context``, ``refused``, ``missing``, ``no_route``, ``max_steps``,
            ``max_turns``, ``left_record``, ``failed``.
        message: One sentence for people.
    """

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a sample.

    Args:
        prediction: The answer as its benchmark's scorer reads it: a text, a message, a conversation.
        stages: What the stages before the last came to, by name.
        stop: Why it ended: ``"answered"``, or the limit that it met.
        error: Why there is no answer, or none that is whole.
        beside: Fields of the answer's record that its scorer reads too.
    """

    prediction: Any
    stages: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    stop: str = "answered"
    error: Failure | None = None
    beside: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)


Steps: TypeAlias = Generator["Request | Act", "Reply | Observed", Outcome]
"""A sample under way."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """One way of asking.

    Args:
        name: What users call it.
        title: What it does, in one line.
        steps: Begins with a sample.
        serves: The data sets that it can be asked for, ``"own"`` for tasks of one's own; each with the names
            of the texts that it asks with.
        acts: Its calls are made: with tools for data sets that have some, by ComplexEval for its own.
        routes: It asks a router first, which may be another model.
    """

    name: str
    title: str
    steps: Callable[[Task, Setup], Steps]
    serves: Mapping[str, tuple[str, ...]]
    acts: bool = False
    routes: bool = False


def ask(
    stage: str,
    messages: Sequence[Message],
    *,
    tools: Sequence[Message] | None = None,
    router: bool = False,
    constraint: Mapping[str, Any] = _NOTHING,
    **sampling: Any,
) -> Generator[Request | Act, Reply | Observed, Reply]:
    """Have the model asked; gives its reply.

    >>> steps = ask("plan", [user("Who?")])
    >>> next(steps).stage
    'plan'
    """
    reply = yield Request(
        stage, tuple(messages), tuple(tools) if tools else None, sampling, router, constraint
    )
    if not isinstance(reply, Reply):
        raise TypeError(f"a request was sent {type(reply).__name__}, expected a Reply")
    return reply


def act(calls: Sequence[Called]) -> Generator[Request | Act, Reply | Observed, Observed]:
    """Have calls made; gives what they came to."""
    seen = yield Act(tuple(calls))
    if not isinstance(seen, Observed):
        raise TypeError(f"calls were sent {type(seen).__name__}, expected Observed")
    return seen


def system(text: str) -> Message:
    """A message of the system."""
    return {"role": "system", "content": text}


def user(text: str) -> Message:
    """A message of the user."""
    return {"role": "user", "content": text}


def assistant(text: str) -> Message:
    """What the model said, in words."""
    return {"role": "assistant", "content": text}
