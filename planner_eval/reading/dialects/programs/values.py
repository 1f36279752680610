"""What the variables of a program hold, what it changes in place, and functions that are no tools.

A branch is followed, what it wrote is noted and taken back, then the other one: where both meet, a variable
that holds the same on each is sure, any other is not.
"""

from __future__ import annotations

import sys
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from typing import Any, TypeAlias

from planner_eval.plan.model import Path, RawRef, Value


# ----------------------------------------------------------------------
# What the variables of a program hold: values, what cannot be known, and what several ways make of them.
class Unknown:
    """What a variable holds that cannot be known."""


UNKNOWN = Unknown()
OWN_FUNCTION = Unknown()
"""A function of the program's own, a lambda: called through a variable it is not followed."""
ABSENT = Unknown()
"""A variable that holds nothing yet."""


class ImportedName(Unknown):
    """What a name holds that is imported from a module that is no library: a tool may be called by it.

    Args:
        name: What it is called where it is imported from.
    """

    def __init__(self, name: str) -> None:
        self.name = name


class UnassignedName(Unknown):
    """What a variable holds that was given a name which nothing assigns: a text, or the tool of that name.

    Args:
        text: The name, and the way behind it.
    """

    def __init__(self, text: str) -> None:
        self.text = text


class OpaqueObject(Unknown):
    """An object whose methods may be tools: of an imported class, or a part of what a call gave.

    Args:
        of: What it is a part of.
    """

    def __init__(self, of: VariableValue = None) -> None:
        self.of = of


class DerivedValue(Unknown):
    """What an expression makes that is not followed: it may be a part of these.

    Args:
        of: What stands in the expression; a change of the part is a change of them.
    """

    def __init__(self, of: Iterable[VariableValue]) -> None:
        self.of = tuple(
            value for value in of if isinstance(value, (RawRef, list, dict, OpaqueObject, DerivedValue))
        )


class UnsureValue(Unknown):
    """What a variable held that was changed, or that another way may change.

    Args:
        reason: Which construct is to blame, for messages.
        at: Where it stands.
        text: In which text.
        of: The list or object that was changed; kept, so that no other has its identity.
        either: What it may be, of which a change of it is one, too.
    """

    def __init__(
        self, reason: str, offset: int, text: str, of: Any = None, either: Iterable[VariableValue] = ()
    ) -> None:
        self.reason = reason
        self.at = offset
        self.text = text
        self.of = of
        self.either = tuple(either)


class ChangedContent(Unknown):
    """What a list or an object holds after changes that are followed.

    Args:
        of: The list or object as it was made, which stands for it wherever it is held.
        value: What it holds now.
    """

    def __init__(self, of: Any, value: Any) -> None:
        self.of = of
        self.value = value


VariableValue: TypeAlias = Value | Unknown


class Scope(ChainMap[str, VariableValue]):
    """The variables of a function that is followed: its own, which end with it, and those around it.

    What it declares ``global`` or ``nonlocal`` stands elsewhere, and is read and written there.
    """

    def __init__(
        self, local: MutableMapping[str, VariableValue], around: MutableMapping[str, VariableValue]
    ) -> None:
        super().__init__(local, around)
        self.elsewhere: dict[str, MutableMapping[str, VariableValue]] = {}

    def __getitem__(self, name: str) -> VariableValue:
        return self.elsewhere[name][name] if name in self.elsewhere else super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        return name in self.elsewhere[name] if name in self.elsewhere else super().__contains__(name)

    def __setitem__(self, name: str, value: VariableValue) -> None:
        self.elsewhere.get(name, self.maps[0])[name] = value

    def enclosing(self, name: str) -> MutableMapping[str, VariableValue]:
        """The variables of the nearest function around this one that has the name."""
        around = self.maps[1]
        while isinstance(around, Scope) and name not in around.maps[0] and name not in around.elsewhere:
            around = around.maps[1]
        return around if isinstance(around, Scope) else self.maps[1]


_Slot: TypeAlias = tuple[MutableMapping[str, VariableValue], str]
BranchWrites: TypeAlias = dict[tuple[int, str], tuple[_Slot, VariableValue]]
"""What a way wrote: by the variable, its place and what it holds at the way's end."""


class BranchLog:
    """Notes what is written on a way, so that it can be taken back.

    >>> held, ways = {"x": 1}, BranchLog()
    >>> mark = ways.part()
    >>> ways.put(held, "x", 2)
    >>> taken = ways.take(mark)
    >>> held, [value for _, value in taken.values()]
    ({'x': 1}, [2])
    >>> ways.meet([taken, {}], UnsureValue("depends on a branch", 0, ""))
    >>> held["x"].reason
    "'x' depends on a branch"
    """

    def __init__(self) -> None:
        self.open = 0
        self.log: list[tuple[MutableMapping[str, VariableValue], str, VariableValue]] = []

    def put(self, where: MutableMapping[str, VariableValue], name: str, value: VariableValue) -> None:
        """Write a variable."""
        if self.open:
            where = _writing_scope(where, name)
            self.log.append((where, name, where.get(name, ABSENT)))
        where[name] = value

    def part(self) -> int:
        """Begin to take notes; the mark says from where."""
        self.open += 1
        return len(self.log)

    def written(self, mark: int) -> BranchWrites:
        """What was written since a mark, as it is now."""
        return {
            (id(where), name): ((where, name), where.get(name, ABSENT)) for where, name, _ in self.log[mark:]
        }

    def take(self, mark: int) -> BranchWrites:
        """What was written since a mark; it is taken back."""
        end = self.written(mark)
        for where, name, before in reversed(self.log[mark:]):
            if before is ABSENT:
                where.pop(name, None)
            else:
                where[name] = before
        del self.log[mark:]
        return end

    def between(self, mark: int, unsure: UnsureValue) -> None:
        """Let what was written since a mark be as on a way that may have come so far, or not."""
        first: dict[tuple[int, str], tuple[_Slot, VariableValue]] = {}
        for where, name, before in self.log[mark:]:
            first.setdefault((id(where), name), ((where, name), before))
        for (where, name), before in first.values():
            self.put(where, name, _merge_values(name, [where.get(name, ABSENT), before], unsure))

    def meet(self, ends: Iterable[BranchWrites], unsure: UnsureValue) -> None:
        """End what :meth:`part` began: ways meet, and what they wrote otherwise is unsure."""
        self.open -= 1
        ends = list(ends)
        slots: dict[tuple[int, str], _Slot] = {}
        values: dict[tuple[int, str], list[VariableValue]] = {}
        for end in ends:
            for key, (slot, value) in end.items():
                slots[key] = slot
                values.setdefault(key, []).append(value)
        for key, (where, name) in slots.items():
            if len(values[key]) < len(ends):
                values[key].append(where.get(name, ABSENT))
            met = _merge_values(name, values[key], unsure)
            if met is not ABSENT:
                self.put(where, name, met)


def _writing_scope(
    where: MutableMapping[str, VariableValue], name: str
) -> MutableMapping[str, VariableValue]:
    """Where a variable is written that is given a value."""
    while isinstance(where, ChainMap):
        elsewhere = where.elsewhere if isinstance(where, Scope) else {}
        where = elsewhere[name] if name in elsewhere else where.maps[0]
    return where


def _merge_values(name: str, values: list[VariableValue], unsure: UnsureValue) -> VariableValue:
    """What a variable holds where ways meet on which it holds these.

    A result that only one way gives the variable is what it holds wherever the program gets further.
    """
    if all(_is_same(value, values[0]) for value in values):
        return values[0]
    assigned = [value for value in values if value is not ABSENT]
    unsure_value = next((value for value in values if isinstance(value, UnsureValue)), None)
    if name[0] in "@[":
        of = next((value.of for value in assigned if isinstance(value, ChangedContent)), None)
        return unsure_value or UnsureValue(f"it {unsure.reason}", unsure.at, unsure.text, of)
    if unsure_value is not None:
        return UnsureValue(unsure_value.reason, unsure_value.at, unsure_value.text, None, assigned)
    if isinstance(assigned[0], (RawRef, ImportedName, OpaqueObject)) and all(
        _is_same(value, assigned[0]) for value in assigned
    ):
        return assigned[0]
    return UnsureValue(f"{name!r} {unsure.reason}", unsure.at, unsure.text, None, assigned)


def _is_same(first: VariableValue, other: VariableValue) -> bool:
    if first is other:
        return True
    if type(first) is not type(other) or isinstance(first, (Unknown, list, dict)):
        return False
    return bool(first == other)


class UnknownValueError(Exception):
    """A value that cannot be known.

    Args:
        reason: Why.
        at: The place to point to; None where the value stands.
        holds: What a variable holds that is given it.
    """

    def __init__(self, reason: str, offset: int | None, holds: Unknown = UNKNOWN) -> None:
        self.reason = reason
        self.at = offset
        self.holds = holds


# ----------------------------------------------------------------------
# What a program changes in place: lists, objects and the results of calls, under whatever name.
#
# A list or an object stands for itself by its identity, which aliases and what holds it share; a result by
# its
# reference. What was changed stands among the program's variables, under names that no variable has, so that
# branches take it back, and later pieces of a text see it, as they do with variables.
_ANY_CHANGE = "@"
"""Stands among the variables where anything was changed."""
_MAX_COPIED_ITEMS = 100
"""Values of a list of which a copy is kept at each change that may be taken back."""
_MAX_LIST_DEPTH = 100
"""Lists in lists that are followed."""


class Changes:
    """The changes of one program.

    Args:
        top: The variables of the program outside of functions, which hold the changes.
        ways: Writes them.
        text: The program, for messages.
    """

    def __init__(self, top: MutableMapping[str, VariableValue], routes: BranchLog, text: str) -> None:
        self.top = top
        self.ways = routes
        self.text = text
        self.any = _ANY_CHANGE in top

    def change(self, target: VariableValue, reason: str, offset: int, spend: Callable[[int], None]) -> None:
        """Take what is held for changed in a way that is not followed.

        Args:
            target: What is changed; of a part of something all that this holds may be.
            reason: What changes it.
            offset: Where.
            spend: As in :meth:`current`.
        """
        waiting, seen = [target], set()
        while waiting:
            value = waiting.pop()
            if isinstance(value, (DerivedValue, OpaqueObject)):
                if id(value) not in seen:
                    seen.add(id(value))
                    spend(1)
                    of = value.of if isinstance(value, DerivedValue) else (value.of,)
                    waiting += self._all(of, seen, spend)
            elif isinstance(value, UnsureValue):
                if id(value) not in seen:
                    seen.add(id(value))
                    spend(1)
                    waiting += value.either
            elif isinstance(value, (list, dict)):
                self._note(_cell_name(value), UnsureValue(reason, offset, self.text, value))
            elif isinstance(value, RawRef):
                unsure = UnsureValue(reason, offset, self.text)
                self._note(f"{value.name} *", unsure)
                self._note(f"{value.name} {value.path[0]!r}" if value.path else f"{value.name} ", unsure)

    def _all(
        self, of: Iterable[VariableValue], seen: set[int], spend: Callable[[int], None]
    ) -> list[VariableValue]:
        """These and what they hold at any depth, lists and objects once."""
        values: list[VariableValue] = []
        waiting = [*of]
        while waiting:
            value = waiting.pop()
            if id(value) in seen:
                continue
            values.append(value)
            now = self.content(value)
            if isinstance(now, (list, dict)):
                seen.add(id(value))
                spend(len(now))
                waiting += now.values() if isinstance(now, dict) else now
        return values

    def inside(self, value: Any, path: Path) -> Any:
        """What a way leads to, itself and no copy; a part of what is around it, where that is not sure."""
        for i, step in enumerate(path):
            if isinstance(value, RawRef):
                return RawRef(value.name, (*value.path, *path[i:]))
            now = self.content(value)
            if not isinstance(now, (list, dict)):
                return now if isinstance(now, Unknown) else UNKNOWN
            try:
                value = now[step]  # type: ignore[index]
            except (LookupError, TypeError):
                return DerivedValue((value,))
        return value

    def _note(self, name: str, unknown: Unknown) -> None:
        if not self.any:
            self.any = True
            self.top[_ANY_CHANGE] = unknown
        self.ways.put(self.top, name, unknown)

    def follow(
        self, target: Any, method: str, positional: list[VariableValue], named: Mapping[str, VariableValue]
    ) -> bool:
        """Make a change that is as simple as it is certain: something put at the end, or under a key.

        Returns:
            False where it is not simple.
        """
        if any(isinstance(value, Unknown) for value in (*positional, *named.values())):
            return False
        cell = self.top.get(_cell_name(target))
        if isinstance(cell, UnsureValue):
            return True  # and stays so
        now = cell.value if isinstance(cell, ChangedContent) else target
        if self.ways.open and len(now) > _MAX_COPIED_ITEMS:
            return False
        if self.ways.open or now is target:
            now = now.copy()
        if isinstance(now, list) and method in ("append", "push") and positional and not named:
            now += positional if method == "push" else positional[:1]
        elif (
            isinstance(now, list)
            and method == "extend"
            and len(positional) == 1
            and type(positional[0]) is list
        ):
            other = self.top.get(_cell_name(positional[0]))
            if isinstance(other, UnsureValue) or positional[0] is target:
                return False
            now += other.value if isinstance(other, ChangedContent) else positional[0]
        elif isinstance(now, dict) and method == "update" and not positional:
            now |= named
        elif (
            isinstance(now, dict)
            and method == "update"
            and len(positional) == 1
            and type(positional[0]) is dict
        ):
            other = self.top.get(_cell_name(positional[0]))
            if isinstance(other, UnsureValue):
                return False
            now |= {**(other.value if isinstance(other, ChangedContent) else positional[0]), **named}
        else:
            return False
        self._note(_cell_name(target), ChangedContent(target, now))
        return True

    def content(self, value: Any) -> Any:
        """What a list or an object holds now, itself and no copy; what is no such is given back."""
        if not self.any or not isinstance(value, (list, dict)):
            return value
        cell = self.top.get(_cell_name(value))
        return cell.value if isinstance(cell, ChangedContent) else value if cell is None else cell

    def put(self, target: Any, key: Any, value: VariableValue) -> bool:
        """Give a key of an object another value; False where that is not simple."""
        return type(target) is dict and type(key) is str and self.follow(target, "update", [{key: value}], {})

    def current(self, value: Value, spend: Callable[[int], None], depth: int = 0) -> Value:
        """A value as the changes leave it.

        Args:
            value: The value.
            spend: Is told how many values lists and objects hold; it bounds them.
            depth: How many lists are around it.

        Raises:
            CannotKnow: it was changed.
        """
        if isinstance(value, RawRef):
            self.refuse(value)
            return value
        if not isinstance(value, (list, dict)):
            return value
        cell = self.top.get(_cell_name(value))
        if isinstance(cell, UnsureValue):
            raise self.cannot_know(cell)
        if depth > _MAX_LIST_DEPTH:
            raise UnknownValueError(f"it nests lists deeper than {_MAX_LIST_DEPTH} levels", None)
        now = cell.value if isinstance(cell, ChangedContent) else value
        spend(len(now))
        items = now.values() if isinstance(now, dict) else now
        items_now = [self.current(item, spend, depth + 1) for item in items]
        if all(item is other for item, other in zip(items_now, items, strict=True)):
            return value if now is value else now.copy()
        return dict(zip(now, items_now, strict=True)) if isinstance(now, dict) else items_now

    def refuse(self, ref: RawRef) -> None:
        """Refuse a reference to a result that was changed.

        Raises:
            CannotKnow: it was.
        """
        if f"{ref.name} *" not in self.top:
            return
        unsure = None
        if not ref.path:
            unsure = self.top.get(f"{ref.name} *")
        else:
            unsure = self.top.get(f"{ref.name} ") or self.top.get(f"{ref.name} {ref.path[0]!r}")
        if isinstance(unsure, UnsureValue):
            raise self.cannot_know(unsure)

    def cannot_know(self, unsure: UnsureValue) -> UnknownValueError:
        """What is said of an unsure value; the place of the change, where it stands in this text."""
        return UnknownValueError(unsure.reason, unsure.at if unsure.text is self.text else None, unsure)

    def settle(self, own: MutableMapping[str, VariableValue]) -> None:
        """Let later pieces of the text, which hold other lists, see of the variables what was changed."""
        if not self.any:
            return
        checked: dict[int, Unknown | None] = {}
        for name, value in own.items():
            if isinstance(value, (list, dict)):
                change = self._changed(value, checked)
                if change is not None:
                    own[name] = change

    def _changed(self, value: Any, checked: dict[int, Unknown | None], depth: int = 0) -> Unknown | None:
        """The first change of a list or an object, or of what it holds at any depth."""
        if isinstance(value, (list, dict)):
            if id(value) not in checked:
                checked[id(value)] = None
                change = self.top.get(_cell_name(value))
                if isinstance(change, ChangedContent):
                    change = UnsureValue("another part of the text changes it", 0, "")
                items = value.values() if isinstance(value, dict) else value
                if not isinstance(change, UnsureValue) and depth <= _MAX_LIST_DEPTH:
                    inside = (self._changed(item, checked, depth + 1) for item in items)
                    change = next((inner for inner in inside if inner is not None), None)
                checked[id(value)] = change if isinstance(change, UnsureValue) else None
            return checked[id(value)]
        return None


def _cell_name(value: Any) -> str:
    return f"[] {id(value)}"


# ----------------------------------------------------------------------
# Functions that are no tools, by the names that programs have for them.
DISPLAY_FUNCTIONS = frozenset({
    "print", "pprint", "display", "console.log", "console.error", "console.info", "console.warn",
    "System.out.println", "System.out.print", "System.err.println", "logging.info", "logger.info",
    "final_answer",
})  # fmt: skip
"""Calls that show a value and are looked through; smolagents' final_answer ends a program."""

BUILTINS = frozenset({
    "abs", "all", "any", "bool", "bytes", "callable", "chr", "dict", "dir", "divmod", "enumerate",
    "eval", "exec", "filter", "float", "format", "frozenset", "getattr", "hasattr", "hash", "hex", "id",
    "input", "int", "isinstance", "issubclass", "iter", "len", "list", "locals", "map", "max", "min",
    "next", "oct", "open", "ord", "pow", "range", "repr", "reversed", "round", "set", "setattr",
    "slice", "sorted", "str", "sum", "super", "tuple", "type", "vars", "zip", "JSON.stringify",
    "JSON.parse", "Object.keys", "Object.values", "parseInt", "parseFloat", "String", "Number",
    "Boolean",
})  # fmt: skip
"""Functions of the languages themselves: no tools where a program calls them on its own values."""

SELF_NAMES = frozenset({"self", "cls", "this", "super"})
"""What a class calls itself: a method of one is no tool."""

MUTATING_METHODS = frozenset({
    "append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse", "update", "setdefault",
    "popitem", "add", "discard", "difference_update", "intersection_update",
    "symmetric_difference_update", "appendleft", "extendleft", "popleft", "rotate", "move_to_end",
    "subtract", "push", "shift", "unshift", "splice", "fill", "copyWithin", "set", "delete",
})  # fmt: skip
"""Methods that change a list, an object or a set in place, in Python and in JavaScript."""

MUTATING_FUNCTIONS = frozenset({
    "shuffle", "heappush", "heappop", "heapify", "heapreplace", "heappushpop", "insort", "insort_left",
    "insort_right", "setattr", "delattr", "setitem", "delitem", "Object.assign",
})  # fmt: skip
"""Functions of the languages' libraries that change their first argument in place."""

PASS_THROUGH_FUNCTIONS = frozenset({
    "next", "min", "max", "iter", "reversed", "zip", "enumerate", "filter", "getattr", "map", "vars",
})  # fmt: skip
"""Functions of the language that give what they are given, or a part of it, and no copy."""

HIGHER_ORDER_FUNCTIONS = frozenset({
    "map", "filter", "partial", "submit", "to_thread", "run_in_executor", "starmap", "apply_async",
    "imap", "reduce", "Thread", "Process",
})  # fmt: skip
"""Functions of the languages and their libraries that call what they are given."""

_READING_METHODS = frozenset({
    "json", "text", "raise_for_status", "read", "readline", "readlines", "close", "result", "done",
    "exception", "isoformat", "strftime", "timestamp", "date", "time", "total_seconds", "to_dict",
    "to_json", "to_string", "tolist", "to_list", "dict", "model_dump", "model_dump_json", "head", "tail",
    "describe", "group", "groups", "then", "catch", "finally", "map", "filter", "forEach", "reduce",
    "some", "every", "includes", "indexOf", "lastIndexOf", "slice", "concat", "flat", "flatMap", "at",
    "has", "entries", "findIndex", "substring", "substr", "charAt", "trim", "trimStart", "trimEnd",
    "padStart", "padEnd", "repeat", "match", "test", "toString", "toFixed", "toUpperCase", "toLowerCase",
    "toISOString", "toLocaleString", "localeCompare", "getTime", "valueOf", "replaceAll", "size",
    "length", "isEmpty", "toJSON",
})  # fmt: skip
DATA_METHODS = _READING_METHODS.union(
    *(
        [name for name in dir(kind) if name[0] != "_"]
        for kind in (str, bytes, int, float, list, tuple, dict, set)
    )
)
"""Methods of the values that tools give, and of texts, lists and objects: they look, and call no tool."""

METHOD_OPTIONS = frozenset({
    "key", "reverse", "default", "sep", "maxsplit", "encoding", "errors", "keepends", "timespec",
    "timeout", "indent", "orient", "by", "ascending", "inplace", "exclude", "exclude_none", "include",
})  # fmt: skip
"""The names of such methods' own arguments; an argument of another name is a tool's."""

KNOWN_PACKAGES = frozenset({
    "aiohttp", "android", "anthropic", "asyncpg", "attr", "attrs", "boto3", "botocore", "bs4", "celery",
    "click", "com", "cv2", "datasets", "dateutil", "distutils", "django", "docx", "dotenv", "fastapi",
    "flask", "fpdf", "geopy", "google", "googleapiclient", "googlemaps", "gradio", "httpx", "huggingface_hub",
    "IPython", "java", "javax", "jinja2", "joblib", "jwt", "kotlin", "langchain", "langchain_community",
    "langchain_core", "langchain_openai", "langgraph", "litellm", "llama_index", "loguru", "lxml",
    "markdown", "matplotlib", "mpl_toolkits", "msgpack", "networkx", "nltk", "numba", "numpy", "openai",
    "openpyxl", "org", "pandas", "paramiko", "PIL", "pint", "plotly", "polars", "psutil", "psycopg2",
    "pyarrow", "pydantic", "pygame", "pymongo", "pymysql", "PyPDF2", "pypdf", "pytest", "pytz", "redis",
    "regex", "reportlab", "requests", "rich", "scipy", "seaborn", "selenium", "setuptools", "six",
    "skimage", "sklearn", "smolagents", "spacy", "sqlalchemy", "starlette", "statsmodels", "streamlit",
    "sympy", "tabulate", "tenacity", "tensorflow", "tiktoken", "tkinter", "torch", "torchvision", "tqdm",
    "transformers", "typer", "typing_extensions", "ujson", "unittest", "urllib3", "uvicorn", "webdriver",
    "websockets", "yaml", "yfinance",
})  # fmt: skip
"""Packages that programs use beside the standard library, and roots of Java's: what they offer is no tool."""


def is_library(module: str) -> bool:
    """Whether a module is Python's own or a known package: what is imported from any other may be a tool.

    >>> is_library("os.path"), is_library("numpy"), is_library("tools"), is_library("")
    (True, True, False, False)
    """
    root = module.split(".", 1)[0]
    return root in KNOWN_PACKAGES or root in sys.stdlib_module_names
