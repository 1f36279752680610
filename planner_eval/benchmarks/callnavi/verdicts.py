"""CallNavi's verdicts on one prediction, and how alike the answers to one question are.

Every comparison is Python's, as in the published code: ``1 == 1.0 == True``, ``"1" != 1``.

Source: CallNavi's two judging scripts; paper sections 5.1 and 6.3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from planner_eval.base.frozen import fast_frozen
from planner_eval.benchmarks.report import Records

# ----------------------------------------------------------------------
# CallNavi's three verdicts on one prediction with parameters, and its verdict on a route.
PLACEHOLDER = "$$$"
"""What stands in a gold plan for a value that only an earlier call or the user can give."""

_WILDCARDS: tuple[Any, ...] = (PLACEHOLDER, {})
_STRAY_CHARACTERS = str.maketrans("", "", "'\"[]\n `\\")


@fast_frozen
class Verdict:
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
        return _find_verdict(gold, predicted, sort_keys)
    except (TypeError, KeyError, IndexError, RecursionError) as problem:
        return Verdict(error=f"{type(problem).__name__}: {problem}")


def _find_verdict(gold: Mapping[str, Any], predicted: Any, sort_keys: bool) -> Verdict:
    if predicted == {} or not (_contains_key(predicted, "API") and _contains_key(predicted, "parameters")):
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


def judge_route(gold: Mapping[str, Any], text: str) -> bool:
    """Whether the text names the gold plan's APIs in their order, once both are cleaned.

    >>> judge_route({"API": ["pay", "listCards"]}, '```["pay", "listcards"]```')
    True
    """
    return clean_route(text) == clean_route(str(gold["API"]))


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


def frequency(outputs: Sequence[str], k: int) -> float | None:
    """freq@k: the share of the outputs that are one of the `k` commonest.

    Source: section 5.3, which sets the stability scores against it.

    >>> frequency("AABBC", 1), frequency("AABBC", 2), frequency("", 1)
    (0.4, 0.8, None)
    """
    commonest = Counter(outputs).most_common(k)
    return sum(count for _, count in commonest) / len(outputs) if outputs else None


def frequencies(records: Records, *, most: int = 3) -> dict[int, list[float]]:
    """freq@k of the answers to each question, cleaned as for the stability scores, by `k`.

    Args:
        records: Every sample several times, once an answer. One of which no answer holds any text counts
            as 0, as in the stability scores.
        most: The largest `k`.
    """
    answers = answers_by_sample(records)
    return {
        k: [(frequency(texts, k) or 0.0) if texts else 0.0 for texts in answers.values()]
        for k in range(1, most + 1)
    }


def answers_by_sample(records: Records) -> dict[str, list[str]]:
    """The cleaned answers to each question, by its id; none where no answer of it holds any text.

    >>> from planner_eval.benchmarks.datasets.sample import Sample
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


def edit_distance(a: str, b: str) -> int:
    """The Levenshtein distance, by bit vectors (Myers 1999): one pass over `b`, a row to an integer.

    >>> edit_distance("kitten", "sitting")
    3
    """
    if a == b:
        return 0
    if not a or not b:
        return len(a) or len(b)
    masks: dict[str, int] = {}
    for position, letter in enumerate(a):
        masks[letter] = masks.get(letter, 0) | 1 << position
    last = 1 << (len(a) - 1)
    full = (last << 1) - 1
    up, down, distance = full, 0, len(a)
    for letter in b:
        match = masks.get(letter, 0)
        diagonal = (((match & up) + up) ^ up) | match | down
        right_up = down | (full & ~(diagonal | up))
        right_down = up & diagonal
        if right_up & last:
            distance += 1
        if right_down & last:
            distance -= 1
        right_up = (right_up << 1 | 1) & full
        right_down = right_down << 1 & full
        up = right_down | (full & ~(diagonal | right_up))
        down = right_up & diagonal
    return distance
