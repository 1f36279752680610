"""Small sets of answers with several mistakes each, drawn at random, and all that is reported of them.

What is reported of a set is one line of tests/cases/reported.jsonl; ``pytest tests/test_reported.py
--update-cases`` rewrites the file: review its diff like code.
"""

import re
from random import Random
from typing import Any

import planner_eval as pe
from planner_eval.base.errors import PlanevalError
from planner_eval.base.formats import formats_of
from planner_eval.base.tables import MARKDOWN, TEXT
from planner_eval.comparison.metrics import DEFAULT_METRICS
from planner_eval.comparison.metrics import METRICS as ALL_METRICS
from planner_eval.comparison.policy.policy import DEFAULT_POLICY
from planner_eval.results import findings as ci
from planner_eval.results.agreement import Verdict, Verdicts, agreement, agreement_view
from planner_eval.results.causes import attribute
from planner_eval.results.contrast import Allowance, check_allowance, check_threshold
from planner_eval.results.findings import digests, findings_of
from planner_eval.results.runs.diff_job import PATCH, DiffSums, RowSettings, format_row, rows_of_pairs
from planner_eval.results.views.compare import comparison_view
from planner_eval.results.views.report import report_view
from tests.conftest import ROOT, AsKept, tables

TABLES = tables(__file__)

FILE = ROOT / "tests" / "cases" / "reported.jsonl"
SEEDS = TABLES["SEEDS"]
"""Of many draws those that together run most of the readers' code, each line of it several times."""
FORMS = ("text", "md", "json", "jsonl", "csv", "junit")
METRICS: tuple[Any, ...] = (DEFAULT_METRICS, tuple(ALL_METRICS), ("exact",), ("calls", "order_tau"))
VERDICTS = ("yes", "no", "pass", "fail", "Yes", "FAIL", "1", "0", "bad", "good", "fair", None)
ODD = ("", "I cannot help.", "f(x=", '[{"name": "f"', "{}", "\x1b[31mf()", "f(#x=1", "a = f(x=1)\n" * 12)

RESULT_FORMATS = formats_of("document", "data", "records", "table", "cases")


def plan(random: Random) -> list[str]:
    """The calls of a plan, each on a line."""
    lines: list[str] = []
    for at in range(random.choice((1, 1, 2, 3, 4, 6))):
        values = [random.choice(("1", "2.5", "'a'", "'b, c'", "[1, 2]", "{'k': 'a'}", "True")) for _ in "xyz"]
        if at and random.random() < 0.6:
            values[0] = f"v{random.randrange(at)}"
        given = [f"{name}={value}" for name, value in zip("xyz", values, strict=True)]
        lines.append(f"v{at} = {random.choice('ffgh')}({', '.join(given[: random.randint(0, 3)])})")
    return lines


def answer(random: Random, gold: list[str]) -> str | None:
    """What a system answers, right or not."""
    if random.random() < 0.15:
        return random.choice((*ODD, None))
    lines = [*gold]
    for _ in range(random.choice((0, 0, 1, 1, 2, 3))):
        at = random.randrange(len(lines) + 1)
        new = f"w{at} = {random.choice('fgk')}(x={random.choice('12')})"
        changed = ([*lines[:at], *lines[at + 1 :]], [*lines[:at], new, *lines[at:]], lines[::-1])
        lines = random.choice((*changed, lines + lines[-1:] * 3, [*lines[:at], *plan(random)[:1]]))
    text = "\n".join(lines)
    for old, new in random.sample((("1", "2"), ("x=", "z="), ("'a'", "'A'"), ("f(", "h("), ("2.5", "2")), 2):
        text = text.replace(old, new, 1) if random.random() < 0.3 else text
    return text[: random.randrange(len(text) + 1)] if random.random() < 0.06 else text


def records(random: Random, systems: int) -> tuple[list[list[dict[str, Any]]], list[dict[str, Any]]]:
    """The answers of each system, and gold."""
    gold, answers = [], [[] for _ in range(systems)]  # type: ignore[var-annotated]
    for at in range(random.choice((1, 2, 3, 5, 9, 14))):
        name = random.choice((f"q{at}",) * 9 + (f"a long | name\n{at}" * 9,))
        lines = plan(random)
        keys = {"level": random.choice("ab"), "talk": f"t{at // 3}"}
        gold.append({"id": name, "gold": "\n".join(lines), **keys})
        if random.random() < 0.1:
            gold[-1]["optional"] = ["v0"]
        for found in answers:
            if random.random() < 0.95:
                found.append({"id": name, "output": answer(random, lines)})
    if random.random() < 0.2:
        answers[0].append({"id": random.choice(("q0", "lost")), "output": "f()"})
    return answers, gold


def rows(random: Random) -> Any:
    """What is told of pairs, in one form."""
    (pred,), gold = records(random, 1)
    policy = pe.Policy(order="written") if random.random() < 0.2 else DEFAULT_POLICY
    found = [*pe.evaluate(pred, gold, policy=policy)]
    settings = RowSettings(
        random.choice((*RESULT_FORMATS, PATCH)), many=len(found) > 1 and random.random() < 0.8,
        places=random.random() < 0.5, structure=random.random() < 0.5, each=random.random() < 0.5,
    )  # fmt: skip
    sums, lines = DiffSums(policy), []
    for row in found:
        shown = row.state != "same" or random.random() < 0.8
        sums.add(row, shown=shown)
        lines.append(format_row(row, None, settings) if shown else "")
    first, second = DiffSums(policy, sums.data()), DiffSums(policy)
    second.extend(sums)
    written = [*rows_of_pairs(lines, settings, sums).write(settings.written)]
    return [[*settings], written, sums.said, first.said, second.report]


def findings(random: Random) -> Any:
    """What continuous integration shows."""
    (pred,), gold = records(random, 1)
    paired = pe.pair(pred, gold)
    sides = [one[0] or one[1] for one in paired.pairs]
    found = [
        each._replace(line=random.choice((None, 3)), file=random.choice((None, "a b.json", "/x/y.json")))
        for row, side in zip(pe.evaluate(paired), sides, strict=True)
        for each in findings_of(row, side, many=len(sides) > 1)
    ]
    found = [each._replace(level=random.choice(("error", "error", "warning", "note"))) for each in found]
    shown = [*ci.limit_lines(ci.summary(found, "1 pair\n2 differ", "Plans"), random.choice((200, 900, 9000)))]
    log = re.sub(r'("version": )"[^"]*"', r"\1", "".join(ci.sarif(found, random.choice((None, "/x")))))
    follows = [[each.code, each.follows] for each in found]
    return [
        "".join(ci.github_annotations(found, "1 pair\n2 differ")),
        shown,
        log,
        len({*digests(found)}),
        follows,
    ]


def report(random: Random) -> Any:
    """The figures of one system."""
    (pred,), gold = records(random, 1)
    options: dict[str, Any] = {"metrics": random.choice(METRICS), "causes": random.random() < 0.4}
    options["by"] = random.choice(((), ("level",), ("calls", "depth"), ("pattern", "level")))
    options["cluster"] = random.choice((None, None, "talk"))
    found = pe.score(pred, gold, **options)
    form = random.choice(FORMS)
    limits = [check_threshold(one.name, one.value, 0.5, lower=random.random() < 0.3) for one in found.figures]
    return [str(options), form, report_view(found, failures=random.random() < 0.5).text(form), limits]


def comparison(random: Random) -> Any:
    """What is said of two or three systems."""
    answers, gold = records(random, random.choice((2, 2, 3)))
    options: dict[str, Any] = {"metrics": random.choice(METRICS), "seed": random.choice((0, 3))}
    options["by"] = random.choice(((), (), ("level",)))
    options["cluster"] = random.choice((None, None, "talk"))
    names = random.sample(("base", "tuned", "a | b", "a very long name of a system " * 3), len(answers))
    found = pe.compare(dict(zip(names, answers, strict=True)), gold, **options)
    form = random.choice(FORMS)
    contrast = found.contrasts[0]
    allowed = [Allowance(line.name, random.choice((None, 0.05, 0.4))) for line in contrast.lines]
    text = comparison_view(found, flips=random.choice((1, 10))).text(form)
    return [str(options), form, text, [[one.said, *check_allowance(contrast, one)] for one in allowed]]


def causes(random: Random) -> Any:
    """What root causes cost."""
    (pred,), gold = records(random, 1)
    form = random.choice(("text", "md"))
    return [form, attribute(pe.evaluate(pred, gold)).text(MARKDOWN if form == "md" else TEXT)]


def verdicts(random: Random) -> Any:
    """How far a judge and a person agree."""
    words = VERDICTS[slice(*random.choice(((0, 2), (0, 6), (6, 8), (2, 4), (8, 11), (0, 12))))]
    named, count = random.random() < 0.7, random.choice((1, 2, 5, 20, 40))
    sides = []
    for name in ("judge", "human"):
        listed = [Verdict(f"q{at // 2 * 2 if random.random() < 0.1 else at}" if named else None,
                          random.choice(words), f"{name} {at}") for at in range(count)]  # fmt: skip
        sides.append(Verdicts(name, tuple(listed if named is False else random.sample(listed, count))))
    form = random.choice(FORMS)
    return [form, agreement_view(agreement(*sides, positive=random.choice((None, None, "good")))).text(form)]


KINDS = (rows, rows, findings, report, report, comparison, comparison, causes, verdicts)


def said(seed: int) -> dict[str, Any]:
    """All that is reported of one set."""
    random, kind = Random(f"reported {seed}"), KINDS[seed % len(KINDS)]
    try:
        found = kind(random)
    except PlanevalError as error:
        found = str(error)
    text = re.sub(r"planner_eval [\d.]+\w*|planeval/[\d.]+\w*", "planner_eval", repr(found))
    return {"seed": seed, "kind": kind.__name__, "said": text.encode("ascii", "backslashreplace").decode()}


def test_what_is_reported_of_each_set(as_kept: AsKept) -> None:
    as_kept(FILE, map(said, SEEDS))
