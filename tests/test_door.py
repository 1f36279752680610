"""Files through the command line: what is the answer, whose it is, what one bad record costs."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.comparison.gold_alternatives import gold_warnings
from planner_eval.reading.files.record import DEFAULT_STORE, Store
from planner_eval.reading.parse import read
from tests.conftest import ROOT, tabled, tables
from tests.inside import planeval
from tests.test_cli import planeval as started
from tests.test_texts import parsed, tools

TABLES = tables(__file__)

SAMPLES = ROOT / "data" / "samples"
NESTFUL = SAMPLES / "nestful" / "v2" / "nestful_data.jsonl"
APPBENCH = SAMPLES / "appbench" / "test_ss.json"
CALLNAVI = SAMPLES / "callnavi"


def call(**given: Any) -> dict[str, Any]:
    return {"name": "f", "arguments": given}


def lines(path: Path, records: Sequence[Any]) -> str:
    path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in records))
    return str(path)


def array(path: Path, records: Any) -> str:
    path.write_text(json.dumps(records))
    return str(path)


def figure(name: str, gold: Path | str, pred: str, *options: str) -> tuple[dict[str, Any], str]:
    """A benchmark's corrected figures by name, and what was said beside them."""
    done = planeval("score", pred, gold, "--benchmark", name, "--format", "json", *options)
    assert done.returncode in (0, 1), done.stderr
    data = json.loads(done.stdout)
    corrected = data["reports"]["corrected"]["figures"]
    return {one["name"]: one["value"] for one in corrected} | {"from": data["answers_from"]}, done.stderr


def states(*argv: str | Path) -> dict[str, int]:
    found: dict[str, int] = json.loads(planeval("score", *argv, "--format", "json").stdout)["states"]
    return found


def plans(count: int, field: str = "output", key: str = "id", name: str = "{}") -> list[Any]:
    return [{key: name.format(k), field: [call(a=k)]} for k in range(count)]


QUESTIONS = json.loads((CALLNAVI / "Questions" / "hr.json").read_text())


def test_callnavi_result_files_keep_gold_beside_the_answer(tmp_path: Path) -> None:
    rows = [{"predit": "I don't know", "ground_truth": json.dumps(q["ground_truth"])} for q in QUESTIONS]
    found, said = figure("callnavi", CALLNAVI, array(tmp_path / "r.json", rows))
    assert (found["ast_overall"], found["structure"]) == (0, 0)
    assert found["from"] == 'field "predit" of 3 records'
    assert 'answers: field "predit" of 3 records; matched by position' in said
    right = [{"predit": q["ground_truth"], "ground_truth": q["ground_truth"]} for q in QUESTIONS]
    assert figure("callnavi", CALLNAVI, array(tmp_path / "w.json", right))[0]["ast_overall"] == 1


def test_a_washed_object_keeps_its_apostrophes(tmp_path: Path) -> None:
    folder = tmp_path / "callnavi"
    (folder / "Questions").mkdir(parents=True)
    (folder / "APIs").symlink_to(CALLNAVI / "APIs")
    gold = {"API": ["countHours"], "parameters": [{"person": "O'Hara"}]}
    question = {"id": "hr01", "question": [{"role": "user", "content": "?"}], "difficulty": "easy"}
    array(folder / "Questions" / "hr.json", [question | {"ground_truth": gold}])
    pred = array(tmp_path / "washed.json", [{"predict": gold, "ground_truth": gold}])
    done = planeval("score", pred, folder, "--benchmark", "callnavi", "--format", "json")
    assert [one["rows"][0]["ok"] for one in json.loads(done.stdout)["reports"].values()] == [True, True]


def test_nestful_result_files_without_an_answer_are_wrong(tmp_path: Path) -> None:
    samples = [json.loads(line) for line in NESTFUL.read_text().splitlines()]
    for null in (None, ""):
        rows = [{**s, "output": json.dumps(s["output"]), "generated_text": null} for s in samples]
        found, _ = figure("nestful", NESTFUL, lines(tmp_path / "output.jsonl", rows))
        assert (found["accuracy_combined"], found["f1_intent"]) == (0, 0)
        assert found["from"] == 'field "generated_text" of 3 records'
        assert states(tmp_path / "output.jsonl", NESTFUL) == {"unreadable": 3}
    rows[1:] = [row | {"generated_text": row["output"]} for row in rows[1:]]
    assert states(lines(tmp_path / "some.jsonl", rows), NESTFUL) == {"same": 2, "unreadable": 1}


def test_appbench_result_files_are_read_as_its_code_writes_them(tmp_path: Path) -> None:
    gold, rows, texts = json.loads(APPBENCH.read_text()), [], []
    for item in gold:
        apps, calls = item["output"]["used_app"], item["output"]["api_results"]
        text = "\n".join(f"{app}: [{line}]" for app, line in zip(apps, calls, strict=True))
        parts = {"decided_app": apps, "decided_api": calls, "decided_app_api": text}
        rows.append({"input": item["input"], "output": item["output"], "prediction": parts})
        texts.append({"prediction": text, "decided_app": apps, "decided_api": []})
    pred = tmp_path / "model_ss_results.json"
    found, _ = figure("appbench", APPBENCH, array(pred, rows))
    assert (found["complete_match"], found["api_hit_f1"]) == (1, 1)
    assert states(pred, APPBENCH) == {"same": 2}
    found, _ = figure("appbench", APPBENCH, array(pred, texts))
    assert (found["complete_match"], found["from"]) == (1, 'field "prediction" of 2 records')
    for row in rows:
        del row["prediction"]["decided_app_api"]
    assert figure("appbench", APPBENCH, array(pred, rows))[0]["complete_match"] == 1
    for row in rows:
        row["prediction"]["decided_app_matched_with_first_step"] = ["Elsewhere"]
    assert figure("appbench", APPBENCH, array(pred, rows))[0]["complete_match"] == 0
    wrong = [{"output": item["output"], "predict": "I cannot."} for item in gold]
    assert figure("appbench", APPBENCH, array(pred, wrong))[0]["complete_match"] == 0


def test_functionchat_result_files_are_messages_in_the_order_of_their_requests(tmp_path: Path) -> None:
    from planner_eval.benchmarks.benchmark import benchmark

    folder, file = SAMPLES / "functionchat", SAMPLES / "answers" / "functionchat.jsonl"
    answers = {row["id"]: row["output"] for row in map(json.loads, file.read_text().splitlines())}
    nothing = {"role": "assistant", "content": None}
    messages = [answers.get(sample.id, nothing) for sample in benchmark("functionchat").read(folder)]
    by_id, _ = figure("functionchat", folder, str(file))
    found, said = figure("functionchat", folder, lines(tmp_path / "model.output.jsonl", messages))
    assert "matched by position" in said
    assert len(answers) < len(messages)
    assert found | {"from": ""} == by_id | {"from": ""}


def test_calls_in_the_words_of_a_message_are_read(tmp_path: Path) -> None:
    gold = lines(tmp_path / "g.jsonl", plans(4, "gold"))
    asked = {"role": "user", "content": "f(a=9)"}
    for wrap in (
        lambda text: {"response": {"role": "assistant", "content": text, "tool_calls": None}},
        lambda text: {"messages": [asked, {"role": "assistant", "content": text}]},
        lambda text: {"response": {"choices": [{"message": {"role": "assistant", "content": text}}]}},
        lambda text: {"prediction": json.dumps({"role": "assistant", "content": text})},
    ):
        rows = [{"id": k} | wrap(f"Sure:\n```json\n{json.dumps([call(a=k)])}\n```") for k in range(3)]
        rows.append({"id": 3} | wrap("I cannot."))
        assert states(lines(tmp_path / "p.jsonl", rows), gold) == {"same": 3, "different": 1}


TEXTS = [json.dumps(row) for row in plans(5, "prediction", name="q{}")]
NAMED = {f"q{k}": [call(a=k)] for k in range(5)}
INSIDE = [{"id": str(k), "gold": [call(id=k + 1)]} for k in range(4)]
MESSAGE = {"role": "assistant", "content": "No.", "tool_calls": None}
FLOATS = [{"id": float(k), "output": [call(a=k)]} for k in range(3)]
NOTHING = [{"id": k, "gold": []} for k in range(3)]
FIVE = plans(5, "gold", name="q{}")
STATES: dict[str, tuple[Any, list[Any], dict[str, int]]] = {
    **TABLES["STATES"],
    "output alone": (plans(2), plans(2, "gold"), {"same": 2}),
    "output beside an empty answer": (
        [row | {"generated_text": None} for row in plans(2)], plans(2, "gold"), {"unreadable": 2}
    ),
    "whole numbers": (FLOATS, plans(3, "gold"), {"same": 3}),
    "a broken one": ([*FLOATS[:2], '{"id": 2.0, "output": [}'], plans(3, "gold"),
                     {"same": 2, "unreadable": 1}),
    "the first thousand decide": (
        plans(1000, "prediction") + plans(1100, "response")[1000:], plans(1100, "gold"),
        {"same": 1000, "unreadable": 100},
    ),
    "words": ([{"id": k, "response": MESSAGE} for k in range(3)], NOTHING, {"same": 3}),
    "commas at line ends": ([text + "," for text in TEXTS], FIVE, {"same": 5}),
    "old line ends": ("\r".join(TEXTS), FIVE, {"same": 5}),
    "a comma is missing": (f"[{TEXTS[0]}\n{', '.join(TEXTS[1:])}]", FIVE, {"same": 5}),
    "an array that is cut": (("[" + ",\n".join(TEXTS))[:-12], FIVE, {"same": 4, "unreadable": 1}),
    "a broken one before": ([TEXTS[2][:-3], *TEXTS], FIVE, {"same": 5, "gold_absent": 1}),
    "ids inside plans": ([json.dumps(one)[15 * (at == 1) :].replace("gold", "text")
                          for at, one in enumerate(INSIDE)], INSIDE,
                         {"same": 3, "absent": 1, "gold_absent": 1}),
    "an object of plans": (json.dumps(NAMED | {"q1": None, "q3": ""}), FIVE, {"same": 3, "unreadable": 2}),
    "lone calls": ([{"id": k, "function_call": call(a=k)} for k in (1, 0)], plans(2, "gold"), {"same": 2}),
}  # fmt: skip


@pytest.mark.parametrize("name", STATES)
def test_what_is_read_and_what_is_not(tmp_path: Path, name: str) -> None:
    pred, gold, wanted = STATES[name]
    path = tmp_path / ("p.json" if isinstance(pred, str) else "p.jsonl")
    if isinstance(pred, str):
        path.write_bytes(pred.encode())
    else:
        lines(path, pred)
    assert states(path, lines(tmp_path / "g.jsonl", gold)) == wanted


def test_a_link_to_nowhere_is_a_row_that_says_so(tmp_path: Path) -> None:
    for name in ("preds", "golds"):
        (tmp_path / name).mkdir()
        array(tmp_path / name / "q1.json", [call(a=1)])
    array(tmp_path / "golds" / "q2.json", [call(a=2)])
    (tmp_path / "preds" / "q2.json").symlink_to("nowhere")
    done = planeval("diff", tmp_path / "preds", tmp_path / "golds")
    assert (done.returncode, "q2  unreadable" in done.stdout, "directory" in done.stderr) == (1, True, False)
    assert planeval("parse", tmp_path / "preds").returncode == 1


DEEP = "[" * 100_000 + "]" * 100_000


@pytest.fixture
def gold(tmp_path: Path) -> str:
    return lines(tmp_path / "gold.jsonl", FIVE)


@pytest.mark.parametrize("bad", [
    f'{{"id": "q?", "prediction": {DEEP}}}',
    f'{{"id": "q?", "prediction": [{{"name": "f", "arguments": {{"a": {"9" * 5_000}}}}}]}}',
    '{"id": "q?", "prediction": [{"name": "f" "arguments": {}}]}',
], ids=["deep", "long number", "syntax"])  # fmt: skip
@pytest.mark.parametrize("form", ["array", "lines"])
def test_a_bad_record_is_one_row(tmp_path: Path, gold: str, bad: str, form: str) -> None:
    for at in (0, 4):
        rows = [bad.replace("q?", f"q{at}") if k == at else text for k, text in enumerate(TEXTS)]
        pred = tmp_path / "p.json"
        pred.write_text("[" + ",\n".join(rows) + "]" if form == "array" else "\n".join(rows))
        done = planeval("diff", pred, gold)
        assert (done.returncode, done.stdout.splitlines()[-1]) == (1, "5 pairs: 4 same, 1 unreadable")
        assert f"record {at + 1} (id q{at})" in done.stdout


def test_a_broken_answer_leaves_the_benchmarks_other_answers(tmp_path: Path) -> None:
    rows = (SAMPLES / "answers" / "nestful.jsonl").read_text().splitlines()
    whole, _ = figure("nestful", NESTFUL, lines(tmp_path / "whole.jsonl", rows))
    for bad in (rows[0][:-3], rows[0][3:], "nonsense"):
        found, _ = figure("nestful", NESTFUL, lines(tmp_path / "p.jsonl", [bad, *rows[1:]]))
        assert found["num_examples"] == whole["num_examples"]
        assert 0 < found["accuracy_combined"] < whole["accuracy_combined"]


def stability(tmp_path: Path, rows: Sequence[Any]) -> dict[str, Any]:
    pred = lines(tmp_path / "p.jsonl", rows)
    return {**figure("callnavi", CALLNAVI, pred, "--set", "task=stability")[0], "from": ""}


def test_five_answers_in_one_record_are_five_answers(tmp_path: Path) -> None:
    outputs = ["AAAA", "AAAB", "AAAA", "BBBB", "AACC"]  # election (2 - 1) / (5 - 1)
    listed = stability(tmp_path, [{"id": q["id"], "prediction": outputs} for q in QUESTIONS])
    assert listed["election"] == pytest.approx(0.25)
    apart = stability(tmp_path, [{"id": q["id"], "prediction": o} for q in QUESTIONS for o in outputs])
    assert listed == apart
    objects = [{"API": [letters], "parameters": [{}]} for letters in outputs]
    structured = stability(tmp_path, [{"id": q["id"], "prediction": objects} for q in QUESTIONS])
    assert structured["election"] == pytest.approx(0.25)
    rows = [{"id": q["id"], "prediction": ["A"] * 5} for q in QUESTIONS]
    first = [[{"id": QUESTIONS[0]["id"], "prediction": one}] for one in (None, [], ["", None, " "])]
    for nothing in (*first, []):
        found = stability(tmp_path, [*nothing, *rows[1:]])
        assert (found["election"], found["levenshtein"]) == (pytest.approx(2 / 3), pytest.approx(2 / 3))


def test_an_unreadable_answer_is_wrong_where_gold_calls_nothing(tmp_path: Path) -> None:
    gold = lines(tmp_path / "g.jsonl", [{"id": k, "gold": []} for k in range(6)])
    pred = lines(tmp_path / "p.jsonl", [{"id": k, "prediction": '[{"name": "f", "argum'} for k in range(6)])
    some = lines(tmp_path / "s.jsonl", [{"id": k, "prediction": "[]"} for k in range(3)])
    shapes = ("exact", "same_components", "same_depth", "same_width")
    for file, value in ((pred, 0), (some, 0.5)):
        done = planeval("score", file, gold, "--fail-under", "exact=0.9", "--format", "json")
        figures = {name: one["value"] for name, one in json.loads(done.stdout)["figures"].items()}
        assert (done.returncode, {figures[name] for name in shapes}) == (1, {value})
        assert value or not any(figures.values())
    golds = lines(tmp_path / "g.jsonl", [*plans(4, "gold"), {"id": 4, "gold": []}])
    for last in ([], [{"id": 4, "prediction": '[{"name": "f", "argum'}]):
        pred = lines(tmp_path / "p.jsonl", [*plans(4, "prediction"), *last])
        found = json.loads(planeval("score", pred, golds, "--format", "json").stdout)["figures"]
        for name in ("exact", "calls", "whole_calls", "similarity", "ordered_calls", "same_depth"):
            assert found[name]["value"] < 0.99, name


@tabled("text, note")
def test_a_repeated_key_is_said_wherever_it_stands(text: str, note: str) -> None:
    done = planeval("parse", "-", text=text)
    assert (done.returncode, note in done.stdout) == (0, True), done.stdout + done.stderr


NESTED = "[" * 300 + "]" * 300


@pytest.mark.parametrize(("plan", "reason"), [
    ({"arguments": '{"a": 1} {"b": 2}'}, "arguments of call 1 are a text of 2 JSON values, expected one"),
    ({"arguments": '{"a": ' + "[" * 9000}, "of call 1 are a text beyond a limit: the text nests deeper than"),
    ({"arguments": "7" * 5000}, "of call 1 are a text beyond a limit: found an integer of more than"),
    ({"arguments": {}, "result": json.loads(NESTED)}, "the result of call 1 nests deeper than 200 levels"),
], ids=["two", "deep", "long", "result"])  # fmt: skip
def test_arguments_and_answers_keep_the_limits(plan: dict[str, Any], reason: str) -> None:
    done = planeval("parse", "-", text=json.dumps([{"name": "f", **plan}]))
    assert (done.returncode, reason in done.stdout) == (3, True), done.stdout


def test_a_yaml_set_has_one_order(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = set()
    for seed in ("1", "2", "3"):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        text = "API: [f]\nparameters: [{a: !!set {x, yy, zzz, 7}}]"
        seen.add(started("parse", "-", "--from", "callnavi-yaml", text=text).stdout)
    assert len(seen) == 1
    assert '["x"' in seen.pop().replace("[7, ", "[")


def test_gold_of_words_is_told_and_is_no_plan(tmp_path: Path) -> None:
    words = ["It is sunny.", "Rain, see [1].", "f()"]
    gold = lines(tmp_path / "gold.jsonl", [{"id": at, "expected": said} for at, said in enumerate(words)])
    pred = lines(tmp_path / "pred.jsonl", [{"id": at, "response": "Rain."} for at in range(6)])
    said = "2 of 3 gold plans are prose without calls and do not count as a plan; the first is"
    for command in (["diff", pred, gold], ["score", pred, gold], ["compare", pred, pred, "--gold", gold]):
        done = planeval(*command)
        assert f'{gold}: {said} line 1, record 1 (id 0), "It is sunny."; choose another field' in done.stderr
    no_calls, no = ({"role": "assistant", "content": said, "tool_calls": []} for said in ("", "No."))
    steps = [{"step": "1 think", "tool": "null"}, {"step": "2 say it", "tool": "No tool required"}]
    golds: list[object] = [
        "[]", [], no_calls, steps, "See (page 1).", {k: no[k] for k in ("role", "content")},
    ]  # fmt: skip
    right = lines(tmp_path / "right.jsonl", [{"id": at, "gold": one} for at, one in enumerate(golds)])
    done = planeval("score", pred, right)
    assert (
        done.returncode,
        "6 pairs: 4 same, 2 gold unreadable; scores computed from 4 pairs" in done.stdout,
    ) == (1, True)
    assert '"See (page 1)." holds no call: a gold plan without calls is written []' in done.stderr
    done = planeval("score", pred, lines(tmp_path / "one.jsonl", [{"id": 4, "gold": golds[4]}]))
    assert done.returncode == 3
    golds = ["{}", '["sunny"]', ["sunny"], '"sunny"', "[]", [], '["f()"]', [["f()"]], '{"calls": []}']
    gold = lines(tmp_path / "gold.jsonl", [{"id": at, "gold": said} for at, said in enumerate(golds)])
    held, stored = (
        gold_warnings(read(gold, role="gold", store=store)) for store in (DEFAULT_STORE, Store(limit=0))
    )
    said = f"{gold}: 4 of 9 gold plans are prose without calls and do not count as a plan; the first"
    told = f'{said} is line 1, record 1 (id 0), "{{}}"; choose another field with --field gold.text=NAME'
    assert held == stored == (told,)


@tabled("beside, answer, code, said")
def test_beside_gold(tmp_path: Path, beside: dict[str, object], answer: str, code: int, said: str) -> None:
    gold = lines(tmp_path / "gold.jsonl", [{"id": 1, "gold": "f(a=1, b=2)", **beside}])
    done = planeval("diff", lines(tmp_path / "pred.jsonl", [{"id": 1, "response": answer}]), gold)
    assert (done.returncode, said in done.stdout + done.stderr) == (code, True), done
    assert "options" not in done.stderr


@tabled("record, said")
def test_what_agents_and_servers_write_is_no_silent_plan(tmp_path: Path, record: object, said: str) -> None:
    done = planeval("parse", lines(tmp_path / "p.jsonl", [record]))
    assert (done.returncode, said in done.stdout) == (3, True), done


@pytest.mark.parametrize("text", ["{}", "Sure: [{}]", "Sure:\n```json\n{}\n```", "Here: {}"])
def test_a_definition_with_values_is_no_silent_no_call(text: str) -> None:
    defined = {"name": "get_weather", "description": "The weather", "parameters": {"city": "Rome"}}
    code, row = parsed(text.replace("{}", json.dumps(defined)))
    assert code == 3
    assert "with a description, as in a tool's definition, and with values as its parameters" in row["error"]
    for given in ({"city": {"type": "string"}}, {"type": "object", "properties": {}}, {"city": "string"}, {}):
        assert parsed(json.dumps({**defined, "parameters": given}))[0] == 0


@tabled("text, called")
def test_calls_that_were_passed_over(text: str, called: list[str]) -> None:
    code, row = parsed(text)
    assert (code, tools(row)) == (0, called)


@tabled("text, code, said")
def test_what_cannot_be_read_is_refused(text: str, code: str, said: str) -> None:
    done, row = parsed(text)
    assert (done, row["code"]) == (3, code)
    assert said in row["error"]


def test_a_list_of_records_is_not_one_plan() -> None:
    assert [call.name for call in pe.parse(["f()", "g()"]).calls] == ["f", "g"]
    assert pe.stats(["f()", "g()"]).plans == 2
    for many in ([{"id": 1, "output": "f()"}], [pe.parse("f()"), pe.parse("g()")]):
        with pytest.raises(InputError, match=r"expected one plan: pe.read gives the records"):
            pe.parse(many)


def test_a_turn_is_taken_of_a_text_with_speakers_as_of_messages(tmp_path: Path) -> None:
    said = [("user", "a"), ("assistant", "f(x=1)"), ("user", "b"), ("assistant", "g(y=1)")]
    named = "\n".join(f"{role.title()}: {words}" for role, words in said)
    tokens = "".join(f"<|im_start|>{role}\n{words}<|im_end|>\n" for role, words in said)
    talks = [named, tokens, [{"role": role, "content": words} for role, words in said]]
    pred = lines(tmp_path / "p.jsonl", [{"id": at, "output": talk} for at, talk in enumerate(talks)])
    for turn, called in (("first", "f"), ("last", "g"), ("2", "g"), ("3", None)):
        done = planeval("parse", pred, "--turn", turn, "--format", "json")
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        told = [tools(row) if called else "no turn 3: the assistant has 2" in row["error"] for row in rows]
        assert told == [[called] if called else True] * 3, done
