"""Answers to AppBench under both scores, and the defects of the published code where its F1 is the higher."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from planner_eval.base.resources import folder
from planner_eval.benchmarks.benchmark import BENCHMARKS
from planner_eval.benchmarks.datasets.published import Sample
from tests.conftest import reference_folder
from tests.laws_notations import sources
from tests.vectors import read

STYLES: Mapping[str, Callable[[str], str]] = {
    "steps": lambda text: _each(text, lambda n, line: f"Step {n}, use {line}"),
    "bullets": lambda text: _each(text, lambda n, line: f"- {line}"),
    "numbers": lambda text: _each(text, lambda n, line: f"{n}. {line}"),
    "bold": lambda text: _each(text, lambda n, line: re.sub(r"^(\w+):", r"**\1**:", line)),
    "code": lambda text: _each(text, lambda n, line: f"`{line}`"),
    "fenced": lambda text: f"Here is the plan: [see below]\n```\n{text}\n```\nNote: [done]",
    "one line": lambda text: text.replace("\n", " "), "semicolons": lambda text: text.replace("\n", "; "),
    "no quotes": lambda text: text.replace("'", ""), "double quotes": lambda text: text.replace("'", '"'),
    "no marks": lambda text: text.replace("#", ""),
    "no brackets": lambda text: re.sub(r"(?m)^(\w+): \[(.*)\]$", r"\1: \2", text),
    "no app": lambda text: re.sub(r"(?m)^\w+: ", "", text),
    "app alone": lambda text: re.sub(r"(?m)^(\w+): ", r"\1:\n", text),
    "app in the name": lambda text: re.sub(r"(?m)^(\w+): (.*?= )", r"\1: \2\1_", text),
    "dotted": lambda text: re.sub(r"(?m)^(\w+): (.*?= )", r"\1: \2\1.", text), "capitals": str.upper,
    "no outputs": lambda text: re.sub(r"(?m)\[.*?= (?=\w+\()", "[", text),
    "spread": lambda text: text.replace(", #", ",\n    #"), "tight": lambda text: text.replace(", #", ",#"),
    "spaced": lambda text: text.replace("=", " = ").replace("(", "( ").replace(")", " )"),
    "blank before brackets": lambda text: re.sub(r"(\w)\(#", r"\1 (#", text),
    "cut": lambda text: text[: len(text) * 3 // 4],
    "no closing bracket": lambda text: text.replace(")]", ")"),
    "no last parenthesis": lambda text: text.replace(")]", "]"),
    "curly quotes": lambda text: re.sub(r"'([^']*)'", "\u2018\\1\u2019", text),
    "commented": lambda text: _each(text, lambda n, line: f"{line}  # call {n}: [ok]"),
    "arrows": lambda text: _each(text, lambda n, line: f"{line} -> next"),
    "answer": lambda text: f"Answer: [{text}]",
    "another prefix": lambda text: re.sub(r"(?m)^(\w+): (.*?= )", r"\1: \2zz_", text),
    "words for calls": lambda text: re.sub(r"(?m)^(\w+): \[.*\]$", r"\1: [call its API]", text),
    "said twice": lambda text: f"{text}\n{text}",
    "a call without its app": lambda text: text.partition(": ")[2],
    "a space in the app": lambda text: re.sub(r"(?m)^(\w)(\w+): ", r"\1 \2: ", text),
    "letters lost": lambda text: re.sub(r"(?<=[^a-z])[a-z](?=[a-z]{6})", "", text),
    "commas lost": lambda text: text.replace(",", ""),
    "brackets doubled": lambda text: text.replace("[", "[[").replace("]", "]]"),
    "a reason behind": lambda text: _each(text, lambda n, line: f"{line} (because: the user asked [{n}])"),
    "a reason before": lambda text: _each(text, lambda n, line: f"First I need {n}: {line}"),
    "one part missing": lambda text: re.sub(r"[=(]", "", text, count=3),
    "JSON": lambda text: json.dumps(text.split("\n")),
}  # fmt: skip
"""Ways in which a model may write a right answer."""


def _each(text: str, change: Callable[[int, str], str]) -> str:
    return "\n".join(change(n, line) for n, line in enumerate(text.split("\n"), 1))


Gold = Mapping[str, Any]
Defect = Callable[[str, str, Gold], bool]


def _prefix_ignored(figure: str, text: str, gold: Gold) -> bool:
    """Of a called name only what stands behind its underscore counts, so another API's name does too."""
    names = {line.partition(" = ")[2].partition("(")[0] for line in gold["api_results"]}
    apps = {app.lower() for app in gold["used_app"]}
    called = [name.partition("_") for name in re.findall(r"(\w+_\w+)\(", text.lower())]
    return figure == "api_hit_f1" and any(last in names and first not in apps for first, _, last in called)


def _app_without_call(figure: str, text: str, gold: Gold) -> bool:
    """A line that names an app before a colon and brackets counts, though it calls nothing."""
    lines = [line for line in text.splitlines() if re.match(r"\w+:.*\[.*\]", line)]
    return figure == "app_hit_f1" and any(not re.search(r"\w\(", line) for line in lines)


DEFECTS: Mapping[str, Defect] = {
    "the prefix of a called name is ignored": _prefix_ignored,
    "an app without a call counts": _app_without_call,
}
"""Where the published code finds more right names than there are; at most eight."""


def defect(figure: str, text: str, gold: Gold) -> str | None:
    """The defect of the published code that raises a figure of this answer; None where none is known."""
    return next((name for name, shows in DEFECTS.items() if shows(figure, text, gold)), None)


def answers() -> Iterator[tuple[Sample, str]]:
    """Gold in every style, answers to our own samples, and perturbed gold."""
    for source in sources("appbench", reference_folder()):
        for sample in source.samples:
            right = BENCHMARKS["appbench"].gold_text(sample) or ""
            for style, change in STYLES.items():
                yield replace(sample, id=f"{sample.id} {style}"), change(right)
    at = folder("data") / "samples"
    samples = {one.id: one for one in BENCHMARKS["appbench"].read(at / "appbench")}
    for line in (at / "answers" / "appbench.jsonl").read_text("utf-8").splitlines():
        answer = json.loads(line)
        yield samples[answer["id"]], answer["prediction"]
    reference = reference_folder()
    if reference is None:
        return
    vectors = reference / "vectors" / "appbench"
    gold = {(r["set"], r["idx"]): r["sample"]["output"] for r in read(vectors / "gold.jsonl.gz")}
    for row in read(vectors / "pred.jsonl.gz"):
        key = row["set"], row["idx"]
        yield Sample(f"{row['set']}-{row['idx']} {row['perturbation']}", gold=gold[key]), row["text"]
