"""What models are asked with that write and judge questions: our texts, or a user's in place of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from planner_eval.base.errors import InputError
from planner_eval.base.resources import folder
from planner_eval.llm.templates import PromptFile, fill, find_template

_TEXTS: Mapping[str, tuple[str, ...]] = {
    "question": ("language", "most", "begin", "end"),
    "again": ("reasons",),
    "quality": ("language", "begin", "end"),
    "quality-again": (),
}
"""The texts, ``data/prompts/making/NAME.txt``, and what is filled into each."""


class Texts(NamedTuple):
    """What is asked, in words.

    Args:
        texts: Name → text.
        origins: Name → ``"own"``, or the file's name and sha256.
    """

    texts: Mapping[str, str]
    origins: Mapping[str, str]

    def fill(self, name: str, **fields: str) -> str:
        """A text with its fields filled in; what is put in is never looked at again."""
        return fill(self.texts[name], fields)


def read_texts(directory: Path | None = None) -> Texts:
    """Our texts, with those of a folder in place of them, named as ours are: ``quality.txt``.

    Args:
        directory: The folder; None for ours alone.

    Raises:
        InputError: it is no folder, holds none of these files, or one that lacks a field.

    >>> read_texts().origins["question"]
    'own'
    """
    prompt_folder = folder("data") / "prompts" / "making"
    texts = {name: (prompt_folder / f"{name}.txt").read_text(encoding="utf-8").strip() for name in _TEXTS}
    if directory is None:
        return Texts(texts, dict.fromkeys(texts, "own"))
    if not directory.is_dir():
        raise InputError(f"{directory} is no folder of prompts")
    templates = {
        name: template
        for name, fields in _TEXTS.items()
        if (template := find_template(directory, PromptFile(f"making/{name}.txt", fields))) is not None
    }
    if not templates:
        names = ", ".join(f"{name}.txt" for name in _TEXTS)
        raise InputError(f"{directory} holds no prompt that questions are asked for with: expected {names}")
    origins = {name: f"{template.name} {template.sha256}" for name, template in templates.items()}
    return Texts(
        {**texts, **{name: template.text for name, template in templates.items()}},
        {**dict.fromkeys(texts, "own"), **origins},
    )
