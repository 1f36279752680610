"""Samples as records that models are trained on: what they are asked, and gold as the answer.

Every record is read back before it is given: its answer has to be the gold plan.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from planner_eval.base.errors import InputError, PlanevalError
from planner_eval.benchmarks.benchmark import BENCHMARKS, asking_of
from planner_eval.benchmarks.datasets.published import Sample, gold_plan
from planner_eval.models.pipelines.demonstrations import ShotOptions
from planner_eval.models.pipelines.direct_pipelines import label_calls, opening_messages, turn_message
from planner_eval.models.pipelines.pipeline import (
    OWN_TASKS,
    Fields,
    Message,
    ModelCall,
    Request,
    Task,
    assistant_message,
    result_messages,
)
from planner_eval.models.pipelines.replies import ReplyTurn
from planner_eval.models.pipelines.setup import Setup
from planner_eval.models.pipelines.tool_lists import Offer, offer_of
from planner_eval.models.predict.prepare import Prepared, prepare_run
from planner_eval.models.predict.tasks import gold_words, read_own_golds
from planner_eval.plan.canonical import same
from planner_eval.plan.model import Plan
from planner_eval.reading import dialects
from planner_eval.reading.dialects.read import parse, write
from planner_eval.reading.files.record import read_plan

EXPORT_FORMATS = ("chat-jsonl", "tools-jsonl")
"""Gold as the text that ``flat`` asks for; gold as calls of the endpoint's own tools."""

GoldReader: TypeAlias = Callable[[Sample], "Plan | None"]
"""The gold plan of a sample, with the words of one that calls nothing; None where these alone are right."""


class ExportedSample(NamedTuple):
    """A sample as a record.

    Args:
        id: The sample's id.
        record: The record; None where there is none.
        why: Why there is none, in one sentence.
    """

    id: str
    record: Fields | None
    why: str = ""


def export_samples(ready: Prepared, to: str, golds: GoldReader) -> Iterator[ExportedSample]:
    """Samples as records, none left out.

    Args:
        ready: The samples; for ``chat-jsonl`` as ``flat`` asks them.
        to: One of :data:`EXPORT_FORMATS`.
        golds: Their gold plans.
    """
    chat = to == "chat-jsonl"
    pairs: Iterable[tuple[Sample, Any]] = (
        ready.first_requests() if chat else zip(ready.samples, ready.tasks, strict=True)
    )
    make = _chat_record if chat else _tool_record
    for sample, prompt in pairs:
        try:
            if isinstance(prompt, str):
                raise InputError(prompt)
            yield ExportedSample(sample.id, make(sample, prompt, ready, golds))
        except PlanevalError as problem:
            yield ExportedSample(sample.id, None, str(problem).split("\n")[0])


def _require_gold(sample: Sample, golds: GoldReader) -> Plan:
    plan = golds(sample)
    if plan is None:
        raise InputError("its right answer is free text, not a plan")
    return plan


def _refuse_unequal(read_back: Plan, gold: Plan) -> None:
    if not same(read_back, gold):
        raise InputError("the written answer, read again, is not the gold plan")


# ---------------------------------------------------------------- as text
def _chat_record(sample: Sample, request: Request, ready: Prepared, golds: GoldReader) -> Fields:
    plan = _require_gold(sample, golds)
    notation = ready.setup.notation if ready.form == OWN_TASKS else ready.form
    calls = bool(plan.calls) or plan.answer is not None or ready.form != OWN_TASKS
    text = _answer_text(sample, plan, ready) if calls else gold_words(plan.text)
    _refuse_unequal(parse(text, dialect=notation if calls else None), plan)
    return {"messages": [*request.messages, assistant_message(text)]}


def _answer_text(sample: Sample, plan: Plan, ready: Prepared) -> str:
    """The answer in the notation asked for: a benchmark's gold as its data have it."""
    if ready.form != OWN_TASKS:
        text = BENCHMARKS[ready.form].gold_text(sample)
        assert text is not None, "its gold is a plan"
        return text
    notation = dialects.get(ready.setup.notation)
    if notation.write is None:
        raise InputError(f"there is no writer for {ready.setup.notation}")
    return notation.write(plan)


# ---------------------------------------------------------------- as calls
def _tool_record(sample: Sample, task: Task, ready: Prepared, golds: GoldReader) -> Fields:
    offer = offer_of(task)
    if ready.form == "complexfuncbench":
        talk = _convert_conversation(sample.gold, offer, _require_gold(sample, golds))
    else:
        turn = _gold_turn(sample, offer, golds, own=ready.form == OWN_TASKS)
        talk = [*opening_messages(task, ready.setup), turn]
    return {"messages": talk, "tools": list(offer.tools)}


def _gold_turn(sample: Sample, offer: Offer, golds: GoldReader, *, own: bool) -> Message:
    """The assistant's turn: gold's calls, or the words that are right."""
    plan = golds(sample)
    if plan is None:
        text = sample.gold.get("content") if isinstance(sample.gold, Mapping) else None
        if not isinstance(text, str):
            raise InputError("its right answer is neither a plan nor a text")
        return assistant_message(text)
    if plan.answer is not None:
        raise InputError(
            "gold names the results of the answer, which tool calls cannot express: use --to chat-jsonl"
        )
    if not plan.calls:
        return assistant_message(gold_words(plan.text))
    names = (call.tool for call in plan.calls)
    turn = _offered_turn(zip(names, _call_arguments(plan), strict=True), offer)
    if own:  # score reads such calls as they stand
        read = parse([turn_message(turn, offer, own_names=True)])
    else:
        read = parse(label_calls(turn.calls), dialect="nestful")
    renamed = _rename_calls(read, plan)
    if own and plan.edges and not same(renamed, plan):
        raise InputError(
            "gold passes results to later calls, which tool calls cannot "
            "express: use --to chat-jsonl --dialect nestful"
        )
    _refuse_unequal(renamed, plan)
    return turn_message(turn, offer)


def _call_arguments(plan: Plan) -> list[Any]:
    """What each call is given; a result of the first call is $var_1.name$."""
    named = (replace(call, id=f"var_{number}") for number, call in enumerate(plan.calls, 1))
    return [call["arguments"] for call in json.loads(write(replace(plan, calls=tuple(named)), "nestful"))]


def _rename_calls(read_back: Plan, plan: Plan) -> Plan:
    """A plan whose calls have the names that tools are offered under, with those that gold has for them."""
    names = {call.tool: (call.app, call.name) for call in plan.calls}
    pairs = ((call, names.get(call.tool, (call.app, call.name))) for call in read_back.calls)
    return replace(read_back, calls=tuple(replace(call, app=app, name=name) for call, (app, name) in pairs))


def _offered_turn(calls: Iterable[tuple[str, Any]], offer: Offer, before: int = 0) -> ReplyTurn:
    """Calls of tools on offer as a turn, numbered after those that were made before."""
    model_calls = []
    for number, (name, arguments) in enumerate(calls, before + 1):
        if name not in offer.names.values():
            raise InputError(f"gold calls {name!r}, which is not one of its tools")
        written = json.dumps(arguments, ensure_ascii=False)
        model_calls.append(ModelCall(name, arguments, written, f"call_{number}"))
    return ReplyTurn(tuple(model_calls), "", "tool_calls")


def _convert_conversation(conversation: Sequence[Fields], offer: Offer, plan: Plan) -> list[Message]:
    """A recorded conversation in the endpoint's form; each result answers its call."""
    talk: list[Message] = []
    own: list[Message] = []  # the same with the sample's names of tools
    turn, call_count = ReplyTurn((), "", ""), 0
    for recorded in conversation:
        if recorded["role"] == "observation":
            results = [json.dumps(result, ensure_ascii=False) for result in recorded["content"]]
            if len(results) != len(turn.calls):
                raise InputError(f"{len(turn.calls)} calls have {len(results)} results")
            answers = result_messages(turn_message(turn, offer), results) if results else []
            talk, own = [*talk, *answers], [*own, *answers]
            turn = ReplyTurn((), "", "")
        elif recorded.get("function_call"):
            calls = ((call["name"], call["arguments"]) for call in recorded["function_call"])
            turn = _offered_turn(calls, offer, call_count)
            call_count += len(turn.calls)
            talk.append(turn_message(turn, offer))
            own.append(turn_message(turn, offer, own_names=True))
        else:
            message = {"role": recorded["role"], "content": recorded["content"]}
            talk, own = [*talk, message], [*own, message]
    _refuse_unequal(parse(own, dialect="openai-chat"), plan)
    return talk


# ----------------------------------------------------------------------
# Samples as records that models are trained on.
def export_dataset(  # noqa: PLR0913 - the options of a public function
    samples: Any,
    *,
    dialect: str | None = None,
    cache: str | None = None,
    ids: Collection[str] | None = None,
    benchmark: str | None = None,
    catalog: Any = None,
    shots: ShotOptions | None = None,
    limit: int | None = None,
    to: str,
) -> Iterator[ExportedSample]:
    """Make records of samples that models are trained on: what :func:`predict` asks, and gold as the answer.

    Args:
        samples: The name of a data set, or a file of tasks of your own with their answers.
        dialect: The notation asked for, of tasks of your own; JSON when left out.
        cache: The cache folder of data sets, where it is not the usual one.
        ids: Only the samples of these ids.
        benchmark: Whose data `samples` is, where that is a folder or a file of published data.
        catalog: The tools on offer, where the samples bring none.
        shots: Which demonstrations prompts show, as for :func:`predict`.
        limit: Only so many samples, the first.
        to: ``"chat-jsonl"``: the prompt of ``flat``, and gold in the notation that it asks for; or
            ``"tools-jsonl"``: the question, the endpoint's own tools, and gold as their calls.

    Returns:
        One a sample, in their order; it says why where there is no record.

    Raises:
        InputError: something is wrong that concerns all samples.

    >>> import json, tempfile
    >>> tool = {"name": "now", "description": "The time."}
    >>> task = {"id": "a", "query": "What time is it?", "tools": [tool], "gold": "now()"}
    >>> with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
    ...     written = file.write(json.dumps(task)), file.flush()
    ...     record = next(export_dataset(file.name, to="tools-jsonl")).record
    >>> record["messages"][-1]["tool_calls"][0]["function"]
    {'name': 'now', 'arguments': '{}'}
    """
    if to not in EXPORT_FORMATS:
        raise InputError(f"there is no form {to!r}; expected {' or '.join(EXPORT_FORMATS)}")
    if shots is not None and to != "chat-jsonl":
        raise InputError("demonstrations are shown in prompts: with chat-jsonl")
    ready = prepare_run(
        samples,
        pipeline="flat" if to == "chat-jsonl" else None,
        benchmark=benchmark,
        catalog=catalog,
        setup=Setup(dialect=dialect),
        ids=ids,
        limit=limit,
        cache=cache,
        shots=shots,
    )
    if asking_of(ready.form) is not None:
        raise InputError(f"{BENCHMARKS[ready.form].title} is asked by its own runner and cannot be exported")
    return export_samples(
        ready, to, _read_own_golds(os.fspath(samples)) if ready.form == OWN_TASKS else gold_plan
    )


def _read_own_golds(file: str) -> GoldReader:
    """The gold plans of tasks of your own, which stand beside the questions.

    Raises:
        InputError: the file holds no answers.
    """
    if not Path(file).is_file():
        raise InputError(f"there is no file {file}")
    records = read_own_golds(file)

    def golds(sample: Sample) -> Plan:
        if sample.id not in records:
            raise InputError("its record has no answer")
        plan = read_plan(records[sample.id])
        return plan if plan.calls else replace(plan, text=gold_words(records[sample.id].source))

    return golds
