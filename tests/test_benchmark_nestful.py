"""NESTful's official figures: on answers of our own, and on every row of the reference vectors."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner_eval.base.errors import InputError
from planner_eval.benchmarks import nestful
from planner_eval.benchmarks.nestful.align import align, partial
from planner_eval.benchmarks.nestful.f1 import macro
from planner_eval.benchmarks.nestful.formats import READERS, read_answer
from planner_eval.benchmarks.nestful.win import Run, is_win, official_run
from planner_eval.benchmarks.report import Report
from planner_eval.datasets.sample import Sample
from planner_eval.execution.tools.nestful_basic import OFFICIAL

PLAIN = "granite-3.1-8b-instruct"


# ---------------------------------------------------------------- answers of our own
def call(name: str, label: str, *values: Any) -> dict[str, Any]:
    return {"name": name, "label": label, "arguments": {f"arg_{i}": value for i, value in enumerate(values)}}


GOLD = [call("multiply", "$var_1", 6, 7), call("subtract", "$var_2", "$var_1.result$", 2)]
TOOLS: list[dict[str, Any]] = [
    {"name": name, "output_parameters": {"result": {}}} for name in ("multiply", "subtract", "divide")
]


def scored(
    *answers: Any, gold: Any = GOLD, answer: Any = 40, model: str = PLAIN, run: Run | None = None
) -> Report:
    sample = Sample("a", gold=gold, tools=TOOLS, extra={"gold_answer": answer})
    texts = [text if isinstance(text, str) else json.dumps(text) for text in answers]
    return nestful.score_official([(sample, text) for text in texts], model=model, run=run)


RUN = official_run(OFFICIAL)


def test_a_perfect_answer_is_perfect() -> None:
    report = scored(GOLD, run=RUN)
    for name in ("f1_intent", "f1_slot", "accuracy_combined", "percentage_times_full_score", "win_rate"):
        assert report.value(name) == 1.0
    assert report.rows[0].ok


def test_a_predicted_call_without_a_name_equals_a_place_without_a_gold_call() -> None:
    gold = [call("a", "$var_1"), call("b", "$var_2", 1), call("c", "$var_3")]
    assert scored([{"name": "", "arguments": {}}], gold=gold).value("accuracy_combined") == 0.25
    assert scored([{"name": "x", "arguments": {}}], gold=gold).value("accuracy_combined") == 0


def test_an_answer_that_cannot_be_read_is_a_row_and_two_counters() -> None:
    report = scored(GOLD, "I would multiply first.", run=RUN)
    assert report.n == 2
    assert report.value("num_errors_parsing_pred_intent") == 1
    assert report.value("num_pred_examples_w_parsing_errors") == 1
    assert report.value("win_rate") == report.value("accuracy_combined") == 0.5
    assert [row.ok for row in report.rows] == [True, False]


def test_a_failed_run_wins_where_gold_is_zero() -> None:
    broken = [call("no_such_tool", "$var_1", 1)]
    assert scored(broken, answer=0, run=RUN).value("win_rate") == 1.0
    assert scored(broken, answer=5, run=RUN).value("win_rate") == 0.0
    assert scored([], answer=0, run=RUN).value("win_rate") == 0.0


def test_a_gold_answer_without_a_point_breaks_the_run_off() -> None:
    report = scored([call("divide", "$var_1", 1, 100_000)], answer=1e-05, run=RUN)
    assert report.rows[0].error == "IndexError"
    assert {figure.error for figure in report.figures} == {"IndexError"}


@pytest.mark.parametrize(("model", "error"), [(PLAIN, "TypeError"), ("Hammer2.0-7b", None)])
@pytest.mark.parametrize("text", ["5", "null", "true"])
def test_a_bare_json_value_breaks_some_readers(model: str, error: str | None, text: str) -> None:
    assert scored(text, model=model).figure("f1_intent").error == error


def test_no_records_and_gold_without_arguments_have_no_f1() -> None:
    assert nestful.score_official([]).figure("f1_slot").error == "ValueError"
    gold = [{"name": "now", "label": "$var_1", "arguments": {}}]
    assert scored(gold, gold=gold).figure("accuracy_combined").error == "ValueError"


def test_a_gold_record_that_is_no_plan_is_a_row_that_says_so() -> None:
    report = scored(GOLD, gold=["no call"])
    assert report.rows[0].error == report.figure("f1_intent").error == "TypeError"


def test_an_unknown_model_is_the_callers_mistake() -> None:
    with pytest.raises(InputError, match="no reader for the model 'gpt'"):
        scored(GOLD, model="gpt")


def test_entries_that_are_no_calls_are_counted() -> None:
    report = scored('[5, {"name": "multiply"}]')
    assert report.value("num_errors_parsing_pred_intent") == 1
    assert report.value("num_errors_parsing_pred_slot") == 2
    assert scored('[{"name": "dummy", "arguments": {}}]').value("num_errors_parsing_pred_slot") == 0


def test_marks_of_the_end_of_text_are_deleted_inside_calls() -> None:
    assert scored(json.dumps(GOLD).replace("multiply", "multiply<|endoftext|>", 1)).value("f1_intent") == 1.0


@pytest.mark.parametrize(
    ("model", "text", "names"),
    [
        ("Llama-3.1-8B-Instruct", '{"name": "f"}, {"name": "g"}\'', ["f", "g"]),
        ("llama-3-70b-instruct", "[f(a=1), g(b=2)]", ["f", " g"]),
        ("llama-3-70b-instruct", '[{"name": "f"}, {"name": "var_result"}]', ["f"]),
        ("Mistral-7B-Instruct-v0.3", '[{"name":\n "a\\_b"}]', ["a_b"]),
        ("Hermes-2-Pro-Mistral-7B", 'tool_call\n{"name": "f"}\n</tool_call>', ["f"]),
        ("Hermes-2-Pro-Mistral-7B", '<tool_call>{}x</tool_call><tool_call>{"name": "g"}</tool_call>', ["g"]),
        ("xLAM-1b-fc-r", '[BEGIN OF ACTIONS]{"tool_calls": [{"name": "f"}]}', ["f"]),
        ("Hammer2.0-7b", '```[{"name": "f"}]```', ["f"]),
        ("ToolAce-8b", "[m.f(a=1), g()]", ["m.f", "g"]),
        (
            "Granite-20B-FunctionCalling",
            'ASSISTANT <function_call>{"name": "f"}<function_call> {"name": "g"}',
            ["f", "g"],
        ),
    ],
)
def test_answer_formats(model: str, text: str, names: list[str]) -> None:
    answer = read_answer(text, model)
    assert [entry["name"] for entry in answer.calls] == names
    assert not answer.failed


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("-2", -2),
        ("+2", -2),
        ("(1, [2])", [1, [2]]),
        ("{'k': true}", {"k": "true"}),
        ("xs[0]", "xs[0]"),
        ("2 * (3 + 4)", 14),
        ("g()", "g()"),
        ("g(b=1)", {"name": "g", "arguments": {"b": 1}}),
    ],
)
def test_python_values_are_read_from_the_syntax_tree(value: str, read: Any) -> None:
    (found,) = read_answer(f"f(a={value})", "ToolAce-8b").calls
    assert found["arguments"] == {"a": read}


@pytest.mark.parametrize(
    "text",
    [
        "f(a=1 + ord('a'))",  # evaluated by the published code
        "f(a=9 ** 9 ** 9)",
        "f(a='x' * 10 ** 9)",
        "f(a=" + "-" * 100_000 + "1)",
        "f(a=" + "(" * 5_000,
        "f(" + "a." * 50_000 + "a=1)",
        "f(a=[" + "1," * 400_000 + "])",
        "f(a='\x00')",
        "f(**{'a': lambda: 1})",
        "x-y(a=1)",
    ],
)
def test_hostile_python_is_unreadable_and_never_run(text: str) -> None:
    answer = read_answer(text, "ToolAce-8b")
    assert answer.failed
    assert answer.calls == ()


@pytest.mark.parametrize("model", sorted(READERS))
@pytest.mark.parametrize(
    "text", ["", "[" * 100_000, '{"a": ' * 50_000, "1" * 5_000, "f(", '["\\ud800"]', "label 5"]
)
def test_no_text_makes_a_reader_raise(model: str, text: str) -> None:
    scored(text, model=model)


def test_grounding_cannot_be_made_to_fill_the_memory() -> None:
    value = "$var." + "var" * 1_000_000
    answer = [{"name": "n" * 1_000_000, "label": "var", "arguments": {"a": value}}]
    assert read_answer(json.dumps(answer), PLAIN).failed


def test_one_class_is_a_binary_problem() -> None:
    assert macro([(["a"], ["a"]), ([], ["a"])]) == pytest.approx((0.25, 0.5, 1 / 3))
    assert macro([(["a"], ["a"])]) == (1.0, 1.0, 1.0)


def test_wins_round_to_the_decimals_of_gold() -> None:
    assert is_win(0.30000000000000004, 0.3)
    assert not is_win(3.0000000000000004, 3)
    assert not is_win(1.5e-07, 1.5e-07)


# ---------------------------------------------------------------- the reference vectors
def _json(path: Path) -> Any:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        return json.load(file)


def _lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt") as file:
        return [json.loads(line) for line in file]


@pytest.fixture(scope="module")
def official(reference: Path) -> Any:
    return _json(reference / "vectors" / "nestful" / "official.json.gz")


@pytest.fixture(scope="module")
def microcases(reference: Path) -> Any:
    return _json(reference / "vectors" / "microcases_appbench_nestful.json")


def _counted(texts: list[str]) -> dict[str, int]:
    return dict(Counter(word for text in texts for word in text.split()))


def _stripped(string: str, regex: str) -> str:
    if not isinstance(string, str) or not isinstance(regex, str):
        raise TypeError("two texts are needed")
    return re.sub(regex, "", string)


CODE_TOOLS: dict[str, Callable[..., Any]] = {
    "non_whitespace_substrings": lambda s: s.split(),
    "count_words_from_sentences": _counted,
    "proportional_controller": lambda kp, omega, zeta: abs(kp),
    "remove_characters_by_regex": _stripped,
}
"""What the one released sample of the vectors with code functions needs, from their description."""


@pytest.mark.more
def test_every_row_of_the_vectors(reference: Path, official: Any) -> None:
    folder = reference / "vectors" / "nestful"
    samples = {
        (record["set"], record["idx"]): Sample(
            str(record["idx"]),
            gold=record["output"],
            tools=record["tools"],
            extra={"gold_answer": record["gold_answer"]},
        )
        for record in _lines(folder / "gold.jsonl.gz")
    }
    predictions: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for record in _lines(folder / "pred.jsonl.gz"):
        predictions[record["set"], record["perturbation"]].append(record)
    alone = {(row["set"], row["perturbation"], str(row["idx"])): row for row in official["per_sample"]}
    run = official_run({**OFFICIAL, **CODE_TOOLS})
    wrong: list[str] = []
    seen = 0
    for expected in official["whole_set"]:
        key = (expected["set"], expected["perturbation"])
        report = nestful.score_official(
            ((samples[record["set"], record["idx"]], record["text"]) for record in predictions[key]),
            model=expected["model_name"],
            run=run if expected["win_rate_flag"] else None,
        )
        wrong += [f"{key} {text}" for text in _differences(report, expected["scorer.calculate_scores"])]
        for row in report.rows:
            if known := alone.get((*key, row.id)):
                seen += 1
                wrong += [
                    f"{key} {row.id} {f}"
                    for f in row.figures
                    if f.value != pytest.approx(known[f.name], abs=1e-9)
                ]
    assert not wrong
    assert seen == len(alone) == 12_992
    assert len(official["whole_set"]) == 320


def _differences(report: Report, expected: dict[str, Any]) -> list[str]:
    """What differs between our figures and what the published code printed."""
    found = []
    for name, value in expected.items():
        if name == "raw":
            found += [
                f"{raw}: {report.value(raw)}"
                for raw, x in value.items()
                if report.value(raw) != pytest.approx(x, abs=1e-9)
            ]
        elif _printed(report, name) != value:
            found.append(f"{name}: {report.figure(name)} instead of {value}")
    return found


def _printed(report: Report, name: str) -> Any:
    value = report.value(name)
    return f"{value:.3f}" if isinstance(value, float) else value


def test_every_parsed_answer_of_the_vectors(official: Any) -> None:
    for row in official["parser"]:
        answer = read_answer(row["text"], row["model_name"])
        assert answer.failed == row["parse_error"]
        assert [json.dumps(entry) for entry in answer.calls] == row["grounded_calls"]
        assert json.dumps(answer.raw) == json.dumps(row["raw_calls"])
    assert len(official["parser"]) == 1_600


def test_every_micro_case(microcases: Any) -> None:
    basic = ("add", "subtract", "multiply", "divide", "inverse", "power")
    for case in microcases["nestful_score"]:
        names = [*basic, "max_number"] if case["case"].startswith("reference inside a list") else basic
        tools = [{"name": name, "output_parameters": {"result": {}}} for name in names]
        if case["case"] == "two output parameters":
            tools = [{"name": "add", "output_parameters": {"a": {}, "b": {}}}, tools[2]]
        sample = Sample("a", gold=case["gold"], tools=tools, extra={"gold_answer": case["gold_answer"]})
        run = None if case.get("win") == "no" else RUN
        report = nestful.score_official([(sample, case["text"])], model=case["model_name"], run=run)
        if "error" in case:
            assert report.figure("win_rate").error == report.rows[0].error == case["error"]
            continue
        assert report.value("accuracy_combined") == pytest.approx(case["partial"], abs=1e-9), case["case"]
        assert report.value("percentage_times_full_score") == case["full"], case["case"]
        assert _printed(report, "win_rate") == case["win"], case["case"]
        assert report.value("num_pred_examples_w_parsing_errors") == case["parse_error_samples"], case["case"]
    for case in microcases["nestful_align"]:
        assert align(case["gold"], case["pred"]) == (case["aligned_gold"], case["aligned_pred"])
        assert partial(case["gold"], case["pred"]) == pytest.approx(case["partial"], abs=1e-9)
    assert sum(len(microcases[name]) for name in ("nestful_score", "nestful_align")) == 56
