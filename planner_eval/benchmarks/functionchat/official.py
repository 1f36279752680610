"""FunctionChat-Bench's scores as its published code computes them.

Calls are compared with gold first; what does not pass, and every other kind of answer, goes to a judge.
The judge is asked with the published prompts where the user has their files, else with prompts of our own,
so that only the reading of its text and the tallies are the published ones.

Source: repository kakao/FunctionChat-Bench at cb32af3 (version 2); paper sections 4 and 5, appendix B.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from planner_eval.base.errors import JudgeError
from planner_eval.base.jsontext import loaded
from planner_eval.base.quick import quick
from planner_eval.benchmarks.apart import Found, Scorer, report_of
from planner_eval.benchmarks.functionchat.matching import FAILED, SKIPPED, Exact, match_call
from planner_eval.benchmarks.functionchat.payload import acceptable_text, request
from planner_eval.benchmarks.functionchat.scores import (
    Scores,
    common_scores,
    dialog_scores,
    macro,
    singlecall_scores,
    totals,
)
from planner_eval.benchmarks.functionchat.verdicts import FAIL, PASS, is_decided, read_verdict
from planner_eval.benchmarks.report import Figure, Records, Report, SampleScore
from planner_eval.datasets.sample import Sample

if TYPE_CHECKING:
    from planner_eval.llm import Judge

PARTS = {"singlecall": singlecall_scores, "dialog": dialog_scores, "calldecision": common_scores}
"""The parts of the benchmark and how each is tallied."""
MAX_CHARS = 16 * 2**20
"""Longer answers are refused."""


@quick
class Judged:
    """One answer and what became of it.

    Args:
        sample: The item.
        output: The assistant message; None where the text holds none.
        text: The text that the verdict was read from.
        verdict: ``"pass"``, ``"fail"`` or the text in which neither can be read; None after an error.
        by: Who decided: ``"exact"``, ``"judge"`` or ``"nobody"``.
        error: Why there is no verdict.
    """

    sample: Sample
    output: Any = None
    text: str = ""
    verdict: str | None = None
    by: str = "nobody"
    error: str | None = None


def score_official(records: Records, *, judge: Judge | None = None) -> Report:
    """The figures of each part that the records come from, and one row a record.

    Args:
        records: Samples of the FunctionChat reader with the JSON text of the assistant message that the
            model answered (``null`` where it answered nothing).
        judge: Decides what exact matching does not. Without one (the published ``--only_exact``) a
            call that does not match fails and every other answer is undecided.

    >>> gold = {"name": "weather", "arguments": "{}"}
    >>> extra = {"part": "singlecall", "serial_num": 1, "type_of_output": "call", "tools_type": "exact",
    ...     "messages": [], "acceptable_arguments": None}
    >>> sample = Sample("s1", gold=gold, category="exact", extra=extra)
    >>> report = score_official([(sample, '{"tool_calls": [{"function": ' + json.dumps(gold) + "}]}")])
    >>> report.value("singlecall exact pass rate")
    1.0
    """
    return report_of("functionchat", "official", scorer(judge), records)


def scorer(judge: Judge | None = None) -> Scorer:
    """Its scores one by one."""

    def score_sample(sample: Sample, text: str) -> Kept:
        return Kept(sample.extra.get("part"), sample.category, *_judged(sample, text, judge)[2:])

    return Scorer(score_sample, _row, _figures, _known)


class Kept(NamedTuple):
    """What is kept of a :class:`Judged`."""

    part: Any
    category: str
    verdict: str | None
    by: str
    error: str | None


def kept(judged: Judged) -> Kept:
    """What is kept of an answer."""
    sample = judged.sample
    return Kept(sample.extra.get("part"), sample.category, judged.verdict, judged.by, judged.error)


def _known(data: Any) -> Kept:
    return Kept(*data)


def _figures(results: Found) -> Iterator[Figure]:
    for subset in PARTS:
        yield from _part_figures(subset, [result for result in results if result[1].part == subset])


def judge_record(sample: Sample, text: str, *, judge: Judge | None = None) -> Judged:
    """The verdict on one answer: by comparison where that passes, else by the judge where there is one."""
    return Judged(sample, *_judged(sample, text, judge))


def _judged(sample: Sample, text: str, judge: Judge | None) -> tuple[Any, str, str | None, str, str | None]:
    """The fields of a :class:`Judged` after its sample."""
    problem = sample_problem(sample)
    if problem:
        return None, "", None, "nobody", problem
    try:
        output = read_output(text)
    except (ValueError, RecursionError) as error:
        return None, "", None, "nobody", f"{type(error).__name__}: {error}"
    exact = match_item(sample, output)
    if exact.error:
        return output, "", None, "nobody", exact.error
    if exact.passed or judge is None:
        # What was compared says so in its last lines; only what was not has to be read.
        exact_text = exact.text
        verdict = PASS if exact.passed else FAIL if exact_text.endswith(FAILED) else read_verdict(exact_text)
        return output, exact_text, verdict, "exact", None
    try:
        reply = judge.ask(judge_request(sample, output)).text
    except (JudgeError, AttributeError, TypeError) as error:  # the last two: tool_calls of another shape
        return output, exact.text, None, "nobody", f"{type(error).__name__}: {error}"
    return output, reply, read_verdict(reply), "judge", None


def sample_problem(sample: Sample) -> str | None:
    """What keeps a sample from being one of FunctionChat-Bench's; None where nothing does."""
    gold = sample.gold
    if sample.extra.get("part") not in PARTS or not (type(gold) is dict or isinstance(gold, Mapping)):
        return "the sample is not one of FunctionChat-Bench: it names no part of it, or its gold is no object"
    return None


def read_output(text: str) -> Any:
    """The assistant message; ``{"tool_calls": []}`` for ``null``, as in a published run.

    Raises:
        ValueError: the text is not JSON, no object, or too long.
    """
    if len(text) > MAX_CHARS:
        raise ValueError(f"{len(text)} characters, at most {MAX_CHARS} are read")
    output = loaded(text)
    if output is None:
        return {"tool_calls": []}
    if not isinstance(output, dict):
        raise ValueError(f"the answer is a {type(output).__name__}, not an assistant message")
    return output


def match_item(sample: Sample, output: Any) -> Exact:
    """Exact matching of one item; only items whose right answer is a call are compared."""
    if sample.extra["type_of_output"] != "call":
        return Exact(False, SKIPPED)
    return match_call(sample.gold, acceptable_text(sample.extra["acceptable_arguments"]), output)


def judge_request(sample: Sample, output: Any) -> Any:
    """What the judge is asked about one answer."""
    from planner_eval.benchmarks.functionchat.prompts import verdict

    request_data = request(sample)
    fields = {
        "tools": request_data["tools"],
        "query": request_data["messages"],
        "ground_truth": without_ids(request_data["ground_truth"]),
        "response": without_ids(output),
    }
    headings = ("Available tools", "Conversation", "Reference", "Assistant's turn")
    material = dict(zip(headings, fields.values(), strict=True))
    if sample.extra["type_of_output"] == "call":
        material["Acceptable alternatives"] = request_data["acceptable_arguments"]
        # As published: JSON of what is JSON text already.
        fields["acceptable_arguments"] = json.dumps(request_data["acceptable_arguments"], ensure_ascii=False)
    return verdict(sample.extra["type_of_output"], material, fields)


def without_ids(message: Any) -> Any:
    """The message with ``tool_calls`` in any case, and with no ``id`` in any of them.

    Raises:
        AttributeError: ``tool_calls`` is no list of objects.
        TypeError: ``tool_calls`` cannot be gone through.
    """
    changed = dict(message)
    calls = changed.get("tool_calls")
    if calls:
        calls = [{key: value for key, value in call.items() if key != "id"} for call in calls]
    changed["tool_calls"] = calls
    return changed


def part_scores(subset: str, members: Iterable[tuple[str, Kept]]) -> Scores:
    """What the published code prints and saves for one part; its first exception ends it.

    Args:
        subset: ``"singlecall"``, ``"dialog"`` or ``"calldecision"``.
        members: Answers of that part; of two with one id the published code counts the first,
            but for call decision, where it counts both.
    """
    verdicts: list[tuple[str, str]] = []
    seen: set[str] = set()
    for identity, record in members:
        if record.verdict is None:
            return Scores("", error=record.error)
        if identity not in seen or subset == "calldecision":
            verdicts.append((record.category, record.verdict))
        seen.add(identity)
    return PARTS[subset](verdicts)


def _part_figures(subset: str, members: Found) -> Iterable[Figure]:
    if not members:
        return
    scores = part_scores(subset, members)
    if scores.error:
        yield Figure(f"{subset} total", None, error=scores.error, note="the published run ends here")
    for name, value in scores.score.items():
        yield Figure(f"{subset} {name}", value)
    yield from _of_the_paper(subset, scores)
    undecided = sum(not is_decided(record.verdict) for _, record in members)
    yield Figure(f"{subset} undecided", undecided, undecided, len(members), "verdicts neither pass nor fail")


def _of_the_paper(subset: str, scores: Scores) -> Iterable[Figure]:
    """The averages of the paper's tables that the published code leaves to its reader."""
    score = scores.score
    if subset == "singlecall":
        kinds = [name.removesuffix(" total") for name in score if name.endswith(" total")]
        yield from totals([int(score.get(f"{kind} pass cnt", 0)) for kind in kinds])
    elif score:
        rates = [Figure(name, value) for name, value in score.items() if name.endswith(" pass rate")]
        yield macro(f"{subset} avg(macro)", rates)


@lru_cache(256)
def figure(name: str, value: str | None, error: str | None = None) -> Figure:
    """A row's figure; most rows have the same few.

    >>> figure("by", "exact").value
    'exact'
    """
    return Figure(name, value, error=error)


def _row(identity: str, judged: Kept) -> SampleScore:
    _, _, verdict, by, error = judged
    return SampleScore(identity, verdict == PASS, _row_figures(verdict, by, error), error)


@lru_cache(256)
def _row_figures(verdict: str | None, by: str, error: str | None) -> tuple[Figure, ...]:
    """The figures of a row; most rows are judged as another is."""
    return figure("verdict", verdict, error), figure("by", by)
