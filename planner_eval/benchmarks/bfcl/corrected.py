"""BFCL's verdicts as its documentation means them: the published ones but where there is a reason to differ.

A category that was not run does not count, where the published scores count it as 0.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from planner_eval.benchmarks.bfcl.call_check import Check, Verdict, standard_text
from planner_eval.benchmarks.bfcl.data import CATEGORIES
from planner_eval.benchmarks.bfcl.official import (
    DECODING_FAILED,
    BfclOutcome,
    Settings,
    make_scorer,
    read_calls,
    store,
    style_of,
)
from planner_eval.benchmarks.bfcl.reading import NOTHING, WrittenAnswer, read_text
from planner_eval.benchmarks.bfcl.scores import Judged, score_figures
from planner_eval.benchmarks.bfcl.typed_values import java_value, javascript_value
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.report import Figure, SampleResults, Scorer

# ----------------------------------------------------------------------
# Whether a call means a right one, by BFCL's documentation and its languages, and why that is not seen.
#
# Each argument is compared with its accepted values as they are meant: what the published check takes for
# wrong although it says the same is right here for a reason; what it takes for right by accident is wrong.
#
# Source: the leaderboard's pages on AST evaluation and possible answers (optional arguments, defaults,
# integers for floats, texts' normal form); the Java Language Specification, section 5.1.2, for literals.
DEFAULT = "an optional argument has its documented default, or is left out where that is accepted"
INTEGER = "an integer is in place of a float inside a list or object"
WIDENED = "an integer literal that Java converts to the declared type"
QUOTED = "a string has extra quotation marks around it"
NESTED_TEXT = "a text inside a list or object differs only in case, blanks or punctuation"
NO_VALUE = "gold accepts no value, and the argument is left out"
ASSIGNED = "parallel calls match in another order than the first one tried"
DOTTED = "a tool is called by its documented name"
EMBEDDED = "the calls are in a code fence or within prose"
NUMBERS = "texts that are different numbers are the same without their punctuation"
TRUTH_VALUES = "true or false stands for 1 or 0"
NOT_OFFERED = "the tool that is called is not offered"

Reasons: TypeAlias = frozenset[str]
"""Why the published check sees it otherwise; none where it does not."""
SAME: Reasons = frozenset()


class Strictness(NamedTuple):
    """What the published check takes for right by accident.

    Args:
        numbers: Texts of different numbers are different.
        truth_values: True is not 1.
    """

    numbers: bool = True
    truth_values: bool = True


STRICT = Strictness()


# ----------------------------------------------------------------------
# Calls.
def fit_calls(
    tools: Sequence[Mapping[str, Any]],
    calls: Sequence[Any],
    truth: Sequence[Any],
    category: str,
    how: Check,
    strict: Strictness,
) -> Reasons | None:
    """Whether calls mean the right ones, in any order; None where they do not.

    Args:
        tools: The tools on offer.
        calls: Each ``{name: arguments}``.
        truth: The right calls, with the accepted values of each argument.
        category: The category of the question.
        how: How names and values are written.
        strict: What is not taken for the same.
    """
    if len(calls) != len(truth):
        return None
    by_name = {tool["name"]: tool for tool in tools}
    fits: list[list[Reasons | None]] = []
    for right in truth:
        name = next(iter(right))
        tool = by_name.get(name) or (tools[0] if len(tools) == 1 else None)
        fits.append([fit_call(tool, call, right, how, strict) if tool else None for call in calls])
    if "parallel" not in category:
        return fits[0][0] if fits else SAME
    chosen = _assign(fits)
    if chosen is None:
        return None
    reasons = SAME.union(*(fits[row][column] or SAME for row, column in enumerate(chosen)))
    return reasons if reasons or chosen == _assign_greedily(fits) else frozenset({ASSIGNED})


def _assign(fits: Sequence[Sequence[Any]]) -> list[int] | None:
    """A call for each right one, by augmenting paths; None where there are not enough."""
    owner: dict[int, int] = {}

    def assign_row(row: int, seen: set[int]) -> bool:
        for column, reasons in enumerate(fits[row]):
            if reasons is None or column in seen:
                continue
            seen.add(column)
            if column not in owner or assign_row(owner[column], seen):
                owner[column] = row
                return True
        return False

    if not all(assign_row(row, set()) for row in range(len(fits))):
        return None
    chosen = [0] * len(fits)
    for column, row in owner.items():
        chosen[row] = column
    return chosen


def _assign_greedily(fits: Sequence[Sequence[Any]]) -> list[int] | None:
    """Each right call with the first call left that fits, as published."""
    left = list(range(len(fits)))
    chosen = []
    for row in fits:
        column = next((column for column in left if row[column] is not None), None)
        if column is None:
            return None
        left.remove(column)
        chosen.append(column)
    return chosen


def fit_call(
    tool: Mapping[str, Any], call: Any, right: Mapping[str, Any], how: Check, strict: Strictness = STRICT
) -> Reasons | None:
    """Whether a call means a right one; see :func:`fit_calls`.

    >>> numbers = {"type": "array", "items": {"type": "float"}}
    >>> tool = {"name": "f", "parameters": {"properties": {"a": numbers}, "required": ["a"]}}
    >>> fit_call(tool, {"f": {"a": [1, 2]}}, {"f": {"a": [[1.0, 2.0]]}}, Check()) == {INTEGER}
    True
    """
    ((name, arguments),) = call.items()
    documented = tool["name"]
    written = documented.replace(".", "_") if how.underscores else documented
    if name != written and name not in (documented, documented.replace(".", "_")):
        return None
    reasons = SAME if name == written else frozenset({DOTTED})
    (accepted,) = right.values()
    details = tool["parameters"]["properties"]
    if any(key not in arguments for key in tool["parameters"]["required"]):
        return None
    for key, value in arguments.items():
        if key not in details:
            return None
        found = _fit_argument(value, accepted.get(key, [""]), details[key], how.language, strict)
        if found is None:
            return None
        reasons |= found
    for key, values in accepted.items():
        if key not in arguments and "" not in values:
            detail = details.get(key, {})
            if "default" not in detail or _fit(detail["default"], values, detail, strict) is None:
                return None
            reasons |= {DEFAULT}
    return reasons


# ----------------------------------------------------------------------
# Values.
def _fit_argument(
    value: Any, accepted: Sequence[Any], detail: Mapping[str, Any], language: str, strict: Strictness
) -> Reasons | None:
    if language == "python":
        reasons = _fit(value, accepted, detail, strict)
    else:
        reasons = _fit_written(value, accepted, detail, language, strict)
    if reasons is not None:
        return reasons
    if not accepted and value in ([], {}, ""):
        return frozenset({NO_VALUE})
    default = detail.get("default", _NOTHING)
    if "" in accepted and default is not _NOTHING and type(value) is type(default) and value == default:
        return frozenset({DEFAULT})
    return None


_NOTHING = object()


def _fit_written(
    value: Any, accepted: Sequence[Any], detail: Mapping[str, Any], language: str, strict: Strictness
) -> Reasons | None:
    """A value written in Java or JavaScript."""
    if not isinstance(value, str):
        return None
    declared, items = detail["type"], (detail.get("items") or {}).get("type")
    lists = declared in ("Array", "ArrayList", "array")
    convert = java_value if language == "java" else javascript_value
    try:
        typed = convert(value, declared, items) if lists else convert(value, declared)
    except Exception:
        return None
    reasons = _fit(typed, accepted, detail, strict)
    if reasons is not None:
        return reasons
    if language == "java" and declared in ("long", "float") and re.fullmatch(r"-?\d+", value):
        number = int(value) if declared == "long" else float(value)
        return None if _fit(number, accepted, detail, strict) is None else frozenset({WIDENED})
    bare = [_bare(item) for item in typed] if isinstance(typed, list) else _bare(typed)
    if bare != typed and _fit(bare, accepted, detail, strict) is not None:
        return frozenset({QUOTED})
    return None


def _bare(value: Any) -> Any:
    quoted = isinstance(value, str) and len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value


def _fit(
    value: Any, accepted: Sequence[Any], detail: Mapping[str, Any], strict: Strictness, depth: int = 0
) -> Reasons | None:
    """Whether a value means one of the accepted ones; the fewest reasons of those that do."""
    item_reasons = [
        reasons
        for alternative in accepted
        if alternative != "" or value == ""
        if (reasons := _fit_value(value, alternative, detail.get("type"), strict, depth)) is not None
    ]
    return min(item_reasons, key=len) if item_reasons else None


def _fit_value(value: Any, right: Any, declared: Any, strict: Strictness, depth: int) -> Reasons | None:
    if isinstance(value, tuple):
        value = list(value)
    if isinstance(value, bool) or isinstance(right, bool):
        same = value is right or (not strict.truth_values and depth > 0 and value == right)
        return SAME if same else None
    if isinstance(value, str) and isinstance(right, str):
        return _fit_text(value, right, strict, depth)
    if isinstance(value, (int, float)) and isinstance(right, (int, float)):
        return _fit_number(value, right, declared, depth)
    if isinstance(value, list) and isinstance(right, list):
        if len(value) != len(right):
            return None
        return _join(_fit_value(a, b, None, strict, depth + 1) for a, b in zip(value, right, strict=True))
    if isinstance(value, dict) and isinstance(right, dict):
        return _fit_object(value, right, strict, depth)
    return SAME if value is None and right is None else None


def _fit_text(value: str, right: str, strict: Strictness, depth: int) -> Reasons | None:
    if standard_text(value) != standard_text(right):
        return None
    numbers = [re.fullmatch(r"\s*(-?\d+(?:\.\d+)?)\s*", text) for text in (value, right)]
    different = all(numbers) and len({float(matched[1]) for matched in numbers if matched}) == 2
    if strict.numbers and different:
        return None
    return frozenset({NESTED_TEXT}) if depth > 1 and value != right else SAME


def _fit_number(value: float, right: float, declared: Any, depth: int) -> Reasons | None:
    if value != right:
        return None
    if type(value) is type(right) or (depth == 0 and declared == "float"):
        return SAME
    if isinstance(value, int):
        return frozenset({INTEGER}) if depth else None
    return None if depth == 0 and declared == "integer" else SAME


def _fit_object(
    value: Mapping[Any, Any], right: Mapping[str, Any], strict: Strictness, depth: int
) -> Reasons | None:
    """An object whose members have accepted values, as gold gives them; deeper ones stand as they are."""
    if not all(isinstance(values, list) for values in right.values()):
        right = {key: [values] for key, values in right.items()}
    if any(key not in right for key in value) or any(
        key not in value and "" not in values for key, values in right.items()
    ):
        return None
    return _join(_fit(member, right[key], {}, strict, depth + 1) for key, member in value.items())


def _join(reasons_of_items: Any) -> Reasons | None:
    joined = SAME
    for reasons in reasons_of_items:
        if reasons is None:
            return None
        joined |= reasons
    return joined


# ----------------------------------------------------------------------
# The verdicts.
OTHERWISE = "judged differently: "
"""How the figures begin that count answers by the reason why the published verdict is not kept."""
_MAX_CANDIDATES = 50
_MAX_CHARS = 100_000


def scorer(mode: str = "auto", names: str = "auto") -> Scorer:
    """The corrected scores.

    Args:
        mode: One of :data:`.reading.MODES`.
        names: One of :data:`.official.NAMES`.
    """
    settings = Settings(mode, names)

    def keep(sample: Sample, text: str, verdict: Verdict) -> BfclOutcome:
        return store(sample, *correct_verdict(sample, text, verdict, settings))

    return make_scorer(settings, keep, corrected_figures)


def corrected_figures(results: SampleResults) -> Iterator[Figure]:
    """The scores of what was run, then how many answers are seen otherwise, by reason."""
    judged = [Judged(name, answer.category, answer.valid) for name, answer in results]
    yield from score_figures(judged, {}, strict=False)
    counts = Counter(answer.reason for _, answer in results if answer.reason)
    for reason, count in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])):
        yield Figure(OTHERWISE + reason, count, count, len(judged))


def correct_verdict(sample: Sample, text: str, verdict: Verdict, settings: Settings) -> tuple[Verdict, str]:
    """The verdict as meant, and the reason why it is not the published one; "" where it is.

    Args:
        sample: Of the BFCL reader.
        text: What a model answered.
        verdict: What the published code says.
        settings: How answers were asked for.
    """
    category = CATEGORIES.get(sample.category)
    if category is None or text == NOTHING or category.check in ("multi_turn", "agentic"):
        return verdict, ""
    answer = read_text(text, settings.mode)
    if category.check in ("irrelevance", "relevance"):
        return _correct_relevance(sample, answer, verdict)
    return _correct_calls(sample, answer, verdict, settings)


# ----------------------------------------------------------------------
# Whether a tool is called.
def _correct_relevance(sample: Sample, answer: WrittenAnswer, verdict: Verdict) -> tuple[Verdict, str]:
    """A call between words is a call; one of a tool that is not on offer is not what is wanted."""
    wants_call = sample.category.endswith("_relevance")
    calls = read_calls(answer)
    embedded = False
    if calls is None and not answer.calls:
        offered = _offered_names(sample)
        call_lists = (
            c
            for c in _embedded_calls(answer, "python")
            if all(name in offered for call in c for name in call)
        )
        calls = next(call_lists, None)
        embedded = calls is not None
    if not calls:
        return verdict, ""
    if embedded:
        if verdict.valid == wants_call:
            return verdict, ""
        if wants_call:
            return Verdict(True), EMBEDDED
        return Verdict(False, "corrected:called", ("A tool is called although none fits.",)), EMBEDDED
    if (
        wants_call
        and verdict.valid
        and not any(name in _offered_names(sample) for call in calls for name in call)
    ):
        return Verdict(
            False, "corrected:not_offered", ("The tool that is called is not offered.",)
        ), NOT_OFFERED
    return verdict, ""


def _offered_names(sample: Sample) -> set[str]:
    names = {tool["name"] for tool in sample.tools}
    return names | {name.replace(".", "_") for name in names}


# ----------------------------------------------------------------------
# Calls.
def _correct_calls(
    sample: Sample, answer: WrittenAnswer, verdict: Verdict, settings: Settings
) -> tuple[Verdict, str]:
    language, style, tag, category = style_of(sample)
    how = Check(language, settings.underscores(answer))
    calls = read_calls(answer, style, tag=tag)
    if verdict.valid:
        # What is right only where texts lose their punctuation, or true is 1, is right by accident.
        for reason, lenient in _ACCIDENTS if _try_fit(sample, calls, category, how) is None else ():
            if _try_fit(sample, calls, category, how, lenient) is not None:
                return Verdict(False, "corrected:other_value", (f"Not the same value: {reason}.",)), reason
        return verdict, ""
    if calls is None and verdict.error_type == DECODING_FAILED and not answer.calls:
        for embedded_calls in _embedded_calls(answer, style):
            if _try_fit(sample, embedded_calls, category, how) is not None:
                return Verdict(True), EMBEDDED
        return verdict, ""
    reasons = None if calls is None else _try_fit(sample, calls, category, how)
    if not reasons:
        return verdict, ""
    return Verdict(True), "; ".join(sorted(reasons))


def _try_fit(
    sample: Sample, calls: Any, category: str, how: Check, strict: Strictness = STRICT
) -> Reasons | None:
    """Whether calls mean the right ones; None also where gold is broken."""
    try:
        return fit_calls(sample.tools, calls, sample.extra["ground_truth"], category, how, strict)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError, IndexError):
        return None


def _embedded_calls(answer: WrittenAnswer, style: str) -> Iterator[Any]:
    """The lists of calls in a fence or between the words of a prompted answer, the first first."""
    text = answer.content
    if not isinstance(text, str) or len(text) > _MAX_CHARS:
        return
    candidates = [*_between(text, "```", "```"), *_between(text, "<TOOLCALL>", "</TOOLCALL>")]
    candidates = [re.sub(r"^\w*\n", "", candidate) for candidate in candidates] + _bracketed(text)
    for candidate in candidates[:_MAX_CANDIDATES]:
        calls = read_calls(WrittenAnswer(candidate, calls=False), style)
        if calls:
            yield calls


def _between(text: str, opening: str, closing: str) -> Iterator[str]:
    """What stands between marks, one pair after the other."""
    opening_start = text.find(opening)
    while opening_start >= 0:
        end = text.find(closing, opening_start + len(opening))
        if end < 0:
            return
        yield text[opening_start + len(opening) : end]
        opening_start = text.find(opening, end + len(closing))


def _bracketed(text: str) -> list[str]:
    """The outermost parts in brackets, in order; brackets in quotes are none."""
    bracketed, start, depth = [], 0, 0
    for matched in _BRACKETS.finditer(text):
        if matched.group() == "[":
            start = start if depth else matched.start()
            depth += 1
        elif matched.group() == "]" and depth:
            depth -= 1
            if not depth:
                bracketed.append(text[start : matched.end()])
    return bracketed


_BRACKETS = re.compile(r"\"(?:[^\"\\]|\\.)*+\"|(?<!\w)'(?:[^'\\]|\\.)*+'|[\[\]]", re.DOTALL)
_ACCIDENTS = ((NUMBERS, Strictness(numbers=False)), (TRUTH_VALUES, Strictness(truth_values=False)))
