"""Made records in the layouts of benchmarks and in our own, each read back before it counts as made."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any, NamedTuple, TypeAlias

from planner_eval.base.errors import ParseError, WriteError
from planner_eval.benchmarks.appbench.reading import gold_of as appbench_gold
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.functionchat.reading import gold_of as functionchat_gold
from planner_eval.catalogs.catalog import Catalog, Parameter, Tool, Type
from planner_eval.catalogs.writers import function_definition, write_tools
from planner_eval.curation.make.batch import MakeStep
from planner_eval.curation.make.record import Made
from planner_eval.curation.make.run_calls import Refusal
from planner_eval.curation.make.tools import Offer, choose_distractors
from planner_eval.execution.core import follow_path
from planner_eval.execution.program import sink_calls
from planner_eval.plan.canonical import same
from planner_eval.plan.graph import generations
from planner_eval.plan.linking import build_plan
from planner_eval.plan.model import Call, Plan, Ref, Value
from planner_eval.reading.dialects.read import parse, write

Record: TypeAlias = dict[str, Any]

_PLAIN_KINDS = {
    "string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list",
    "object": "dict", "null": "None",
}  # fmt: skip


def writes_texts(catalog: Catalog, form: str) -> bool:
    """Whether made plans write numbers and flags as text: AppBench's notation has nothing else.

    Plans over other tools whose gold does so (UltraTool, Seal-Tools) have values of the declared types.

    Args:
        catalog: The tools.
        form: The layout of the records.
    """
    return catalog.text_values and (form == "appbench" or any(tool.app is not None for tool in catalog.tools))


def make_layout_step(form: str) -> MakeStep:
    """What makes a plan one that a layout can say, or refuses it.

    Args:
        form: One of :data:`planner_eval.curation.make.skeletons.LAYOUTS`.
    """
    layout = _LAYOUTS[form]

    def step(task: Made) -> Made | Refusal:
        changed = layout.fit(task)
        if isinstance(changed, Refusal):
            return changed
        try:
            record = layout.record(changed)
            back = parse(record[layout.field] if layout.field else record, dialect=layout.dialect)
        except (WriteError, ParseError):
            return Refusal(f"{form} cannot express it")
        plan = resolve_references(changed.plan) if form == "complexfuncbench" else changed.plan
        return changed if same(back, plan) else Refusal(f"{form} expresses another plan")

    return step


def records(form: str, tasks: Sequence[Made], catalog: Catalog, seed: int = 0) -> list[Record]:
    """The records of a file.

    Args:
        form: One of :data:`planner_eval.curation.make.skeletons.LAYOUTS`.
        tasks: The plans that were made, with their questions.
        catalog: All tools.
        seed: What chance comes from, where lists of tools are drawn.
    """
    if form == "functionchat":
        return _function_records(tasks, catalog, seed)
    if form == "planeval":
        return [_own_record(task, catalog) for task in tasks]
    return [_LAYOUTS[form].record(task) for task in tasks]


# ---------------------------------------------------------------- our own
def _own_record(task: Made, catalog: Catalog | None = None) -> Record:
    task_catalog = replace(catalog, tools=task.tools) if catalog is not None else Catalog(task.tools)
    task_catalog = replace(task_catalog, text_values=writes_texts(task_catalog, "planeval"))
    record = {"id": task.id, "query": task.query, "gold": json.loads(write(task.plan, "plan"))}
    if task_catalog.text_values and _has_text_for_number(task):
        record["text_values"] = True
    record["tools"] = write_tools(task_catalog, "planeval")
    if task.answer is not None:
        record["gold_answer"] = task.answer
    return {**record, "notes": dict(task.notes)}


def _has_text_for_number(task: Made) -> bool:
    """Whether a text stands where a tool declares a number or a flag."""
    declared = {
        (tool.app, tool.name, parameter.name): parameter.type.kinds
        for tool in task.tools for parameter in tool.parameters
    }  # fmt: skip
    return any(
        isinstance(value, str) and (kinds := declared.get((call.app, call.name, name), ()))
        and {*kinds} <= {"integer", "number", "boolean", "null"}
        for call in task.plan.calls for name, value in call.arguments
    )  # fmt: skip


# ---------------------------------------------------------------- NESTful
def _fit_nestful(task: Made) -> Made | Refusal:
    """References by the one output's name, which the benchmark's executor wants."""
    plan = task.plan
    if any(call.app for call in plan.calls):
        return Refusal("NESTful's records have no apps")
    tools = {tool.name: tool for tool in task.tools}
    if any(len(tools[call.name].returns.fields) > 1 for call in plan.calls):
        return Refusal("NESTful's executor takes tools of one output")

    if len(sink_calls(plan)) > 1:
        return Refusal("NESTful's gold answer comes from one call")

    def named(value: Value) -> Value:
        return Ref(value.call, ("result",)) if isinstance(value, Ref) and not value.path else value

    calls = [
        replace(call, arguments=tuple((name, named(value)) for name, value in call.arguments),
                returns=call.returns or ("result",))
        for call in plan.calls
    ]  # fmt: skip
    return replace(task, plan=build_plan(calls))


def _nestful_record(task: Made) -> Record:
    calls = json.loads(write(task.plan, "nestful"))
    output = [
        {"name": call["name"], "label": f"${call['label']}", "arguments": call["arguments"]} for call in calls
    ]
    record = {"sample_id": task.id, "input": task.query, "output": output}
    record["tools"] = [_specification(tool) for tool in task.tools]
    return {**record, "gold_answer": task.answer}


def _specification(tool: Tool) -> Record:
    fields = tool.returns.fields or (Parameter("result", tool.returns),)
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": {parameter.name: _describe_parameter(parameter) for parameter in tool.parameters},
        "output_parameters": {
            field.name: {"description": field.description, "type": _format_type(field.type)}
            for field in fields
        },
    }


def _describe_parameter(parameter: Parameter) -> Record:
    entry: Record = {"description": parameter.description, "type": _format_type(parameter.type)}
    if parameter.type.enum is not None:
        entry["enum"] = list(parameter.type.enum)
    if not parameter.required:
        entry["required"] = False
        if parameter.has_default:
            entry["default"] = parameter.default
    return entry


def _format_type(kind: Type) -> str:
    """A type as NESTful's specifications write it."""
    kind = kind.unfolded
    if kind.kinds == ("array",) and kind.items is not None and kind.items.kinds:
        return f"list of {_format_type(kind.items)}" if " " not in _format_type(kind.items) else "list"
    return " or ".join(_PLAIN_KINDS[name] for name in kind.kinds) or "any"


# ---------------------------------------------------------------- AppBench
def _fit_appbench(task: Made) -> Made | Refusal:
    """Every call with its outputs' names; with those alone that are used, where others would hide them."""
    plan = replace(task.plan, answer=None)  # every result reaches the user, as one that names them all says
    if not all(call.app for call in plan.calls):
        return Refusal("AppBench's records need calls of apps")
    texts = [value for call in plan.calls for _, value in call.arguments if isinstance(value, str)]
    if any("'" in text or "#" in text for text in texts):
        return Refusal("AppBench's lines cannot hold texts with ' or #")
    used = [{edge.path[0] for edge in plan.edges if edge.producer == index} for index in range(len(plan))]
    few = [
        tuple(name for name in call.returns if name in used[index]) or _choose_output(call)
        for index, call in enumerate(plan.calls)
    ]
    for returns in ([call.returns for call in plan.calls], few):
        calls = [replace(call, returns=names) for call, names in zip(plan.calls, returns, strict=True)]
        changed = replace(plan, calls=tuple(calls))
        try:
            text = write(changed, "appbench")
            back = parse(text, dialect="appbench")
        except (WriteError, ParseError):
            continue
        lines = [line.partition(": ")[2] for line in text.split("\n")]
        if same(back, plan) and not back.diagnostics and len({*lines}) == len(lines):
            return replace(task, plan=changed)
    return Refusal("AppBench's names hide one another")


def _choose_output(call: Call) -> tuple[str, ...]:
    """An output that is not what the call was given, where there is one."""
    argument_names = {name for name, _ in call.arguments}
    return tuple(name for name in call.returns if name not in argument_names)[:1] or call.returns[:1]


def _appbench_record(task: Made) -> Record:
    plan = task.plan
    literals = {
        name: value for call in plan.calls for name, value in call.arguments if not isinstance(value, Ref)
    }
    output = {
        **appbench_gold(Sample(task.id, gold={}), plan),
        "middle_arguments": list(dict.fromkeys(str(edge.path[0]) for edge in plan.edges)),
        "user_aware_arguments": literals,
    }
    return {"input": task.query, "output": output}


# ---------------------------------------------------------------- ComplexFuncBench, FunctionChat-Bench
def _fit_complexfuncbench(task: Made) -> Made | Refusal:
    if any(call.app for call in task.plan.calls):
        return Refusal("ComplexFuncBench's records have no apps")
    if not all(call.has_result for call in task.plan.calls):
        return Refusal("ComplexFuncBench's records hold the output of each call: plans must be run")
    return task


def resolve_references(plan: Plan) -> Plan:
    """The plan with what calls came to in place of references."""

    def value(argument: Value) -> Value:
        if not isinstance(argument, Ref):
            return argument
        producer = plan.calls[argument.call]
        return follow_path(producer.result, list(argument.path), list(producer.returns))

    return Plan(
        tuple(
            Call(call.id, call.name, tuple((n, value(argument)) for n, argument in call.arguments), call.app)
            for call in plan.calls
        )
    )


def _complexfuncbench_record(task: Made) -> Record:
    plan = task.plan
    flat = resolve_references(plan)
    needs = [
        sorted({edge.producer for edge in plan.edges if edge.consumer == index}) for index in range(len(plan))
    ]
    talk: list[Record] = [{"role": "user", "content": task.query}]
    for group in generations(needs):
        calls = [
            {"name": flat.calls[index].name, "arguments": dict(flat.calls[index].arguments)}
            for index in group
        ]
        talk.append({"role": "assistant", "function_call": calls})
        talk.append({"role": "observation", "content": [plan.calls[index].result for index in group]})
    ends = [plan.calls[index].result for index in sink_calls(plan)]
    talk.append(
        {"role": "assistant", "content": json.dumps(ends[0] if len(ends) == 1 else ends, ensure_ascii=False)}
    )
    return {
        "id": task.id,
        "conversations": talk,
        "functions": [_describe_function(tool) for tool in task.tools],
    }


def _describe_function(tool: Tool) -> Record:
    """A function as ComplexFuncBench describes it: one word for each parameter's type."""
    function = function_definition(tool)
    fields = {name: dict(entry) for name, entry in function["parameters"].get("properties", {}).items()}
    for entry in fields.values():
        if isinstance(entry.get("type"), list):
            words = [word for word in entry["type"] if word != "null"]
            entry["type"] = "number" if "number" in words else (words or ["null"])[0]
    return {**function, "parameters": {**function["parameters"], "properties": fields}}


def _fit_functionchat(task: Made) -> Made | Refusal:
    return task if len(task.plan) == 1 else Refusal("FunctionChat-Bench's single calls are plans of one call")


def _functionchat_record(task: Made) -> Record:
    return functionchat_gold(Sample(task.id, gold={}), task.plan)


# ----------------------------------------------------------------------
# FunctionChat-Bench's records of single calls: a function, its queries, and lists of tools.
OFFER_LISTS = (("exact", Offer()), ("4_random", Offer(3, "random")), ("4_close", Offer(3)),
         ("8_random", Offer(7, "random")), ("8_close", Offer(7)))  # fmt: skip
"""The lists that a query is asked with, and which other tools stand in each (the paper, section 3)."""


def _function_records(tasks: Sequence[Made], catalog: Catalog, seed: int) -> list[Record]:
    """A record for each function that is called, in order of first appearance, with all of its queries.

    Args:
        tasks: Plans of one call.
        catalog: All tools.
        seed: What the random lists, and the wanted function's place in each, come from.
    """
    serial = 0
    by_tool: dict[str, list[Made]] = {}
    for task in tasks:
        by_tool.setdefault(task.plan.calls[0].tool, []).append(task)
    records = []
    for number, (name, tool_tasks) in enumerate(by_tool.items(), 1):
        numbered = list(enumerate(tool_tasks, serial + 1))
        serial += len(tool_tasks)
        call = tool_tasks[0].plan.calls[0]
        tool = catalog.find(call.name, call.app)[0]
        records.append(
            {
                "function_num": number,
                "function_name": name,
                "function_info": _chat_function(tool)["function"],
                "query": [
                    {"serial_num": serial_number, "content": task.query} for serial_number, task in numbered
                ],
                "ground_truth": [
                    {
                        "serial_num": serial_number,
                        "content": json.dumps(_functionchat_record(task), ensure_ascii=False),
                    }
                    for serial_number, task in numbered
                ],
                "acceptable_arguments": [
                    {"serial_num": serial_number, "content": None} for serial_number, _ in numbered
                ],
                "tools": list(_draw_tool_lists(tool, catalog, Random(f"{seed}/{name}"))),
            }
        )
    return records


def _draw_tool_lists(tool: Tool, catalog: Catalog, random: Random) -> Iterator[Record]:
    for kind, offer in OFFER_LISTS:
        tools = [tool, *choose_distractors([tool], catalog.tools, offer, random)]
        random.shuffle(tools)
        yield {"type": kind, "content": [_chat_function(t) for t in tools]}


def _chat_function(tool: Tool) -> Record:
    return {"type": "function", "function": {**function_definition(tool), "name": tool.name}}


class _Layout(NamedTuple):
    """How records of a layout are made.

    Args:
        fit: Makes a plan one that the layout can say, or refuses it.
        record: Writes the record.
        field: The field of the record that holds the plan; "" where the record is the plan.
        dialect: The notation in which it stands there.
    """

    fit: Callable[[Made], Made | Refusal]
    record: Callable[[Made], Record]
    field: str
    dialect: str


_LAYOUTS: Mapping[str, _Layout] = {
    "planeval": _Layout(lambda task: task, _own_record, "gold", "plan"),
    "nestful": _Layout(_fit_nestful, _nestful_record, "output", "nestful"),
    "appbench": _Layout(_fit_appbench, _appbench_record, "output", "appbench"),
    "functionchat": _Layout(_fit_functionchat, _functionchat_record, "", "json"),
    "complexfuncbench": _Layout(
        _fit_complexfuncbench, _complexfuncbench_record, "conversations", "complexfuncbench"
    ),
}
