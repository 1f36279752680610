"""Two systems and more: the verdict, Holm's correction, what may be worse, what is unreadable, formats."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner_eval as pe
from planner_eval.base.errors import InputError
from planner_eval.comparison.metrics.facts import Counts, Share
from planner_eval.comparison.rows import NO_ANSWER_STATES
from planner_eval.results.compare import System, make_comparison
from planner_eval.results.contrast import TERMINAL_WIDTH, Contrast
from planner_eval.results.intervals import holm
from planner_eval.results.scored import ScoredRow, scored_of
from planner_eval.results.views.compare import comparison_view
from tests.build import jsonl
from tests.conftest import ROOT, examples, tables, text_case
from tests.inside import planeval
from tests.test_junit import checked, kind

SAMPLES = ROOT / "data" / "samples"
BENCHMARKS = ("appbench", "callnavi", "complexfuncbench", "functionchat", "nestful")


def system(path: Path, right: Sequence[bool]) -> str:
    """Predictions that are right on some samples and call another tool on the others."""
    records = [{"id": f"q{n}", "prediction": f"f(#x='{n}')" if ok else "g()"} for n, ok in enumerate(right)]
    return jsonl(path, records)


def gold(path: Path, count: int) -> str:
    return jsonl(path, [{"id": f"q{n}", "gold": f"f(#x='{n}')"} for n in range(count)])


@pytest.fixture
def forty(tmp_path: Path) -> tuple[str, ...]:
    """A right on 10 of 40, B on 30, C as A, and gold."""
    right = [n < 10 for n in range(40)]
    return (
        system(tmp_path / "a.jsonl", right), system(tmp_path / "b.jsonl", [n < 30 for n in range(40)]),
        system(tmp_path / "c.jsonl", right), gold(tmp_path / "gold.jsonl", 40),
    )  # fmt: skip


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
    assert "p: with Holm's correction for 4 tests" in shown
    assert ["exact", "0.2500", "0.7500*", "0.2500"] in [line.split() for line in shown.splitlines()]
    assert "b against a" in shown
    picture = Path(wanted).with_name("mistaken.dot")
    assert planeval(*argv[:3], *argv[4:], "--mistaken", str(picture)).returncode == 0
    assert "digraph" in picture.read_text()
    assert "40 records scored for both a and c" in shown


SHARE = st.integers(0, 1).map(lambda hit: Share(hit, 1))
COUNTS = st.tuples(*[st.integers(0, 3)] * 3).map(lambda n: Counts(min(n), n[1], n[2]))


@st.composite
def runs(draw: st.DrawFn) -> list[list[ScoredRow]]:
    def row(number: int) -> ScoredRow:
        tallies = {"exact": draw(SHARE), "calls": draw(COUNTS)}
        state = "same" if tallies["exact"].part else "different"
        return ScoredRow(str(number), state, tallies, keys={"k": str(number % 2)})

    count = draw(st.integers(0, 20))
    return [[row(number) for number in range(count)] for _ in range(2)]


def contrast(
    first: list[ScoredRow], second: list[ScoredRow], names: tuple[str, str] = ("A", "B")
) -> Contrast:
    sides = [System(first), System(second)]
    compared = make_comparison(sides, ["exact", "calls"], names=names, made="t", by=["k"])
    return compared.contrasts[0]


@examples(25)
@given(runs())
def test_swapped_systems_mirror(both: list[list[ScoredRow]]) -> None:
    one, other = contrast(*both), contrast(*both[::-1])
    assert (one.lost, one.won) == (other.won, other.lost)
    for a, b in zip(one.lines, other.lines, strict=True):
        assert (a.p, a.sure, a.difference.p) == (b.p, b.sure, b.difference.p)
        ours, theirs = (each.difference for each in (a, b))
        for first, second in ((ours.value, theirs.value), (ours.low, theirs.high)):
            assert first == (None if second is None else pytest.approx(-second, abs=1e-9))
    for word, mirrored in (("better", "worse"), ("worse", "better")):
        if one.verdict.startswith(f"B is {word} "):
            assert f" is {mirrored} " in other.verdict


@examples(25)
@given(runs())
def test_a_system_against_itself_is_never_sure(both: list[list[ScoredRow]]) -> None:
    found = contrast(both[0], both[0])
    groups = [lines for each in found.breakdown.values() for lines in each.values()]
    assert not any(line.sure for lines in (found.lines, *groups) for line in lines)
    assert not any(f" is {word}" in found.verdict for word in ("better", "worse"))
    assert (found.lost, found.won) == ((), ())


def worse(files: Sequence[str], *limits: str, form: str = "text") -> tuple[int, str, str]:
    *systems, wanted = files
    given = [word for limit in limits for word in ("--fail-if-worse", limit)]
    done = planeval("compare", *systems, "--gold", wanted, *given, "--format", form)
    return done.returncode, done.stdout, done.stderr


def test_what_is_worse_fails(forty: tuple[str, ...]) -> None:
    a, b, c, wanted = forty
    wrong = jsonl(Path(a).with_name("wrong.jsonl"), [{"id": "q0", "prediction": "f(#x='no')"}])
    assert worse((a, b, c, wanted), "exact", "calls:0.1")[0] == 0
    assert worse((a, b, c, wanted), "independent_errors:0.4")[0] == 0
    for code, files, limit, said in (
        (1, (b, a), "exact", "exact of a is 0.25 against 0.75 of b, difference -0.5000, expected none lower"),
        (
            1,
            (b, wrong),
            "independent_errors",
            "wrong is 1.00 against 0.00 of b, difference +1.0000, expected none higher",
        ),
        (2, (a, b), "exac", "no metric 'exac'; did you mean 'exact'?"),
        (1, (a, b), "references", ""),  # it is undefined, and nothing is known of it
        *((2, (a, b), bad, "") for bad in ("exact:x", "exact:-1", "exact:nan", ":1")),
    ):
        done = worse((*files, wanted), limit)
        assert (done[0], said in done[2]) == (code, True), limit


def test_each_system_and_limit_is_a_test_case(forty: tuple[str, ...]) -> None:
    a, b, c, wanted = forty
    plain = checked(worse((b, a, c, wanted), form="junit")[1])
    failed = [case for case in plain if kind(case) == "failure"]
    assert (len(plain), len(failed)) == (80, 40)
    assert [failed[0].get(key) for key in ("file", "line", "name")] == [a, "11", "q10"]
    assert failed[0][0].get("message", "").startswith("b is right, a is not: ")
    code, text, _ = worse((b, a, c, wanted), "exact:0.9", form="junit")
    cases = checked(text)
    assert (code, {kind(case) for case in cases}) == (0, {"passed", "skipped"})
    assert [case.get("name") for case in cases[:2]] == ["a exact:0.9", "c exact:0.9"]
    code, text, _ = worse((b, a, wanted), "exact", form="junit")
    assert (code, [case.get("name") for case in checked(text) if kind(case) == "failure"]) == (1, ["a exact"])


def test_five_systems_with_long_names_fit_a_terminal(tmp_path: Path) -> None:
    random, name = Random(1), "a-language-model-of-{}-billion-parameters-2026-01-01"
    wanted = gold(tmp_path / "g.jsonl", 12)
    right = [[random.random() < 0.5 for _ in range(12)] for _ in range(5)]
    files = [system(tmp_path / f"{name.format(n)}.jsonl", each) for n, each in enumerate(right)]
    done = planeval("compare", *files, "--gold", wanted)
    assert done.returncode == 0
    blocks = done.stdout.split("\n\n")
    assert blocks[0].splitlines() == [f"{'ABCDE'[n]}: {name.format(n)}" for n in range(5)]
    tables = "\n\n".join(blocks[2:-1]).splitlines()
    assert max(map(len, tables)) <= TERMINAL_WIDTH
    assert tables[0].split() == ["records", *"ABCDE"]
    alike = System([ScoredRow("a", "same", {"exact": Share(1, 1)})])
    many = make_comparison([alike] * 30, ["exact"], names=[f"{'n' * 30}{n}" for n in range(30)], made="t")
    assert "S30: " in comparison_view(many).text()


def test_a_long_comparison_says_the_most_important_first_and_how_much_is_left_out() -> None:
    """20 causes and tools, three figures by level, 10 ids of 60 characters; a terminal has 100."""

    def text(name: str) -> str:
        sides = [System([*map(scored_of, rows)]) for rows in tables(__file__)["LONG"]]
        metrics = ["exact", "calls", "arguments", "order_tau"]
        made = make_comparison(sides, metrics, names=["a", name], made="t", by=["level"])
        return comparison_view(made).text()

    assert text("b" * 46) == text_case("test_compare-LONG.txt").removesuffix("\n")
    legends = [text("b" * length).split("\n")[:2] for length in (47, 90, 91)]
    names = ("b" * 47, "b" * 90, "b" * 89 + "…")
    assert legends == [["A: a", f"B: {name}"] for name in names]


def test_a_system_that_lacks_half_of_the_samples(tmp_path: Path) -> None:
    a, b = system(tmp_path / "a.jsonl", [True] * 10), system(tmp_path / "b.jsonl", [True] * 5)
    argv = ("compare", a, b, "--gold", gold(tmp_path / "g.jsonl", 10), "--format", "json")
    data = json.loads(planeval(*argv).stdout)
    assert (data["samples"], data["unanswered"]) == (10, {"first": 0, "second": 5})
    assert (data["figures"]["exact"]["second"], data["records"]["second"]["absent"]) == (0.5, 5)


def test_the_library_takes_two_or_many() -> None:
    wanted = ["f()", "g()"]
    systems = {"base": ["f()", "h()"], "tuned": wanted, "other": ["f()", "h()"]}
    two = pe.compare(systems["base"], systems["tuned"], wanted, metrics="exact", names=("base", "tuned"))
    many = pe.compare(systems, wanted, metrics="exact")
    assert (two.won, two.names) == (("2",), ("base", "tuned"))
    assert (many.names, [each.won for each in many.contrasts]) == (("base", "tuned", "other"), [("2",), ()])
    assert pe.compare([*systems.values()], wanted).names == ("A", "B", "C")
    assert pe.compare([*systems.values()], wanted, names=["x", "x", "p"]).names == ("x", "x (2)", "system p")
    for bad in ([wanted], wanted[0], []):
        with pytest.raises(InputError, match="mapping of two or more"):
            pe.compare(bad, wanted)
    with pytest.raises(InputError, match="2 names for 3 systems"):
        pe.compare([*systems.values()], wanted, names=["x", "y"])


@pytest.mark.parametrize("name", BENCHMARKS)
def test_systems_are_compared_under_a_benchmark(name: str, tmp_path: Path) -> None:
    answers, first = (str(SAMPLES / "answers" / f"{name}.jsonl"), str(tmp_path / "first.jsonl"))
    Path(first).write_bytes(Path(answers).read_bytes().partition(b"\n")[0])
    golds = (str(SAMPLES / name), "--benchmark", name)
    argv, form = ("compare", answers, first, "--gold", *golds), ("--format", "json")
    data = json.loads(planeval(*argv, *form).stdout)
    for variant, scored in json.loads(planeval("score", first, *golds, *form).stdout)["reports"].items():
        solved = data["figures"][f"{variant} solved"]
        assert solved["second"] == pytest.approx(sum(r["ok"] for r in scored["rows"]) / len(scored["rows"]))
        for figure in scored["figures"]:
            ours = data["figures"].get(f"{variant} {figure['name']}")
            assert ours is None or ours["second"] == pytest.approx(figure["value"])
    for figure, values in data["figures"].items():  # answers left out are no gain
        assert values["second"] <= values["first"], figure
    one = planeval(*argv, "--corrected", "--fail-if-worse", "solved", "--format", "junit")
    solved = data["figures"]["corrected solved"]
    assert one.returncode == (solved["second"] < solved["first"])
    case = checked(one.stdout)[0]
    assert (case.get("name"), kind(case)) == ("first solved", ("passed", "failure")[one.returncode])
    same = planeval(*argv[:2], answers, *argv[3:], "--official").stdout
    assert same.startswith(f"{name} and {name} (2) have the same scores: n = ")
    assert max(map(len, "\n\n".join(same.split("\n\n")[1:-1]).splitlines())) <= TERMINAL_WIDTH
    for idle in (["--metric", "exact"], ["--details"], ["--by", "calls"], ["--policy", "strict"]):
        assert planeval(*argv, *idle).returncode == 2
    found = pe.compare_benchmark({"base": answers, "tuned": answers}, SAMPLES / name, name)
    assert found.names == ("base", "tuned")
    with pytest.raises(InputError, match="the systems are 1, expected a list or a mapping of two or more"):
        pe.compare_benchmark({"base": answers}, SAMPLES / name, name)


COUNT = 120


def files(folder: Path, *, seed: int = 1) -> dict[str, str]:
    random = Random(seed)
    sides: dict[str, list[dict[str, Any]]] = {"gold": [], "quoted": [], "plain": []}
    for n in range(COUNT):
        plan = [{"name": random.choice("fgh"), "arguments": {"user": f"u{n}"}}]
        wrong = [{"name": "login", "arguments": {"user": f"u{n}"}}]
        other = [{"name": plan[0]["name"], "arguments": {"user": "nobody"}}]
        ours = random.choices([plan, wrong, other], [8, 1, 1])[0]
        theirs = random.choices([plan, wrong, other], [5, 2, 3])[0]
        text = json.dumps(ours) if n % 4 == 0 else str(ours)
        text = f"{text[:-1]}))" if n % 24 == 1 else text
        sides["gold"].append({"id": f"q{n}", "gold": plan})
        sides["quoted"].append({"id": f"q{n}", "prediction": text})
        sides["plain"].append({"id": f"q{n}", "prediction": json.dumps(theirs)})
    return {name: jsonl(folder / f"{name}.jsonl", records) for name, records in sides.items()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return files(tmp_path_factory.mktemp("unreadable"))


def compared(made: Mapping[str, str], *argv: str) -> str:
    sides = (made["quoted"], made["plain"], "--gold", made["gold"])
    done = planeval("compare", *sides, "--metric", "exact", *argv)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_cannot_be_read_stands_first_and_in_the_verdict(made: Mapping[str, str]) -> None:
    """Read strictly the one is worse for its quotes; once repaired it is better."""
    for strict in ([], ["--strict"]):
        for form in ("text", "md"):
            head = compared(made, *strict, "--format", form).splitlines()[0]
            assert head == "without a readable plan: quoted 90 of 120 before repair, 5 after; plain 0 of 120"
    strict = compared(made, "--strict").splitlines()[1]
    assert strict.startswith("plain is better than quoted in exact: 0.53 against 0.19, p < 0.0001")
    assert strict.endswith(
        "; mostly because 90 of quoted's 120 answers are unreadable; over the 30 records where both answers "
        "are readable, plain is worse: exact 0.40 against 0.77, p = 0.0074"
    )
    mended = compared(made).splitlines()[1]
    assert mended.startswith("plain is worse than quoted in exact: 0.53 against 0.77, p = 0.00026")
    assert (
        "; 5 of quoted's 120 answers are unreadable; over the 115 records where both answers are "
        "readable" in mended
    )
    assert "because" not in mended
    found = pe.compare(["f()", "g()"], ["f()", "h()"], ["f()", "g()"], metrics=["exact"])
    assert (found.both_read, "readabl" in found.verdict) == (None, False)
    nothing = pe.compare(["f("], ["g("], ["f()"], metrics=["exact"])
    said = "; 1 of A's 1 answer is cut off and 1 of B's 1 answer is cut off; "
    assert nothing.verdict.endswith(f"{said}no record has a readable answer from both")


def test_causes_stand_beside_one_another_the_largest_difference_first(made: Mapping[str, str]) -> None:
    text = compared(made, "--strict")
    assert ("nothing" in text, "login" in text) == (False, True)  # what cannot be read is no other tool
    head, *rows = next(part for part in text.split("\n\n") if part.startswith("cause ")).splitlines()
    assert head.split("  ")[-1] == "readable (30)"
    counts = [(row.split()[0], int(row.split()[1]), int(row.split()[2])) for row in rows]
    gaps = [abs(one - other) for _, one, other in counts]
    assert {code for code, *_ in counts} == {"argument.value", "call.replaced"}
    assert gaps == sorted(gaps, reverse=True)
    data = json.loads(compared(made, "--strict", "--format", "json"))
    for at, side in enumerate(("first", "second"), 1):
        assert {row[0]: row[at] for row in counts} == data["causes"][side]
    assert (data["samples"], data["figures"]["exact"]["n"]) == (COUNT, COUNT)
    assert data["figures"]["exact"]["first"] == data["records"]["first"]["same"] / COUNT


def test_figures_of_what_both_read_are_of_these_alone(made: Mapping[str, str], tmp_path: Path) -> None:
    """A law: leave out what one could not read, and the figures over all are those beside."""
    data = json.loads(compared(made, "--strict", "--format", "json"))
    samples = [json.loads(line) for line in compared(made, "--strict", "--format", "jsonl").splitlines()]
    read = {
        one["id"]
        for one in samples
        if all(s["state"] not in NO_ANSWER_STATES for s in one["systems"].values())
    }
    assert data["both_read"]["samples"] == len(read) == 30
    kept = {}
    for name, file in made.items():
        records = [json.loads(line) for line in Path(file).read_text(encoding="utf-8").splitlines()]
        kept[name] = jsonl(tmp_path / f"{name}.jsonl", [one for one in records if one["id"] in read])
    alone = json.loads(compared(kept, "--strict", "--format", "json"))
    assert alone["figures"] == data["both_read"]["figures"]
    assert alone["causes"] == data["both_read"]["causes"]
    assert "both_read" not in alone


def test_strict_reading_counts_what_repair_would_read(made: Mapping[str, str]) -> None:
    """With and without repair the counts are the same two, seen from either side, record by record."""
    strict, mended = (json.loads(compared(made, *argv, "--format", "json")) for argv in (["--strict"], []))
    assert strict["unreadable"] == mended["unreadable"]
    assert strict["unreadable"]["first"] == {"as_written": 90, "once_repaired": 5}
    assert strict["records"]["first"]["repairable"] == mended["records"]["first"]["repaired"] == 85
    assert "reading=strict |" in strict["signature"]
    assert "reading=with repairs" in mended["signature"]
    sides = (made["quoted"], made["plain"], "--gold", made["gold"], "--strict")
    said = "quoted: 90 of 120 predictions are unreadable and count as wrong; without --strict"
    assert said in planeval("compare", *sides).stderr
    told = [compared(made, *argv, "--format", "jsonl").splitlines() for argv in (["--strict"], [])]
    for lines_ in zip(*told, strict=True):
        one, other = (json.loads(line)["systems"]["quoted"] for line in lines_)
        assert one.get("repairable", False) is other.get("repaired", False)


def test_csv_and_runs_in_folders_say_the_same(made: Mapping[str, str], tmp_path: Path) -> None:
    table = csv.DictReader(io.StringIO(compared(made, "--strict", "--format", "csv")))
    rows = {row["metric"]: row for row in table}
    assert (rows["records.repairable"]["quoted"], rows["both_read.exact"]["quoted"]) == ("85", "0.7667")
    assert rows["causes.argument.value"]["plain"] == "39"
    for flag, said in ((["--strict"], "90 of 120"), ([], "90 of 120 before repair, 5 after")):
        folders = [tmp_path / str(len(flag)) / name for name in ("quoted", "plain")]
        folders[0].parent.mkdir()
        for name, kept in zip(("quoted", "plain"), folders, strict=True):
            argv = ("score", made[name], made["gold"], "--metric", "exact", *flag, "-o", f"{kept}/")
            assert planeval(*argv).returncode == 0
        again = json.loads(planeval("compare", *folders, "--format", "json").stdout)
        whole = json.loads(compared(made, *flag, "--format", "json"))
        for key in ("verdict", "samples", "unanswered", "figures", "causes", "mistaken", "both_read"):
            assert again[key] == whole[key], key
        head = planeval("compare", *folders).stdout.splitlines()[0]
        assert head == f"without a readable plan: quoted {said}; plain 0 of 120"
