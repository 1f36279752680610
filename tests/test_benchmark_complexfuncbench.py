"""ComplexFuncBench: reader, runners, judge, simulator, oddities, kernels; rows in tests/test_vectors.py."""

import json
import re
import sys
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from planner_eval.base.codes import code_meanings
from planner_eval.base.errors import DatasetError, InputError, ParseError
from planner_eval.base.resources import folder
from planner_eval.benchmarks import complexfuncbench
from planner_eval.benchmarks.complexfuncbench import conversation, score_corrected, score_official
from planner_eval.benchmarks.complexfuncbench.conversation import RUNNERS
from planner_eval.benchmarks.complexfuncbench.data import read_complexfuncbench, replay
from planner_eval.benchmarks.complexfuncbench.matching import Trigrams, assign, similarities
from planner_eval.benchmarks.complexfuncbench.official import gold_prediction, read_turns
from planner_eval.benchmarks.complexfuncbench.turn import Settings, prepare
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.judging import JudgeRequest, ScriptedJudge
from tests.complexfuncbench_turns import Vectors, exchanged, has_ties, recorded

SCORERS: tuple[Any, ...] = (score_official, score_corrected)


@pytest.fixture(scope="module")
def vectors(reference: Path) -> Vectors:
    return Vectors(reference)


@pytest.fixture(scope="module")
def samples() -> dict[str, Sample]:
    return {one.id: one for one in read_complexfuncbench(folder("data") / "samples" / "complexfuncbench")}


def said(sample: Sample) -> list[dict[str, Any]]:
    """The annotated conversation as a model's, to be changed."""
    return deepcopy(json.loads(gold_prediction(sample.gold)))


def message_of(sample: Sample, talk: Any, runner: str = "gpt") -> Any:
    report = score_official([(sample, json.dumps(talk))], runner=runner)
    text = str(report.rows[0].figures[0].value) if report.rows[0].figures else report.rows[0].error
    return json.loads(text) if text and text[0] in "[{" else text


def test_report_has_the_printed_figures(vectors: Vectors) -> None:
    cases = [case for case, _ in vectors.of("conv")]
    scores = {case["final"]: case["judge"] for case in cases}

    def reply(request: JudgeRequest) -> str | None:
        name = {"complexfuncbench.completeness": "complete", "complexfuncbench.correctness": "correct"}
        if request.task not in name:
            return '{"reason": "", "is_equal": false}'
        final = re.search(r"Answer:\n<<<\n(.*)\n>>>", request.messages[-1][1])
        assert final
        return json.dumps({"reason": "", "score": scores[final[1]][name[request.task]]})

    records = [(vectors.sample(case), recorded(case)) for case in cases]
    report = score_official(records, settings=vectors.settings(ScriptedJudge(reply)))
    printed = vectors.official["print_results"]["gpt"]
    for name in ("Overall Success Rate", "Overall Call Accuracy", "Complete Score", "Correct Score"):
        assert str(report.value(name)) == printed[name]
    for name in ("Success Rate", "Call Accuracy"):
        domains = json.loads(printed[f"Domain {name}"].replace("'", '"'))
        assert domains == {domain: report.value(f"{name} {domain}") for domain in domains}
    raised = {row.id for row in report.rows if row.error}
    assert raised == {c["id"] for c, v in vectors.of("conv") if "__raised__" in v["gpt"]}
    corrected = score_corrected(records, settings=vectors.settings())  # gives a figure there too
    assert corrected.figure("Overall Success Rate").denominator == len(report.rows) == 300
    assert not [row.id for row in corrected.rows if row.error]
    assert all(row.figures[0].value <= 1 for row in corrected.rows)  # type: ignore[operator]


def test_own_gold_is_perfect(samples: dict[str, Sample]) -> None:
    records = [(sample, gold_prediction(sample.gold)) for sample in samples.values()]
    for runner in RUNNERS:
        report = score_official(records, runner=runner)
        assert all(row.ok for row in report.rows)
        assert report.value("Overall Call Accuracy") == 100
        assert report.figure("Overall Success Rate").numerator == len(samples)
    corrected = score_corrected(records)
    names = ("Overall Success Rate", "Overall Call Accuracy", "extra steps")
    assert [corrected.value(name) for name in names] == [1.0, 1.0, 0]


def test_only_recorded_answers_match_by_response(samples: dict[str, Sample]) -> None:
    sample = samples["Flights-0"]
    talk = said(sample)
    call = talk[1]["function_call"][0]
    call["arguments"]["adults"] = 1
    record = {"error_type": "param_hallucination", "content": "Parameter adults is hallucinated."}
    assert message_of(sample, talk) == [record]
    with_more = Settings(api=lambda steps: replay(steps, [(call, sample.gold[4]["content"][0])]))
    for score in SCORERS:
        assert score([(sample, json.dumps(talk))], settings=with_more).rows[0].ok


def test_model_based_matching_asks_the_judge(samples: dict[str, Sample]) -> None:
    sample = samples["Car-Rental-0"]
    talk = said(sample)
    talk[0]["function_call"][0]["arguments"]["query"] = "airport of Graz"
    records, asked = [(sample, json.dumps(talk))], []

    def reply(request: JudgeRequest) -> str:
        asked.append(request)
        if request.task != "complexfuncbench.same_call":
            return '{"reason": "", "score": 2}'
        return '{"reason": "same place", "is_equal": true}' if request.attempt else "hm"

    with_judge = Settings(judge=ScriptedJudge(reply))
    report = score_official(records, settings=with_judge)
    assert report.rows[0].ok
    assert [r.attempt for r in asked if r.task == "complexfuncbench.same_call"] == [0, 1]
    assert report.value("Complete Score") == report.value("Correct Score") == 2
    assert score_corrected(records, settings=with_judge).value("Complete Score") == 2
    assert not score_official(records).rows[0].ok


def test_judge_that_gives_up_is_a_row(samples: dict[str, Sample]) -> None:
    records = [(samples["Hotels-0"], gold_prediction(samples["Hotels-0"].gold))]
    dead = Settings(judge=ScriptedJudge(lambda request: None))
    for report in (score_official(records, settings=dead), score_corrected(records, settings=dead)):
        assert (report.n, "no answer" in (report.rows[0].error or "")) == (1, True)
    vague = Settings(judge=ScriptedJudge(lambda request: "no idea"))
    assert score_official(records, settings=vague).figure("Complete Score").error
    figure = score_corrected(records, settings=vague).figure("Complete Score")
    assert (figure.value, figure.note[:9]) == (None, "1 answer ")


def test_runners_differ_where_the_published_ones_do(samples: dict[str, Sample]) -> None:
    sample = samples["Cross-0"]
    talk = said(sample)
    talk[1]["function_call"].append({"name": "Search_Trains", "arguments": {"to": "Bergen"}})
    ended = message_of(sample, talk, "gpt")
    assert ended["error_type"] == "decode_error"
    assert ended["content"].startswith("namespace(name='Search_Trains', arguments='{\"to\": ")
    assert message_of(sample, talk, "claude")["error_type"] == "name_error"
    assert message_of(sample, talk, "qwen") == "Success."
    silent = said(sample)[:1]
    assert message_of(sample, silent, "gpt")["error_type"] == "unknown_error"
    assert message_of(sample, silent, "qwen") == "NotImplementedError: LLM response is None"
    talk = said(samples["Cross-1"])
    looked_up = talk[0]["function_call"].pop()  # a free call, left for the last turn
    talk[1]["function_call"].append({**looked_up, "arguments": {"query": "Blue Grotto caves"}})
    record = {"error_type": "value_error", "content": "Parameter query value do not equal to golden."}
    assert message_of(samples["Cross-1"], talk, "gpt") == [record]
    assert message_of(samples["Cross-1"], talk, "qwen") == "Success."


def test_simulator_answers_and_may_be_looped_for_ever(samples: dict[str, Sample]) -> None:
    sample, wrong = samples["Hotels-0"], {"name": "Search_Hotel_Destination", "arguments": {}}
    steps, rules = prepare(sample, Settings())
    state = conversation.answer_turn(
        conversation.start(steps, rules, RUNNERS["qwen"]), [wrong, *steps[1].calls]
    )
    fault, found = state.replies
    assert fault["error"].endswith("requires parameters ['query'], but [] do not provide {'query'}")
    assert (state.message, found) == (None, steps[1].observations[0])
    begun = conversation.start(steps, rules, RUNNERS["claude"])
    outcome, talk = conversation.run(lambda messages: [wrong], sample.gold[:1], begun, max_turns=7)
    assert outcome.message["error_type"] == "exceed_max_length"  # type: ignore[index,call-overload]
    assert outcome.real_turn_num == 7
    assert talk[2] == {"role": "observation", "content": [conversation.GENERAL_ERROR]}


def test_figures_4_to_6(samples: dict[str, Sample]) -> None:
    sample = samples["Hotels-0"]
    talk = said(sample)
    talk[2]["function_call"][0]["arguments"].update(categories_filter="meal::1", adults=2)
    report = score_corrected([(sample, json.dumps(talk[:3] + talk[-1:]))])
    figures = {figure.name: (figure.numerator, figure.denominator) for figure in report.figures}
    shares = [
        ("share value_error", 1, 2), ("share stop_early", 1, 2), ("rate filter", 1, 1), ("rate date", 0, 2),
    ]  # fmt: skip
    assert [(name, *figures[f"error {name}"]) for name, *_ in shares] == shares
    assert figures["extra steps"] == (-1, 1)


def corrected_of(sample: Sample, talk: Any) -> tuple[float | None, float | None]:
    figure = score_corrected([(sample, json.dumps(talk))]).figure("self-correction")
    return figure.numerator, figure.denominator


def test_a_right_call_after_an_error_message_is_a_self_correction(samples: dict[str, Sample]) -> None:
    sample = samples["Hotels-0"]
    talk = said(sample)
    assert corrected_of(sample, talk) == (0, 0)
    wrong_value, wrong_name, malformed, beside = (deepcopy(talk[2]) for _ in range(4))
    wrong_value["function_call"][0]["arguments"]["adults"] = 7
    wrong_name["function_call"][0]["name"] = "Get_Room_List"  # its arguments are not this function's
    malformed["function_call"][0]["arguments"] = {}
    for wrong in (wrong_value, malformed):
        assert corrected_of(sample, [*talk[:2], wrong, *talk[2:]]) == (1, 1)
        assert corrected_of(sample, [*talk[:2], wrong, wrong, *talk[2:]]) == (2, 2)
        assert corrected_of(sample, [*talk[:2], wrong, talk[-1]]) == (0, 1)
        assert corrected_of(sample, [*talk[:4], wrong, talk[-1]]) == (0, 1)  # the right one came before
    beside["function_call"].append(wrong_value["function_call"][0])  # not after its message
    assert corrected_of(sample, [*talk[:2], beside, *talk[3:]]) == (0, 1)
    assert corrected_of(sample, [*talk[:2], wrong_name, *talk[2:]]) == (1, 1)


def test_a_right_call_of_another_function_corrects_what_it_stands_for(samples: dict[str, Sample]) -> None:
    sample = samples["Attraction-0"]
    talk, kinds = said(sample), {"string": "x", "number": 1, "boolean": True, "array": []}
    location = talk[0]["function_call"][0]["name"]
    functions = [one for one in sample.tools or () if one["name"] != location]
    function = next(one for one in functions if one["parameters"].get("required"))
    schema = function["parameters"]
    values = {key: kinds.get(schema["properties"][key]["type"], 1) for key in schema["required"]}
    other = {**talk[0], "function_call": [{"name": function["name"], "arguments": values}]}
    assert corrected_of(sample, [other, *talk[:1], talk[-1]]) == (1, 1)


@pytest.mark.parametrize(("text", "code"), [
    ("", "parse.syntax"), ('[{"role": "assistant", "content": "x"', "parse.syntax"), ("42", "parse.shape"),
    ('{"answer": []}', "parse.shape"), ('["hello"]', "parse.shape"),
    ('[{"role": "assistant", "function_call": [{"arguments": {}}]}]', "parse.shape"),
    ('[{"role": "assistant", "tool_calls": "f()"}]', "parse.shape"), ("[" * 100_000, "parse.limit"),
    (json.dumps([{"role": "assistant", "function_call": [{"name": "f"}] * 10_001}]), "parse.limit"),
    ('[{"role": "assistant", "content": ' + "9" * 5000 + "}]", "parse.limit"),
])  # fmt: skip
def test_unreadable_prediction_is_a_row(samples: dict[str, Sample], text: str, code: str) -> None:
    with pytest.raises(ParseError):
        read_turns(text)
    one, two, *_ = samples.values()
    records = [(one, text), (two, gold_prediction(two.gold))]
    for report in (score_official(records), corrected := score_corrected(records)):
        assert [row.error for row in report.rows] == [code, None]
    assert corrected.value("Overall Success Rate") == 0.5


def test_unreadable_arguments_end_the_official_talk_only(samples: dict[str, Sample]) -> None:
    sample = samples["Attraction-0"]
    call = {"id": "1", "type": "function", "function": {"name": "Get_Availability", "arguments": "{slug:"}}
    talk = [{"role": "assistant", "content": None, "tool_calls": [call]}, *said(sample)]
    assert message_of(sample, talk)["error_type"] == "decode_error"
    assert score_corrected([(sample, json.dumps({"messages": talk}))]).rows[0].ok


def test_gold_of_another_benchmark_is_a_row(samples: dict[str, Sample]) -> None:
    for gold in (None, {"API": []}, [1], [{"role": "user"}], [{"function_call": [{"name": "f"}]}]):
        for score in SCORERS:
            assert "sample 'x'" in (score([(Sample("x", gold=gold), "[]")]).rows[0].error or "")
    with pytest.raises(InputError, match="choose one of gpt"):
        score_official([], runner="gemini")
    bare = Sample("Hotels-0", "", samples["Hotels-0"].tools, samples["Hotels-0"].gold)
    report = score_official([(bare, gold_prediction(bare.gold))])
    assert "exact_match_values.json" in report.figure("Overall Call Accuracy").note


def test_sentence_transformers_are_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    transformer = complexfuncbench.matching.SentenceTransformer
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(InputError, match=r"planner_eval\[embed\]"):
        transformer()

    class Model:
        def __init__(self, name: str) -> None:
            assert name == "BAAI/bge-large-en-v1.5"

        def encode(self, texts: list[str], *, normalize_embeddings: bool) -> list[list[float]]:
            assert normalize_embeddings
            return [[float("swap" in text), float("swap" not in text)] for text in texts]

    monkeypatch.setitem(sys.modules, "sentence_transformers", SimpleNamespace(SentenceTransformer=Model))
    found = assign(["swap", "x"], ["y", "swap too"], transformer())
    assert found == [(0, 1), (1, 0)]


def test_reader_survives_what_records_may_lack(tmp_path: Path) -> None:
    turns = ["x", {"role": "assistant", "function_call": [{"name": 1}, 2]}]
    lines: list[Any] = [7, {"id": "Cross-1"}, {"id": "Cross-1", "conversations": [], "functions": []},
                        {"id": "Cross-2", "conversations": turns, "functions": [3]}]  # fmt: skip
    path = tmp_path / "ComplexFuncBench.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    found = list(read_complexfuncbench(tmp_path))
    assert [sample.id for sample in found] == ["line 1", "Cross-1", "Cross-1", "Cross-2"]
    codes = {d.code.partition(".")[2] for sample in found for d in sample.extra["diagnostics"]}
    assert {"record", "repeated_id", "length", "no_answer"} <= codes
    assert {f"dataset.{code}" for code in codes} <= set(code_meanings())
    path.write_text("{")
    for where, said in ((path, "line 1"), (tmp_path / "none", "no such file")):
        with pytest.raises(DatasetError, match=said):
            list(read_complexfuncbench(where))


def test_reader_finds_what_gold_has_wrong_and_table3(samples: dict[str, Sample], tmp_path: Path) -> None:
    one = samples["Hotels-0"]
    record = {"id": "Hotels-9", "conversations": deepcopy(one.gold), "functions": one.tools}
    first, second, third = (record["conversations"][at]["function_call"][0] for at in (1, 3, 5))
    first["arguments"] = {"place": "Turku"}
    second["arguments"]["dest_id"] = -2004
    third["name"] = "Find_Hotels"
    (tmp_path / "x.jsonl").write_text(json.dumps(record))
    (sample,) = read_complexfuncbench(tmp_path / "x.jsonl")
    codes = ["missing_argument", "unknown_argument", "type", "unknown_tool"]
    assert [d.code for d in sample.extra["diagnostics"]] == [f"dataset.{code}" for code in codes]
    cells = {(cell.row, cell.column): cell for cell in complexfuncbench.table3(list(samples.values()))}
    total = cells["Avg. Calls", "Total"]
    assert (total.published, total.n, total.of, total.value) == ("5.07", 6, 1000, pytest.approx(26 / 6))
    assert cells["Avg. Steps", "Hotels"].value == 4
    assert cells["# Samples", "Total"].note == "6 of 1000 samples available"
    assert all(cell.value is None for cell in complexfuncbench.table3([]))


def test_a_tie_leaves_the_mappings_that_exchange_equal_calls() -> None:
    oslo, bergen, sea = "from Oslo to Bergen", "from Bergen to Oslo", "Northern Sea"
    table = similarities([oslo, bergen, oslo], [sea, bergen, bergen], Trigrams())
    assert table[0].tolist() == table[2].tolist() != table[1].tolist()
    assert table[:, 1].tolist() == table[:, 2].tolist() != table[:, 0].tolist()
    for predicted, gold, equal in (
        ([oslo, oslo], [bergen], True), ([oslo], [bergen, bergen], True),
        ([oslo, bergen], [bergen, sea, oslo], False), ([], [oslo, oslo], False),
    ):  # fmt: skip
        assert has_ties(predicted, gold, Trigrams()) == equal
    predicted, gold = ["Oslo", "Bergen", "Oslo"], ["Bergen!", "Oslo!"]
    found = exchanged(predicted, gold, Trigrams())
    assert assign(predicted, gold, Trigrams()) in found
    assert sorted(found) == [[(0, 1), (1, 0)], [(1, 0), (2, 1)]]
