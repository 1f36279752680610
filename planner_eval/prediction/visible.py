"""What a model may see of a sample, by data set; nothing else reaches a pipeline.

| data set | visible |
|---|---|
| AppBench | the instruction, the catalogue |
| NESTful | the question, the sample's tools |
| CallNavi | the question, the domain's list of APIs |
| ComplexFuncBench | the first message, the sample's functions |
| FunctionChat-Bench | the conversation up to the turn, the tools |
| one's own tasks | the question or conversation, the tools |

Gold, ids, parts, difficulties, kinds of output and acceptable values are not: no field of :class:`Task` holds
them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import CatalogError, InputError
from planner_eval.catalogs.catalog import Catalog

if TYPE_CHECKING:
    from planner_eval.datasets.sample import Sample
    from planner_eval.prediction.pipeline import Message

OWN = "own"
"""The form of one's own tasks."""


@dataclass(frozen=True, slots=True)
class Task:
    """What may be seen of a sample.

    Args:
        form: The data set, which says how tools are described and answers written.
        query: What the user asks.
        messages: The conversation so far, the user's last message included.
        tools: The tools as released; for one's own tasks a :class:`Catalog`.
    """

    form: str
    query: str
    messages: tuple[Message, ...]
    tools: Any


def visible(sample: Sample, form: str, *, tools: Any = None) -> Task:
    """What may be seen of a data set's sample.

    Args:
        sample: The sample.
        form: Its benchmark, or :data:`OWN`.
        tools: The tools, where the sample does not bring them.

    Raises:
        InputError: the sample has no tools, no question, or one of which a part would not be shown.

    >>> from planner_eval.datasets.sample import Sample
    >>> visible(Sample("hr01", "Who?", [], {"API": ["f"]}), "callnavi")
    Task(form='callnavi', query='Who?', messages=({'role': 'user', 'content': 'Who?'},), tools=[])
    """
    if form == OWN and "refused" in sample.extra:
        raise InputError(sample.extra["refused"])
    offered = sample.tools if tools is None else tools
    if offered is None:
        raise InputError(
            f"sample {sample.id!r} says nothing of the tools on offer: name them with --catalog FILE"
            + (", or lay AppBench's catalogue.json beside the data" if form == "appbench" else "")
        )
    messages = conversation(sample, form)
    if not sample.query and not any(_said(message) for message in messages):
        raise InputError(f"sample {sample.id!r} has no question")
    return Task(form, sample.query, messages, _own(offered, sample.id) if form == OWN else offered)


def conversation(sample: Sample, form: str) -> tuple[Message, ...]:
    """The conversation that a sample's question stands in."""
    if form == "functionchat" or (form == OWN and sample.extra.get("messages")):
        return tuple(sample.extra["messages"])
    return ({"role": "user", "content": sample.query},)


def digest(query: str, messages: Sequence[Message]) -> str:
    """What tells two tasks apart; their tools are told by the requests."""
    serialized = json.dumps([query, list(messages)], sort_keys=True, default=str)
    return blake2b(serialized.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _said(message: Message) -> bool:
    return isinstance(message, Mapping) and bool(message.get("content"))


def _own(tools: Any, identity: str) -> Catalog:
    try:
        return as_catalog(tools)
    except InputError as problem:
        raise InputError(f"sample {identity!r}: {problem}") from None


def as_catalog(tools: Any) -> Catalog:
    """Tools of one's own as a catalog.

    Raises:
        InputError: they cannot be read.
    """
    from planner_eval.catalogs.formats import from_data

    if isinstance(tools, Catalog):
        return tools
    try:
        return from_data(tools, name="the tools")  # the sample's name is nothing that a model may see
    except CatalogError as problem:
        raise InputError(str(problem)) from None
