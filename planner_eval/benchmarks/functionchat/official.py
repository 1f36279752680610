"""FunctionChat-Bench's scores as its published code computes them, and its report file.

Calls are compared with gold first; what does not pass, and every other kind of answer, goes to a judge.
The judge is asked with the published prompts where the user has their files, else with prompts of our own,
so that only the reading of its text and the tallies are the published ones.

Source: repository kakao/FunctionChat-Bench at cb32af3 (version 2); paper sections 4 and 5, appendix B.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, NamedTuple

from planner_eval.base.errors import InputError, JudgeError
from planner_eval.base.frozen import fast_frozen
from planner_eval.base.json_text import fast_json_loads
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.functionchat.data import FILES, acceptable_text, model_request, verdict_request
from planner_eval.benchmarks.functionchat.matching import FAILED_TEXT, SKIPPED, ExactMatch, match_call
from planner_eval.benchmarks.report import Figure, Records, SampleResults, Scorer, ratio, shared_figures
from planner_eval.benchmarks.turns import dialog_figures

if TYPE_CHECKING:
    from planner_eval.benchmarks.judging import Judge


# ----------------------------------------------------------------------
# FunctionChat-Bench's verdicts and tallies, as the published code reads and prints them.
#
# The three parts of the benchmark treat undecided verdicts in three ways: singlecall divides by all items,
# dialog by decided ones and in the end by 200, call decision by decided ones.
#
# Source: repository kakao/FunctionChat-Bench at cb32af3; the shape of the paper's Tables 3 and 4.
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


# ----------------------------------------------------------------------
# FunctionChat-Bench's scores as its published code computes them.
PART_TALLIES = {"singlecall": singlecall_scores, "dialog": dialog_scores, "calldecision": common_scores}
"""The parts of the benchmark and how each is tallied."""
MAX_CHARS = 16 * 2**20
"""Longer answers are refused."""


class Judgement(NamedTuple):
    """What became of one answer.

    Args:
        verdict: ``"pass"``, ``"fail"`` or the text in which neither can be read; None after an error.
        by: Who decided: ``"exact"``, ``"judge"`` or ``"nobody"``.
        error: Why there is no verdict.
        text: The text that the verdict was read from.
        output: The assistant message; None where the text holds none.
    """

    verdict: str | None = None
    by: str = "nobody"
    error: str | None = None
    text: str = ""
    output: Any = None


class OfficialOutcome(NamedTuple):
    """What is kept of a :class:`Judgement`, with the item's part, category and turn of a dialog."""

    part: Any
    category: str
    verdict: str | None
    by: str
    error: str | None
    dialog: Any = None
    turn: int = 0

    @property
    def ok(self) -> bool:
        """It passed."""
        return self.verdict == PASS

    @shared_figures
    def figures(self) -> Iterator[Figure]:
        """The verdict, who decided, and the turn."""
        yield Figure("verdict", self.verdict, error=self.error)
        yield Figure("by", self.by)
        if self.dialog is not None:
            yield from dialog_figures(str(self.dialog), self.turn, decided=is_decided(self.verdict))


def scorer(judge: Judge | None = None) -> Scorer:
    """The figures of each part that the records come from.

    An answer is the JSON text of the assistant message (``null`` where the model answered nothing).

    Args:
        judge: Decides what exact matching does not. Without one (the published ``--only_exact``) a
            call that does not match fails and every other answer is undecided.

    >>> from planner_eval.benchmarks.functionchat import score_official
    >>> gold = {"name": "weather", "arguments": "{}"}
    >>> extra = {"part": "singlecall", "serial_num": 1, "type_of_output": "call", "tools_type": "exact",
    ...     "messages": [], "acceptable_arguments": None}
    >>> sample = Sample("s1", gold=gold, category="exact", extra=extra)
    >>> report = score_official([(sample, '{"tool_calls": [{"function": ' + json.dumps(gold) + "}]}")])
    >>> report.value("singlecall exact pass rate")
    1.0
    """

    def judge_sample(sample: Sample, text: str) -> OfficialOutcome:
        verdict, by, error, *_ = judge_answer(sample, text, judge)
        dataset_part = sample.extra.get("part")
        return OfficialOutcome(dataset_part, sample.category, verdict, by, error, *turn_of_dialog(sample))

    return Scorer(judge_sample, _figures, OfficialOutcome)


def turn_of_dialog(sample: Sample) -> tuple[Any, int]:
    """Which turn of which dialog an item is; None and 0 of other parts."""
    return sample.extra.get("dialog_num"), sample.extra.get("turn_num", 0)


def _figures(results: SampleResults) -> Iterator[Figure]:
    for subset in PART_TALLIES:
        yield from _part_figures(subset, [result for result in results if result[1].part == subset])


def judge_answer(sample: Sample, text: str, judge: Judge | None = None) -> Judgement:
    """The verdict on one answer: by comparison where that passes, else by the judge where there is one."""
    problem = sample_problem(sample)
    if problem:
        return Judgement(error=problem)
    try:
        output = read_output(text)
    except (ValueError, RecursionError) as error:
        return Judgement(error=f"{type(error).__name__}: {error}")
    exact = match_item(sample, output)
    if exact.error:
        return Judgement(error=exact.error, output=output)
    if exact.passed or judge is None:
        # What was compared says so in its last lines; only what was not has to be read.
        verdict = FAIL if exact.text.endswith(FAILED_TEXT) else read_verdict(exact.text)
        return Judgement(PASS if exact.passed else verdict, "exact", None, exact.text, output)
    try:
        reply = judge.ask(judge_request(sample, output)).text
    except (JudgeError, AttributeError, TypeError) as error:  # the last two: tool_calls of another shape
        return Judgement(None, "nobody", f"{type(error).__name__}: {error}", exact.text, output)
    return Judgement(read_verdict(reply), "judge", None, reply, output)


def sample_problem(sample: Sample) -> str | None:
    """What keeps a sample from being one of FunctionChat-Bench's; None where nothing does."""
    gold = sample.gold
    if sample.extra.get("part") not in PART_TALLIES or not (type(gold) is dict or isinstance(gold, Mapping)):
        return "the sample is not one of FunctionChat-Bench: it names no part, or its gold is not an object"
    return None


def read_output(text: str) -> Any:
    """The assistant message; ``{"tool_calls": []}`` for ``null``, as in a published run.

    Raises:
        ValueError: the text is not JSON, no object, or too long.
    """
    if len(text) > MAX_CHARS:
        raise ValueError(f"{len(text)} characters, at most {MAX_CHARS} are read")
    output = fast_json_loads(text)
    if output is None:
        return {"tool_calls": []}
    if not isinstance(output, dict):
        raise ValueError(f"the answer is a {type(output).__name__}, not an assistant message")
    return output


def match_item(sample: Sample, output: Any) -> ExactMatch:
    """Exact matching of one item; only items whose right answer is a call are compared."""
    if sample.extra["type_of_output"] != "call":
        return ExactMatch(False, SKIPPED)
    return match_call(sample.gold, acceptable_text(sample.extra["acceptable_arguments"]), output)


def judge_request(sample: Sample, output: Any) -> Any:
    """What the judge is asked about one answer."""
    request_data = model_request(sample)
    fields = {
        "tools": request_data["tools"],
        "query": request_data["messages"],
        "ground_truth": strip_ids(request_data["ground_truth"]),
        "response": strip_ids(output),
    }
    headings = ("Available tools", "Conversation", "Reference", "Assistant's turn")
    material = dict(zip(headings, fields.values(), strict=True))
    if sample.extra["type_of_output"] == "call":
        material["Acceptable alternatives"] = request_data["acceptable_arguments"]
        # As published: JSON of what is JSON text already.
        fields["acceptable_arguments"] = json.dumps(request_data["acceptable_arguments"], ensure_ascii=False)
    return verdict_request(sample.extra["type_of_output"], material, fields)


def strip_ids(message: Any) -> Any:
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


def part_scores(subset: str, members: Iterable[tuple[str, OfficialOutcome]]) -> Scores:
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
    return PART_TALLIES[subset](verdicts)


def _part_figures(subset: str, members: SampleResults) -> Iterable[Figure]:
    if not members:
        return
    scores = part_scores(subset, members)
    if scores.error:
        yield Figure(f"{subset} total", None, error=scores.error, note="the published run ends here")
    for name, value in scores.score.items():
        yield Figure(f"{subset} {name}", value)
    score = scores.score
    if subset == "singlecall":
        kinds = [name.removesuffix(" total") for name in score if name.endswith(" total")]
        yield from total_figures([int(score.get(f"{kind} pass cnt", 0)) for kind in kinds])
    elif score:
        rates = [Figure(name, value) for name, value in score.items() if name.endswith(" pass rate")]
        yield macro(f"{subset} avg(macro)", rates)
    undecided = sum(not is_decided(record.verdict) for _, record in members)
    yield Figure(f"{subset} undecided", undecided, undecided, len(members), "verdicts neither pass nor fail")


# ----------------------------------------------------------------------
# FunctionChat-Bench's report file, written and read: one line of tab-separated columns an item.
#
# Source: repository kakao/FunctionChat-Bench at cb32af3; the paper's Figure 2 shows one line of it.
_SHARED_COLUMNS = ("ground_truth", "acceptable_arguments", "model_output", "reasoning")
COLUMNS = {
    "singlecall": ("serial_num", "is_pass", "tools_type", *_SHARED_COLUMNS, "query", "tools"),
    "dialog": ("serial_num", "is_pass", "type_of_output", *_SHARED_COLUMNS, "query", "tools"),
    "calldecision": (
        *("serial_num", "is_pass", "category", "type_of_output"),
        *_SHARED_COLUMNS,
        *("input_messages", "tools"),
    ),
}
"""The columns of each part's report."""


def header(subset: str) -> str:
    r"""The first line; it ends with a tab.

    >>> header("dialog").split("\t")[:3]
    ['#serial_num', 'is_pass', 'type_of_output']
    """
    return "#" + "".join(f"{name}\t" for name in COLUMNS[subset])


def row(sample: Sample, judged: Judgement) -> str:
    """The line of one item.

    An answer that went to the judge is written without the ids of its calls, as published. For an
    answer without a verdict ``is_pass`` holds the error; the published code writes no file then.
    """
    request_data = model_request(sample)
    tidy = strip_ids if judged.by == "judge" else (lambda message: message)
    json_fields = {
        "ground_truth": tidy(request_data["ground_truth"]),
        "acceptable_arguments": request_data["acceptable_arguments"],
        "model_output": tidy(judged.output) if judged.output is not None else None,
        "reasoning": {"reasoning": judged.text},
        "query": request_data["messages"],
        "input_messages": request_data["messages"],
        "tools": request_data["tools"],
    }
    cells: dict[str, Any] = {
        name: json.dumps(value, ensure_ascii=False) for name, value in json_fields.items()
    }
    cells["serial_num"] = request_data["serial_num"]
    cells["is_pass"] = judged.error if judged.verdict is None else judged.verdict
    for name in ("tools_type", "type_of_output", "category"):
        cells[name] = request_data.get(name)
    return "".join(f"{cells[name]}\t" for name in COLUMNS[sample.extra["part"]]).strip()


def result_file(records: Records, judge: Judge | None) -> str:
    """The report of answers as the published code writes it, a file for each part of the benchmark.

    Args:
        records: Samples of one part, each with what a model answered.
        judge: Decides what exact matching does not.

    Raises:
        InputError: there are items of several parts.
    """
    record_list = list(records)
    subsets = list(dict.fromkeys(str(sample.extra.get("part")) for sample, _ in record_list))
    if len(subsets) != 1:
        files = ", ".join(FILES[subset] for subset in subsets if subset in FILES)
        raise InputError(
            f"the items are of {' and '.join(subsets)}, but the published code writes one file per part: "
            f"pass one of {files} as GOLD"
        )
    lines = (row(sample, judge_answer(sample, text, judge)) for sample, text in record_list)
    return "".join(f"{line}\n" for line in (header(subsets[0]), *lines))


class ReportedVerdict(NamedTuple):
    """One line of a report.

    Args:
        line: Its number, counted from 1.
        id: The item, as our samples are called.
        verdict: ``"pass"``, ``"fail"``, or None where it is neither.
    """

    line: int
    id: str
    verdict: str | None


def read_report(text: str) -> Iterator[ReportedVerdict]:
    r"""The items of a report with their verdicts.

    >>> list(read_report("#serial_num\tis_pass\ttools_type\t\n7\tpass\texact\t{}\n"))
    [ReportedVerdict(line=2, id='singlecall-7-exact', verdict='pass')]
    """
    lines = text.split("\n")
    columns = lines[0].rstrip("\r").removeprefix("#").rstrip("\t").split("\t")
    subset = (
        "singlecall" if "tools_type" in columns else "calldecision" if "category" in columns else "dialog"
    )
    for number, line in enumerate(lines[1:], 2):
        if line.strip():
            cells = dict(zip(columns, line.split("\t"), strict=False))
            name, verdict = f"{subset}-{cells.get('serial_num')}", cells.get("is_pass")
            name += f"-{cells.get('tools_type')}" if subset == "singlecall" else ""
            yield ReportedVerdict(number, name, verdict if is_decided(verdict) else None)
