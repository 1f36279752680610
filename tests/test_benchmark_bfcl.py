"""BFCL: verdicts, scores and readings on our own data, on recorded verdicts, beside the published code."""

import csv
import gzip
import json
import re
import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_eval.base.errors import DatasetError, InputError
from planner_eval.benchmarks.answers import read_answers
from planner_eval.benchmarks.benchmark import BENCHMARKS
from planner_eval.benchmarks.bfcl import score_corrected, score_official
from planner_eval.benchmarks.bfcl.call_check import Verdict
from planner_eval.benchmarks.bfcl.corrected import correct_verdict
from planner_eval.benchmarks.bfcl.data import (
    CATEGORIES,
    category_sizes,
    installed_folder,
    read_bfcl,
    read_category,
)
from planner_eval.benchmarks.bfcl.official import Settings, judge_answer, judge_answers
from planner_eval.benchmarks.bfcl.page import explain_answer
from planner_eval.benchmarks.bfcl.program_calls import read_java_call, read_javascript_call
from planner_eval.benchmarks.bfcl.reading import (
    answer_text,
    answer_texts,
    decode_prompted,
    decode_step,
    read_results,
    read_text,
)
from planner_eval.benchmarks.bfcl.scores import Judged, score_figures
from planner_eval.benchmarks.bfcl.typed_values import GroupList, java_value, javascript_value
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.cli.pairs import benchmark_of_results
from planner_eval.reading.files.files import FileListing, list_files
from tests import bfcl_mutations, bfcl_official
from tests.conftest import ROOT, tabled, tables
from tests.inside import planeval

TABLES = tables(__file__)

FOLDER = ROOT / "data" / "samples" / "bfcl"
ANSWERS = ROOT / "data" / "samples" / "answers" / "bfcl.jsonl"
SAMPLES = {sample.id: sample for sample in read_bfcl(FOLDER)}
NOT_INSTALLED = "bfcl_eval is not installed (pip install --no-deps bfcl-eval)"


@pytest.fixture(scope="module")
def package() -> Path:
    folder = installed_folder()
    if folder is None:
        pytest.skip(NOT_INSTALLED)
    return folder / "data"


def call(name: str, **arguments: Any) -> dict[str, str]:
    return {name: json.dumps(arguments)}


def boil(**arguments: Any) -> list[dict[str, str]]:
    return [call("kitchen_boil", **{"eggs": 3, "minutes": 7, **arguments})]


PAIR = [*boil(eggs=4, minutes=10), *boil(eggs=2, minutes=5)]


# Which question, what was answered, the kind of error, and that of the corrected verdict.
@tabled("name, result, kind, corrected")
def test_a_verdict(name: str, result: Any, kind: str | None, corrected: str | None) -> None:
    text, settings = answer_text(result), Settings()
    verdict = judge_answer(SAMPLES[name], text)
    assert verdict is not None
    assert (verdict.valid, verdict.error_type) == (kind is None, kind)
    meant, reason = correct_verdict(SAMPLES[name], text, verdict, settings)
    assert (meant.valid, meant.error_type, bool(reason)) == (corrected is None, corrected, kind != corrected)


def test_messages_are_the_published_ones() -> None:
    verdict = judge_answer(SAMPLES["parallel_0"], answer_text(PAIR[:1] * 2))
    assert verdict is not None
    told, *errors = verdict.error
    said = "Could not find a matching function among index [0, 1] of model output for index 0 of possible"
    error = {
        "sub_error": ["Invalid value for parameter 'eggs': 4. Expected one of [2]."],
        "sub_error_type": "value_error:others",
        "model_output_item": {"kitchen_boil": {"eggs": 4, "minutes": 10}},
        "possible_answer_item": {"kitchen.boil": {"eggs": [2], "minutes": [5.0], "salt": [""]}},
    }
    assert (told, type(verdict.error)) == (f"{said} answers.", tuple)
    assert errors == [{f"Model Result Index {index}": error} for index in (0, 1)]


def test_gold_that_ends_the_published_code_is_a_row_and_no_traceback() -> None:
    broken = {"ground_truth": [{"f": {"a": [1]}}], "package": ""}
    tool = {"name": "f", "parameters": {"properties": {"a": {"type": "number"}}, "required": []}}
    sample = Sample("simple_python_9", tools=[tool], category="simple_python", extra=broken)
    for score in (score_official, score_corrected):
        report = score([(sample, answer_text([call("f", a=1)]))])
        assert report.rows[0].error == "raised: KeyError: 'number'" or report.rows[0].ok
    figure = score_official([(sample, answer_text([call("f", a=1)]))]).figure("simple_python")
    assert (figure.value, figure.error) == (None, "KeyError: 'number'")


# ----------------------------------------------------------------------
# Reading.
TUPLED = (
    "a.b(x=-1, y=(1, 'c'), z={'k': [None]}, w=q)",
    [{"a.b": {"x": -1, "y": (1, "c"), "z": {"k": [None]}, "w": "q"}}],
)


@pytest.mark.parametrize(
    ("style", "text", "calls"), [*TABLES["prompted_answers_are_decoded_as_published"], ("python", *TUPLED)]
)
def test_prompted_answers_are_decoded_as_published(style: str, text: str, calls: Any) -> None:
    if isinstance(calls, str):
        with pytest.raises(Exception, match=calls):
            decode_prompted(text, style)
    else:
        assert decode_prompted(text, style) == calls


@pytest.mark.parametrize(
    ("convert", "text", "kind", "item", "value"),
    [
        (java_value, "5L", "long", None, 5),
        (java_value, "5", "long", None, "5"),
        (java_value, "1e3f", "float", None, 1000.0),
        (java_value, "new int[]{1, 2}", "Array", "integer", [1, 2]),
        (java_value, "[1]", "Array", "integer", "[1]"),
        (java_value, 'new ArrayList<String>() {{ add("a"); }}', "ArrayList", "String", ["a"]),
        (
            java_value,
            'new HashMap<>() {{ put("a", 1L); put("b", "c"); }}',
            "HashMap",
            None,
            {"a": 1, "b": "c"},
        ),
        (javascript_value, "[[1, 2], ['a']]", "array", "float", [[1, 2], ["a"]]),
        (javascript_value, "5n", "Bigint", None, 5),
        (javascript_value, "new Array(1, 2.5)", "array", "float", [1.0, 2.5]),
        (javascript_value, "[[1" * 40, "array", None, "[[1" * 40),
        (javascript_value, "{a: [1, 2], b: 'c'}", "dict", None, {"a": [1, 2], "b": "c"}),
        (javascript_value, "'x'", "String", None, "x"),
    ],
)
def test_values_of_other_languages(convert: Any, text: str, kind: str, item: str | None, value: Any) -> None:
    assert convert(text, kind, item) == value


@given(st.text("[],{} a\n", max_size=14))
def test_lists_of_groups_end_where_the_pattern_says(text: str) -> None:
    for opening, closing, across in (("[", "]", False), ("{", "}", True)):
        group = rf"\{opening}.*?\{closing}\s*"
        pattern = re.compile(rf"{group}(?:,\s*{group})*\]", re.DOTALL if across else re.NOFLAG)
        groups = GroupList(opening, closing, "]", across=across)
        for place in range(len(text)):
            matched = pattern.match(text, place)
            assert groups.end(text, place) == (matched.end() if matched else -1)


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=7), inner, max_size=2),
    max_leaves=6,
)


@given(
    ANY_JSON | st.sampled_from(["[]", '{"calls": 1}', '{"unanswered": []}', '[{"f": "{}"}]', '"x"']),
    st.booleans(),
)
def test_an_answer_as_text_is_read_back(content: Any, calls: bool) -> None:
    read = read_text(answer_text(content, calls=calls))
    assert (read.content, read.calls) == (content, calls)


@tabled("contents, calls")
def test_a_model_calls_functions_where_its_answers_hold_calls(contents: list[Any], calls: bool) -> None:
    """A step of null, which vLLM gives where a model only thought, tells nothing."""
    read = [read_text(text) for text in answer_texts(contents)]
    assert [(one.content, one.calls) for one in read if one.content is not None] == [
        (content, calls) for content in contents if content is not None
    ]


def test_steps_are_texts_of_calls() -> None:
    assert decode_step([{"f": '{"a": [1, "x"]}', "g": {}}], calls=True) == ["f(a=[1, 'x'])", "g()"]
    assert decode_step("[f(a={'b': 1}), g(c=h(d=2))]", calls=False) == ["f(a={'b': 1})", "g(c=h(d=2))"]


def write_results(folder: Path, results: dict[str, Any], model: str = "m") -> Path:
    for name, result in results.items():
        category = SAMPLES[name].category
        file = folder / model / CATEGORIES[category].group / f"BFCL_v4_{category}_result.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"id": name, "result": result, "latency": 1.5}) + "\n")
    return folder / model


def test_a_result_folder_alone_says_whose_it_is(tmp_path: Path) -> None:
    """The benchmark and its data set are left out; other gold than the data set decides nothing."""
    shutil.copytree(FOLDER, tmp_path / "cache" / "bfcl")
    cache = ("--cache", str(tmp_path / "cache"))
    folders = [write_results(tmp_path, {"simple_python_0": boil(eggs=eggs)}, f"m{eggs}") for eggs in (1, 3)]
    file = next(folders[0].rglob("*_result.json"))
    expected = planeval("score", str(file), "bfcl", "--benchmark", "bfcl", *cache).stdout
    assert planeval("score", str(folders[0]), *cache).stdout == expected
    compared = planeval("compare", *map(str, folders), *cache)
    assert (compared.returncode, "benchmark=bfcl" in compared.stdout) == (0, True), compared.stderr
    assert list_files(str(folders[0])) == FileListing((str(file),))
    (tmp_path / "both").mkdir()
    for folder in folders:
        shutil.copytree(folder, tmp_path / "both" / folder.name)
    with pytest.raises(InputError, match=r"several models \(m1, m3\)"):
        list_files(str(tmp_path / "both"))
    (tmp_path / "empty").mkdir()
    for paths, gold, name in (
        ((folders[0], file), "bfcl", "bfcl"),
        ((file,), "dataset:bfcl", "bfcl"),
        ((file,), str(FOLDER), None),
        ((file,), "callnavi", None),
        ((file, tmp_path / "empty"), None, None),
        ((file, FOLDER / "BFCL_v4_irrelevance.json"), None, None),
    ):
        assert benchmark_of_results([str(path) for path in paths], gold) == name, (paths, gold)


@tabled("files, code, message")
def test_folders_of_results_that_are_none_or_of_two_models(
    files: dict[str, str], code: int, message: str, tmp_path: Path
) -> None:
    for name, text in files.items():
        path = tmp_path / "model" / name.format("BFCL_v4_", "_result.json")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    gold = () if "v3" in "".join(files) else (str(FOLDER), "--benchmark", "bfcl")
    done = planeval("score", str(tmp_path / "model"), *gold)
    assert (done.returncode, message in done.stderr) == (code, True), done.stderr


def test_parts_and_one_process_say_the_same(tmp_path: Path) -> None:
    run, argv = (
        tmp_path / "run",
        ("score", str(ANSWERS), str(FOLDER), "--benchmark", "bfcl", "--format", "json"),
    )
    alone = json.loads(planeval(*argv).stdout)
    planeval(*argv, "-o", f"{run}/")
    parts = json.loads(planeval("score", str(run), "--format", "json").stdout)
    assert parts["reports"] == alone["reports"]
    assert [row["ok"] for row in alone["reports"]["corrected"]["rows"]].count(True) == 6
    shown = planeval("table", str(run), "--official").stdout
    assert "Non-Live Parallel AST           100.00 [2.50–100.00]" in shown


def test_data_are_read_from_where_they_lie(tmp_path: Path) -> None:
    wheel = tmp_path / "wheel" / "bfcl_eval-1-py3-none-any.whl"
    wheel.parent.mkdir()
    with zipfile.ZipFile(wheel, "w") as archive:
        for file in sorted(FOLDER.rglob("*.json")):
            archive.write(file, f"bfcl_eval/data/{file.relative_to(FOLDER)}")
    checkout = tmp_path / "checkout" / "berkeley-function-call-leaderboard" / "bfcl_eval" / "data"
    shutil.copytree(FOLDER, checkout)
    names = [sample.id for sample in read_bfcl(FOLDER)]
    for place in (wheel.parent, wheel.parent, tmp_path / "checkout", checkout.parent):
        assert [sample.id for sample in read_bfcl(place)] == names
    assert [sample.id for sample in read_bfcl(FOLDER, part="parallel")] == ["parallel_0"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(DatasetError, match="no BFCL questions here"):
        list(read_bfcl(tmp_path / "empty"))
    wheel.write_text("broken")
    shutil.rmtree(wheel.parent / "bfcl_eval-1-py3-none-any")
    with pytest.raises(DatasetError, match="cannot be unpacked"):
        list(read_bfcl(wheel.parent))
    (checkout / "BFCL_v4_parallel.json").write_text('{"id": 5}\n')
    with pytest.raises(DatasetError, match="line 1: not a record of BFCL"):
        list(read_bfcl(tmp_path / "checkout"))
    assert read_results(str(tmp_path / "empty")) is None
    file = tmp_path / "BFCL_v4_parallel_result.json"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="cannot be read"):
        read_results(str(file))


def test_gold_answered_with_gold_is_right() -> None:
    texts = [(sample, BENCHMARKS["bfcl"].gold_text(sample)) for sample in SAMPLES.values()]
    answered = [(sample, text) for sample, text in texts if text is not None]
    for score in (score_official, score_corrected):
        assert [row.id for row in score(answered).rows if not row.ok] == []


# ----------------------------------------------------------------------
# Scores.
def judged(category: str, right: int, total: int) -> list[Judged]:
    return [Judged(f"{category}_{number}", category, number < right) for number in range(total)]


def test_scores_weigh_as_published() -> None:
    names = ("simple_python", "simple_java", "simple_javascript", "multiple", "parallel", "parallel_multiple")
    records = [one for name in names for one in judged(name, 1, 2)]
    records += judged("live_simple", 3, 4) + judged("live_multiple", 0, 4) + judged("irrelevance", 1, 1)
    sizes = {"live_parallel": 2, "live_parallel_multiple": 0, "live_irrelevance": 3}
    figures = {figure.name: figure for figure in score_figures(records, sizes)}
    assert (figures["Non-Live AST Acc"].value, figures["Live Acc"].value) == (0.5, 0.3)  # 3 of 4 + 4 + 2
    assert figures["Irrelevance Detection"].note == "N/A: not run: live_irrelevance"
    assert figures["Overall Acc"].value == pytest.approx(0.1 * 0.5 + 0.1 * 0.3 + 0.1 * 0.5)
    meant = {figure.name: figure.value for figure in score_figures(records, {}, strict=False)}
    assert (meant["Live Acc"], meant["Irrelevance Detection"]) == (0.375, 1.0)
    assert meant["Overall Acc"] == pytest.approx((0.5 + 0.375 + 1.0) / 3)
    formats = [Judged(f"format_sensitivity_{n}:{n % 2}:a", "format_sensitivity", n < 2) for n in range(4)]
    formats.append(Judged("format_sensitivity_4:1:a", "format_sensitivity", True))
    spread = {figure.name: figure.value for figure in score_figures(formats, {})}
    assert (spread["Format Sensitivity Max Delta"], spread["Format Sensitivity Variance"]) == (16.67, 138.89)


# ----------------------------------------------------------------------
# Recorded verdicts, and the published code beside ours.
def test_recorded_verdicts(reference: Path, package: Path) -> None:
    """Every recorded verdict on a single turn, with its kind of error and its messages."""
    equal = {"calls": 0, "relevance": 0}
    for file in sorted((reference / "vectors" / "bfcl").glob("*/*.jsonl.gz")):
        name = file.name.removesuffix(".jsonl.gz")
        if CATEGORIES[name].check == "multi_turn":
            continue
        samples = {sample.id: sample for sample in read_category(package, name)}
        with gzip.open(file, "rt", encoding="utf-8") as stream:
            records = [json.loads(line) for line in list(stream)[1:]]
        for record in records:
            verdict = judge_answer(samples[record["id"]], answer_text(record["result"], calls=True))
            assert verdict is not None
            error = list(verdict.error) or None
            assert (verdict.valid, verdict.error_type, error) == tuple(
                record[key] for key in ("valid", "error_type", "error")
            )
        equal["calls" if CATEGORIES[name].check == "calls" else "relevance"] += len(records)
    assert equal == {"calls": 5_002, "relevance": 2_280}


def compare_mutations(
    count: int, seed: int, reference: Path | None, *, only: Sequence[str] = (), prompted: bool = False
) -> None:
    code = bfcl_official.official()
    if code is None:
        pytest.skip(NOT_INSTALLED)
    answers = bfcl_mutations.cases(
        count, seed, reference=reference, styles=("java", "javascript"), only=only, prompted=prompted
    )
    assert [d for case in answers if (d := bfcl_mutations.compare(code, case)[1]) is not None] == []


@pytest.mark.filterwarnings("ignore")  # of the published code
def test_mutated_answers_are_judged_as_by_the_published_code() -> None:
    compare_mutations(300, 4, None)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("category", [name for name, c in CATEGORIES.items() if c.check != "multi_turn"])
def test_many_mutated_answers_are_judged_as_by_the_published_code(category: str, reference: Path) -> None:
    compare_mutations(5_000, 44, reference, only=[category])


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(2))
def test_programs_are_read_as_by_the_published_parsers(seed: int, reference: Path) -> None:
    """Java and JavaScript with calls in any statement, and broken texts."""
    only = ("simple_java", "simple_javascript")
    compare_mutations(3_000, seed, reference, only=only, prompted=True)


@pytest.mark.filterwarnings("ignore")
def test_group_scores_are_those_of_the_published_tables(tmp_path: Path, package: Path) -> None:
    code = bfcl_official.official()
    assert code is not None
    records = (
        judged("simple_python", 348, 400) + judged("multiple", 173, 200) + judged("live_simple", 209, 258)
    )
    records += (
        judged("multi_turn_base", 95, 200) + judged("irrelevance", 210, 240) + judged("memory_kv", 7, 155)
    )
    counts: dict[str, list[bool]] = {}
    for record in records:
        counts.setdefault(record.category, []).append(record.valid)
    table = {name: {"accuracy": sum(v) / len(v), "total_count": len(v)} for name, v in counts.items()}
    code.helper.MODEL_CONFIG_MAPPING["calls"] = bfcl_official.Described()
    code.helper.generate_leaderboard_csv({"calls": table}, tmp_path)
    with (tmp_path / "data_overall.csv").open() as stream:
        row = next(csv.DictReader(stream))
    sizes = category_sizes(str(package.parent))
    for figure in score_figures(records, sizes):
        if figure.name in row:
            wanted = "N/A" if figure.value is None else f"{float(figure.value):.2%}"
            assert row[figure.name] == wanted, figure.name


@pytest.mark.parametrize("read", [read_java_call, read_javascript_call])
@given(st.text("ab=.,()[]{}\"'<>?:+-;0 \n", max_size=30))
def test_no_text_breaks_the_parser(read: Any, text: str) -> None:
    said = ""
    try:
        read(text)
    except Exception as error:
        said = str(error)
    assert not said or any(words in said for words in ("source code", "same name", "NoneType"))


def test_several_turns_are_run_once_for_both_variants(reference: Path, package: Path) -> None:
    file = next((reference / "vectors" / "bfcl").glob("*/multi_turn_base.jsonl.gz"))
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        records = [json.loads(line) for line in list(stream)[1:7]]
    samples = {sample.id: sample for sample in read_category(package, "multi_turn_base")}
    pairs = [(samples[record["id"]], answer_text(record["result"], calls=True)) for record in records]
    verdicts = judge_answers(pairs)
    assert [(v.valid, v.error_type) for v in verdicts] == [(r["valid"], r["error_type"]) for r in records]
    assert [row.ok for row in score_corrected(pairs).rows] == [verdict.valid for verdict in verdicts]
    assert all(isinstance(verdict, Verdict) for verdict in verdicts)


@tabled("wrong, follow, pred, steps, gold")
def test_several_turns_are_drawn(
    wrong: int | None, follow: list[int], pred: list[str], steps: list[int], gold: list[str] | None
) -> None:
    """A right answer turn beside turn; of a wrong one the first wrong turn and those that follow from it."""
    truth = [["ls()"], ["cd('a')", "cat(file_name='b')"]]
    tools = [{"name": "cd", "parameters": {"properties": {"folder": {"type": "string"}}}}]
    extra = {"ground_truth": truth, "question": {"question": [[], []]}, "held_back": []}
    sample = Sample("multi_turn_base_0", tools=tools, category="multi_turn_base", extra=extra)
    answer = answer_text([[[call("pwd")]], [[call("cd", folder="a"), call("cat<|x|>", file_name="b")]]])
    verdict = Verdict(
        wrong is None,
        None if wrong is None else "multi_turn:x",
        details={"turn": wrong, "wrong": follow, "follow": follow},
    )
    shown = explain_answer(sample, answer, verdict, Settings())
    assert shown.pred is not None
    assert ([c.name for c in shown.pred.calls], [*shown.pred.steps]) == (pred, steps)
    assert (shown.gold and [c.name for c in shown.gold.calls]) == gold
    titles = [turn["title"] for turn in shown.sections[0]["turns"]]
    assert ("wrong as a consequence of turn 1" in titles[1]) == bool(follow)


FAILURE = "Error during inference: Error code: 500"


@pytest.mark.parametrize("name", ["mine.jsonl", "mine.json", "mine.jsonl.gz"])
@pytest.mark.parametrize("field", [None, "result"])
def test_answers_are_what_a_file_of_any_name_holds(name: str, field: str | None, tmp_path: Path) -> None:
    """Other readers make one list of the steps of all turns, and nothing of words about a failure."""
    turns = [[[{"f": "{}"}], ["Done."]], [[{"g": "{}"}]]]
    records = [{"id": "multi_turn_base_0", "result": turns}, {"id": "irrelevance_0", "result": FAILURE}]
    lines = json.dumps(records) if name == "mine.json" else "".join(f"{json.dumps(one)}\n" for one in records)
    path = tmp_path / name
    path.write_bytes(gzip.compress(lines.encode()) if name.endswith("gz") else lines.encode())
    answers = read_answers(str(path), text_field=field, benchmark=BENCHMARKS["bfcl"]).found
    found = [(json.loads(one.text or ""), one.error) for one in answers]
    assert found == [(turns, ""), ({"calls": FAILURE}, "")]
