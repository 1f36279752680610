"""The official figures of five benchmarks on samples of our own: exact, and proved without any download.

`tests/cases/official/` holds what the published code answered; its README says how, and what the fields mean.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest

from planner_eval.base.errors import InputError
from planner_eval.base.resources import folder
from planner_eval.benchmarks.appbench.evaluation import (
    FIGURE_NAMES,
    read_analysed_call,
    read_scored_call,
    split_answer,
)
from planner_eval.benchmarks.benchmark import benchmark
from planner_eval.benchmarks.callnavi.official import READERS
from planner_eval.benchmarks.complexfuncbench import official as cfb
from planner_eval.benchmarks.complexfuncbench.conversation import RUNNERS
from planner_eval.benchmarks.complexfuncbench.data import domain_of, steps_of
from planner_eval.benchmarks.complexfuncbench.official import read_turns
from planner_eval.benchmarks.complexfuncbench.turn import AnswerScores, Settings
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.functionchat.data import FILES, read_functionchat
from planner_eval.benchmarks.functionchat.official import judge_answer, match_item, part_scores, read_verdict
from planner_eval.benchmarks.judging import JudgeRequest, ScriptedJudge
from planner_eval.benchmarks.nestful.formats import find_reader
from planner_eval.benchmarks.report import Figure, Report
from planner_eval.execution.nestful_basic import OFFICIAL_FUNCTIONS
from tests import complexfuncbench_turns as talks
from tests.conftest import ROOT
from tests.nestful_published import PublishedRunner
from tests.vectors import HALF, printed_figures, tallied

Record = dict[str, Any]


class Compared(NamedTuple):
    """One comparison: what our code and what the published code says of a record."""

    id: str
    ours: Any
    theirs: Any


class Cases:
    """The records of one benchmark, with the bundled samples that they refer to."""

    def __init__(self, name: str) -> None:
        self.file = json.loads((ROOT / "tests" / "cases" / "official" / f"{name}.json").read_text("utf-8"))
        self.figures: Any = self.file.get("figures")
        self.shared: Mapping[str, Any] = self.file.get("shared", {})
        self.records: list[Record] = self.file["records"]
        self.by_id = {record["id"]: record for record in self.records}
        self.benchmark = benchmark(name)
        self.samples = {s.id: s for s in self.benchmark.read(folder("data") / "samples" / name)}

    def settings(self, record: Record) -> Record:
        return {**self.file.get("default_settings", {}), **record["settings"]}

    def members(self, record: Record) -> list[Record]:
        """The records that are scored together: those of a set, else the record alone."""
        if not record["kind"].startswith("set: "):
            return [record]
        return [self.by_id[id_] for id_ in record["prediction"]["records"]]

    def scored(self, record: Record, sample: Callable[[Record], Sample], **options: Any) -> Report:
        pairs = [(sample(one), one["prediction"]) for one in self.members(record)]
        return self.benchmark.score("official", pairs, **options)


def values(figures: list[Figure]) -> Any:
    """The figures' values, or the exception in place of them all."""
    return next(({"error": f.error} for f in figures if f.error), [f.value for f in figures])


def error_name(official: Any) -> Any:
    """The published verdict with the name of an exception alone, where ours keeps no more."""
    failed = isinstance(official, dict) and "error" in official
    return {"error": official["error"].partition(":")[0]} if failed else official


def appbench() -> Iterator[Compared]:
    cases = Cases("appbench")

    def sample(record: Record) -> Sample:
        gold = record["gold"]
        return (
            cases.samples[gold["sample"]]
            if "sample" in gold
            else Sample(record["id"], gold=inlined(gold["inline"]))
        )

    def inlined(gold: Any) -> Any:
        return cases.shared["gold"][gold] if isinstance(gold, str) else gold

    for record in cases.records:
        report, official = cases.scored(record, sample), record["official"]
        first, rest = list(report.figures[: len(FIGURE_NAMES)]), list(report.figures[len(FIGURE_NAMES) :])
        ours: Record = {"get_appbench_analysis": values(first), "get_metabench_analysis": values(rest)}
        named = [figure.name for figure in (*first, *rest)]
        assert named == cases.figures["get_appbench_analysis"] + cases.figures["get_metabench_analysis"]
        if "decided_app" in official:
            row = {figure.name: figure for figure in report.rows[0].figures}
            of_sample = [row[f"sample.{name}"] for name in cases.figures["get_sample_analysis"]]
            apps, lines = split_answer(record["prediction"])
            theirs = [cases.shared["lines"][position]["text"] for position in official["decided_api"]]
            ours |= {"get_sample_analysis": values(of_sample), "decided_app": apps}
            ours["decided_api"] = official["decided_api"] if lines == theirs else lines
        yield Compared(record["id"], ours, official)
    for line in cases.shared["lines"]:
        calls = read_scored_call(line["text"]), read_analysed_call(line["text"])
        ours = [call and [call.name, call.arguments, call.returns] for call in calls]
        yield Compared(line["text"], ours, [line["utils"], line["analysis"]])


def repeat_word(word: str, number: int) -> str:
    """The one code tool of the cases, as ``tools_source`` has it."""
    return " ".join([word] * number)


def nestful() -> Iterator[Compared]:
    cases = Cases("nestful")
    run = PublishedRunner({**OFFICIAL_FUNCTIONS, "repeat_word": repeat_word})

    def sample(record: Record) -> Sample:
        gold = record["gold"]
        if "sample" in gold:
            return cases.samples[gold["sample"]]
        inline = gold["inline"]
        tools, extra = cases.shared["tools"][inline["tools"]], {"gold_answer": inline["gold_answer"]}
        return Sample(record["id"], gold=inline["output"], tools=tools, extra=extra)

    def printed(figure: Figure) -> Figure:
        as_text = figure.name in ("percentage_times_full_score", "win_rate")
        return Figure(figure.name, f"{figure.value:.3f}") if as_text and figure.value != "no" else figure

    for record in cases.records:
        settings, official = cases.settings(record), record["official"]
        model = settings["model_name"]
        try:
            executed = run if settings["win_rate_flag"] else None
            report = cases.scored(record, sample, model=model, run=executed)
        except InputError as refused:
            known = "no reader for the model" in str(refused)
            ours: Record = {"scorer.calculate_scores": {"error": "Exception" if known else str(refused)}}
        else:
            figures = [report.figure(name) for name in cases.figures]
            failed = any(figure.error for figure in figures)
            ours = {"scorer.calculate_scores": values(figures if failed else [*map(printed, figures)])}
        theirs = {"scorer.calculate_scores": error_name(official["scorer.calculate_scores"])}
        if "parser" in official:
            ours["parser"], theirs["parser"] = parsed(cases, record, model)
        yield Compared(record["id"], ours, theirs)


def parsed(cases: Cases, record: Record, model: str) -> tuple[Any, Any]:
    """What the readers made of an answer, calls as JSON texts: ours, theirs."""
    answer, official = find_reader(model)(record["prediction"]), record["official"]["parser"]
    ours = [answer.failed, [json.dumps(call) for call in answer.calls], json.dumps(answer.raw)]
    calls, raw = official["grounded_calls"], official["raw_calls_json"]
    if "as predicted" in (calls, raw):
        predicted = json.loads(record["prediction"])
        calls = [json.dumps(call) for call in predicted] if calls == "as predicted" else calls
        raw = json.dumps(predicted) if raw == "as predicted" else raw
    calls = [cases.shared["grounded"][call] if isinstance(call, int) else call for call in calls]
    return ours, [official["parse_error"], calls, raw]


def callnavi() -> Iterator[Compared]:
    cases = Cases("callnavi")
    judge = ScriptedJudge(lambda request: HALF[request.task])

    def sample(record: Record) -> Sample:
        gold = record["gold"]
        if "sample" in gold:
            return cases.samples[gold["sample"]]
        return Sample(record["id"], gold=gold["inline"], extra={"difficulty": gold["inline"]["difficulty"]})

    for record in cases.records:
        settings, official = cases.settings(record), record["official"]
        report = cases.scored(record, sample, **settings, judge=judge)
        row = {figure.name: figure for figure in report.rows[0].figures}
        ours: Record = {}
        if "match" in official:
            ours["match"] = row["match"].value
        if "wash" in official:
            ours["wash"] = washed(record, report, settings["notation"], official["wash"])
        if "AST" in official:
            found = values([row[name] for name in cases.figures])
            ours["AST"] = found if "error" in found else list(map(bool, found))
        for name in {"Judge_para", "Judge_call"} & set(official):
            failed = {f.error for f in report.figures if f.name != "syntax"} - {None}
            whole = {name: report.value(name) for name in official[name] if name != "error"}
            ours[name] = {"error": failed.pop()} if failed else whole
        yield Compared(record["id"], ours, official)


def washed(record: Record, report: Report, notation: str, official: Record) -> Record:
    """What washing says of one answer or of a set, in the words of the record."""
    syntax = report.figure("syntax")
    if syntax.error:
        return {"error": syntax.error}
    if "printed_syntax" in official:
        return {"syntax_count": syntax.numerator, "printed_syntax": syntax.value}
    text = json.dumps(READERS[notation][0](record["prediction"]).value)
    same = official["washed_json"] == "as predicted" and text == json.dumps(json.loads(record["prediction"]))
    return {"syntax_count": syntax.numerator, "washed_json": "as predicted" if same else text}


def functionchat() -> Iterator[Compared]:
    cases = Cases("functionchat")
    for record in cases.records:
        kind, official = record["kind"].partition(":")[0], record["official"]
        if kind == "verdict":
            yield Compared(record["id"], {"key": read_verdict(record["prediction"])}, official)
        elif kind == "run":
            ours = run_of(cases, record)
            yield Compared(record["id"], ours, official)
        else:
            exact = match_item(exact_sample(cases, record), record["prediction"])
            found = {"pass": exact.passed, "key": read_verdict(exact.text), "message": exact.text}
            yield Compared(record["id"], {"raised": exact.error} if exact.error else found, official)


def exact_sample(cases: Cases, record: Record) -> Sample:
    gold = record["gold"]
    if "inline" not in gold:
        return cases.samples[gold.get("sample") or f"dialog-{gold['sample_dialog_turn']}"]
    right = {key: gold["inline"][key] for key in ("name", "arguments")}
    return Sample(record["id"], gold=right, extra=gold["inline"])


def run_of(cases: Cases, record: Record) -> Record:
    """A whole run of one part: its answers judged, tallied and printed."""
    settings, prediction = record["settings"], record["prediction"]
    items = [sample for sample in cases.samples.values() if sample.extra["part"] == settings["part"]]
    if "items" in settings:
        written = [dict(cases.shared["item"][name]) for name in settings["items"]]
        lines = [item | {"input_tools": cases.shared["tools"][item["input_tools"]]} for item in written]
        with TemporaryDirectory() as at:
            (Path(at) / FILES["calldecision"]).write_text("\n".join(map(json.dumps, lines)), "utf-8")
            items = list(read_functionchat(Path(at), part="calldecision"))
    asked: list[JudgeRequest] = []

    def reply(said: str, request: JudgeRequest) -> str:
        asked.append(request)
        return said

    judged = []
    for sample, output, said in zip(items, prediction["outputs"], prediction["judge"], strict=True):
        judge = ScriptedJudge(partial(reply, said)) if settings["mode"] == "judged" else None
        found_of = judge_answer(sample, json.dumps(cases.shared["output"][output]), judge)
        judged.append(tallied(sample, found_of))
    scores = part_scores(settings["part"], judged)
    printed = scores.printed and f"{scores.printed}\n"
    found: Record = {"printed": printed, "judge_calls": len(asked)}
    if scores.error:
        return found | {"raised": scores.error}
    return found | {"score": scores.score, "is_pass": [one.verdict for _, one in judged]}


class Urls(dict[str, str]):
    """Every function has an address."""

    def __missing__(self, name: str) -> str:
        return f"https://stub.example/{name}"


def complexfuncbench() -> Iterator[Compared]:
    cases, api = Cases("complexfuncbench"), talks.StubApi(Urls())
    samples = folder("data") / "samples" / "complexfuncbench"
    checked = json.loads((samples / "exact_match_values.json").read_text("utf-8"))
    conversations: dict[str, dict[str, cfb.OfficialOutcome]] = {runner: {} for runner in ("gpt", "qwen")}

    def calls(names: list[str]) -> list[Any]:
        return [cases.shared["call"][name] for name in names]

    def with_calls(known: Record) -> Record:
        named = {"success_matched": calls(known["success_matched"])} if "success_matched" in known else {}
        return talks.published(known | named)

    for record in cases.records:
        kind, gold, official = record["kind"].partition(":")[0], record["gold"], record["official"]
        listed = record["settings"].get("functions")
        functions = cases.file["functions"] if listed == "own" else listed and cases.samples[listed].tools
        judged_with = talks.Judging(functions or (), checked, api)
        if kind.startswith("pair"):
            right = gold.get("inline") or right_call(cases, gold)
            ours = [*talks.pair(judged_with, record["prediction"], right).values()]
            yield Compared(record["id"], ours, [talks.with_normal(official[0]), *official[1:]])
        elif kind == "turn":
            inline = gold["inline"]
            case = {"pred": calls(record["prediction"]), "gold": calls(inline["calls"])}
            case |= {"gold_obs": inline["observations"], "free": calls(inline["free"])}
            found = talks.verdict(judged_with, case)
            allowed = [one["result"] for one in official.get("one_of", [])] or [official]
            yield Compared(record["id"], found, found if found in map(with_calls, allowed) else official)
        else:
            for runner, written in conversations.items():
                theirs = official["gpt"] if official[runner] == "as gpt" else official[runner]
                if kind == "set":
                    rows = [written[id_] for id_ in record["prediction"]["records"] if id_ in written]
                    yield Compared(record["id"], printed_figures(rows), theirs)
                    continue
                script = {**record["prediction"], "script": [*map(calls, record["prediction"]["script"])]}
                options = {"runner": RUNNERS[runner], "settings": Settings(lambda _: api)}
                sample, turns = cases.samples[gold["sample"]], read_turns(talks.recorded(script))
                ended = talks.raised_or(partial(cfb.score_conversation, sample, turns, **options))
                if not isinstance(ended, dict):
                    responded, said = ended.response is not None, record["settings"]["judge"]
                    scores = AnswerScores(said["complete"], said["correct"]) if responded else AnswerScores()
                    written[record["id"]] = cfb.keep(domain_of(sample.id), ended, scores)
                    names = cases.figures["conversation"][:-1]
                    ended = [*(getattr(ended, name) for name in names), responded]
                yield Compared(record["id"], ended, theirs)


def right_call(cases: Cases, gold: Record) -> Any:
    return steps_of(cases.samples[gold["sample"]].gold)[gold["step"]].calls[gold["call"]]


SETS: dict[str, tuple[Callable[[], Iterator[Compared]], int]] = {
    "appbench": (appbench, 108 + 73),  # and the lines as both published readers read them
    "nestful": (nestful, 191),
    "callnavi": (callnavi, 190),
    "complexfuncbench": (complexfuncbench, 167 + 58),  # conversations and their sets under two runners
    "functionchat": (functionchat, 156),
}


@pytest.mark.parametrize("name", SETS)
def test_every_official_figure_is_the_published_one(name: str) -> None:
    compare, number = SETS[name]
    rows = list(compare())
    assert [row for row in rows if row.ours != row.theirs] == []
    assert len(rows) == number
