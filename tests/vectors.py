"""How many rows of the reference vectors our official figures reproduce, as one table.

    python -m tests.vectors [BENCHMARK…]

The vectors are what the published code of each benchmark said of answers made from gold by perturbation; they
lie in the folder that PLANEVAL_REFERENCE names. A row is equal if every number in it is, or if ours names the
exception that the published code ends with; "raising" counts the rows in which it ends so.
"""

import gzip
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from planner_eval.base.tables import TEXT
from planner_eval.benchmarks.appbench.evaluation import (
    FIGURE_NAMES,
    OfficialCall,
    read_scored_call,
    split_answer,
)
from planner_eval.benchmarks.appbench.official import official_components
from planner_eval.benchmarks.benchmark import BENCHMARKS, benchmark
from planner_eval.benchmarks.complexfuncbench import official
from planner_eval.benchmarks.complexfuncbench.conversation import RUNNERS
from planner_eval.benchmarks.complexfuncbench.data import OfficialFailure, domain_of
from planner_eval.benchmarks.complexfuncbench.official import read_turns
from planner_eval.benchmarks.complexfuncbench.turn import AnswerScores
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.functionchat.data import acceptable_text
from planner_eval.benchmarks.functionchat.matching import match_call
from planner_eval.benchmarks.functionchat.official import (
    Judgement,
    OfficialOutcome,
    judge_answer,
    part_scores,
    read_verdict,
)
from planner_eval.benchmarks.judging import JudgeRequest, ScriptedJudge
from planner_eval.benchmarks.nestful.formats import find_reader
from planner_eval.benchmarks.report import Figure, Report, SampleScore
from planner_eval.execution.nestful_basic import OFFICIAL_FUNCTIONS
from tests.complexfuncbench_turns import OUTCOME, Vectors, pair, possible, published, recorded, with_normal
from tests.conftest import SKIP_REASON, reference_folder
from tests.nestful_published import PublishedRunner

RAISED = "__raised__"
HALF = {"callnavi.gpt_score": "[[0.5]]", "callnavi.repair": "I cannot."}

Equal = Iterator[tuple[str, bool] | tuple[str, bool, bool]]
"""What a row is of, whether ours equals it, and, where it can be so, whether the published code raises."""


def tallied(sample: Sample, judged: Judgement) -> tuple[str, OfficialOutcome]:
    """What is tallied of an answer."""
    return sample.id, OfficialOutcome(sample.extra.get("part"), sample.category, *judged[:3])


def read(path: Path) -> Any:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as stream:
        return [json.loads(line) for line in stream] if ".jsonl" in path.name else json.load(stream)


def _close(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, (int, float)) and isinstance(theirs, (int, float)):
        return abs(ours - theirs) <= 1e-9
    return bool(ours == theirs)


def _by_set(rows: list[dict[str, Any]]) -> dict[tuple[str, str], list[dict[str, Any]]]:
    found: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        found[row["set"], row["perturbation"]].append(row)
    return found


def differing(figures: dict[str, Figure], expected: dict[str, Any], prefix: str = "") -> list[str]:
    """What differs between our figures of AppBench and what the published code said, in words."""
    if set(expected) == {"error"}:
        return [str(figure) for figure in figures.values() if figure.error != expected["error"]]
    found: list[str] = []
    for key, value in expected.items():
        if isinstance(value, dict):
            found += differing(figures, value, f"{prefix}{key}.")
        elif not _close(ours := figures[prefix + key].value, value):
            found.append(f"{prefix}{key}: {ours} instead of {value}")
    return found


def as_published(call: OfficialCall | None) -> dict[str, Any] | None:
    return call and {
        "function_name": call.name, "return_parameters": call.returns, "input_parameters": call.arguments,
    }  # fmt: skip


def _appbench(reference: Path) -> Equal:
    folder = reference / "vectors" / "appbench"
    official = read(folder / "official.json.gz")
    gold = {(r["set"], r["idx"]): r["sample"]["output"] for r in read(folder / "gold.jsonl.gz")}
    alone = {(r["set"], r["perturbation"], str(r["idx"])): r for r in official["per_sample"]}
    answers = _by_set(read(folder / "pred.jsonl.gz"))
    for expected in official["whole_set"]:
        key = (expected["set"], expected["perturbation"])
        records = [(Sample(str(r["idx"]), gold=gold[r["set"], r["idx"]]), r["text"]) for r in answers[key]]
        report = benchmark("appbench").score("official", records)
        first = {figure.name: figure for figure in report.figures[: len(FIGURE_NAMES)]}
        rest = {figure.name: figure for figure in report.figures[len(FIGURE_NAMES) :]}
        names = ("evaluation.get_appbench_analysis", "analysis.get_metabench_analysis")
        for figures, name in zip((first, rest), names, strict=True):
            raises = "error" in expected[name]
            yield f"whole sets, {name.partition('.')[0]}", not differing(figures, expected[name]), raises
        for row in report.rows:
            if known := alone.get((*key, row.id)):
                own = {figure.name: figure for figure in row.figures}
                wrong = differing({name: own[name] for name in FIGURE_NAMES}, known["evaluation"])
                wrong += differing(own, known["analysis"], "sample.")
                yield "single samples", not wrong, "error" in known["evaluation"]
    for row in official["parser"]:
        calls = [as_published(read_scored_call(line)) for line in row["decided_api"]]
        same = split_answer(row["text"]) == (row["decided_app"], row["decided_api"])
        yield "parsed answers", same and calls == row["utils.extract_name_params"]
    for name, rows in official["gold_topo_relations"].items():
        for index, row in enumerate(rows):
            yield "components of gold", list(map(len, official_components(gold[name, index]))) == row["sizes"]


def _counted(texts: list[str]) -> dict[str, int]:
    return dict(Counter(word for text in texts for word in text.split()))


def _stripped(string: str, regex: str) -> str:
    if not isinstance(string, str) or not isinstance(regex, str):
        raise TypeError("two texts are needed")
    return re.sub(regex, "", string)


CODE_TOOLS: dict[str, Callable[..., Any]] = {
    "non_whitespace_substrings": lambda s: s.split(), "count_words_from_sentences": _counted,
    "proportional_controller": lambda kp, omega, zeta: abs(kp), "remove_characters_by_regex": _stripped,
}  # fmt: skip
"""What the one released sample of the vectors with code functions needs, from their description."""


def printed(report: Report, name: str) -> Any:
    """A figure of NESTful as the published code prints it."""
    value = report.value(name)
    return f"{value:.3f}" if isinstance(value, float) else value


def _as_printed(report: Report, expected: dict[str, Any]) -> bool:
    raw = all(_close(report.value(name), value) for name, value in expected["raw"].items())
    return raw and all(printed(report, name) == value for name, value in expected.items() if name != "raw")


def _nestful(reference: Path) -> Equal:
    folder = reference / "vectors" / "nestful"
    official, gold = read(folder / "official.json.gz"), {}
    for r in read(folder / "gold.jsonl.gz"):
        extra = {"gold_answer": r["gold_answer"]}
        gold[r["set"], r["idx"]] = Sample(str(r["idx"]), gold=r["output"], tools=r["tools"], extra=extra)
    alone = {(r["set"], r["perturbation"], str(r["idx"])): r for r in official["per_sample"]}
    answers = _by_set(read(folder / "pred.jsonl.gz"))
    run = PublishedRunner({**OFFICIAL_FUNCTIONS, **CODE_TOOLS})
    for expected in official["whole_set"]:
        key = (expected["set"], expected["perturbation"])
        executed = run if expected["win_rate_flag"] else None
        records = [(gold[r["set"], r["idx"]], r["text"]) for r in answers[key]]
        report = benchmark("nestful").score("official", records, model=expected["model_name"], run=executed)
        kind = "16 formats" if key[1].startswith("dialect:") else "plain JSON"
        same = _as_printed(report, expected["scorer.calculate_scores"])
        yield f"whole sets, {kind}{', executed' if executed else ''}", same
        for row in report.rows:
            if known := alone.get((*key, row.id)):
                yield "single samples", all(_close(f.value, known[f.name]) for f in row.figures)
    for row in official["parser"]:
        answer = find_reader(row["model_name"])(row["text"])
        calls = [json.dumps(entry) for entry in answer.calls]
        same = (answer.failed, calls) == (row["parse_error"], row["grounded_calls"])
        yield "parsed answers", same and json.dumps(answer.raw) == json.dumps(row["raw_calls"])


def letters(report: Report, name: str) -> str:
    """One character a row, as in CallNavi's vectors: 1, 0, or x where the published code raises."""
    cells = [next(f for f in row.figures if f.name == name) for row in report.rows]
    return "".join("x" if cell.error else str(int(float(cell.value or 0))) for cell in cells)


def _callnavi(reference: Path) -> Equal:
    folder, bench = reference / "vectors" / "callnavi", benchmark("callnavi")
    official = read(folder / "official.json.gz")
    samples = {s.id: s for s in bench.read(reference / "datasets" / "callnavi")}
    judge = ScriptedJudge(lambda request: HALF[request.task])
    verdicts = ("syntax", "order", "structure", "ast")

    def answered(file: str) -> Iterator[tuple[dict[str, Any], list[tuple[Sample, str]]]]:
        answers: dict[str, dict[str, str]] = defaultdict(dict)
        for record in read(folder / f"{file}.jsonl.gz"):
            answers[record["perturbation"]][record["id"]] = record["raw"]
        for name, expected in official["parameters" if file == "pred" else file].items():
            yield expected, [(samples[key], answers[name][key]) for key in official["ids"]]

    for expected, records in answered("pred"):
        report = bench.score("official", records, notation=expected["family"], judge=judge)
        ours = zip(*(letters(report, verdict) for verdict in verdicts), strict=True)
        theirs = zip(*(expected[verdict] for verdict in verdicts), strict=True)
        raised = expected.get("ast_raised", {})
        for mine, known, row in zip(ours, theirs, report.rows, strict=True):
            same = mine == known and _exception(row) == raised.get(row.id)
            yield "answers with parameters", same, row.id in raised
        figures = {"syntax": expected["printed_syntax"], **expected.get("judge_para", {})}
        error = expected.get("judge_para_error")
        same = all(report.figure(n).error == error for n in ("gpt", "structure", "order_hard", "ast_overall"))
        same = same and all(_close(report.value(n), v) for n, v in figures.items())
        yield "printed figures", same, error is not None
    for expected, records in answered("routing"):
        report = bench.score("official", records, task="routing")
        for mine, one in zip(letters(report, "match"), expected["match"], strict=True):
            yield "routing answers", mine == one
        yield "printed figures", all(_close(report.value(n), v) for n, v in expected["judge_call"].items())
    runs = read(folder / "stability.jsonl.gz")
    records = [(samples[record["id"]], output) for record in runs for output in record["outputs"]]
    report, expected = bench.score("official", records, task="stability"), official["stability_paper_formula"]
    means = zip(("election", "levenshtein"), expected["mean"], strict=True)
    whole = all(_close(report.value(name), value) for name, value in means)
    for row in report.rows:
        known = zip(row.figures, expected["per_id"][row.id], strict=True)
        yield "stability", whole and all(_close(f.value, v) for f, v in known)


def _exception(row: SampleScore) -> str | None:
    """The exception that one of a row's figures names."""
    return next((figure.error for figure in row.figures if figure.error), None)


def _complexfuncbench(reference: Path) -> Equal:
    vectors = Vectors(reference)
    for case, expected in vectors.of("pair"):
        yield "pairs of calls", *same_pair(pair(vectors, case["pred"], case["gold"]), expected)
    for case, expected in vectors.of("turn"):
        yield "turns", published(expected) in possible(vectors, case), RAISED in expected
    for runner in ("gpt", "qwen"):
        what, written = f"conversations, {runner} runner", []
        for case, verdicts in vectors.of("conv"):
            expected, turns = verdicts[runner], read_turns(recorded(case))
            options: dict[str, Any] = {"runner": RUNNERS[runner], "settings": vectors.settings()}
            try:
                outcome = official.score_conversation(vectors.sample(case), turns, **options)
            except OfficialFailure as failure:
                yield what, str(failure) == expected.get(RAISED), True
                continue
            responded = outcome.response is not None
            mine = {name: getattr(outcome, name) for name in OUTCOME} | {"responded": responded}
            yield what, mine == expected, RAISED in expected
            scores = AnswerScores(case["judge"]["complete"], case["judge"]["correct"])
            domain = domain_of(case["id"])
            written.append(official.keep(domain, outcome, scores if responded else AnswerScores()))
        ours = printed_figures(written)
        for label, text in vectors.official["print_results"][runner].items():
            yield "printed figures", ours.get(label) == text


def printed_figures(rows: Sequence[Any]) -> dict[str, str]:
    """What ComplexFuncBench's ``print_results`` writes of conversations, a text a label."""
    figures = (*official.success_figures(rows), *official.answer_figures(rows))
    values = {figure.name: figure.value for figure in figures}
    kinds = ("Success Rate", "Call Accuracy")
    by_domain = {
        kind: {n[len(kind) + 1 :]: v for n, v in values.items() if n.startswith(kind)} for kind in kinds
    }
    return {f"Domain {kind}": str(domains) for kind, domains in by_domain.items()} | {
        name: str(value) for name, value in values.items() if not name.startswith(kinds)
    }


def same_pair(verdict: dict[str, Any], expected: dict[str, Any]) -> tuple[bool, bool]:
    """Whether a pair's verdict is the published one, and whether the published code raises.

    What it raises stands in place of one step, or of all where it was run from end to end.
    """
    if RAISED in expected:
        return next((step for step in verdict.values() if _raises(step)), None) == expected, True
    known = {**expected, "format_check": with_normal(expected["format_check"])}
    return verdict == known, any(map(_raises, expected.values()))


def _raises(step: Any) -> bool:
    return isinstance(step, dict) and RAISED in step


def _functionchat(reference: Path) -> Equal:
    folder = reference / "vectors" / "functionchat"
    official = read(folder / "official.json.gz")
    cases: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for case in read(folder / "cases.jsonl.gz"):
        cases[case["kind"]].append(case)
    samples = benchmark("functionchat").read(reference / "datasets" / "functionchat")
    items = {(s.extra["part"], s.extra["serial_num"], s.extra.get("tools_type")): s for s in samples}
    for case, expected in zip(cases["exact"], official["exact"], strict=True):
        sample = items[case["dataset"], case["serial_num"], case["tools_type"]]
        exact = match_call(sample.gold, acceptable_text(sample.extra["acceptable_arguments"]), case["output"])
        ours = (exact.passed, read_verdict(exact.text), exact.text, exact.error)
        known = (expected.get("pass"), expected.get("key"), expected.get("message"), None)
        raises = "raised" in expected
        yield "exact matches", exact.error == expected["raised"] if raises else ours == known, raises
    for case, expected in zip(cases["verdict"], official["verdict"], strict=True):
        yield "verdicts", read_verdict(case["text"]) == expected["key"]
    for name, expected in official["runs"].items():
        part, mode = name.split("/")
        judged, asked = [], []

        def reply(said: str, request: JudgeRequest, asked: list[JudgeRequest] = asked) -> str:
            asked.append(request)
            return said

        for case in cases["run"]:
            if case["dataset"] == part:
                judge = ScriptedJudge(partial(reply, str(case["judge"]))) if mode == "judged" else None
                sample = items[part, case["serial_num"], case["tools_type"]]
                judged.append(tallied(sample, judge_answer(sample, json.dumps(case["output"]), judge)))
        scores = part_scores(part, judged)
        same = scores.printed.strip() == expected["printed"].strip()
        yield "printed runs", same and len(asked) == expected["judge_calls"]
        known = (list(expected.get("score", {}).items()), expected.get(RAISED))
        yield "scores of runs", (list(scores.score.items()), scores.error) == known, RAISED in expected


KINDS: dict[str, Callable[[Path], Equal]] = {
    "appbench": _appbench, "nestful": _nestful, "callnavi": _callnavi, "complexfuncbench": _complexfuncbench,
    "functionchat": _functionchat,
}  # fmt: skip


def main() -> int:
    """Print the table; 1 where a row differs, 2 where there are no vectors."""
    reference = reference_folder()
    if reference is None:
        print(SKIP_REASON)
        return 2
    names = sys.argv[1:] or list(KINDS)
    if unknown := [name for name in names if name not in KINDS]:
        print(f"no vectors of {', '.join(unknown)}; there are {', '.join(KINDS)}")
        return 2
    counts: dict[tuple[str, str], list[int]] = {}
    for name in names:
        for what, equal, *raises in KINDS[name](reference):
            row = counts.setdefault((BENCHMARKS[name].title, what), [0, 0, 0])
            row[0] += 1
            row[1] += any(raises)
            row[2] += equal
    columns = ("rows", "raising", "rows equal")
    rows: list[dict[str, Any]] = [
        {"benchmark": name, "what": what, **dict(zip(columns, row, strict=True))}
        for (name, what), row in counts.items()
    ]
    totals = {key: sum(row[key] for row in rows) for key in columns}
    rows.append({"benchmark": "all", "what": "", **totals})
    print(TEXT.table(rows))
    return int(totals["rows"] != totals["rows equal"])


if __name__ == "__main__":
    sys.exit(main())
