"""Prompts of the user's own: files whose text is asked in place of ours.

A benchmark names the file of each of its questions and what stands in it between braces. A template is
filled in one pass: what is put in is data, and never looked at again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from planner_eval.base.errors import InputError
from planner_eval.benchmarks.judging import Judge, JudgeReply, JudgeRequest

MAX_BYTES = 2**20
"""Larger files are no prompts."""


class PromptFile(NamedTuple):
    """The file that a question can be asked from.

    Args:
        path: Where it lies in the published repository; or its bare name.
        fields: What stands in it between braces; each has to.
        whole: Whether blanks at both ends of its text belong to it.
    """

    path: str
    fields: tuple[str, ...]
    whole: bool = False

    @property
    def name(self) -> str:
        """Its bare name."""
        return self.path.rpartition("/")[2]


class Template(NamedTuple):
    """A prompt as it was read.

    Args:
        name: The file's bare name.
        text: Its text; without blanks at both ends unless they belong to it.
        sha256: Of its bytes, in hexadecimal.
    """

    name: str
    text: str
    sha256: str


@dataclass(frozen=True, slots=True)
class PromptedJudge:
    """A judge that is asked with templates where there is one for the task.

    Args:
        judge: Who answers.
        templates: Task → its template.
    """

    judge: Judge
    templates: Mapping[str, Template]

    def ask(self, request: JudgeRequest) -> JudgeReply:
        """The judge's answer to the filled template, as one message of the user.

        Raises:
            JudgeError: as the judge.
        """
        template = self.templates.get(request.task)
        if template is not None:
            messages = (("user", fill(template.text, dict(request.fields))),)
            request = replace(request, messages=messages, fields=())
        return self.judge.ask(request)


def fill(template: str, fields: Mapping[str, str]) -> str:
    """A template with its fields filled in; other braces stand as they are.

    >>> fill("{a} and {b}, not {c}", {"a": "{b}", "b": "2"})
    '{b} and 2, not {c}'
    """
    return re.sub(r"\{(\w+)\}", lambda match: fields.get(match[1], match[0]), template)


def read_templates(folder: Path, files: Mapping[str, PromptFile]) -> dict[str, Template]:
    """The templates of a folder: a clone of the published repository, or a folder of the files alone.

    Args:
        folder: Where they lie.
        files: Task → its file.

    Raises:
        InputError: a file is not there, is no text, or lacks a field; names it.
    """
    return {task: _read_template(folder, file) for task, file in files.items()}


def has_templates(folder: Path, files: Mapping[str, PromptFile]) -> bool:
    """Whether every file is there."""
    return all(_find_file(folder, file) is not None for file in files.values())


def find_template(folder: Path, file: PromptFile) -> Template | None:
    """A file of a folder; None where it is not there.

    Raises:
        InputError: it is no text, or lacks a field.
    """
    return _read_template(folder, file) if has_templates(folder, {"": file}) else None


def _find_file(folder: Path, file: PromptFile) -> Path | None:
    return next((path for path in (folder / file.path, folder / file.name) if path.is_file()), None)


def _read_template(folder: Path, file: PromptFile) -> Template:
    path = _find_file(folder, file)
    if path is None:
        alternative = f", or {file.path} below a clone of its repository" if file.path != file.name else ""
        raise InputError(f"{folder} has no file {file.name}: expected it there{alternative}")
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
        text = data.decode("utf-8") if file.whole else data.decode("utf-8").strip()
    except OSError as problem:
        raise InputError(f"{path}: {problem.strerror or problem}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is no UTF-8 text, expected a prompt") from None
    if len(data) > MAX_BYTES:
        raise InputError(f"{path} is larger than {MAX_BYTES:,} bytes, expected a prompt")
    missing = [name for name in file.fields if f"{{{name}}}" not in text]
    if missing:
        fields = " ".join(f"{{{name}}}" for name in file.fields)
        raise InputError(
            f"{path} lacks {{{missing[0]}}}: what is asked about is put in there; expected {fields}"
        )
    return Template(file.name, text, sha256(data).hexdigest())
