"""FunctionChat-Bench's corrected scores: laws, what each correction changes, and the released data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_eval.base.errors import JudgeError
from planner_eval.benchmarks.functionchat import score_corrected
from planner_eval.benchmarks.functionchat.corrected import Decided, decide, read_last_word
from planner_eval.datasets.functionchat import read_functionchat
from planner_eval.datasets.sample import Sample
from planner_eval.llm import JudgeRequest, ScriptedJudge

TYPES = {"place": "string", "guests": "integer", "price": "number", "inside": "boolean"}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "book_table",
            "parameters": {"type": "object", "properties": {k: {"type": t} for k, t in TYPES.items()}},
        },
    }
]
WANTED = {"place": "Busan", "guests": 2}


def call(name: str = "book_table", **arguments: Any) -> dict[str, str]:
    return {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}


def message(*calls: dict[str, Any], content: str | None = None) -> dict[str, Any]:
    wrapped = [{"id": "1", "type": "function", "function": each} for each in calls]
    return {"role": "assistant", "content": content, "tool_calls": wrapped}


def item(kind: str = "call", gold: Any = None, acceptable: Any = None, part: str = "dialog") -> Sample:
    if gold is None:
        gold = message(call(**WANTED)) if kind == "call" else {"role": "assistant", "content": "어디요?"}
    extra = {"part": part, "serial_num": 1, "type_of_output": kind, "messages": []}
    extra |= {"acceptable_arguments": acceptable, "tools_type": "exact"}
    return Sample(f"{part}-1", tools=TOOLS, gold=gold, dialect="json", category=kind, extra=extra)


def settled(sample: Sample, answer: Any) -> tuple[str | None, str]:
    """The verdict without a judge, and its reason."""
    found = decide(sample, answer if isinstance(answer, str) else json.dumps(answer))
    return found.verdict, found.reason


# ---------------------------------------------------------------- laws
arguments = st.fixed_dictionaries(
    {},
    optional={
        "place": st.text(max_size=8),
        "guests": st.integers(-9, 9),
        "price": st.floats(allow_nan=False, allow_infinity=False),
        "inside": st.booleans(),
    },
)


@settings(deadline=None)
@given(arguments, st.text(max_size=20).filter(str.strip))
def test_gold_against_gold_passes(wanted: dict[str, Any], words: str) -> None:
    gold = message(call(**wanted))
    assert settled(item(gold=gold), gold)[0] == "pass"
    assert settled(item(gold=gold["tool_calls"][0]["function"], part="singlecall"), gold)[0] == "pass"
    for kind in ("completion", "slot", "relevance"):
        reply = {"role": "assistant", "content": words}
        assert settled(item(kind, gold=reply), reply)[0] == "pass"


@settings(deadline=None)
@given(arguments, st.lists(arguments, max_size=3))
def test_dropping_a_call_never_raises_a_score(wanted: dict[str, Any], others: list[dict[str, Any]]) -> None:
    gold = message(call(**wanted))

    def rate(*calls: dict[str, Any]) -> float:
        report = score_corrected([(item(gold=gold), json.dumps(message(*calls)))])
        return float(report.value("dialog avg(micro)") or 0)

    assert rate() <= rate(call(**wanted)) == 1
    for other in others:
        assert rate() <= rate(call(**other)) <= 1


@settings(deadline=None)
@given(st.text(max_size=100))
def test_no_text_raises(text: str) -> None:
    for kind in ("call", "completion", "slot", "relevance"):
        assert len(score_corrected([(item(kind), text)]).rows) == 1
    read_last_word(text)


# ---------------------------------------------------------------- what each correction changes
@pytest.mark.parametrize(
    ("answer", "verdict", "reason"),
    [
        (message(call(**WANTED)), "pass", "right"),
        (message(call(guests=2, place="Busan"), content="네"), "pass", "right"),
        ([{"name": "book_table", "arguments": WANTED}], "pass", "right"),
        (message(call(**WANTED), call(**WANTED)), "fail", "more than one call"),
        (message(call(**WANTED), call("other")), "fail", "more than one call"),
        (message(call("bookTable", **WANTED)), "fail", "other function"),
        (message(call(**WANTED, price=1)), "fail", "other arguments"),
        (message(call(place="Busan")), "fail", "other arguments"),
        (message(call(place="Busan", guests=2.0)), "fail", "other type"),
        (message(call(place="Busan", guests=True)), "fail", "other type"),
        (message(call(place="Busan", guests="2")), "fail", "other type"),
        (message(call(place="Busan", guests=3)), "fail", "other value"),
        (message(call(place=5, guests=2)), "fail", "other type"),
        (message(call(place="b usan", guests=2)), "pass", "right"),
        (message(call(place="Pusan", guests=2)), None, "other value"),
        (message(call(place="Pusan", guests=3)), "fail", "other value"),
        (message(), "fail", "no call"),
        ("null", "fail", "no call"),
        ("네, 알겠습니다.", "fail", "no call"),
        (message({"name": "book_table", "arguments": "{"}), "fail", "unreadable call"),
        ({"tool_calls": [3]}, "fail", "unreadable call"),
        (7, "fail", "unreadable call"),
    ],
)
def test_calls(answer: Any, verdict: str | None, reason: str) -> None:
    assert settled(item(), answer) == (verdict, reason)


@pytest.mark.parametrize(
    ("acceptable", "place", "guests", "verdict"),
    [
        ('{"place": ["Pusan", "Fusan"]}', "PUSAN", 2, "pass"),
        ('{"place": "Pusan"}', "Pusan", 2, "pass"),
        ('{"guests": 3}', "Busan", 3, "pass"),
        ('{"guests": 3}', "Busan", 4, "fail"),  # the published code takes any value here
        ('{"guests": 2.0}', "Busan", 2.0, "pass"),
        ({"place": ["Pusan"]}, "Pusan", 2, "pass"),
        ('{"place": "Any city is right."}', "Any city is right.", 2, None),
        ("Say it as the user does.", "b u s a n", 2, None),
        ("Say it as the user does.", "Busan", 2, "pass"),
    ],
)
def test_alternatives(acceptable: Any, place: str, guests: Any, verdict: str | None) -> None:
    answer = message(call(place=place, guests=guests))
    assert settled(item(acceptable=acceptable), answer)[0] == verdict


def test_gold_alone_means_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    from planner_eval.benchmarks.functionchat import matching, rules

    sentence = "Nothing else will do."
    monkeypatch.setattr(rules, "GOLD_ALONE", matching.digest(sentence))
    strict = item(acceptable=sentence)
    assert settled(strict, message(call(**WANTED))) == ("pass", "right")
    assert settled(strict, message(call(place="busan", guests=2))) == ("fail", "other value")
    assert settled(strict, message(call(place="Pusan", guests=2))) == ("fail", "other value")


@pytest.mark.parametrize("kind", ["completion", "slot", "relevance"])
def test_words(kind: str) -> None:
    assert settled(item(kind), {"content": "어디요?"}) == ("pass", "the reference")
    assert settled(item(kind), "어디로 할까요?") == (None, "words")
    assert settled(item(kind), {"content": None}) == ("fail", "nothing said")
    assert settled(item(kind), message(call(), content="어디요?")) == ("fail", "call instead of words")


def test_the_judge_is_asked_only_where_meaning_decides() -> None:
    asked: list[JudgeRequest] = []

    def reply(request: JudgeRequest) -> str:
        asked.append(request)
        return "이유\n\npass\npass"

    judge = ScriptedJudge(reply)
    answers = [message(call(**WANTED)), message(), message(call(place="Pusan", guests=2))]
    report = score_corrected([(item(), json.dumps(answer)) for answer in answers], judge=judge)
    assert [row.ok for row in report.rows] == [True, False, True]
    assert [request.task for request in asked] == ["functionchat.call"]
    assert "Pusan" in asked[0].messages[1][1]
    assert '"id"' not in asked[0].messages[1][1]


def test_a_verdict_is_asked_for_until_it_is_one() -> None:
    judge = ScriptedJudge(lambda request: "fail" if request.attempt == 2 else "pass or fail")
    assert decide(item("slot"), "어디로 할까요?", judge=judge)[2:4] == ("fail", "judge")
    stubborn = ScriptedJudge(lambda request: "no idea")
    assert decide(item("slot"), "어디로 할까요?", judge=stubborn)[2:4] == (None, "nobody")


def test_a_judge_that_fails_leaves_the_item_undecided() -> None:
    def reply(request: JudgeRequest) -> str:
        raise JudgeError("gone")

    found: Decided = decide(item("slot"), "어디로 할까요?", judge=ScriptedJudge(reply))
    assert (found.verdict, found.error) == (None, "JudgeError: gone")


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("pass\nfail", "fail"),
        ('"pass".', "pass"),
        ("**Fail**", "fail"),
        ("불합격", "fail"),
        ("실패", "fail"),
        ("통과\n통과", "pass"),
        ("it does not pass", None),
        ("compass", None),
        ("", None),
    ],
)
def test_the_last_line_is_the_verdict(text: str, verdict: str | None) -> None:
    assert read_last_word(text) == verdict


def test_rates_are_over_all_items() -> None:
    right, open_item = json.dumps(message(call(**WANTED))), '{"content": "어디로 할까요?"}'
    report = score_corrected([(item(), right), (item(), open_item), (item("slot"), open_item)])
    assert report.value("dialog call pass rate") == 0.5
    assert report.value("dialog slot pass rate") == 0
    assert report.value("dialog avg(micro)") == 1 / 3
    assert report.value("dialog avg(macro)") == 0.25
    assert report.value("dialog call decision") == 2 / 3
    assert report.value("dialog undecided") == 1 / 3
    single = score_corrected([(item(part="singlecall"), right)] * 3)
    assert (single.value("singlecall SUM"), single.value("singlecall AVG")) == (3, 3)


def test_a_sample_without_gold_is_a_row_that_says_so() -> None:
    for sample in (Sample("a"), item(gold={"role": "assistant"}), item("song", gold={})):
        (row,) = score_corrected([(sample, "null")]).rows
        assert row.error
        assert not row.ok


# ---------------------------------------------------------------- the released data
def test_released_gold_against_itself_is_perfect(reference: Path) -> None:
    samples = list(read_functionchat(reference / "datasets" / "functionchat"))
    report = score_corrected([(sample, json.dumps(sample.gold)) for sample in samples])
    assert [row.id for row in report.rows if not row.ok or row.error] == []
    for figure in report.figures:
        if figure.name == "singlecall SUM":
            assert figure.value == 500
        elif figure.name == "singlecall AVG":
            assert figure.value == 100
        else:
            assert figure.value == (0 if figure.name.endswith("undecided") else 1), figure.name
