"""MathQA: word problems with formulas in two notations, which become nested plans.

``annotated_formula`` is a tree of calls; in post-order, each operand that is a call becomes a
reference (repeated subexpressions stay repeated, as in NESTful v2). ``linear_formula`` says the same
as a list of steps, in which ``#k`` is the result of step k, ``nk`` the k-th number of the problem,
and repeated subexpressions are shared.

Source: repository shaigue/mathqa at 175079e, folder ``data/MathQA``; NESTful paper, section 3.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any

from planner_eval.benchmarks.datasets.published import Sample, choose_parts, load_records
from planner_eval.execution.nestful_basic import OFFICIAL_FUNCTIONS
from planner_eval.plan.model import Diagnostic

# ----------------------------------------------------------------------
# MathQA's two notations, and what they compute.
#
# A *tree* is ``(operation, operand, …)``; an operand is a tree or a token of the text. A nested formula is
# one tree; in a list of steps an operand is a token, or the number of an earlier step.
Node = tuple[Any, ...]
"""A call: (operation, operand, …)."""

LIST_OPERATIONS = frozenset({"max_number", "min_number"})
"""Functions that take one list in NESTful and several operands here."""

_TOKEN = re.compile(r"([a-z_0-9]++)\(|([^(), ]++(?:,[^(), ]++)*+)|(\))|(, )")
_STEP = re.compile(r"\s*([a-z_0-9]++)\((.*)\)\s*", re.DOTALL)
_NUMBER = re.compile(r"\d++(?:,\d++)*+(?:\.\d++)?|\.\d++")
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_NAMED_CONSTANTS = {"const_pi": math.pi, "const_deg_to_rad": math.pi / 180}
_MAX_BITS = 1_000_000
"""A result of more bits is not computed."""


# ---------------------------------------------------------------- text to tree and steps
def read_tree(formula: str) -> Node:
    """The tree of a nested formula; operands that are no calls stay text.

    A comma without a blank after it belongs to the operand: ``1,000`` is one.

    Raises:
        ValueError: the text is no nested call; says where.

    >>> read_tree("add(const_100, divide(1,000, 2))")
    ('add', 'const_100', ('divide', '1,000', '2'))
    """
    stack: list[list[Any]] = [[]]
    position = 0
    while position < len(formula):
        match = _TOKEN.match(formula, position)
        if match is None or (match[3] and len(stack) == 1):
            raise ValueError(f"formula: found {formula[position : position + 20]!r} at character {position}")
        position = match.end()
        if match[1]:
            stack.append([match[1]])
        elif match[2]:
            stack[-1].append(match[2])
        elif match[3]:
            stack[-2].append(tuple(stack.pop()))
    if len(stack) != 1 or len(stack[0]) != 1 or not isinstance(stack[0][0], tuple):
        raise ValueError("formula: expected one nested call with all its brackets closed")
    return stack[0][0]


def read_steps(text: str, numbers: Sequence[str]) -> list[Node]:
    """The steps of a linear formula; ``#k`` becomes k, ``nk`` the k-th given number.

    Args:
        text: Steps between bars; a bar may stand at the end.
        numbers: The numbers of the problem; an ``nk`` beyond them stays as it is.

    Raises:
        ValueError: a step is no call, or refers to a step that is not before it.

    >>> read_steps("add(n1,const_100)|divide(#0,n0)|", ["5", "31.1"])
    [('add', '31.1', 'const_100'), ('divide', 0, '5')]
    """
    steps: list[Node] = []
    for number, step in enumerate(text.removesuffix("|").split("|")):
        match = _STEP.fullmatch(step)
        if match is None:
            raise ValueError(f"step {number}: {step[:40]!r} is not a call")
        operands = [operand.strip() for operand in match[2].split(",")]
        for operand in operands:
            if operand.startswith("#") and not (operand[1:].isdecimal() and int(operand[1:]) < number):
                raise ValueError(f"step {number}: {operand!r} is not an earlier step")
        steps.append((match[1], *(_resolve(operand, numbers) for operand in operands)))
    return steps


def _resolve(operand: str, numbers: Sequence[str]) -> str | int:
    digits = operand[1:]
    if operand.startswith("#"):
        return int(digits)
    if operand[:1] == "n" and digits.isdecimal() and len(digits) < 6 and int(digits) < len(numbers):
        return numbers[int(digits)]
    return operand


def numbers(problem: str) -> list[str]:
    """The numbers of a problem's text as written, in order: what ``n0``, ``n1`` … stand for.

    >>> numbers("rs . 1,000 at 14 % for 2.5 years")
    ['1,000', '14', '2.5']
    """
    return _NUMBER.findall(problem)


def value(token: str) -> int | float | str:
    """An operand as a value; text that is no number stays text.

    >>> [value(t) for t in ("5", "31.1", "1,000", "const_100", "const_0_25", "const_2.0", "3,5")]
    [5, 31.1, 1000, 100, 0.25, 2.0, '3,5']
    """
    if token in _NAMED_CONSTANTS:
        return _NAMED_CONSTANTS[token]
    written = token.removeprefix("const_").replace("_", ".") if token.startswith("const_") else token
    if _THOUSANDS.fullmatch(written):
        written = written.replace(",", "")
    try:
        return int(written) if written.isdecimal() and len(written) < 4000 else float(written)
    except ValueError:
        return token


# ---------------------------------------------------------------- trees as steps, steps as plans
def steps_of(tree: Node) -> list[Node]:
    """The steps of a tree: its calls in post-order.

    >>> steps_of(read_tree("add(20, multiply(divide(25, const_100), 80))"))
    [('divide', '25', 'const_100'), ('multiply', 0, '80'), ('add', '20', 1)]
    """
    steps: list[Node] = []
    numbers: dict[int, int] = {}
    stack: list[tuple[Node, bool]] = [(tree, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            operands = [numbers[id(o)] if isinstance(o, tuple) else o for o in node[1:]]
            numbers[id(node)] = len(steps)
            steps.append((node[0], *operands))
        else:
            stack.append((node, True))
            stack += [(operand, False) for operand in reversed(node[1:]) if isinstance(operand, tuple)]
    return steps


def plan_of_steps(steps: Sequence[Node]) -> list[dict[str, Any]]:
    """The NESTful plan of steps: one call a step, labels in order, one output ``result``.

    >>> for call in plan_of_steps([("divide", "25", "const_100"), ("max_number", 0, "80")]): print(call)
    {'name': 'divide', 'label': '$var_1', 'arguments': {'arg_0': 25, 'arg_1': 100}}
    {'name': 'max_number', 'label': '$var_2', 'arguments': {'arg_0': ['$var_1.result$', 80]}}
    """
    plan = []
    for number, (name, *step_operands) in enumerate(steps, 1):
        operands: list[Any] = [
            f"$var_{operand + 1}.result$" if isinstance(operand, int) else value(operand)
            for operand in step_operands
        ]
        arguments = {f"arg_{k}": o for k, o in enumerate([operands] if name in LIST_OPERATIONS else operands)}
        plan.append({"name": name, "label": f"$var_{number}", "arguments": arguments})
    return plan


# ---------------------------------------------------------------- what steps compute
def compute(steps: Sequence[Node]) -> Any:
    """What a formula computes with NESTful's functions and a real square root: the value of its last step.

    Raises:
        ArithmeticError: a division by zero, or a result too large to be written.
        ValueError: a function has no value there.
        TypeError: an operand is not a number, or of the wrong kind.
        LookupError: an operation is none of NESTful's functions.

    >>> compute(steps_of(read_tree("add(20, divide(1,000, sqrt(16)))")))
    270.0
    """
    results: list[Any] = []
    for name, *step_operands in steps:
        operands = [results[o] if isinstance(o, int) else value(o) for o in step_operands]
        if any(isinstance(operand, str) for operand in operands):
            raise TypeError(f"{name}: an operand is not a number")
        _check_size(name, operands)
        function: Any = math.sqrt if name == "sqrt" else OFFICIAL_FUNCTIONS[name]
        results.append(function(operands) if name in LIST_OPERATIONS else function(*operands))
    return results[-1]


def _check_size(name: str, operands: Sequence[Any]) -> None:
    """Refuse what would take long or fill the memory.

    Raises:
        OverflowError: the result could have more than a million bits.
    """
    numbers = [abs(operand) for operand in operands]
    large = name in ("factorial", "choose", "permutation") and max(numbers, default=0) > 1000
    if name == "power" and len(numbers) == 2 and isinstance(operands[0], int) and numbers[0] > 1:
        large = operands[1] * operands[0].bit_length() > _MAX_BITS  # a negative exponent gives a small float
    if large or any(isinstance(operand, int) and operand.bit_length() > _MAX_BITS for operand in operands):
        raise OverflowError(f"{name} of these operands is too large")


# ----------------------------------------------------------------------
# MathQA: word problems with formulas, which become nested plans the way NESTful's were made from them.
SPLITS = ("test", "challenge_test", "train", "dev")
_FIELDS = ("Problem", "Rationale", "options", "correct", "annotated_formula", "linear_formula", "category")
_MOJIBAKE = re.compile(r"[âã]\s?[^a-z0-9\s.,]|\ufffd")


def read_mathqa(folder: Path, *, split: str | None = None) -> Iterator[Sample]:
    """The problems of all splits that the folder holds, or of one.

    ``gold`` is a NESTful plan, ``category`` the problem's kind, ``id`` the split and the position
    (``test-17``). ``extra`` holds ``linear`` (the plan that the step list says), ``formula``,
    ``read_options`` (letter → text), ``correct`` (a letter), ``rationale``, ``split`` and ``diagnostics``.

    Args:
        folder: Holds ``test.json``, ``challenge_test.json`` …
        split: One of :data:`SPLITS`; None for all that are there.

    Raises:
        DatasetError: none of the files is there, one cannot be read, or is no list.
    """
    for name in choose_parts(folder, "MathQA", {name: f"{name}.json" for name in SPLITS}, split):
        for position, record in enumerate(load_records(folder / f"{name}.json")):
            yield _sample(name, position, record if isinstance(record, dict) else {})


def _sample(split: str, position: int, record: Mapping[str, Any]) -> Sample:
    missing = [key for key in _FIELDS if not isinstance(record.get(key), str)]
    notes = [Diagnostic("dataset.record", f"no text in {', '.join(missing)}", "error")] if missing else []
    text = {key: str(record.get(key) or "") for key in _FIELDS}
    formula, steps = None, None
    try:
        formula = steps_of(read_tree(text["annotated_formula"]))
        steps = read_steps(text["linear_formula"], numbers(text["Problem"]))
    except ValueError as problem:
        notes.append(Diagnostic("dataset.formula", str(problem), "error"))
    notes += findings(text, formula, steps)
    extra = {
        "split": split,
        "formula": text["annotated_formula"],
        "linear": [] if steps is None else plan_of_steps(steps),
        "options": read_options(text["options"]),
        "correct": text["correct"],
        "rationale": text["Rationale"],
        "diagnostics": tuple(notes),
    }
    gold = [] if formula is None else plan_of_steps(formula)
    return Sample(f"{split}-{position}", text["Problem"], None, gold, "nestful", text["category"], extra)


def read_options(text: str) -> dict[str, str]:
    """The offered answers by letter; the text may be that of a Python list.

    >>> read_options("a ) 38 , b ) 27.675"), read_options("['a ) 2 : 3', 'b ) 4 : 5']")
    ({'a': '38', 'b': '27.675'}, {'a': '2 : 3', 'b': '4 : 5'})
    """
    pieces = re.split(r"(?:^|[\s,'\"\[])([a-e]) \)", text)
    return {
        letter: answer.strip(" ,'\"[]") for letter, answer in zip(pieces[1::2], pieces[2::2], strict=True)
    }


# ---------------------------------------------------------------- what is irregular
def findings(
    text: Mapping[str, str], formula: Sequence[Node] | None, steps: Sequence[Node] | None
) -> Iterator[Diagnostic]:
    """What is irregular in one problem.

    Args:
        text: The record's fields.
        formula: The steps of its formula, when it could be read.
        steps: Its step list, when it could be read.
    """
    if text["options"].lstrip('" ').startswith("["):
        yield Diagnostic("dataset.options_list", "options is the text of a Python list", "info")
    if text["linear_formula"].endswith("|"):
        yield Diagnostic("dataset.open_end", "the step list ends with a bar", "info")
    if _MOJIBAKE.search(text["Rationale"]):
        yield Diagnostic("dataset.mojibake", "the rationale was decoded with a wrong codec", "info")
    if formula is None or steps is None:
        return
    calls = formula[::-1]
    if len(calls) != len(steps):
        message = f"{len(calls)} operations in the formula, {len(steps)} in the step list"
        yield Diagnostic("dataset.shared", message, "info")
    if not _is_same_formula(formula, steps):
        yield Diagnostic("dataset.steps_differ", "formula and step list disagree")
    can_run = True
    for finding in _call_findings(calls):
        yield finding
        can_run = can_run and finding.code not in (
            "dataset.unknown_tool",
            "dataset.operands",
            "dataset.number",
        )
    if can_run:
        yield from _value_findings(formula)


def _call_findings(calls: Sequence[Node]) -> Iterator[Diagnostic]:
    """What is irregular in the names of operations, then in the tokens of operands."""
    for name in dict.fromkeys(call[0] for call in calls):
        if name in LIST_OPERATIONS:
            yield Diagnostic(
                "dataset.list_argument", f"{name} takes its operands as a list in NESTful", "info"
            )
        elif name not in OFFICIAL_FUNCTIONS:
            yield Diagnostic("dataset.unknown_tool", f"{name} is not one of NESTful's functions")
        else:
            parameters = signature(OFFICIAL_FUNCTIONS[name]).parameters.values()
            least = sum(p.default is p.empty for p in parameters)
            for size in (len(call) - 1 for call in calls if call[0] == name):
                if not least <= size <= len(parameters):
                    message = f"{name} takes {len(parameters)} operands, found {size}"
                    yield Diagnostic("dataset.operands", message)
    for token in dict.fromkeys(operand for call in calls for operand in call[1:] if isinstance(operand, str)):
        number = value(token)
        if isinstance(number, str):
            yield Diagnostic("dataset.number", f"{token!r} is not a number")
        elif "," in token:
            message = f"{token!r} has thousands separators; read as {number}"
            yield Diagnostic("dataset.thousands", message, "info")
        elif token.startswith("const_") and "." in token:
            message = f"{token!r} is spelled differently from all other constants"
            yield Diagnostic("dataset.constant", message, "info")


def _value_findings(steps: Sequence[Node]) -> Iterator[Diagnostic]:
    try:
        result = compute(steps)
        if not isinstance(result, complex) and abs(float(result)) != float("inf"):
            return
        message = "the result is not a finite real number"
    except (ArithmeticError, ValueError, TypeError) as problem:
        message = str(problem)
    yield Diagnostic("dataset.value", f"the formula has no value that can be compared: {message}")


_COMMUTATIVE = frozenset({"add", "multiply", "max", "min", "max_number", "min_number", "gcd", "lcm"})


def _is_same_formula(formula: Sequence[Node], steps: Sequence[Node]) -> bool:
    """Whether the last steps mean the same, operands of commutative operations in any order."""
    ids: dict[tuple[Any, ...], int] = {}  # of one operation on the same operands there is one

    def last_id(listed: Sequence[Node]) -> int:
        step_ids: list[int] = []
        for name, *step_operands in listed:
            operands = [(step_ids[o],) if isinstance(o, int) else _operand_key(o) for o in step_operands]
            if name in _COMMUTATIVE:
                operands.sort(key=repr)
            step_ids.append(ids.setdefault((name, *operands), len(ids)))
        return step_ids[-1]

    return last_id(formula) == last_id(steps)


def _operand_key(token: str) -> Any:
    number = value(token)
    return float(number) if isinstance(number, int) else number
