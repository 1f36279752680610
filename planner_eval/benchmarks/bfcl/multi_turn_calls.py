"""The calls of a multi-turn answer, read and made as BFCL's code does it, without evaluating text.

Source: package bfcl-eval 2026.3.23: ``convert_to_function_call`` of ``model_handler/utils.py``,
``execute_multi_turn_func_call`` of ``multi_turn_eval/multi_turn_utils.py``. That code writes each call as
Python, puts an object's name before each word that is a tool's name and stands before a bracket, even inside
a text, and evaluates the result. Here it is parsed, and only literals, tools' calls and lists, dicts and
sets of these are followed; what else Python would evaluate is refused and told.

Runs in the confined worker.
"""

from __future__ import annotations

import ast
import builtins
import json
import operator
import re
from functools import lru_cache
from keyword import iskeyword

TYPE_CHECKING = False  # typing would add to a worker's time to start

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

FORBIDDEN = frozenset({"kill", "exit", "quit", "remove", "unlink", "popen", "Popen", "run"})
"""Names that the published code does not call."""

_NAMES = frozenset(dir(builtins)) | {
    # What the published function and its module bind: there these names are defined.
    *("copy", "importlib", "inspect", "json", "re", "CLASS_FILE_PATH_MAPPING", "STATELESS_CLASSES"),
    *("execute_multi_turn_func_call", "is_empty_execute_response", "_process_method_calls"),
    *("func_call_list", "initial_config", "involved_classes", "model_name", "test_entry_id", "long_context"),
    *("is_evaL_run", "class_method_name_mapping", "involved_instances", "class_name", "module_name"),
    *("instance_name", "module", "class_", "class_instance", "class_initial_config", "method_name", "method"),
    *("execution_results", "func_call", "func_call_copy", "func_call_result"),
}
_CALLED_NAME = re.compile(r"\b([a-zA-Z_]\w*)\s*(?=\()")
_UNARY: Mapping[type, Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}
MAX_CHARS = 1 << 18
"""A longer call is not parsed: it would take `ast` too much memory."""
_MAX_CACHED = 500
_MAX_DEPTH = 40
_MAX_BITS = 10_000


class Call:
    """A call of an answer: its tool and its arguments, or its text where that has to be parsed.

    Args:
        name: The tool.
        arguments: By name; None where the text has to be parsed.
        text: The call as Python; "" stands for the plain text of name and arguments.
    """

    __slots__ = ("_text", "arguments", "name")

    def __init__(self, name: str, arguments: dict[str, Any] | None, text: str = "") -> None:
        self.name = name
        self.arguments = arguments
        self._text = text

    @property
    def text(self) -> str:
        """The call as Python."""
        if self.arguments is None:
            return self._text
        return f"{self.name}({', '.join(f'{name}={value!r}' for name, value in self.arguments.items())})"


def parsed_call(text: str) -> Call:
    """The call that a text is, to be parsed when it is made."""
    return Call(text.partition("(")[0].strip(), None, text)


# ----------------------------------------------------------------------
# From a step of an answer to calls. Whatever is raised means that the published code skips the step.
def read_step(step: Any) -> list[Call]:
    """The calls of a step in function-calling mode; none where the published code cannot decode it.

    Args:
        step: What a model answered: a list of objects, tool → arguments.

    >>> [call.text for call in read_step([{"cd": '{"folder": "a"}'}])], read_step("I am done.")
    (["cd(folder='a')"], [])
    """
    try:
        return _read_objects(step)
    except Exception:
        return []


def _read_objects(step: Any) -> list[Call]:
    calls = []
    for entry in [step] if type(step) is dict else step:
        for name, arguments in entry.items():
            if type(arguments) is str:
                arguments = json.loads(arguments)
            pairs = arguments.items()
            if _is_name(name) and all([_is_name(key) and _is_plain(value) for key, value in pairs]):
                calls.append(Call(name, arguments))
            else:
                text = ",".join([f"{key}={value!r}" for key, value in pairs])
                calls.append(Call(name, None, f"{name}({text})"))
    return calls


@lru_cache(4096)
def _is_name(text: str) -> bool:
    return text.isascii() and text.isidentifier() and not iskeyword(text) and text[:2] != "__"


def _is_plain(value: Any, depth: int = 0) -> bool:
    """Whether the text of a value stands for the value and for nothing else, and has no bracket of a call."""
    kind = type(value)
    if kind is str:
        return "(" not in value
    if kind is float:
        return bool(value - value == 0)
    if kind is int:
        return bool(value.bit_length() < _MAX_BITS)
    if kind is dict:
        return all(["(" not in key for key in value]) and _is_plain([*value.values()], depth)
    if kind is list:
        return depth < _MAX_DEPTH and all([_is_plain(item, depth + 1) for item in value])
    return True


# ----------------------------------------------------------------------
# Making a call.
@lru_cache(2048)
def _parse_call(text: str) -> Any:
    """A call without another in it, parsed: gold's are the same for every model."""
    return ast.parse(text, "<string>", "eval").body


class Refused(Exception):
    """Python would evaluate what stands in a call, and here it is not."""


class Caller:
    """The tools of one side, by name, each with the object that it is a method of.

    Args:
        methods: Tool → its object's name; of two objects' tools the last.
        objects: Object's name → object.

    >>> class Lamp:
    ...     def dim(self, level): return {"level": level}
    >>> lamp = Caller({"dim": "lamp"}, {"lamp": Lamp()})
    >>> lamp.make(parsed_call("dim(level=3)")), lamp.make(parsed_call("shine()"))
    ('{"level": 3}', "Error during execution: name 'shine' is not defined")
    """

    def __init__(self, methods: Mapping[str, str], objects: Mapping[str, Any]) -> None:
        self.methods = methods
        self.objects = objects
        self.refused: list[str] = []

    def make(self, call: Call) -> str:
        """What a call returns, as the published code writes it, or the text for what it raises."""
        try:
            if call.arguments is not None and call.name in self.methods and call.name not in FORBIDDEN:
                result = getattr(self.objects[self.methods[call.name]], call.name)(**call.arguments)
            else:
                result = self._evaluate(call.text)
            if type(result) is str:
                return result
            if type(result) is dict:
                try:
                    return json.dumps(result)
                except Exception:  # as published; not all that a tool returns is JSON
                    return str(result)
            return str(result)
        except Refused as refusal:
            self.refused.append(call.text[:200])
            return f"Error during execution: {refusal}"
        except Exception as error:  # the tools' own code
            return f"Error during execution: {error}"

    def _evaluate(self, text: str) -> Any:
        if len(text) < _MAX_CACHED and text.count("(") == 1:
            name = text.partition("(")[0]
            if name in self.methods and name not in FORBIDDEN:
                node = _parse_call(text)
                if isinstance(node, ast.Call):  # of the tool itself, for there is no other bracket
                    return self._call(node, getattr(self.objects[self.methods[name]], name))
        text = _CALLED_NAME.sub(self._qualify, text)
        name = text.split("(")[0]
        if "." in name:
            name = name.split(".")[1]
        if name in FORBIDDEN:
            raise ValueError(f"Function call {name} is not allowed.")
        if len(text) > MAX_CHARS:
            raise Refused(f"a call of {len(text):,} characters was skipped: too long to read")
        return self._value(ast.parse(text.lstrip(" \t"), "<string>", "eval").body)

    def _qualify(self, match: re.Match[str]) -> str:
        name = match[1]
        return f"{self.methods[name]}.{name}" if name in self.methods else name

    def _value(self, node: Any) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.UnaryOp):
            return _UNARY[type(node.op)](self._value(node.operand))
        if isinstance(node, ast.List):
            return [self._value(item) for item in node.elts]
        if isinstance(node, ast.Tuple):
            return tuple(self._value(item) for item in node.elts)
        if isinstance(node, ast.Set):
            return {self._value(item) for item in node.elts}
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            return {self._value(key): self._value(item) for key, item in pairs}
        if isinstance(node, ast.BinOp):
            self._value(node.left)  # that a name is not defined is what Python would say first
        if isinstance(node, ast.Attribute):
            self._value(node.value)
        if isinstance(node, ast.Name) and node.id not in _NAMES and node.id not in self.objects:
            raise NameError(f"name {node.id!r} is not defined")
        raise Refused("the answer's text is not evaluated")

    def _call(self, node: Any, function: Any = None) -> Any:
        words = [word.arg for word in node.keywords]
        repeated = [word for position, word in enumerate(words) if word in words[:position]]
        if repeated:
            raise SyntaxError(f"keyword argument repeated: {repeated[0]} (<string>, line 1)")
        function = function or self._function(node.func)
        if any(isinstance(argument, ast.Starred) for argument in node.args) or None in words:
            raise Refused("the answer's text is not evaluated")
        arguments = [self._value(argument) for argument in node.args]
        return function(*arguments, **{word.arg: self._value(word.value) for word in node.keywords})

    def _function(self, node: Any) -> Any:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = node.value.id
            if self.methods.get(node.attr) == owner:
                return getattr(self.objects[owner], node.attr)
        return self._value(node)
