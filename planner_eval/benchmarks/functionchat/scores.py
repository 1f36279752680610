"""FunctionChat-Bench's verdicts and tallies, as the published code reads and prints them.

The three parts of the benchmark treat undecided verdicts in three ways: singlecall divides by all
items, dialog by decided ones and in the end by 200, call decision by decided ones.

Source: repository kakao/FunctionChat-Bench at cb32af3; the shape of the paper's Tables 3 and 4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import field

from planner_eval.base.frozen import fast_frozen
from planner_eval.benchmarks.report import Figure, ratio

# ----------------------------------------------------------------------
# Reading pass or fail out of a judge's text, as FunctionChat-Bench does.
#
# Source: repository kakao/FunctionChat-Bench at cb32af3; paper appendix B (how the judge is asked to end).
PASS, FAIL = "pass", "fail"
_KOREAN_PASS = ("패스", "패쓰", "통과", "합격", "성공")
_POLITE_END = "입니다."


def read_verdict(text: str) -> str:
    r"""``"pass"``, ``"fail"``, or, where neither can be read, the last two lines joined: undecided.

    "pass" anywhere wins over "fail", and 불합격 (failed) holds 합격 (passed).

    >>> read_verdict("because ...\n\nfail\nfail"), read_verdict("does not pass\nfail")
    ('fail', 'pass')
    >>> read_verdict("I cannot say")
    'I cannot say'
    """
    lines = text.strip().split("\n")
    verdict = _find_verdict("".join(lines[-2:]))
    return verdict if verdict != _POLITE_END else _find_verdict("".join(lines[-4:]))


def _find_verdict(text: str) -> str:
    lowered = text.lower()
    if PASS in lowered:
        return PASS
    if FAIL in lowered:
        return FAIL
    return PASS if any(word in text for word in _KOREAN_PASS) else text


def is_decided(verdict: str | None) -> bool:
    """Whether a verdict is pass or fail."""
    return verdict in (PASS, FAIL)


# ----------------------------------------------------------------------
# FunctionChat-Bench's tallies: what the published code prints and writes into its score file.
DIALOG_ITEMS = 200
"""The constant that the dialog average divides by."""
OUTPUT_TYPES = ("call", "completion", "slot", "relevance")
_NO_DIVISOR = "ZeroDivisionError: division by zero"

VerdictCounts = Counter[str]
"""Verdict → how many, in the order of first appearance."""


@fast_frozen
class Scores:
    """What a run of the published code leaves behind.

    Args:
        printed: The text on the screen, up to where it raises.
        score: The entries of the score file; empty where it raises.
        error: The exception that ends the run.
    """

    printed: str
    score: dict[str, float] = field(default_factory=dict)
    error: str | None = None


def group_verdicts(verdicts: Iterable[tuple[str, str]]) -> dict[str, VerdictCounts]:
    """(group, verdict) pairs counted by group, both in the order of first appearance."""
    groups: dict[str, VerdictCounts] = {}
    for (group, verdict), count in Counter(verdicts).items():  # many items, few pairs
        groups.setdefault(group, Counter())[verdict] = count
    return groups


def singlecall_scores(verdicts: Sequence[tuple[str, str]]) -> Scores:
    r"""The tallies of singlecall: (tool list type, verdict) of each item.

    >>> singlecall_scores([("exact", "pass"), ("exact", "fail")]).printed
    '[[exact TOTAL 2]]\n* pass : 1\n* fail : 1\n\n\n[[TOTAL 2]]\npass\t1\nfail\t1'
    """
    score: dict[str, float] = {}
    lines: list[str] = []
    for tools_type, group in group_verdicts(verdicts).items():
        lines += [f"[[{tools_type} TOTAL {group.total()}]]"]
        lines += [f"* {verdict} : {count}" for verdict, count in group.items()] + [""]
        score[f"{tools_type} total"] = group.total()
        if PASS in group:
            score[f"{tools_type} pass cnt"] = group[PASS]
            score[f"{tools_type} pass rate"] = group[PASS] / group.total()
    overall = Counter(verdict for _, verdict in verdicts)
    lines += ["", f"[[TOTAL {overall.total()}]]"]
    lines += [f"{verdict}\t{count}" for verdict, count in overall.items()]
    if not verdicts:
        return Scores("\n".join(lines), error=_NO_DIVISOR)
    score["total_cnt"] = overall.total()
    score["total_pass_cnt"] = overall[PASS]
    score["total_pass_rate"] = overall[PASS] / overall.total()
    return Scores("\n".join(lines), score)


def dialog_scores(verdicts: Sequence[tuple[str, str]]) -> Scores:
    """The tallies of dialog: (output type, verdict) of each turn.

    >>> dialog_scores([("call", "pass"), ("slot", "who knows")]).error
    'ZeroDivisionError: division by zero'
    """
    groups = group_verdicts(verdicts)
    types = [name for name in OUTPUT_TYPES if name in groups]
    passed = sum(groups[name][PASS] for name in types)
    lines = ["", "* pass count"]
    lines += [f"  {name} : {groups[name][PASS]}/{_count_decided(groups[name])}" for name in types]
    lines += [f"  total : {passed}/{DIALOG_ITEMS}", "", "* pass rate"]
    score: dict[str, float] = {}
    for name in types:
        if not _count_decided(groups[name]):
            return Scores("\n".join(lines), error=_NO_DIVISOR)
        rate = groups[name][PASS] / _count_decided(groups[name])
        lines.append(f"  {name} : {rate:.2f}")
        score |= {f"{name} pass cnt": groups[name][PASS], f"{name} pass rate": rate}
    average = passed / DIALOG_ITEMS
    score |= {"total_pass_cnt": passed, "total_cnt": DIALOG_ITEMS, "avg(micro)": average}
    return Scores("\n".join([*lines, f" avg(micro) : {average}"]), score)


def common_scores(verdicts: Sequence[tuple[str, str]]) -> Scores:
    """The tallies of call decision: (category, verdict) of each item.

    >>> common_scores([("CALL", "pass"), ("SLOT-all", "fail")]).score["total_pass_rate"]
    0.5
    """
    groups = group_verdicts(verdicts)
    names = sorted(groups)
    passed = sum(groups[name][PASS] for name in names)
    decided = sum(_count_decided(groups[name]) for name in names)
    rates = {name: _share(groups[name][PASS], _count_decided(groups[name])) for name in names}
    lines = ["Pass Count"]
    lines += [f"  {name} : {groups[name][PASS]}/{_count_decided(groups[name])}" for name in names]
    lines += [f"  total : {passed}/{decided}", "Pass Rate"]
    lines += [f"  {name} : {rates[name]:.2f}" for name in names]
    lines.append(f"  total : {_share(passed, decided):.2f}")
    if not decided:
        return Scores("\n".join(lines), error=_NO_DIVISOR)
    score: dict[str, float] = {}
    for name in names:
        score |= {f"{name} pass cnt": groups[name][PASS], f"{name} pass rate": rates[name]}
    score |= {"total_pass_cnt": passed, "total_cnt": decided, "total_pass_rate": passed / decided}
    return Scores("\n".join(lines), score)


def _count_decided(group: VerdictCounts) -> int:
    return group[PASS] + group[FAIL]


def _share(passed: int, total: int) -> float:
    return passed / total if total else 0.0


def macro(name: str, rates: Sequence[Figure]) -> Figure:
    """The mean of the rates, as in the paper's Table 4; the published code does not compute it.

    >>> macro("avg(macro)", [ratio("call", 1, 2), ratio("slot", 1, 1)]).value
    0.75
    """
    values = [float(rate.value) for rate in rates if rate.value is not None]
    value = sum(values) / len(values) if values else None
    return Figure(name, value, note="mean of the rates; in the paper's Table 4 only")


def total_figures(passed: Sequence[int]) -> Iterable[Figure]:
    """SUM and AVG of the paper's Table 3, from the items passed under each kind of tool list.

    >>> [figure.value for figure in total_figures([87, 87, 90, 88, 86])]
    [438, 87.6]
    """
    note = "items passed; in the paper's Table 3 only"
    yield Figure("singlecall SUM", sum(passed), note=note)
    yield ratio("singlecall AVG", sum(passed), len(passed), note=note)
