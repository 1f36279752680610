"""What a run is set up with: prompts, sampling, and how tools are listed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from planner_eval.base.errors import InputError
from planner_eval.base.resources import folder
from planner_eval.llm.templates import PromptFile, Template, fill, has_templates, read_templates
from planner_eval.prediction.constraint import Constraint
from planner_eval.prediction.published import FILE as NESTFUL
from planner_eval.prediction.published import read_published

_PUBLISHED: Mapping[str, PromptFile] = {
    "appbench/plan": PromptFile("code/prompts/appbench/api_for_all_agent.txt", ("app_api_list",), True),
    "appbench/agent": PromptFile("code/prompts/appbench/api_for_single_agent.txt", ("app_api_list",), True),
    "appbench/agent-again": PromptFile(
        "code/prompts/appbench/dependency_api_for_single_agent.txt",
        ("app_api_list", "returned_arguments"),
        True,
    ),
    "functionchat/system": PromptFile("data/system_prompt.txt", ()),
}
"""The texts that a benchmark publishes as a file of its own, which may take the place of ours."""

_FIELDS: Mapping[str, tuple[str, ...]] = {
    "appbench/apps": ("apps",),
    "appbench/plan": ("app_api_list", "today"),
    "appbench/agent": ("app_api_list", "today"),
    "appbench/agent-again": ("app_api_list", "returned_arguments"),
    "nestful/plan": ("tools", "examples"),
    "nestful/react": ("tools",),
    "callnavi/route": ("tools", "query"),
    "callnavi/plan": ("tools", "query"),
    "callnavi/fill": ("tools", "query"),
    "callnavi/backward": ("tools", "query"),
    "callnavi/backward-again": (),
    "functionchat/system": (),
    "own/plan": ("tools", "notation", "examples"),
    "own/react": ("tools",),
}
"""Our texts, ``data/prompts/NAME.txt``, and what is filled into each."""

SAMPLING: Mapping[str, Mapping[str, Any]] = {
    "appbench": {"temperature": 0.0, "max_tokens": 1024},
    "nestful": {"temperature": 0.0, "max_tokens": 1000},
    "functionchat": {"temperature": 0.1, "max_tokens": 2048},
}
"""What the published code asks with; others get :data:`USUAL`."""

USUAL: Mapping[str, Any] = {"temperature": 0.0, "max_tokens": 2048}


@dataclass(frozen=True, slots=True)
class Prompts:
    """Texts by name, with where each comes from.

    Args:
        texts: Name → text.
        origins: Name → ``"own"``, or the file's name and sha256.
        published_for: The model that NESTful's published text is for; "" for our own text.
    """

    texts: Mapping[str, str]
    origins: Mapping[str, str]
    published_for: str = ""

    def fill(self, name: str, **fields: str) -> str:
        """A text with its fields filled in, in one pass: what is put in is never looked at again."""
        return fill(self.texts[name], fields)


def our_prompts() -> Prompts:
    """The texts that come along.

    >>> our_prompts().origins["callnavi/route"]
    'own'
    """
    place = folder("data") / "prompts"
    texts = {name: (place / f"{name}.txt").read_text(encoding="utf-8").strip() for name in _FIELDS}
    return Prompts(texts, dict.fromkeys(_FIELDS, "own"))


def read_prompts(directory: Path, model: str | None = None) -> Prompts:
    """Our texts, with those of a folder in place of them.

    The folder is a clone of a benchmark's repository, holds such files directly, or holds files named as
    ours, ``callnavi/route.txt``, which need the same fields.

    Args:
        directory: The folder.
        model: The model whose text of NESTful's is meant, which has one for each.

    Raises:
        InputError: the folder holds none of these files, or one that lacks a field.
    """
    if not directory.is_dir():
        raise InputError(f"{directory} is no folder of prompts")
    ours = our_prompts()
    wanted = dict(_PUBLISHED) | {
        name: PromptFile(f"{name}.txt", fields)
        for name, fields in _FIELDS.items()
        if (directory / f"{name}.txt").is_file()
    }
    found: dict[str, Template] = {}
    for name, file in wanted.items():
        if has_templates(directory, {name: file}):
            found |= read_templates(directory, {name: file})
    nestful = read_published(directory, model)
    if nestful is not None:
        found["nestful/plan"] = nestful
    if not found:
        names = ", ".join(sorted({file.name for file in (*_PUBLISHED.values(), NESTFUL)}))
        raise InputError(
            f"{directory} holds no prompt: expected {names}, or our own names, such as callnavi/route.txt"
        )
    texts = {**ours.texts, **{name: template.text for name, template in found.items()}}
    origins = {name: f"{template.name} {template.sha256}" for name, template in found.items()}
    return Prompts(texts, {**ours.origins, **origins}, "" if nestful is None else nestful.name)


@dataclass(frozen=True, slots=True)
class Example:
    """A demonstration: a question and its answer as it should be written.

    Args:
        query: The question.
        answer: The answer.
    """

    query: str
    answer: str


@dataclass(frozen=True, slots=True)
class Setup:
    """What a pipeline is told beside its sample.

    Args:
        prompts: The texts it asks with.
        listing: How tools are listed, a name of :mod:`.listing`; "" for the data set's usual way.
        dialect: The notation asked for, of one's own tasks.
        official: Keep those oddities of the published code that change its figures.
        explain_references: Say how results of earlier calls are referred to, where the published texts leave
            that to the examples.
        today: The date that instructions are read on.
        steps: The most replies of a ``react`` run.
        turns: The most turns of a conversation with tools.
        rounds: The most rounds of ``backward`` and ``isolated``.
        examples: Demonstrations, in order; for ``isolated`` all that there are, the closest last.
        shots: How many of them an agent of one app is shown.
        history: Whose the earlier turns of a recorded conversation are: gold's, or the model's ``"own"``.
        makes_calls: The calls of one's own tasks are made.
        constrain: What holds answers to the plans of the tools that are shown; None for nothing.
    """

    prompts: Prompts = field(default_factory=our_prompts)
    listing: str = ""
    dialect: str = "json"
    official: bool = False
    explain_references: bool = False
    today: str = "2019-03-01"
    steps: int = 10
    turns: int = 200
    rounds: int = 5
    examples: tuple[Example, ...] = ()
    shots: int = 0
    history: str = "gold"
    makes_calls: bool = False
    constrain: Constraint | None = None


def sampling_of(form: str, changes: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
    """What requests for a data set ask with; a change to None leaves something out.

    >>> sampling_of("nestful", {"seed": 7, "max_tokens": None})
    {'temperature': 0.0, 'seed': 7}
    """
    chosen = {**SAMPLING.get(form, USUAL), **changes}
    return {name: value for name, value in chosen.items() if value is not None}
