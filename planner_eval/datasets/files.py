"""Opening the files of data sets: JSON and JSON lines, with errors that say file and place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from planner_eval.base.errors import DatasetError


def load_json(path: Path) -> Any:
    """The data of a JSON file.

    Raises:
        DatasetError: the file is missing, is a folder, is not UTF-8 or not JSON.
    """
    text = _text(path)
    try:
        return json.loads(text)
    except json.JSONDecodeError as problem:
        raise DatasetError(f"{path}: line {problem.lineno}, column {problem.colno}: {problem.msg}") from None
    except (ValueError, RecursionError) as problem:
        raise DatasetError(f"{path}: not JSON that can be read: {problem}") from None


class Line(NamedTuple):
    """The data of one line of a file; lines are counted from 1."""

    number: int
    data: Any


def load_jsonl(path: Path) -> Iterator[Line]:
    """The lines of a JSON lines file; empty ones are passed over.

    Raises:
        DatasetError: the file is missing, is a folder, is not UTF-8, or a line is not JSON.
    """
    for number, line in enumerate(_text(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield Line(number, json.loads(line))
        except (ValueError, RecursionError) as problem:
            raise DatasetError(f"{path}: line {number}: not JSON: {problem}") from None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise DatasetError(
            f"{path}: no such file; fetch the data set, or name the folder that holds it"
        ) from None
    except IsADirectoryError:
        raise DatasetError(f"{path}: is a folder; a file was expected") from None
    except UnicodeDecodeError as problem:
        raise DatasetError(f"{path}: not UTF-8 text at byte {problem.start}") from None
    except OSError as problem:
        raise DatasetError(f"{path}: {problem.strerror}") from None
