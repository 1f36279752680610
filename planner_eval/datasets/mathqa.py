"""MathQA: word problems with formulas, which become nested plans the way NESTful's were made from them.

``annotated_formula`` is a tree of calls; in post-order, each operand that is a call becomes a
reference (repeated subexpressions stay repeated, as in NESTful v2). ``linear_formula`` says the same
as a list of steps, in which ``#k`` is the result of step k, ``nk`` the k-th number of the problem,
and repeated subexpressions are shared.

Source: repository shaigue/mathqa at 175079e, folder ``data/MathQA``; NESTful paper, section 3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

from planner_eval.base.errors import DatasetError
from planner_eval.comparison.operands import EITHER_ORDER
from planner_eval.datasets.files import load_json
from planner_eval.datasets.formulas import (
    LISTED,
    Node,
    compute,
    nodes,
    numbers,
    plan_of_steps,
    plan_of_tree,
    read_steps,
    read_tree,
    value,
)
from planner_eval.datasets.sample import Sample
from planner_eval.execution.tools.nestful_basic import OFFICIAL
from planner_eval.plan.model import Diagnostic

SPLITS = ("test", "challenge_test", "train", "dev")
_FIELDS = ("Problem", "Rationale", "options", "correct", "annotated_formula", "linear_formula", "category")
_MOJIBAKE = re.compile(r"[âã]\s?[^a-z0-9\s.,]|\ufffd")


def read_mathqa(folder: Path, *, split: str | None = None) -> Iterator[Sample]:
    """The problems of all splits that the folder holds, or of one.

    ``gold`` is a NESTful plan, ``category`` the problem's kind, ``id`` the split and the position
    (``test-17``). ``extra`` holds ``linear`` (the plan that the step list says), ``formula``,
    ``options`` (letter → text), ``correct`` (a letter), ``rationale``, ``split`` and ``diagnostics``.

    Args:
        folder: Holds ``test.json``, ``challenge_test.json`` …
        split: One of :data:`SPLITS`; None for all that are there.

    Raises:
        DatasetError: none of the files is there, one cannot be read, or is no list.
    """
    if split is not None and split not in SPLITS:
        raise DatasetError(f"MathQA has no split {split!r}; it has {', '.join(SPLITS)}")
    splits = [split] if split else [name for name in SPLITS if (folder / f"{name}.json").is_file()]
    if not splits:
        raise DatasetError(f"{folder}: none of {', '.join(f'{name}.json' for name in SPLITS)} is here")
    for name in splits:
        path = folder / f"{name}.json"
        records = load_json(path)
        if not isinstance(records, list):
            raise DatasetError(f"{path}: expected a list of problems, found a {type(records).__name__}")
        for position, record in enumerate(records):
            yield _sample(name, position, record if isinstance(record, dict) else {})


def _sample(split: str, position: int, record: Mapping[str, Any]) -> Sample:
    missing = [key for key in _FIELDS if not isinstance(record.get(key), str)]
    notes = [Diagnostic("dataset.record", f"no text in {', '.join(missing)}", "error")] if missing else []
    text = {key: str(record.get(key) or "") for key in _FIELDS}
    tree, steps = None, None
    try:
        tree = read_tree(text["annotated_formula"])
        steps = read_steps(text["linear_formula"], numbers(text["Problem"]))
    except ValueError as problem:
        notes.append(Diagnostic("dataset.formula", str(problem), "error"))
    notes += findings(text, tree, steps)
    extra = {
        "split": split,
        "formula": text["annotated_formula"],
        "linear": [] if steps is None else plan_of_steps(steps),
        "options": options(text["options"]),
        "correct": text["correct"],
        "rationale": text["Rationale"],
        "diagnostics": tuple(notes),
    }
    gold = [] if tree is None else plan_of_tree(tree)
    return Sample(f"{split}-{position}", text["Problem"], None, gold, "nestful", text["category"], extra)


def options(text: str) -> dict[str, str]:
    """The offered answers by letter; the text may be that of a Python list.

    >>> options("a ) 38 , b ) 27.675"), options("['a ) 2 : 3', 'b ) 4 : 5']")
    ({'a': '38', 'b': '27.675'}, {'a': '2 : 3', 'b': '4 : 5'})
    """
    pieces = re.split(r"(?:^|[\s,'\"\[])([a-e]) \)", text)
    return {
        letter: answer.strip(" ,'\"[]") for letter, answer in zip(pieces[1::2], pieces[2::2], strict=True)
    }


# ---------------------------------------------------------------- what is irregular
def findings(text: Mapping[str, str], tree: Node | None, steps: Sequence[Node] | None) -> list[Diagnostic]:
    """What is irregular in one problem.

    Args:
        text: The record's fields.
        tree: Its formula as a tree, when it could be read.
        steps: Its step list, when it could be read.
    """
    irregularities: list[Diagnostic] = []
    if text["options"].lstrip('" ').startswith("["):
        irregularities.append(
            Diagnostic("dataset.options_list", "options is the text of a Python list", "info")
        )
    if text["linear_formula"].endswith("|"):
        irregularities.append(Diagnostic("dataset.open_end", "the step list ends with a bar", "info"))
    if _MOJIBAKE.search(text["Rationale"]):
        irregularities.append(
            Diagnostic("dataset.mojibake", "the rationale was decoded with a wrong codec", "info")
        )
    if tree is None or steps is None:
        return irregularities
    calls = list(nodes(tree))
    if len(calls) != len(steps):
        message = f"{len(calls)} operations in the formula, {len(steps)} in the step list"
        irregularities.append(Diagnostic("dataset.shared", message, "info"))
    if not _agree(tree, steps):
        irregularities.append(Diagnostic("dataset.steps_differ", "formula and step list do not say the same"))
    call_findings = [
        finding for name, same in _by_name(calls).items() for finding in _name_findings(name, same)
    ]
    for token in dict.fromkeys(operand for node in calls for operand in node[1:] if isinstance(operand, str)):
        call_findings += _token_findings(token)
    runs = all(
        finding.code not in ("dataset.unknown_tool", "dataset.operands", "dataset.number")
        for finding in call_findings
    )
    return [*irregularities, *call_findings, *(_value_findings(tree) if runs else ())]


def _by_name(calls: Sequence[Node]) -> dict[str, list[Node]]:
    by_name: dict[str, list[Node]] = {}
    for call in calls:
        by_name.setdefault(call[0], []).append(call)
    return by_name


def _value_findings(tree: Node) -> Iterator[Diagnostic]:
    try:
        result = compute(tree)
        if not isinstance(result, complex) and abs(float(result)) != float("inf"):
            return
        message = "the result is no finite real number"
    except (ArithmeticError, ValueError, TypeError) as problem:
        message = str(problem)
    yield Diagnostic("dataset.value", f"the formula has no value that can be compared: {message}")


class _Step(NamedTuple):
    """A step by its number; steps of one operation on the same operands have one number."""

    number: int


def _agree(tree: Node, steps: Sequence[Node]) -> bool:
    """Whether the last step unfolds to the tree, operands of commutative operations in any order."""
    ids: dict[tuple[Any, ...], int] = {}

    def key(name: str, operands: list[Any]) -> _Step:
        if name in EITHER_ORDER:
            operands = sorted(operands, key=repr)
        return _Step(ids.setdefault((name, *operands), len(ids)))

    step_keys: list[_Step] = []
    for step in steps:
        step_keys.append(
            key(step[0], [step_keys[int(o[1:])] if o.startswith("#") else _plain(o) for o in step[1:]])
        )
    node_keys: dict[int, _Step] = {}
    for node in reversed(list(nodes(tree))):
        node_keys[id(node)] = key(
            node[0], [node_keys[id(o)] if isinstance(o, tuple) else _plain(o) for o in node[1:]]
        )
    return bool(step_keys) and node_keys[id(tree)] == step_keys[-1]


def _plain(token: str) -> Any:
    number = value(token)
    return float(number) if isinstance(number, int) else number


def _name_findings(name: str, nodes: Sequence[Node]) -> Iterator[Diagnostic]:
    if name in LISTED:
        yield Diagnostic("dataset.list_argument", f"{name} takes its operands as a list in NESTful", "info")
    elif name not in OFFICIAL:
        yield Diagnostic("dataset.unknown_tool", f"{name} is none of NESTful's functions")
    else:
        parameters = signature(OFFICIAL[name]).parameters.values()
        least = sum(p.default is p.empty for p in parameters)
        for node in nodes:
            if not least <= len(node) - 1 <= len(parameters):
                message = f"{name} takes {len(parameters)} operands, found {len(node) - 1}"
                yield Diagnostic("dataset.operands", message)


def _token_findings(token: str) -> Iterator[Diagnostic]:
    number = value(token)
    if isinstance(number, str):
        yield Diagnostic("dataset.number", f"{token!r} is no number")
    elif "," in token:
        yield Diagnostic("dataset.thousands", f"{token!r} has thousands separators; read as {number}", "info")
    elif token.startswith("const_") and "." in token:
        yield Diagnostic("dataset.constant", f"{token!r} is spelled like no other constant", "info")
