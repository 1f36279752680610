"""What both sides read: made once, by the base's public functions, and written to a folder."""

import gzip
import json
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import planner_eval as pe

from .planting import damage, join, plant, with_twins

SEED = 38
POLICIES = (*["default"] * 4, "strict", "lenient", "appbench", "nestful", "callnavi")
LARGE, TWINS = 0.35, 0.25
"""Shares of the pairs whose gold plan is joined of several, and has calls that are hard to tell apart."""
SAMPLE = 10
"""Of so many pairs one goes into the files that commands read."""


def write_lines(path: Path, records: Iterable[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records), encoding="utf-8")


def read_lines(path: Path) -> Iterator[Any]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def gold_plans(data: Path, reference: Path | None) -> dict[str, list[pe.Plan]]:
    """The gold plans of each data set: the published ones, and ours where they are not there."""
    samples = data / "samples"
    sources: dict[str, list[tuple[str, Path]]] = {
        "appbench": [("appbench", samples)], "nestful": [("nestful-v2", samples)],
        "callnavi": [("callnavi", samples)], "functionchat": [("functionchat", samples)],
        "complexfuncbench": [("complexfuncbench", samples)],
    }  # fmt: skip
    if reference:
        published = reference / "datasets"
        sources |= {name: [(name, published)] for name in ("appbench", "callnavi", "functionchat")}
        sources["nestful"] += [("nestful-v1", published)]
    records: dict[str, list[Any]] = defaultdict(list)
    for name, found in sources.items():
        for source, folder in found:
            records[name] += pe.read(source, folder=str(folder), role="gold").records
    if reference:
        v2 = reference / "datasets/nestful/v2/nestful_v2_collected.jsonl"
        records["nestful"] += [record["output"] for record in read_lines(v2)]
        conversations = read_lines(reference / "vectors/complexfuncbench/cases.jsonl.gz")
        records["complexfuncbench"] += [c["conversations"] for c in conversations if c["kind"] == "conv"]
    plans: dict[str, list[pe.Plan]] = defaultdict(list)
    for name, found in records.items():
        for record in found:
            try:
                plans[name].append(pe.parse(record))
            except pe.PlanevalError:  # a sample whose right answer is words, or an irregular one
                continue
    return plans


def write_plan(plan: Any, dialect: str) -> str:
    """A plan's text in a dialect; in the interchange notation where the dialect cannot express it."""
    try:
        return pe.write(pe.parse(plan, dialect="plan"), dialect)
    except pe.PlanevalError:
        return json.dumps(plan, ensure_ascii=False)


def planted_pairs(plans: dict[str, list[pe.Plan]], count: int) -> Iterator[dict[str, Any]]:
    """Pairs of a gold plan and one with faults, the same number of each data set."""
    dialects = [entry.name for entry in pe.list_dialects() if entry.written == "yes"]
    for name, golds in plans.items():
        order = Random(f"{SEED} {name}").sample(range(len(golds)), len(golds))
        for number in range(count // len(plans)):
            random = Random(f"{SEED} {name} {number}")
            chosen = golds[order[number % len(order)]]
            own = chosen.dialect or "plan"
            gold = json.loads(pe.write(chosen, "plan"))
            if random.random() < LARGE:
                more = random.sample(golds, min(len(golds), random.randint(1, 3)))
                gold = join([gold, *(json.loads(pe.write(plan, "plan")) for plan in more)])
            if random.random() < TWINS:
                gold = with_twins(gold, random)
            planted, faults = plant(gold, random)
            dialect = random.choice([own, own, "plan", random.choice(dialects)])
            text = write_plan(planted, dialect)
            if random.random() < 0.08:
                text, what = damage(text, random)
                faults.append(what)
            yield {
                "id": f"{name}-{number:04}", "policy": random.choice(POLICIES), "faults": faults,
                "pred": text, "gold": write_plan(gold, own),
            }  # fmt: skip


def raw_texts(data: Path, reference: Path | None) -> Iterator[dict[str, Any]]:
    """The genuine outputs of models, the examples of all notations, the demo's texts."""
    if reference:
        for row in read_lines(reference / "datasets/raw_outputs/raw_outputs.jsonl"):
            yield {"id": row["id"], "text": row["text"]}
    for entry in pe.list_dialects():
        yield {"id": f"example of {entry.name}", "text": entry.example}
    for record in read_lines(data / "demo/pred.jsonl"):
        text = record["output"]
        yield {"id": f"demo {record['id']}", "text": text if isinstance(text, str) else json.dumps(text)}


def vector_answers(reference: Path) -> Iterator[tuple[str, str, Any, dict[str, Any]]]:
    """The predictions of the reference vectors: benchmark, group, id, record."""
    vectors = reference / "vectors"
    for row in read_lines(vectors / "appbench/pred.jsonl.gz"):
        yield "appbench", "", f"{row['set']}-{row['idx']}", {"prediction": row["text"]}
    for row in read_lines(vectors / "nestful/pred.jsonl.gz"):
        version, _, part = row["set"].partition("_")
        if version == "v1":
            kind = f"model={row['dialect']}" if row["perturbation"].startswith("dialect:") else ""
            yield "nestful", kind, f"{part}-{row['idx']}", {"generated_text": row["text"]}
    for row in read_lines(vectors / "callnavi/pred.jsonl.gz"):
        yield "callnavi", "", row["id"], {"prediction": row["raw"]}
    for row in read_lines(vectors / "callnavi/routing.jsonl.gz"):
        yield "callnavi", "task=routing", row["id"], {"prediction": row["raw"]}
    for row in read_lines(vectors / "functionchat/cases.jsonl.gz"):
        if row["kind"] == "exact":
            parts = [row["dataset"], str(row["serial_num"]), row.get("tools_type") or ""]
            part = row["dataset"].capitalize()
            yield "functionchat", part, "-".join(filter(None, parts)), {"output": row["output"]}


def benchmark_answers(reference: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Files of answers: of each sample two of its perturbed ones, of each model's notation one."""
    choices: dict[tuple[str, str], dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for benchmark, group, id_, record in vector_answers(reference):
        choices[benchmark, group][id_].append(record)
    for (benchmark, group), answers in choices.items():
        random = Random(f"{SEED} {benchmark} {group}")
        for number in (1, 2) if not group else (1,):
            name = f"{benchmark}-{group or number}"
            yield name, [{"id": id_, **random.choice(records)} for id_, records in answers.items()]


def conversations(reference: Path) -> tuple[list[Any], list[Any]]:
    """ComplexFuncBench's cases as samples in the published layout, and the scripts as answers."""
    functions, samples, answers = None, [], []
    for row in read_lines(reference / "vectors/complexfuncbench/cases.jsonl.gz"):
        functions = functions or row.get("functions")
        if row["kind"] == "conv":
            samples.append({"id": row["id"], "conversations": row["conversations"], "functions": functions})
            turns: list[Any] = [{"role": "assistant", "function_call": calls} for calls in row["script"]]
            turns.append({"role": "assistant", "content": row["final"]})
            answers.append({"id": row["id"], "conversations": turns})
    return samples, answers


def make_inputs(folder: Path, tree: Path, reference: Path | None, count: int) -> None:
    """Write all inputs."""
    data = folder / "data"
    shutil.copytree(tree / "data", data)
    pairs = list(planted_pairs(gold_plans(data, reference), count))
    write_lines(folder / "pairs.jsonl", pairs)
    chosen = pairs[::SAMPLE]
    write_lines(folder / "pred.jsonl", ({"id": p["id"], "output": p["pred"]} for p in chosen))
    write_lines(folder / "gold.jsonl", ({"id": p["id"], "output": p["gold"]} for p in chosen))
    write_lines(folder / "raw.jsonl", raw_texts(data, reference))
    if reference:
        for name, records in benchmark_answers(reference):
            write_lines(folder / "answers" / f"{name}.jsonl", records)
        samples, answers = conversations(reference)
        write_lines(folder / "conversations" / "ComplexFuncBench.jsonl", samples)
        shutil.copy(reference / "datasets/complexfuncbench/exact_match_values.json", folder / "conversations")
        write_lines(folder / "answers" / "complexfuncbench-1.jsonl", answers)
