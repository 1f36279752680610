"""CallNavi's scores as its paper defines them.

What is put right, and by which section of the paper:

* Syntax validity is what the text as written is: one object, no more (5.1). The published code first
  turns every apostrophe into a quote, deletes fences, and takes any value.
* Structural accuracy asks for the right parameter names (5.1): missing and added ones are wrong. The
  published code never looks at added ones.
* AST exact match asks for identical content but for placeholders (5.1), at any depth. The published
  code knows them only as whole values, and takes ``{}`` for one as well.
* Values keep their type in the tree that is compared (5.1): ``True`` is not ``1``.
* Ratios are over the questions that were asked (4.1, Table 4), not over constants that the released data
  does not have.
* Routing is an exact match of lists of names (6.3); case and stray blanks inside a name matter.
* A rating lies between 0 and 1 (5.2, appendix B.2); what is no rating is asked for again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from planner_eval.base.errors import ParseError
from planner_eval.base.json_text import object_items
from planner_eval.base.text import format_count, one_line_json
from planner_eval.benchmarks.callnavi.official import (
    ALL_RIGHT,
    DIFFICULTIES,
    NO_ORDER,
    NO_RATING,
    NO_STRUCTURE,
    NO_VALUES,
    PLACEHOLDER,
    RoutedAnswer,
    StabilityScorer,
    Verdict,
    choose_scorer,
    difficulty_figures,
    gold_problem,
    level_of,
    verdict_figures,
)
from planner_eval.benchmarks.callnavi.reading import (
    Calls,
    calls_of,
    read_answer,
    read_json,
    read_route,
    read_yaml,
)
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.report import Figure, SampleResults, Scorer, ratio, shared_figures
from planner_eval.plan.model import Value

if TYPE_CHECKING:
    from planner_eval.benchmarks.judging import Judge


class CorrectedOutcome(NamedTuple):
    """What the paper says of an answer with parameters.

    Args:
        level: The question's difficulty.
        valid: The answer is valid.
        verdict: How far it agrees with gold.
        rating: The judge's; None where there is none.
    """

    level: str | None
    valid: bool
    verdict: Verdict
    rating: float | None = None

    @property
    def ok(self) -> bool:
        """All values are right."""
        return self.verdict.ast

    @property
    def error(self) -> str | None:
        """Why it could not be compared."""
        return self.verdict.error

    @shared_figures
    def figures(self) -> Iterator[Figure]:
        """The verdicts and the rating of this answer alone."""
        yield Figure("syntax", float(self.valid))
        for name in ("order", "structure", "ast"):
            yield Figure(name, float(getattr(self.verdict, name)))
        if self.rating is not None:
            yield Figure("gpt", self.rating)


def scorer(
    task: str = "parameters", notation: str = "json", judge: Judge | None = None
) -> Scorer | StabilityScorer:
    """The paper's figures, under the names of the official ones.

    Args:
        task: ``"parameters"``, ``"routing"`` or ``"stability"``, as for the official scores.
        notation: ``"json"`` or ``"yaml"``: what counts as valid.
        judge: Gives the GPT score, and repairs answers that cannot be read otherwise.

    Raises:
        ValueError: an unknown task or notation.

    >>> from planner_eval.benchmarks.callnavi import score_corrected
    >>> gold = {"API": ["pay"], "parameters": [{"card": {"number": "$$$"}}]}
    >>> sample = Sample("q1", gold=gold, extra={"difficulty": "hard"})
    >>> text = '{"API": ["pay"], "parameters": [{"card": {"number": 7}}]}'
    >>> score_corrected([(sample, text)]).value("ast_hard")
    1.0
    """
    parameters = Scorer(
        partial(_judge_answer, notation=notation, judge=judge),
        partial(_figures, has_judge=judge is not None),
        CorrectedOutcome,
    )
    return choose_scorer(task, notation, parameters, Scorer(_judge_route, _route_figures, RoutedAnswer))


def _judge_answer(sample: Sample, text: str, notation: str, judge: Judge | None) -> CorrectedOutcome:
    """Whether the answer is valid, what agrees, and the judge's rating."""
    problem = gold_problem(sample)
    if problem is None:
        try:
            gold = calls_of(sample.gold)
        except ParseError as error:
            problem = _no_calls_message(sample, error.reason)
    if problem is not None:
        return CorrectedOutcome(level_of(sample), False, Verdict(error=problem))
    answer = read_answer(text, notation=notation)
    calls, rating = answer.calls, None
    if judge is not None:
        from planner_eval.benchmarks.callnavi.data import ask_clean_rating, ask_repair

        if calls is None:
            with suppress(ParseError):
                read = read_json if notation == "json" else read_yaml
                calls = calls_of(ask_repair(judge, text, sample.tools, read))
        predicted = text if calls is None else {"API": calls[0], "parameters": list(map(dict, calls[1]))}
        rating = ask_clean_rating(judge, sample.gold, predicted)
    verdict = Verdict(error=answer.code) if calls is None else judge_calls(gold, calls)
    return CorrectedOutcome(level_of(sample), answer.valid, verdict, rating)


def _no_calls_message(sample: Sample, reason: str) -> str:
    """What is said of a gold record that holds no calls."""
    return (
        f"gold cannot be read: {reason}: found {one_line_json(sample.gold)}, expected the names "
        "of the calls as a "
        "list 'API' and their objects as a list 'parameters', one per call"
    )


def judge_calls(gold: Calls, predicted: Calls) -> Verdict:
    """The three verdicts on an answer's calls; each implies the one before it.

    >>> gold = calls_of({"API": ["pay"], "parameters": [{"sum": 5, "to": "$$$"}]})
    >>> judge_calls(gold, calls_of({"API": ["pay"], "parameters": [{"sum": 5.0, "to": "Ann"}]})).ast
    True
    >>> judge_calls(gold, calls_of({"API": ["pay"], "parameters": [{"sum": 5, "to": 1, "note": ""}]}))
    Verdict(order=True, structure=False, ast=False, error=None)
    """
    names, objects = gold
    if names != predicted[0]:
        return NO_ORDER
    right = True
    for gold_arguments, pred_arguments in zip(objects, predicted[1], strict=True):
        plain = type(gold_arguments) is type(pred_arguments) is dict
        if gold_arguments.keys() != pred_arguments.keys() or not (
            plain or _has_equal_key_counts(gold_arguments, pred_arguments)
        ):
            return NO_STRUCTURE
        for key, value in (
            (gold_arguments.items() if plain else object_items(gold_arguments)) if right else ()
        ):
            # Two equal texts, which most values are, fit without a look at what they are.
            if not (type(value) is str and value == pred_arguments[key]) and not is_matching_value(
                value, pred_arguments[key]
            ):
                right = False
                break
    return ALL_RIGHT if right else NO_VALUES


def _has_equal_key_counts(gold_arguments: dict[str, Any], pred_arguments: dict[str, Any]) -> bool:
    """Whether two objects with the same keys give each as often."""
    return Counter(key for key, _ in object_items(gold_arguments)) == Counter(
        key for key, _ in object_items(pred_arguments)
    )


def is_matching_value(gold: Value, predicted: Value) -> bool:
    """Whether a predicted value is the gold value, placeholders aside.

    >>> (
    ...     is_matching_value({"day": "$$$", "n": 1}, {"n": 1.0, "day": "Monday"}),
    ...     is_matching_value(1, True), is_matching_value("1", 1)
    ... )
    (True, False, False)
    """
    if gold == PLACEHOLDER:
        return True
    if type(gold) is type(predicted) is str:
        return bool(gold == predicted)
    if isinstance(gold, dict) and isinstance(predicted, dict):
        return gold.keys() == predicted.keys() and all(
            is_matching_value(gold[key], predicted[key]) for key in gold
        )
    if isinstance(gold, list) and isinstance(predicted, list):
        return len(gold) == len(predicted) and all(map(is_matching_value, gold, predicted))
    if isinstance(gold, bool) or isinstance(predicted, bool):
        return gold is predicted
    return bool(gold == predicted)


def _figures(results: SampleResults, *, has_judge: bool) -> Iterable[Figure]:
    compared: list[CorrectedOutcome] = [outcome for _, outcome in results]
    rating = NO_RATING
    if has_judge:
        ratings = [record.rating for record in compared if record.rating is not None]
        missing = len(compared) - len(ratings)
        verb = "is" if missing == 1 else "are"
        note = f"{format_count(missing, 'answer')} without a usable rating {verb} left out" if missing else ""
        rating = ratio("gpt", sum(ratings), len(ratings), note=note)
    return verdict_figures(compared, _share_of([record.level for record in compared]), rating)


def _share_of(levels: Sequence[Any]) -> Callable[[str, int, str], Figure]:
    """How the share of hits in the questions of a difficulty is made, which these are of all."""
    sizes = {level: levels.count(level) for level in DIFFICULTIES} | {"overall": len(levels)}
    return lambda name, hits, level: ratio(name, hits, sizes[level])


def _judge_route(sample: Sample, text: str) -> RoutedAnswer:
    problem = gold_problem(sample)
    if problem is None and not all(isinstance(name, str) for name in sample.gold["API"]):
        problem = _no_calls_message(sample, "API is not a list of names")
    names = read_route(text)
    right = problem is None and names == sample.gold["API"]
    return RoutedAnswer(level_of(sample), right, problem or (None if names is not None else "parse.shape"))


def _route_figures(results: SampleResults) -> Iterable[Figure]:
    hits = [outcome.level for _, outcome in results if outcome.ok]
    return difficulty_figures("", hits, _share_of([outcome.level for _, outcome in results]))
