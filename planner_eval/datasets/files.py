"""Opening the files of data sets: JSON and JSON lines, with errors that say file and place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from planner_eval.base.errors import DatasetError, ParseError
from planner_eval.base.jsonfile import JsonLine, read_json, read_json_lines


def load_json(path: Path) -> Any:
    """The data of a JSON file.

    Raises:
        DatasetError: the file is missing, is a folder, is not UTF-8 or not JSON.
    """
    try:
        return read_json(_text(path))
    except ParseError as problem:
        raise DatasetError(f"{path}: {problem.brief}") from None


def load_jsonl(path: Path) -> Iterator[JsonLine]:
    """The lines of a JSON lines file; empty lines are passed over.

    Raises:
        DatasetError: the file is missing, is a folder, is not UTF-8, or a line is not JSON.
    """
    for line in read_json_lines(_text(path)):
        if line.error is not None:
            raise DatasetError(f"{path}: {line.error.brief}")
        yield line


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
