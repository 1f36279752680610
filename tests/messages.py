"""What the package says to people, as one list to read: each text in it, with an example where one is known.

    python -m tests.messages        # writes tests/messages.txt

A text of several words that is no docstring counts; braces stand for what is put in when it is printed. The
help of a command is its docstring. Examples are lines of the documentation, golden files and other tests.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache

from tests.conftest import ROOT

LIST = ROOT / "tests" / "messages.txt"
_PROSE = re.compile(r"[A-Za-z]{2,}[,:;]? (?:[A-Za-z(\"'`]|\{\})|\{\}[,:;]? [a-z]{2,}")
_CODE = re.compile(
    r"\(\?|\\|\]\*|^ ?[<|(]|[;{] *--|https?:|\$\{|\(\) ?\{|label=\{\}|\w=\{\}\]?$|^\w+\[.*\]$"
    r"|^\w+\(…\) of planner_eval|^(?:SELECT|CREATE|PRAGMA|INSERT|UPDATE|UNIQUE|NOT |FROM|WHERE|from |import )"
    r"|ORDER BY|IS NOT|LEFT JOIN|COLLATE| IN \(|^(?:style|classDef|linkStyle|subgraph|flowchart|new)\b"
    r"|^(?:planeval\.typed|namespace|Callable|tuple|Generator)\b"
)
_NOT_SAID = {"compile", "lazy_regex", "execute", "TypeVar", "cast", "field_validator", "deferred", "split"}

_NAMES_FIRST = {"option", "Format", "_flags_of"}
"""What takes an option as it is typed, or names, before its texts."""


def texts(module: ast.Module) -> Iterator[str]:
    """The texts of one module."""
    for text in _texts(module):
        text = re.sub(r"\s+", " ", text).strip()
        if _PROSE.search(text) and not _CODE.search(text):
            yield text


def error_texts(module: ast.Module) -> Iterator[str]:
    """The texts of one module that errors are made of."""
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and _name(node.func).endswith(("Error", "error", "refuse")):
            for text in _texts(ast.Tuple([*node.args, *(keyword.value for keyword in node.keywords)])):
                yield re.sub(r"\s+", " ", text).strip()


def _name(function: ast.expr) -> str:
    """The last name of what is called."""
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _texts(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef) and any("command(" in ast.unparse(d) for d in node.decorator_list):
        yield ast.get_docstring(node) or ""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return  # a docstring
    if isinstance(node, ast.Assert):
        return  # its text is for who reads the code
    if isinstance(node, ast.Call) and _name(node.func) in _NOT_SAID:
        return
    if isinstance(node, ast.Call) and _name(node.func) in _NAMES_FIRST:
        for argument in [*node.args, *(keyword.value for keyword in node.keywords)][1:]:
            yield from _texts(argument)
        return
    if isinstance(node, ast.Call) and _name(node.func) == "refuse_idle":
        for scope in node.args:  # whose first words are names of options
            for part in scope.elts[1:] if isinstance(scope, ast.Tuple) else [scope]:
                yield from _texts(part)
        return
    template = _template(node)
    if template is not None:
        yield template
    for child in ast.iter_child_nodes(node):
        if template is None or _template(child) is None:
            yield from _texts(child)


def _template(node: ast.AST) -> str | None:
    """The text of an expression that begins or ends with one; None for any other."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            before, after = _template(left), _template(right)
            return None if before is None is after else f"{_or_gap(before)}{_or_gap(after)}"
    return None


def _or_gap(text: str | None) -> str:
    return "{}" if text is None else text


@cache
def listed() -> tuple[dict[str, list[str]], list[str]]:
    """The texts of every module that has some, by its path, and those of all errors."""
    by_path, errors = {}, []
    for path in sorted((ROOT / "planner_eval").rglob("*.py")):
        module = ast.parse(path.read_text(encoding="utf-8"))
        by_path[path.relative_to(ROOT).as_posix()] = list(dict.fromkeys(texts(module)))
        errors += error_texts(module)
    return {path: messages for path, messages in by_path.items() if messages}, errors


def render(by_path: dict[str, list[str]], examples: str) -> str:
    """The list as text: a head for each file, a line for each text, indented below it an example.

    Args:
        by_path: The texts.
        examples: Lines to take examples from.
    """
    lines = []
    for path, messages in by_path.items():
        lines.append(f"\n# {path}")
        for message in messages:
            lines.append(message)
            example = _example(message, examples) if "{}" in message else None
            lines += [f"    {example}"] if example else []
    return "\n".join(lines).lstrip("\n") + "\n"


def _example(message: str, examples: str) -> str | None:
    parts = message.split("{}")
    longest = max(parts, key=len)
    pattern = re.compile("[^\\n]{1,80}?".join(map(re.escape, parts)))
    at = examples.find(longest) if len(longest) > 11 else -1
    for _ in range(4):
        if at < 0:
            break
        if shown := pattern.search(examples[max(0, at - 200) : at + 400]):
            return shown[0].strip()
        at = examples.find(longest, at + 1)
    return None


def example_lines() -> str:
    """What documentation and golden files show, and tests expect."""
    tests = ROOT / "tests"
    globs = (
        (ROOT / "docs", "**/*.md"),
        (tests, "**/*.jsonl"),
        (tests / "cases", "**/*.txt"),
        (tests, "test_*.py"),
    )
    paths = sorted(path for folder, glob in globs for path in folder.glob(glob))
    return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in paths)


if __name__ == "__main__":
    LIST.write_text(render(listed()[0], example_lines()), encoding="utf-8")
