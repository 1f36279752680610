"""planeval predict: demonstrations and the tools on offer, chosen for each sample."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planner_eval import dialects
from planner_eval.base.resources import folder
from planner_eval.datasets.sample import Sample
from planner_eval.dialects.read import parse
from planner_eval.execution import Sandbox, tool_source
from planner_eval.llm.kept import request_text
from planner_eval.prediction.candidates import Choice, gold_tools
from planner_eval.prediction.notation import shown as example_of
from planner_eval.prediction.prepare import Prepared, prepare
from planner_eval.prediction.published import messages_of
from planner_eval.prediction.setup import Setup, read_prompts
from planner_eval.prediction.shots import SHOWN, Shots
from planner_eval.prediction.tasks import Tasks
from tests.prediction_samples import (
    CATALOG,
    OWN_TOOLS,
    appbench_catalogue,
    listed,
    own_samples,
    through,
    without_gold,
)
from tests.test_predict import planeval
from tests.test_prediction import scripted

SAMPLES = folder("data") / "samples"
NESTFUL = ["predict", str(SAMPLES / "nestful"), "--benchmark", "nestful", "--dry-run"]
CALLNAVI = ["predict", str(SAMPLES / "callnavi"), "--benchmark", "callnavi", "--dry-run"]


def written(path: Path, records: list[Any]) -> str:
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return str(path)


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


def test_demonstrations_are_of_other_samples(tmp_path: Path) -> None:
    samples = {sample.id: sample for sample in own_samples("nestful")}
    found = asked(*NESTFUL, "--shots", "2")
    assert len(found) == len(samples) == 3
    for request in found:
        text = said(request)
        assert text.count("#Example-") == 2
        for name, sample in samples.items():
            shown = f"Input: {sample.query}\nOutput: {json.dumps(sample.gold, ensure_ascii=False)}"
            assert (shown in text) == (name != request["id"])


def test_demonstrations_of_a_file_are_chosen_by_questions_and_structures(tmp_path: Path) -> None:
    demos = [
        ("Roll the dice once", '[{"name": "roll.dice", "arguments": {}}]'),
        ("Roll the dice", '[{"name": "roll.dice", "arguments": {"n": 1}}]'),
        ("What is the rate", '[{"name": "get_rate", "arguments": {}}, {"name": "f", "arguments": {}}]'),
    ]
    records = [{"id": n, "query": q, "gold": a} for n, (q, a) in enumerate(demos)]
    tasks = written(
        tmp_path / "tasks.jsonl", [{"id": "t", "query": "Roll the dice twice", "tools": OWN_TOOLS}]
    )
    base = ["predict", tasks, "--dry-run", "--demos", written(tmp_path / "demos.jsonl", records), "--shots"]
    (text,) = map(said, asked(*base, "2"))
    assert text.index("Roll the dice once") < text.index("Roll the dice\n")
    assert "What is the rate" not in text
    (text,) = map(said, asked(*base, "2", "--demo-by", "structure"))
    assert ("What is the rate" in text, "Roll the dice once" in text) == (True, False)
    (text,) = map(said, asked(*base, "1", "--dialect", "appbench"))
    assert "Output: roll.dice(#n=1)" in text
    drawn = set()
    for seed in range(9):
        (text,) = map(said, asked(*base, "1", "--demo-by", "random", "--seed", str(seed)))
        drawn.add(tuple(q for q, _ in demos if q + "\n" in text))
    assert len(drawn) > 1


@pytest.mark.parametrize(("argv", "what"), [
    (["--demos", "x.jsonl"], "--demos applies only with --shots K"),
    (["--shots", "3"], "has 3 demonstrations, and 3 of others are wanted"),
    (["--shots", "1", "--demo-by", "gold-apps"], "for appbench alone"),
    (["--shots", "1", "--pipeline", "function-calling"], "the prompts of function-calling show no demon"),
    (["--shots", "1", "--demos", "no/such"], "no/such: there is no such file"),
    (["--closeness", "close"], "--closeness applies only with --distractors N"),
    (["--seed", "1"], "--seed applies only with"),
    (["--explain-references", "--pipeline", "react"], "applies only to NESTful's prompt of flat, not to"),
    (["--budget", "5"], "tokens with gold's tools alone, and --budget is 5"),
    (["--pipeline", "function-calling", "--list-form", "yaml"], "--list-form applies only to prompts that"),
    (["--dialect", "hermes"], "--dialect applies only to flat with tasks of your own, not to flat of nestful")
])  # fmt: skip
def test_choices_that_cannot_be_made_are_told(argv: list[str], what: str) -> None:
    assert what in refused(*NESTFUL, *argv)


def test_nestful_s_published_prompts_become_the_messages_that_they_stand_for(tmp_path: Path) -> None:
    """Texts of our own in the layout of a clone: tokens of turns, braces doubled or not."""
    (tmp_path / "src").mkdir()
    texts = {
        "Own-3.1": '<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nForm [{{"name"}}]:\n'
        "{FUNCTION_STR}\n{ICL_EXAMPLES}<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n{QUERY}<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\n'",
        "single": '[INST] Form {x: [{"name"}]} {FUNCTION_STR} {ICL_EXAMPLES} {QUERY} [/INST]',
        "Hermes-2-Pro-Mistral-7B": "<|im_start|>system\n{FUNCTION_STR} {ICL_EXAMPLES}<|im_end|>\n"
        "<|im_start|>user\n{QUERY}<|im_end|>",
        "xLAM-1b-fc-r": "{FUNCTION_STR} {ICL_EXAMPLES} {QUERY}",
        "no prompt": "{QUERY}",
    }
    (tmp_path / "src" / "PROMPTS.json").write_text(json.dumps(texts))
    base = [*NESTFUL, "--limit", "1", "--prompts", str(tmp_path), "--shots", "2", "--demo-by", "first"]
    first, *others = own_samples("nestful")
    tools = json.dumps(first.tools)

    def messages(name: str) -> list[dict[str, str]]:
        return asked(*base, "--prompts-for", name)[0]["messages"]

    system, user = messages("hub/own-3.1")
    assert system["role"], user == ("system", {"role": "user", "content": first.query})
    assert system["content"].startswith(f'Form [{{"name"}}]:\n{tools}\n')
    places = [
        system["content"].index(f"Input: {one.query}\nOutput: {json.dumps(one.gold)}") for one in others
    ]
    assert places == sorted(places)
    (user,) = messages("single")
    assert user["content"].startswith(f'Form {{x: [{{"name"}}]}} {tools}')
    assert user["content"].endswith(first.query)
    assert "<tool_call> {" in messages("Hermes-2-Pro-Mistral-7B")[0]["content"]
    assert 'Output: {"tool_calls": [{' in messages("xLAM-1b-fc-r")[0]["content"]
    for name in ("no prompt", "bloom"):
        done = planeval(*base, "--prompts-for", name)
        assert done.returncode == 2
        assert f"has no prompt for {name!r}" in done.stderr
    assert "name one with --prompts-for" in planeval(*base).stderr
    (tmp_path / "src" / "PROMPTS.json").write_text("[1]")
    assert "expected an object of texts with {FUNCTION_STR}" in planeval(*base).stderr


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


def stages(form: str, name: str, shots: Shots, *replies: str) -> list[Any]:
    """The requests of the first sample's stages."""
    samples = own_samples(form)
    ready = prepare(Tasks(form, samples), name, Setup(), shots=shots)
    requests, _, _ = through(ready.jobs()[0].begin(), listed(*replies))
    return requests


def test_callnavi_s_demonstrations_have_the_form_that_each_stage_asks_for() -> None:
    others = own_samples("callnavi")[1:]
    golds = [(one.query, one.gold["API"], one.gold["parameters"]) for one in others]
    route, fill = stages("callnavi", "route-then-fill", Shots(2), '["getShift"]', "{}")
    (first, *_) = stages("callnavi", "backward", Shots(2), "{}")
    (flat,) = stages("callnavi", "flat", Shots(2), "{}")
    for query, names, given in golds:
        whole = {"API": names, "parameters": given}
        last = {"API": names[-1:], "parameters": given[-1:]}
        for request, answer in ((route, names), (fill, whole), (flat, whole), (first, last)):
            text = request.messages[0]["content"]
            assert f"Input: {query}\nOutput: {json.dumps(answer, ensure_ascii=False)}\n" in text
            assert own_samples("callnavi")[0].query in text.partition("start of the question")[2]
            assert text.count("Input: ") == 2


def test_a_text_without_a_place_for_demonstrations_is_said(tmp_path: Path) -> None:
    argv = [*CALLNAVI, "--prompts", prompts_in(tmp_path, {"callnavi/plan.txt": "{tools} {query}"})]
    assert asked(*argv)
    assert "callnavi/plan.txt of --prompts has no {examples}" in refused(*argv, "--shots", "1")


def test_a_broken_prompt_of_another_pipeline_stops_no_run(tmp_path: Path) -> None:
    texts = {"callnavi/plan.txt": "MINE {tools} {query}", "callnavi/route.txt": "no field"}
    place = prompts_in(tmp_path, texts | {"own/react.txt": "", "PROMPTS.json": "[half"})
    (tmp_path / "own" / "react.txt").write_bytes(b"\xff\xfe")
    how = [*CALLNAVI, "--prompts", place]
    assert all(said(one).startswith("MINE [") for one in asked(*how, "--pipeline", "flat"))
    for name in ("route", "route-then-fill"):
        assert "route.txt lacks {tools}" in refused(*how, "--pipeline", name)
    why = "holds no prompt that backward asks callnavi with: expected callnavi/backward.txt"
    assert why in refused(*how, "--pipeline", "backward")
    assert "PROMPTS.json: " in refused(*NESTFUL, "--prompts", place, "--prompts-for", "m")


def test_a_prompt_that_nobody_reads_is_told(tmp_path: Path) -> None:
    names = ("callnavi/plan.txt", "callnavi/rout.txt", "callnavi/zzz.txt", "backward.txt")
    others = {"callnavi/README.md": "These are mine.", "requirements.txt": "openai"}
    prompts_in(tmp_path, dict.fromkeys(names, "{tools} {query}") | others)
    done = planeval(*CALLNAVI, "--prompts", str(tmp_path))
    assert done.returncode == 0
    wrong = [("backward.txt", "; did you mean callnavi/backward.txt?")]
    wrong += [("callnavi/rout.txt", "; did you mean callnavi/route.txt?"), ("callnavi/zzz.txt", "")]
    assert done.stderr.splitlines()[:-1] == [
        f"{tmp_path / name} is not read: no prompt is called {name}{meant}" for name, meant in wrong
    ]


def test_a_copy_of_our_prompts_asks_what_ours_ask(tmp_path: Path) -> None:
    shutil.copytree(folder("data") / "prompts", tmp_path / "my")
    assert asked(*NESTFUL, "--prompts", str(tmp_path / "my")) == asked(*NESTFUL)


@pytest.mark.parametrize("name", dialects.names())
def test_the_example_of_a_notation_calls_no_tool_on_offer(name: str) -> None:
    example = dialects.get(name).example
    before = parse(example, dialect=name)
    assert example_of(name, []) == example_of(name, ["brew_tea"]) == example
    called = [call.name for call in before.calls]
    offered = [*called, "brew_tea", *(call.tool for call in before.calls)]
    after = parse(example_of(name, offered), dialect=name)
    assert not {one for call in after.calls for one in (call.name, call.tool)} & {*offered}
    assert len({call.name for call in after.calls}) == len({*called})
    assert [call.arguments for call in after.calls] == [call.arguments for call in before.calls]


def test_react_shows_what_the_calls_of_demonstrations_came_to(tmp_path: Path) -> None:
    base = [*NESTFUL, "--pipeline", "react", "--isolation", "inline"]
    (plain, *_), (shown, *_) = asked(*base), asked(*base, "--shots", "1", "--demo-by", "first")
    other = own_samples("nestful")[1]
    before, (query, *talk, mine) = plain["messages"], shown["messages"][1:]
    assert (shown["messages"][0], mine) == (before[0], before[1])
    assert query["content"] == other.query
    assert [message["role"] for message in talk] == ["assistant", "user"] * len(other.gold) + ["assistant"]
    first, last = other.gold[0], talk[-1]["content"]
    assert f"Action: {first['name']}\nAction Input: {json.dumps(first['arguments'])}" in talk[0]["content"]
    assert last.endswith(f"Final Answer: {json.dumps(other.extra['gold_answer'])}"), (last, other.extra)
    assert "$var" not in str(talk)
    plans = ['[{"name": "boom", "arguments": {}}]', '[{"name": "double", "arguments": {"n": 4}}]']
    records = [{"query": f"q{n}", "gold": plan} for n, plan in enumerate(plans)]
    tools = tmp_path / "mine.py"
    tools.write_text("def boom():\n    raise ValueError\n\ndef double(n):\n    return 2 * n\n")
    tasks = written(tmp_path / "tasks.jsonl", [{"id": "t", "query": "Twice 5?", "tools": OWN_TOOLS}])
    demos = written(tmp_path / "demos.jsonl", records)
    own = ["predict", tasks, "--dry-run", "--pipeline", "react", "--shots", "1", "--demos", demos]
    (request,) = asked(*own, "--tools", str(tools), "--isolation", "inline")
    assert [m["content"] for m in request["messages"][1:-1]] == [
        "q1", 'Thought: I need double.\nAction: double\nAction Input: {"n": 4}', "Observation: 8",
        "Thought: This is what was asked for.\nFinal Answer: 8",
    ]  # fmt: skip
    assert "react makes calls: name the tools" in planeval(*own).stderr


GOLD = '[{"name": "add", "arguments": {"arg_0": 1, "arg_1": 2}}]'


def requests_of(ready: Prepared, at: int) -> list[str]:
    """All requests of a sample, under a model that goes through every stage."""
    task = ready.tasks[at]
    assert not isinstance(task, str)
    with Sandbox(tool_source("nestful"), level="inline") as box:
        begun = ready.jobs(box if ready.pipeline.name == "react" else None)[at].begin()
        requests, _, _ = through(begun, scripted(ready.form, task))
    return [request_text(each.messages, each.tools, **each.sampling) for each in requests]


@pytest.mark.parametrize("by", ["query", "structure", "random", "first"])
@pytest.mark.parametrize(("name", "form"), sorted(SHOWN))
def test_no_gold_in_a_prompt_with_demonstrations(name: str, form: str, by: str, tmp_path: Path) -> None:
    samples = own_samples(form)
    demos = [{"query": f"{s.query} {n}", "gold": GOLD} for n, s in enumerate(samples)]
    source = written(tmp_path / "demos.jsonl", demos) if form == "own" else str(SAMPLES / form)
    for at, sample in enumerate(samples):
        other = replace(without_gold(sample, form), gold=samples[at - 1].gold)
        bare = [*samples[:at], other, *samples[at + 1 :]]
        for where in {source, source if form == "own" else None}:
            shots = Shots(1, by, where)
            first, second = (
                requests_of(prepare(Tasks(form, list(each)), name, Setup(), shots=shots), at)
                for each in (samples, bare)
            )
            assert first == second


def tool_names(request: dict[str, Any]) -> list[str]:
    text = said(request)
    line = next(one for one in text.splitlines() if one.startswith("[{"))
    return [tool["name"] for tool in json.loads(line)]


@pytest.mark.parametrize("closeness", ["random", "close", "same-signature"])
def test_appbench_s_tools_are_its_apps(closeness: str, tmp_path: Path) -> None:
    catalogue = tmp_path / "catalogue.json"
    catalogue.write_text(json.dumps(appbench_catalogue()))
    argv = ["predict", str(SAMPLES / "appbench"), "--benchmark", "appbench", "--dry-run", "--pipeline"]
    argv += ["flat", "--catalog", str(catalogue)]
    golds = {sample.id: set(sample.gold["used_app"]) for sample in own_samples("appbench")}
    for request in asked(*argv, "--distractors", "1", "--closeness", closeness):
        names = [app for app in CATALOG if f"\n{app}: {{'desc'" in said(request).replace(" \n\n ", "\n")]
        assert golds[request["id"]] < set(names), request["id"]
        assert len(names) == len(golds[request["id"]]) + 1
    done = planeval(*argv, "--budget", "60")
    assert "tokens with gold's tools alone, and --budget is 60" in done.stdout + done.stderr


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
    assert (len(tool_names(x)), "tool3" in tool_names(x), len(tool_names(y))) == (3, True, 2)
    assert "'z' has no gold plan" in z["error"]["message"]
    assert tool_names(json.loads(planeval(*base, "0").stdout.splitlines()[0])) == ["tool3"]
    written(tmp_path / "tasks.jsonl", tasks[2:])
    assert "gold" in refused(*base, "2")


def test_what_distractors_add_depends_on_gold_s_tools_alone() -> None:
    """Other values, other order of calls, other ids: the same requests."""

    def bare(sample: Sample, form: str) -> Sample:
        names = sorted(gold_tools(sample, form), reverse=True)
        nestful = [{"name": name} for name in names]
        gold = {"appbench": {"used_app": names}, "nestful": nestful, "callnavi": {"API": names}}[form]
        return replace(without_gold(sample, form), gold=gold)

    for form in ("appbench", "nestful", "callnavi"):
        samples = own_samples(form)
        others = [bare(one, form) for one in samples]
        for closeness in ("random", "close", "same-signature"):
            choice = Choice(1, closeness)
            real, other = (
                prepare(Tasks(form, each), "flat", Setup(), choice=choice) for each in (samples, others)
            )
            for at in range(len(samples)):
                assert requests_of(real, at) == requests_of(other, at)


@pytest.mark.parametrize("closeness", ["random", "close", "same-signature"])
def test_gold_s_tools_are_on_offer_with_as_many_others(closeness: str) -> None:
    gold = {sample.id: gold_tools(sample, "nestful") for sample in own_samples("nestful")}
    orders, places = set(), set()
    for seed in "0123456789":
        argv = [*NESTFUL, "--distractors", "1", "--closeness", closeness, "--seed", seed]
        found = asked(*argv)
        assert seed != "0" or found == asked(*argv)
        for request in found:
            names = tool_names(request)
            assert gold[request["id"]] < set(names)
            assert len(names) == len(set(names)) == len(gold[request["id"]]) + 1
        names = tool_names(found[0])
        orders.add(tuple(names))
        places.add(names.index(min(gold[found[0]["id"]])))
    assert len(orders) > 1
    assert places == set(range(len(names)))


def tool(name: str, described: str, *parameters: str) -> dict[str, Any]:
    return {"name": name, "description": described, "parameters": dict.fromkeys(parameters, "string")}


def test_a_budget_leaves_others_out_and_never_gold() -> None:
    gold = {sample.id: gold_tools(sample, "nestful") for sample in own_samples("nestful")}
    sizes = []
    for budget in ("200", "400", "100000"):
        found = asked(*NESTFUL, "--budget", budget, "--id", next(iter(gold)))
        assert gold[found[0]["id"]] <= set(tool_names(found[0]))
        sizes.append(len(tool_names(found[0])))
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[2] == len(own_samples("nestful")[0].tools)


def test_fewer_others_than_are_asked_for_are_told_once(tmp_path: Path) -> None:
    enough, short = (planeval(*CALLNAVI, "--distractors", count) for count in ("1", "40"))
    assert (enough.returncode, short.returncode) == (0, 0)
    assert enough.stderr == "3 samples, 4,164 characters in first requests; nothing was asked\n"
    told = "--distractors 40: 3 of 3 samples get fewer, of all other tools that there are: "
    assert short.stderr.startswith(f"{told}hr01 2 of 2, hr02 1 of 1, hr03 1 of 1\n")
    got = [[json.loads(line)["distractors"] for line in one.stdout.splitlines()] for one in (enough, short)]
    assert got == [[1, 1, 1], [2, 1, 1]]
    one = planeval(*NESTFUL, "--distractors", "2", "--budget", "300", "--id", "half")
    told = "1 of 1 sample gets fewer, of all other tools that there are: half 1 of 2 for --budget 300\n"
    assert told in one.stderr
    tools = [{"name": f"tool{n}", "description": "does"} for n in range(4)]
    tasks = [{"id": n, "query": "?", "gold": f"[tool{n % 2}()]", "tools": tools} for n in range(6)]
    own = planeval("predict", written(tmp_path / "tasks.jsonl", tasks), "--dry-run", "--distractors", "9")
    assert "6 of 6 samples get fewer" in own.stderr
    assert ": 0 3 of 3, 1 3 of 3, 2 3 of 3, 3 more samples 3\n" in own.stderr
