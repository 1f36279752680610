"""Pipelines: what they ask, never from gold; what they make of replies, good and bad."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planner_eval.base.errors import InputError
from planner_eval.datasets.sample import Sample
from planner_eval.llm import Reply, ToolCall
from planner_eval.llm.kept import request_text
from planner_eval.prediction.pipeline import Observed, Request
from planner_eval.prediction.reading import read_reply, read_step
from planner_eval.prediction.registry import PIPELINES, USUAL, pipeline
from planner_eval.prediction.setup import Example, Setup, our_prompts, read_prompts
from planner_eval.prediction.visible import OWN, visible
from tests.conftest import ROOT
from tests.memory import slowness
from tests.prediction_samples import (
    FORMS,
    OWN_TOOLS,
    appbench_catalogue,
    listed,
    own_samples,
    published_samples,
    task_of,
    through,
    tool_names,
    without_gold,
)

SETUP = Setup()


def called(name: str, arguments: Any, text: str = "") -> Reply:
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return Reply(text, (ToolCall("c1", name, written),), finish_reason="tool_calls")


def run(name: str, sample: Sample, form: str, *replies: str | Reply, setup: Setup = SETUP) -> Any:
    return through(PIPELINES[name].steps(task_of(sample, form), setup), listed(*replies))


def first(form: str) -> Sample:
    return own_samples(form)[0]


def as_text(request: Request) -> str:
    head = [f"stage {request.stage}", *(["router"] if request.router else [])]
    head += [f"{name} {value!r}" for name, value in request.sampling.items()]
    parts = [f"=== {', '.join(head)}"]
    for message in request.messages:
        content = message.get("content")
        beside = {key: value for key, value in message.items() if key not in ("role", "content")}
        parts += [f"--- {message['role']}{' ' + json.dumps(beside) if beside else ''}", str(content)]
    if request.tools:
        parts += ["--- tools", *(json.dumps(tool, ensure_ascii=False) for tool in request.tools)]
    return "\n".join(parts)


def scripted(form: str, task: Any) -> Callable[[Request, int], Reply]:
    """Replies that lead through every stage: names, lines, calls, and an end."""
    name = next(iter(tool_names(task)))
    named = "[Trams, Library]" if form == "appbench" else f'["{name}"]'
    step = f"Thought: a\nAction: {name}\nAction Input: {{}}\nObservation: 7"
    said = {
        "apps": named, "route": named, "agent": "[ticket = ride(#to=?)]",
        "agent-again": "[ticket = ride(#to=branch)]"
    }  # fmt: skip

    def reply(request: Request, number: int) -> Reply:
        if request.stage == "backward":
            return Reply('{"API": [], "parameters": []}' + (" <!stop>" if number == 2 else ""))
        if request.stage == "step":
            return Reply("Final Answer: 7" if number else step)
        if request.stage == "call" and not number:
            return called(request.tools[0]["function"]["name"] if request.tools else "f", {"a": 1})
        return Reply(said.get(request.stage, "Done."))

    return reply


@pytest.mark.parametrize(("name", "form"), FORMS, ids=lambda value: str(value))
def test_prompts_are_golden(name: str, form: str, request: pytest.FixtureRequest) -> None:
    shown = []
    for sample in own_samples(form)[:3]:
        task = task_of(sample, form)
        requests, _, _ = through(PIPELINES[name].steps(task, SETUP), scripted(form, task))
        shown.append("\n".join([f"##### {sample.id}", *map(as_text, requests)]))
    found = "\n".join(shown) + "\n"
    path = ROOT / "tests" / "prompts" / f"{name}-{form}.txt"
    if request.config.getoption("--update-cases"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8")


WORDS = [
    "[Trams, Library]", "", "[x = ride(#to=?)]", '{"API": ["a"], "parameters": [{}]} <!stop>',
    "Final Answer: 1"
]  # fmt: skip


def wild(seed: str, task: Any) -> Callable[[Request, int], Reply]:
    """Replies drawn at random, the same for the same seed: texts, names of tools, calls."""
    draw = random.Random(seed)
    names = list(tool_names(task))

    def reply(request: Request, number: int) -> Reply:
        name, words = draw.choice(names), draw.choice(WORDS)
        kinds = [called(name, {"a": draw.randrange(9)}, words), Reply(f'["{name}"]'), Reply(words)]
        kinds += [Reply(f"Action: {name}\nAction Input: {{}}"), Reply(words)]
        return draw.choice(kinds) if number < 6 else Reply(words)

    return reply


def requests_of(name: str, sample: Sample, form: str, seed: str, setup: Setup) -> list[str]:
    task = task_of(sample, form)
    requests, _, _ = through(PIPELINES[name].steps(task, setup), wild(seed, task))
    return [request_text(each.messages, each.tools, **each.sampling, stage=each.stage) for each in requests]


SHOWN = '{"API": ["a"], "parameters": [{}]}'
PLAYED = '[{"name": "a", "arguments": {}, "saw": 1}]'


def hold_the_law(name: str, form: str, samples: list[Sample]) -> None:
    """Everything that may not be seen is replaced: each request stays what it was, to the byte."""
    for sample in samples:
        others = [Setup(history="own")] if name == "dialog" else []
        shown = Example("q", PLAYED if name == "react" else SHOWN)
        for setup in (*others, SETUP, Setup(official=True, examples=(shown,), shots=1)):
            for seed in ("1", "2"):
                real = requests_of(name, sample, form, seed, setup)
                assert real == requests_of(name, without_gold(sample, form), form, seed, setup)
                assert real


@pytest.mark.parametrize(("name", "form"), FORMS, ids=lambda value: str(value))
def test_gold_never_reaches_a_prompt(name: str, form: str) -> None:
    hold_the_law(name, form, own_samples(form))


@pytest.mark.parametrize(("name", "form"), FORMS, ids=lambda value: str(value))
def test_gold_of_published_samples_never_reaches_a_prompt(name: str, form: str, reference: Path) -> None:
    if form in (OWN, "complexfuncbench"):
        pytest.skip("none is at hand")
    samples = published_samples(form, reference)
    hold_the_law(name, form, samples[:: max(1, len(samples) // 40)])


def test_the_law_would_notice_gold() -> None:
    sample = first("callnavi")
    assert without_gold(sample, "callnavi").gold != sample.gold
    leaking = visible(Sample(sample.id, f"{sample.query} {sample.gold}", sample.tools), "callnavi")
    (asked,), _, _ = through(PIPELINES["flat"].steps(leaking, SETUP), listed(""))
    assert str(sample.gold) in asked.messages[0]["content"]


def test_a_task_holds_no_more_than_may_be_seen() -> None:
    mark = "canary-7c1"
    for form in USUAL:
        sample = first(form)
        extra = {key: sample.extra[key] for key in ("messages",) if key in sample.extra} | {mark: mark}
        marked = Sample(mark, sample.query, sample.tools, {mark: mark}, mark, mark, extra)
        assert mark not in repr(visible(marked, form))


def test_tools_and_references_are_told_as_it_is_asked_for() -> None:
    for way in ("json", "docstring", "lines", "yaml"):
        (asked,), _, _ = run("flat", first(OWN), OWN, "", setup=Setup(listing=way, dialect="hermes"))
        assert "get_rate" in asked.messages[0]["content"]
        assert "<tool_call>" in asked.messages[0]["content"]
    with pytest.raises(InputError, match="there are json, docstring, python, yaml"):
        run("flat", first("callnavi"), "callnavi", "", setup=Setup(listing="lines"))
    sample = first("nestful")
    (plain,), _, _ = run("flat", sample, "nestful", "")
    (more,), _, _ = run("flat", sample, "nestful", "", setup=Setup(explain_references=True))
    assert ".result$" not in plain.messages[0]["content"]
    assert "$var_1.result$" in more.messages[0]["content"]
    (asked,), _, _ = run("flat", sample, "nestful", "", setup=Setup(official=True))
    assert json.dumps(json.dumps(sample.tools)) in asked.messages[0]["content"]


@pytest.mark.parametrize(("text", "apps", "unknown"), [
    ("[Trams, Library]", ["Trams", "Library"], []), ("['library', \"TRAMS\"]", ["Trams", "Library"], []),
    ('```json\n["Shops"]\n```', ["Shops"], []), ("<think>[Garden]?</think>\n[Shops]", ["Shops"], []),
    ("- Library\n- Cinema", ["Library"], ["Cinema"]), ("Apps: Library, Trams.", ["Trams", "Library"], [])
])  # fmt: skip
def test_the_apps_that_a_model_names_are_shown(text: str, apps: list[str], unknown: list[str]) -> None:
    requests, _, outcome = run("hierarchical", first("appbench"), "appbench", text, "lines")
    assert (outcome.stages["apps"], outcome.stages["unknown"], outcome.prediction) == (apps, unknown, "lines")
    shown = requests[1].messages[0]["content"]
    assert [app for app in ("Trams", "Library", "Shops", "Garden") if f"{app}: {{'desc'" in shown] == apps
    assert outcome.beside == {"first_step_apps": apps}


def test_a_first_stage_without_an_app_is_asked_otherwise_and_then_given_up() -> None:
    requests, _, outcome = run("hierarchical", first("appbench"), "appbench", *["none"] * 5, "lines")
    assert [request.sampling.get("seed") for request in requests] == [None, 1, 2, 3, 4, None]
    assert [request.sampling.get("temperature") for request in requests] == [None, *[0.5] * 4, None]
    assert outcome.stages["fallback"] == "all_apps"
    assert outcome.stages["apps"] == ["Trams", "Library", "Shops", "Garden"]


def test_the_official_first_stage_finds_apps_by_substring_and_character() -> None:
    every = ["Trams", "Library", "Shops", "Garden"]
    for text, apps in (("no Trams here", ["Trams"]), ('["zz"]', every), ("gg b", ["Library"])):
        _, _, outcome = run(
            "hierarchical", first("appbench"), "appbench", text, "", setup=Setup(official=True)
        )
        assert outcome.stages["apps"] == apps


def test_the_published_catalogue_is_shown_as_published(reference: Path) -> None:
    from planner_eval.prediction.listing import app_catalogue, app_lines

    data = json.loads((reference / "datasets" / "appbench" / "catalogue.json").read_text(encoding="utf-8"))
    assert (len(app_lines(data)), len(app_catalogue(data))) == (1_237, 34_271)
    assert app_catalogue(data, ["Weather"]).startswith(
        "Weather: {'desc': 'check the weather for any place and any date', 'base_required_arguments': {}, "
        "'APIs': {'getweather': {'desc': 'get the weather of a certain location on a date', "
        "'is_transactional': False, "
        "'additional_required_arguments': {'city (str)': 'name of the city'}"
    )


def test_the_router_s_names_are_all_that_the_second_request_shows() -> None:
    requests, _, outcome = run(
        "route-then-fill", first("callnavi"), "callnavi", "['swapShift', 'fly', 'getShift', 'swapShift']",
        "{}"
    )  # fmt: skip
    assert [request.router for request in requests] == [True, False]
    shown = requests[1].messages[0]["content"]
    assert shown.index('"swapShift"') < shown.index('"getShift"')
    assert shown.count('"swapShift"') == 1
    assert "countHours" not in shown
    assert outcome.stages["unknown"] == ["fly"]
    assert outcome.stages["route"] == ["swapShift", "getShift", "swapShift"]


@pytest.mark.parametrize("text", ["", "I cannot.", "[]", '["fly"]'])
def test_no_route_is_an_answer_that_says_so(text: str) -> None:
    requests, _, outcome = run("route-then-fill", first("callnavi"), "callnavi", text)
    assert len(requests) == 1
    assert (outcome.prediction, outcome.error.code) == ("", "no_route")


def test_backward_is_one_chat_that_ends_at_the_stop_word() -> None:
    def said(*replies: str, setup: Setup = SETUP) -> tuple[Any, ...]:
        requests, _, outcome = run("backward", first("callnavi"), "callnavi", *replies, setup=setup)
        return len(requests), outcome.prediction, outcome.stop

    requests, _, _ = run("backward", first("callnavi"), "callnavi", "A", "B", "C <!stop> ", "D")
    assert [len(request.messages) for request in requests] == [1, 3, 5]
    assert [m["content"] for m in requests[2].messages if m["role"] == "assistant"] == ["A", "B"]
    assert said("A", "B", "C <!stop> ", "D") == (3, "C", "stop_word")
    for bare in ("<!stop>", " <!stop>\n", "<!stop><!stop>"):
        assert said("A", "B", bare, "D") == (3, "B", "stop_word")
        assert said("A <!stop>", bare)[1:] == ("A", "stop_word")
        assert said("A", bare, setup=Setup(official=True))[1] == ""
    assert said("A", "B", "") == (6, "B", "max_rounds")
    assert said("A", setup=Setup(official=True))[1] == ""


def test_calls_in_a_fence_are_calls_and_prose_is_none() -> None:
    sample = first("functionchat")
    fenced = 'Gern.\n```json\n{"name": "order_seeds", "arguments": {"plant": "dill", "grams": 5}}\n```'
    _, _, outcome = run("dialog", sample, "functionchat", fenced)
    (call,) = outcome.prediction["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"plant": "dill", "grams": 5}
    assert outcome.stages["calls_from"] == "text"
    prose = "I could call order_seeds(plant='dill', grams=5) for you. Shall I?"
    for text in (prose, "Which plant?", "", '{"name": "launch", "arguments": {}}'):
        _, _, outcome = run("dialog", sample, "functionchat", text)
        assert outcome.prediction == {"role": "assistant", "content": text}
        assert outcome.stages["calls_from"] == ""
    _, _, outcome = run("dialog", sample, "functionchat", '{"name": "Order_Seeds", "arguments": {}}')
    assert outcome.prediction["tool_calls"][0]["function"]["name"] == "Order_Seeds"
    reply = called("order_seeds", '{"plant": "dill', "I order.")
    _, _, outcome = run("dialog", sample, "functionchat", reply)
    assert outcome.prediction["content"] == "I order."
    assert outcome.prediction["tool_calls"][0]["function"]["arguments"] == '{"plant": "dill'


@pytest.mark.parametrize("text", [
    '{"name": "order_seeds", "arguments": {"grams": 5}}, {"name": "water", "arguments": {}}',
    '```json\n{"name": "order_seeds", "arguments": {}},\n{"name": "water", "arguments": {}}\n```',
    "[{'name': 'order_seeds', 'arguments': {'grams': 5}}, {'name': 'water', 'arguments': {},}]"
])  # fmt: skip
def test_calls_with_small_faults_are_calls(text: str) -> None:
    sample = own_samples("functionchat")[0]
    tools = [{"type": "function", "function": {"name": name}} for name in ("order_seeds", "water")]
    _, _, outcome = run("dialog", replace(sample, tools=tools), "functionchat", text)
    assert [call["function"]["name"] for call in outcome.prediction["tool_calls"]] == ["order_seeds", "water"]


@pytest.mark.parametrize("text", ["{" + "}, {" * 30_000, "```" + " " * 90_000 + "x", "{},{ " * 20_000 + "}x"])
def test_long_texts_that_are_nearly_calls_are_read_in_time(text: str) -> None:
    started = time.process_time()
    assert (read_reply(Reply(text), {"f": "f"}).calls, read_step(Reply(text), {"f": "f"}).calls) == ((), ())
    assert time.process_time() - started < 10 * slowness()


def test_nestful_calls_are_labelled_in_order() -> None:
    labelled = '{"label": "$x", "arg_0": "$var_1.result$"}'
    two = (ToolCall("a", "add", '{"arg_0": 1}'), ToolCall("b", "divide", labelled))
    (asked,), _, outcome = run("function-calling", first("nestful"), "nestful", Reply("", two))
    assert json.loads(outcome.prediction) == [
        {"name": "add", "label": "$var_1", "arguments": {"arg_0": 1}},
        {"name": "divide", "label": "$x", "arguments": {"arg_0": "$var_1.result$"}},
    ]
    assert "Returns: result." in asked.tools[0]["function"]["description"]
    (asked,), _, outcome = run("function-calling", first(OWN), OWN, called("roll-dice", {}))
    assert [tool["function"]["name"] for tool in asked.tools] == ["get_rate", "roll-dice"]
    assert outcome.prediction["tool_calls"][0]["function"]["name"] == "roll.dice"


def test_a_conversation_goes_on_until_nothing_is_called_or_it_is_over() -> None:
    replies = (called("get_rate", {"cur": "EUR"}), called("get_rate", "{"), "1.1")
    setup = Setup(makes_calls=True)
    requests, acts, outcome = run("function-calling", first(OWN), OWN, *replies, setup=setup)
    assert [len(each.messages) for each in requests] == [1, 3, 5]
    assert acts[1].calls[0].arguments is None
    assert [m["role"] for m in outcome.prediction] == ["assistant", "tool", "assistant", "tool", "assistant"]
    assert requests[1].messages[2] == {"role": "tool", "tool_call_id": "c1", "content": '{"seen": "0.0"}'}
    assert outcome.stop == "answered"
    sample = first("complexfuncbench")
    again = called("f", {})
    requests, _, outcome = run("stepwise", sample, "complexfuncbench", again, setup=Setup(steps=3))
    assert (len(requests), outcome.stop, outcome.error.code) == (3, "max_turns", "max_turns")
    steps = PIPELINES["stepwise"].steps(task_of(sample, "complexfuncbench"), SETUP)
    requests, _, outcome = through(steps, listed(again), lambda act, number: Observed(over=True))
    assert (len(requests), outcome.stop) == (1, "over")
    assert outcome.prediction[-1]["tool_calls"][0]["function"]["name"] == "f"


TALK = [
    {"role": "user", "content": "Order dill."},
    {"role": "assistant", "content": "How many grams? GOLD"},
    {"role": "user", "content": "Five."},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "random_id", "type": "function", "function": {"name": "order_seeds", "arguments": "GOLD"}}
    ]},
    {"role": "tool", "tool_call_id": "random_id", "name": "order_seeds", "content": "done"},
]  # fmt: skip


def own_talk(*replies: str | Reply) -> Any:
    sample = Sample("x", "Five.", own_samples("functionchat")[0].tools, extra={"messages": TALK})
    return run("dialog", sample, "functionchat", *replies, setup=Setup(history="own"))


def test_own_earlier_turns_stand_in_place_of_the_recorded_ones() -> None:
    replies = ("How much?", called("order_seeds", {"plant": "dill"}), "Ordered.")
    requests, _, outcome = own_talk(*replies)
    assert [each.stage for each in requests] == ["history", "history", "call"]
    assert [len(each.messages) for each in requests] == [2, 4, 6]
    assert "GOLD" not in str(requests)
    assert requests[2].messages[2]["content"] == "How much?"
    assert requests[2].messages[-2]["tool_calls"][0]["id"] == requests[2].messages[-1]["tool_call_id"] == "c1"
    assert outcome.prediction == {"role": "assistant", "content": "Ordered."}


@pytest.mark.parametrize(("replies", "turns", "why"), [
    ((called("order_seeds", {}),), 0, "the user's words, which do not follow: the model called order_seeds"),
    (("How much?", "No."), 1, "a tool's results, which do not follow: the model called nothing"),
    (("How much?", called("water", {})), 1, "the model called water")
])  # fmt: skip
def test_a_conversation_that_leaves_the_record_ends(replies: Any, turns: int, why: str) -> None:
    _, _, outcome = own_talk(*replies)
    assert (outcome.prediction, outcome.stop, outcome.error.code) == ("", "left_record", "left_record")
    assert why in outcome.error.message
    assert outcome.stages == {"own_turns": turns}


def test_react_shows_what_calls_came_to_and_keeps_the_stated_answer_apart() -> None:
    replies = (
        'Thought: add\nAction: add\nAction Input: {"arg_0": 3, "arg_1": 5}\nObservation: 99\nFinal Answer: 9',
        called("divide", {"arg_0": 8, "arg_1": 2}, "Halve it."),
        "Thought: done\n**Final Answer:** 4",
    )
    requests, acts, outcome = run("react", first("nestful"), "nestful", *replies)
    assert [call.name for act in acts for call in act.calls] == ["add", "divide"]
    assert "99" not in str(requests[1].messages)
    assert requests[1].messages[-1] == {"role": "user", "content": 'Observation: {"seen": "0.0"}'}
    assert [m["role"] for m in requests[2].messages[-2:]] == ["assistant", "tool"]
    assert [call["label"] for call in json.loads(outcome.prediction)] == ["$var_1", "$var_2"]
    assert (outcome.stages["final_answer"], outcome.stop) == ("4", "final_answer")
    assert [step.get("saw") for step in outcome.stages["steps"]] == [{"seen": "0.0"}, {"seen": "1.0"}, None]


@pytest.mark.parametrize("text", [
    'Action: `add`\nAction Input: ```json\n{"arg_0": 1}\n```',
    '**Action:** add\n**Action Input:** {"arg_0": 1} and so on', 'action: "add"\naction input: {"arg_0": 1}',
    '```json\n{"name": "add", "arguments": {"arg_0": 1}}\n```',
    '<tool_call>\n{"name": "add", "arguments": {"arg_0": 1}}\n</tool_call>'
])  # fmt: skip
def test_steps_are_read_as_models_write_them(text: str) -> None:
    _, acts, _ = run("react", first("nestful"), "nestful", text, "Final Answer: x")
    assert acts[0].calls[0].arguments == {"arg_0": 1}


def test_agents_see_their_own_apis_and_are_asked_again_for_what_they_lack() -> None:
    def script(request: Request, number: int) -> Reply:
        text = request.messages[0]["content"]
        if request.stage == "apps":
            return Reply("[Trams, Library]")
        if request.stage == "agent":
            assert ("ride" in text) != ("borrow" in text)
            return Reply("[ticket = ride(#to=?)]" if "ride" in text else "[branch = findbook(#title='?')]")
        assert "branch" in text
        return Reply("Trams: [ticket = ride(#to=branch)]" if "ride" in text else "no idea")

    task = task_of(first("appbench"), "appbench")
    requests, _, outcome = through(PIPELINES["isolated"].steps(task, SETUP), script)
    stages = [request.stage for request in requests]
    assert stages[:5] == ["apps", "agent", "agent", "agent-again", "agent-again"]
    lines = "Library: [branch = findbook(#title='?')]\nTrams: [ticket = ride(#to=branch)]"
    assert outcome.prediction == lines
    assert outcome.stages["unknown_values"] == {"Library": ["title"]}
    assert len(stages) == 6  # the second round changes nothing


def test_a_folder_of_prompts_takes_the_place_of_ours(tmp_path: Path) -> None:
    file = tmp_path / "code" / "prompts" / "appbench" / "api_for_all_agent.txt"
    file.parent.mkdir(parents=True)
    file.write_text(" Theirs {app_api_list} \n")
    (tmp_path / "callnavi").mkdir()
    (tmp_path / "callnavi" / "route.txt").write_text("Mine {tools} {query} {unknown}")
    prompts = read_prompts(tmp_path)
    (asked,), _, _ = run("flat", first("appbench"), "appbench", "", setup=Setup(prompts))
    assert asked.messages[0]["content"].startswith(" Theirs Trams: {")
    assert asked.messages[0]["content"].endswith(" \n")
    (asked,), _, _ = run("route", first("callnavi"), "callnavi", "", setup=Setup(prompts))
    assert asked.messages[0]["content"].endswith("{unknown}")
    assert prompts.origins["appbench/plan"].startswith("api_for_all_agent.txt ")
    assert prompts.origins["callnavi/plan"] == "own"


@pytest.mark.parametrize(("name", "form"), FORMS, ids=lambda value: str(value))
def test_a_pipeline_asks_with_the_texts_that_it_names(name: str, form: str) -> None:
    used = PIPELINES[name].serves[form]
    texts = {each: f"<{each}> {our_prompts().texts[each]}" for each in used}
    shown = set()
    for sample in own_samples(form)[:3]:
        task = task_of(sample, form)
        begun = PIPELINES[name].steps(task, Setup(replace(our_prompts(), texts=texts)))
        requests, _, _ = through(begun, scripted(form, task))
        said = json.dumps([request.messages for request in requests])
        shown |= {each for each in used if f"<{each}>" in said}
    assert shown == set(used)


def test_published_prompts_are_read_and_our_words_are_not_theirs(reference: Path) -> None:
    found, other = (read_prompts(reference / "prompts" / name) for name in ("appbench", "functionchat"))
    assert found.notes == other.notes == ()
    assert sum(origin != "own" for origin in found.origins.values()) == 3
    assert other.origins["functionchat/system"] != "own"
    files = [path for path in (reference / "prompts").rglob("*") if path.suffix in (".txt", ".json")]
    theirs = " ".join(" ".join(path.read_text(encoding="utf-8").split()).lower() for path in files)
    for name, text in our_prompts().texts.items():
        for sentence in " ".join(text.split()).replace("- ", ". ").split(". "):
            assert len(sentence) <= 40 or sentence.lower() not in theirs, (name, sentence)


def test_a_pipeline_that_is_none_or_does_not_serve_is_said() -> None:
    with pytest.raises(InputError, match=r"no pipeline 'hierarchial': did you mean 'hierarchical'\?"):
        pipeline("hierarchial", "appbench")
    with pytest.raises(InputError, match="does not serve nestful; flat, function-calling, react do"):
        pipeline("route", "nestful")
    assert all(pipeline(name, form) for form, name in USUAL.items())


def test_a_sample_without_tools_or_question_is_said() -> None:
    with pytest.raises(InputError, match=r"'ss-0' says nothing of the tools .* catalogue\.json"):
        visible(Sample("ss-0", "Where?"), "appbench")
    with pytest.raises(InputError, match="'x' has no question"):
        visible(Sample("x", "", OWN_TOOLS), OWN)
    with pytest.raises(InputError, match="AppBench's catalogue"):
        run("flat", Sample("ss-0", "Where?", [1]), "appbench", "")
    assert appbench_catalogue()["apps"]
