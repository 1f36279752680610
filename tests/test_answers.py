"""Answers of APIs and conversations, as they are written: tests/cases/answers has one of each kind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import planner_eval as pe
from planner_eval.base.errors import CODES, AnswerError, InputError, ParseError
from planner_eval.dialects.states import CUT, FAILED, REFUSED, stopped
from planner_eval.plan.model import Plan
from tests.test_dialect_cases import FOLDER, printed, split

CASES = {path.stem: json.loads(split(path)[1]) for path in sorted((FOLDER / "answers").glob("*.txt"))}
TALK = CASES["messages"]


def said(source: Any, **options: Any) -> str:
    try:
        plan = pe.parse(source, **options)
    except ParseError as error:
        return f"{error.code}: {error.reason}"
    return f"{plan.dialect}\n{printed(plan)}"


@pytest.mark.parametrize("name", CASES)
def test_text_and_data_of_an_answer_say_the_same(name: str) -> None:
    assert said(json.dumps(CASES[name])) == said(CASES[name])
    assert said(json.dumps(CASES[name], indent=1)) == said(CASES[name])


@pytest.mark.parametrize(("name", "code"), [
    ("openai_chat_cut", "answer.cut"),
    ("openai_responses_incomplete", "answer.cut"),
    ("anthropic_cut", "answer.cut"),
    ("gemini_cut", "answer.cut"),
    ("bedrock_cut", "answer.cut"),
    ("ollama_cut", "answer.cut"),
    ("vercel_ui_cut", "answer.cut"),
    ("langchain_cut", "answer.cut"),
    ("opentelemetry_cut", "answer.cut"),
    ("openai_chat_refused", "answer.refused"),
    ("openai_chat_filtered", "answer.refused"),
    ("openai_responses_refused", "answer.refused"),
    ("anthropic_refused", "answer.refused"),
    ("gemini_safety", "answer.refused"),
    ("gemini_blocked", "answer.refused"),
    ("bedrock_guardrail", "answer.refused"),
    ("openai_batch_error", "answer.failed"),
    ("openai_batch_status", "answer.failed"),
    ("openai_responses_failed", "answer.failed"),
    ("anthropic_batch_errored", "answer.failed"),
    ("anthropic_batch_expired", "answer.failed"),
    ("anthropic_error", "answer.failed"),
    ("gemini_malformed", "answer.failed"),
    ("ollama_error", "answer.failed"),
    ("messages_nobody", "answer.absent"),
    ("messages_empty", "answer.absent"),
])  # fmt: skip
def test_what_is_no_whole_answer_is_told_apart(name: str, code: str) -> None:
    with pytest.raises(AnswerError) as found:
        pe.parse(CASES[name])
    assert found.value.code == code
    assert code in CODES


def test_a_cut_answer_carries_what_there_is() -> None:
    with pytest.raises(AnswerError) as found:
        pe.parse(CASES["openai_chat_cut"])
    plan = found.value.plan
    assert isinstance(plan, Plan)
    assert [call.name for call in plan.calls] == ["find_room"]
    with pytest.raises(AnswerError) as found:
        pe.parse(CASES["openai_chat_cut_inside"])
    assert found.value.plan is None


def test_reasons_to_stop_are_of_one_kind_each() -> None:
    assert not CUT & REFUSED | CUT & FAILED | REFUSED & FAILED
    for whole in ("stop", "tool_calls", "function_call", "end_turn", "STOP", "stop_sequence", "new reason"):
        assert stopped(whole, "finish_reason") is None


# ---------------------------------------------------------------- turns
def names(plan: Plan) -> list[tuple[str, int | None]]:
    return [(call.name, call.turn) for call in plan.calls]


def test_all_turns_are_read_and_kept_apart() -> None:
    assert names(pe.parse(TALK)) == [("find_room", 1), ("heat", 2)]
    assert names(pe.parse(CASES["messages_again"])) == [("roll", 1), ("roll", 2)]
    assert names(pe.parse(CASES["openai_chat"])) == [("find_room", None), ("heat", None)]


@pytest.mark.parametrize(
    ("turn", "called"), [("first", ["find_room"]), (1, ["find_room"]), (2, ["heat"]), (3, []), ("last", [])]
)
def test_one_turn_may_be_read(turn: Any, called: list[str]) -> None:
    for source in (TALK, json.dumps(TALK)):
        plan = pe.parse(source, turn=turn)
        assert [call.name for call in plan.calls] == called
        assert all(call.has_result for call in plan.calls)
        assert "find.turns" not in [note.code for note in plan.diagnostics]


def test_a_turn_that_is_not_there_is_said() -> None:
    with pytest.raises(AnswerError, match="there is no turn 4: the assistant has 3 turns"):
        pe.parse(TALK, turn=4)
    for wrong in (0, -1, "second", True, 1.5):
        with pytest.raises(InputError, match="expected 'first', 'last' or a number"):
            pe.parse(TALK, turn=wrong)  # type: ignore[arg-type]


def test_only_the_turn_that_is_read_has_to_be_whole() -> None:
    talk = [TALK["messages"][1], {"role": "assistant", "content": "I", "finish_reason": "length"}]
    assert [call.name for call in pe.parse(talk, turn="first").calls] == ["find_room"]
    with pytest.raises(AnswerError):
        pe.parse(talk)


def test_calls_keep_their_places_inside_an_answer() -> None:
    from planner_eval.dialects.read import locate

    text = json.dumps(CASES["gemini"])
    plan = locate(pe.parse(text))
    start, end = plan.calls[0].spans[0]
    assert text[start:end] == "3"


def test_a_notation_that_is_named_reads_the_words_of_an_answer() -> None:
    talk = CASES["sharegpt_words"]
    assert [call.name for call in pe.parse(talk, dialect="hermes").calls] == ["find_room"]
    assert pe.parse(CASES["openai_chat_words"], dialect="openai-chat").calls == ()
    with pytest.raises(ParseError, match="the dialect 'hermes' is text, found calls listed as JSON"):
        pe.parse(CASES["openai_chat"], dialect="hermes")


# ---------------------------------------------------------------- objects of other packages
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


@pytest.mark.parametrize("kind", [Pydantic, Plain, Texts])
@pytest.mark.parametrize("name", CASES)
def test_objects_are_read_as_what_they_dump(kind: type[Pydantic], name: str) -> None:
    assert said(kind(CASES[name])) == said(CASES[name])


def test_lists_and_states_of_objects_are_read() -> None:
    messages = CASES["langchain"]
    objects = [Pydantic(message) for message in messages]
    assert said(objects) == said(messages)
    assert said(tuple(objects)) == said(messages)
    assert said({"messages": objects}) == said(messages)


def test_objects_of_the_packages_themselves_are_read() -> None:
    types = pytest.importorskip("openai.types.chat")
    answer = types.ChatCompletion.model_validate(CASES["openai_chat"])
    assert said(answer) == said(CASES["openai_chat"])
    assert said(answer.model_dump_json()) == said(CASES["openai_chat"])


# ---------------------------------------------------------------- what is of another shape than its kind has
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


def changed(data: Any, way: tuple[Any, ...], value: Any) -> Any:
    """The data with another value at the end of a way."""
    copy = json.loads(json.dumps(data))
    inner = copy
    for step in way[:-1]:
        inner = inner[step]
    inner[way[-1]] = value
    return copy


@pytest.mark.more
@pytest.mark.parametrize("name", CASES)
def test_wrong_types_at_any_level_give_a_plan_or_an_error(name: str) -> None:
    for way in ways(CASES[name]):
        for wrong in WRONG:
            mutant = changed(CASES[name], way, wrong)
            for source in (mutant, json.dumps(mutant)):
                assert said(source)


PARTS = [value for data in CASES.values() for value in ([data] if isinstance(data, dict) else data)]
KEYS = sorted({key for part in PARTS for way in ways(part) for key in way if isinstance(key, str)})
mixtures = st.recursive(
    st.one_of(st.sampled_from(PARTS), st.sampled_from(WRONG)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
    ),
    max_leaves=5,
)


@settings(max_examples=400, deadline=None)
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
    with pytest.raises(ParseError):
        pe.parse(deep)
    conversation: Any = [{"role": "assistant", "content": "[f(a=1)]"}]
    for _ in range(30):
        conversation = {"messages": [conversation]}
    with pytest.raises(ParseError):
        pe.parse(conversation)


def test_a_conversation_in_a_fence_is_read_as_one(tmp_path: Path) -> None:
    answer = json.dumps(CASES["openai_chat_choices"])
    plan = pe.parse(f"The server said:\n```json\n{answer}\n```\n")
    assert [call.name for call in plan.calls] == ["find_room"]
    with pytest.raises(ParseError, match="cut off"):
        pe.parse(f"The server said:\n```json\n{json.dumps(CASES['openai_chat_cut'])}\n```\n")
