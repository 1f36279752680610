"""What BFCL's questions are asked with, beside the published code, to the byte, where it is installed."""

import ast
import json
import random
import warnings
from collections.abc import Iterator
from contextlib import nullcontext, redirect_stdout
from copy import deepcopy
from dataclasses import replace
from functools import partial
from importlib import import_module
from io import StringIO
from itertools import product
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
from tests.prediction_samples import without_gold
from tests.test_bfcl_multi_turn_live import MODULES, TEXTS, VALUES

ASKED = [name for name, category in CATEGORIES.items() if category.check != "agentic"]


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
    """What we send, and the answer that is kept, of a question without its gold and its name."""
    blind = without_gold(sample, "bfcl")
    question = {
        key: sample.extra["question"].get(key) for key in ("id", "involved_classes", "initial_config")
    }
    told = {"question": question, "package": sample.extra["package"], "visible": sample.extra["visible"]}
    dialog = ASKING.dialog(pipeline, ASKING.visible(blind), blind.tools, None)
    call = None if box is None else ASKING.caller(replace(sample, gold=None, extra=told), box)
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


def compare_requests(category: str, most: int | None) -> None:
    """Compare what questions of a category are asked with, all of them or some, in both ways of asking."""
    code, folder = official(), installed_folder()
    if code is None or folder is None:
        pytest.skip("bfcl_eval is not installed (pip install --no-deps bfcl-eval)")
    samples = list(read_category(folder / "data", category))
    with redirect_stdout(StringIO()):
        entries = {entry["id"]: entry for entry in code.utils.load_dataset_entry(category)}
    assert len(samples) == len(entries)
    picked = samples if most is None else random.Random(7).sample(samples, min(most, len(samples)))
    opened = ASKING.open_tools(picked, None)
    with nullcontext() if opened is None else opened as box:
        for sample, pipeline in product(picked, ("function-calling", "prompt")):
            if ASKING.refusal(sample, pipeline):
                continue
            script = partial(scripted, sample, pipeline, sample.id)
            theirs = published(code, deepcopy(entries[sample.id]), pipeline, script())
            assert not isinstance(theirs[1], Exception), (sample.id, theirs[1])
            # As text, in which the order of keys counts too.
            assert json.dumps(ours(sample, pipeline, script(), box)) == json.dumps(theirs), sample.id


@pytest.mark.parametrize("category", [name for name in ASKED if name != "format_sensitivity"])
def test_requests_are_those_of_the_published_code(category: str) -> None:
    compare_requests(category, 2 if "multi_turn" in category else 5)


@pytest.mark.more
def test_prompts_in_all_formats_are_those_of_the_published_code() -> None:
    compare_requests("format_sensitivity", 100)


@pytest.mark.long
@pytest.mark.parametrize("category", ASKED)
def test_all_requests_are_those_of_the_published_code(category: str) -> None:
    compare_requests(category, None)
