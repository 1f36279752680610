"""How BFCL asks a model: one request, or for several turns a loop in which its own tools make the calls.

Source: package bfcl-eval 2026.3.23: ``model_handler/base_handler.py`` and
``model_handler/api_inference/openai_completion.py``, which a model without a handler of its own is asked by;
``utils.py`` for what a question is made of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from planner_eval.base.errors import InputError
from planner_eval.benchmarks.asking import Asking, CallTexts, Dialog, ModelReply, Question, Result
from planner_eval.benchmarks.bfcl import multi_turn
from planner_eval.benchmarks.bfcl.data import CATEGORIES, Visible
from planner_eval.benchmarks.bfcl.prompts import (
    MORE_FUNCTIONS,
    MORE_FUNCTIONS_IN_TEXT,
    endpoint_tools,
    published_text,
    system_prompt,
    with_language,
)
from planner_eval.benchmarks.bfcl.reading import decode_step, is_empty_step
from planner_eval.benchmarks.datasets.published import Sample

CALLS, PROMPT = "function-calling", "prompt"
"""The pipelines: calls of the endpoint's own tools; calls that are written in text."""

MAX_STEPS = 20
"""The steps that a turn may make calls in; as published, what one more calls is made, and then all ends."""

_UNASKED = {
    "web_search": "its tools search the web, and planeval contacts only the model",
    "memory": "its questions continue conversations, and its tools fetch models from the network",
}


def refusal(sample: Sample, pipeline: str) -> str | None:
    """Why a question is not asked; None where it is.

    >>> from planner_eval.benchmarks.datasets.published import Sample
    >>> refusal(Sample("web_search_base_0", category="web_search_base"), "prompt")
    'its tools search the web, and planeval contacts only the model'
    """
    category = CATEGORIES.get(sample.category)
    if category is not None and category.check == "agentic":
        return next(why for name, why in _UNASKED.items() if category.name.startswith(name))
    if category is not None and category.check == "format" and pipeline != PROMPT:
        return "it varies the prompt of models that write calls in text: --pipeline prompt"
    return None


def begin(pipeline: str, visible: Visible, functions: Sequence[Any], steps: int | None = None) -> Dialog:
    """A dialog over one question.

    Args:
        pipeline: :data:`CALLS` or :data:`PROMPT`.
        visible: What may be seen of it beside its tools.
        functions: Its tools as released.
        steps: The most steps of a turn; None for the published number.

    Raises:
        InputError: the package lacks a text, or a tool is malformed.
    """
    try:
        described = with_language(functions, visible.language)
        if visible.config:  # as published: of a question of format_sensitivity it is said a second time
            described = with_language(described, "python")
        speaker = (_Caller if pipeline == CALLS else _Writer)(visible, described)
    except (KeyError, TypeError, AttributeError) as problem:
        what = f"{type(problem).__name__}: {problem}"
        raise InputError(f"a tool is not described in BFCL's format ({what})") from None
    return _converse(speaker, steps or MAX_STEPS) if visible.several else _ask_once(speaker)


class _Exchange(NamedTuple):
    """A reply as the answer keeps it, and as the conversation goes on with it."""

    step: Any
    message: Mapping[str, Any]
    ids: tuple[str, ...] = ()


class _Caller:
    """Asks a model that calls functions."""

    mode = "calls"

    def __init__(self, visible: Visible, functions: list[Any]) -> None:
        self.visible = visible
        self.functions = functions
        self.tools = endpoint_tools(functions)

    def turn(self, number: int) -> list[Mapping[str, Any]]:
        """The messages that begin a turn, and the tools that come with it."""
        held_back = self.visible.held_back.get(number)
        if held_back is None:
            return list(self.visible.turns[number])
        self.functions = [*self.functions, *held_back]
        self.tools = endpoint_tools(self.functions)
        return [{"role": "user", "content": published_text(self.visible.package, MORE_FUNCTIONS)}]

    def read(self, reply: ModelReply) -> _Exchange:
        """A reply with its calls, else its words."""
        if not reply.tool_calls:
            return _Exchange(reply.text, {"role": "assistant", "content": reply.text})
        ids = tuple(call.id or f"call_{number}" for number, call in enumerate(reply.tool_calls, 1))
        calls = [
            {"id": id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for id, call in zip(ids, reply.tool_calls, strict=True)
        ]
        step = [{call.name: call.arguments} for call in reply.tool_calls]
        return _Exchange(step, {"role": "assistant", "content": reply.text or None, "tool_calls": calls}, ids)

    def results(
        self, exchange: _Exchange, _calls: Sequence[str], results: Sequence[str]
    ) -> list[Mapping[str, Any]]:
        """What calls returned, a message each."""
        pairs = zip(results, exchange.ids, strict=False)
        return [{"role": "tool", "content": result, "tool_call_id": id} for result, id in pairs]


class _Writer:
    """Asks a model that writes calls in text."""

    mode = "prompt"
    tools: tuple[Any, ...] = ()

    def __init__(self, visible: Visible, functions: list[Any]) -> None:
        self.visible = visible
        self.system = system_prompt(visible.package, functions, visible.config)

    def turn(self, number: int) -> list[Mapping[str, Any]]:
        """The messages that begin a turn; the first says which tools there are."""
        held_back = self.visible.held_back.get(number)
        if held_back is not None:
            text = published_text(self.visible.package, MORE_FUNCTIONS_IN_TEXT)
            return [{"role": "user", "content": text.replace("{functions}", str(list(held_back)))}]
        messages = list(self.visible.turns[number])
        if number:
            return messages
        system = self.system
        if messages and messages[0]["role"] == "system":
            system = f"{system}\n\n{messages.pop(0)['content']}"
        return [{"role": "system", "content": system}, *messages]

    def read(self, reply: ModelReply) -> _Exchange:
        """A reply's words."""
        return _Exchange(reply.text, {"role": "assistant", "content": reply.text})

    def results(
        self, _exchange: _Exchange, calls: Sequence[str], results: Sequence[str]
    ) -> list[Mapping[str, Any]]:
        """What calls returned, in one message of the user's."""
        pairs = zip(calls, results, strict=True)
        listed = [{"role": "tool", "name": call, "content": result} for call, result in pairs]
        return [{"role": "user", "content": repr(listed)}]


def _ask_once(speaker: _Caller | _Writer) -> Dialog:
    messages = speaker.turn(0)
    reply = yield Question(tuple(messages), speaker.tools)
    return Result(speaker.read(reply).step, beside={"mode": speaker.mode})


def _converse(speaker: _Caller | _Writer, most: int) -> Dialog:
    """All turns; each ends with a reply without a call that can be read, and too long a turn ends all."""
    messages: list[Mapping[str, Any]] = []
    answer: list[list[Any]] = []
    fields = {"mode": speaker.mode}
    for number in range(len(speaker.visible.turns)):
        messages += speaker.turn(number)
        steps: list[Any] = []
        answer.append(steps)
        while True:
            exchange = speaker.read((yield Question(tuple(messages), speaker.tools)))
            steps.append(exchange.step)
            messages.append(exchange.message)
            try:
                calls = decode_step(exchange.step, calls=speaker.mode == "calls")
            except Exception:  # whatever is raised: the published code goes on with the next turn
                break
            if is_empty_step(calls):
                break
            results = yield CallTexts(tuple(calls))
            messages += speaker.results(exchange, calls, results)
            if len(steps) > most:
                return Result(answer, "max_steps", fields)
    return Result(answer, beside=fields)


ASKING = Asking(
    dialog=begin,
    visible=lambda sample: sample.extra["visible"],
    refusal=refusal,
    open_tools=multi_turn.open_tools,
    caller=multi_turn.make_caller,
)
