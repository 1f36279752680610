"""From the text that a model wrote to the data that CallNavi's scorer sees.

Nothing is evaluated and nothing raises: what the published code could not dump is a
:class:`WashedAnswer` that names the exception.

Source: CallNavi's washing scripts; paper section 5.1 (syntax validity), appendix E.4 (YAML).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from planner_eval.base.frozen import fast_frozen
from planner_eval.base.json_text import JSON_WHITESPACE, fast_json_loads

MAX_JSON_CHARS = 16 * 2**20
"""Longer JSON texts are refused, and counted as unreadable."""
MAX_YAML_CHARS = 256 * 2**10
"""Longer YAML texts are refused: the YAML parser is a thousand times slower than the JSON parser."""
MAX_YAML_NODES = 1_000_000
"""YAML whose aliases stand for more nodes than this is refused: ten short lines can mean billions."""

Reader = Callable[[str], "WashedAnswer"]
"""What makes data of text: :func:`wash_json`, :func:`read_json` and their YAML twins."""


@fast_frozen
class WashedAnswer:
    """What is left of a prediction after washing.

    Args:
        value: The data; ``{}`` where the text could not be parsed.
        valid: The text could be parsed, so that it counts towards syntax validity.
        error: ``"LimitError: …"`` for a text that is refused, or the exception with which the
            published washing ends on it; None otherwise.
    """

    value: Any
    valid: bool
    error: str | None = None


def wash_json(text: str) -> WashedAnswer:
    r"""Quotes made double, code fences deleted, the rest read as JSON.

    An apostrophe inside a string becomes a quote as well, so correct JSON with one is not valid.

    Args:
        text: A model's answer as written.

    >>> wash_json("```json\n{'API': []}\n```")
    WashedAnswer(value={'API': []}, valid=True, error=None)
    >>> wash_json('Here it is: {}').valid
    False
    """
    return read_json(text.replace("'", '"').replace("```json", "").replace("```", ""))


def read_json(text: str) -> WashedAnswer:
    """The text read as JSON as it stands: how a repaired answer is read."""
    if len(text) > MAX_JSON_CHARS:
        return WashedAnswer(
            {}, False, f"LimitError: {len(text)} characters, at most {MAX_JSON_CHARS} are read"
        )
    try:
        return WashedAnswer(fast_json_loads(text.strip(JSON_WHITESPACE)), True)
    except (ValueError, RecursionError):
        return WashedAnswer({}, False)


def wash_yaml(text: str) -> WashedAnswer:
    r"""Quotes made double, the word "yaml" before a line's end and fences deleted, the rest read as YAML.

    Dates become texts and keys are sorted, for the published scripts hand the data on as sorted JSON.

    Args:
        text: A model's answer as written.

    >>> wash_yaml("API:\n- pay\nparameters:\n- {day: 2024-05-01}").value
    {'API': ['pay'], 'parameters': [{'day': '2024-05-01'}]}
    >>> wash_yaml("Sorry, I cannot help.").valid
    True
    """
    return read_yaml(text.replace("'", '"').replace("yaml\n", "").replace("```", ""))


def read_yaml(text: str) -> WashedAnswer:
    """The text read as YAML as it stands: how a repaired answer is read."""
    if len(text) > MAX_YAML_CHARS:
        return WashedAnswer(
            {}, False, f"LimitError: {len(text)} characters, at most {MAX_YAML_CHARS} are read"
        )
    import yaml

    try:
        if "*" in text and "&" in text and _count_expanded_nodes(text) > MAX_YAML_NODES:
            return WashedAnswer({}, False, f"LimitError: aliases stand for more than {MAX_YAML_NODES} nodes")
        value = yaml.load(text, Loader=_yaml_loader(text))
    except Exception:  # the YAML parser lets KeyError, IndexError and more out on bad tags
        return WashedAnswer({}, False)
    return _pass_through_json(value)


_PLAIN_YAML = re.compile(r"""(?:[\n A-Za-z0-9{}\[\],"'\-._/$+()=~;^<]++|:(?![\[\]{},]))*+""")
"""Texts that both of PyYAML's parsers read alike, and refuse alike."""
_MAX_LEVELS = 100


def _yaml_loader(text: str) -> Any:
    """The parser of YAML: the one in C, ten times as fast, where it takes a text as Python's does.

    It reads tabs, byte order marks, tags and block texts otherwise, and goes deeper.
    """
    import yaml

    levels = text.count("[") + text.count("{") + text.count("- -")
    if levels > _MAX_LEVELS or " " * _MAX_LEVELS in text or _PLAIN_YAML.fullmatch(text) is None:
        return yaml.SafeLoader
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _pass_through_json(value: Any) -> WashedAnswer:
    """The value after the detour through sorted JSON text that the YAML scripts take."""
    try:
        return WashedAnswer(json.loads(json.dumps(value, sort_keys=True, default=_as_text)), True)
    except (TypeError, ValueError, RecursionError) as problem:
        # Python's two JSON writers word it differently; the published scripts use the one without modules.
        text = str(problem).replace("not datetime.", "not ")
        return WashedAnswer({}, True, f"{type(problem).__name__}: {text}")


def _as_text(value: object) -> str:
    """``str(value)``, in a fixed order for a set."""
    if isinstance(value, set):
        return "{" + ", ".join(sorted(map(repr, value))) + "}" if value else "set()"
    return str(value)


def _count_expanded_nodes(text: str) -> int:
    """How many nodes the text stands for once every alias is replaced; stops above the limit."""
    import yaml

    total = 0
    sizes: dict[str, int] = {}
    opened: list[tuple[str | None, int]] = []
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.AliasEvent):
            total += sizes.get(event.anchor or "", 1)
        elif isinstance(event, yaml.ScalarEvent):
            total += 1
            if event.anchor:
                sizes[event.anchor] = 1
        elif isinstance(event, yaml.CollectionStartEvent):
            opened.append((event.anchor, total))
            total += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = opened.pop()
            if anchor:
                sizes[anchor] = total - before
        if total > MAX_YAML_NODES:
            break
    return total
