"""What a pipeline is, and what it may see of a sample.

It yields a :class:`Request` and is sent the model's reply, or an :class:`CallRequest` and is sent what the
calls came to; what it returns is the :class:`Outcome`. It reads no file, no clock and no gold, so the same
replies give the same requests: a run that was interrupted is gone through again with the replies that it
had.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from planner_eval.base.errors import CatalogError, InputError
from planner_eval.benchmarks.benchmark import asking_of
from planner_eval.catalogs.catalog import Catalog
from planner_eval.models.replies import Reply

if TYPE_CHECKING:
    from planner_eval.benchmarks.datasets.published import Sample
    from planner_eval.models.pipelines.setup import Setup


# ----------------------------------------------------------------------
# What a pipeline is: a generator over what may be seen of one sample.
Message: TypeAlias = Mapping[str, Any]
"""A chat message as the protocol has it."""

Fields: TypeAlias = Mapping[str, Any]
"""Fields of a request, of an answer's record, or of what stages came to, by name."""

NO_FIELDS: Fields = MappingProxyType({})
"""Nothing beside."""


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
    sampling: Fields = field(default_factory=lambda: NO_FIELDS)
    router: bool = False
    constraint: Fields = field(default_factory=lambda: NO_FIELDS)


class ModelCall(NamedTuple):
    """A call that the model makes.

    Args:
        name: The tool, by the name that the sample gives it.
        arguments: Its arguments; None where they are no JSON object.
        written: The arguments as written.
        id: What the model calls the call.
    """

    name: str
    arguments: Fields | None
    written: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class CallRequest:
    """Calls that are to be made, in order."""

    calls: tuple[ModelCall, ...]


@dataclass(frozen=True, slots=True)
class Observations:
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
        code: ``transport``, ``context``, ``refused``, ``unasked``, ``missing``, ``no_route``,
            ``max_steps``, ``max_turns``, ``left_record``, ``failed``.
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
    stages: Fields = field(default_factory=lambda: NO_FIELDS)
    stop: str = "answered"
    error: Failure | None = None
    beside: Fields = field(default_factory=lambda: NO_FIELDS)


_T = TypeVar("_T")
Exchange: TypeAlias = Generator[Request | CallRequest, Reply | Observations, _T]
"""Some requests, with what comes of them."""

Steps: TypeAlias = Exchange[Outcome]
"""A sample under way."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """One way of asking.

    Args:
        name: What users call it.
        title: What it does, in one line.
        steps: Begins with a sample.
        serves: The data sets that it can be asked for, ``"own"`` for tasks of your own; each with the names
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
    constraint: Fields = NO_FIELDS,
    **sampling: Any,
) -> Exchange[Reply]:
    """Have the model asked; gives its reply.

    >>> steps = ask("plan", [user_message("Who?")])
    >>> next(steps).stage
    'plan'
    """
    reply = yield Request(
        stage, tuple(messages), tuple(tools) if tools else None, sampling, router, constraint
    )
    if not isinstance(reply, Reply):
        raise TypeError(f"a request was sent {type(reply).__name__}, expected a Reply")
    return reply


def act(calls: Sequence[ModelCall]) -> Exchange[Observations]:
    """Have calls made; gives what they came to."""
    seen = yield CallRequest(tuple(calls))
    if not isinstance(seen, Observations):
        raise TypeError(f"calls were sent {type(seen).__name__}, expected Observed")
    return seen


def system_message(text: str) -> Message:
    """A message of the system."""
    return {"role": "system", "content": text}


def user_message(text: str) -> Message:
    """A message of the user."""
    return {"role": "user", "content": text}


def assistant_message(text: str | None, calls: Sequence[ModelCall] = ()) -> dict[str, Any]:
    """What the model said, in words and in calls, of which those without an id are numbered."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {
                "id": call.id or f"call_{number}",
                "type": "function",
                "function": {"name": call.name, "arguments": call.written or "{}"},
            }
            for number, call in enumerate(calls, 1)
        ]
    return message


def result_messages(turn: Message, texts: Sequence[str]) -> list[Message]:
    """What the calls of a turn came to, as messages of the protocol."""
    return [
        {"role": "tool", "tool_call_id": call["id"], "content": text}
        for call, text in zip(turn["tool_calls"], texts, strict=True)
    ]


# ----------------------------------------------------------------------
# What a model may see of a sample, by data set; nothing else reaches a pipeline.
#
# | data set | visible |
# |---|---|
# | AppBench | the instruction, the catalogue |
# | NESTful | the question, the sample's tools |
# | CallNavi | the question, the domain's list of APIs |
# | ComplexFuncBench | the first message, the sample's functions |
# | FunctionChat-Bench | the conversation up to the turn, the tools |
# | one's own tasks | the question or conversation, the tools |
# | a benchmark that asks by its own rules | what it says itself, in ``visible`` |
#
# Gold, ids, parts, difficulties, kinds of output and acceptable values are not: no field of :class:`Task`
# holds them.
OWN_TASKS = "own"
"""The form of one's own tasks."""


@dataclass(frozen=True, slots=True)
class Task:
    """What may be seen of a sample.

    Args:
        form: The data set, which says how tools are described and answers written.
        query: What the user asks.
        messages: The conversation so far, the user's last message included.
        tools: The tools as released; for one's own tasks a :class:`Catalog`.
        visible: What else may be seen, of a benchmark that asks by rules of its own.
    """

    form: str
    query: str
    messages: tuple[Message, ...]
    tools: Any
    visible: Any = field(default=None, repr=False)


def visible_task(sample: Sample, form: str, *, tools: Any = None) -> Task:
    """What may be seen of a data set's sample.

    Args:
        sample: The sample.
        form: Its benchmark, or :data:`OWN_TASKS`.
        tools: The tools, where the sample does not bring them.

    Raises:
        InputError: the sample has no tools, no question, or one of which a part would not be shown.

    >>> from planner_eval.benchmarks.datasets.published import Sample
    >>> visible_task(Sample("hr01", "Who?", [], {"API": ["f"]}), "callnavi")
    Task(form='callnavi', query='Who?', messages=({'role': 'user', 'content': 'Who?'},), tools=[])
    """
    if form == OWN_TASKS and "refused" in sample.extra:
        raise InputError(sample.extra["refused"])
    offered = sample.tools if tools is None else tools
    if offered is None:
        raise InputError(
            f"sample {sample.id!r} has no tools: name them with --catalog FILE"
            + (", or lay AppBench's catalogue.json beside the data" if form == "appbench" else "")
        )
    messages = conversation(sample, form)
    contents = (message.get("content") for message in messages if isinstance(message, Mapping))
    if not sample.query and not any(contents):
        raise InputError(f"sample {sample.id!r} has no question")
    asking = asking_of(form)
    visible = None if asking is None else asking.visible(sample)
    try:
        tools = read_tools(offered) if form == OWN_TASKS else offered
    except InputError as problem:
        raise InputError(f"sample {sample.id!r}: {problem}") from None
    return Task(form, sample.query, messages, tools, visible)


def conversation(sample: Sample, form: str) -> tuple[Message, ...]:
    """The conversation that a sample's question stands in."""
    if form == "functionchat" or (form == OWN_TASKS and sample.extra.get("messages")):
        return tuple(sample.extra["messages"])
    return ({"role": "user", "content": sample.query},)


def digest(query: str, messages: Sequence[Message]) -> str:
    """What tells two tasks apart; their tools are told by the requests."""
    serialized = json.dumps([query, list(messages)], sort_keys=True, default=str)
    return blake2b(serialized.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def read_tools(tools: Any, format: str | None = None) -> Catalog:
    """Tools as a catalog.

    Raises:
        InputError: they cannot be read.
    """
    from planner_eval.catalogs.formats import as_catalog

    try:
        return as_catalog(tools, format, name="the tools")  # a sample's name is nothing that a model may see
    except CatalogError as problem:
        raise InputError(str(problem)) from None
