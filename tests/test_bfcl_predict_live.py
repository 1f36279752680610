"""What BFCL's questions are asked with, beside the published code, to the byte, where it is installed."""

from __future__ import annotations

import ast
import json
import os
import random
import warnings
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from copy import deepcopy
from importlib import import_module
from io import StringIO
from types import SimpleNamespace
from typing import Any

import pytest

from planner_eval.benchmarks.asking import Question
from planner_eval.benchmarks.bfcl.data import CATEGORIES, installed_folder, read_category
from planner_eval.benchmarks.bfcl.dialog import ASKING
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.execution.sandbox.sandbox import Sandbox
from planner_eval.models.replies import Reply, ToolCall
from tests.bfcl_official import official
from tests.test_bfcl_multi_turn_live import MODULES, TEXTS, VALUES

ASKED = [name for name, category in CATEGORIES.items() if category.check != "agentic"]
ALL = bool(os.environ.get("PLANEVAL_BFCL_ALL"))
"""Compare every question, not a sample of each category."""


def scripted(sample: Sample, pipeline: str, seed: str) -> Iterator[Reply]:
    """Replies to one question: right calls, changed ones, words; some turns never end."""
    draw = random.Random(seed)
    turns = sample.extra["ground_truth"] if sample.extra["visible"].several else ()
    golds = [text for turn in turns for text in turn]
    endless, number = draw.random() < 0.1, 0
    while True:
        number += 1
        chosen = draw.sample(golds, min(len(golds), draw.randrange(3)))
        if endless:
            chosen = chosen or golds[:1]
        if pipeline == "prompt":
            texts = [f"[{', '.join(chosen)}]", ", ".join(chosen), draw.choice(TEXTS), "Done."]
            yield Reply(texts[0] if endless else draw.choice(texts))
            continue
        arguments = {"a": draw.choice(VALUES), "folder": draw.choice(["a", "", "document"])}
        calls = [as_call(text, f"c{number}-{place}") for place, text in enumerate(chosen)]
        if draw.random() < 0.2:
            calls.append(
                ToolCall(f"x{number}", draw.choice(["cd", "ls", "f", "mean"]), json.dumps(arguments))
            )
        if draw.random() < 0.05:
            calls.append(ToolCall(f"y{number}", "cd", '{"folder'))
        if endless or draw.random() < 0.6:
            yield Reply("", tuple(calls))
        else:
            yield Reply(draw.choice(["Done.", "", "[]", "What do you mean?"]))


def as_call(text: str, id: str) -> ToolCall:
    """A right call as the protocol has it; what is no plain one takes no arguments."""
    node: Any = ast.parse(text, mode="eval").body
    try:
        arguments = {word.arg: ast.literal_eval(word.value) for word in node.keywords}
    except ValueError:
        arguments = {}
    return ToolCall(id, node.func.id, json.dumps(arguments))


def published(
    code: Any, entry: dict[str, Any], pipeline: str, replies: Iterator[Reply]
) -> tuple[list[Any], Any]:
    """What the published code sends, and the answer that it keeps; an exception in its place."""
    utils, long_context, travel_booking = map(import_module, MODULES)
    for name in [name for name in vars(utils) if name.endswith("_instance")]:
        delattr(utils, name)
    for name in ("CREDIT_CARD_EXTENSION", "BOOKING_RECORD_EXTENSION"):
        setattr(travel_booking, name, deepcopy(getattr(long_context, name)))
    handler = code.handler(calls=pipeline != "prompt")
    handler.model_name = handler.registry_name = handler.model_name_underline_replaced = "model"
    handler.temperature = 0.001
    handler.model_style = code.enums.ModelStyle.OPENAI_COMPLETIONS
    sent: list[Any] = []

    def generate(**request: Any) -> tuple[Any, float]:
        tools = deepcopy(request.get("tools", []))
        sent.append((list(map(as_message, request["messages"])), tools))
        assert request["temperature"] == 0.001
        return response(next(replies)), 0.0

    handler.generate_with_backoff = generate
    with redirect_stdout(StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result, _ = handler.inference(entry, False, True)
        except Exception as error:
            result = error
    return sent, result


def response(reply: Reply) -> Any:
    functions = [
        SimpleNamespace(
            id=call.id, type="function", function=SimpleNamespace(name=call.name, arguments=call.arguments)
        )
        for call in reply.tool_calls
    ]
    message = SimpleNamespace(content=reply.text, tool_calls=functions or None)
    usage = SimpleNamespace(prompt_tokens=0, completion_tokens=0)
    return SimpleNamespace(choices=[SimpleNamespace(message=message)], usage=usage)


def as_message(message: Any) -> Any:
    """A message as it is sent: the published code hands the reply's own object on."""
    if isinstance(message, dict):
        return dict(message)
    if not message.tool_calls:
        return {"role": "assistant", "content": message.content}
    calls = [
        {"id": call.id, "type": "function", "function": vars(call.function)} for call in message.tool_calls
    ]
    return {"role": "assistant", "content": message.content or None, "tool_calls": calls}


def ours(
    sample: Sample, pipeline: str, replies: Iterator[Reply], box: Sandbox | None
) -> tuple[list[Any], Any]:
    dialog = ASKING.dialog(pipeline, ASKING.visible(sample), sample.tools, None)
    call = ASKING.caller(sample, box) if box is not None else None
    sent: list[Any] = []
    step: Any = next(dialog)
    while True:
        try:
            if isinstance(step, Question):
                sent.append((list(map(dict, step.messages)), list(step.tools)))
                step = dialog.send(next(replies))
            else:
                assert call is not None
                step = dialog.send(call(step.texts))
        except StopIteration as end:
            return sent, end.value.prediction


def chosen(samples: Sequence[Sample], category: str) -> Sequence[Sample]:
    count = 4 if "multi_turn" in category else 26 if category == "format_sensitivity" else 8
    return samples if ALL else random.Random(7).sample(list(samples), min(count, len(samples)))


@pytest.mark.parametrize("pipeline", ["function-calling", "prompt"])
@pytest.mark.parametrize("category", ASKED)
def test_requests_are_those_of_the_published_code(category: str, pipeline: str) -> None:
    code, folder = official(), installed_folder()
    if code is None or folder is None:
        pytest.skip("bfcl_eval is not installed (pip install --no-deps bfcl-eval)")
    if category == "format_sensitivity" and pipeline != "prompt":
        return
    samples = list(read_category(folder / "data", category))
    with redirect_stdout(StringIO()):
        entries = {entry["id"]: entry for entry in code.utils.load_dataset_entry(category)}
    assert len(samples) == len(entries)
    picked = chosen(samples, category)
    box = ASKING.open_tools(picked, None)
    try:
        for sample in picked:
            theirs = published(
                code, deepcopy(entries[sample.id]), pipeline, scripted(sample, pipeline, sample.id)
            )
            own = ours(sample, pipeline, scripted(sample, pipeline, sample.id), box)
            assert not isinstance(theirs[1], Exception), (sample.id, theirs[1])
            assert as_text(own) == as_text(theirs), sample.id
    finally:
        if box is not None:
            box.close()


def as_text(sent: Any) -> str:
    """All of it as text, in which the order of keys counts too."""
    return json.dumps(sent)
