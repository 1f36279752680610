"""CallNavi's scores as its published code prints them.

The published code divides by the sizes of the data set that it was written for, whatever it is given:
729 questions, 456 easy, 188 medium, 85 hard. The released data has 187 medium and 86 hard ones, so
that perfect answers reach 0.9947 and 1.0118 there.

Source: repository Etamin/CallNavi at 520e280; paper section 5.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import compress
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from planner_eval.base.text import edit_distance
from planner_eval.benchmarks.callnavi.reading import (
    Reader,
    read_json,
    read_yaml,
    wash_json,
    wash_yaml,
)
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.report import (
    Figure,
    Records,
    Report,
    SampleResults,
    SampleScore,
    Scorer,
    ratio,
    shared_figures,
)

if TYPE_CHECKING:
    from planner_eval.benchmarks.judging import Judge


# ----------------------------------------------------------------------
# CallNavi's verdicts on one prediction, and how alike the answers to one question are.
#
# Every comparison is Python's, as in the published code: ``1 == 1.0 == True``, ``"1" != 1``.
#
# Source: CallNavi's two judging scripts; paper sections 5.1 and 6.3.
# ----------------------------------------------------------------------
# CallNavi's three verdicts on one prediction with parameters, and its verdict on a route.
PLACEHOLDER = "$$$"
"""What stands in a gold plan for a value that only an earlier call or the user can give."""

_WILDCARDS: tuple[Any, ...] = (PLACEHOLDER, {})
_STRAY_CHARACTERS = str.maketrans("", "", "'\"[]\n `\\")


class Verdict(NamedTuple):
    """How far one prediction agrees with its gold plan; each flag implies the one before it.

    Args:
        order: The same API names in the same order, and as many parameter objects.
        structure: Besides, each gold parameter name occurs in its call.
        ast: Besides, each gold value is predicted, or is a wildcard.
        error: The exception that the published code ends with on this prediction; then no flag is set.
    """

    order: bool = False
    structure: bool = False
    ast: bool = False
    error: str | None = None


NO_ORDER, NO_STRUCTURE = Verdict(), Verdict(True)
NO_VALUES, ALL_RIGHT = Verdict(True, True), Verdict(True, True, True)


def judge_parameters(gold: Mapping[str, Any], predicted: Any, *, sort_keys: bool = False) -> Verdict:
    """The verdicts on a washed prediction.

    Predicted parameters that gold does not have are never looked at, and a wildcard is only a gold
    value that is the placeholder or ``{}`` as a whole.

    Args:
        gold: A gold record: ``{"API": [name, …], "parameters": [{key: value}, …]}``.
        predicted: Any data.
        sort_keys: Visit the keys of a gold call alphabetically, as after the YAML washing.

    >>> gold = {"API": ["pay"], "parameters": [{"sum": "5", "to": "$$$"}]}
    >>> judge_parameters(gold, {"API": ["pay"], "parameters": [{"sum": "5", "to": "Ann", "x": 1}]})
    Verdict(order=True, structure=True, ast=True, error=None)
    >>> judge_parameters({"API": ["list"], "parameters": [{}]}, {"API": ["list"], "parameters": {"0": 1}}).ast
    True
    >>> judge_parameters(gold, None).error
    "TypeError: argument of type 'NoneType' is not iterable"
    """
    try:
        if predicted == {} or not (
            _contains_key(predicted, "API") and _contains_key(predicted, "parameters")
        ):
            return NO_ORDER
        if predicted["API"] != gold["API"]:
            return NO_ORDER
        entries, gold_entries = predicted["parameters"], gold["parameters"]
        if len(entries) != len(gold_entries):
            return NO_ORDER
        structure = values = True
        for position, keys in enumerate(gold_entries):
            for key in sorted(keys) if sort_keys else keys:
                entry = entries[position]  # looked up for each key, as published: where gold has none, never
                if not (key in entry if type(entry) is dict else _contains_key(entry, key)):
                    structure = False
                    break
                value = keys[key]
                if value not in _WILDCARDS and entry[key] != value:
                    values = False
    except (TypeError, KeyError, IndexError, RecursionError) as problem:
        return Verdict(error=f"{type(problem).__name__}: {problem}")
    return (ALL_RIGHT if values else NO_VALUES) if structure else NO_STRUCTURE


def _contains_key(where: Any, key: str) -> bool:
    """``key in where`` with one wording of the exception in all versions of Python."""
    if isinstance(where, (dict, list, str)):
        return key in where
    raise TypeError(f"argument of type '{type(where).__name__}' is not iterable")


def clean_route(text: str) -> str:
    """The text without quotes, square brackets, blanks, line ends, backquotes and backslashes; lower case.

    >>> clean_route("['Pay', 'listCards']")
    'pay,listcards'
    """
    return text.translate(_STRAY_CHARACTERS).lower()


# ----------------------------------------------------------------------
# How alike the answers are that a model gives to one question: CallNavi's two stability scores.
#
# Source: paper section 5.3 and appendix D. No code was published for them.
def election_score(outputs: Sequence[str]) -> float | None:
    """How clearly the commonest output beats the second: (F1 - F2) / (N - F2).

    Args:
        outputs: N outputs for one question, already cleaned.

    Returns:
        0.0 (a tie) to 1.0 (all equal); None without outputs.

    >>> [election_score(letters) for letters in ("AAAAA", "AAAAB", "AAABB", "AABBC", "ABCDE")]
    [1.0, 0.75, 0.3333333333333333, 0.0, 0.0]
    """
    if not outputs:
        return None
    counts = [count for _, count in Counter(outputs).most_common(2)]
    first, second = counts[0], counts[1] if len(counts) > 1 else 0
    return (first - second) / (len(outputs) - second)


def frequencies(records: Records) -> dict[int, list[float]]:
    """freq@k of the answers to each question, cleaned as for the stability scores, by `k`.

    It is the share of the answers that are one of the `k` commonest.

    Args:
        records: Every sample several times, once an answer. One of which no answer holds any text counts
            as 0, as in the stability scores.

    Source: section 5.3, which sets the stability scores against it.

    >>> from planner_eval.benchmarks.datasets.published import Sample
    >>> frequencies([(Sample("a"), letter) for letter in "AABBC"])
    {1: [0.4], 2: [0.8], 3: [1.0]}
    """
    counts = [Counter(texts) for texts in answers_by_sample(records).values()]
    return {
        k: [sum(n for _, n in c.most_common(k)) / c.total() if c else 0.0 for c in counts] for k in (1, 2, 3)
    }


def answers_by_sample(records: Records) -> dict[str, list[str]]:
    """The cleaned answers to each question, by its id; none where no answer of it holds any text.

    >>> from planner_eval.benchmarks.datasets.published import Sample
    >>> answers_by_sample([(Sample("a"), "['Pay']"), (Sample("a"), ""), (Sample("b"), " ")])
    {'a': ['pay', ''], 'b': []}
    """
    outputs: dict[str, list[str]] = {}
    answered: set[str] = set()
    for sample, text in records:
        outputs.setdefault(sample.id, []).append(clean_route(text))
        if text.strip():
            answered.add(sample.id)
    return {name: texts if name in answered else [] for name, texts in outputs.items()}


def levenshtein_score(outputs: Sequence[str]) -> float | None:
    """The mean similarity of the first output to each later one.

    Two empty outputs are alike: their similarity, 0/0 in the paper's formula, is taken as 1.

    Args:
        outputs: Outputs for one question, already cleaned.

    Returns:
        0.0 to 1.0; None with fewer than two outputs.

    >>> levenshtein_score(["pays", "pays", "pats"])
    0.875
    """
    if len(outputs) < 2:
        return None
    first, *later = outputs
    return sum(similarity(first, other) for other in later) / len(later)


def similarity(a: str, b: str) -> float:
    """One less the edit distance over the longer length; 1.0 for two empty texts.

    >>> similarity("abcd", "abxd")
    0.75
    """
    longer = max(len(a), len(b))
    return 1 - edit_distance(a, b) / longer if longer else 1.0


# ----------------------------------------------------------------------
# CallNavi's scores as its published code prints them.
DIFFICULTIES = ("easy", "medium", "hard")
DIVISORS = {"overall": 729, "easy": 456, "medium": 188, "hard": 85}
"""The constants that the published code divides by."""
TASKS = ("parameters", "routing", "stability")
READERS: dict[str, tuple[Reader, Reader]] = {"json": (wash_json, read_json), "yaml": (wash_yaml, read_yaml)}
"""How a notation's answers are read, and how their repairs are."""
_CONSTANT_NOTE = "divided by a constant of the published code"
_MACRO_NOTE = "mean of the three difficulties; in the paper only"


class OfficialOutcome(NamedTuple):
    """What the published code says of an answer with parameters.

    Args:
        level: The question's difficulty.
        valid: The answer is valid.
        unwashed: The exception of the washing, or a limit of ours.
        verdict: How far it agrees with gold.
        rating: The judge's, or the exception it would end with; None where nobody was asked.
    """

    level: str | None
    valid: bool
    unwashed: str | None
    verdict: Verdict
    rating: float | str | None

    @property
    def ok(self) -> bool:
        """All values are right."""
        return self.verdict.ast

    @property
    def error(self) -> str | None:
        """What the published code ends with on it."""
        return self.unwashed or self.verdict.error

    @shared_figures
    def figures(self) -> Iterator[Figure]:
        """The verdicts and the rating of this answer alone."""
        yield Figure("syntax", float(self.valid))
        for name in ("order", "structure", "ast"):
            value = None if self.error else float(getattr(self.verdict, name))
            yield Figure(name, value, error=self.error)
        if self.rating is not None:
            unusable = self.rating if isinstance(self.rating, str) else None
            yield Figure("gpt", None if unusable else self.rating, error=unusable)


def scorer(
    task: str = "parameters", notation: str = "json", judge: Judge | None = None
) -> Scorer | StabilityScorer:
    """The figures that the published code prints.

    Args:
        task: ``"parameters"`` (names and parameters), ``"routing"`` (names only) or ``"stability"``
            (answers to one question against each other; the paper's formula, for no code exists): then each
            sample comes several times, once an answer, and the first counts as first.
        notation: ``"json"`` or ``"yaml"``: how the answers were asked for; parameters only.
        judge: Gives the GPT score and repairs unparsable answers. Without one, there is no GPT
            score, and an unparsable answer counts as ``{}``, as when the published repair fails.

    Raises:
        ValueError: an unknown task or notation.

    >>> from planner_eval.benchmarks.callnavi import score_official
    >>> gold = {"API": ["pay"], "parameters": [{"to": "Ann"}]}
    >>> sample = Sample("q1", gold=gold, extra={"difficulty": "easy"})
    >>> report = score_official([(sample, str(gold))])
    >>> report.value("ast_easy") == 1 / 456
    True
    """
    parameters = Scorer(
        partial(_judge_answer, notation=notation, judge=judge),
        partial(_parameter_figures, has_judge=judge is not None),
        OfficialOutcome,
    )
    return choose_scorer(task, notation, parameters, Scorer(_judge_route, _route_figures, RoutedAnswer))


def choose_scorer(task: str, notation: str, parameters: Scorer, routing: Scorer) -> Scorer | StabilityScorer:
    """The scorer of a task.

    Raises:
        ValueError: there is no such task or notation.
    """
    for value, name, values in ((task, "task", TASKS), (notation, "notation", tuple(READERS))):
        if value not in values:
            raise ValueError(f"{name} is {value!r}, expected one of {', '.join(values)}")
    if task == "stability":
        return StabilityScorer()
    return parameters if task == "parameters" else routing


def level_of(sample: Sample) -> str | None:
    """A question's difficulty."""
    level = sample.extra.get("difficulty")
    return level if isinstance(level, str) else None


def _judge_answer(sample: Sample, text: str, notation: str, judge: Judge | None) -> OfficialOutcome:
    """One answer washed, repaired where a judge can, compared with its gold plan and rated."""
    wash, read = READERS[notation]
    washed = wash(text)
    value, rating = washed.value, None
    if judge is not None and not washed.valid and not washed.error:
        from planner_eval.benchmarks.callnavi.data import ask_repair

        value = ask_repair(judge, text, sample.tools, read)
    if problem := gold_problem(sample):
        verdict = Verdict(error=problem)
    else:
        verdict = judge_parameters(sample.gold, value, sort_keys=notation == "yaml")
        if judge is not None:
            from planner_eval.benchmarks.callnavi.data import ask_rating

            rating = ask_rating(judge, sample.gold, value)
    return OfficialOutcome(level_of(sample), washed.valid, washed.error, verdict, rating)


def gold_problem(sample: Sample) -> str | None:
    """What keeps the sample's gold record from being one of CallNavi's; None where nothing does."""
    gold = sample.gold
    if not isinstance(gold, dict):
        return f"gold is a {type(gold).__name__}, not a CallNavi record with API and parameters"
    for name in ("API", "parameters"):
        if not isinstance(gold.get(name), list):
            return f"gold has no list {name!r}: not a CallNavi record"
    return None


def _parameter_figures(results: SampleResults, *, has_judge: bool) -> Iterable[Figure]:
    judged: list[OfficialOutcome] = [outcome for _, outcome in results]
    unwashed = next((record.unwashed for record in judged if record.unwashed), None)
    if unwashed and unwashed.startswith("LimitError"):  # which is a limit of ours
        unwashed = None
    raised = unwashed or next((record.verdict.error for record in judged if record.verdict.error), None)

    def share(name: str, hits: int, level: str) -> Figure:
        error = unwashed if name == "syntax" else raised
        return (
            Figure(name, None, error=error)
            if error
            else ratio(name, hits, DIVISORS[level], note=_CONSTANT_NOTE)
        )

    return verdict_figures(judged, share, _rating_figure(judged, raised) if has_judge else NO_RATING)


NO_RATING = Figure("gpt", None, note="needs a judge")


def verdict_figures(
    judged: Sequence[Any], share: Callable[[str, int, str], Figure], rating: Figure
) -> Iterator[Figure]:
    """The figures of answers with parameters, under either variant.

    Args:
        judged: The outcomes.
        share: The figure of a name, a number of hits, and a difficulty, or ``"overall"``.
        rating: The judge's.
    """
    yield share("syntax", sum([record.valid for record in judged]), "overall")
    yield rating
    verdicts = [record.verdict for record in judged]
    yield share("structure", sum([verdict.structure for verdict in verdicts]), "overall")
    levels = [record.level for record in judged]
    for name in ("order", "ast"):
        yield from difficulty_figures(
            f"{name}_", list(compress(levels, map(attrgetter(name), verdicts))), share
        )


def difficulty_figures(
    prefix: str, hits: Sequence[Any], share: Callable[[str, int, str], Figure]
) -> Iterable[Figure]:
    """The share of hits by difficulty, over all, and the mean of the difficulties (Table 4).

    Args:
        prefix: How the figures' names begin.
        hits: The difficulties of the answers that are right.
        share: The figure of a name, a number of hits, and a difficulty, or ``"overall"``.
    """
    shares = [share(prefix + level, hits.count(level), level) for level in DIFFICULTIES]
    yield from shares
    yield share(f"{prefix}overall", len(hits), "overall")
    yield macro(f"{prefix}macro", shares)


def macro(name: str, shares: Sequence[Figure]) -> Figure:
    """The plain mean of the figures; None, or their error, where one of them does not exist."""
    values = [share.value for share in shares if isinstance(share.value, (int, float))]
    if len(values) < len(shares):
        return Figure(name, None, note=_MACRO_NOTE, error=next((s.error for s in shares if s.error), None))
    return Figure(name, sum(values) / len(values), note=_MACRO_NOTE)


def _rating_figure(judged: Sequence[OfficialOutcome], raised: str | None) -> Figure:
    """The mean rating over 729; the first unusable answer of the judge would end the published run."""
    ratings = [record.rating for record in judged]
    unusable = next((rating for rating in ratings if isinstance(rating, str)), None)
    if raised or unusable:
        return Figure("gpt", None, error=raised or unusable)
    total = sum(rating for rating in ratings if isinstance(rating, float))
    return ratio("gpt", total, DIVISORS["overall"], note=_CONSTANT_NOTE)


class RoutedAnswer(NamedTuple):
    """What is said of an answer to the task of routing: the difficulty, whether it is right, and why not."""

    level: str | None
    ok: bool
    error: str | None

    @shared_figures
    def figures(self) -> Iterator[Figure]:
        """The verdict."""
        yield Figure("match", float(self.ok))


def _judge_route(sample: Sample, text: str) -> RoutedAnswer:
    problem = gold_problem(sample)
    right = problem is None and clean_route(text) == clean_route(str(sample.gold["API"]))
    return RoutedAnswer(level_of(sample), right, problem)


def _route_figures(results: SampleResults) -> list[Figure]:
    levels = [outcome.level for _, outcome in results]
    hits = [outcome.level for _, outcome in results if outcome.ok]
    figures = [_count_figure("overall", len(hits), len(levels))]
    figures += [_count_figure(level, hits.count(level), levels.count(level)) for level in DIFFICULTIES]
    figures.append(macro("macro", figures[1:]))
    return figures


def _count_figure(name: str, hits: int, divisor: int) -> Figure:
    """The share, where the published code divides by a count and so can fail."""
    if not divisor:
        return Figure(name, None, error="ZeroDivisionError: division by zero")
    return ratio(name, hits, divisor)


class StabilityScorer:
    """Election and Levenshtein stability of the answers to each question, and their means.

    The formula is the paper's, whatever the variant. A sample of which no answer holds any text counts as 0,
    where the formula would call five empty texts stable.
    """

    apart = False

    def report(self, benchmark: str, variant: str, records: Records) -> Report:
        """The report; a row a question.

        Args:
            benchmark: The benchmark.
            variant: What the report calls itself.
            records: Every sample several times, once an answer, in the order of the repetitions.
        """
        answered = list(records)
        rows = []
        sums: dict[str, list[float]] = {"election": [], "levenshtein": []}
        for id_, answers in answers_by_sample(answered).items():
            scores = (
                (election_score(answers), levenshtein_score(answers)) if answers else (0.0, 0.0)
            )  # nothing is as alike as nothing; it still is no answer
            for values, score in zip(sums.values(), scores, strict=True):
                values += [] if score is None else [score]
            error = None if answers else "parse.empty"
            rows.append(SampleScore(id_, len(set(answers)) == 1, tuple(map(Figure, sums, scores)), error))
        note = "the paper's formula, averaged over questions; no code was published"
        figures = tuple(ratio(name, sum(scores), len(scores), note=note) for name, scores in sums.items())
        return Report(benchmark, variant, len(answered), figures, tuple(rows))
