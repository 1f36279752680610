"""Tools as a model is shown them: in prompts, as the protocol's ``tools``, and by an example.

AppBench's three ways print what the published classes print, Python's texts of dicts included; CallNavi's
``docstring`` and ``python`` are its code's, ``json`` and ``yaml`` what its paper names.

Source: AppBench at 81539ee; CallNavi at 520e280, Asyn.py, APIOnly.py, YAML_prediction.py; NESTful, eval.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

from planner_eval.base.errors import InputError
from planner_eval.catalogs.catalog import Catalog, Parameter, Tool
from planner_eval.catalogs.json_schema.types import schema_of
from planner_eval.models.pipelines.pipeline import Task, read_tools
from planner_eval.reading.dialects import get
from planner_eval.reading.dialects.read import parse

# ----------------------------------------------------------------------
# Catalogs as prompts: the ways in which the benchmarks show their tools to a model, and our own.
PUBLISHED_APPS = (
    "Hotels", "Rents", "Buses", "Events", "Flights", "Homes", "Media", "Movies", "Music", "Payment",
    "Restaurants", "Services", "Trains", "Travel", "Weather",
)  # fmt: skip
"""AppBench's apps in the order in which its code lists them."""


# ---------------------------------------------------------------- AppBench
def apps_in_order(catalogue: Any) -> list[Mapping[str, Any]]:
    """The apps on offer: the published ones in the published order, then others as they stand.

    Apps of which the catalogue says that the benchmark does not list them are left out.

    >>> [app["app"] for app in apps_in_order({"apps": [{"app": "B"}, {"app": "Rents"}]})]
    ['Rents', 'B']
    """
    listed = catalogue.get("apps") if isinstance(catalogue, Mapping) else None
    if not isinstance(listed, list) or not all(isinstance(a, Mapping) and "app" in a for a in listed):
        raise InputError('expected AppBench\'s catalogue: {"apps": [{"app": …, "apis": […]}, …]}')
    positions = {name: number for number, name in enumerate(PUBLISHED_APPS)}
    offered = [app for app in listed if app.get("listed_in_benchmark") is not False]
    return sorted(offered, key=lambda app: positions.get(str(app["app"]), len(PUBLISHED_APPS)))


def app_lines(catalogue: Any) -> str:
    r"""The apps with their descriptions: what the first stage chooses from.

    >>> app_lines({"apps": [{"app": "Weather", "description": "the weather", "apis": []}]})
    'Weather: the weather \n\n '
    """
    return "".join(f"{a['app']}: {a.get('description') or ''} \n\n " for a in apps_in_order(catalogue))


def app_catalogue(catalogue: Any, apps: Iterable[str] | None = None) -> str:
    """The apps with all that is said of their APIs; of all, or of some, in the catalogue's order."""
    names = None if apps is None else set(apps)
    chosen = [app for app in apps_in_order(catalogue) if names is None or app["app"] in names]
    return "".join(f"{app['app']}: {_app_data(app)!r} \n\n " for app in chosen)


def api_lines(catalogue: Any, app: str) -> str:
    """The APIs of one app, without its name."""
    entry = next(candidate for candidate in apps_in_order(catalogue) if candidate["app"] == app)
    return "".join(f"{api['name']}: {_api_data(api)!r} \n " for api in entry.get("apis") or ())


def _app_data(app: Mapping[str, Any]) -> dict[str, Any]:
    apis = {str(api["name"]): _api_data(api) for api in app.get("apis") or ()}
    return {"desc": app.get("description") or "", "base_required_arguments": {}, "APIs": apis}


def _api_data(api: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "desc": api.get("description") or "",
        "is_transactional": bool(api.get("is_transactional")),
        "additional_required_arguments": _argument_texts(api.get("required_arguments")),
        "optional_arguments": _argument_texts(api.get("optional_arguments")),
        "result_arguments": _argument_texts(api.get("returned_arguments")),
    }


def _argument_texts(entries: Any) -> dict[str, str]:
    named = [(f"{e['name']} ({e['type']})" if e.get("type") else str(e["name"]), e) for e in entries or ()]
    return {name: str(entry.get("description") or "") for name, entry in named}


# ---------------------------------------------------------------- lists of tools as released
def as_json(tools: Any) -> str:
    """The list as one line of JSON, keys as they stand."""
    return json.dumps(tools, ensure_ascii=False)


def as_yaml(tools: Any) -> str:
    """The list as YAML, keys sorted."""
    import yaml

    return str(yaml.safe_dump(tools, allow_unicode=True))


def as_docstrings(tools: Sequence[Mapping[str, Any]]) -> str:
    r"""CallNavi's list as functions without bodies, parameters run together as its code prints them.

    >>> as_docstrings([{"name": "f", "parameters": ["a", "b"], "returnParameter": "c"}]).splitlines()[5:7]
    ['   Args:', '   a (str)b (str)']
    """
    return "".join(map(_docstring, tools))


def _docstring(tool: Mapping[str, Any]) -> str:
    parameters = tool.get("parameters", {})
    params = str(parameters).replace("[", "").replace("]", "")
    returned = str(tool.get("returnParameter")).translate({ord(mark): None for mark in "{}'"})
    args = "".join(f"{name} (str)" for name in parameters)
    described = tool.get("description") or ""
    return (
        f"Function:\ndef {tool['name']}({params})\n"
        f'   """\n   {described}\n\n   Args:\n   {args}\n\n   Returns:\n   {returned}\n   """\n\n'
    )


CALLNAVI_LISTINGS: Mapping[str, Callable[[Any], str]] = {
    "json": as_json,
    "docstring": as_docstrings,
    "python": str,
    "yaml": as_yaml,
}
"""The ways in which CallNavi's lists are shown."""


# ---------------------------------------------------------------- catalogs of any format
def name_lines(catalog: Catalog) -> str:
    r"""A line a tool: its name and what it does.

    >>> name_lines(Catalog((Tool("roll", description="Roll dice."),)))
    'roll: Roll dice.\n'
    """
    return "".join(f"{tool.full_name}: {' '.join(tool.description.split())}\n" for tool in catalog.tools)


def docstrings(catalog: Catalog) -> str:
    r"""The tools as functions without bodies, a line a parameter.

    >>> docstrings(Catalog((Tool("roll", parameters=(Parameter("sides"),)),))).splitlines()[4]
    '        sides (anything)'
    """
    return "\n".join(map(_function_docstring, catalog.tools))


def _function_docstring(tool: Tool) -> str:
    needed = [parameter for parameter in tool.parameters if parameter.required]
    optional = [parameter for parameter in tool.parameters if not parameter.required]
    names = [
        *(parameter.name for parameter in needed),
        *(f"{parameter.name}={parameter.default!r}" for parameter in optional),
    ]
    lines = [f"def {tool.full_name}({', '.join(names)}):", f'    """{tool.description}'.rstrip()]
    if tool.parameters:
        lines += [
            "",
            "    Args:",
            *(f"        {_parameter_line(parameter)}" for parameter in (*needed, *optional)),
        ]
    outputs = [f"        {_parameter_line(field)}" for field in tool.returns.fields]
    lines += ["", "    Returns:", *outputs] if outputs else []
    return "\n".join([*lines, '    """', ""])


def _parameter_line(parameter: Parameter) -> str:
    optional = "" if parameter.required else ", optional"
    described = f": {parameter.description}" if parameter.description else ""
    return f"{parameter.name} ({parameter.type}{optional}){described}"


def functions_data(catalog: Catalog) -> list[dict[str, Any]]:
    """The tools as JSON data: name, description, parameters as JSON Schema, and what they return."""
    from planner_eval.catalogs.writers import function_definition

    functions = []
    for tool in catalog.tools:
        returns = tool.returns_schema
        if returns is None and tool.returns.fields:
            returns = schema_of(tool.returns)
        functions.append(function_definition(tool) | ({"returns": returns} if returns else {}))
    return functions


OWN_LISTINGS: Mapping[str, Callable[[Catalog], str]] = {
    "json": lambda catalog: as_json(functions_data(catalog)),
    "docstring": docstrings,
    "lines": name_lines,
    "yaml": lambda catalog: as_yaml(functions_data(catalog)),
}
"""The ways in which one's own catalogs are shown."""


def format_tools(tools: Any, form: str, forms: Mapping[str, Callable[[Any], str]]) -> str:
    """The tools in one of the ways that a data set has.

    Raises:
        InputError: it has no such way.
    """
    if form not in forms:
        raise InputError(f"tools cannot be listed as {form!r} here; expected one of {', '.join(forms)}")
    return forms[form](tools)


# ----------------------------------------------------------------------
# Tools as the protocol's ``tools``: names that endpoints take, and the way back to the sample's own.
_INVALID_CHARACTER = re.compile(r"[^A-Za-z0-9_-]")
_MAX_NAME_CHARS = 64


@dataclass(frozen=True, slots=True)
class Offer:
    """Tools on offer.

    Args:
        tools: As they are sent.
        names: Name as sent → the sample's own.
    """

    tools: tuple[Mapping[str, Any], ...]
    names: Mapping[str, str]


def offer_of(task: Task) -> Offer:
    """A task's tools as endpoints take them.

    Raises:
        InputError: the tools cannot be read.

    >>> offer = offer_of(Task("complexfuncbench", "?", (), [{"name": "Get Room", "parameters": {}}]))
    >>> offer.names, offer.tools[0]["function"]["name"]
    ({'Get-Room': 'Get Room'}, 'Get-Room')
    """
    if task.form == "functionchat":
        return _rename_tools(task.tools)
    if task.form == "complexfuncbench":
        return _rename_tools([{"type": "function", "function": dict(tool)} for tool in task.tools])
    return _rename_tools(
        [
            {"type": "function", "function": _endpoint_function(function)}
            for function in functions_data(catalog_of(task))
        ]
    )


def catalog_of(task: Task) -> Catalog:
    """A task's tools as a catalog.

    Raises:
        InputError: they cannot be read.
    """
    format = "openai" if task.form in ("functionchat", "complexfuncbench") else task.form
    return read_tools(task.tools, format)


def _endpoint_function(function: Mapping[str, Any]) -> dict[str, Any]:
    """A function as endpoints know it: what it returns is said in its description."""
    sent_function = {key: value for key, value in function.items() if key != "returns"}
    if "type" not in (sent_function.get("parameters") or {"type": "object"}):  # but allOf or a $ref: refused
        sent_function["parameters"] = {"type": "object", **sent_function["parameters"]}
    outputs = (function.get("returns") or {}).get("properties") or {}
    if outputs:
        sent_function["description"] = (
            f"{sent_function.get('description') or ''} Returns: {', '.join(outputs)}.".lstrip()
        )
    return sent_function


def _rename_tools(tools: Sequence[Mapping[str, Any]]) -> Offer:
    """The tools under names that endpoints take; where two would be alike the second gets a number."""
    names: dict[str, str] = {}
    sent = []
    for tool in tools:
        own, number = str(tool["function"]["name"]), 2
        name = _INVALID_CHARACTER.sub("-", own)[:_MAX_NAME_CHARS]
        while names.get(name, own) != own:
            name = f"{name[: _MAX_NAME_CHARS - 4]}-{number}"
            number += 1
        names[name] = own
        sent.append({**tool, "function": {**tool["function"], "name": name}} if name != own else tool)
    return Offer(tuple(sent), names)


# ----------------------------------------------------------------------
# The example that shows a notation to a model: it calls no tool that is on offer.
_SPARE_NAMES = ("brew_tea", "fold_map", "ring_bell", "sort_stamps")
"""Names that take the place of those that are on offer."""


def dialect_example(dialect: str, offered: Iterable[str]) -> str:
    """A dialect's example, in which tools on offer have other names.

    Args:
        dialect: The dialect's name.
        offered: The names of the tools on offer.

    >>> print(dialect_example("json", ["roll", "brew_tea"]))
    [{"name": "get_weather", "arguments": {"city": "Rome"}}, {"name": "fold_map", "arguments": {"sides": 6}}]
    """
    text, offered_names = get(dialect).example, set(offered)
    calls = parse(text, dialect=dialect).calls
    own = {call.name for call in calls}
    clashing = dict.fromkeys(
        call.name for call in calls if not offered_names.isdisjoint((call.name, call.tool))
    )
    spare_names = chain(_SPARE_NAMES, (f"tool_{number}" for number in count(1)))
    free = (name for name in spare_names if name not in offered_names and name not in own)
    instead = dict(zip(clashing, free, strict=False))
    if not instead:
        return text
    names = "|".join(map(re.escape, instead))
    start = r"(?:(?<!\w)|(?<=\\n))"  # code within JSON has its line ends as \n
    return re.sub(rf"{start}(?:{names})(?!\w)", lambda match: instead[match[0]], text)
