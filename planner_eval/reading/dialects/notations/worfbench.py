"""WorFBench's workflows: numbered nodes of free text, and edges between them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from planner_eval.base import grammar
from planner_eval.base.errors import ParseError, WriteError
from planner_eval.base.limits import Limits, check_calls
from planner_eval.plan.model import Diagnostic, Plan, RawCall, RawPlan, RawRef, references
from planner_eval.reading.dialects.dialect import DEPENDENCY_ARGUMENT, Dialect
from planner_eval.reading.dialects.finding.unread_calls import CutError
from planner_eval.reading.dialects.table import Wrapper

TERMINAL_DESCRIPTIONS = {
    "NODES": "'Node:'",
    "NODE": "a numbered node",
    "EDGES": "'Edges:'",
    "EDGE": "an edge such as (1,2)",
}


def dialect(row: Wrapper) -> Dialect:
    """The dialect of the shape ``worfbench``."""
    return Dialect(row.name, row.title, row.example, read, write, reference=read)


def read(text: str, limits: Limits) -> RawPlan:
    r"""Read nodes and edges; a node is a call of what its line says, without arguments.

    Words around them are passed over, and told. A numbered list below the edges is such words.

    Source: WorFBench's ``node_eval.py``, which takes such a list for nodes.

    Raises:
        ParseError: it is no workflow, two nodes have one number, or it ends inside an edge.

    >>> read("Node:\n1. do a\n2. do b\nEdges:\n(START,1)\n(1,2)\n(2,END)", Limits()).calls[1].arguments
    (('', RawRef(name='1', path=())),)
    """
    tree = grammar.run(grammar.load("worfbench"), text, TERMINAL_DESCRIPTIONS, "worfbench")
    cut = _CUT_EDGE.search(text, max(0, len(text) - 40))
    if cut is not None:
        raise CutError("inside an edge", text=text, start=cut.start(), dialect="worfbench")
    nodes: dict[str, tuple[str, tuple[int, int]]] = {}
    needed: dict[str, dict[str, None]] = {}
    notes: list[Diagnostic] = []
    for token in tree.children:
        if token.type == "NODE":
            match = re.match(r"\s*(\d+)\s*[:.)]\s*", token)
            assert match is not None
            if match[1] in nodes:
                raise ParseError(f"two nodes have the number {match[1]}", text=text, offset=token.start_pos)
            span = (token.start_pos + match.start(1), token.start_pos + len(token.rstrip()))
            nodes[match[1]] = (token[match.end() :].strip(), span)
        elif token.type == "EDGE":
            source, target = re.findall(r"START|END|\d+", token)
            if source in nodes and target in nodes:
                needed.setdefault(target, {})[source] = None
            elif any(end not in nodes and end not in ("START", "END") for end in (source, target)):
                message = f"the edge ({source},{target}) has an end that is no node"
                span = (token.start_pos, token.start_pos + len(token.rstrip(", \n")))
                notes.append(Diagnostic("link.dangling", message, "warning", None, None, span))
    check_calls(len(nodes), limits)
    calls = []
    for number, (name, span) in nodes.items():
        refs = [RawRef(source) for source in needed.get(number, ())]
        arguments = ((DEPENDENCY_ARGUMENT, refs[0] if len(refs) == 1 else refs),) if refs else ()
        calls.append(RawCall(name, arguments, label=number, binds=((number, ()),), span=span))
    return RawPlan(tuple(calls), None, (*notes, *_note_ignored_text(tree.children)))


def _note_ignored_text(tokens: list[Any]) -> Iterator[Diagnostic]:
    """A note on the words around nodes and edges, and on what they may hold: a second workflow, the edges."""
    words = [
        token
        for token in tokens
        if token.type in ("BEFORE", "LINES", "TEXT", "REST") and _PROSE_WORD.search(token)
    ]
    if not words:
        return
    total = sum(len(token.strip()) for token in words)
    doubt = ""
    if words[-1].type == "REST":
        doubt = "; a second workflow is among them"
    elif words[-1].type == "TEXT" and all(token.type != "EDGE" for token in tokens):
        doubt = "; no edge was read"
    level = "warning" if doubt else "info"
    span = (words[0].start_pos, words[-1].start_pos + len(words[-1]))
    message = f"{total:,} characters of text around the calls were ignored{doubt}"
    yield Diagnostic("find.text", message, level, None, None, span)


_PROSE_WORD = re.compile(r"(?!(?:json|text|plaintext)?\s*+\Z)\w")
_EDGE_END = r"(?:S(?:T(?:A(?:RT?)?)?)?|E(?:ND?)?|\d{1,6})?"
_CUT_EDGE = re.compile(rf"\(\s*+{_EDGE_END}\s*+(?:,\s*+{_EDGE_END}\s*+)?\Z")


def write(plan: Plan) -> str:
    """Write a plan of calls without arguments.

    Raises:
        WriteError: a call has arguments, or an app.
    """
    edges = []
    used = set()
    for i, call in enumerate(plan.calls):
        if (
            any(key != DEPENDENCY_ARGUMENT for key, _ in call.arguments)
            or call.app
            or len(call.arguments) > 1
        ):
            raise WriteError(
                f"call {call.id} ({call.name}) has arguments, which the dialect 'worfbench' cannot express"
            )
        if not re.fullmatch(r"\S(?:[^\n]*\S)?", call.name):
            raise WriteError(f"call {call.id}: {call.name!r} is no text of one line")
        producers = [ref for _, value in call.arguments for _, ref in references(value)]
        for ref in producers:
            if not hasattr(ref, "call") or ref.path:
                raise WriteError(f"call {call.id} ({call.name}) refers to more than a node")
            edges.append(f"({ref.call + 1},{i + 1})")
            used.add(ref.call)
        if not producers:
            edges.append(f"(START,{i + 1})")
    edges += [f"({i + 1},END)" for i in range(len(plan.calls)) if i not in used]
    nodes = [f"{i + 1}. {call.name}" for i, call in enumerate(plan.calls)]
    return "\n".join(["Node:", *nodes, "Edges:", *edges])
