"""What a model wrote, in every form of output: no terminal is moved, no formula runs, no markup acts."""

import csv
import io
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import click
import pytest

from planner_eval.cli import COMMANDS
from tests.conftest import tables
from tests.fuzz_files import Done, run
from tests.modelserver import Answer, ModelServer, message

HOSTILE = tables(__file__)["HOSTILE"]
assert len(HOSTILE) == 30

TERMINAL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
ACTING = re.compile(r"<script>alert|<img src=x")
MARKUP = re.compile(r"<\w|(?<!\\)\]\(")


TABLES = ("text", "md", "tex", "csv", "svg")


ONE, TEXT = ("",), ("text",)


CALLS: dict[str, list[str]] = tables(__file__)["CALLS"]
"""Commands, and the forms that each writes."""
BARE = {"doctor", "selftest"}
"""Commands that tell nothing of anybody else's."""
ANSWERS = ["content", "call", "error", "model"]
ANSWERED = {("predict", ""), *(("table", form) for form in TABLES)}
"""What is called on the answers of a server, below."""
FOR_PROGRAMS = {f"catalog tools.json --dialect json --grammar {form}" for form in ("lark", "gbnf")}
"""What a program is to get as it is: escaped where it goes to a terminal, as notations are."""
SLOW = {"execute pred.jsonl --tools world:bank --seeds 1 --isolation inline"}
"""Rows that are tried with every fifth text, as what is drawn for print is."""
SHARES = [pytest.param(4, marks=pytest.mark.more), pytest.param(1, marks=pytest.mark.long)]
"""Every so many of the texts, beginning at another with each row, and all of them."""


def commands() -> Iterator[tuple[str, click.Command]]:
    for name, (module, _) in COMMANDS.items():
        module, _, variable = module.partition(":")
        found = getattr(import_module(f"planner_eval.cli.{module}"), variable or "command")
        inner = found.commands.items() if isinstance(found, click.Group) else [("", found)]
        yield from ((f"{name} {each}".strip(), command) for each, command in inner)


def forms_of(command: click.Command) -> list[str]:
    """What it writes: the choices of --format or --to; "" where there is one form."""
    said = [each for each in command.params if {"--format", "--to"} & set(each.opts)]
    return next((list(each.type.choices) for each in said if isinstance(each.type, click.Choice)), [""])


def test_every_command_is_tried_in_every_form() -> None:
    tried = set(ANSWERED)
    for command_line, forms in CALLS.items():
        argv = shlex.split(command_line)
        chosen = [argv[argv.index("--to") + 1]] if "--to" in argv else list(forms)
        tried |= {(name, form) for form in [*chosen, *forms] for name in (argv[0], " ".join(argv[:2]))}
    every = [(name, form) for name, command in commands() if name not in BARE for form in forms_of(command)]
    lacking = [" ".join(each).strip() for each in every if each not in tried]
    assert not lacking, f"add a row to CALLS for: {', '.join(lacking)}"


SAY = """
def say():
    print(TEXT)
    return {TEXT: [TEXT]}
def fail():
    raise type(TEXT.encode("ascii", "ignore").decode().replace(chr(0), "") or "E", (Exception,), {})(TEXT)
"""
"""Tools that give, print and raise a text."""


def lay(evil: str) -> None:
    """Files in which a text stands wherever text may stand."""
    call = {"name": f"f{evil}", "arguments": {"x": evil, evil or "k": [evil, {evil: 1}]}}
    other = {"name": evil or "g", "arguments": {"x": 1}}
    given = {"x": evil, evil or "k": f"${evil}.result$"}
    label = {"name": f"f{evil}", "label": f"$v{evil}$", "arguments": given}
    calls = [label, {**label, "name": "g"}]
    sample = {"sample_id": evil, "input": evil, "output": calls, "gold_answer": evil}
    moves = [{"op": "set", "id": "c1", "argument": evil, "value": evil}]
    moves += [{"op": "remove", "id": evil, "why": evil}]
    patch: dict[str, Any] = {"schema": "planeval.patch/1", "operations": moves}

    def tool(name: str, key: str, kind: str) -> dict[str, Any]:
        parameters = {"type": "object", "properties": {key: {"type": kind, "description": evil}}}
        return {"name": name, "description": evil, "parameters": parameters}

    texts = {
        "pred.json": json.dumps([call]), "broken.txt": f"f(x={evil}", "say.py": f"TEXT = {evil!a}\n{SAY}",
        "gold.json": json.dumps([{**call, "arguments": {"x": "fine"}}, other]),
        "say.json": json.dumps([{"name": "say", "arguments": {}}, {"name": "fail", "arguments": {}}]),
        "tools.json": json.dumps([tool(f"f{evil}", evil, "number")]),
        "doubts.json": json.dumps({"doubts": [{"record": r, "code": evil} for r in (evil, f"no {evil}")]}),
        "patch.json": json.dumps({**patch, "operations": moves[:1]}),
    }  # fmt: skip
    rows: dict[str, list[dict[str, Any]]] = {
        "pred": [{"id": evil, "output": [call], "kind": evil}, {"id": "b", "output": f"f({evil}"}],
        "gold": [{"id": evil, "gold": [other], "kind": evil}, {"id": "b", "gold": [call], "kind": evil}],
        "gold2": [{"id": evil, "output": [other]}, {"id": "b", "output": [other]}],
        "rewarded": [{"id": r, "output": [call], "gold": [other], "reward": 1} for r in (evil, "b")],
        "judge": [{"id": evil, "verdict": evil}, {"id": "b", "verdict": "pass"}],
        "human": [{"id": evil, "verdict": "pass"}, {"id": "b", "verdict": evil}],
        "bench/nestful_data": [sample | {"tools": [{"name": evil, "description": evil, "parameters": {}}]}],
        "answers": [{"sample_id": evil, "generated_text": json.dumps([label])}],
        "others": [{"sample_id": evil, "generated_text": f"f({evil}"}],
        "patch": [{"id": evil, **patch}, {"id": f"no {evil}", **patch}, {"id": "b", evil: evil}],
        "tasks": [{"id": id, "query": id, "tools": [tool(f"f{evil}", "x", "string")]} for id in (evil, "b")],
    }
    texts |= {f"{name}.jsonl": "".join(json.dumps(one) + "\n" for one in each) for name, each in rows.items()}
    Path("bench").mkdir(exist_ok=True)
    for file, text in texts.items():
        Path(file).write_bytes(text.encode("utf-8", "surrogatepass"))


ANNOTATION = re.compile(
    r"::(error|warning|notice) ((file|line|col|title)=[^:,\n]*(,|(?=::)))*::[^\n]*|\d+ more root causes?: .*"
)
"""What GitHub takes for a command, of which there are no others."""


def wrong(form: str, done: Done) -> str:
    """What is wrong with what a command printed; "" where nothing is."""
    out, said = done.out, done.code < 2
    if done.code not in (0, 1, 2, 3):
        return f"exit code {done.code}"
    for stream, text in (("output", out), ("errors", done.err)):
        if found := TERMINAL.search(text):
            return f"{stream}: {text[max(0, found.start() - 30) : found.end() + 20]!r}"
    if "Traceback" in done.err or "Warning:" in done.err:
        return done.err[-300:]
    if form == "csv":
        cells = [cell for row in csv.reader(io.StringIO(out)) for cell in row]
        return next((cell for cell in cells if re.match(r"[=@\t\r]|[+-](?![\d.…+-]*$)", cell)), "")
    acting = {"md": MARKUP, "html": ACTING, "svg": ACTING}.get(form)
    if acting and (markup := acting.search(out)):
        return f"markup: {out[max(0, markup.start() - 30) : markup.end() + 20]!r}"
    if form == "tex" and said and re.search(r"(?<!\\)[#$%&~_^]", out.replace(" & ", "")):
        return f"what acts in TeX: {out[:300]!r}"
    if form in ("junit", "svg") and said:
        each = ElementTree.fromstring(out).iter()
        words = [word for one in each for word in (one.text or "", *one.attrib.values())]
        return next((f"an element's {word!r}" for word in words if TERMINAL.search(word)), "")
    if form == "github":
        acts = [one for one in out.splitlines()[:-1] if not ANNOTATION.fullmatch(one)]
        return f"a line that is no annotation: {acts[0]!r}" if acts else ""
    if form in ("json", "sarif", "jsonl") and out.strip() and said:
        for text in out.splitlines() if form == "jsonl" else [out]:
            json.loads(text)
    return ""


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("name", CALLS)
def test_no_form_lets_foreign_text_act(
    name: str, share: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    argv, forms = shlex.split(name), CALLS[name]
    found = []
    for at, evil in list(enumerate(HOSTILE))[[*CALLS].index(name) % share :: share]:
        lay(evil)
        for form in forms:
            if at % 5 and (name in SLOW or form in ("png", "pdf")):
                continue
            if set(evil) & {"\x00", "\ud800"} and any("HOSTILE" in word or "NAMED" in word for word in argv):
                continue  # the system passes no such word
            words = [word.replace("HOSTILE", evil) for word in argv]
            place = ("-o", f"drawn.{form}") if form in ("png", "pdf") else ()
            asked = [*words, *(("--format", form) if form else ()), *place]
            done = run(asked, screen=name in FOR_PROGRAMS)
            if problem := wrong(form, done):
                found.append(f"{form} {evil!r}: {problem}")
    assert not found, "\n".join(found)


@pytest.mark.parametrize("annotation", ["'\\\\d'", "Literal['\\\\w']"])
def test_python_s_warnings_of_foreign_text_stay_unsaid(annotation: str, tmp_path: Path) -> None:
    source = tmp_path / "tools.py"
    source.write_text(f'def f(x: {annotation}) -> str:\n    """Find \\d and \\w."""\n')
    command = [sys.executable, "-W", "always", "-m", "planner_eval", "catalog", str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("told", ANSWERS)
def test_what_a_server_says_acts_nowhere(
    told: str, share: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openai", reason="the llm extra is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    found = []
    for at, evil in list(enumerate(HOSTILE))[ANSWERS.index(told) % share :: share]:
        lay(evil)
        call = (f"f{evil}", f'{{"x": {evil}')
        answer = message(f"[f(x={evil!r})] {evil}", [call] if told == "call" else None)
        if told == "error":
            answer = Answer({"error": {"message": evil, "code": evil, "type": evil}}, status=400)
        elif told == "model":
            choice = {"finish_reason": evil, "message": evil}
            answer = Answer({"model": evil, "choices": [choice], "usage": evil})
        with ModelServer() as server:
            server.answers = [answer]
            asked = ("--model", "m", "--url", server.url, "--retries", "0", "-o", f"run{at}")
            for argv, forms in (
                (("predict", "tasks.jsonl", *asked), ("",)),
                (("parse", f"run{at}/rows.jsonl"), ("text", "jsonl")),
                (("stats", f"run{at}/rows.jsonl", "--each"), ("text", "csv", "md")),
                (("compare", f"run{at}", f"run{at}", "--gold", "gold.jsonl"), ("text", "csv", "md", "junit")),
                (("table", f"run{at}", "--metric", "exact", "--gold", "gold.jsonl"), TABLES),
                (("score", f"run{at}", "gold.jsonl"), ("text", "csv", "md", "junit", "html")),
                (("diff", f"run{at}", "gold.jsonl"), ("text", "csv", "md")),
            ):
                for form in forms:
                    done = run([*argv, *(("--format", form) if form else ())])
                    if problem := wrong(form, done):
                        found.append(f"{argv[0]} {form} {evil!r}: {problem}")
    assert not found, "\n".join(found)
