"""Nodes and links: TaskBench's task graphs, HuggingGPT's task lists, WorFBench's workflows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from planner_eval.base import grammar
from planner_eval.base.errors import ParseError, WriteError
from planner_eval.base.json_text import ObjectSpans, object_items
from planner_eval.base.limits import Limits, check_calls
from planner_eval.base.text import JsonObject, format_count, lazy_pattern, to_json
from planner_eval.plan.model import (
    Diagnostic,
    Plan,
    RawCall,
    RawPlan,
    RawRef,
    Ref,
    Value,
    leaves,
    map_leaves,
    read_references_in,
    references,
)
from planner_eval.reading.dialects.conversations.messages import NODE_KEYS, format_value
from planner_eval.reading.dialects.dialect import DEPENDENCY_ARGUMENT, Dialect, add_dependencies
from planner_eval.reading.dialects.finding.cut_texts import CutError
from planner_eval.reading.dialects.references import (
    NOTATIONS,
    WrittenPlan,
    separate_dependencies,
)
from planner_eval.reading.dialects.table import Wrapper, json_dialect, text_dialect

LINK_KEYS = ("task_links", "tool_links", "links", "edges")
_NAME_KEYS = ("task", "tool", "name", "id")
_NODE_REFERENCE = lazy_pattern(r"<node-(\d{1,6}+|[A-Za-z]\w{0,20}+)>((?:\.\w++)*+)")


def dialect(row: Wrapper) -> Dialect:
    """The dialect of the shapes ``taskbench``, ``hugginggpt`` and ``worfbench``."""
    if row.shape == "worfbench":
        return text_dialect(row, read_workflow, write_workflow, read_workflow)
    if row.shape == "taskbench":
        return json_dialect(
            row,
            read_graph,
            write_graph,
            fits=lambda data: "nodes and links" if is_graph(data.value) else None,
        )
    return json_dialect(
        row, read_tasks, write_tasks, fits=lambda data: "tasks with dep" if is_tasks(data.value) else None
    )


def is_graph(data: Any) -> bool:
    """Whether data is an object with nodes.

    >>> is_graph({"task_nodes": []}), is_graph({"nodes": 3})
    (True, False)
    """
    return isinstance(data, dict) and any(isinstance(data.get(key), list) for key in NODE_KEYS)


def is_tasks(data: Any) -> bool:
    """Whether data is a list of tasks with dependencies.

    >>> is_tasks([{"task": "t", "id": 0, "dep": [-1], "args": {}}])
    True
    """
    items = data if isinstance(data, list) else [data]
    return bool(items) and all(isinstance(item, dict) and "task" in item and "dep" in item for item in items)


# ---------------------------------------------------------------- TaskBench
def read_graph(data: Any, limits: Limits, locations: ObjectSpans | None = None) -> RawPlan:
    """Read an object of nodes and links.

    Raises:
        ParseError: it has no nodes, or one has no name.
    """
    if not is_graph(data):
        raise ParseError(
            f"found {format_value(data)}, expected an object with 'task_nodes'", code="parse.shape"
        )
    nodes = next(data[key] for key in NODE_KEYS if isinstance(data.get(key), list))
    check_calls(len(nodes), limits)
    notes: list[Diagnostic] = []
    unlinked = [_read_node(node, i, locations) for i, node in enumerate(nodes)]
    base = _find_index_base(unlinked, notes)
    calls = [_read_references(call, base) for call in unlinked]
    links: list[Any] = next((data[key] for key in LINK_KEYS if isinstance(data.get(key), list)), [])
    after: dict[int, dict[int, None]] = {}
    for source, target in _read_links(links):
        _add_link(source, target, calls, after, notes)

    def meaning(
        producer: int,
    ) -> tuple[str, str, int]:  # so that the order does not hang on that of the links
        return calls[producer].name, repr(calls[producer].arguments), producer

    linked = (
        add_dependencies(call, map(str, sorted(after.get(i, ()), key=meaning)))
        for i, call in enumerate(calls)
    )
    return RawPlan(tuple(linked), None, tuple(notes))


def _read_node(node: Any, position: int, locations: ObjectSpans | None) -> RawCall:
    name = (
        next((node[k] for k in _NAME_KEYS if isinstance(node.get(k), str)), None)
        if isinstance(node, dict)
        else None
    )
    if name is None:
        raise ParseError(
            f"node {position + 1} is {format_value(node)}, expected an object with 'task' and 'arguments'",
            code="parse.shape",
        )
    node_arguments = node.get("arguments", node.get("parameters", []))
    if isinstance(node_arguments, dict):
        arguments = object_items(node_arguments)
    elif isinstance(node_arguments, list):
        arguments = tuple(
            (str(item["name"]), item["value"])
            if isinstance(item, dict) and item.keys() == {"name", "value"}
            else (str(k), item)
            for k, item in enumerate(node_arguments)
        )
    elif node_arguments is None:
        arguments = ()
    else:
        arguments = (("0", node_arguments),)
    return RawCall(
        name, arguments, binds=((str(position), ()),), span=locations.span(node) if locations else None
    )


def _find_index_base(calls: list[RawCall], notes: list[Diagnostic]) -> int:
    """Whether nodes are counted from 0 or from 1: the count that fits the plan; 0 when nothing tells."""
    numbers = [
        (i, int(match[1]))
        for i, call in enumerate(calls)
        for _, value in call.arguments
        for _, text in leaves(value)
        if isinstance(text, str)
        for match in _NODE_REFERENCE.finditer(text)
        if match[1].isdecimal()
    ]
    if not numbers or any(number == 0 for _, number in numbers):
        return 0
    wrong = [sum(number - base >= i for i, number in numbers) for base in (0, 1)]
    base = 1 if wrong[1] < wrong[0] else 0
    fitting, references = len(numbers) - wrong[base], format_count(len(numbers), "reference")
    message = f"no <node-0> occurs; nodes are counted from {base}, which fits {fitting} of {references}"
    notes.append(Diagnostic("reference.base", message, "info"))
    return base


def _read_references(call: RawCall, base: int) -> RawCall:
    """The call with its <node-k> texts as references, to its own node and to none included."""

    def read(match: re.Match[str]) -> RawRef:
        name = str(int(match[1]) - base) if match[1].isdecimal() else match[1]
        return RawRef(name, tuple(match[2].split(".")[1:]))

    def leaf(value: Value) -> Value:
        return read_references_in(value, _NODE_REFERENCE, read) if isinstance(value, str) else value

    return replace(call, arguments=tuple((key, map_leaves(leaf, value)) for key, value in call.arguments))


def _read_links(links: list[Any]) -> Iterator[tuple[str, str]]:
    for link in links:
        match link:
            case {"source": source, "target": target} | [source, target]:
                sources, targets = (end if isinstance(end, list) else [end] for end in (source, target))
                yield from product(map(str, sources), map(str, targets))


def _add_link(
    source: str, target: str, calls: list[RawCall], after: dict[int, dict[int, None]], notes: list[Diagnostic]
) -> None:
    """Add one link, unless an argument says it already."""
    named = [[i for i, call in enumerate(calls) if call.name == end] for end in (source, target)]
    pairs = [(p, c) for c in named[1] for p in named[0] if p != c]
    if not pairs:
        message = f"the link from {source!r} to {target!r} has an end that is not a node"
        notes.append(Diagnostic("link.dangling", message, "warning"))
        return
    if any(_uses(calls[c], str(p)) or p in after.get(c, {}) for p, c in pairs):
        return
    earlier = [(p, c) for p, c in pairs if p < c]
    consumer = earlier[0][1] if earlier else pairs[0][1]
    producer = max((p for p, c in earlier if c == consumer), default=pairs[0][0])
    after.setdefault(consumer, {})[producer] = None


def _uses(call: RawCall, producer: str) -> bool:
    uses = (leaf for _, value in call.arguments for _, leaf in leaves(value))
    return any(isinstance(leaf, RawRef) and leaf.name == producer for leaf in uses)


def write_graph(plan: Plan) -> str:
    """Write a plan as nodes and links, counted from 0.

    Raises:
        WriteError: a reference into a result by other steps than field names.
    """
    names = [str(i) for i in range(len(plan.calls))]
    nodes: list[JsonObject] = []
    links: list[dict[str, str]] = []
    notation = replace(
        NOTATIONS["node"],
        write=lambda name, path: (
            f"<node-{name}>{''.join(f'.{step}' for step in path)}"
            if all(isinstance(step, str) and re.fullmatch(r"\w+", step) for step in path)
            else None
        ),
    )
    for i, call in enumerate(WrittenPlan(plan, names, notation).calls):
        arguments_data, producers = separate_dependencies(plan, i, call)
        counted = list(arguments_data) == [str(k) for k in range(len(arguments_data))]
        arguments: list[Any] = [
            value if counted else {"name": key, "value": value} for key, value in arguments_data.items()
        ]
        nodes.append({"task": call.name, "arguments": arguments})
        links += [{"source": plan.calls[p].name, "target": call.name} for p in producers]
    return to_json({"task_nodes": nodes, "task_links": links})


# ---------------------------------------------------------------- HuggingGPT
def read_tasks(data: Any, limits: Limits, locations: ObjectSpans | None = None) -> RawPlan:
    """Read a list of tasks with ids and dependencies.

    Raises:
        ParseError: an item is no task.
    """
    items = data if isinstance(data, list) else [data]
    check_calls(len(items), limits)
    notation = NOTATIONS["generated"]
    calls = []
    for i, item in enumerate(items):
        if not isinstance(item, dict) or not isinstance(item.get("task"), str):
            raise ParseError(
                f"task {i + 1} is {format_value(item)}, expected an object with 'task', 'id', "
                "'dep' and 'args'",
                code="parse.shape",
            )
        label = str(item["id"]) if type(item.get("id")) in (int, str) else str(i)
        task_arguments = item.get("args", item.get("arguments", {}))
        if isinstance(task_arguments, dict):
            arguments = object_items(task_arguments)
        else:
            arguments = (("0", task_arguments),) if task_arguments else ()
        call = RawCall(item["task"], arguments, label=label, span=locations.span(item) if locations else None)
        call = notation.bind(call, i)
        depends = item.get("dep", [])
        ids = [str(d) for d in (depends if isinstance(depends, list) else [depends]) if type(d) in (int, str)]
        calls.append(add_dependencies(call, [d for d in ids if d != "-1" and not _uses(call, d)]))
    return RawPlan(tuple(calls))


def write_tasks(plan: Plan) -> str:
    """Write a plan as tasks with ids counted from 0.

    Raises:
        WriteError: a path into a result, or a dependency that names no call.
    """
    names = [str(i) for i in range(len(plan.calls))]
    tasks = []
    for i, call in enumerate(WrittenPlan(plan, names, NOTATIONS["generated"]).calls):
        arguments, depends = separate_dependencies(plan, i, call)
        stated = [value for key, value in plan.calls[i].arguments if key == DEPENDENCY_ARGUMENT]
        if any(not isinstance(ref, Ref) or ref.path for value in stated for _, ref in references(value)):
            raise WriteError(f"call {call.id} ({call.name}) depends on more than a task")
        tasks.append({"task": call.name, "id": i, "dep": depends or [-1], "args": arguments})
    return to_json(tasks)


# ----------------------------------------------------------------------
# WorFBench's workflows: numbered nodes of free text, and edges between them.
WORKFLOW_TERMINALS = {
    "NODES": "'Node:'",
    "NODE": "a numbered node",
    "EDGES": "'Edges:'",
    "EDGE": "an edge such as (1,2)",
}


def read_workflow(text: str, limits: Limits) -> RawPlan:
    r"""Read nodes and edges; a node is a call of what its line says, without arguments.

    Words around them are passed over, and told. A numbered list below the edges is such words.

    Source: WorFBench's ``node_eval.py``, which takes such a list for nodes.

    Raises:
        ParseError: it is no workflow, two nodes have one number, or it ends inside an edge.

    >>> text = "Node:\n1. do a\n2. do b\nEdges:\n(START,1)\n(1,2)\n(2,END)"
    >>> read_workflow(text, Limits()).calls[1].arguments
    (('', RawRef(name='1', path=())),)
    """
    tree = grammar.run(grammar.load("worfbench"), text, WORKFLOW_TERMINALS, "worfbench")
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
                message = f"the edge ({source},{target}) has an end that is not a node"
                span = (token.start_pos, token.start_pos + len(token.rstrip(", \n")))
                notes.append(Diagnostic("link.dangling", message, "warning", None, None, span))
    check_calls(len(nodes), limits)
    calls = []
    for number, (name, span) in nodes.items():
        call = RawCall(name, label=number, binds=((number, ()),), span=span)
        calls.append(add_dependencies(call, needed.get(number, ())))
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


_PROSE_WORD = re.compile(r"\b(?!(?:json|text|plaintext)\s*+\Z)\w")
_EDGE_END = r"(?:S(?:T(?:A(?:RT?)?)?)?|E(?:ND?)?|\d{1,6})?"
_CUT_EDGE = re.compile(rf"\(\s*+{_EDGE_END}\s*+(?:,\s*+{_EDGE_END}\s*+)?\Z")


def write_workflow(plan: Plan) -> str:
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
            raise WriteError(f"call {call.id}: {call.name!r} is not a text of one line")
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
