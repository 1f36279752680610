r"""Values that are written in Java or JavaScript, as BFCL's code converts them.

What is not written as its type wants stays text.

Source: package bfcl-eval 2026.3.23, ``eval_checker/ast_eval/type_convertor``, ``constants/type_mappings.py``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

JAVA_TYPES: Mapping[str, type] = {
    **dict.fromkeys(("byte", "short", "integer", "long"), int),
    **dict.fromkeys(("float", "double"), float),
    **dict.fromkeys(("char", "String", "any"), str),
    **dict.fromkeys(("Array", "ArrayList", "Queue", "Stack"), list),
    **dict.fromkeys(("HashMap", "Hashtable"), dict),
    "boolean": bool,
    "Set": set,
}
"""What a value of a declared Java type becomes."""
JAVASCRIPT_TYPES: Mapping[str, type] = {
    "String": str,
    "any": str,
    "integer": int,
    "Bigint": int,
    "float": float,
    "Boolean": bool,
    "dict": dict,
    "array": list,
}
"""What a value of a declared JavaScript type becomes."""

_INTEGER = re.compile(r"-?\d+$")
_LONG = re.compile(r"-?\d+[lL]$")
_BIG = re.compile(r"-?\d+n$")
_DECIMAL = re.compile(r"-?\d+(\.\d+)?$")
_DOUBLE = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?$")
_FLOAT = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?[fF]$")


def _without_suffix(text: str) -> str:
    """A number without the letter behind it; a line's end may follow."""
    return text.rstrip("\n")[:-1]


# ----------------------------------------------------------------------
# Java.
def java_value(  # noqa: PLR0911 - one a type
    text: str, type_name: str, item_type: str | None = None
) -> Any:
    """A value written in Java.

    Args:
        text: What is written.
        type_name: The declared type.
        item_type: That of the items of a list.

    Raises:
        NotImplementedError: the published code converts no value of this type.
        ValueError: it knows no such type.

    >>> java_value("5L", "long"), java_value("5", "long"), java_value("new int[]{1, 2}", "Array", "integer")
    (5, '5', [1, 2])
    """
    if type_name in ("byte", "short", "integer"):
        return int(text) if _INTEGER.match(text) else text
    if type_name == "float":
        return float(_without_suffix(text)) if _FLOAT.match(text) else text
    if type_name == "double":
        return float(text) if _DOUBLE.match(text) else text
    if type_name == "long":
        return int(_without_suffix(text)) if _LONG.match(text) else text
    if type_name == "boolean":
        return text == "true" if text in ("true", "false") else text
    if type_name in ("char", "String", "any"):
        return text
    if type_name == "ArrayList":
        return _java_list(text, item_type)
    if type_name == "Array":
        return _java_array(text, item_type)
    if type_name == "HashMap":
        return _java_map(text)
    if type_name in ("Set", "Hashtable"):
        raise NotImplementedError("Set conversion is not implemented")
    if type_name in ("Queue", "Stack"):
        raise NotImplementedError(f"{type_name} conversion is not implemented")
    raise ValueError(f"Unsupported type: {type_name}")


_AS_LIST = re.compile(r"new\s+ArrayList<\w*>\(Arrays\.asList\((.+?)\)\)")
_ADDED = re.compile(r"new\s+ArrayList<\w*>\(\)\s*\{\{\s*(.+?)\s*\}\}", re.DOTALL)
_ADD = re.compile(r"add\((.+?)\)")
_EMPTY_LIST = re.compile(r"new\s+ArrayList<\w*>\(\)")


def _java_list(text: str, item_type: str | None) -> Any:
    """``new ArrayList<>(Arrays.asList(1, 2))`` or ``new ArrayList<>() {{ add(1); add(2); }}``."""
    matched = _AS_LIST.search(text)
    if matched:
        items = matched.group(1).split(",")
    else:
        matched = _ADDED.search(text)
        if not matched:
            return [] if _EMPTY_LIST.search(text) else text
        items = _ADD.findall(matched.group(1))
    return [_java_item(item.strip(), item_type) for item in items]


def _java_item(text: str, item_type: str | None) -> Any:
    if item_type in ("char", "String"):
        return text[1:-1]
    return java_value(text, item_type) if item_type else _any_java_value(text)


_ARRAY = re.compile(r"new\s+\w+\[\]\s*\{(.*?)\}")


def _java_array(text: str, item_type: str | None) -> Any:
    """``new int[]{1, 2}``; texts keep their quotes where the type of items is declared."""
    matched = _ARRAY.search(text)
    if not matched:
        return text
    items = [item.strip() for item in matched.group(1).split(",")]
    convert: Callable[[str], Any] = (
        (lambda item: java_value(item, item_type)) if item_type else _any_java_value
    )
    return [convert(item) for item in items if item]


_MAX_MAP_CHARS = 20_000
"""Longer maps stay text: to look for one takes time in the square of its length."""
_MAP = re.compile(r"new\s+HashMap<.*?>\s*+\(\)\s*+\{\s*+\{?+\s*+(.*?)\s*+\}?\s*\}", re.DOTALL)
_PUT = re.compile(r"put\(\"(.*?)\",\s*(.*?)\)")
_EMPTY_MAP = re.compile(r"new\s+HashMap<.*?>\s*\(\)")  # on one line, as published


def _java_map(text: str) -> Any:
    """``new HashMap<>() {{ put("a", 1); }}``."""
    if len(text) > _MAX_MAP_CHARS:
        return text
    matched = _MAP.search(text) if "}" in text else None
    if matched:
        return {key: _any_java_value(value.strip()) for key, value in _PUT.findall(matched.group(1))}
    return {} if _EMPTY_MAP.search(text) else text


def _any_java_value(text: str) -> Any:
    """A value of no declared type."""
    if text in ("true", "false"):
        return text == "true"
    if text.startswith('"') and text.endswith('"'):
        return text[1:-1]
    if _LONG.match(text):
        return int(text[:-1])
    if _FLOAT.match(text):
        return float(_without_suffix(text))
    return _number_or_text(text)


def _number_or_text(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


# ----------------------------------------------------------------------
# JavaScript.
def javascript_value(text: str, type_name: str, item_type: str | None = None) -> Any:
    """A value written in JavaScript.

    Args:
        text: What is written.
        type_name: The declared type.
        item_type: That of the items of a list.

    Raises:
        ValueError: the published code knows no such type.

    >>> javascript_value("5n", "Bigint"), javascript_value("[1, 'a']", "array")
    (5, [1, 'a'])
    """
    if type_name == "String":
        return text[1:-1] if _is_quoted(text) else text
    if type_name == "integer":
        return int(text) if _INTEGER.match(text) else text
    if type_name == "float":
        return float(text) if _DECIMAL.match(text) else text
    if type_name == "Bigint":
        return int(text[:-1]) if _BIG.match(text) else text
    if type_name == "Boolean":
        return text == "true" if text in ("true", "false") else text
    if type_name == "dict":
        return _javascript_object(text.strip())
    if type_name == "array":
        return _javascript_list(text.strip(), item_type)
    if type_name == "any":
        return text
    raise ValueError(f"Unsupported type: {type_name}")


def _is_quoted(text: str) -> bool:
    return any(text.startswith(quote) and text.endswith(quote) for quote in ('"', "'"))


_INNER = re.compile(r"\[(.*?)\]")
_ROW = re.compile(r"\[(.*?)\]|\bnew\s+Array\((.*?)\)")
_ROWS = re.compile(r"\[\s*(?=\[)|\bnew\s+Array\(\s*(?=\[)")


def _javascript_list(text: str, item_type: str | None) -> Any:
    """``[1, 2]``, ``new Array(1, 2)``, or a list of such lists."""
    try:
        end = _find_rows(text)
        if end >= 0:
            rows = [row.strip() for row in _INNER.findall(text[:end])]
            if rows[0].startswith("["):
                rows[0] = rows[0][1:]
            return [[_any_javascript_value(item.strip()) for item in row.split(",")] for row in rows]
        matched = _ROW.match(text)
        if not matched:
            return text
        content = (matched.group(1) if matched.group(1) is not None else matched.group(2)).strip()
        items = [item.strip() for item in content.split(",")] if content else []
        if not item_type:
            return [_any_javascript_value(item) for item in items]
        return [
            javascript_value(item, item_type, "String" if item.startswith(("'", '"')) else None)
            for item in items
        ]
    except Exception:
        return text


def _find_rows(text: str) -> int:
    """Where a list of lists that a text begins with ends; -1 where it begins with none."""
    matched = _ROWS.match(text)
    if matched is None:
        return -1
    return GroupList("[", "]", ")" if matched.group().startswith("new") else "]").end(text, matched.end())


class GroupList:
    r"""A list of bracketed groups with commas between, ``[…], […]``, as a lazy pattern finds it.

    The pattern ``open .*? close \s* (, \s* open .*? close \s*)* last`` takes exponential time where a list
    does not end; this takes linear time for the same answer.

    Args:
        opening: The bracket that a group begins with.
        closing: That it ends with.
        last: What the list ends with.
        across: A group may go on in the next line.
    """

    def __init__(self, opening: str, closing: str, last: str, *, across: bool = False) -> None:
        self.opening, self.closing, self.last, self.across = opening, closing, last, across

    def ends(self, text: str) -> list[int]:
        """For each place where the list ends whose group goes on there; -1 where none does."""
        ends = [-1] * (len(text) + 1)
        blank = len(text)  # the first place from here on that is no blank
        following = [blank] * (len(text) + 1)
        for position in range(len(text) - 1, -1, -1):
            if not text[position].isspace():
                blank = position
            following[position] = blank
            ends[position] = -1 if text[position] == "\n" and not self.across else ends[position + 1]
            if text[position] == self.closing:
                after = following[position + 1]
                end = -1
                if text.startswith(",", after):
                    opened = following[after + 1]
                    if text.startswith(self.opening, opened):
                        end = ends[opened + 1]
                elif text.startswith(self.last, after):
                    end = after + 1
                if end >= 0:
                    ends[position] = end
        return ends

    def end(self, text: str, start: int) -> int:
        """Where the list ends whose first group begins at a place; -1 where there is none."""
        return self.ends(text)[start + 1] if text.startswith(self.opening, start) else -1


_OBJECT = re.compile(r"\{(.*?)\}")
_PAIR = re.compile(r"([^:]+):\s*(.*?)(?:,\s*(?=[^,]+:)|$)")


def _javascript_object(text: str) -> Any:
    """``{a: 1, "b": [2]}``."""
    if text == "{}":
        return {}
    matched = _OBJECT.match(text)
    if not matched:
        return text
    members = {}
    try:
        for key, value in _PAIR.findall(matched.group(1)):
            members[key.strip().strip("'\"")] = _member_value(value.strip())
    except Exception:
        return text
    return members


def _member_value(text: str) -> Any:
    if text.startswith("[") and text.endswith("]"):
        return _javascript_list(text, None)
    if text.startswith("{") and text.endswith("}"):
        return _javascript_object(text)
    return _any_javascript_value(text.strip("'\""))


def _any_javascript_value(text: str) -> Any:
    """A value of no declared type."""
    text = text.strip()
    if text in ("true", "false"):
        return text == "true"
    return text[1:-1] if _is_quoted(text) else _number_or_text(text)
