"""Two systems and more compared: the verdict, Holm's correction, what may be worse, formats, benchmarks."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.metrics.counts import Counts, Share
from planner_eval.scoring.chance import holm
from planner_eval.scoring.compare import make_comparison, make_contrast
from planner_eval.scoring.compare_formats import HEADS, WIDE, write_comparison
from planner_eval.scoring.contrast import Contrast
from planner_eval.scoring.scored import Scored
from tests.conftest import ROOT, examples
from tests.inside import planeval
from tests.test_junit import checked, kind

SAMPLES = ROOT / "data" / "samples"
BENCHMARKS = ("appbench", "callnavi", "complexfuncbench", "functionchat", "nestful")


def lines(path: Path, records: Sequence[Any]) -> str:
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text("\n".join(map(json.dumps, records)) + "\n", encoding="utf-8")
    return str(path)


def system(path: Path, right: Sequence[bool]) -> str:
    """Predictions that are right on some samples and call another tool on the others."""
    records = [{"id": f"q{n}", "prediction": f"f(#x='{n}')" if ok else "g()"} for n, ok in enumerate(right)]
    return lines(path, records)


def gold(path: Path, count: int) -> str:
    return lines(path, [{"id": f"q{n}", "gold": f"f(#x='{n}')"} for n in range(count)])


@pytest.fixture
def forty(tmp_path: Path) -> tuple[str, ...]:
    """A right on 10 of 40, B on 30, C as A, and gold."""
    right = [n < 10 for n in range(40)]
    return (
        system(tmp_path / "a.jsonl", right),
        system(tmp_path / "b.jsonl", [n < 30 for n in range(40)]),
        system(tmp_path / "c.jsonl", right),
        gold(tmp_path / "gold.jsonl", 40),
    )


# ---------------------------------------------------------------- verdicts and Holm's correction
def test_the_verdict_comes_first(forty: tuple[str, ...]) -> None:
    a, b, _, wanted = forty
    done = planeval("compare", a, b, "--gold", wanted)
    assert done.returncode == 0
    first = done.stdout.splitlines()[0]
    assert first.startswith(
        "b is better than a in exact: 0.75 against 0.25, p < 0.0001 after Holm's correction over "
    )
    assert "; also better in similarity, calls, whole_calls, " in first
    assert "references" not in done.stdout.split("\n\n")[2]
    assert "no gold plan has references: dependent_arguments, " in done.stdout
    worse = planeval("compare", b, a, "--gold", wanted, "--metric", "exact").stdout.splitlines()[0]
    assert (
        worse
        == "a is worse than b in exact: 0.25 against 0.75, p < 0.0001 after Holm's correction over 1 figure"
    )
    same = planeval("compare", a, a, "--gold", wanted).stdout.splitlines()[0]
    assert same == "a and a (2) have the same figures: n = 40, exact 0.25"


def test_a_small_difference_is_not_sure(tmp_path: Path) -> None:
    a, b = (system(tmp_path / f"{n}.jsonl", [k < n for k in range(6)]) for n in (3, 5))
    done = planeval(
        "compare", a, b, "--gold", gold(tmp_path / "g.jsonl", 6), "--metric", "exact", "--metric", "calls"
    )
    first = done.stdout.splitlines()[0]
    assert first == (
        "no difference between 5 and 3 is sure: n = 6, exact 0.83 against 0.50, "
        "p = 1 after Holm's correction over 2 figures"
    )


def test_few_samples_are_exchanged_in_all_ways(tmp_path: Path) -> None:
    """Five samples that differ all one way: 2 of 32 exchanges are as extreme."""
    a, b = system(tmp_path / "a.jsonl", [False] * 5), system(tmp_path / "b.jsonl", [True] * 5)
    argv = (
        "compare",
        a,
        b,
        "--gold",
        gold(tmp_path / "g.jsonl", 5),
        "--metric",
        "calls",
        "--metric",
        "exact",
    )
    found = json.loads(planeval(*argv, "--format", "json").stdout)["figures"]
    assert (found["calls"]["p"], found["calls"]["test"]) == (2 / 32, "permutation all 32")
    assert (found["exact"]["p"], found["exact"]["test"]) == (2 / 32, "sign test")
    assert found["calls"]["p_holm"] == found["exact"]["p_holm"] == 4 / 32


@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=12))
def test_holm(ps: list[float | None]) -> None:
    """Each is what stepping down through the sorted probabilities gives."""
    found = holm(ps)
    assert [one is None for one in found] == [one is None for one in ps]
    pairs = sorted((p, q) for p, q in zip(ps, found, strict=True) if p is not None and q is not None)
    for at, (p, q) in enumerate(pairs):
        wanted = max(min(1.0, one * (len(pairs) - rank)) for rank, (one, _) in enumerate(pairs[: at + 1]))
        assert q == pytest.approx(wanted)
        assert p <= q <= 1


def test_the_family_is_figures_times_systems(forty: tuple[str, ...]) -> None:
    *systems, wanted = forty
    argv = ("compare", *systems, "--gold", wanted, "--metric", "exact", "--metric", "calls")
    data = json.loads(planeval(*argv, "--format", "json").stdout)
    assert data["systems"] == ["a", "b", "c"]
    assert [each["holm_over"] for each in data["contrasts"]] == [4, 4]
    figures = [each["figures"][name] for each in data["contrasts"] for name in ("exact", "calls")]
    assert [one["p_holm"] for one in figures] == holm([one["p"] for one in figures])
    assert [one["sure"] for one in figures] == [True, True, False, False]
    shown = planeval(*argv).stdout
    assert "p: Holm's correction over 4 figures of all systems" in shown
    assert ["exact", "0.2500", "0.7500*", "0.2500"] in [line.split() for line in shown.splitlines()]
    assert "b against a" in shown
    assert "40 samples judged under both a and c" in shown


# ---------------------------------------------------------------- laws
SHARE = st.integers(0, 1).map(lambda hit: Share(hit, 1))
COUNTS = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)).map(
    lambda n: Counts(min(n), n[1], n[2])
)


@st.composite
def runs(draw: st.DrawFn) -> list[list[Scored]]:
    def row(number: int) -> Scored:
        exact = draw(SHARE)
        state = "same" if exact.part else "different"
        return Scored(
            str(number), state, {"exact": exact, "calls": draw(COUNTS)}, keys={"k": str(number % 2)}
        )

    count = draw(st.integers(0, 20))
    return [[row(number) for number in range(count)] for _ in range(2)]


def contrast(first: list[Scored], second: list[Scored], names: tuple[str, str] = ("A", "B")) -> Contrast:
    return make_contrast(first, second, ["exact", "calls"], names=names, made="t", by=["k"])


@examples(25)
@given(runs())
def test_swapped_systems_mirror(both: list[list[Scored]]) -> None:
    one, other = contrast(*both), contrast(*both[::-1])
    assert (one.lost, one.won) == (other.won, other.lost)
    for a, b in zip(one.lines, other.lines, strict=True):
        assert (a.p, a.sure, a.difference.p) == (b.p, b.sure, b.difference.p)
        for first, second in (
            (a.difference.value, b.difference.value),
            (a.difference.low, b.difference.high),
        ):
            assert first == (None if second is None else pytest.approx(-second, abs=1e-9))
    words = {"better": "worse", "worse": "better", "same": "same", "no": "no"}
    said = [
        next((word for word in words if f" {word} " in f" {v} "), "") for v in (one.verdict, other.verdict)
    ]
    if one.verdict.startswith("B is ") and "no difference" not in one.verdict:
        assert said[1] == words[said[0]]


@examples(25)
@given(runs())
def test_a_system_against_itself_is_never_sure(both: list[list[Scored]]) -> None:
    found = contrast(both[0], both[0])
    assert not any(line.sure for line in found.lines)
    assert not any(
        line.sure for groups in found.breakdown.values() for lines in groups.values() for line in lines
    )
    assert " is better" not in found.verdict
    assert " is worse" not in found.verdict
    assert (found.lost, found.won) == ((), ())


# ---------------------------------------------------------------- what may be worse
def worse(files: Sequence[str], *limits: str, form: str = "text") -> tuple[int, str, str]:
    *systems, wanted = files
    given = [word for limit in limits for word in ("--fail-if-worse", limit)]
    done = planeval("compare", *systems, "--gold", wanted, *given, "--format", form)
    return done.returncode, done.stdout, done.stderr


def test_what_is_worse_fails(forty: tuple[str, ...]) -> None:
    a, b, c, wanted = forty
    assert worse((a, b, c, wanted), "exact", "calls:0.1")[0] == 0
    code, _, said = worse((b, a, wanted), "exact")
    assert code == 1
    assert "exact of a is 0.25 against 0.75 of b, difference -0.5000, expected none lower" in said
    assert worse((a, b, c, wanted), "independent_errors:0.4")[0] == 0
    wrong = lines(Path(a).with_name("wrong.jsonl"), [{"id": "q0", "prediction": "f(#x='no')"}])
    code, _, said = worse((b, wrong, wanted), "independent_errors")
    assert code == 1
    assert (
        "independent_errors of wrong is 1.00 against 0.00 of b, difference +1.0000, expected none higher"
        in said
    )
    code, _, said = worse((a, b, wanted), "exac")
    assert (code, "no figure 'exac'; did you mean 'exact'?" in said) == (2, True)
    for bad in ("exact:x", "exact:-1", "exact:nan", ":1"):
        assert worse((a, b, wanted), bad)[0] == 2
    assert worse((a, b, wanted), "references")[0] == 1  # it does not exist, and nothing is known of it


def test_a_margin_is_decided_by_the_end_of_the_interval(tmp_path: Path) -> None:
    """B is worse on 2 of 60 and better on 1: the figure is 0.017 lower, the interval reaches to -0.102."""
    a = system(tmp_path / "a.jsonl", [n != 5 for n in range(60)])
    b = system(tmp_path / "b.jsonl", [n not in (1, 2) for n in range(60)])
    files = (a, b, gold(tmp_path / "g.jsonl", 60))
    assert worse(files, "exact")[0] == 1
    assert worse(files, "exact:0.11")[0] == 0
    code, _, said = worse(files, "exact:0.02")
    assert code == 1
    assert "expected for sure at most 0.02 lower" in said


@pytest.mark.parametrize("metric", ["exact", "calls"])
def test_few_samples_do_not_show_that_nothing_is_worse(metric: str, tmp_path: Path) -> None:
    """Where none of n samples differs, some still may: nearly all of 1, 0.064 of 60."""
    for count, least in ((1, 0.9968), (60, 0.0642)):
        a = system(tmp_path / "a.jsonl", [True] * count)
        files = (a, system(tmp_path / "b.jsonl", [True] * count), gold(tmp_path / "g.jsonl", count))
        assert worse(files, metric)[0] == 0
        assert worse(files, f"{metric}:{least + 0.001}")[0] == 0
        code, _, said = worse(files, f"{metric}:{least - 0.001}")
        assert code == 1
        assert f"difference +0.0000, 95 % -{least:.4f}" in said


def test_each_system_and_limit_is_a_test_case(forty: tuple[str, ...]) -> None:
    a, b, c, wanted = forty
    plain = checked(worse((b, a, c, wanted), form="junit")[1])
    assert len(plain) == 80
    assert sum(kind(case) == "failure" for case in plain) == 40
    failed = next(case for case in plain if kind(case) == "failure")
    assert (failed.get("file"), failed.get("line"), failed.get("name")) == (a, "11", "q10")
    assert failed[0].get("message", "").startswith("b is right, a is not: ")
    code, text, _ = worse((b, a, c, wanted), "exact:0.9", form="junit")
    cases = checked(text)
    assert code == 0
    assert [case.get("name") for case in cases[:2]] == ["a exact:0.9", "c exact:0.9"]
    assert {kind(case) for case in cases} == {"passed", "skipped"}
    code, text, _ = worse((b, a, wanted), "exact", form="junit")
    assert (code, [case.get("name") for case in checked(text) if kind(case) == "failure"]) == (1, ["a exact"])


# ---------------------------------------------------------------- formats, names, odd files
def test_json_lines_have_each_sample_under_each_system(forty: tuple[str, ...]) -> None:
    *systems, wanted = forty
    done = planeval("compare", *systems, "--gold", wanted, "--format", "jsonl")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["id"] for row in rows] == [f"q{n}" for n in range(40)]
    assert {name: one["state"] for name, one in rows[20]["systems"].items()} == {
        "a": "different", "b": "same", "c": "different",
    }  # fmt: skip
    assert rows[20]["systems"]["b"]["metrics"]["exact"] == 1


def test_names_that_collide_are_told_apart(tmp_path: Path) -> None:
    right = [True, False]
    wanted = gold(tmp_path / "g.jsonl", 2)
    for names in (("x/p.jsonl", "y/p.jsonl"), ("p.jsonl", "metric.jsonl"), ("n.jsonl", "difference.jsonl")):
        files = [system(tmp_path / name, right) for name in names]
        done = planeval("compare", *files, "--gold", wanted, "--metric", "exact", "--format", "csv")
        (head, *rows) = csv.reader(io.StringIO(done.stdout))
        assert len({*head}) == len(head)
        assert not {head[1], head[2]} & {*HEADS}
        assert rows[-1][:3] == ["exact", "0.5", "0.5"]
    assert {"x/p", "y/p"} <= set(planeval(
        "compare", *(str(tmp_path / n) for n in ("x/p.jsonl", "y/p.jsonl")), "--gold", wanted
    ).stdout.split())  # fmt: skip


def test_a_run_is_called_as_its_folder_is(tmp_path: Path) -> None:
    """A folder has no suffix: gpt-4.1 is not gpt-4."""
    for name in ("gpt-4.1", "claude"):
        files = (str(ROOT / "data" / "demo" / side) for side in ("pred.jsonl", "gold.jsonl"))
        assert planeval("score", *files, "-o", f"{tmp_path / name}/").returncode == 0
    done = planeval("compare", str(tmp_path / "gpt-4.1"), str(tmp_path / "claude"))
    assert "gpt-4.1 and claude have the same figures" in done.stdout


def test_five_systems_with_long_names_fit_a_terminal(tmp_path: Path) -> None:
    random = Random(1)
    wanted = gold(tmp_path / "g.jsonl", 12)
    files = [
        system(tmp_path / f"a-language-model-of-{n}-billion-parameters-2026-01-01.jsonl",
               [random.random() < 0.5 for _ in range(12)])
        for n in range(5)
    ]  # fmt: skip
    done = planeval("compare", *files, "--gold", wanted)
    assert done.returncode == 0
    blocks = done.stdout.split("\n\n")
    legend = [line.split(": ", 1) for line in blocks[0].splitlines()]
    assert [letter for letter, _ in legend] == [*"ABCDE"]
    assert legend[4][1] == "a-language-model-of-4-billion-parameters-2026-01-01"
    tables = "\n\n".join(blocks[2:-1]).splitlines()
    assert max(map(len, tables)) <= WIDE
    assert tables[0].split() == ["records", *"ABCDE"]
    again = planeval("compare", *files, "--gold", wanted)
    assert again.stdout == done.stdout


def test_a_system_that_lacks_half_of_the_samples(tmp_path: Path) -> None:
    a = system(tmp_path / "a.jsonl", [True] * 10)
    b = system(tmp_path / "b.jsonl", [True] * 5)
    data = json.loads(
        planeval("compare", a, b, "--gold", gold(tmp_path / "g.jsonl", 10), "--format", "json").stdout
    )
    assert (data["samples"], data["unanswered"]) == (10, {"first": 0, "second": 5})
    assert data["figures"]["exact"]["second"] == 0.5
    assert data["records"]["second"]["absent"] == 5


def test_nothing_that_can_be_compared(tmp_path: Path) -> None:
    a = system(tmp_path / "a.jsonl", [True])
    wanted = lines(tmp_path / "g.jsonl", [{"id": "q0", "gold": "f(x="}])
    for form in ("text", "json", "jsonl", "csv", "md", "junit"):
        done = planeval("compare", a, a, "--gold", wanted, "--format", form)
        assert done.returncode == 3, done.stderr
        assert "Traceback" not in done.stderr
    assert planeval("compare", a, a, "--gold", wanted).stdout.startswith(
        "a and a (2) cannot be compared: no sample was judged under both"
    )
    alone = planeval("compare", a, "--gold", wanted)
    assert (alone.returncode, "alone is nothing to compare" in alone.stderr) == (2, True)


def test_the_library_takes_two_or_many() -> None:
    wanted, systems = (
        ["f()", "g()"],
        {"base": ["f()", "h()"], "tuned": ["f()", "g()"], "other": ["f()", "h()"]},
    )
    two = pe.compare(systems["base"], systems["tuned"], wanted, metrics="exact", names=("base", "tuned"))
    many = pe.compare(systems, wanted, metrics="exact")
    assert (two.won, two.names) == (("2",), ("base", "tuned"))
    assert many.names == ("base", "tuned", "other")
    assert [each.won for each in many.contrasts] == [("2",), ()]
    assert pe.compare([*systems.values()], wanted).names == ("A", "B", "C")
    assert pe.compare([*systems.values()], wanted, names=["x", "x", "p"]).names == ("x", "x (2)", "system p")
    for bad in ([wanted], wanted[0], []):
        with pytest.raises(InputError, match="mapping of two or more"):
            pe.compare(bad, wanted)
    with pytest.raises(InputError, match="2 names for 3 systems"):
        pe.compare([*systems.values()], wanted, names=["x", "y"])


def test_writing_needs_no_names_that_are_letters() -> None:
    rows = [Scored("a", "same", {"exact": Share(1, 1)})]
    found = make_comparison([rows] * 30, ["exact"], names=[f"{'n' * 30}{n}" for n in range(30)], made="t")
    assert "S30: " in write_comparison(found)


# ---------------------------------------------------------------- benchmarks
@pytest.mark.parametrize("name", BENCHMARKS)
def test_systems_are_compared_under_a_benchmark(name: str, tmp_path: Path) -> None:
    answers = SAMPLES / "answers" / f"{name}.jsonl"
    first = tmp_path / "first.jsonl"
    first.write_text(answers.read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")
    argv = ("compare", str(answers), str(first), "--gold", str(SAMPLES / name), "--benchmark", name)
    done = planeval(*argv, "--format", "json")
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    for variant in ("official", "corrected"):
        scored = json.loads(
            planeval("score", str(first), str(SAMPLES / name), "--benchmark", name, "--format", "json").stdout
        )["reports"][variant]
        solved = data["figures"][f"{variant} solved"]
        assert solved["second"] == pytest.approx(sum(r["ok"] for r in scored["rows"]) / len(scored["rows"]))
        for figure in scored["figures"]:
            ours = data["figures"].get(f"{variant} {figure['name']}")
            assert ours is None or ours["second"] == pytest.approx(figure["value"])
    one = planeval(*argv, "--corrected", "--fail-if-worse", "solved", "--format", "junit")
    solved = data["figures"]["corrected solved"]
    lower = solved["second"] < solved["first"]
    assert one.returncode == lower
    cases = checked(one.stdout)
    assert (cases[0].get("name"), kind(cases[0])) == ("first solved", "failure" if lower else "passed")
    same = planeval(*argv[:2], str(answers), *argv[3:], "--official")
    assert same.stdout.splitlines()[0].startswith(f"{name} and {name} (2) have the same figures: n = ")
    assert max(map(len, "\n\n".join(same.stdout.split("\n\n")[1:-1]).splitlines())) <= WIDE
    for idle in (["--metric", "exact"], ["--details"], ["--by", "calls"], ["--policy", "strict"]):
        assert planeval(*argv, *idle).returncode == 2


@pytest.mark.parametrize("name", BENCHMARKS)
def test_answers_left_out_are_no_gain_under_a_benchmark(name: str, tmp_path: Path) -> None:
    whole = SAMPLES / "answers" / f"{name}.jsonl"
    kept = tmp_path / "kept.jsonl"
    kept.write_text("".join(whole.read_text(encoding="utf-8").splitlines(True)[:2]), encoding="utf-8")
    argv = ("compare", str(whole), str(kept), "--gold", str(SAMPLES / name), "--benchmark", name)
    for figure, values in json.loads(planeval(*argv, "--format", "json").stdout)["figures"].items():
        assert values["second"] <= values["first"], figure


@pytest.mark.more
@pytest.mark.parametrize("name", BENCHMARKS)
def test_what_a_benchmark_cannot_read_is_told_as_score_tells_it(name: str, tmp_path: Path) -> None:
    whole, half = SAMPLES / "answers" / f"{name}.jsonl", tmp_path / "half.jsonl"
    answers = [json.loads(line) for line in whole.read_text(encoding="utf-8").splitlines()]
    (key, field), cut = [*answers[0]][:2], '[{"name": "f", "arguments": {"a": '
    lines(half, [{key: one[key], field: cut if n % 2 else one[field]} for n, one in enumerate(answers)])
    golds, form = (str(SAMPLES / name), "--benchmark", name), ("--format", "json")
    scored = json.loads(planeval("score", str(half), *golds, *form).stdout)
    rows = [one for one in scored["reports"]["corrected"]["rows"] if one["id"] not in scored["missing"]]
    lost = sum((one["error"] or "").startswith("parse.") for one in rows)
    assert lost or name == "functionchat"  # where words are an answer
    files = planeval("compare", str(whole), str(half), "--gold", *golds, *form)
    counts = json.loads(files.stdout)["records"]["second"]
    assert (counts["unreadable"] + counts["cut"], counts["read"]) == (lost, len(rows) - lost)
    assert (f"half: {lost} of " in files.stderr) == bool(lost)
    if name == "complexfuncbench":  # which is scored as a whole, and keeps no run
        return
    for side in (whole, half):
        planeval("score", str(side), *golds, "-o", f"{tmp_path}/runs/{side.stem}/")
    runs = planeval("compare", f"{tmp_path}/runs/{name}", f"{tmp_path}/runs/half/", *form)
    assert (runs.stdout, runs.stderr) == (files.stdout, files.stderr)


def test_runs_of_benchmarks_are_compared_alike_or_not_at_all(tmp_path: Path) -> None:
    scored = ("score", str(SAMPLES / "answers" / "nestful.jsonl"), str(SAMPLES / "nestful"))
    for run, *more in (("both",), ("official", "--official"), ("corrected", "--corrected")):
        planeval(*scored, "--benchmark", "nestful", *more, "-o", f"{tmp_path}/{run}/")
    planeval(*scored[:2], str(SAMPLES / "nestful/v2/nestful_data.jsonl"), "-o", f"{tmp_path}/own/")
    for first, second, code, said in (
        ("both", "official", 0, "both and official have the same figures: n = 3, solved 0.3333"),
        ("official", "official", 0, "have the same figures"),
        ("official", "corrected", 2, "no variant was scored in all of them"),
        ("corrected", "own", 2, "they were scored under nestful and under no benchmark"),
    ):
        done = planeval("compare", first, second, cwd=tmp_path)
        assert (done.returncode, said in done.stdout + done.stderr) == (code, True), done.stderr
    for idle in (["--by", "calls"], ["--cluster", "none"], ["--mistaken", "x.svg"]):
        assert planeval("compare", "both", "both", *idle, cwd=tmp_path).returncode == 2
    assert planeval("compare", "both", "both", "--cluster", "part", cwd=tmp_path).returncode == 0


def test_a_lazy_system_is_worse_under_the_official_appbench(tmp_path: Path) -> None:
    whole, golds = SAMPLES / "answers" / "appbench.jsonl", SAMPLES / "appbench"
    kept = tmp_path / "kept.jsonl"
    kept.write_text("".join(whole.read_text(encoding="utf-8").splitlines(True)[:2]), encoding="utf-8")
    argv = ("compare", str(whole), str(kept), "--gold", str(golds), "--benchmark", "appbench", "--official")
    done = planeval(*argv, "--fail-if-worse", "complete_match")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (
        1,
        "complete_match of kept is 0.50 against 0.75 of appbench, difference -0.2500, expected none lower",
    )


def test_systems_under_a_benchmark_may_have_names() -> None:
    answers = SAMPLES / "answers" / "callnavi.jsonl"
    found = pe.compare_benchmark({"base": answers, "tuned": answers}, SAMPLES / "callnavi", "callnavi")
    assert found.names == ("base", "tuned")
    with pytest.raises(InputError, match="the systems are 1, expected a list or a mapping of two or more"):
        pe.compare_benchmark({"base": answers}, SAMPLES / "callnavi", "callnavi")


def test_a_record_that_is_called_what_another_s_id_is_keeps_its_line(tmp_path: Path) -> None:
    ids = ({"id": "a"}, {}, {"id": "record 2"})
    wanted = lines(tmp_path / "g.jsonl", [{**one, "gold": f"f(#x='{n}')"} for n, one in enumerate(ids)])
    said = lines(tmp_path / "p.jsonl", [{**one, "prediction": "f(#x='2')"} for one in ids])
    done = planeval("compare", said, said, "--gold", wanted, "--metric", "exact", "--format", "jsonl")
    told = [json.loads(line) for line in done.stdout.splitlines()]
    states = [(one["id"], [each["state"] for each in one["systems"].values()]) for one in told]
    assert states == [
        ("a", ["different"] * 2),
        ("record 2", ["absent"] * 2),
        ("record 2", ["same"] * 2),
        ("prediction 2", ["gold_absent"] * 2),
    ]
