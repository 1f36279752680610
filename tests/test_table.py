"""planeval table: figures of runs side by side, what is the best, what is missing and why, in each format."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.benchmarks.layouts import UNITS, layouts
from planner_eval.benchmarks.registry import BENCHMARKS, NAMES
from planner_eval.engine.run_file import read_run, write_run
from planner_eval.llm import JudgeReply, JudgeRequest, Reply
from planner_eval.metrics.counts import Share
from planner_eval.prediction.tasks import read_tasks
from planner_eval.scoring.table_formats import latex_text, write_table
from planner_eval.scoring.tabled import Head, Measured, Table, make_table
from planner_eval.verbs.table_sources import Remembered
from tests import inside
from tests.conftest import ROOT

SAMPLES = ROOT / "data" / "samples"
GOLDEN = ROOT / "tests" / "tables"
FORMS = ("text", "md", "tex", "csv", "svg")
HOSTILE = (
    "a|b\\|c",
    "<b>&amp;</b> $x^2$ \\end{table} % _",
    "=cmd|' /C calc'!A0",
    "\x1b[31mred\nline",
    "@",
    "–",
)


def planeval(*argv: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return inside.planeval(*argv, cwd=cwd)


class Scripted:
    """A model that gives gold for some samples, and something else for the others."""

    def __init__(self, name: str, right: set[str]) -> None:
        self.bench, self.right = BENCHMARKS[name], right
        self.samples = read_tasks(str(SAMPLES / name), name).samples

    async def complete(self, messages: Any, tools: Any = None, **sampling: Any) -> Reply:
        text = str(messages[-1]["content"])
        asked = next((one for one in self.samples if one.query and one.query in text), None)
        return Reply((asked and asked.id in self.right and self.bench.gold_text(asked)) or "I do not know.")


def predicted(folder: Path, name: str, model: str, right: set[str], **how: Any) -> str:
    """The folder of a run of a model with a name."""
    made = type(model, (Scripted,), {})(name, right)
    how.setdefault("pipeline", "flat")
    pe.predict(str(SAMPLES / name), made, benchmark=name, out=folder, **how)
    return str(folder)


def scored(folder: Path, name: str, *more: str) -> str:
    """The folder of the bundled answers to a benchmark, scored."""
    argv = ("score", str(SAMPLES / "answers" / f"{name}.jsonl"), str(SAMPLES / name), "--benchmark", name)
    done = planeval(*argv, *more, "-o", f"{folder}/")
    assert done.returncode == 0, done.stderr
    return str(folder)


def cells(table: Table) -> dict[tuple[str, str], float | None]:
    return {
        (row.name, head.title): cell.value
        for row in table.rows
        for head, cell in zip(table.heads, row.cells, strict=True)
    }


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Runs over CallNavi's three samples: two models, two pipelines."""
    folder = tmp_path_factory.mktemp("names")
    return [
        predicted(folder / f"{model}-{pipeline}", "callnavi", model, right, pipeline=pipeline)
        for model, right in (("large", {"hr01", "hr02", "hr03"}), ("small", {"hr01"}))
        for pipeline in ("flat", "route")
    ]


# ---------------------------------------------------------------- layouts
@pytest.mark.parametrize("name", NAMES)
def test_a_layout_names_figures_that_a_score_gives(name: str) -> None:
    known = set(layouts(name))
    assert all(each.startswith(f"{name}-") for each in known)
    options = {option.name for option in BENCHMARKS[name].options}
    for one in layouts(name).values():
        assert len({column.title for column in one.columns}) == len(one.columns)
        for column in one.columns:
            assert column.unit in UNITS
            assert set(column.settings) <= options
            assert set(column.where) <= {"pipeline", "shots", "repeat"}


def test_the_layouts_are_those_of_the_papers() -> None:
    found = [name for each in NAMES for name in layouts(each)]
    assert found == [
        "appbench-3", "appbench-5", "appbench-11", "nestful-1", "nestful-2", "callnavi-4", "callnavi-5",
        "callnavi-6", "callnavi-7", "callnavi-8", "complexfuncbench-2", "functionchat-3", "functionchat-4",
    ]  # fmt: skip
    shapes = {name: len(one.columns) for each in NAMES for name, one in layouts(each).items()}
    assert shapes["appbench-3"] == 12
    assert shapes["nestful-1"] == 10
    assert shapes["callnavi-4"] == 12
    assert shapes["complexfuncbench-2"] == 14
    assert (shapes["functionchat-3"], shapes["functionchat-4"]) == (7, 6)


@pytest.mark.parametrize("variant", ["official", "corrected"])
@pytest.mark.parametrize("name", ["appbench", "callnavi", "functionchat"])
def test_each_figure_is_that_of_score(name: str, variant: str, tmp_path: Path) -> None:
    run = scored(tmp_path / "run", name)
    report = pe.score_benchmark(
        SAMPLES / "answers" / f"{name}.jsonl", SAMPLES / name, name, variants=[variant]
    ).reports[variant]
    whole = [f.name for f in report.figures if not isinstance(f.value, str)]
    table = pe.table([run], metrics=whole, variant=variant)
    known = {f.name: f.value for f in report.figures}
    assert {head.figure: cell.value for head, cell in zip(table.heads, table.rows[0].cells, strict=True)} == {
        key: known[key] for key in whole
    }


@pytest.mark.parametrize("variant", ["official", "corrected"])
def test_a_figure_that_the_published_code_gives_in_percent_is_percent_once(
    variant: str, tmp_path: Path
) -> None:
    answers = SAMPLES / "answers" / "complexfuncbench.jsonl"
    rows = [json.loads(line) | {"error": None, "requests": []} for line in answers.read_text().splitlines()]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    source = str(SAMPLES / "complexfuncbench")
    run = {"schema": "planeval.run/1", "version": pe.__version__, "kind": "predict", "pairs": len(rows)}
    run |= {"options": {"dataset": "complexfuncbench", "pipeline": "stepwise", "model": "m"}, "part": 1}
    run |= {"inputs": [{"path": source}], "store": "jsonl"}
    write_run(str(tmp_path), run)
    report = pe.score_benchmark(
        answers, source, "complexfuncbench", variants=[variant], ids={row["id"] for row in rows}
    ).reports[variant]
    found = cells(pe.table([tmp_path], variant=variant))
    percent = 1 if variant == "official" else 100
    assert found["m", "Overall Call Acc"] == pytest.approx(percent * report.value("Overall Call Accuracy"))  # type: ignore[operator]
    assert found["m", "Overall Success"] == pytest.approx(100 * report.value("Overall Success Rate"))  # type: ignore[operator]
    assert found["m", "Hotels Call Acc"] == pytest.approx(percent * report.value("Call Accuracy Hotels"))  # type: ignore[operator]


def test_parts_are_scored_by_themselves(tmp_path: Path) -> None:
    run = scored(tmp_path / "run", "appbench")
    ours = cells(pe.table([run], layout="appbench-3"))
    for part in ("ss", "mm"):
        rows = [
            json.loads(line) for line in (SAMPLES / "answers" / "appbench.jsonl").read_text().splitlines()
        ]
        (tmp_path / f"{part}.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in rows if row["id"].startswith(part))
        )
        alone = pe.score_benchmark(
            tmp_path / f"{part}.jsonl", SAMPLES / "appbench" / f"test_{part}.json", "appbench"
        )
        for head, figure in (("F1 App", "app_hit_f1"), ("F1 API", "api_hit_f1"), ("Succ", "complete_match")):
            value = alone.reports["corrected"].value(figure)
            assert ours["run", f"{part.upper()} {head}"] == pytest.approx(100 * value)  # type: ignore[operator]
    assert ours["run", "SM Succ"] is None


def test_a_run_that_was_kept_gives_the_parts_that_the_answers_give(tmp_path: Path) -> None:
    kept = scored(tmp_path / "kept", "callnavi")
    rows = [json.loads(line) for line in (SAMPLES / "answers" / "callnavi.jsonl").read_text().splitlines()]
    answers = {row["id"]: row["prediction"] for row in rows}

    class Repeats(Scripted):
        async def complete(self, messages: Any, tools: Any = None, **sampling: Any) -> Reply:
            text = messages[0]["content"]
            return Reply(next(answers[one.id] for one in self.samples if one.query in text))

    asked = tmp_path / "asked"
    pe.predict(str(SAMPLES / "callnavi"), Repeats("callnavi", set()), benchmark="callnavi", out=asked)
    for how in ({"by": "difficulty"}, {"layout": "callnavi-4"}):
        one, other = (pe.table([run], **how) for run in (kept, str(asked)))  # type: ignore[arg-type]
        same = zip(one.heads, one.rows[0].cells, other.rows[0].cells, strict=True)
        assert [h.title for h, a, b in same if a[:4] != b[:4] and h.group != "Routing"] == []


# ---------------------------------------------------------------- rows
def test_runs_of_one_model_are_one_row_where_columns_tell_them_apart(names: list[str]) -> None:
    table = pe.table(names)
    assert [row.name for row in table.rows] == ["large", "small"]
    found = cells(table)
    assert found["large", "AST match All avg."] == 1
    assert found["small", "AST match All avg."] == pytest.approx(1 / 3)
    assert found["large", "Routing All"] is not None


def test_runs_of_one_model_that_columns_do_not_tell_apart_are_rows(names: list[str], tmp_path: Path) -> None:
    table = pe.table(names, metrics=["ast_overall"])
    assert [row.name for row in table.rows] == [
        f"{model}, pipeline {pipeline}" for model in ("large", "small") for pipeline in ("flat", "route")
    ]
    again = predicted(tmp_path / "again", "callnavi", "large", {"hr01"})
    table = pe.table([names[0], again], metrics=["ast_overall"])
    assert [row.name for row in table.rows] == [f"large, {names[0]}", f"large, {again}"]
    table = pe.table({"mine": names[0], "yours": again}, metrics=["ast_overall"])
    assert [row.name for row in table.rows] == ["mine", "yours"]


def test_demonstrations_fill_their_own_columns(tmp_path: Path) -> None:
    from planner_eval.prediction.shots import Shots

    one = predicted(tmp_path / "one", "nestful", "m", {"half", "rows"}, shots=Shots(1))
    none = predicted(tmp_path / "none", "nestful", "m", {"half"})
    table = pe.table([one], layout="nestful-1")
    found = cells(table)
    row = "m (demonstrations share answers)"
    assert found[row, "One-shot Full Acc"] == pytest.approx(2 / 3)
    assert found[row, "Three-shots Full Acc"] is None
    assert any(
        f"shots 1, prompts own, demonstrations out of the test set, {SAMPLES / 'nestful'}; none of" in said
        for said in table.notes
    )
    assert any("asked with pipeline flat, shots 3 (Three-shots)" in said for said in table.notes)
    assert cells(pe.table([none], layout="nestful-1"))["m", "One-shot Full Acc"] is None


def test_what_was_asked_otherwise_is_said_and_tells_rows_apart(tmp_path: Path) -> None:
    from planner_eval.prediction.candidates import Choice
    from planner_eval.prediction.setup import Setup

    asked = {
        "close": ({"choice": Choice(1, "close")}, "distractors 1 close"),
        "none": ({"choice": Choice(0)}, "distractors 0 random"),
        "odd": ({"setup": Setup(official=True)}, "oddities official"),
    }
    runs = [predicted(tmp_path / key, "callnavi", "m", {"hr01"}, **how) for key, (how, _) in asked.items()]
    done = planeval("table", *runs, "--metric", "ast_overall")
    assert done.returncode == 0, done.stderr
    for run, (_, said) in zip(runs, asked.values(), strict=True):
        assert f"{run}, 3 samples, pipeline flat, {said}, prompts own" in done.stdout
    rows = [line.split("  ")[0] for line in done.stdout.splitlines() if line.startswith("m, ")]
    assert len(set(rows)) == 3, done.stdout


def test_the_number_of_demonstrations_names_a_row_of_table_5(tmp_path: Path) -> None:
    from tests.prediction_samples import appbench_catalogue

    run = tmp_path / "run"
    made = type("m", (Scripted,), {})("appbench", {"ss-0"})
    path = tmp_path / "catalogue.json"
    path.write_text(json.dumps(appbench_catalogue()))
    pe.predict(str(SAMPLES / "appbench"), made, benchmark="appbench", catalog=str(path), out=run)
    assert [row.name for row in pe.table([run], layout="appbench-5").rows] == ["m, shots 0"]


# ---------------------------------------------------------------- tests
def column(*systems: list[int], lower: bool = False) -> Table:
    rows = [
        [
            Measured(
                sum(each) / len(each),
                {str(k): Share(v, 1) for k, v in enumerate(each)},
                frozenset(map(str, range(len(each)))),
            )
        ]
        for each in systems
    ]
    return make_table("", [Head("", "x", "x", lower=lower)], [f"s{k}" for k in range(len(rows))], rows)


def test_what_is_surely_worse_is_so_by_the_sign_test_after_holm() -> None:
    n = 20
    table = column([1] * n, [1] * (n - 6) + [0] * 6, [1] * (n - 5) + [0] * 5)
    assert [row.cells[0].best for row in table.rows] == [True, False, False]
    # exact sign test: 2 / 2**6 = 0.03125 and 2 / 2**5 = 0.0625; Holm: times 2, then times 1 but no less
    assert [row.cells[0].p for row in table.rows] == [None, 0.0625, 0.0625]
    assert [row.cells[0].worse for row in table.rows] == [False, False, False]
    table = column([1] * n, [1] * (n - 8) + [0] * 8, [1] * n)
    assert [row.cells[0].worse for row in table.rows] == [False, True, False]
    assert [row.cells[0].best for row in table.rows] == [True, False, True]


def test_a_difference_is_tested_as_compare_tests_it(tmp_path: Path) -> None:
    runs = [
        predicted(tmp_path / m, "callnavi", m, set(right))
        for m, right in (("a", ["hr01", "hr02"]), ("b", []))
    ]
    rows = [f"{run}/rows.jsonl" for run in runs]
    found = pe.compare_benchmark(rows, SAMPLES / "callnavi", "callnavi", variants=["corrected"]).contrasts[0]
    wanted = {line.name: line for line in found.lines}
    for name in ("syntax", "structure"):
        ours, theirs = (row.cells[0] for row in pe.table(runs, metrics=[name]).rows)
        line = wanted[name]
        assert (ours.p, theirs.p) == (None, line.difference.p)
        assert (ours.value, theirs.value) == (line.first.value, line.second.value)
        for cell, side in ((ours, line.first), (theirs, line.second)):
            assert side.interval is not None
            assert (cell.low, cell.high) == side.interval[:2]


@pytest.mark.parametrize(
    "text",
    [
        "[]", "{}", "null", "1" * 5000, '{"kind": "predict"}', '{"kind": "score", "options": []}',
        '{"kind": "score", "options": {"benchmark": "callnavi", "settings": [1]}}',
        '{"kind": "score", "options": {"benchmark": ["x"]}, "inputs": 3}',
        '{"schema": "planeval.run/1", "version": "0", "kind": "predict", "part": 1, "store": "jsonl",'
        ' "pairs": 1, "options": {"dataset": "own", "setup": [1]}, "inputs": [{"path": "x"}]}',
    ],
)  # fmt: skip
def test_a_broken_folder_is_said(text: str, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(text)
    (tmp_path / "rows.jsonl").write_text('{"id": "a", "prediction": "f()", "error": null, "requests": []}\n')
    done = planeval("table", str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    assert str(tmp_path) in done.stderr


def test_repeated_answers_are_stable_or_said_to_be_left_out(tmp_path: Path) -> None:
    run = predicted(tmp_path / "run", "callnavi", "m", {"hr01"}, repeat=3)
    table = pe.table([run], layout="callnavi-7")
    assert [cell.value for cell in table.rows[0].cells] == [1, 1]
    assert table.rows[0].cells[0].n == 3
    table = pe.table([run], metrics=["ast_overall"])
    assert any("6 further answers to a sample that has one, not counted" in said for said in table.notes)


def test_of_repeated_answers_to_own_tasks_the_first_count(tmp_path: Path) -> None:
    tasks = [
        {"id": name, "query": f"What time is it, {name}?", "tools": [{"name": "now"}], "gold": "now()"}
        for name in "abcd"
    ]
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(one) + "\n" for one in tasks))

    class Tiring:
        """Knows the time when it is asked first, and not when it is asked again."""

        def __init__(self) -> None:
            self.asked: set[str] = set()

        async def complete(self, messages: Any, tools: Any = None, **sampling: Any) -> Reply:
            text = str(messages)
            known = text in self.asked
            self.asked.add(text)
            return Reply("I am tired." if known else '[{"name": "now", "arguments": {}}]')

    pe.predict(str(tmp_path / "tasks.jsonl"), Tiring(), out=tmp_path / "run", repeat=3, concurrency=1)
    table = pe.table([tmp_path / "run"], metrics=["exact"])
    assert (table.rows[0].cells[0].value, table.rows[0].cells[0].n) == (1, 4)
    assert any("the first answer to each counts, 8 further ones not" in said for said in table.notes)


def test_samples_without_an_answer_are_said_to_be_wrong(tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    answers.write_text((SAMPLES / "answers" / "callnavi.jsonl").read_text().splitlines()[0] + "\n")
    argv = ("score", str(answers), str(SAMPLES / "callnavi"), "--benchmark", "callnavi")
    assert planeval(*argv, "-o", f"{tmp_path}/run/").returncode == 0
    table = pe.table([tmp_path / "run"], metrics=["ast_overall"])
    assert table.rows[0].cells[0].value == pytest.approx(1 / 3)
    assert any("2 samples without an answer, counted as wrong" in said for said in table.notes)


def test_runs_that_other_versions_scored_make_no_table(tmp_path: Path) -> None:
    one, other = scored(tmp_path / "one", "callnavi"), scored(tmp_path / "other", "callnavi")
    write_run(other, {**(read_run(other) or {}), "version": "0.0.1"})
    done = planeval("table", one, other)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"they are of versions {pe.__version__} and 0.0.1" in done.stderr


def test_a_system_may_be_called_as_a_column_of_another_table(tmp_path: Path) -> None:
    one, other = scored(tmp_path / "one", "callnavi"), scored(tmp_path / "other", "callnavi")
    done = planeval("table", f"p={one}", f"figure={other}", "--metric", "ast_overall")
    assert done.stdout.splitlines()[0].split() == ["figure", "p", "system", "figure"]
    rows = pe.table({"p": one, "figure": other}, metrics=["ast_overall"]).rows
    assert [row.name for row in rows] == ["p", "figure"]


def test_less_is_better_where_it_is() -> None:
    assert [row.cells[0].best for row in column([1, 1], [0, 0], lower=True).rows] == [False, True]


def test_nothing_is_the_best_of_one_or_of_equals() -> None:
    assert not any(row.cells[0].best for row in column([1, 0], [0, 1]).rows)
    assert not any(row.cells[0].best for row in column([1, 0]).rows)


def test_systems_with_other_samples_are_not_compared_unless_asked(names: list[str], tmp_path: Path) -> None:
    fewer = predicted(tmp_path / "fewer", "callnavi", "fewer", {"hr01"}, ids=["hr01", "hr03"])
    done = planeval("table", names[0], fewer, "--metric", "ast_overall")
    assert done.returncode == 1
    assert "not of the same samples, so none is the best: large 3, fewer 2; in common 2" in done.stdout
    assert "^" not in done.stdout.replace("^ best", "")
    assert "--common takes those that all have" in done.stderr
    done = planeval("table", names[0], fewer, "--metric", "ast_overall", "--common")
    assert done.returncode == 0, done.stderr
    assert "1.000^" in done.stdout
    assert "only samples in common" in done.stdout
    assert (
        cells(pe.table([names[2], fewer], metrics=["ast_overall"], common=True))["small", "ast_overall"]
        == 0.5
    )


def test_no_interval_where_a_figure_is_no_sum_of_samples(names: list[str]) -> None:
    table = pe.table([names[0], names[2]], metrics=["ast_macro", "ast_overall"])
    for row in table.rows:
        assert row.cells[0].low is row.cells[0].p is None
        assert row.cells[1].low is not None
    assert any("no figures of single samples add up to it (ast_macro)" in said for said in table.notes)


# ---------------------------------------------------------------- one's own
def test_own_tasks_by_any_key(tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text(
        "".join(
            json.dumps({"id": str(n), "gold": f"f(#x='{n}')", "kind": ["even", "odd"][n % 2]}) + "\n"
            for n in range(8)
        )
    )
    runs = []
    for name, wrong in (("base", (1, 3, 5)), ("tuned", ())):
        pred = tmp_path / f"{name}.jsonl"
        rows = ({"id": str(n), "output": f"f(#x='{'no' if n in wrong else n}')"} for n in range(8))
        pred.write_text("".join(json.dumps(row) + "\n" for row in rows))
        pe.score(pred, gold, by=["kind"], folder=tmp_path / name)
        runs.append(str(tmp_path / name))
    found = cells(pe.table(runs, by="kind", metrics=["exact"]))
    assert found == {
        ("base", "kind even exact"): 1, ("base", "kind odd exact"): 0.25,
        ("tuned", "kind even exact"): 1, ("tuned", "kind odd exact"): 1,
    }  # fmt: skip
    whole = pe.table(runs, metrics=["exact", "calls"])
    report = pe.score(Path(runs[0]))
    spans = {one.name: one.interval for one in report.figures}
    for head, cell in zip(whole.heads, whole.rows[0].cells, strict=True):
        assert (cell.value, cell.low, cell.high) == (report.figure(head.figure), *spans[head.figure][:2])
    other = tmp_path / "other.jsonl"
    other.write_text(gold.read_text().replace("'7'", "'8'"))
    pe.score(tmp_path / "base.jsonl", other, by=["kind"], folder=tmp_path / "against-other")
    with pytest.raises(InputError, match="their gold plans are not the same"):
        pe.table([*runs, str(tmp_path / "against-other")])


# ---------------------------------------------------------------- formats
def table_of(names: tuple[str, ...]) -> Table:
    heads = [Head("A & B", "F|1", "f1", "percent", 2), Head("", "less", "e", lower=True)]
    rows = []
    for k, _ in enumerate(names):
        tallies = {str(n): Share(int(n > 5 * k), 1) for n in range(10)}
        value = sum(one.part for one in tallies.values()) / 10
        first = Measured(value, tallies, frozenset(tallies), 100, "", f"runs/{k}")
        rows.append([first, Measured(None, why="not asked") if k else Measured(0.25, run="runs/0")])
    return make_table("Table <1> of $5", heads, list(names), rows, notes=["made 100% so"])


@pytest.mark.parametrize("form", FORMS)
def test_each_format_is_as_it_was(form: str, request: pytest.FixtureRequest) -> None:
    written = write_table(table_of(("gpt_4|o", "=cmd()", "small")), form) + "\n"
    file = GOLDEN / f"table.{'txt' if form == 'text' else form}"
    if request.config.getoption("--update-cases"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(written, encoding="utf-8")
    assert written == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("form", FORMS)
def test_a_hostile_name_stays_a_text(form: str) -> None:
    written = write_table(table_of(HOSTILE), form)
    assert "\x1b" not in written
    assert written == write_table(table_of(HOSTILE), form)
    if form == "csv":
        rows = list(csv.DictReader(io.StringIO(written)))
        assert len(rows) == 2 * len(HOSTILE)
        assert not any(value.startswith(("=", "+", "-", "@")) for row in rows for value in row.values())
        assert rows[0]["system"] == HOSTILE[0]
        assert rows[4]["system"] == f"'{HOSTILE[2]}"
    elif form == "svg":
        texts = [each.text for each in ET.fromstring(written).iter("{http://www.w3.org/2000/svg}text")]
        assert set(HOSTILE[:3]) <= set(texts)
        assert {each.tag.partition("}")[2] for each in ET.fromstring(written).iter()} == {
            "svg", "rect", "text", "path", "circle",
        }  # fmt: skip
    elif form == "md":
        lines = [line for line in written.splitlines() if line.startswith("|")]
        assert len(lines) == 2 + len(HOSTILE)
        unescaped = [line.replace("\\\\", "").replace("\\|", "") for line in lines]
        assert {line.count("|") for line in unescaped} == {4}
        assert "<b>" not in written.replace("\\<", "")
    elif form == "tex":
        assert written.count(r"\end{table}") == 1
        assert written.count(r"\\") == 2 + len(HOSTILE) + written.split("footnotesize")[1].count(r" \\")
        body = written.replace(r"\_", "").replace(r"\&", "").replace(r"\%", "").replace(r"\$", "")
        assert "%" not in body
        assert body.count("$") % 2 == 0
        assert not any(
            line.startswith(("[", "*")) for line in written.splitlines()
        )  # after a line's \\\\ these are its options


def test_latex_says_what_was_written() -> None:
    assert latex_text("#{}~^--x") == r"\#\{\}\textasciitilde{}\textasciicircum{}-{}-x"


def test_no_intervals_leaves_them_out_and_nothing_else() -> None:
    table = table_of(("a", "b"))
    for form in ("text", "md", "tex"):
        with_, without = (write_table(table, form, intervals=each) for each in (True, False))
        assert "90.00" in without
        assert "99.75" in with_
        assert "99.75" not in without


def test_names_that_are_too_long_for_a_terminal_are_letters() -> None:
    names = tuple(f"{letter * 70}" for letter in "xyz")
    written = write_table(table_of(names))
    assert written.splitlines()[2] == f"A: {names[0]}"
    assert max(map(len, written.splitlines()[6:10])) <= 100


# ---------------------------------------------------------------- the command
def test_the_command_names_systems_and_writes_by_suffix(names: list[str], tmp_path: Path) -> None:
    file = tmp_path / "out.md"
    done = planeval("table", f"=cmd={names[0]}", f"a|b={names[2]}", "--layout", "callnavi-5", "-o", str(file))
    assert done.returncode == 2  # "=cmd=…" has no name: it is no folder
    done = planeval(
        "table", f"@cmd={names[0]}", f"a|b={names[2]}", "--metric", "ast_overall", "-o", str(file)
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "| a\\|b | 0.333 [" in file.read_text()
    assert "| @cmd | **1.000** [" in file.read_text()


def test_a_table_without_a_figure_is_code_3(names: list[str]) -> None:
    done = planeval("table", names[0], "--layout", "callnavi-7")
    assert done.returncode == 3
    assert "no figure could be made: --metric NAME shows figures of any run" in done.stderr
    assert "no run of it is known to be asked with" in done.stdout


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("nowhere",), "nowhere: expected the folder of a run of planeval predict or score"),
        (("RUN", "RUN"), "is named twice"),
        (
            ("RUN", "--layout", "callnavi-3"),
            "there is no layout 'callnavi-3' for these runs; callnavi has callnavi-4",
        ),
        (("RUN", "--metric", "ast"), "callnavi has no figure 'ast'"),
        (("RUN", "--by", "colour"), "no sample has a 'colour'"),
        (("RUN", "--gold", str(SAMPLES / "nestful")), "nestful"),
        (("RUN", "--layout", "callnavi-4", "--by", "part"), "--by applies only without --layout"),
    ],
)
def test_what_cannot_be_tabled_is_said(names: list[str], argv: tuple[str, ...], said: str) -> None:
    done = planeval("table", *(names[0] if word == "RUN" else word for word in argv))
    assert (done.returncode, done.stdout) == (2, "")
    assert said in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_runs_of_two_data_sets_make_no_table(names: list[str], tmp_path: Path) -> None:
    other = scored(tmp_path / "other", "nestful")
    with pytest.raises(InputError, match="they are of callnavi and nestful"):
        pe.table([names[0], other])


def test_a_sample_with_another_gold_is_another_sample(names: list[str], tmp_path: Path) -> None:
    import shutil

    shutil.copytree(SAMPLES / "callnavi", tmp_path / "callnavi")
    file = tmp_path / "callnavi" / "Questions" / "hr.json"
    file.write_text(file.read_text().replace("Ada", "Eve"))
    made = type("m", (Scripted,), {})("callnavi", set())
    pe.predict(str(tmp_path / "callnavi"), made, benchmark="callnavi", pipeline="flat", out=tmp_path / "run")
    with pytest.raises(InputError, match=r"their gold of 'hr0\d' differs"):
        pe.table([names[0], str(tmp_path / "run")])


def test_a_judge_is_asked_once_for_all_parts() -> None:
    asked = []

    class Judge:
        def ask(self, request: JudgeRequest) -> JudgeReply:
            asked.append(request)
            return JudgeReply("[[0.500]]")

    judge, request = Remembered(Judge()), JudgeRequest("t", (("user", "?"),))
    assert judge.ask(request) is judge.ask(request)
    assert len(asked) == 1


def test_judged_figures_have_intervals_too(names: list[str]) -> None:
    class Judge:
        def ask(self, request: JudgeRequest) -> JudgeReply:
            return JudgeReply("[[0.500]]")

    table = pe.table([names[0]], layout="callnavi-4", judge=Judge())
    assert table.heads[-1].name == "GPT score"
    assert table.rows[0].cells[-1].value == 0.5


def test_a_table_is_the_same_each_time(names: list[str]) -> None:
    first, second = (planeval("table", *names, "--format", "svg") for _ in range(2))
    assert first.stdout == second.stdout != ""
    ET.fromstring(first.stdout)


def test_a_tied_column_counts_as_a_test() -> None:
    """Else the data would say how many tests there are, and stars came too easily."""
    right = {str(at): Share(1, 1) for at in range(12)}
    worse = {str(at): Share(int(at < 6), 1) for at in range(12)}
    ids = frozenset(right)
    tied = Measured(1.0, right, ids)
    rows = [[Measured(1.0, right, ids), tied], [Measured(0.5, worse, ids), tied]]
    heads = [Head("", "exact", "exact"), Head("", "calls", "calls")]
    table = make_table("", heads, ["a", "b"], rows)
    assert table.rows[1].cells[0].p == pytest.approx(2 * 2**-5)
    assert not table.rows[1].cells[0].worse
    assert any("over 2 tests" in said for said in table.notes)
