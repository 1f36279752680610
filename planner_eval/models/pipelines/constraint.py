"""Grammars for what a model answers: made of the tools that its prompt shows, and sent with the request."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from planner_eval.base.errors import InputError
from planner_eval.base.text import did_you_mean
from planner_eval.catalogs.grammars.grammar import Grammar, make_grammar, refuse_unknown
from planner_eval.models.pipelines.tool_lists import catalog_of

if TYPE_CHECKING:
    from planner_eval.catalogs.catalog import Catalog
    from planner_eval.models.pipelines.pipeline import Task
    from planner_eval.models.pipelines.setup import Setup


SERVERS: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "vllm": lambda text: {"structured_outputs": {"grammar": text}},
    "vllm-guided": lambda text: {"guided_grammar": text},
    "sglang": lambda text: {"ebnf": text},
    "llama.cpp": lambda text: {"grammar": text},
}
"""The field of a request in which a server takes a grammar, as GBNF. ``vllm-guided`` is vLLM until 0.11."""

SERVED_PIPELINES = (("flat", "own"), ("flat", "nestful"), ("flat", "appbench"), ("hierarchical", "appbench"))
"""The pipelines, with the data sets, of which one answer is a whole plan."""

_DIALECTS = {"nestful": "nestful", "appbench": "appbench"}


class Constraint(NamedTuple):
    """What holds the model's answers.

    Args:
        by: ``"schema"``, sent as ``response_format``; or ``"grammar"``, sent as the server takes it.
        server: With a grammar: the server, one of :data:`SERVERS`.
        max_calls: How many calls a plan may have.
    """

    by: str
    server: str = "vllm"
    max_calls: int = 8

    @property
    def target(self) -> str:
        """The form of the grammar."""
        return "json-schema" if self.by == "schema" else "gbnf"


def refuse_unserved(constraint: Constraint, pipeline: str, form: str, dialect: str) -> None:
    """Refuse what cannot be held, before anything is asked.

    Raises:
        InputError: the pipeline's answers are no whole plans, or their notation has no such grammar.
    """
    if (pipeline, form) not in SERVED_PIPELINES:
        able = " or ".join(dict.fromkeys(name for name, _ in SERVED_PIPELINES))
        raise InputError(
            f"--constrain holds an answer that is a whole plan, and {pipeline} asks {form} for none: "
            f"it applies to {able}, with AppBench, NESTful or tasks of your own"
        )
    if constraint.server not in SERVERS:
        hint = did_you_mean(constraint.server, SERVERS, f"there are {', '.join(SERVERS)}")
        raise InputError(f"no server is known as {constraint.server!r}: {hint}")
    refuse_unknown(_DIALECTS.get(form, dialect), constraint.target, constraint.max_calls)


def request_fields(task: Task, setup: Setup) -> dict[str, Any]:
    """What a request for a plan says beside, so that the answer is one.

    Args:
        task: What may be seen of the sample; its tools are those of the prompt.
        setup: What the pipeline is told.

    Raises:
        InputError: no grammar can be made of the tools.
    """
    if setup.constrain is None:
        return {}
    catalog, dialect = catalog_of(task), _DIALECTS.get(task.form, setup.notation)
    options = (dialect, setup.constrain.target, setup.constrain.max_calls)
    try:
        grammar = _cached_grammar(catalog, *options)
    except TypeError:  # a listed value that is a list has no hash
        grammar = make_grammar(catalog, *options)
    if grammar.schema is None:
        return SERVERS[setup.constrain.server](grammar.text)
    json_schema = {"name": "plan", "schema": dict(grammar.schema), "strict": grammar.strict}
    return {"response_format": {"type": "json_schema", "json_schema": json_schema}}


@lru_cache(maxsize=16)
def _cached_grammar(catalog: Catalog, dialect: str, target: str, max_calls: int) -> Grammar:
    """The grammar of a catalog that many samples share."""
    return make_grammar(catalog, dialect, target, max_calls)


def unwrap_answer(text: str, task: Task, setup: Setup) -> str:
    """An answer in its notation: without the object that a schema puts around a list of calls.

    >>> from planner_eval.models.pipelines.setup import Setup
    >>> from planner_eval.models.pipelines.pipeline import Task
    >>> unwrap_answer('{"calls": []}', Task("own", "?", (), ()), Setup(constrain=Constraint("schema")))
    '[]'
    """
    if setup.constrain is None or setup.constrain.by != "schema":
        return text
    if _DIALECTS.get(task.form, setup.notation) == "plan":
        return text
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):  # it was cut, or the server held it to nothing
        return text
    if isinstance(data, dict) and data.keys() == {"calls"} and isinstance(data["calls"], list):
        return json.dumps(data["calls"], ensure_ascii=False)
    return text
