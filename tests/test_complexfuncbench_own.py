"""ComplexFuncBench on records of our own: runners, judge, simulator, oddities, bad input."""

from __future__ import annotations

import json
import sys
from copy import deepcopy
from types import SimpleNamespace
from typing import Any

import pytest

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.resources import folder
from planner_eval.benchmarks.complexfuncbench import (
    Settings,
    analysis,
    conversation,
    score_corrected,
    score_official,
)
from planner_eval.benchmarks.complexfuncbench.api import ApiResponse, replay, response, successful
from planner_eval.benchmarks.complexfuncbench.calls import OfficialFailure, free_key
from planner_eval.benchmarks.complexfuncbench.embedding import SentenceTransformer, Trigrams, assign
from planner_eval.benchmarks.complexfuncbench.matching import Matcher, response_match, value_check
from planner_eval.benchmarks.complexfuncbench.recorded import gold_prediction, read_turns
from planner_eval.benchmarks.complexfuncbench.runners import RUNNERS
from planner_eval.benchmarks.complexfuncbench.scoring import prepare
from planner_eval.benchmarks.complexfuncbench.turn import Open, Rules, drop_called, judge_turn
from planner_eval.datasets.complexfuncbench import read_complexfuncbench
from planner_eval.datasets.sample import Sample
from planner_eval.llm import JudgeRequest, ScriptedJudge


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    return list(read_complexfuncbench(folder("data") / "samples" / "complexfuncbench"))


def own(samples: list[Sample], identifier: str) -> Sample:
    return next(sample for sample in samples if sample.id == identifier)


def said(sample: Sample) -> list[dict[str, Any]]:
    """The annotated conversation as a model's, to be changed."""
    return deepcopy(json.loads(gold_prediction(sample.gold)))


def message_of(sample: Sample, talk: Any, runner: str = "gpt") -> Any:
    report = score_official([(sample, json.dumps(talk))], runner=runner)
    text = str(report.rows[0].figures[0].value) if report.rows[0].figures else report.rows[0].error
    return json.loads(text) if text and text[0] in "[{" else text


def test_own_gold_is_perfect(samples: list[Sample]) -> None:
    records = [(sample, gold_prediction(sample.gold)) for sample in samples]
    for runner in RUNNERS:
        report = score_official(records, runner=runner)
        assert all(row.ok for row in report.rows)
        assert report.value("Overall Call Accuracy") == 100
        assert report.figure("Overall Success Rate").numerator == len(samples)
    corrected = score_corrected(records)
    assert corrected.value("Overall Success Rate") == corrected.value("Overall Call Accuracy") == 1.0
    assert corrected.value("extra steps") == 0


def test_only_recorded_answers_match_by_response(
    samples: list[Sample],
) -> None:
    sample = own(samples, "Flights-0")
    talk = said(sample)
    call = talk[1]["function_call"][0]
    call["arguments"]["adults"] = 1
    record = {"error_type": "param_hallucination", "content": "Parameter adults is hallucinated."}
    assert message_of(sample, talk) == [record]
    body = sample.gold[4]["content"][0]
    with_more = Settings(api=lambda steps: replay(steps, [(call, body)]))
    assert score_official([(sample, json.dumps(talk))], settings=with_more).rows[0].ok
    assert score_corrected([(sample, json.dumps(talk))], settings=with_more).rows[0].ok


def test_model_based_matching_asks_the_judge(samples: list[Sample]) -> None:
    sample = own(samples, "Car-Rental-0")
    talk = said(sample)
    talk[0]["function_call"][0]["arguments"]["query"] = "airport of Graz"
    asked = []

    def reply(request: JudgeRequest) -> str:
        asked.append(request)
        if request.task != "complexfuncbench.same_call":
            return '{"reason": "", "score": 2}'
        return '{"reason": "same place", "is_equal": true}' if request.attempt else "hm"

    with_judge = Settings(judge=ScriptedJudge(reply))
    report = score_official([(sample, json.dumps(talk))], settings=with_judge)
    assert report.rows[0].ok
    assert [r.attempt for r in asked if r.task == "complexfuncbench.same_call"] == [0, 1]
    assert report.value("Complete Score") == report.value("Correct Score") == 2
    assert score_corrected([(sample, json.dumps(talk))], settings=with_judge).value("Complete Score") == 2
    assert not score_official([(sample, json.dumps(talk))]).rows[0].ok


def test_judge_that_gives_up_is_a_row(samples: list[Sample]) -> None:
    sample = samples[0]
    records = [(sample, gold_prediction(sample.gold))]
    dead = Settings(judge=ScriptedJudge(lambda request: None))
    for report in (score_official(records, settings=dead), score_corrected(records, settings=dead)):
        assert report.n == 1
        assert "no answer" in (report.rows[0].error or "")
    vague = Settings(judge=ScriptedJudge(lambda request: "no idea"))
    assert score_official(records, settings=vague).figure("Complete Score").error
    figure = score_corrected(records, settings=vague).figure("Complete Score")
    assert (figure.value, figure.note[:9]) == (None, "1 answer ")


def test_runners_differ_where_the_published_ones_do(samples: list[Sample]) -> None:
    sample = own(samples, "Cross-0")
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


def test_error_of_the_last_turn_fails_the_gpt_runner_only(samples: list[Sample]) -> None:
    sample = own(samples, "Cross-1")
    talk = said(sample)
    looked_up = talk[0]["function_call"].pop()  # a free call, left for the last turn
    talk[1]["function_call"].append({**looked_up, "arguments": {"query": "Blue Grotto caves"}})
    record = {"error_type": "value_error", "content": "Parameter query value do not equal to golden."}
    assert message_of(sample, talk, "gpt") == [record]
    assert message_of(sample, talk, "qwen") == "Success."


def test_simulator_answers_and_may_be_looped_for_ever(samples: list[Sample]) -> None:
    sample = own(samples, "Hotels-0")
    steps, rules = prepare(sample, Settings())
    state = conversation.start(steps, rules, RUNNERS["qwen"])
    wrong = {"name": "Search_Hotel_Destination", "arguments": {}}
    state = conversation.answer(state, [wrong, *steps[1].calls])
    assert state.outcome is None
    fault, found = state.replies
    assert fault["error"].endswith("requires parameters ['query'], but [] do not provide {'query'}")
    assert found == steps[1].observations[0]

    outcome, talk = conversation.run(
        lambda messages: [wrong],
        sample.gold[:1],
        conversation.start(steps, rules, RUNNERS["claude"]),
        max_turns=7,
    )
    assert outcome.message["error_type"] == "exceed_max_length"  # type: ignore[index,call-overload]
    assert outcome.real_turn_num == 7
    assert talk[2] == {"role": "observation", "content": [conversation.GENERAL_ERROR]}


def test_published_oddities(samples: list[Sample]) -> None:
    gold = [Open({"name": "Taxi_Search_Location", "arguments": {"query": "A"}}, 0)]
    other = [Open({"name": "Get_Filter", "arguments": {}}, 1)]
    called = [free_key(gold[0].call)]
    assert drop_called(gold + gold + other, called) == other
    assert drop_called(gold + other + gold, called) == gold  # the call between them is lost
    hotel = {"name": "Search_Hotels", "arguments": {"search_type": "hotel"}}
    assert conversation.only_free([*other, Open(hotel, 0)])
    assert conversation.only_free([])
    with pytest.raises(OfficialFailure, match="KeyError: 'search_type'"):
        conversation.only_free([Open({"name": "Search_Hotels", "arguments": {}}, 0)])
    with pytest.raises(OfficialFailure, match="KeyError: 'f'"):
        value_check({"name": "f", "arguments": {}}, {"name": "f", "arguments": {}}, {})
    with pytest.raises(OfficialFailure, match="NotImplementedError"):
        judge_turn([], [], Rules({}, {}, Matcher(replay([])), Trigrams()))


def test_api_failures_match_officially_and_not_in_the_paper() -> None:
    def refuses(call: Any) -> ApiResponse:
        return ApiResponse({"status": False, "message": "no such hotel", "timestamp": call["arguments"]["n"]})

    one, two = ({"name": "f", "arguments": {"n": n}} for n in (1, 2))
    assert response_match(one, two, refuses)
    assert successful(refuses, one) is None
    assert response(lambda call: ApiResponse("x", 404), one) is None
    assert response(lambda call: ApiResponse(["x"]), one) == ["x"]


def test_figures_4_to_6(samples: list[Sample]) -> None:
    assert analysis.error_types(
        [
            "Success.",
            [{"error_type": "value_error", "content": ""}, None],
            {"error_type": "func_hallucination", "content": ""},
            "API call failed for x.",
        ]
    ) == {
        "func_error": 1,
        "param_missing": 0,
        "hallucination": 0,
        "value_error": 1,
        "stop_early": 0,
        "other": 2,
    }
    sample = own(samples, "Hotels-0")
    talk = said(sample)
    talk[2]["function_call"][0]["arguments"].update(categories_filter="meal::1", adults=2)
    report = score_corrected([(sample, json.dumps(talk[:3] + talk[-1:]))])
    figures = {figure.name: (figure.numerator, figure.denominator) for figure in report.figures}
    assert figures["error share value_error"] == (1, 2)
    assert figures["error share stop_early"] == (1, 2)
    assert figures["error rate filter"] == (1, 1)
    assert figures["error rate date"] == (0, 2)
    assert figures["extra steps"] == (-1, 1)


def corrected_of(sample: Sample, talk: Any) -> tuple[float | None, float | None]:
    figure = score_corrected([(sample, json.dumps(talk))]).figure("self-correction")
    return figure.numerator, figure.denominator


def test_a_right_call_after_an_error_message_is_a_self_correction(samples: list[Sample]) -> None:
    sample = own(samples, "Hotels-0")
    assert corrected_of(sample, said(sample)) == (0, 0)
    wrong_value, wrong_name, malformed = (deepcopy(said(sample)[2]) for _ in range(3))
    wrong_value["function_call"][0]["arguments"]["adults"] = 7
    wrong_name["function_call"][0]["name"] = "Get_Room_List"  # its arguments are not this function's
    malformed["function_call"][0]["arguments"] = {}
    for wrong in (wrong_value, malformed):
        talk = said(sample)
        assert corrected_of(sample, [*talk[:2], wrong, *talk[2:]]) == (1, 1)
        assert corrected_of(sample, [*talk[:2], wrong, wrong, *talk[2:]]) == (2, 2)
        assert corrected_of(sample, [*talk[:2], wrong, talk[-1]]) == (0, 1)
        assert corrected_of(sample, [*talk[:4], wrong, talk[-1]]) == (0, 1)  # the right one came before
    talk = said(sample)
    beside = deepcopy(talk)
    beside[2]["function_call"].append(wrong_value["function_call"][0])
    assert corrected_of(sample, beside) == (0, 1)  # it came beside the wrong one, not after its message
    assert corrected_of(sample, [*talk[:2], wrong_name, *talk[2:]]) == (1, 1)


def test_a_right_call_of_another_function_corrects_what_it_stands_for(samples: list[Sample]) -> None:
    sample = own(samples, "Attraction-0")
    talk = said(sample)
    other = deepcopy(talk[0])
    location = talk[0]["function_call"][0]
    functions = {one["name"]: one for one in sample.tools or ()}
    names = [name for name in functions if name != location["name"]]
    kinds = {"string": "x", "number": 1, "boolean": True, "array": []}
    name = next(n for n in names if functions[n]["parameters"].get("required"))
    schema = functions[name]["parameters"]
    values = {key: kinds.get(schema["properties"][key]["type"], 1) for key in schema["required"]}
    other["function_call"] = [{"name": name, "arguments": values}]
    assert corrected_of(sample, [other, *talk[:1], talk[-1]]) == (1, 1)


# ---------------------------------------------------------------- bad input
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "parse.syntax"),
        ('[{"role": "assistant", "content": "x"', "parse.syntax"),
        ("42", "parse.shape"),
        ('{"answer": []}', "parse.shape"),
        ('["hello"]', "parse.shape"),
        ('[{"role": "assistant", "function_call": [{"arguments": {}}]}]', "parse.shape"),
        ('[{"role": "assistant", "tool_calls": "f()"}]', "parse.shape"),
        ("[" * 100_000, "parse.limit"),
        (json.dumps([{"role": "assistant", "function_call": [{"name": "f"}] * 10_001}]), "parse.limit"),
        ('[{"role": "assistant", "content": ' + "9" * 5000 + "}]", "parse.limit"),
    ],
)
def test_unreadable_prediction_is_a_row(samples: list[Sample], text: str, code: str) -> None:
    with pytest.raises(ParseError):
        read_turns(text)
    records = [(samples[0], text), (samples[1], gold_prediction(samples[1].gold))]
    for report in (score_official(records), score_corrected(records)):
        assert [row.error for row in report.rows] == [code, None]
    assert score_corrected(records).value("Overall Success Rate") == 0.5


def test_recorded_turns_have_no_limit(samples: list[Sample]) -> None:
    sample = own(samples, "Hotels-0")
    malformed = {
        "role": "assistant",
        "function_call": [{"name": "Search_Hotel_Destination", "arguments": {}}],
    }
    talk = [malformed] * 500 + said(sample)
    assert message_of(sample, talk) == "Success."
    assert score_corrected([(sample, json.dumps(talk))]).value("extra steps") == 500


def test_unreadable_arguments_end_the_official_talk_only(samples: list[Sample]) -> None:
    sample = own(samples, "Attraction-0")
    good = said(sample)
    call = {"id": "1", "type": "function", "function": {"name": "Get_Availability", "arguments": "{slug:"}}
    talk = [{"role": "assistant", "content": None, "tool_calls": [call]}, *good]
    assert message_of(sample, talk)["error_type"] == "decode_error"
    assert score_corrected([(sample, json.dumps({"messages": talk}))]).rows[0].ok


def test_gold_of_another_benchmark_is_a_row() -> None:
    for gold in (None, {"API": []}, [1], [{"role": "user"}], [{"function_call": [{"name": "f"}]}]):
        records = [(Sample("x", gold=gold), "[]")]
        for report in (score_official(records), score_corrected(records)):
            assert "sample 'x'" in (report.rows[0].error or "")
    with pytest.raises(InputError, match="choose one of gpt"):
        score_official([], runner="gemini")


def test_no_value_check_without_its_lists_is_said(samples: list[Sample]) -> None:
    bare = Sample("Hotels-0", "", samples[0].tools, samples[0].gold)
    report = score_official([(bare, gold_prediction(bare.gold))])
    assert "exact_match_values.json" in report.figure("Overall Call Accuracy").note


def test_sentence_transformers_are_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(InputError, match=r"planner_eval\[embed\]"):
        SentenceTransformer()


def test_sentence_transformers_are_asked_for_vectors_of_length_one(monkeypatch: pytest.MonkeyPatch) -> None:
    class Model:
        def __init__(self, name: str) -> None:
            assert name == "BAAI/bge-large-en-v1.5"

        def encode(self, texts: list[str], *, normalize_embeddings: bool) -> list[list[float]]:
            assert normalize_embeddings
            return [[float("swap" in text), float("swap" not in text)] for text in texts]

    monkeypatch.setitem(sys.modules, "sentence_transformers", SimpleNamespace(SentenceTransformer=Model))
    pairs = assign(["swap", "x"], ["y", "swap too"], SentenceTransformer())
    assert pairs == [(0, 1), (1, 0)]
