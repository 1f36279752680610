"""Made records in the layouts of benchmarks and in our own, each read back before it counts as made."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from planner_eval.base.errors import ParseError, WriteError
from planner_eval.catalogs.catalog import Catalog, Parameter, Tool, Type
from planner_eval.catalogs.writers import function_of, write_tools
from planner_eval.curation.make.driving import Step
from planner_eval.curation.make.growing import Refused
from planner_eval.curation.make.record import Made, sheets
from planner_eval.execution.core import follow
from planner_eval.execution.program import outcomes
from planner_eval.plan.canonical import same
from planner_eval.plan.graph import generations
from planner_eval.plan.linking import plan_of
from planner_eval.plan.model import Call, Plan, Ref, Value
from planner_eval.reading.dialects.read import parse, write

Record: TypeAlias = dict[str, Any]

_PLAIN_KINDS = {
    "string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list",
    "object": "dict", "null": "None",
}  # fmt: skip


def fitted(form: str) -> Step:
    """What makes a plan one that a layout can say, or refuses it.

    Args:
        form: One of :data:`planner_eval.curation.make.layouts.FORMS`.
    """
    change = _FITTED[form]

    def step(task: Made) -> Made | Refused:
        changed = change(task)
        if isinstance(changed, Refused):
            return changed
        try:
            record = _RECORDS[form](changed)
            back = _BACK[form](record)
        except (WriteError, ParseError):
            return Refused(f"{form} cannot say it")
        return changed if same(back, _compared(form, changed.plan)) else Refused(f"{form} says another plan")

    return step


def records(form: str, tasks: Sequence[Made], catalog: Catalog, seed: int = 0) -> list[Record]:
    """The records of a file.

    Args:
        form: One of :data:`planner_eval.curation.make.layouts.FORMS`.
        tasks: The plans that were made, with their questions.
        catalog: All tools.
        seed: What chance comes from, where lists of tools are drawn.
    """
    if form == "functionchat":
        return sheets(tasks, catalog, seed)
    if form == "planeval":
        return [_own(task, catalog) for task in tasks]
    return [_RECORDS[form](task) for task in tasks]


def _same(task: Made) -> Made | Refused:
    return task


def _compared(form: str, plan: Plan) -> Plan:
    """The plan as a layout has it: where there are no references, the values that they stand for."""
    return resolved(plan) if form == "complexfuncbench" else plan


# ---------------------------------------------------------------- our own
def _own(task: Made, catalog: Catalog | None = None) -> Record:
    task_catalog = replace(catalog, tools=task.tools) if catalog is not None else Catalog(task.tools)
    record = {"id": task.id, "query": task.query, "gold": json.loads(write(task.plan, "plan"))}
    record["tools"] = write_tools(task_catalog, "planeval")
    if task.answer is not None:
        record["gold_answer"] = task.answer
    return {**record, "notes": dict(task.notes)}


# ---------------------------------------------------------------- NESTful
def _for_nestful(task: Made) -> Made | Refused:
    """References by the one output's name, which the benchmark's executor wants."""
    plan = task.plan
    if any(call.app for call in plan.calls):
        return Refused("NESTful's records know no apps")
    tools = {tool.name: tool for tool in task.tools}
    multi_output = [
        tool for call in plan.calls if (tool := tools[call.name]) and len(tool.returns.fields) > 1
    ]
    if multi_output:
        return Refused("NESTful's executor takes tools of one output")

    if len(outcomes(plan)) > 1:
        return Refused("NESTful's gold answer is of one call")

    def named(value: Value) -> Value:
        return Ref(value.call, ("result",)) if isinstance(value, Ref) and not value.path else value

    calls = [
        replace(call, arguments=tuple((name, named(value)) for name, value in call.arguments),
                returns=call.returns or ("result",))
        for call in plan.calls
    ]  # fmt: skip
    return replace(task, plan=plan_of(calls))


def _nestful(task: Made) -> Record:
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
        "parameters": {parameter.name: _described(parameter) for parameter in tool.parameters},
        "output_parameters": {
            field.name: {"description": field.description, "type": _words(field.type)} for field in fields
        },
    }


def _described(parameter: Parameter) -> Record:
    entry: Record = {"description": parameter.description, "type": _words(parameter.type)}
    if parameter.type.enum is not None:
        entry["enum"] = list(parameter.type.enum)
    if not parameter.required:
        entry["required"] = False
        if parameter.has_default:
            entry["default"] = parameter.default
    return entry


def _words(kind: Type) -> str:
    """A type as NESTful's specifications write it."""
    kind = kind.unfolded
    if kind.kinds == ("array",) and kind.items is not None and kind.items.kinds:
        return f"list of {_words(kind.items)}" if " " not in _words(kind.items) else "list"
    return " or ".join(_PLAIN_KINDS[name] for name in kind.kinds) or "any"


# ---------------------------------------------------------------- AppBench
def _for_appbench(task: Made) -> Made | Refused:
    """Every call with its outputs' names; with those alone that are used, where others would hide them."""
    plan = replace(task.plan, answer=None)  # every result reaches the user, as one that names them all says
    if not all(call.app for call in plan.calls):
        return Refused("AppBench's records take calls of apps")
    texts = [value for call in plan.calls for _, value in call.arguments if isinstance(value, str)]
    if any("'" in text or "#" in text for text in texts):
        return Refused("AppBench's lines trip over a text's quotes")
    used = [{edge.path[0] for edge in plan.edges if edge.producer == index} for index in range(len(plan))]
    few = [
        tuple(name for name in call.returns if name in used[index]) or _told(call)
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
    return Refused("AppBench's names hide one another")


def _told(call: Call) -> tuple[str, ...]:
    """An output that is not what the call was given, where there is one."""
    argument_names = {name for name, _ in call.arguments}
    return tuple(name for name in call.returns if name not in argument_names)[:1] or call.returns[:1]


def _appbench(task: Made) -> Record:
    plan = task.plan
    lines = write(plan, "appbench").split("\n")
    bare = [
        line.removeprefix(f"{call.app}: [").removesuffix("]")
        for line, call in zip(lines, plan.calls, strict=True)
    ]
    literals = {
        name: value for call in plan.calls for name, value in call.arguments if not isinstance(value, Ref)
    }
    output = {
        "used_app": [call.app for call in plan.calls],
        "used_api": [
            {call.name: {name: _bare(value) for name, value in call.arguments}} for call in plan.calls
        ],
        "result_arguments": [list(call.returns) for call in plan.calls],
        "api_results": bare,
        "middle_arguments": list(dict.fromkeys(str(edge.path[0]) for edge in plan.edges)),
        "user_aware_arguments": literals,
    }
    return {"input": task.query, "output": output}


def _bare(value: Value) -> Any:
    return str(value.path[0]) if isinstance(value, Ref) else value


# ---------------------------------------------------------------- ComplexFuncBench, FunctionChat-Bench
def _for_complexfuncbench(task: Made) -> Made | Refused:
    ran = all(call.has_result for call in task.plan.calls)
    if any(call.app for call in task.plan.calls):
        return Refused("ComplexFuncBench's records know no apps")
    return (
        task if ran else Refused("ComplexFuncBench's records hold what each call came to: plans must be run")
    )


def resolved(plan: Plan) -> Plan:
    """The plan with what calls came to in place of references."""

    def value(argument: Value) -> Value:
        if not isinstance(argument, Ref):
            return argument
        producer = plan.calls[argument.call]
        return follow(producer.result, list(argument.path), list(producer.returns))

    return Plan(
        tuple(
            Call(
                call.id,
                call.name,
                tuple((name, value(argument)) for name, argument in call.arguments),
                call.app,
            )
            for call in plan.calls
        )
    )


def _complexfuncbench(task: Made) -> Record:
    plan = task.plan
    flat = resolved(plan)
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
    ends = [plan.calls[index].result for index in outcomes(plan)]
    talk.append(
        {"role": "assistant", "content": json.dumps(ends[0] if len(ends) == 1 else ends, ensure_ascii=False)}
    )
    return {"id": task.id, "conversations": talk, "functions": [_flat(tool) for tool in task.tools]}


def _flat(tool: Tool) -> Record:
    """A function as ComplexFuncBench describes it: one word for each parameter's type."""
    function = function_of(tool)
    fields = {name: dict(entry) for name, entry in function["parameters"].get("properties", {}).items()}
    for entry in fields.values():
        if isinstance(entry.get("type"), list):
            words = [word for word in entry["type"] if word != "null"]
            entry["type"] = "number" if "number" in words else (words or ["null"])[0]
    return {**function, "parameters": {**function["parameters"], "properties": fields}}


def _for_functionchat(task: Made) -> Made | Refused:
    return task if len(task.plan) == 1 else Refused("FunctionChat-Bench's single calls are plans of one call")


def _call(task: Made) -> Record:
    call = task.plan.calls[0]
    return {"name": call.name, "arguments": json.dumps(dict(call.arguments), ensure_ascii=False)}


_FITTED: Mapping[str, Callable[[Made], Made | Refused]] = {
    "planeval": _same,
    "nestful": _for_nestful,
    "appbench": _for_appbench,
    "functionchat": _for_functionchat,
    "complexfuncbench": _for_complexfuncbench,
}
_RECORDS: Mapping[str, Callable[[Made], Record]] = {
    "planeval": _own,
    "nestful": _nestful,
    "appbench": _appbench,
    "functionchat": _call,
    "complexfuncbench": _complexfuncbench,
}
_BACK: Mapping[str, Callable[[Record], Plan]] = {
    "planeval": lambda record: parse(record["gold"], dialect="plan"),
    "nestful": lambda record: parse(record["output"], dialect="nestful"),
    "appbench": lambda record: parse(record["output"], dialect="appbench"),
    "functionchat": lambda record: parse(record, dialect="json"),
    "complexfuncbench": lambda record: parse(record["conversations"], dialect="complexfuncbench"),
}
