"""Rows of the reference vectors, and how many of them our official figures equal, as a table.

    python -m tests.vectors [BENCHMARK…]

Floats are equal to 1e-9, texts and orders exactly. A record on which the published code raises is equal where
ours names the same exception, and nothing else is; "raising" says how many of the rows are such.
Where two calls of a ComplexFuncBench turn tie in the mapping, the published verdict is one of several that
rounding chose from: each of them is equal.
The test modules of the benchmarks check the same rows one by one and say what differs.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from planner_eval.base.tables import table
from planner_eval.benchmarks.appbench.evaluation import FIGURES
from planner_eval.benchmarks.appbench.text import read_scored_call, split_answer
from planner_eval.benchmarks.appbench.topology import official_components
from planner_eval.benchmarks.complexfuncbench import official as cfb
from planner_eval.benchmarks.complexfuncbench.calls import OfficialFailure
from planner_eval.benchmarks.complexfuncbench.recorded import read_turns
from planner_eval.benchmarks.complexfuncbench.responses import Scores
from planner_eval.benchmarks.complexfuncbench.runners import RUNNERS
from planner_eval.benchmarks.functionchat.matching import match_call
from planner_eval.benchmarks.functionchat.official import judge_record, kept, part_scores
from planner_eval.benchmarks.functionchat.payload import acceptable_text
from planner_eval.benchmarks.functionchat.verdicts import read_verdict
from planner_eval.benchmarks.nestful.formats import read_answer
from planner_eval.benchmarks.nestful.win import official_run
from planner_eval.benchmarks.registry import BENCHMARKS, benchmark
from planner_eval.benchmarks.report import SampleScore
from planner_eval.datasets.sample import Sample
from planner_eval.execution.tools.nestful_basic import OFFICIAL
from planner_eval.llm import ScriptedJudge
from tests import (
    test_benchmark_appbench as appbench_tests,
)
from tests import (
    test_benchmark_callnavi as callnavi_tests,
)
from tests import (
    test_benchmark_complexfuncbench as cfb_tests,
)
from tests import (
    test_benchmark_functionchat as functionchat_tests,
)
from tests import (
    test_benchmark_nestful as nestful_tests,
)
from tests.complexfuncbench_turns import possible, published, with_normal
from tests.conftest import SKIP_REASON, reference_folder
from tests.own_samples_turns import pair

RAISED = "__raised__"

Equal = Iterator[tuple[str, bool] | tuple[str, bool, bool]]
"""What a row is of, whether ours equals it, and, where it can be so, whether the published code raises."""


def _read(path: Path) -> Any:
    with gzip.open(path, "rt") as stream:
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


def _appbench(reference: Path) -> Equal:
    folder = reference / "vectors" / "appbench"
    official = _read(folder / "official.json.gz")
    gold = {(r["set"], r["idx"]): r["sample"]["output"] for r in _read(folder / "gold.jsonl.gz")}
    alone = {(r["set"], r["perturbation"], str(r["idx"])): r for r in official["per_sample"]}
    answers = _by_set(_read(folder / "pred.jsonl.gz"))
    differences = appbench_tests._differences
    for expected in official["whole_set"]:
        key = (expected["set"], expected["perturbation"])
        records = [(Sample(str(r["idx"]), gold=gold[r["set"], r["idx"]]), r["text"]) for r in answers[key]]
        report = benchmark("appbench").official(records)
        first = {figure.name: figure for figure in report.figures[: len(FIGURES)]}
        rest = {figure.name: figure for figure in report.figures[len(FIGURES) :]}
        names = ("evaluation.get_appbench_analysis", "analysis.get_metabench_analysis")
        for figures, name in zip((first, rest), names, strict=True):
            raises = "error" in expected[name]
            yield f"whole sets, {name.partition('.')[0]}", not differences(figures, expected[name]), raises
        for row in report.rows:
            if known := alone.get((*key, row.id)):
                own = {figure.name: figure for figure in row.figures}
                wrong = differences({name: own[name] for name in FIGURES}, known["evaluation"])
                wrong += differences(own, known["analysis"], "sample.")
                yield "single samples", not wrong, "error" in known["evaluation"]
    for row in official["parser"]:
        calls = [appbench_tests._as_published(read_scored_call(line)) for line in row["decided_api"]]
        same = split_answer(row["text"]) == (row["decided_app"], row["decided_api"])
        yield "parsed answers", same and calls == row["utils.extract_name_params"]
    for name, rows in official["gold_topo_relations"].items():
        for index, row in enumerate(rows):
            yield "components of gold", list(map(len, official_components(gold[name, index]))) == row["sizes"]


def _nestful(reference: Path) -> Equal:
    folder = reference / "vectors" / "nestful"
    official = _read(folder / "official.json.gz")
    gold = {
        (r["set"], r["idx"]): Sample(
            str(r["idx"]), gold=r["output"], tools=r["tools"], extra={"gold_answer": r["gold_answer"]}
        )
        for r in _read(folder / "gold.jsonl.gz")
    }
    alone = {(r["set"], r["perturbation"], str(r["idx"])): r for r in official["per_sample"]}
    answers = _by_set(_read(folder / "pred.jsonl.gz"))
    run = official_run({**OFFICIAL, **nestful_tests.CODE_TOOLS})
    for expected in official["whole_set"]:
        key = (expected["set"], expected["perturbation"])
        executed = run if expected["win_rate_flag"] else None
        records = [(gold[r["set"], r["idx"]], r["text"]) for r in answers[key]]
        report = benchmark("nestful").official(records, model=expected["model_name"], run=executed)
        kind = "16 formats" if key[1].startswith("dialect:") else "plain JSON"
        yield (
            f"whole sets, {kind}{', executed' if executed else ''}",
            not nestful_tests._differences(report, expected["scorer.calculate_scores"]),
        )
        for row in report.rows:
            if known := alone.get((*key, row.id)):
                yield "single samples", all(_close(f.value, known[f.name]) for f in row.figures)
    for row in official["parser"]:
        answer = read_answer(row["text"], row["model_name"])
        calls = [json.dumps(entry) for entry in answer.calls]
        same = (answer.failed, calls) == (row["parse_error"], row["grounded_calls"])
        yield "parsed answers", same and json.dumps(answer.raw) == json.dumps(row["raw_calls"])


def _callnavi(reference: Path) -> Equal:
    official = _read(reference / "vectors" / "callnavi" / "official.json.gz")
    samples = {s.id: s for s in benchmark("callnavi").read(reference / "datasets" / "callnavi")}
    judge = ScriptedJudge(lambda request: callnavi_tests.HALF[request.task])
    letters, bench = callnavi_tests.letters, benchmark("callnavi")
    answers = callnavi_tests.by_perturbation(reference, "pred")
    for name, expected in official["parameters"].items():
        records = [(samples[key], answers[name][key]) for key in official["ids"]]
        report = bench.official(records, notation=expected["family"], judge=judge)
        verdicts = ("syntax", *callnavi_tests.VERDICTS)
        ours = zip(*(letters(report, verdict) for verdict in verdicts), strict=True)
        theirs = zip(*(expected[verdict] for verdict in verdicts), strict=True)
        raised = expected.get("ast_raised", {})
        for mine, known, row in zip(ours, theirs, report.rows, strict=True):
            same = mine == known and _exception(row) == raised.get(row.id)
            yield "answers with parameters", same, row.id in raised
        printed = {"syntax": expected["printed_syntax"], **expected.get("judge_para", {})}
        known = expected.get("judge_para_error")
        same = report.figure("ast_overall").error == known
        same = same and all(_close(report.value(n), v) for n, v in printed.items())
        yield "printed figures", same, known is not None
    answers = callnavi_tests.by_perturbation(reference, "routing")
    for name, expected in official["routing"].items():
        records = [(samples[key], answers[name][key]) for key in official["ids"]]
        report = bench.official(records, task="routing")
        for mine, one in zip(letters(report, "match"), expected["match"], strict=True):
            yield "routing answers", mine == one
        yield "printed figures", all(_close(report.value(n), v) for n, v in expected["judge_call"].items())
    runs = callnavi_tests.vectors(reference, "stability")
    records = [(samples[record["id"]], output) for record in runs for output in record["outputs"]]
    report = bench.official(records, task="stability")
    for row in report.rows:
        known = official["stability_paper_formula"]["per_id"][row.id]
        yield "stability", all(_close(f.value, v) for f, v in zip(row.figures, known, strict=True))


def _exception(row: SampleScore) -> str | None:
    """The exception that one of a row's figures names."""
    return next((figure.error for figure in row.figures if figure.error), None)


def _complexfuncbench(reference: Path) -> Equal:
    vectors = cfb_tests.Vectors(reference)
    for case, expected in vectors.of("pair"):
        verdict = pair(vectors, case["pred"], case["gold"])
        yield "pairs of calls", *_same_pair(verdict, expected)
    for case, expected in vectors.of("turn"):
        yield "turns", published(expected) in possible(vectors, case), "__raised__" in expected
    for runner in ("gpt", "qwen"):
        written = []
        for case, verdicts in vectors.of("conv"):
            expected = verdicts[runner]
            settings = vectors.settings()
            try:
                turns = read_turns(cfb_tests.recorded(case))
                outcome = cfb.talk(
                    vectors.sample(case), turns, runner=RUNNERS[runner], settings=settings
                ).outcome
            except OfficialFailure as failure:
                yield f"conversations, {runner} runner", str(failure) == expected.get("__raised__"), True
                continue
            mine = {name: getattr(outcome, name) for name in cfb_tests.OUTCOME}
            same = {**mine, "responded": outcome.response is not None} == expected
            yield f"conversations, {runner} runner", same, "__raised__" in expected
            scores = Scores(case["judge"]["complete"], case["judge"]["correct"])
            written.append(cfb.Written(case["id"], outcome, Scores() if outcome.response is None else scores))
        ours = cfb.print_results(written)
        for label, text in vectors.official["print_results"][runner].items():
            yield "printed figures", ours.get(label) == text


def _same_pair(verdict: dict[str, Any], expected: dict[str, Any]) -> tuple[bool, bool]:
    """Whether a pair's verdict is the published one, and whether the published code raises.

    What it raises stands in place of one step, or of all where it was run from end to end.
    """
    if RAISED in expected:
        return next((step for step in verdict.values() if _raises(step)), None) == expected, True
    published = {**expected, "format_check": with_normal(expected["format_check"])}
    return verdict == published, any(map(_raises, expected.values()))


def _raises(step: Any) -> bool:
    return isinstance(step, dict) and RAISED in step


def _functionchat(reference: Path) -> Equal:
    folder = reference / "vectors" / "functionchat"
    official = _read(folder / "official.json.gz")
    cases: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for case in _read(folder / "cases.jsonl.gz"):
        cases[case["kind"]].append(case)
    items = functionchat_tests.by_key(
        list(benchmark("functionchat").read(reference / "datasets" / "functionchat"))
    )
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
        judged = []
        for case in cases["run"]:
            if case["dataset"] == part:
                judge = ScriptedJudge(lambda _, said=case["judge"]: str(said)) if mode == "judged" else None
                sample = items[part, case["serial_num"], case["tools_type"]]
                judged.append(judge_record(sample, json.dumps(case["output"]), judge=judge))
        scores = part_scores(part, [(one.sample.id, kept(one)) for one in judged])
        yield "printed runs", scores.printed.strip() == expected["printed"].strip()
        yield (
            "scores of runs",
            (scores.score, scores.error)
            == (
                expected.get("score", {}),
                expected.get("__raised__"),
            ),
            "__raised__" in expected,
        )


KINDS: dict[str, Callable[[Path], Equal]] = {
    "appbench": _appbench,
    "nestful": _nestful,
    "callnavi": _callnavi,
    "complexfuncbench": _complexfuncbench,
    "functionchat": _functionchat,
}


def main() -> int:
    """Print the table; 1 where a row differs, 2 where there are no vectors."""
    reference = reference_folder()
    if reference is None:
        print(SKIP_REASON)
        return 2
    names = sys.argv[1:] or list(KINDS)
    unknown = [name for name in names if name not in KINDS]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are {', '.join(KINDS)}")
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
    print(table(rows))
    return int(totals["rows"] != totals["rows equal"])


if __name__ == "__main__":
    sys.exit(main())
