"""Pipelines: what they ask, never from gold, and what they make of replies; demonstrations and tools."""

import json
import random
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planner_eval.base.errors import InputError
from planner_eval.base.resources import folder
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.execution.sandbox.sandbox import Sandbox
from planner_eval.execution.tool_sources import tool_source
from planner_eval.models.cache import request_text
from planner_eval.models.pipelines.candidates import ToolChoice, gold_tools
from planner_eval.models.pipelines.demonstrations import USED_OPTIONS, ShotOptions
from planner_eval.models.pipelines.pipeline import OWN_TASKS, Observations, Request, visible_task
from planner_eval.models.pipelines.registry import DEFAULT_PIPELINES, PIPELINES, pipeline
from planner_eval.models.pipelines.replies import read_reply, read_step
from planner_eval.models.pipelines.setup import Example, Setup, messages_of, our_prompts, read_prompts
from planner_eval.models.pipelines.tool_lists import dialect_example
from planner_eval.models.predict.prepare import Prepared, prepare_run
from planner_eval.models.predict.tasks import Tasks
from planner_eval.models.replies import Reply, ToolCall
from planner_eval.reading import dialects
from planner_eval.reading.dialects.read import parse
from tests import prediction_samples as made
from tests.build import jsonl as written
from tests.conftest import ROOT, tabled
from tests.memory import slowness
from tests.test_predict import planeval

SETUP = Setup()


def called(name: str, arguments: Any, text: str = "") -> Reply:
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return Reply(text, (ToolCall("c1", name, written),), finish_reason="tool_calls")


def run(name: str, sample: Sample, form: str, *replies: str | Reply, setup: Setup = SETUP) -> Any:
    return made.through(PIPELINES[name].steps(made.task_of(sample, form), setup), made.listed(*replies))


def first(form: str) -> Sample:
    return made.own_samples(form)[0]


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
    name = next(iter(made.tool_names(task)))
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


@pytest.mark.parametrize(("name", "form"), made.FORMS, ids=lambda value: str(value))
def test_prompts_are_golden(name: str, form: str, request: pytest.FixtureRequest) -> None:
    shown = []
    for sample in made.own_samples(form)[:3]:
        task = made.task_of(sample, form)
        requests, _, _ = made.through(PIPELINES[name].steps(task, SETUP), scripted(form, task))
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
    names = list(made.tool_names(task))

    def reply(request: Request, number: int) -> Reply:
        name, words = draw.choice(names), draw.choice(WORDS)
        kinds = [called(name, {"a": draw.randrange(9)}, words), Reply(f'["{name}"]'), Reply(words)]
        kinds += [Reply(f"Action: {name}\nAction Input: {{}}"), Reply(words)]
        return draw.choice(kinds) if number < 6 else Reply(words)

    return reply


def requests_of(name: str, sample: Sample, form: str, seed: str, setup: Setup) -> list[str]:
    task = made.task_of(sample, form)
    requests, _, _ = made.through(PIPELINES[name].steps(task, setup), wild(seed, task))
    return [request_text(each.messages, each.tools, **each.sampling, stage=each.stage) for each in requests]


DEMO = '{"API": ["a"], "parameters": [{}]}'
PLAYED = '[{"name": "a", "arguments": {}, "saw": 1}]'


def hold_the_law(name: str, form: str, samples: list[Sample]) -> None:
    """Everything that may not be seen is replaced: each request stays what it was, to the byte."""
    for sample in samples:
        others = [Setup(history="own")] if name == "dialog" else []
        shown = Example("q", PLAYED if name == "react" else DEMO)
        for setup in (*others, SETUP, Setup(official=True, examples=(shown,), shots=1)):
            for seed in ("1", "2"):
                real = requests_of(name, sample, form, seed, setup)
                assert real == requests_of(name, made.without_gold(sample, form), form, seed, setup)
                assert real


@pytest.mark.parametrize(("name", "form"), made.FORMS, ids=lambda value: str(value))
def test_gold_never_reaches_a_prompt(name: str, form: str) -> None:
    hold_the_law(name, form, made.own_samples(form))


def test_the_law_would_notice_gold() -> None:
    sample = first("callnavi")
    assert made.without_gold(sample, "callnavi").gold != sample.gold
    leaking = visible_task(Sample(sample.id, f"{sample.query} {sample.gold}", sample.tools), "callnavi")
    (asked,), _, _ = made.through(PIPELINES["flat"].steps(leaking, SETUP), made.listed(""))
    assert str(sample.gold) in asked.messages[0]["content"]


def test_a_task_holds_no_more_than_may_be_seen() -> None:
    mark = "canary-7c1"
    for form in DEFAULT_PIPELINES:
        sample = first(form)
        extra = {key: sample.extra[key] for key in ("messages", "visible") if key in sample.extra} | {
            mark: mark
        }
        marked = Sample(mark, sample.query, sample.tools, {mark: mark}, mark, mark, extra)
        task = visible_task(marked, form)
        assert mark not in repr([task, task.visible])


def test_tools_and_references_are_told_as_it_is_asked_for() -> None:
    for way in ("json", "docstring", "lines", "yaml"):
        (asked,), _, _ = run(
            "flat", first(OWN_TASKS), OWN_TASKS, "", setup=Setup(listing=way, dialect="hermes")
        )
        assert "get_rate" in asked.messages[0]["content"]
        assert "<tool_call>" in asked.messages[0]["content"]
    with pytest.raises(InputError, match="here; expected one of json, docstring, python, yaml"):
        run("flat", first("callnavi"), "callnavi", "", setup=Setup(listing="lines"))
    sample = first("nestful")
    (plain,), _, _ = run("flat", sample, "nestful", "")
    (more,), _, _ = run("flat", sample, "nestful", "", setup=Setup(explain_references=True))
    assert ".result$" not in plain.messages[0]["content"]
    assert "$var_1.result$" in more.messages[0]["content"]
    (asked,), _, _ = run("flat", sample, "nestful", "", setup=Setup(official=True))
    assert json.dumps(json.dumps(sample.tools)) in asked.messages[0]["content"]


@tabled("text, apps, unknown")
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


@tabled("text")
def test_calls_with_small_faults_are_calls(text: str) -> None:
    sample = made.own_samples("functionchat")[0]
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
    (asked,), _, outcome = run("function-calling", first(OWN_TASKS), OWN_TASKS, called("roll-dice", {}))
    assert [tool["function"]["name"] for tool in asked.tools] == ["get_rate", "roll-dice"]
    assert outcome.prediction["tool_calls"][0]["function"]["name"] == "roll.dice"


def test_a_conversation_goes_on_until_nothing_is_called_or_it_is_over() -> None:
    replies = (called("get_rate", {"cur": "EUR"}), called("get_rate", "{"), "1.1")
    setup = Setup(makes_calls=True)
    requests, acts, outcome = run("function-calling", first(OWN_TASKS), OWN_TASKS, *replies, setup=setup)
    assert [len(each.messages) for each in requests] == [1, 3, 5]
    assert acts[1].calls[0].arguments is None
    assert [m["role"] for m in outcome.prediction] == ["assistant", "tool", "assistant", "tool", "assistant"]
    assert requests[1].messages[2] == {"role": "tool", "tool_call_id": "c1", "content": '{"seen": "0.0"}'}
    assert outcome.stop == "answered"
    sample = first("complexfuncbench")
    again = called("f", {})
    requests, _, outcome = run("stepwise", sample, "complexfuncbench", again, setup=Setup(steps=3))
    assert (len(requests), outcome.stop, outcome.error.code) == (3, "max_turns", "max_turns")
    steps = PIPELINES["stepwise"].steps(made.task_of(sample, "complexfuncbench"), SETUP)
    requests, _, outcome = made.through(
        steps, made.listed(again), lambda act, number: Observations(over=True)
    )
    assert (len(requests), outcome.stop) == (1, "over")
    assert outcome.prediction[-1]["tool_calls"][0]["function"]["name"] == "f"


@tabled("text")
def test_steps_are_read_as_models_write_them(text: str) -> None:
    _, acts, _ = run("react", first("nestful"), "nestful", text, "Final Answer: x")
    assert acts[0].calls[0].arguments == {"arg_0": 1}


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
    assert all(pipeline(name, form) for form, name in DEFAULT_PIPELINES.items())


SAMPLES = folder("data") / "samples"
NESTFUL = ["predict", str(SAMPLES / "nestful"), "--benchmark", "nestful", "--dry-run"]
CALLNAVI = ["predict", str(SAMPLES / "callnavi"), "--benchmark", "callnavi", "--dry-run"]


def prompts_in(folder: Path, texts: dict[str, str]) -> str:
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return str(folder)


def refused(*argv: str) -> str:
    done = planeval(*argv)
    assert (done.returncode, done.stdout) == (2, "")
    return done.stderr


def asked(*argv: str) -> list[dict[str, Any]]:
    done = planeval(*argv)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def said(request: dict[str, Any]) -> str:
    return "\n".join(message["content"] for message in request["messages"])


def test_demonstrations_of_a_file_are_chosen_by_questions_and_structures(tmp_path: Path) -> None:
    demos = [
        ("Roll the dice once", '[{"name": "roll.dice", "arguments": {}}]'),
        ("Roll the dice", '[{"name": "roll.dice", "arguments": {"n": 1}}]'),
        ("What is the rate", '[{"name": "get_rate", "arguments": {}}, {"name": "f", "arguments": {}}]'),
    ]
    records = [{"id": n, "query": q, "gold": a} for n, (q, a) in enumerate(demos)]
    tasks = written(tmp_path / "tasks.jsonl", [{"query": "Roll the dice twice", "tools": made.OWN_TOOLS}])
    base = ["predict", tasks, "--dry-run", "--demos", written(tmp_path / "demos.jsonl", records), "--shots"]
    (text,) = map(said, asked(*base, "2"))
    assert text.index("Roll the dice once") < text.index("Roll the dice\n")
    assert "What is the rate" not in text
    (text,) = map(said, asked(*base, "2", "--run", "demo-by=structure"))
    assert ("What is the rate" in text, "Roll the dice once" in text) == (True, False)
    (text,) = map(said, asked(*base, "1", "--dialect", "appbench"))
    assert "Output: roll.dice(#n=1)" in text
    drawn = set()
    for seed in range(9):
        (text,) = map(said, asked(*base, "1", "--run", "demo-by=random", "--seed", str(seed)))
        drawn.add(tuple(q for q, _ in demos if q + "\n" in text))
    assert len(drawn) > 1


@tabled("argv, what")
def test_choices_that_cannot_be_made_are_told(argv: list[str], what: str) -> None:
    assert what in refused(*NESTFUL, *argv)


def test_nestful_s_published_prompts_become_the_messages_that_they_stand_for(tmp_path: Path) -> None:
    """Texts of our own in the layout of a clone: tokens of turns, braces doubled or not."""
    head, end = "<|start_header_id|>{}<|end_header_id|>\n\n", "<|eot_id|>"
    told = 'Form [{{"name"}}]:\n{FUNCTION_STR}\n{ICL_EXAMPLES}'
    turns = [head.format("system"), told, end, head.format("user"), "{QUERY}", end, head.format("assistant")]
    texts = {
        "Own-3.1": "<|begin_of_text|>" + "".join(turns) + "'", "no prompt": "{QUERY}",
        "single": '[INST] Form {x: [{"name"}]} {FUNCTION_STR} {ICL_EXAMPLES} {QUERY} [/INST]',
        "Hermes-2-Pro-Mistral-7B": "<|im_start|>system\n{FUNCTION_STR} {ICL_EXAMPLES}<|im_end|>\n"
        "<|im_start|>user\n{QUERY}<|im_end|>",
        "xLAM-1b-fc-r": "{FUNCTION_STR} {ICL_EXAMPLES} {QUERY}",
    }  # fmt: skip
    prompts_in(tmp_path, {"src/PROMPTS.json": json.dumps(texts)})
    base = [
        *NESTFUL,
        "--limit",
        "1",
        "--run",
        f"prompts={tmp_path!s}",
        "--shots",
        "2",
        "--run",
        "demo-by=first",
    ]
    first, *others = made.own_samples("nestful")

    def messages(name: str) -> list[dict[str, str]]:
        return asked(*base, "--run", f"prompts-for={name}")[0]["messages"]

    system, user = messages("hub/own-3.1")
    prompt, tools = system["content"], json.dumps(first.tools)
    assert (system["role"], user) == ("system", {"role": "user", "content": first.query})
    assert prompt.startswith(f'Form [{{"name"}}]:\n{tools}\n')
    places = [prompt.index(f"Input: {one.query}\nOutput: {json.dumps(one.gold)}") for one in others]
    assert places == sorted(places)
    (user,) = messages("single")
    assert user["content"].startswith(f'Form {{x: [{{"name"}}]}} {tools}')
    assert user["content"].endswith(first.query)
    assert "<tool_call> {" in messages("Hermes-2-Pro-Mistral-7B")[0]["content"]
    assert 'Output: {"tool_calls": [{' in messages("xLAM-1b-fc-r")[0]["content"]
    for name in ("no prompt", "bloom"):
        assert f"has no prompt for {name!r}" in refused(*base, "--run", f"prompts-for={name}")
    assert "name one with --run prompts-for" in refused(*base)
    prompts_in(tmp_path, {"src/PROMPTS.json": "[1]"})
    assert "expected an object of texts with {FUNCTION_STR}" in refused(*base)


def test_all_of_nestful_s_published_prompts_are_read(reference: Path) -> None:
    place = reference / "prompts" / "nestful"
    for name in json.loads((place / "PROMPTS.json").read_text(encoding="utf-8")):
        prompts = read_prompts(place, name)
        assert (prompts.published_for, prompts.origins["nestful/plan"].split()[0]) == (name, name)
        found = messages_of(prompts.texts["nestful/plan"], tools="T7S", examples="S7N", query="Q7D")
        text = "\n".join(message["content"] for message in found)
        assert text.count("T7S") == text.count("S7N") == text.count("Q7D") == 1
        assert found[-1]["role"] == "user"
        assert "|>" not in text.replace("<|function_call_library|>", "")
        assert "{{" not in text


def test_a_text_without_a_place_for_demonstrations_is_said(tmp_path: Path) -> None:
    argv = [*CALLNAVI, "--prompts", prompts_in(tmp_path, {"callnavi/plan.txt": "{tools} {query}"})]
    assert asked(*argv)
    assert "callnavi/plan.txt of --run prompts has no {examples}" in refused(*argv, "--shots", "1")


def test_a_broken_prompt_of_another_pipeline_stops_no_run(tmp_path: Path) -> None:
    texts = {"callnavi/plan.txt": "MINE {tools} {query}", "callnavi/route.txt": "no field"}
    place = prompts_in(tmp_path, texts | {"own/react.txt": "", "PROMPTS.json": "[half"})
    (tmp_path / "own" / "react.txt").write_bytes(b"\xff\xfe")
    how = [*CALLNAVI, "--run", f"prompts={place}"]
    assert all(said(one).startswith("MINE [") for one in asked(*how, "--pipeline", "flat"))
    for name in ("route", "route-then-fill"):
        assert "route.txt lacks the placeholder {tools}" in refused(*how, "--pipeline", name)
    why = "holds no prompt that backward asks callnavi with: expected callnavi/backward.txt"
    assert why in refused(*how, "--pipeline", "backward")
    assert "PROMPTS.json: " in refused(*NESTFUL, "--run", f"prompts={place}", "--run", "prompts-for=m")


def test_a_prompt_that_nobody_reads_is_told(tmp_path: Path) -> None:
    names = ("callnavi/plan.txt", "callnavi/rout.txt", "callnavi/zzz.txt", "backward.txt")
    others = {"callnavi/README.md": "These are mine.", "requirements.txt": "openai"}
    prompts_in(tmp_path, dict.fromkeys(names, "{tools} {query}") | others)
    done = planeval(*CALLNAVI, "--run", f"prompts={tmp_path!s}")
    assert done.returncode == 0
    wrong = [("backward.txt", "; did you mean callnavi/backward.txt?")]
    wrong += [("callnavi/rout.txt", "; did you mean callnavi/route.txt?"), ("callnavi/zzz.txt", "")]
    assert done.stderr.splitlines()[:-1] == [
        f"{tmp_path / name} is not used: there is no prompt {name}{meant}" for name, meant in wrong
    ]


def test_a_copy_of_our_prompts_asks_what_ours_ask(tmp_path: Path) -> None:
    shutil.copytree(folder("data") / "prompts", tmp_path / "my")
    assert asked(*NESTFUL, "--prompts", str(tmp_path / "my")) == asked(*NESTFUL)


@pytest.mark.parametrize("name", dialects.names())
def test_the_example_of_a_notation_calls_no_tool_on_offer(name: str) -> None:
    example = dialects.get(name).example
    before = parse(example, dialect=name)
    assert dialect_example(name, []) == dialect_example(name, ["brew_tea"]) == example
    called = [call.name for call in before.calls]
    offered = [*called, "brew_tea", *(call.tool for call in before.calls)]
    after = parse(dialect_example(name, offered), dialect=name)
    assert not {one for call in after.calls for one in (call.name, call.tool)} & {*offered}
    assert len({call.name for call in after.calls}) == len({*called})
    assert [call.arguments for call in after.calls] == [call.arguments for call in before.calls]


GOLD = '[{"name": "add", "arguments": {"arg_0": 1, "arg_1": 2}}]'


def all_requests(ready: Prepared, at: int) -> list[str]:
    task = ready.tasks[at]
    assert not isinstance(task, str)
    with Sandbox(tool_source("nestful"), level="inline") as box:
        begun = ready.jobs(box if ready.pipeline.name == "react" else None)[at].begin()
        requests, _, _ = made.through(begun, scripted(ready.form, task))
    return [request_text(each.messages, each.tools, **each.sampling) for each in requests]


@pytest.mark.parametrize("by", ["query", "structure", "random", "first"])
@pytest.mark.parametrize(("name", "form"), sorted(USED_OPTIONS))
def test_no_gold_in_a_prompt_with_demonstrations(name: str, form: str, by: str, tmp_path: Path) -> None:
    samples = made.own_samples(form)
    demos = [{"query": f"{s.query} {n}", "gold": GOLD} for n, s in enumerate(samples)]
    source = written(tmp_path / "demos.jsonl", demos) if form == "own" else str(SAMPLES / form)
    for at, sample in enumerate(samples):
        other = replace(made.without_gold(sample, form), gold=samples[at - 1].gold)
        bare = [*samples[:at], other, *samples[at + 1 :]]
        for where in {source, source if form == "own" else None}:
            shots = ShotOptions(1, by, where)
            first, second = (
                all_requests(prepare_run(Tasks(form, list(each)), pipeline=name, shots=shots), at)
                for each in (samples, bare)
            )
            assert first == second


def offered(request: dict[str, Any]) -> list[str]:
    text = said(request)
    line = next(one for one in text.splitlines() if one.startswith("[{"))
    return [tool["name"] for tool in json.loads(line)]


@pytest.mark.parametrize("closeness", ["random", "close", "same-signature"])
def test_appbench_s_tools_are_its_apps(closeness: str, tmp_path: Path) -> None:
    catalogue = tmp_path / "catalogue.json"
    catalogue.write_text(json.dumps(made.appbench_catalogue()))
    argv = ["predict", str(SAMPLES / "appbench"), "--benchmark", "appbench", "--dry-run", "--pipeline"]
    argv += ["flat", "--catalog", str(catalogue)]
    golds = {sample.id: set(sample.gold["used_app"]) for sample in made.own_samples("appbench")}
    for request in asked(*argv, "--run", "distractors=1", "--run", f"closeness={closeness}"):
        names = [app for app in made.CATALOG if f"\n{app}: {{'desc'" in said(request).replace(" \n\n ", "\n")]
        assert golds[request["id"]] < set(names), request["id"]
        assert len(names) == len(golds[request["id"]]) + 1
    done = planeval(*argv, "--run", "budget=60")
    assert "tokens with gold's tools alone, and --run budget is 60" in done.stdout + done.stderr


def test_tools_of_one_s_own_are_chosen_by_the_gold_of_their_file(tmp_path: Path) -> None:
    object_ = {"type": "object", "properties": {"a": {"type": "string"}}}
    tools = [{"name": f"tool{n}", "description": f"does {n}", "parameters": object_} for n in range(9)]
    catalog = tmp_path / "tools.json"
    catalog.write_text(json.dumps(tools))
    golds = ('[{"name": "tool3", "arguments": {}}]', "[]", None)
    tasks = [{"id": id, "query": "What?", "gold": gold} for id, gold in zip("xyz", golds, strict=True)]
    file = written(tmp_path / "tasks.jsonl", tasks)
    base = ["predict", file, "--catalog", str(catalog), "--dry-run", "--distractors"]
    done = planeval(*base, "2")
    x, y, z = map(json.loads, done.stdout.splitlines())
    assert done.returncode == 1
    assert (len(offered(x)), "tool3" in offered(x), len(offered(y))) == (3, True, 2)
    assert "'z' has no gold plan" in z["error"]["message"]
    assert offered(json.loads(planeval(*base, "0").stdout.splitlines()[0])) == ["tool3"]
    written(tmp_path / "tasks.jsonl", tasks[2:])
    assert "gold" in refused(*base, "2")


def test_what_distractors_add_depends_on_gold_s_tools_alone() -> None:
    """Other values, other order of calls, other ids: the same requests."""

    def bare(sample: Sample, form: str) -> Sample:
        names = sorted(gold_tools(sample, form), reverse=True)
        nestful = [{"name": name} for name in names]
        gold = {"appbench": {"used_app": names}, "nestful": nestful, "callnavi": {"API": names}}[form]
        return replace(made.without_gold(sample, form), gold=gold)

    for form in ("appbench", "nestful", "callnavi"):
        samples = made.own_samples(form)
        others = [bare(one, form) for one in samples]
        for closeness in ("random", "close", "same-signature"):
            choice = ToolChoice(1, closeness)
            real, other = (
                prepare_run(Tasks(form, each), pipeline="flat", choice=choice) for each in (samples, others)
            )
            for at in range(len(samples)):
                assert all_requests(real, at) == all_requests(other, at)


@pytest.mark.parametrize("closeness", ["random", "close", "same-signature"])
def test_gold_s_tools_are_on_offer_with_as_many_others(closeness: str) -> None:
    gold = {sample.id: gold_tools(sample, "nestful") for sample in made.own_samples("nestful")}
    orders, places = set(), set()
    for seed in "0123456789":
        argv = [*NESTFUL, "--run", "distractors=1", "--run", f"closeness={closeness}", "--seed", seed]
        found = asked(*argv)
        assert seed != "0" or found == asked(*argv)
        for request in found:
            names = offered(request)
            assert gold[request["id"]] < set(names)
            assert len(names) == len(set(names)) == len(gold[request["id"]]) + 1
        names = offered(found[0])
        orders.add(tuple(names))
        places.add(names.index(min(gold[found[0]["id"]])))
    assert len(orders) > 1
    assert places == set(range(len(names)))


def tool(name: str, described: str, *parameters: str) -> dict[str, Any]:
    return {"name": name, "description": described, "parameters": dict.fromkeys(parameters, "string")}


def test_a_budget_leaves_others_out_and_never_gold() -> None:
    gold = {sample.id: gold_tools(sample, "nestful") for sample in made.own_samples("nestful")}
    sizes = []
    for budget in ("200", "400", "100000"):
        found = asked(*NESTFUL, "--run", f"budget={budget}", "--id", next(iter(gold)))
        assert gold[found[0]["id"]] <= set(offered(found[0]))
        sizes.append(len(offered(found[0])))
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[2] == len(made.own_samples("nestful")[0].tools)


def test_fewer_others_than_are_asked_for_are_told_once(tmp_path: Path) -> None:
    enough, short = (planeval(*CALLNAVI, "--run", f"distractors={count}") for count in ("1", "40"))
    assert (enough.returncode, short.returncode) == (0, 0)
    assert enough.stderr == "3 samples, 4,164 characters in first requests; nothing was sent\n"
    told = "--run distractors=40: 3 of 3 samples get fewer, of all other tools: "
    assert short.stderr.startswith(f"{told}hr01 2 of 2, hr02 1 of 1, hr03 1 of 1\n")
    got = [[json.loads(line)["distractors"] for line in one.stdout.splitlines()] for one in (enough, short)]
    assert got == [[1, 1, 1], [2, 1, 1]]
    one = planeval(*NESTFUL, "--run", "distractors=2", "--run", "budget=300", "--id", "half")
    told = "1 of 1 sample gets fewer, of all other tools: half 1 of 2 for --run budget=300\n"
    assert told in one.stderr
    tools = [{"name": f"tool{n}", "description": "does"} for n in range(4)]
    tasks = [{"id": n, "query": "?", "gold": f"[tool{n % 2}()]", "tools": tools} for n in range(6)]
    own = planeval("predict", written(tmp_path / "tasks.jsonl", tasks), "--dry-run", "--run", "distractors=9")
    assert "6 of 6 samples get fewer" in own.stderr
    assert ": 0 3 of 3, 1 3 of 3, 2 3 of 3, 3 more samples 3\n" in own.stderr
