"""One side of ``make same``: the answers of one tree's code, a line each.

It runs in an interpreter of its own, whose ``planner_eval`` is the tree's, and knows of it the public
functions and the command line alone: modules and names inside may be others on the other side.
"""

import gc
import io
import json
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import click

import planner_eval as pe

from .commands import BINARY, command_lines, words_of
from .inputs import make_inputs, read_lines

PATIENCE = 60
"""Seconds of processor time for one answer: not those of the clock, which other work takes as well."""
VARYING = re.compile(r'("?(?:seconds|elapsed|duration|took)"?\s*[:=]\s*)[0-9][0-9.e+-]*|\b[0-9.]+ m?s\b')
"""How long something took."""


RAISED = "raised "
"""How an answer begins that is none: an error of the program."""


class TooLate(BaseException):
    """An answer that does not come; no error that code might catch."""


def is_below(path: str, folder: Path) -> bool:
    return path.startswith(f"{folder}{os.sep}")


def guard(tree: Path, others: list[Path]) -> set[str]:
    """Have no file of another tree opened; gives the folders of this tree whose files are."""
    opened: set[str] = set()

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], (str, bytes)):
            path = os.fsdecode(arguments[0])
            if any(is_below(path, other) for other in others):
                raise AssertionError(f"the code of {tree} opens {path}")
            if is_below(path, tree):
                opened.add(path[len(str(tree)) + 1 :].partition(os.sep)[0])

    found = Path(pe.__file__).resolve().parents[1]
    assert found == tree, f"planner_eval is that of {found}, not of {tree}"
    sys.addaudithook(watch)
    return opened


def in_time(answer: Callable[[], str]) -> str:
    """An answer, or what it raises; no error ends a side."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise TooLate

    signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        return answer()
    except TooLate:
        return f"no answer in {PATIENCE} seconds"
    except pe.PlanevalError as error:
        return f"{type(error).__name__}: {error}"
    except Exception as error:
        return f"{RAISED}{type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def as_data(value: Any) -> Any:
    """A public result as JSON data, by the names that its documentation gives."""
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, (list, tuple)):
        return [as_data(item) for item in value]
    if isinstance(value, dict):
        return {str(key): as_data(item) for key, item in value.items()}
    return str(value)


def place(value: Any) -> Any:
    return None if value is None else as_data([value.call, value.argument, value.at])


def edit(value: Any) -> Any:
    parts = ("code", "message", "pred_value", "gold_value", "cause", "also")
    data = {part: as_data(getattr(value, part)) for part in parts}
    return data | {"pred": place(value.pred), "gold": place(value.gold)}


def counts(value: Any) -> Any:
    parts = ("hit", "pred", "gold", "precision", "recall", "f1", "part", "whole", "value")
    return {part: as_data(getattr(value, part)) for part in parts if hasattr(value, part)}


def dump(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False)


def plan_text(plan: pe.Plan) -> str:
    """All of a plan: its canonical text, in which notation and why, and what reading had to say."""
    edges = [as_data([e.producer, e.consumer, e.argument, e.at, e.path, e.inferred]) for e in plan.edges]
    said, spans = [[d.code, d.message] for d in plan.diagnostics], [as_data(call.span) for call in plan.calls]
    head = {"dialect": plan.dialect, "reason": plan.reason, "edges": edges}
    head |= {"diagnostics": said, "spans": spans}
    return f"{dump(head)}\n{pe.write(plan, 'plan')}"


def drawn_text(text: str, **options: Any) -> str:
    """How a text reads, and its plan as people are shown it."""
    plan = pe.parse(text, **options)
    return f"{plan_text(plan)}\n{plan}\n{pe.stats(plan)}"


def diff_text(pred: Any, gold: Any, policy: str = "default") -> str:
    found = pe.diff(pred, gold, policy)
    data = {"same": found.same, "proved": found.proved, "edits": list(map(edit, found.edits))}
    data |= {"calls": as_data([*found.calls()]), "edges": as_data([*found.edges()])}
    return f"{dump(data)}\n{found}\n{as_data(found.first)}"


def structure_text(pred: Any, gold: Any) -> str:
    return str(pe.compare_structure(pred, gold))


def score_text(pred: Any, gold: Any, policy: str) -> str:
    return "\n".join(f"{name}: {dump(counts(v))}" for name, v in pe.score(pred, gold, policy).items())


def same_text(pred: pe.Plan, gold: pe.Plan) -> str:
    return str(pe.same(pred, gold))


def pair_answers(folder: Path) -> Iterator[tuple[str, str]]:
    """What the library says of each planted pair; of a gold plan where it comes first."""
    golds: dict[str, pe.Plan | None] = {}

    def read(text: str, repair: bool, plans: list[pe.Plan]) -> str:
        plans.append(pe.parse(text, repair=repair))
        return plan_text(plans[0])

    for row in read_lines(folder / "pairs.jsonl"):
        preds: list[pe.Plan] = []
        yield f"pair {row['id']} pred", in_time(partial(read, row["pred"], True, preds))
        if row["gold"] not in golds:
            plans: list[pe.Plan] = []
            yield f"pair {row['id']} gold", in_time(partial(read, row["gold"], False, plans))
            golds[row["gold"]] = plans[0] if plans else None
        gold = golds[row["gold"]]
        if preds and gold:
            yield f"pair {row['id']} diff", in_time(partial(diff_text, preds[0], gold, row["policy"]))
            yield f"pair {row['id']} structure", in_time(partial(structure_text, preds[0], gold))
            yield f"pair {row['id']} score", in_time(partial(score_text, preds[0], gold, row["policy"]))
            yield f"pair {row['id']} same", in_time(partial(same_text, preds[0], gold))


def raw_answers(folder: Path) -> Iterator[tuple[str, str]]:
    """How each text reads, strictly, repaired and by the grammar, and how it differs from its neighbours."""
    rows = list(read_lines(folder / "raw.jsonl"))
    for number, row in enumerate(rows):
        text, after = row["text"], rows[(number + 1) % len(rows)]["text"]
        functions = {
            "parsed": partial(drawn_text, text), "repaired": partial(drawn_text, text, repair=True),
            "parsed by the grammar": partial(drawn_text, text, reader="grammar"),
            "against the next": partial(diff_text, text, after),
            "under the next": partial(diff_text, after, text),
        }  # fmt: skip
        for name, function in functions.items():
            yield f"text {row['id']} {name}", in_time(function)


def run_command(line: list[str]) -> str:
    """One command in this interpreter: its exit code and all that it prints."""
    from planner_eval.__main__ import main

    streams = (sys.argv, sys.stdin, sys.stdout, sys.stderr)
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    sys.argv, sys.stdin = ["planeval", *line], io.TextIOWrapper(io.BytesIO(), "utf-8")
    sys.stdout, sys.stderr = out, err
    code: Any = 0
    try:
        main()
    except SystemExit as end:
        code = end.code or 0
    finally:
        sys.argv, sys.stdin, sys.stdout, sys.stderr = streams
        gc.unfreeze()
        gc.set_threshold(50_000, 20, 20)
    texts = []
    for stream in (out, err):
        stream.seek(0)  # which writes what it still holds
        texts.append(stream.buffer.read().decode(errors="replace"))
    return f"exit {code}\n{texts[0]}\n--- standard error\n{texts[1]}"


def commands() -> dict[tuple[str, ...], click.Command]:
    """Each command of the command line, as click has it."""
    groups: list[click.Command] = []
    original = click.Command.main

    def remember(self: click.Command, *arguments: Any, **options: Any) -> Any:
        groups.append(self)
        return original(self, *arguments, **options)

    click.Command.main = remember  # type: ignore[method-assign]
    try:
        run_command(["--help"])
    finally:
        click.Command.main = original  # type: ignore[method-assign]

    def below(command: click.Command, name: tuple[str, ...]) -> Iterator[tuple[Any, click.Command]]:
        if isinstance(command, click.Group):
            context = click.Context(command)
            for part in command.list_commands(context):
                if found := command.get_command(context, part):
                    yield from below(found, (*name, part))
        else:
            yield name, command

    return dict(below(groups[0], ()))


def text_formats(command: click.Command) -> list[str]:
    """What the command offers as ``--format``, but for what is no text."""
    for option in command.params:
        if "--format" in option.opts and isinstance(option.type, click.Choice):
            return [str(choice) for choice in option.type.choices if choice not in BINARY]
    return []


def in_formats(line: list[str], found: Mapping[tuple[str, ...], click.Command]) -> list[list[str]]:
    """A command line in each format that is text, unless it names one."""
    name = next((name for name in found if words_of(name, line)), ())
    chosen = {"-o", "--patch", "--format"}.intersection(line)
    formats = text_formats(found[name]) if name and not chosen else []
    return [[*line, "--format", form] for form in formats] or [line]


def command_answers(folder: Path, reference: str | None) -> Iterator[tuple[str, str]]:
    """What each command prints, its help too; those that no line tries are an answer of their own."""
    found = commands()
    lines = command_lines(folder, reference)
    for name in found:
        yield f"planeval {' '.join(name)} --help", in_time(partial(run_command, [*name, "--help"]))
    untried = [name for name in found if not any(words_of(name, line) for line in lines)]
    yield UNTRIED, "\n".join(" ".join(name) for name in untried)
    for line in lines:
        for arguments in in_formats(line, found):
            yield f"planeval {' '.join(arguments)}", in_time(partial(run_command, arguments))


UNTRIED = "commands that are not tried"
PARTS: dict[str, Callable[[Path, str | None], Iterator[tuple[str, str]]]] = {
    "commands": command_answers,
    "texts": lambda folder, _: raw_answers(folder),
    "pairs": lambda folder, _: pair_answers(folder),
}


def write_answers(settings: dict[str, Any]) -> None:
    """Write a line an answer: the input's name, and the text."""
    tree, folder = Path(settings["tree"]), Path(settings["inputs"])
    opened = guard(tree, [Path(other) for other in settings["others"]])
    os.chdir(settings["work"])
    with Path(settings["answers"]).open("w", encoding="utf-8") as file:
        for part in settings["parts"]:
            for name, text in PARTS[part](folder, settings["reference"]):
                text = VARYING.sub(r"\1…", text.replace(str(tree), "TREE"))
                file.write(dump([name, text]) + "\n")
    missing = {"planner_eval", *settings["shipped"]} - opened
    assert not missing, f"no file of {tree} was opened in {', '.join(sorted(missing))}"


def main() -> None:
    """Do what the settings on the command line say."""
    settings = json.loads(sys.argv[1])
    if settings["task"] == "inputs":
        reference = Path(settings["reference"]) if settings["reference"] else None
        guard(Path(settings["tree"]), [Path(other) for other in settings["others"]])
        make_inputs(Path(settings["inputs"]), Path(settings["tree"]), reference, settings["pairs"])
    else:
        write_answers(settings)
