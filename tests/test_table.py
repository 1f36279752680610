"""planeval table: figures of runs side by side, what is the best, what is missing and why, in each format."""

import csv
import io
import json
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.benchmarks.benchmark import BENCHMARKS, NAMES
from planner_eval.benchmarks.judging import JudgeReply, JudgeRequest
from planner_eval.benchmarks.layouts import layouts
from planner_eval.comparison.metrics.facts import Share
from planner_eval.models.pipelines.demonstrations import ShotOptions
from planner_eval.models.predict.tasks import read_tasks
from planner_eval.models.replies import Reply
from planner_eval.models.table_sources import RememberingJudge
from planner_eval.results.runs.stored import read_run, write_run
from planner_eval.results.table import ColumnHead, MeasuredFigure, Table, latex_text, make_table, table_view
from tests import inside
from tests.conftest import ROOT, tabled, tables

SAMPLES = ROOT / "data" / "samples"
GOLDEN = ROOT / "tests" / "tables"
FORMS = ("text", "md", "tex", "csv")
HOSTILE = (
    "a|b\\|c", "<b>&amp;</b> $x^2$ \\end{table} % _", "=cmd|' /C calc'!A0", "\x1b[31mred\nline", "@", "–",
)  # fmt: skip


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
    how = {"pipeline": "flat"} | how
    pe.predict(str(SAMPLES / name), made, benchmark=name, out=folder, **how)
    return str(folder)


def scored(folder: Path, name: str, *more: str) -> str:
    """The folder of the bundled answers to a benchmark, scored."""
    argv = ("score", str(SAMPLES / "answers" / f"{name}.jsonl"), str(SAMPLES / name), "--benchmark", name)
    done = planeval(*argv, *more, "-o", f"{folder}/")
    assert done.returncode == 0, done.stderr
    return str(folder)


def cells(table: Table) -> dict[tuple[str, str], float | None]:
    pairs = ((row, zip(table.heads, row.cells, strict=True)) for row in table.rows)
    return {(row.name, head.title): cell.value for row, each in pairs for head, cell in each}


def answers(name: str) -> list[dict[str, Any]]:
    text = (SAMPLES / "answers" / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def write(path: Path, rows: Iterable[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Runs over CallNavi's three samples: two models, two pipelines."""
    folder = tmp_path_factory.mktemp("names")
    return [
        predicted(folder / f"{model}-{pipeline}", "callnavi", model, right, pipeline=pipeline)
        for model, right in (("large", {"hr01", "hr02", "hr03"}), ("small", {"hr01"}))
        for pipeline in ("flat", "route")
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_layout_names_figures_that_a_score_gives(name: str) -> None:
    known = set(layouts(name))
    assert all(each.startswith(f"{name}-") for each in known)
    options = {option.name for option in BENCHMARKS[name].options}
    for one in layouts(name).values():
        assert len({column.title for column in one.columns}) == len(one.columns)
        for column in one.columns:
            assert column.unit in ("share", "percent", "count")
            assert set(column.settings) <= options
            assert set(column.where) <= {"pipeline", "shots", "repeat"}


def test_the_layouts_are_those_of_the_papers() -> None:
    assert [(name, len(one.columns)) for each in NAMES for name, one in layouts(each).items()] == [
        ("appbench-3", 12), ("appbench-5", 12), ("appbench-11", 8), ("nestful-1", 10), ("nestful-2", 2),
        ("callnavi-4", 12), ("callnavi-5", 4), ("callnavi-6", 4), ("callnavi-7", 2), ("callnavi-8", 7),
        ("complexfuncbench-2", 14), ("functionchat-3", 7), ("functionchat-4", 6),
        ("bfcl-overall", 20),
    ]  # fmt: skip


@pytest.mark.parametrize("variant", ["official", "corrected"])
@pytest.mark.parametrize("name", ["appbench", "callnavi", "functionchat"])
def test_each_figure_is_that_of_score(name: str, variant: str, tmp_path: Path) -> None:
    run, said = scored(tmp_path / "run", name), SAMPLES / "answers" / f"{name}.jsonl"
    rules = pe.BenchmarkRules([variant])
    report = pe.score_benchmark(said, SAMPLES / name, name, rules=rules).reports[variant]
    known = {f.name: f.value for f in report.figures if not isinstance(f.value, str)}
    table = pe.table([run], metrics=[*known], rules=rules)
    heads = [head.figure for head in table.heads]
    assert dict(zip(heads, [cell.value for cell in table.rows[0].cells], strict=True)) == known


@pytest.mark.parametrize(("variant", "percent"), [("official", 1), ("corrected", 100)])
def test_what_is_published_in_percent_is_percent_once(variant: str, percent: int, tmp_path: Path) -> None:
    name = "complexfuncbench"
    rows, source = answers(name), SAMPLES / name
    write(tmp_path / "rows.jsonl", (row | {"error": None, "requests": []} for row in rows))
    run = {"schema": "planeval.run/1", "version": pe.__version__, "kind": "predict", "pairs": len(rows)}
    run |= {"options": {"dataset": name, "pipeline": "stepwise", "model": "m"}, "part": 1}
    write_run(str(tmp_path), run | {"inputs": [{"path": str(source)}], "store": "jsonl"})
    said, ids = SAMPLES / "answers" / f"{name}.jsonl", {row["id"] for row in rows}
    rules = pe.BenchmarkRules([variant])
    report = pe.score_benchmark(said, source, name, rules=rules, ids=ids).reports[variant]
    found = cells(pe.table([tmp_path], rules=rules))
    accuracies = {"Overall Call Acc": "Overall Call Accuracy", "Hotels Call Acc": "Call Accuracy Hotels"}
    for head, figure in {"Overall Success": "Overall Success Rate", **accuracies}.items():
        times = percent if head in accuracies else 100
        assert found["m", head] == pytest.approx(times * report.value(figure))  # type: ignore[operator]


def test_parts_are_scored_by_themselves(tmp_path: Path) -> None:
    ours = cells(pe.table([scored(tmp_path / "run", "appbench")], layout="appbench-3"))
    for part in ("ss", "mm"):
        file = write(tmp_path / "part.jsonl", (r for r in answers("appbench") if r["id"].startswith(part)))
        alone = pe.score_benchmark(file, SAMPLES / "appbench" / f"test_{part}.json", "appbench")
        for head, figure in (("F1 App", "app_hit_f1"), ("F1 API", "api_hit_f1"), ("Succ", "complete_match")):
            value = alone.reports["corrected"].value(figure)
            assert ours["run", f"{part.upper()} {head}"] == pytest.approx(100 * value)  # type: ignore[operator]
    assert ours["run", "SM Succ"] is None


def test_runs_of_one_model_are_one_row_where_columns_tell_them_apart(names: list[str]) -> None:
    found = cells(pe.table(names))
    assert {name for name, _ in found} == {"large", "small"}
    assert [found[name, "AST match All avg."] for name in ("large", "small")] == [1, pytest.approx(1 / 3)]
    assert found["large", "Routing All"] is not None


def test_runs_without_a_column_in_the_main_layout_show_their_own_figures(tmp_path: Path) -> None:
    """Table 1 of NESTful is of one and three demonstrations: of none and two it would have dashes alone."""
    usual = [column.figure for column in layouts("nestful")["nestful-1"].columns[:5]]
    runs = [
        predicted(
            tmp_path / f"{model}-{shots}",
            "nestful",
            model,
            right,
            shots=ShotOptions(shots) if shots else None,
        )
        for model, right in (("small", {"half"}), ("large", {"half", "rows"}))
        for shots in (0, 2)
    ]
    one = predicted(tmp_path / "one", "nestful", "small", {"half"}, shots=ShotOptions(1))
    for chosen, strays, rows in (
        (runs, "4 of 4 runs", ["small, shots 0", "small, shots 2", "large, shots 0", "large, shots 2"]),
        ([runs[0], one], "1 of 2 runs", ["small, shots 0", "small, shots 1"]),
        ([scored(tmp_path / "scored", "nestful")], "1 of 1 run", ["scored"]),
    ):
        table = pe.table(chosen)
        found = ([head.figure for head in table.heads], [row.name.partition(" (")[0] for row in table.rows])
        assert found == (usual, rows)
        assert all(cell.low is not None for row in table.rows for cell in row.cells[:4])
        assert any(note.startswith(f"nestful-1 has no column for {strays}, ") for note in table.notes)
    assert pe.table([one]).title.startswith("NESTful, Table 1")
    assert not pe.table(runs[:1], layout="nestful-1").filled


def test_runs_of_one_model_that_columns_do_not_tell_apart_are_rows(names: list[str], tmp_path: Path) -> None:
    def rows(runs: Any) -> list[str]:
        return [row.name for row in pe.table(runs, metrics=["ast_overall"]).rows]

    ways = ("large", "flat"), ("large", "route"), ("small", "flat"), ("small", "route")
    assert rows(names) == [f"{model}, pipeline {pipeline}" for model, pipeline in ways]
    again = predicted(tmp_path / "again", "callnavi", "large", {"hr01"})
    assert rows([names[0], again]) == [f"large, {names[0]}", f"large, {again}"]
    assert rows({"mine": names[0], "yours": again}) == ["mine", "yours"]


def column(*systems: list[int], lower: bool = False) -> Table:
    rows = []
    for each in systems:
        tallies = {str(k): Share(v, 1) for k, v in enumerate(each)}
        rows.append([MeasuredFigure(sum(each) / len(each), tallies, frozenset(tallies))])
    return make_table("", [ColumnHead("", "x", "x", lower=lower)], [f"s{k}" for k in range(len(rows))], rows)


def test_what_is_surely_worse_is_so_by_the_sign_test_after_holm() -> None:
    def told(name: str, *systems: list[int], lower: bool = False) -> list[Any]:
        return [getattr(row.cells[0], name) for row in column(*systems, lower=lower).rows]

    def right(count: int) -> list[int]:
        return [1] * count + [0] * (20 - count)

    few = right(20), right(14), right(15)
    assert told("best", *few) == [True, False, False]
    # exact sign test: 2 / 2**6 = 0.03125 and 2 / 2**5 = 0.0625; Holm: times 2, then times 1 but no less
    assert told("p", *few) == [None, 0.0625, 0.0625]
    assert told("worse", *few) == [False, False, False]
    assert told("worse", right(20), right(12), right(20)) == [False, True, False]
    assert told("best", right(20), right(12), right(20)) == [True, False, True]
    assert told("best", [1, 1], [0, 0], lower=True) == [False, True]
    assert told("best", [1, 0], [0, 1]) == [False, False]  # of equals none is the best, nor of one
    assert told("best", [1, 0]) == [False]


def test_a_difference_is_tested_as_compare_tests_it(tmp_path: Path) -> None:
    systems = (("a", {"hr01", "hr02"}), ("b", set[str]()))
    runs = [predicted(tmp_path / m, "callnavi", m, right) for m, right in systems]
    rows = [f"{run}/rows.jsonl" for run in runs]
    rules = pe.BenchmarkRules(["corrected"])
    found = pe.compare_benchmark(rows, SAMPLES / "callnavi", "callnavi", rules=rules).contrasts[0]
    for line in found.lines:
        if line.name in ("syntax", "structure"):
            ours, theirs = (row.cells[0] for row in pe.table(runs, metrics=[line.name]).rows)
            assert (ours.p, theirs.p) == (None, line.difference.p)
            for cell, side in ((ours, line.first), (theirs, line.second)):
                assert side.interval is not None
                assert (cell.value, cell.low, cell.high) == (side.value, *side.interval[:2])


@pytest.mark.parametrize("text", ["1" * 5000, *tables(__file__)["a_broken_folder_is_said"]])
def test_a_broken_folder_is_said(text: str, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(text)
    (tmp_path / "rows.jsonl").write_text('{"id": "a", "prediction": "f()", "error": null, "requests": []}\n')
    done = planeval("table", str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    assert str(tmp_path) in done.stderr


def test_a_figure_of_some_samples_has_their_number_and_interval_in_any_table(tmp_path: Path) -> None:
    run = scored(tmp_path / "run", "callnavi")
    paper, own = pe.table([run], layout="callnavi-4"), pe.table([run], metrics=["ast_easy", "ast_hard"])
    cells = {head.figure: cell for head, cell in zip(paper.heads, paper.rows[0].cells, strict=True)}
    assert list(own.rows[0].cells) == [cells["ast_easy"], cells["ast_hard"]]
    assert [cell.n for cell in own.rows[0].cells] == [1, 1]
    run = scored(tmp_path / "routes", "callnavi", "--set", "task=routing")
    own = pe.table([run], metrics=["easy"])
    found = (own.rows[0].cells[0].value, own.notes[0])
    assert found == (1, f"routes: {run}, a run of score --set task=routing")


def test_repeated_answers_are_stable_or_said_to_be_left_out(tmp_path: Path) -> None:
    run = predicted(tmp_path / "run", "callnavi", "m", {"hr01"}, repeat=3)
    stable = pe.table([run], layout="callnavi-7").rows[0].cells
    assert [(cell.value, cell.n) for cell in stable] == [(1, 3), (1, 3)]
    notes = pe.table([run], metrics=["ast_overall"]).notes
    assert any("6 further answers to a sample that has one, not counted" in said for said in notes)


def test_repeated_answers_to_own_tasks_are_trials_that_all_count(tmp_path: Path) -> None:
    asked: set[str] = set()
    task = {"tools": [{"name": "now"}], "gold": "now()"}
    file = write(tmp_path / "tasks.jsonl", (task | {"id": n, "query": f"The time, {n}?"} for n in "abcd"))

    class Tiring:
        """Knows the time when it is asked first, and not when it is asked again."""

        async def complete(self, messages: Any, tools: Any = None, **sampling: Any) -> Reply:
            known = str(messages) in asked
            asked.add(str(messages))
            return Reply("I am tired." if known else '[{"name": "now", "arguments": {}}]')

    pe.predict(str(file), Tiring(), out=tmp_path / "run", repeat=3, concurrency=1)
    table = pe.table([tmp_path / "run"], metrics=["exact"])
    assert (table.rows[0].cells[0].value, table.rows[0].cells[0].n) == (pytest.approx(1 / 3), 12)
    assert not any("the first answer to each counts" in said for said in table.notes)
    trials = pe.score(pe.pair(tmp_path / "run" / "rows.jsonl", file)).trials
    assert [round(e.hat, 2) for e in trials.passes] == [0.33, 0, 0]


def test_samples_without_an_answer_are_said_to_be_wrong(tmp_path: Path) -> None:
    file = write(tmp_path / "answers.jsonl", answers("callnavi")[:1])
    argv = ("score", str(file), str(SAMPLES / "callnavi"), "--benchmark", "callnavi")
    assert planeval(*argv, "-o", f"{tmp_path}/run/").returncode == 0
    table = pe.table([tmp_path / "run"], metrics=["ast_overall"])
    assert table.rows[0].cells[0].value == pytest.approx(1 / 3)
    assert any("2 samples without an answer, counted as wrong" in said for said in table.notes)


def test_runs_of_other_versions_data_sets_or_gold_make_no_table(names: list[str], tmp_path: Path) -> None:
    one, other = scored(tmp_path / "one", "callnavi"), scored(tmp_path / "other", "callnavi")
    done = planeval("table", f"p={one}", f"figure={other}", "--metric", "ast_overall")
    assert done.stdout.splitlines()[0].split() == ["figure", "p", "system", "figure"]  # of other tables
    write_run(other, {**(read_run(other) or {}), "version": "0.0.1"})
    done = planeval("table", one, other)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"they are of versions {pe.__version__} and 0.0.1" in done.stderr
    with pytest.raises(InputError, match="they are of callnavi and nestful"):
        pe.table([names[0], scored(tmp_path / "nestful", "nestful")])
    shutil.copytree(SAMPLES / "callnavi", tmp_path / "callnavi")
    file = tmp_path / "callnavi" / "Questions" / "hr.json"
    file.write_text(file.read_text().replace("Ada", "Eve"))
    made, run = Scripted("callnavi", set()), str(tmp_path / "run")
    pe.predict(str(tmp_path / "callnavi"), made, benchmark="callnavi", pipeline="flat", out=run)
    with pytest.raises(InputError, match=r"their gold of 'hr0\d' differs"):
        pe.table([names[0], run])


def test_systems_with_other_samples_are_not_compared_unless_asked(names: list[str], tmp_path: Path) -> None:
    fewer = predicted(tmp_path / "fewer", "callnavi", "fewer", {"hr01"}, ids=["hr01", "hr03"])
    done = planeval("table", names[0], fewer, "--metric", "ast_overall")
    assert (done.returncode, "^" in done.stdout.replace("^ best", "")) == (1, False)
    assert "different samples, so no best is marked: large 3, fewer 2; in common 2" in done.stdout
    assert "--common takes those that all have" in done.stderr
    done = planeval("table", names[0], fewer, "--metric", "ast_overall", "--common")
    assert done.returncode == 0, done.stderr
    assert "1.000^" in done.stdout
    assert "only samples in common" in done.stdout
    found = cells(pe.table([names[2], fewer], metrics=["ast_overall"], common=True))
    assert found["small", "ast_overall"] == 0.5


def test_no_interval_where_a_figure_is_no_sum_of_samples(names: list[str]) -> None:
    table = pe.table([names[0], names[2]], metrics=["ast_macro", "ast_overall"])
    for row in table.rows:
        assert row.cells[0].low is row.cells[0].p is None
        assert row.cells[1].low is not None
    assert any("it is not a mean over samples (ast_macro)" in said for said in table.notes)


def test_own_tasks_by_any_key(tmp_path: Path) -> None:
    tasks = [{"id": str(n), "gold": f"f(#x='{n}')", "kind": ["even", "odd"][n % 2]} for n in range(8)]
    gold, runs = write(tmp_path / "gold.jsonl", tasks), []
    for name, wrong in (("base", (1, 3, 5)), ("tuned", ())):
        rows = ({"id": str(n), "output": f"f(#x='{'no' if n in wrong else n}')"} for n in range(8))
        pe.score(
            write(tmp_path / f"{name}.jsonl", rows),
            gold,
            by=["kind"],
            running=pe.Running(folder=tmp_path / name),
        )
        runs.append(str(tmp_path / name))
    assert cells(pe.table(runs, by="kind", metrics=["exact"])) == {
        ("base", "kind even exact"): 1, ("base", "kind odd exact"): 0.25,
        ("tuned", "kind even exact"): 1, ("tuned", "kind odd exact"): 1,
    }  # fmt: skip
    whole, report = pe.table(runs, metrics=["exact", "calls"]), pe.score(Path(runs[0]))
    spans = {one.name: one.interval for one in report.figures}
    for head, cell in zip(whole.heads, whole.rows[0].cells, strict=True):
        assert (cell.value, cell.low, cell.high) == (report.figure(head.figure), *spans[head.figure][:2])
    other = write(tmp_path / "other.jsonl", [*tasks[:7], tasks[7] | {"gold": "f(#x='8')"}])
    pe.score(
        tmp_path / "base.jsonl", other, by=["kind"], running=pe.Running(folder=tmp_path / "against-other")
    )
    with pytest.raises(InputError, match="their gold plans are not the same"):
        pe.table([*runs, str(tmp_path / "against-other")])


def written_table(*names: str, form: str = "text", intervals: bool = True) -> str:
    heads = [ColumnHead("A & B", "F|1", "f1", "percent", 2), ColumnHead("", "less", "e", lower=True)]
    rows = []
    for k, _ in enumerate(names):
        tallies = {str(n): Share(int(n > 5 * k), 1) for n in range(10)}
        value = sum(one.part for one in tallies.values()) / 10
        first = MeasuredFigure(value, tallies, frozenset(tallies), 100, "", f"runs/{k}")
        rows.append(
            [first, MeasuredFigure(None, why="not asked") if k else MeasuredFigure(0.25, run="runs/0")]
        )
    made = make_table("Table <1> of $5", heads, list(names), rows, notes=["made 100% so"])
    return table_view(made, intervals=intervals).text(form)


@pytest.mark.parametrize("form", FORMS)
def test_each_format_is_as_it_was(form: str, request: pytest.FixtureRequest) -> None:
    written = written_table("gpt_4|o", "=cmd()", "small", form=form) + "\n"
    file = GOLDEN / f"table.{'txt' if form == 'text' else form}"
    if request.config.getoption("--update-cases"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(written, encoding="utf-8")
    assert written == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("form", FORMS)
def test_a_hostile_name_stays_a_text(form: str) -> None:
    written = written_table(*HOSTILE, form=form)
    assert "\x1b" not in written
    if form == "csv":
        rows = list(csv.DictReader(io.StringIO(written)))
        assert len(rows) == 2 * len(HOSTILE)
        assert not any(value.startswith(("=", "+", "-", "@")) for row in rows for value in row.values())
        assert (rows[0]["system"], rows[4]["system"]) == (HOSTILE[0], f"'{HOSTILE[2]}")
    elif form == "md":
        lines = [line for line in written.splitlines() if line.startswith("|")]
        assert len(lines) == 2 + len(HOSTILE)
        assert {line.replace("\\\\", "").replace("\\|", "").count("|") for line in lines} == {4}
        assert "<b>" not in written.replace("\\<", "")
    elif form == "tex":
        assert written.count(r"\end{table}") == 1
        assert written.count(r"\\") == 2 + len(HOSTILE) + written.split("footnotesize")[1].count(r" \\")
        body = re.sub(r"\\[_&%$]", "", written)
        assert ("%" in body, body.count("$") % 2) == (False, 0)
        assert not any(line.startswith(("[", "*")) for line in written.splitlines())


def test_intervals_latex_and_long_names() -> None:
    assert latex_text("#{}~^--x") == r"\#\{\}\textasciitilde{}\textasciicircum{}-{}-x"
    assert latex_text('\\$&%_|"`–…[*<>') == (
        r"\textbackslash{}\$\&\%\_\textbar{}\textquotedbl{}\textasciigrave{}--\dots{}{[}{*}\textless{}\textgreater{}"
    )
    for form in ("text", "md", "tex"):
        with_, without = (written_table("a", "b", form=form, intervals=each) for each in (True, False))
        assert ("90.00" in without, "99.75" in with_, "99.75" in without) == (True, True, False)
    lines = written_table(*(letter * 70 for letter in "xyz")).splitlines()  # too long: letters
    assert lines[2] == f"A: {'x' * 70}"
    assert max(map(len, lines[6:10])) <= 100
    for last, legend in ((27, False), (28, True)):  # a table of 100 characters, and of one more
        written = written_table("x" * 30, "y" * 24, "z" * last)
        assert ("A: x" in written) is legend
    assert f"{'x' * 40} {'y' * 39}…" in " ".join(written_table("x" * 40, "y" * 41).split())
    for form in ("md", "tex", "csv"):
        written = written_table("v" * 400, "w" * 401, form=form)
        assert ("v" * 400 in written, "w" * 399 in written, "w" * 400 in written) == (True, True, False)


def test_the_command_names_systems_and_writes_by_suffix(names: list[str], tmp_path: Path) -> None:
    more = (f"a|b={names[2]}", "--metric", "ast_overall", "-o", str(tmp_path / "out.md"))
    assert planeval("table", f"=cmd={names[0]}", *more).returncode == 2  # no name, and no folder
    done = planeval("table", f"@cmd={names[0]}", *more)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    written = (tmp_path / "out.md").read_text()
    assert ("| a\\|b | 0.333 [" in written, "| @cmd | **1.000** [" in written) == (True, True)
    done = planeval("table", names[0], "--layout", "callnavi-7")
    assert done.returncode == 3
    assert "the runs have none of these metrics" in done.stderr
    assert "no run of it is known to be asked with" in done.stdout


@tabled("argv, said")
def test_what_cannot_be_tabled_is_said(names: list[str], argv: tuple[str, ...], said: str) -> None:
    done = planeval("table", *(names[0] if word == "RUN" else word for word in argv))
    assert (done.returncode, done.stdout) == (2, "")
    assert said in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_a_judge_is_asked_once_for_all_parts(names: list[str]) -> None:
    asked = []

    class Judge:
        def ask(self, request: JudgeRequest) -> JudgeReply:
            asked.append(request)
            return JudgeReply("[[0.500]]")

    table = pe.table([names[0]], layout="callnavi-4", rules=pe.BenchmarkRules(judge=Judge()))
    assert (table.heads[-1].name, table.rows[0].cells[-1].value) == ("GPT score", 0.5)
    asked.clear()
    judge, request = RememberingJudge(Judge()), JudgeRequest("t", (("user", "?"),))
    assert judge.ask(request) is judge.ask(request)
    assert len(asked) == 1


def test_a_tied_column_counts_as_a_test() -> None:
    """Else the data would say how many tests there are, and stars came too easily."""
    right, worse = ({str(at): Share(int(at < n), 1) for at in range(12)} for n in (12, 6))
    tied, less = MeasuredFigure(1.0, right, frozenset(right)), MeasuredFigure(0.5, worse, frozenset(right))
    heads = [ColumnHead("", "exact", "exact"), ColumnHead("", "calls", "calls")]
    table = make_table("", heads, ["a", "b"], [[tied, tied], [less, tied]])
    assert table.rows[1].cells[0].p == pytest.approx(2 * 2**-5)
    assert any("over 2 tests" in said for said in table.notes)
