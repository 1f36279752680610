"""The command lines that both sides run, in their order; a command that click has and no line calls is named.

Paths are those of the folder that both sides work in; REFERENCE begins those of the reference material, and
such lines are left out where there is none. A command that has ``--format`` runs once in each of its formats
that is text, where its line names none.
"""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

BINARY = ("png", "pdf")
"""Formats whose bytes hold dates, or are another library's."""

BENCHMARKS = ("appbench", "callnavi", "complexfuncbench", "functionchat", "nestful")

_DEMO = "data/demo/pred.jsonl data/demo/gold.jsonl"
_ONE = "data/demo/pred.json data/demo/gold.json"

LINES = [
    f"diff {_ONE}",
    f"diff {_DEMO}",
    f"diff {_DEMO} --policy strict --repair",
    "diff data/demo/tuned.jsonl data/demo/gold.jsonl --structure --format json",
    "diff data/demo/pred.jsonl data/demo/gold.jsonl --id trip-missing",
    f"diff {_ONE} --places --format text",
    f"diff {_ONE} --structure --format text",
    f"diff {_ONE} --all --format text",
    f"diff {_ONE} --patch -o patch.json",
    f"diff {_DEMO} --patch -o patches.jsonl",
    "convert data/demo/pred.json --patch patch.json",
    "convert data/demo/pred.jsonl --patch patches.jsonl",
    "diff pred.jsonl gold.jsonl --format jsonl",
    "score pred.jsonl gold.jsonl --causes --metric all --by calls --format json",
    f"score {_DEMO}",
    f"score {_DEMO} --all --format text",
    f"score {_DEMO} --strict --causes --policy lenient",
    f"score {_DEMO} -o base/",
    "score data/demo/tuned.jsonl data/demo/gold.jsonl -o tuned/",
    "compare data/demo/pred.jsonl data/demo/tuned.jsonl --gold data/demo/gold.jsonl",
    "table base=base tuned=tuned --metric exact --metric calls --metric references",
    "report data/demo/pred.jsonl data/demo/tuned.jsonl --gold data/demo/gold.jsonl --causes",
    "parse data/demo/pred.jsonl",
    "parse data/demo/traces.jsonl",
    "parse gold.jsonl --format jsonl",
    f"convert {_DEMO} --to plan --loss",
    "convert data/demo/gold.jsonl --to pythonic --loss",
    "render data/demo/gold.json",
    "render data/demo/gold.jsonl --id trip-same",
    "stats data/demo/gold.jsonl",
    "stats gold.jsonl --format json",
    "stats data/demo/traces.jsonl",
    "check data/demo/gold.jsonl --catalog data/catalogs/nestful.json",
    "check data/demo/pred.jsonl --catalog data/catalogs/rates.json",
    "check data/demo/traces.jsonl --level info",
    "check data/worlds/library.txt --catalog world:library",
    "suggest data/demo/pred.jsonl --catalog data/catalogs/rates.json",
    "suggest pred.jsonl --catalog data/catalogs/nestful.json --format json",
    "execute data/worlds/library.txt --tools world:library --isolation inline",
    "execute data/samples/nestful/v2/nestful_data.jsonl --tools nestful --isolation inline",
    f"diff {_DEMO} --execute nestful --format json",
    f"shrink {_DEMO} --id trip-value --code argument.value",
    "shrink data/samples/answers/callnavi.jsonl data/samples/callnavi --id hr02 --differs official:corrected"
    " --benchmark callnavi",
    "agree data/samples/verdicts/judge.jsonl data/samples/verdicts/human.csv",
    "catalog show data/catalogs/rates.json",
    "catalog convert data/catalogs/rates.json --to openai --loss",
    "catalog convert world:appbench --to openai --loss",
    "catalog grammar data/catalogs/rates.json --dialect pythonic --to gbnf --max-calls 2",
    "catalog grammar data/catalogs/rates.json --dialect plan --to json-schema",
    "data list",
    "data coverage data/demo/gold.jsonl --catalog data/catalogs/rates.json",
    "data coverage gold.jsonl --format json",
    "data duplicates data/demo/gold.jsonl data/demo/tuned.jsonl",
    "data make --tools world:library -n 5 --seed 2",
    "data make --tools nestful -n 5 --seed 2 --depth 3",
    "dialects",
    "dialects appbench",
    "doctor",
    "explain",
    "explain check",
    "explain argument.value",
    "schema",
    "selftest",
    "predict data/samples/callnavi --benchmark callnavi --pipeline route --dry-run",
    "predict data/samples/nestful --benchmark nestful --pipeline flat --dry-run",
    "predict data/samples/functionchat --benchmark functionchat --dry-run",
    "predict data/samples/bfcl --benchmark bfcl --dry-run",
]
_SCHEMAS = "settings policy world record plan wrappers theme patch prices datasets to-make report effects "
_SCHEMAS += "contrast comparison"
LINES += [f"schema {name}" for name in _SCHEMAS.split()]
for _name in (*BENCHMARKS, "mathqa"):
    _set = "nestful-v2" if _name == "nestful" else _name
    LINES += [
        f"stats {_set} --source data/samples", f"parse {_set} --source data/samples",
        f"data show {_set} --source data/samples", f"data verify {_set} --source data/samples",
        f"data check {_set} --source data/samples --confidence low",
        f"data coverage {_set} --source data/samples", f"data duplicates {_set} --source data/samples",
        f"data export data/samples/{_name} --benchmark {_name} --to chat-jsonl",
    ]  # fmt: skip
for _name in BENCHMARKS:
    _set = "nestful-v2" if _name == "nestful" else _name
    _answers = f"data/samples/answers/{_name}.jsonl"
    LINES += [
        f"score {_answers} data/samples/{_name} --benchmark {_name}",
        f"score {_answers} data/samples/{_name} --benchmark {_name} --details --format text",
        f"diff {_answers} {_set} --source data/samples",
        f"score {_answers} {_set} --source data/samples --policy {_name}",
    ]
_ANSWERS = "data/samples/answers/complexfuncbench.jsonl"
LINES += [
    "data check complexfuncbench --source data/samples --confidence low --format json -o doubts.json",
    f"score {_ANSWERS} complexfuncbench --source data/samples --gold-doubts doubts.json --format json",
    f"compare {_ANSWERS} {_ANSWERS} --gold complexfuncbench --source data/samples --gold-doubts doubts.json",
    f"score {_ANSWERS} data/samples/complexfuncbench --benchmark complexfuncbench --gold-doubts doubts.json",
    "agree data/samples/agents/week-1.jsonl --policy strict",
    "score data/samples/agents/week-1.jsonl data/samples/agents/week-1.jsonl",
    "score data/samples/agents/week-1.jsonl data/samples/agents/week-1.jsonl --only failures --policy strict",
    "compare data/samples/agents/week-1.jsonl data/samples/agents/week-2.jsonl"
    " --gold data/samples/agents/week-1.jsonl",
    "stats gold.jsonl --each --format csv",
    "diff pred.jsonl gold.jsonl --only failures --format junit",
    "score data/samples/answers/nestful.jsonl data/samples/nestful --benchmark nestful --tools nestful"
    " --isolation inline",
    "data check appbench --source REFERENCE/datasets --format json",
    "stats nestful-v1 --source REFERENCE/datasets --format json",
]


def benchmark_lines(folder: Path) -> Iterator[str]:
    """A line for each file of answers that the inputs hold: answers/<benchmark>-<what>.jsonl."""
    for path in sorted((folder / "answers").glob("*.jsonl")):
        name, _, what = path.stem.partition("-")
        setting = f" --set {what}" if "=" in what else ""
        where = "conversations" if name == "complexfuncbench" else f"REFERENCE/datasets/{name}"
        if name == "functionchat":  # the published code takes a file at a time
            where += f"/FunctionChat-{what}.jsonl"
        yield f"score answers/{path.name} {where} --benchmark {name}{setting} --format json"


def command_lines(folder: Path, reference: str | None) -> list[list[str]]:
    """All lines, as arguments."""
    lines = [*LINES, *benchmark_lines(folder)]
    return [
        shlex.split(line.replace("REFERENCE", reference or ""))
        for line in lines
        if reference or "REFERENCE" not in line
    ]


def words_of(name: Sequence[str], line: Sequence[str]) -> bool:
    """Whether a line calls the command of this name."""
    return list(line[: len(name)]) == list(name)
