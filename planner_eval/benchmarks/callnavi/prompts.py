"""What CallNavi asks a judge for: repairing an answer, and rating one.

The prompts are our own. The published ones stand inside code; who has copied their text into files uses them
(:data:`PROMPT_FILES`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from planner_eval.base.errors import JudgeError
from planner_eval.benchmarks.callnavi.reading import Reader
from planner_eval.benchmarks.judge_prompts import PromptFile
from planner_eval.benchmarks.judging import Judge, JudgeRequest, make_request, read_rating

# ----------------------------------------------------------------------
# What CallNavi's paper asks a judge for: repairing an answer, and rating one.
_RATING_PROMPT = """You compare the tool calls that a model predicted with the correct ones.
Look at two things: are the same tools called in the same order, and does every call have the same \
arguments with the same values? An argument whose correct value is "$$$" is not known yet; any value is fine.
Rate the likeness from 0 (nothing in common) to 1 (the same), with three decimals. \
Answer with the rating alone, in double square brackets, for example [[0.350]]."""

_REPAIR_PROMPT = """Below is a model's answer that should have been one JSON object of the form
{"API": ["name", ...], "parameters": [{"argument": "value"}, ...]}
with one parameters object for each name, but it cannot be parsed. Write the object that it means. \
Calls written as code become entries of both lists; a call inside another call's arguments becomes an \
entry of its own before it, and "$$$" takes its place. Change no name and no value, add nothing. \
Answer with the JSON object alone."""

PROMPT_FILES = {
    "callnavi.gpt_score": PromptFile("gpt_score.txt", ("predicted", "gold")),
    "callnavi.repair": PromptFile("repair.txt", ("tools", "answer")),
}
"""Files that take the place of our prompts, by task."""


def rating_request(gold: Any, predicted: Any) -> JudgeRequest:
    """Asks how like the gold calls the predicted calls are, 0 to 1; read with :func:`read_rating`.

    Source: CallNavi, section 5.2.

    >>> rating_request({"API": []}, {"API": ["pay"]}).task
    'callnavi.gpt_score'
    """
    material = {"Predicted": predicted, "Correct": gold}
    return make_request(
        "callnavi.gpt_score", _RATING_PROMPT, material, fields={"predicted": predicted, "gold": gold}
    )


def repair_request(text: str, tools: Any) -> JudgeRequest:
    """Asks for the JSON object that an unparsable answer means.

    Source: CallNavi, section 5.1 (the repair step before structural accuracy).
    """
    material = {"Tools": tools, "Answer": text}
    return make_request("callnavi.repair", _REPAIR_PROMPT, material, fields={"tools": tools, "answer": text})


# ----------------------------------------------------------------------
# What CallNavi asks a model for: repairing an answer, and rating one.
#
# Source: paper sections 5.1 (repair) and 5.2 (GPT score).
MAX_ATTEMPTS = 3
"""How often a rating is asked for before the answer counts as unrated."""


def ask_repair(judge: Judge, text: str, tools: Any, read: Reader) -> Any:
    """The data of the judge's repair of an unparsable answer; ``{}`` where that fails too.

    >>> from planner_eval.benchmarks.callnavi.reading import read_json
    >>> from planner_eval.benchmarks.judging import ScriptedJudge
    >>> ask_repair(ScriptedJudge(lambda request: '{"API": []}'), "pay()", None, read_json)
    {'API': []}
    """
    try:
        return read(judge.ask(repair_request(text, tools)).text).value
    except JudgeError:
        return {}


def ask_rating(judge: Judge, gold: Any, predicted: Any) -> float | str:
    """The judge's rating read as the published code reads it, or the exception it would end with.

    All square brackets are deleted and the rest must be a number, of any size.

    >>> from planner_eval.benchmarks.judging import ScriptedJudge
    >>> ask_rating(ScriptedJudge(lambda request: "[[0.5]]"), {}, {})
    0.5
    >>> ask_rating(ScriptedJudge(lambda request: "about 0.5"), {}, {})
    "ValueError: could not convert string to float: 'about 0.5'"
    """
    try:
        text = judge.ask(rating_request(gold, predicted)).text
        return float(text.replace("[", "").replace("]", ""))
    except (JudgeError, ValueError) as problem:
        return f"{type(problem).__name__}: {problem}"


def ask_clean_rating(judge: Judge, gold: Any, predicted: Any) -> float | None:
    """The judge's rating, 0 to 1, asked for again where there is none; None in the end.

    >>> from planner_eval.benchmarks.judging import ScriptedJudge
    >>> judge = ScriptedJudge(lambda request: "[[0.5]]" if request.attempt else "[[7]]")
    >>> ask_clean_rating(judge, {}, {})
    0.5
    """
    request = rating_request(gold, predicted)
    for attempt in range(MAX_ATTEMPTS):
        try:
            value = read_rating(judge.ask(replace(request, attempt=attempt)).text)
        except JudgeError:
            return None
        if value is not None:
            return value
    return None
