"""FunctionChat-Bench: both scores on data of our own, reader, tables, result file, classes of errors."""

import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import planner_eval as pe
from planner_eval.base.codes import code_meanings
from planner_eval.base.errors import DatasetError, JudgeError
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.functionchat import corrected, matching, score_corrected, score_official
from planner_eval.benchmarks.functionchat import official as tsv
from planner_eval.benchmarks.functionchat.corrected import read_last_word, scorer
from planner_eval.benchmarks.functionchat.data import FILES, model_request, read_functionchat
from planner_eval.benchmarks.functionchat.reading import read_answer
from planner_eval.benchmarks.functionchat.tables import error_class, table1, table2
from planner_eval.benchmarks.judging import JudgeRequest, ScriptedJudge
from tests import inside
from tests.conftest import ROOT, tabled, tables
from tests.vectors import read

TABLES = tables(__file__)

ANSWERS = str(ROOT / "data" / "samples" / "answers" / "functionchat.jsonl")
GOLD = ROOT / "data" / "samples" / "functionchat"
TYPES = {"place": "string", "guests": "integer", "price": "number", "inside": "boolean"}
SCHEMA = {"type": "object", "properties": {key: {"type": kind} for key, kind in TYPES.items()}}
TOOLS = [{"type": "function", "function": {"name": "book_table", "parameters": SCHEMA}}]
WANTED = {"place": "Busan", "guests": 2}


@pytest.fixture(scope="module")
def samples(reference: Path) -> list[Sample]:
    return list(read_functionchat(reference / "datasets" / "functionchat"))


@pytest.fixture(scope="module")
def official(reference: Path) -> Any:
    return read(reference / "vectors" / "functionchat" / "official.json.gz")


def call(name: str = "book_table", **arguments: Any) -> dict[str, str]:
    return {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}


def message(*calls: dict[str, Any], content: str | None = None) -> dict[str, Any]:
    wrapped = [{"id": "1", "type": "function", "function": each} for each in calls]
    return {"role": "assistant", "content": content, "tool_calls": wrapped}


def item(
    kind: str = "call", gold: Any = None, acceptable: Any = None, part: str = "dialog", at: int = 1
) -> Sample:
    if gold is None:
        gold = message(call(**WANTED)) if kind == "call" else {"role": "assistant", "content": "어디요?"}
    extra = {"part": part, "serial_num": at, "type_of_output": kind, "messages": [], "dialog_num": 1}
    extra |= {"acceptable_arguments": acceptable, "tools_type": "exact"}
    return Sample(f"{part}-{at}", tools=TOOLS, gold=gold, dialect="json", category=kind, extra=extra)


RIGHT, WRONG = (json.dumps(message(call(place=place, guests=2))) for place in ("Busan", "Seoul"))


def telling(said: str) -> tuple[ScriptedJudge, list[JudgeRequest]]:
    """A judge that says what it is told to, and what it was asked."""
    asked: list[JudgeRequest] = []

    def reply(request: JudgeRequest) -> str:
        asked.append(request)
        return said

    return ScriptedJudge(reply), asked


def failing(request: JudgeRequest) -> str:
    raise JudgeError("gone")


def test_all_payload_vectors(samples: list[Sample], official: Any) -> None:
    parts = {part: [one for one in samples if one.extra["part"] == part] for part in FILES}
    for kind, members in parts.items():
        expected, found = official["payload"][kind], list(map(model_request, members))
        assert (len(found), list(found[0])) == (expected["items"], expected["first_keys"])


def test_the_published_sums_and_constants() -> None:
    judge = ScriptedJudge(lambda request: "fail\n" * 2 if request.task[-4:] == "call" else "통과\n통과")
    slot = (item("slot", at=3), '{"content": "Which?"}')
    report = score_official([(item(), RIGHT), (item(at=2), WRONG), slot], judge=judge)
    assert [row.ok for row in report.rows] == [True, False, True]
    names = ("call pass rate", "slot pass rate", "avg(micro)", "avg(macro)")
    assert [report.value(f"dialog {name}") for name in names] == [0.5, 1, 2 / 200, 0.75]
    without = score_official([(item(), RIGHT), slot])  # a judge
    assert without.figure("dialog total").error == "ZeroDivisionError: division by zero"
    assert without.value("dialog undecided") == 1
    right, wrong = (item(at=n, part="singlecall") for n in (1, 2))
    other = Sample("other", gold=right.gold, category="4_close", extra=right.extra)
    report = score_official([(right, RIGHT), (wrong, WRONG), (other, WRONG)])  # kinds without a pass count
    assert [report.value(f"singlecall {name}") for name in ("SUM", "AVG")] == [1, 0.5]
    assert score_official([(item(), RIGHT), (item(), WRONG)]).value("dialog call pass cnt") == 1  # an id once
    assert score_official([(right, RIGHT)] * 2).value("singlecall total_cnt") == 1


@pytest.mark.parametrize("text", ["", "no JSON", "[]", "[" * 100_000, "9" * 5000, '{"tool_calls": [3]}'])
def test_an_answer_that_is_no_message_is_a_row_that_says_so(text: str) -> None:
    for kind in ("call", "slot"):
        (row,) = score_official([(item(kind), text)], judge=telling("pass")[0]).rows
        assert (row.ok, bool(row.error)) == (False, True)


def test_rows_of_nothing_said_of_a_judge_that_fails_and_of_other_samples() -> None:
    (row,) = score_official([(item(), "null")]).rows
    assert [figure.value for figure in row.figures][:2] == ["fail", "exact"]
    (row,) = score_official([(item(), WRONG)], judge=ScriptedJudge(failing)).rows
    assert row.error == "JudgeError: gone"
    (row,) = score_official([(Sample("a1", gold=[1]), RIGHT)]).rows
    assert "not one of FunctionChat-Bench" in (row.error or "")
    for sample in (Sample("a"), item(gold={"role": "assistant"}), item("song", gold={})):
        (row,) = score_corrected([(sample, "null")]).rows
        assert (row.ok, bool(row.error)) == (False, True)


def test_the_judge_sees_no_ids_and_what_the_criterion_needs() -> None:
    judge, asked = telling("pass")
    score_official([(item(), WRONG), (item("relevance", at=2), RIGHT)], judge=judge)
    assert [one.task for one in asked] == ["functionchat.call", "functionchat.relevance"]
    texts = [one.messages[1][1] for one in asked]
    assert not any('"id"' in text for text in texts)
    assert ["Acceptable alternatives" in text for text in texts] == [True, False]


def test_every_item_and_irregularity_of_the_data_is_counted(samples: list[Sample]) -> None:
    parts = Counter(sample.extra["part"] for sample in samples)
    assert parts == {"singlecall": 500, "dialog": 200, "calldecision": 606}
    assert len({sample.id for sample in samples}) == len(samples)
    dialog = Counter(sample.category for sample in samples if sample.extra["part"] == "dialog")
    assert dialog == {"call": 70, "completion": 71, "slot": 36, "relevance": 23}
    found = [[d.code for d in sample.extra["diagnostics"]] for sample in samples]
    assert sum("dataset.alternative_unlisted" in codes for codes in found) == 35
    counts = Counter(code for codes in found for code in codes)
    assert set(counts) <= set(code_meanings())
    assert {code.removeprefix("dataset."): count for code, count in counts.items()} == {
        "alternatives_text": 55, "alternatives_object": 3, "alternative_unlisted": 48,
        "alternative_argument": 1, "alternative_type": 48, "alternative_instruction": 7, "tool_result": 15,
    }  # fmt: skip
    cells = [*table1(samples), *table2(samples)]
    assert len(cells) == 10 + 3 + 5 + 6
    assert [cell for cell in cells if cell.agrees is not True or cell.note] == []
    assert all(cell.value is None for cell in [*table1([]), *table2([])])
    assert (table2([item()])[0].value, table2([item()])[0].note) == (1, "1 of 200 items available")


def test_a_single_call_is_one_item_a_tool_list(tmp_path: Path) -> None:
    said = {
        "query": "A table in Busan, please", "ground_truth": json.dumps(call(place="Busan")),
        "acceptable_arguments": '{"place": 7, "time": "noon"}',
    }  # fmt: skip
    tool = {"type": "function", "function": {"name": "book_table", "parameters": {}}}
    record: dict[str, Any] = {key: [{"serial_num": 1, "content": text}] for key, text in said.items()}
    record["tools"] = [{"type": "exact", "content": [tool]}, {"type": "4_close", "content": [tool] * 4}]
    (tmp_path / "FunctionChat-Singlecall.jsonl").write_text(json.dumps(record) + "\n\n")
    (tmp_path / "system_prompt.txt").write_text("Be kind.\n")
    first, second = read_functionchat(tmp_path)
    assert (first.id, second.id) == ("singlecall-1-exact", "singlecall-1-4_close")
    assert first.gold == call(place="Busan")
    assert first.extra["messages"][0] == {"role": "system", "content": "Be kind."}
    found = [d.code.removeprefix("dataset.alternative_") for d in first.extra["diagnostics"]]
    assert (found, second.extra["diagnostics"]) == (["unlisted", "type", "argument"], ())


def test_the_reader_says_what_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "FunctionChat-Dialog.jsonl"
    for text, how, said in (
        (None, {}, "no file named FunctionChat-Singlecall"), (None, {"part": "chat"}, "no part 'chat'"),
        ('{"turns": []}\n{"turns": [{}]}\n', {}, "line 2: not a dialog record"),
        ("{}\n{\n", {}, r"line 1: not a dialog record|line 2, column 1: not JSON"),
    ):  # fmt: skip
        if text is not None:
            file.write_text(text)
        with pytest.raises(DatasetError, match=said):
            list(read_functionchat(tmp_path, **how))


def settled(sample: Sample, answer: Any) -> tuple[str | None, str]:
    """The verdict without a judge, and its reason."""
    found = scorer().judge(sample, answer if isinstance(answer, str) else json.dumps(answer))
    return found.verdict, found.reason


@settings(deadline=None)
@given(st.text(max_size=100))
def test_no_text_raises(text: str) -> None:
    for kind in ("call", "completion", "slot", "relevance"):
        assert len(score_corrected([(item(kind), text)]).rows) == 1
    read_last_word(text)


@pytest.mark.parametrize(("answer", "verdict", "reason"), [
    *TABLES["calls"],
    (message(call(**WANTED)), "pass", "right"),
    (message(call(**WANTED), call(**WANTED)), "fail", "more than one call"),
    (message(call(**WANTED), call("other")), "fail", "more than one call"),
    (message(call(**WANTED, price=1)), "fail", "other arguments"),
    (message(call(place="Busan")), "fail", "other arguments"),
    *((message(call(place="Busan", guests=guests)), "fail", "other type") for guests in (2.0, True, "2")),
    (message(call(place=5, guests=2)), "fail", "other type"),
    (message(call(place="b usan", guests=2)), "pass", "right"),
    (message(call(place="Pusan", guests=2)), None, "other value"),
    *((nothing, "fail", "no call") for nothing in (message(), "null", "네, 알겠습니다.")),
])  # fmt: skip
def test_calls(answer: Any, verdict: str | None, reason: str) -> None:
    assert settled(item(), answer) == (verdict, reason)


@tabled("acceptable, place, guests, verdict")
def test_alternatives(acceptable: Any, place: str, guests: Any, verdict: str | None) -> None:
    assert settled(item(acceptable=acceptable), message(call(place=place, guests=guests)))[0] == verdict


def test_gold_alone_means_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    sentence = "Nothing else will do."
    monkeypatch.setattr(corrected, "GOLD_ONLY_DIGEST", matching.digest(sentence))
    for place, told in (
        ("Busan", ("pass", "right")), ("busan", wrong := ("fail", "other value")), ("Pusan", wrong),
    ):  # fmt: skip
        assert settled(item(acceptable=sentence), message(call(place=place, guests=2))) == told


@pytest.mark.parametrize("kind", ["completion", "slot", "relevance"])
def test_words(kind: str) -> None:
    assert settled(item(kind), {"content": "어디요?"}) == ("pass", "the reference")
    assert settled(item(kind), "어디로 할까요?") == (None, "words")
    assert settled(item(kind), {"content": None}) == ("fail", "empty answer")
    assert settled(item(kind), message(call(), content="어디요?")) == ("fail", "call instead of text")


def test_the_judge_is_asked_only_where_meaning_decides_and_until_it_has_a_verdict() -> None:
    judge, requests = telling("이유\n\npass\npass")
    answers = [message(call(**WANTED)), message(), message(call(place="Pusan", guests=2))]
    report = score_corrected([(item(), json.dumps(answer)) for answer in answers], judge=judge)
    assert [row.ok for row in report.rows] == [True, False, True]
    (only,) = requests
    text = only.messages[1][1]
    assert (only.task, "Pusan" in text, '"id"' in text) == ("functionchat.call", True, False)
    patient = ScriptedJudge(lambda request: "fail" if request.attempt == 2 else "pass or fail")
    assert scorer(patient).judge(item("slot"), "어디로 할까요?")[3:5] == ("fail", "judge")
    assert scorer(telling("no idea")[0]).judge(item("slot"), "어디로 할까요?")[3:5] == (None, "nobody")
    found = scorer(ScriptedJudge(failing)).judge(item("slot"), "어디로 할까요?")
    assert (found.verdict, found.error) == (None, "JudgeError: gone")


@pytest.mark.parametrize(("text", "verdict"), [
    ("pass\nfail", "fail"), ('"pass".', "pass"), ("**Fail**", "fail"), ("불합격", "fail"), ("실패", "fail"),
    ("통과\n통과", "pass"), ("it does not pass", None), ("compass", None), ("", None),
])  # fmt: skip
def test_the_last_line_is_the_verdict(text: str, verdict: str | None) -> None:
    assert read_last_word(text) == verdict


def test_rates_are_over_all_items() -> None:
    words = '{"content": "어디로 할까요?"}'
    report = score_corrected([(item(), RIGHT), (item(), words), (item("slot"), words)])
    names = ("call pass rate", "slot pass rate", "avg(micro)", "avg(macro)", "call decision", "undecided")
    assert [report.value(f"dialog {name}") for name in names] == [0.5, 0, 1 / 3, 0.25, 2 / 3, 1 / 3]
    single = score_corrected([(item(part="singlecall"), RIGHT)] * 3)
    assert (single.value("singlecall SUM"), single.value("singlecall AVG")) == (3, 3)


def test_released_gold_against_itself_is_perfect(samples: list[Sample]) -> None:
    report = score_corrected([(sample, json.dumps(sample.gold)) for sample in samples])
    assert [row.id for row in report.rows if not row.ok or row.error] == []
    for figure in report.figures:
        other = {"singlecall SUM": 500, "singlecall AVG": 100}.get(figure.name, 1)
        assert figure.value == (0 if figure.name.endswith("undecided") else other), figure.name


def scored(answers: str, gold: str, *more: str) -> subprocess.CompletedProcess[str]:
    return inside.planeval("score", answers, gold, "--benchmark", "functionchat", *more)


@pytest.mark.parametrize("part", ["singlecall", "calldecision"])
def test_the_published_result_file(part: str, reference: Path, official: Any, tmp_path: Path) -> None:
    expected, answers = official["runs"][f"{part}/only_exact"], tmp_path / "answers.jsonl"
    cases = read(reference / "vectors" / "functionchat" / "cases.jsonl.gz")
    said = [case["output"] for case in cases if (case["kind"], case.get("dataset")) == ("run", part)]
    answers.write_text("".join(json.dumps({"output": one}) + "\n" for one in said))
    done = scored(str(answers), str(reference / "datasets/functionchat" / FILES[part]), "--format", "tsv")
    assert done.returncode == 0, done.stderr
    header, *rows = done.stdout.split("\n")[:-1]
    assert (header, len(rows)) == (expected["tsv_header"], expected["tsv_rows"])
    assert [row.split("\t")[1] for row in rows] == expected["tsv_is_pass"]
    assert len(rows[0].split("\t")) == expected["tsv_columns_row1"]


def test_a_result_file_is_written_and_read_again(tmp_path: Path) -> None:
    file, gold = tmp_path / "eval_report.tsv", str(GOLD / FILES["singlecall"])
    done = scored(ANSWERS, gold, "--format", "tsv", "-o", str(file))
    assert (done.returncode, done.stdout) == (0, "")
    text = file.read_text(encoding="utf-8")
    assert text.startswith("#serial_num\tis_pass\ttools_type\tground_truth\t")
    assert text.split("\n")[1].startswith('1\tpass\texact\t{"name": "order_seeds"')
    assert "당근" in text.split("\n")[1]
    found = pe.agree(file, {"singlecall-1-exact": "pass", "singlecall-2-exact": "fail"})
    assert (found.n, found.figure("agreement")) == (2, 1.0)
    file.unlink()
    assert scored(ANSWERS, gold, "-o", str(file)).returncode == 0  # the suffix says the format
    assert file.read_text(encoding="utf-8") == text
    judged = [(item(), RIGHT), (item("slot", at=2), "null"), (item(at=3), "x")]
    lines = [line.split("\t") for line in tsv.result_file(judged, None).splitlines()]
    assert lines[0][:4] == ["#serial_num", "is_pass", "type_of_output", "ground_truth"]
    assert [line[:3] for line in lines[1:3]] == [["1", "pass", "call"], ["2", "skip evaluation", "slot"]]
    assert json.loads(lines[1][6])["reasoning"].startswith("exact-eval")
    assert lines[3][1].startswith("JSONDecodeError")


def tool(name: str, *required: str) -> dict[str, Any]:
    schema = {
        "type": "object", "properties": {key: {"type": "string"} for key in required},
        "required": [*required],
    }  # fmt: skip
    return {"type": "function", "function": {"name": name, "parameters": schema}}


MADE = call("weather", city="Seoul")
TALK = [
    {"role": "user", "content": "Weather in Seoul?"}, message(MADE),
    {"role": "tool", "content": '{"sky": "clear"}'},
]  # fmt: skip


def asked(kind: str) -> Sample:
    gold = message(MADE) if kind == "call" else {"role": "assistant", "content": "맑아요."}
    extra = {"part": "dialog", "type_of_output": kind, "messages": TALK, "acceptable_arguments": None}
    return Sample("dialog-1", tools=[tool("weather", "city"), tool("time")], gold=gold, extra=extra)


@tabled("kind, answer, found")
def test_the_class_of_an_error(kind: str, answer: str, found: str) -> None:
    assert error_class(asked(kind), read_answer(answer)) == found
