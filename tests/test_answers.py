"""Answers of APIs and conversations, as they are written: tests/cases/answers has one of each kind."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner_eval as pe
from planner_eval.base.codes import code_meanings
from planner_eval.base.errors import AnswerError, InputError, ParseError
from planner_eval.plan.model import Plan
from planner_eval.reading.dialects.read import locate
from planner_eval.reading.files.files import PlanFile, read_file
from planner_eval.reading.files.record import read_plan
from tests.conftest import examples, tables
from tests.test_dialect_cases import FOLDER, printed, split

TABLES = tables(__file__)

CASES = {path.stem: json.loads(split(path)[1]) for path in sorted((FOLDER / "answers").glob("*.txt"))}
TALK = CASES["messages"]


def said(source: Any, **options: Any) -> str:
    try:
        plan = pe.parse(source, **options)
    except ParseError as error:
        return f"{error.code}: {error.reason}"
    return f"{plan.dialect}\n{printed(plan)}"


STOPPED = [(name, code) for code, names in TABLES["STATES"].items() for name in names.split()]


@pytest.mark.parametrize(("name", "code"), STOPPED)
def test_what_is_no_whole_answer_is_told_apart(name: str, code: str) -> None:
    with pytest.raises(AnswerError) as found:
        pe.parse(CASES[name])
    assert found.value.code == code
    assert code in code_meanings()


def test_a_cut_answer_carries_what_there_is() -> None:
    plans = []
    for name in ("openai_chat_cut", "openai_chat_cut_inside"):
        with pytest.raises(AnswerError) as found:
            pe.parse(CASES[name])
        plans.append(found.value.plan)
    assert isinstance(plans[0], Plan)
    assert ([call.name for call in plans[0].calls], plans[1]) == (["find_room"], None)
    with pytest.raises(ParseError, match="cut off"):
        pe.parse(f"The server said:\n```json\n{json.dumps(CASES['openai_chat_cut'])}\n```\n")


TURNS = [("first", ["find_room"]), (1, ["find_room"]), (2, ["heat"]), (3, []), ("last", [])]


def names(plan: Plan) -> list[tuple[str, int | None]]:
    return [(call.name, call.turn) for call in plan.calls]


def test_all_turns_are_read_and_kept_apart() -> None:
    assert names(pe.parse(TALK)) == [("find_room", 1), ("heat", 2)]
    assert names(pe.parse(CASES["messages_again"])) == [("roll", 1), ("roll", 2)]
    assert names(pe.parse(CASES["openai_chat"])) == [("find_room", None), ("heat", None)]


@pytest.mark.parametrize(("turn", "called"), TURNS)
def test_one_turn_may_be_read(turn: Any, called: list[str]) -> None:
    for source in (TALK, json.dumps(TALK)):
        plan = pe.parse(source, turn=turn)
        assert [call.name for call in plan.calls] == called
        assert all(call.has_result for call in plan.calls)
        assert "find.turns" not in [note.code for note in plan.diagnostics]


def test_a_turn_that_is_not_there_or_not_whole_is_said() -> None:
    with pytest.raises(AnswerError, match="no turn 4: the assistant has 3 turns"):
        pe.parse(TALK, turn=4)
    for wrong in (0, -1, "second", True, 1.5):
        with pytest.raises(InputError, match="expected 'first', 'last' or a number"):
            pe.parse(TALK, turn=wrong)  # type: ignore[arg-type]
    talk = [TALK["messages"][1], {"role": "assistant", "content": "I", "finish_reason": "length"}]
    assert [call.name for call in pe.parse(talk, turn="first").calls] == ["find_room"]
    with pytest.raises(AnswerError):
        pe.parse(talk)


@pytest.mark.parametrize(
    "name", ["messages", "messages_again", "conversation", "langgraph_state", "sharegpt"]
)
def test_a_conversation_under_output_has_no_other_turns(name: str) -> None:
    case = CASES[name]
    (talk,) = (
        [case] if isinstance(case, list) else (value for value in case.values() if isinstance(value, list))
    )
    assert said({"output": talk}) == said(talk)
    assert said(json.dumps({"output": talk})) == said(json.dumps(talk))


def test_a_conversation_under_output_ends_as_the_object_around_it_says() -> None:
    answer = {"output": TALK["messages"], "status": "incomplete"}
    with pytest.raises(AnswerError, match="cut off"):
        pe.parse(answer)
    assert [call.name for call in pe.parse(answer, turn="first").calls] == ["find_room"]
    with pytest.raises(AnswerError, match="no assistant turn"):
        pe.parse({"output": TALK["messages"][:1]})


def test_calls_keep_their_places_inside_an_answer() -> None:
    text = json.dumps(CASES["gemini"])
    start, end = locate(pe.parse(text)).calls[0].spans[0]
    assert text[start:end] == "3"


@pytest.mark.parametrize("name", CASES)
def test_text_data_and_objects_of_an_answer_say_the_same(name: str) -> None:
    data = CASES[name]
    wanted = said(data)
    for other in (json.dumps(data), json.dumps(data, indent=1), Pydantic(data), Plain(data), Texts(data)):
        assert said(other) == wanted


def test_a_notation_that_is_named_reads_the_words_of_an_answer() -> None:
    talk = CASES["sharegpt_words"]
    assert [call.name for call in pe.parse(talk, dialect="hermes").calls] == ["find_room"]
    assert pe.parse(CASES["openai_chat_words"], dialect="openai-chat").calls == ()
    with pytest.raises(ParseError, match="the dialect 'hermes' is text, found a JSON list of calls"):
        pe.parse(CASES["openai_chat"], dialect="hermes")


class Pydantic:
    def __init__(self, data: Any) -> None:
        self.data = data

    def model_dump(self) -> Any:
        return self.data


class Plain(Pydantic):
    model_dump = None  # type: ignore[assignment]

    def to_dict(self) -> Any:
        return self.data


class Texts(Plain):
    to_dict = None  # type: ignore[assignment]

    def to_json(self) -> str:
        return json.dumps(self.data)


def test_lists_and_states_of_objects_are_read() -> None:
    messages = CASES["langchain"]
    objects = [Pydantic(message) for message in messages]
    for source in (objects, tuple(objects), {"messages": objects}):
        assert said(source) == said(messages)
    types = pytest.importorskip("openai.types.chat")
    answer = types.ChatCompletion.model_validate(CASES["openai_chat"])
    assert said(answer) == said(answer.model_dump_json()) == said(CASES["openai_chat"])


WRONG = [
    None, True, 0, -1.5, "", "x", "{", [], {}, [None], [1], ["x"], {"x": 1}, [[]], [{}], {"type": "text"},
]  # fmt: skip


def ways(data: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to all values inside some data."""
    found = [way] if way else []
    pairs = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in pairs:
        found += ways(value, (*way, key))
    return found


PARTS = [value for data in CASES.values() for value in ([data] if isinstance(data, dict) else data)]
KEYS = sorted({key for part in PARTS for way in ways(part) for key in way if isinstance(key, str)})
mixtures = st.recursive(
    st.sampled_from([*PARTS, *WRONG]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=5,
)


@examples(400)
@given(mixtures, st.sampled_from([None, "first", "last", 2]), st.booleans())
def test_mixtures_of_answers_give_a_plan_or_an_error(data: Any, turn: Any, repair: bool) -> None:
    for source in (data, json.dumps(data)):
        try:
            assert said(source, turn=turn, repair=repair)
        except InputError as error:  # of data, not of text: several records are no plan
            if not isinstance(source, list) or "expected one plan" not in str(error):
                raise


def test_deep_answers_end_in_an_error() -> None:
    deep: Any = {"role": "assistant", "content": "x"}
    for _ in range(5_000):
        deep = {"response": {"body": deep, "status_code": 200}}
    conversation: Any = [{"role": "assistant", "content": "[f(a=1)]"}]
    for _ in range(30):
        conversation = {"messages": [conversation]}
    for source in (deep, conversation):
        with pytest.raises(ParseError):
            pe.parse(source)


TEXT = {"type": "text", "text": "I look."}
GIVEN = {"name": "get_weather", "args": {"city": "Rome"}}


def records(folder: Path, value: Any, name: str = "file.json", **how: Any) -> PlanFile:
    path = folder / name
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=1))
    return read_file(str(path), **how)


def chunk(*parts: Any, end: str | None = None, **beside: Any) -> dict[str, Any]:
    candidate = {"content": {"role": "model", "parts": list(parts)}, **({"finishReason": end} if end else {})}
    return {"candidates": [candidate], **beside}


ONE = TABLES["ONE"]


@pytest.mark.parametrize("form", ONE)
def test_the_parts_of_one_answer_are_one_plan(tmp_path: Path, form: str) -> None:
    found = records(tmp_path, ONE[form])
    assert (found.many, len(found.records)) == (False, 1)
    plan = read_plan(found.records[0])
    assert [(call.name, call.arguments) for call in plan.calls] == [("get_weather", (("city", "Rome"),))]
    assert pe.same(plan, pe.parse(ONE[form]))
    assert "stream" not in form or not any(note.code == "find.turns" for note in plan.diagnostics)


MANY = TABLES["MANY"]


@pytest.mark.parametrize("form", MANY)
def test_what_may_be_many_answers_is_records(tmp_path: Path, form: str) -> None:
    found = records(tmp_path, MANY[form])
    assert (found.many, len(found.records)) == (True, 2)


def test_texts_alone_may_be_either_which_is_told(tmp_path: Path) -> None:
    found = records(tmp_path, [TEXT, TEXT])
    assert (len(found.records), len(found.notes)) == (2, 1)
    assert "2 objects of the type 'text' are read as 2 answers" in found.notes[0]
    assert not records(tmp_path, f"{json.dumps(TEXT)}\n" * 2, "texts.jsonl").notes
    assert not records(tmp_path, [TEXT, TEXT], text_field="text").notes
    parts = [{"text": "f()"}, {"text": "g()", "functionCall": GIVEN}]  # a field that the user names
    assert len(records(tmp_path, parts).records) == 1
    assert len(records(tmp_path, parts, text_field="text").records) == 2


@pytest.mark.parametrize("form", ["anthropic", "anthropic, thought", "bedrock", "gemini", "vercel"])
def test_one_that_was_cut_off_in_its_call_is_one_plan_that_says_so(tmp_path: Path, form: str) -> None:
    whole = json.dumps(ONE[form])
    found = records(tmp_path, whole[: whole.index("Rome") + 2])
    assert (found.many, len(found.records)) == (False, 1)
    with pytest.raises(ParseError, match="cut off"):
        read_plan(found.records[0])


def test_words_that_were_streamed_are_read_together_and_a_stream_without_its_end_is_refused() -> None:
    said = [chunk({"text": "f(a="}, responseId="r"), chunk({"text": "1)"}, end="STOP", responseId="r")]
    assert [call.arguments for call in pe.parse(said).calls] == [(("a", 1),)]
    with pytest.raises(ParseError, match="a piece of a stream"):
        pe.parse(ONE["responses' stream"][1:-1])
