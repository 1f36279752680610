"""Policies from files: presets by name, TOML files, a project's ``planeval.toml``.

    extends = "default"            # a preset or a file; its rules come first, so these win
    order = "data"                 # data, free, written or flat
    wildcards = ["$$$"]
    catalog = "tools.json"         # defaults, the only output of a tool, and which tools there are

    reads = "free"                 # calls of tools that only read, as the catalog says, do not count
    failed = "free"                # nor do calls whose recorded answer is an error
    extra = "free"                 # nor calls that gold does not make; `missing` likewise of the prediction

    [[tool]]
    name = ["get_*", "think"]
    counts = "never"               # always, if gold calls it, never

    [[rule]]
    tool = "Hotels.*"
    argument = "city"
    compare = ["casefold"]
    aliases = {nyc = "New York"}   # or the name of a built-in table: "cities"

A ``pyproject.toml`` holds the same under ``[tool.planeval]``, with ``[[tool.planeval.rule]]``. Both hold a
project's settings as well, ``[fields]`` and others, which stand in for options of the command line.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from planner_eval.base.errors import CatalogError, PolicyError
from planner_eval.base.input_files import read_text
from planner_eval.base.resources import folder, service
from planner_eval.base.text import did_you_mean
from planner_eval.comparison.policy.policy import DEFAULT_POLICY, Policy, ToolCount, fits, has_wildcard
from planner_eval.comparison.policy.values import NOTHING, Rule

KeyPath: TypeAlias = "tuple[str | int, ...]"
"""The way to a key of a file."""
KeyPathFormatter: TypeAlias = Callable[[KeyPath], str]
"""From a place in a file to what messages call it."""


def presets() -> tuple[str, ...]:
    """The names of the presets.

    >>> "lenient" in presets()
    True
    """
    return ("default", *sorted(path.stem for path in (folder("data") / "policies").glob("*.toml")))


def load_policy(name: str) -> Policy:
    """A preset by its name, or the policy of a TOML file.

    Raises:
        PolicyError: there is neither, or the file says something impossible; names the place.

    >>> load_policy("lenient").inline
    True
    """
    if name == "default":
        return DEFAULT_POLICY
    path = Path(name)
    if not path.is_file():
        path = folder("data") / "policies" / f"{name}.toml"
        if "/" in name or not path.is_file():
            hint = did_you_mean(name, presets(), f"not one of {', '.join(presets())}")
            raise PolicyError(f"unknown policy {name!r}: not a file; {hint}")
        data = _parse_toml(read_text(path, error=PolicyError), path)
        preset = _make_policy(data, path, lambda _: str(path))
        # a preset may name tools that some data does not have
        rules = tuple(replace(rule, where="") for rule in preset.rules)
        return replace(preset, rules=rules, counts=tuple(replace(row, where="") for row in preset.counts))
    return read_policy(path)


class Settings(NamedTuple):
    """What a project keeps in a file.

    Args:
        policy: Whether it says how values compare.
        kept: What stands in for options, by its table: ``fields``, ``dialects``, ``metrics``, ``thresholds``.
    """

    policy: bool
    kept: Mapping[str, Any]


def read_settings(path: Path) -> Settings:
    """The settings of a project's file, but for the policy, which :func:`read_policy` reads.

    Raises:
        PolicyError: the file cannot be read, or says something impossible; names the place.
    """
    from planner_eval.comparison.schemas import PolicyFile

    data, _ = _read_checked(path, settings=True)
    keys = PolicyFile.known_keys()
    return Settings(
        any(key in keys for key in data), {key: item for key, item in data.items() if key not in keys}
    )


def read_policy(
    path: Path, *, settings: bool = False, unknown: Callable[[str], object] | None = None
) -> Policy:
    """The policy of one TOML file.

    Args:
        path: The file.
        settings: It holds a project's settings beside its policy, as one called ``planeval.toml`` does.
        unknown: As for :class:`planner_eval.comparison.policy.policy.Policy`.

    Raises:
        PolicyError: the file cannot be read, or says something impossible; names the place.
    """
    policy = _read_policy_file(path, settings=settings)
    return policy if unknown is None else replace(policy, unknown=unknown)


_PROJECT_FILES = ("planeval.toml", "pyproject.toml")
"""Files that hold a project's settings beside its policy."""


def _read_policy_file(path: Path, extending: tuple[Path, ...] = (), *, settings: bool = False) -> Policy:
    """The policy of a file, which those `extending` it extend."""
    data, where = _read_checked(path, settings=settings or path.name in _PROJECT_FILES)
    if path.resolve() in (file.resolve() for file in extending):
        route = " → ".join(map(str, (*extending, path)))
        raise PolicyError(f"{path}: extends leads back to this file: {route}; name a preset or another file")
    return _make_policy(data, path, where, (*extending, path))


def _read_checked(path: Path, *, settings: bool) -> tuple[dict[str, Any], KeyPathFormatter]:
    """What a file says, checked, of a pyproject.toml our table alone; and how its places are called."""
    from planner_eval.comparison.schemas import PolicyFile, SettingsFile

    text = read_text(path, error=PolicyError)
    data = _parse_toml(text, path)
    within: KeyPath = ()
    if path.name == "pyproject.toml":
        within = ("tool", "planeval")
        tools = data.get("tool", {})
        data = tools.get("planeval", {}) if isinstance(tools, dict) else {}

    lines = lines_of(text)

    def where(key_path: KeyPath) -> str:
        line = line_of(lines, (*within, *key_path))
        return str(path) if line is None else f"{path}, line {line}"

    (SettingsFile if settings else PolicyFile).check(data, where, PolicyError)
    return data, where


def _parse_toml(text: str, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise PolicyError(f"{path}: {error}") from None


_TABLE_HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]")
_KEY = re.compile(r"""\s*([\w."'-]+)\s*=""")


def lines_of(text: str) -> dict[KeyPath, int]:
    r"""The lines of a TOML text where its tables and keys stand; those within a value are not looked for.

    >>> lines_of("a = 1\n[[rule]]\n[[rule]]\ntool = 'f'")
    {('a',): 1, ('rule',): 2, ('rule', 0): 2, ('rule', 1): 3, ('rule', 1, 'tool'): 4}
    """
    lines: dict[KeyPath, int] = {}
    table: KeyPath = ()
    counts: dict[KeyPath, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if head := _TABLE_HEADER.match(line):
            key_path = table = _split_key(head[2])
            if head[1] == "[[":
                lines.setdefault(table, number)
                counts[table] = counts.get(table, -1) + 1
                key_path = table = (*table, counts[table])
        elif key := _KEY.match(line):
            key_path = (*table, *_split_key(key[1]))
        else:
            continue
        lines.setdefault(key_path, number)
    return lines


def line_of(lines: Mapping[KeyPath, int], key_path: KeyPath) -> int | None:
    """The line of a key, or of what holds it; None where that cannot be told.

    >>> line_of({("rule", 0): 2}, ("rule", 0, "tool"))
    2
    """
    return next((lines[key_path[:to]] for to in range(len(key_path), 0, -1) if key_path[:to] in lines), None)


def _split_key(text: str) -> tuple[str | int, ...]:
    return tuple(word.strip().strip("\"'") for word in text.split("."))


def _make_policy(
    data: Mapping[str, Any], path: Path, where: KeyPathFormatter, extending: tuple[Path, ...] = ()
) -> Policy:
    """The policy of data that are as they should be: checked, or shipped and so checked by tests."""
    base = _load_base(data.get("extends", "default"), where, path.parent, extending)
    rules = [
        _make_rule(rule, f"{where(('rule', index))}, rule {index + 1}")
        for index, rule in enumerate(data.get("rule", ()))
    ]
    if finding := find_idle_rule(rules, first=not base.rules):
        raise PolicyError(f"{rules[finding.at].where}: the rule {finding.words}")
    settings: dict[str, Any] = {k: data[k] for k in _PLAIN_KEYS if k in data}
    for key in ("stateful", "wildcards"):
        if key in data:
            settings[key] = tuple(data[key])
    if "catalog" in data:
        try:
            facts = service("catalog facts")(str(path.parent / data["catalog"]))
        except CatalogError as error:
            raise PolicyError(f"{where(('catalog',))}: catalog: {error}") from None
        settings |= {"defaults": facts.defaults, "tools": facts.arguments, "outputs": facts.outputs}
    counts = [*base.counts]
    if data.get("reads") == "free":
        counts += _free_reads(data.get("catalog"), facts.reads if "catalog" in data else (), where)
    counts += [
        row for index, entry in enumerate(data.get("tool", ())) for row in _count_rows(entry, index, where)
    ]
    if counts:
        settings["counts"] = tuple(counts)
    return replace(base, name=data.get("name") or path.stem, rules=(*base.rules, *rules), **settings)


def _count_rows(entry: Mapping[str, Any], index: int, where: KeyPathFormatter) -> list[ToolCount]:
    """A row for each name of a ``[[tool]]``."""
    names = [entry["name"]] if isinstance(entry["name"], str) else entry["name"]
    place = f"{where(('tool', index))}, tool {index + 1}"
    return [ToolCount(name, entry["counts"], place) for name in names]


def _free_reads(catalog: str | None, reads: Collection[str], where: KeyPathFormatter) -> list[ToolCount]:
    """A row for each tool that, by the catalog, only reads.

    Raises:
        PolicyError: there is no catalog, or it does not say of any tool that it only reads.
    """
    if reads:
        return [ToolCount(name, "never") for name in sorted(reads)]
    problem = "needs a catalog that marks read-only tools"
    if catalog is not None:
        problem = f"{catalog} marks no tool as read-only; name them in [[tool]]"
    raise PolicyError(f"{where(('reads',))}: reads: {problem}")


_PLAIN_KEYS = ("order", "names", "answer", "inline", "repeats", "failed", "extra", "missing")


def _load_base(name: str, where: KeyPathFormatter, base_folder: Path, extending: tuple[Path, ...]) -> Policy:
    files = () if name == "default" else (base_folder / name, Path(name))
    file = next((path for path in files if path.is_file()), None)
    if file is not None:
        return _read_policy_file(file, extending)
    try:
        return load_policy(name)
    except PolicyError as error:
        raise PolicyError(f"{where(('extends',))}: extends: {error}") from None


def _make_rule(data: Mapping[str, Any], where: str) -> Rule:
    compare = data.get("compare", ())
    compare = (compare,) if isinstance(compare, str) else tuple(compare)
    fields = {
        key: data[key] for key in ("tool", "argument", "tolerance", "relative", "pattern") if key in data
    }
    try:
        return Rule(
            compare=compare,
            accepted=tuple(data.get("accepted", ())),
            aliases=_read_aliases(data.get("aliases", {})),
            default=data.get("default", NOTHING),
            function=_import_function(data["function"]) if "function" in data else None,
            where=where,
            **fields,
        )
    except PolicyError as error:
        raise PolicyError(f"{where}: {error}") from None


def _read_aliases(data: str | Mapping[str, Any]) -> Mapping[str, str]:
    if isinstance(data, str):
        path = folder("data") / "policies" / "tables" / f"{data}.toml"
        if not path.is_file():
            names = ", ".join(sorted(p.stem for p in path.parent.glob("*.toml")))
            raise PolicyError(f"there is no table of aliases {data!r}; expected one of {names}")
        data = _parse_toml(read_text(path, error=PolicyError), path)
    return data


def _import_function(name: str) -> Callable[[Any, Any], bool]:
    """A function by its place ``module:name``; the policy's author vouches for it."""
    module, _, attribute = name.partition(":")
    try:
        function = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise PolicyError(f"function {name!r} cannot be loaded: {error}") from None
    if not callable(function):
        raise PolicyError(f"{name!r} is no function")
    return function  # type: ignore[no-any-return]


# ----------------------------------------------------------------------
# Rules of a policy's file that change nothing: they say nothing, never hold, or contradict themselves.
_PRESENCE_RULES = frozenset({"any", "optional", "extra"})
_RULE_SETTINGS = "compare, tolerance, relative, accepted, aliases, default, pattern or function"


class IdleRule(NamedTuple):
    """A rule that changes nothing.

    Args:
        at: Its place among the rules, from 0.
        words: What is wrong with it.
    """

    at: int
    words: str


def find_idle_rule(rules: Sequence[Rule], *, first: bool = True) -> IdleRule | None:
    """The first rule of a file that changes nothing, or has words that do not; None where each does.

    Args:
        rules: The rules of one file.
        first: Whether no rule of another file comes before them, which one that says nothing takes back.

    >>> from planner_eval.comparison.policy.values import Rule
    >>> find_idle_rule([Rule(argument="city", compare=("casefold",)), Rule(compare=("numbers",))]).words
    'never applies: rule 2 comes later and covers all that it covers; move it after that one'
    """
    # Most rules name what they fit or say "*" of it: those are looked up, and only patterns are gone through.
    indexes: dict[tuple[str, str], list[int]] = {}
    for index, rule in enumerate(rules):
        indexes.setdefault((rule.tool, rule.argument), []).append(index)
    patterns = [
        (i, rule) for i, rule in enumerate(rules) if _is_pattern(rule.tool) or _is_pattern(rule.argument)
    ]
    for index, rule in enumerate(rules):
        if first and index == 0 and rule == Rule(rule.tool, rule.argument):
            return IdleRule(index, f"sets nothing; expected {_RULE_SETTINGS}")
        if words := _find_ineffective_words(rule):
            return IdleRule(index, words)
        later = indexes[rule.tool, rule.argument][-1]
        if later == index:
            keys = (("*", rule.argument), (rule.tool, "*"), ("*", "*"))
            later_indexes = [
                rule_indexes[n]
                for rule_indexes in map(indexes.get, keys)
                if rule_indexes and (n := bisect_right(rule_indexes, index)) < len(rule_indexes)
            ]
            later_indexes += islice(
                (n for n, other_rule in patterns if n > index and _covers(other_rule, rule)), 1
            )
            later = min(later_indexes, default=index)
        if later > index:
            reason = f"rule {later + 1} comes later and covers all that it covers"
            return IdleRule(index, f"never applies: {reason}; move it after that one")
    return None


def _find_ineffective_words(rule: Rule) -> str | None:
    """What is wrong with a rule of which one word leaves others nothing to do; None where all of it acts."""
    words = {*rule.compare}
    bare = replace(rule, compare=(), default=NOTHING) == Rule(rule.tool, rule.argument)
    if "ignore" in words:
        other_words, has_settings, effect = (
            words - {"ignore"},
            not bare or rule.default is not NOTHING,
            "ignores the argument",
        )
    elif "any" in words:
        other_words, has_settings, effect = words - _PRESENCE_RULES, not bare, "takes any value"
    elif "exact" in words:
        other_words, has_settings, effect = words - _PRESENCE_RULES - {"exact"}, False, "compares exactly"
    else:
        return None
    if other_words or has_settings:
        words_text = ", ".join(map(repr, sorted(other_words))) if other_words else "the other settings"
        return f"{effect}, which leaves {words_text} without effect; remove one of them"
    return None


def _is_pattern(text: str) -> bool:
    return text != "*" and has_wildcard(text)


def _covers(first: Rule, second: Rule) -> bool:
    """Whether a rule fits, for certain, all that another fits."""
    pairs = ((first.tool, second.tool), (first.argument, second.argument))
    return all(over in ("*", text) or (not has_wildcard(text) and fits(over, text)) for over, text in pairs)
