"""What CallNavi asks a model for: repairing an answer, and rating one.

Source: paper sections 5.1 (repair) and 5.2 (GPT score).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from planner_eval.base.errors import JudgeError
from planner_eval.benchmarks.callnavi import prompts
from planner_eval.benchmarks.callnavi.washing import Reader
from planner_eval.llm import Judge
from planner_eval.llm.prompts import read_rating

ATTEMPTS = 3
"""How often a rating is asked for before the answer counts as unrated."""


def ask_repair(judge: Judge, text: str, tools: Any, read: Reader) -> Any:
    """The data of the judge's repair of an unparsable answer; ``{}`` where that fails too.

    >>> from planner_eval.benchmarks.callnavi.washing import read_json
    >>> from planner_eval.llm import ScriptedJudge
    >>> ask_repair(ScriptedJudge(lambda request: '{"API": []}'), "pay()", None, read_json)
    {'API': []}
    """
    try:
        return read(judge.ask(prompts.repair(text, tools)).text).value
    except JudgeError:
        return {}


def ask_rating(judge: Judge, gold: Any, predicted: Any) -> float | str:
    """The judge's rating read as the published code reads it, or the exception it would end with.

    All square brackets are deleted and the rest must be a number, of any size.

    >>> from planner_eval.llm import ScriptedJudge
    >>> ask_rating(ScriptedJudge(lambda request: "[[0.5]]"), {}, {})
    0.5
    >>> ask_rating(ScriptedJudge(lambda request: "about 0.5"), {}, {})
    "ValueError: could not convert string to float: 'about 0.5'"
    """
    try:
        text = judge.ask(prompts.rating(gold, predicted)).text
        return float(text.replace("[", "").replace("]", ""))
    except (JudgeError, ValueError) as problem:
        return f"{type(problem).__name__}: {problem}"


def ask_clean_rating(judge: Judge, gold: Any, predicted: Any) -> float | None:
    """The judge's rating, 0 to 1, asked for again where there is none; None in the end.

    >>> from planner_eval.llm import ScriptedJudge
    >>> judge = ScriptedJudge(lambda request: "[[0.5]]" if request.attempt else "[[7]]")
    >>> ask_clean_rating(judge, {}, {})
    0.5
    """
    request = prompts.rating(gold, predicted)
    for attempt in range(ATTEMPTS):
        try:
            rating = read_rating(judge.ask(replace(request, attempt=attempt)).text)
        except JudgeError:
            return None
        if rating is not None:
            return rating
    return None
