"""JSON Schema of what people write by hand, and of reports."""

from __future__ import annotations

import json
from importlib import import_module

from planner_eval.base.errors import NAME, InputError, expect
from planner_eval.base.resources import read
from planner_eval.base.text import JsonObject, did_you_mean

SCHEMAS: dict[str, tuple[str, str, str]] = {
    "settings": ("comparison.schemas", "SettingsFile", "a project's settings: planeval.toml, --config FILE"),
    "policy": ("comparison.schemas", "PolicyFile", "how values are compared: --policy FILE"),
    "world": ("execution.worlds.schema", "WorldFile", "a simulated world: --tools world:FILE"),
    "record": ("reading.schemas", "GoldRecord", "a gold record: other right answers besides its plan"),
    "plan": ("reading.schemas", "PlanFile", "plans as interchange JSON: --to plan"),
    "wrappers": (
        "reading.schemas",
        "WrappersFile",
        "notations and frameworks of one's own: --wrappers FILE",
    ),
    "theme": ("results.schema", "ThemeFile", "the theme of drawings: --theme FILE"),
    "patch": ("comparison.schemas", "PatchFile", "a repair: diff --patch, convert --patch"),
    "prices": ("models.prices", "PricesFile", "prices of models: predict --run prices=FILE"),
    "datasets": (
        "benchmarks.datasets.schema",
        "DatasetsFile",
        "the table of published data: data/datasets.json",
    ),
    "to-make": (
        "benchmarks.datasets.schema",
        "ToMakeFile",
        "what no plan uses: data coverage --to-make FILE",
    ),
    "report": ("", "ReportData", "what score --format json writes"),
    "effects": ("", "EffectsData", "what diff --execute --format json writes of a pair"),
    "contrast": ("", "ContrastData", "what compare --format json writes of two systems"),
    "comparison": ("", "ComparisonData", "what compare --format json writes of more"),
}
"""Name → the module and the model that describes it, and where it is met.

What no model checks, for we write it ourselves, has no module but a file in ``data/schemas/``.
"""


def schema(name: str) -> JsonObject:
    """The JSON Schema (draft 2020-12) of a kind of file.

    Args:
        name: One of :data:`SCHEMAS`.

    Raises:
        InputError: there is none of that name.

    >>> schema("policy")["$schema"]
    'https://json-schema.org/draft/2020-12/schema'
    """
    expect(NAME, name=name)
    if name not in SCHEMAS:
        raise InputError(f"there is no schema {name!r}; {did_you_mean(name, SCHEMAS, ', '.join(SCHEMAS))}")
    module, model, _ = SCHEMAS[name]
    if not module:
        shipped: JsonObject = json.loads(read(f"data/schemas/{name}.json"))
        return shipped
    from planner_eval.base.schema_models import json_schema

    return json_schema(getattr(import_module(f"planner_eval.{module}"), model))
