"""WorFBench's workflows: numbered nodes of free text, and edges between them."""

from __future__ import annotations

import re

from planner_eval.base import grammar
from planner_eval.base.errors import ParseError, WriteError
from planner_eval.base.limits import Limits, check_calls
from planner_eval.base.text import shortened
from planner_eval.dialects.dialect import AFTER, Dialect
from planner_eval.dialects.table import Wrapper
from planner_eval.plan.model import Diagnostic, Plan, RawCall, RawPlan, RawRef, references

WORDS = {"NODES": "'Node:'", "NODE": "a numbered node", "EDGES": "'Edges:'", "EDGE": "an edge such as (1,2)"}


def dialect(row: Wrapper) -> Dialect:
    """The dialect of the shape ``worfbench``."""
    return Dialect(row.name, row.title, row.example, read, write, reference=read)


def read(text: str, limits: Limits) -> RawPlan:
    r"""Read nodes and edges; a node is a call of what its text says, without arguments.

    Raises:
        ParseError: it is no workflow, or two nodes have one number.

    >>> read("Node:\n1. do a\n2. do b\nEdges:\n(START,1)\n(1,2)\n(2,END)", Limits()).calls[1].arguments
    (('', RawRef(name='1', path=())),)
    """
    workflow, prose = _without_prose(text)
    tree = grammar.run(grammar.load("worfbench"), workflow, WORDS, "worfbench")
    nodes: dict[str, tuple[str, tuple[int, int]]] = {}
    needed: dict[str, dict[str, None]] = {}
    notes: list[Diagnostic] = prose
    for token in tree.children:
        if token.type == "NODE":
            match = re.match(r"(\d+)\s*[:.)]\s*", token)
            assert match is not None
            if match[1] in nodes:
                raise ParseError(f"two nodes have the number {match[1]}", text=text, offset=token.start_pos)
            end = token.start_pos + len(token.rstrip())
            nodes[match[1]] = (token[match.end() :].strip(), (token.start_pos, end))
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
        arguments = ((AFTER, refs[0] if len(refs) == 1 else refs),) if refs else ()
        calls.append(RawCall(name, arguments, label=number, binds=((number, ()),), span=span))
    return RawPlan(tuple(calls), None, tuple(notes))


def _without_prose(text: str) -> tuple[str, list[Diagnostic]]:
    """A workflow with blanks in the place of all that is no edge after ``Edges:``, and a note of what that was.

    Source: WorFBench's ``node_eval.py``, which looks for edges anywhere and passes over what stands between.
    """
    head = _EDGES.search(text)
    if head is None:
        return text, []
    parts = [text[: head.end()]]
    ignored: list[tuple[int, int]] = []
    end = head.end()
    for edge in (*_EDGE.finditer(text, head.end()), None):
        start = edge.start() if edge is not None else len(text)
        if text[end:start].strip(" \t\r\n,"):
            ignored.append((end, start))
            parts.append(" " * (start - end))
        else:
            parts.append(text[end:start])
        if edge is not None:
            parts.append(edge[0])
            end = edge.end()
    if not ignored or end == head.end():
        return text, []
    start, stop = ignored[0]
    shown = shortened(" ".join(text[start:stop].split()), 40)
    return "".join(parts), [
        Diagnostic("find.text", f"{shown!r} after the edges was ignored", "info", None, None, (start, stop))
    ]


_EDGES = re.compile(r"^\s*+Edges?\s*+:", re.M)
_EDGE = re.compile(r"\(\s*+(?:START|END|\d{1,6}+)\s*+,\s*+(?:START|END|\d{1,6}+)\s*+\)")


def write(plan: Plan) -> str:
    """Write a plan of calls without arguments.

    Raises:
        WriteError: a call has arguments, or an app.
    """
    edges = []
    used = set()
    for i, call in enumerate(plan.calls):
        if any(key != AFTER for key, _ in call.arguments) or call.app or len(call.arguments) > 1:
            raise WriteError(
                f"call {call.id} ({call.name}) has arguments, which the dialect 'worfbench' cannot say"
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
