"""NESTful's published prompts: one a model, as texts with the tokens that part a conversation's turns.

A server puts such tokens in by itself, so each text is taken apart into the messages that it stands for. What
comes after the start of the model's own turn is left out, and so are the tokens around a text of one turn.

Source: IBM/NESTFUL, ``src/PROMPTS.json`` and ``src/instruct_data_prep.py``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.json_files import read_json
from planner_eval.base.text import did_you_mean
from planner_eval.benchmarks.judge_prompts import PromptFile, Template, fill, find_template
from planner_eval.models.pipelines.pipeline import Message

PROMPTS_FILE = PromptFile("src/PROMPTS.json", ())
"""The file of all of them."""

PROMPT_FIELDS = ("FUNCTION_STR", "ICL_EXAMPLES", "QUERY")
"""What is filled in: tools, demonstrations, the question."""

_TURN_START = re.compile(
    r"<\|start_header_id\|>(\w+)<\|end_header_id\|>|<\|im_start\|>(\w+)"
    r"|<\|START_OF_TURN_TOKEN\|><\|(\w+)_TOKEN\|>|^(SYSTEM|USER|ASSISTANT):",
    re.MULTILINE,
)
_TURN_TOKENS = re.compile(
    r"<\|begin_of_text\|>|<BOS_TOKEN>|<s>|<\|eot_id\|>|<\|im_end\|>|<\|END_OF_TURN_TOKEN\|>|\[/?INST\]"
)
_ROLES = {"system": "system", "user": "user", "assistant": "assistant", "chatbot": "assistant"}
_LLAMA = re.compile(r"llama-3[.-][12]", re.IGNORECASE)
"""Models that are asked with one text, whatever their size."""
_DOUBLED_BRACES = re.compile(r"\{\{|\}\}")


def read_published(directory: Path, model: str | None) -> Template | None:
    """The text for a model; None where the folder has no such file.

    Args:
        directory: A clone of the repository, or a folder that holds the file.
        model: A name of the file, or a model's that is asked with one of its texts.

    Raises:
        InputError: the file cannot be read, or has no text for the model.
    """
    template = find_template(directory, PROMPTS_FILE)
    if template is None:
        return None
    try:
        data = read_json(template.text)
    except ParseError as problem:
        raise InputError(f"{directory / template.name}: {problem.brief}") from None
    texts = (
        {key: text for key, text in data.items() if _has_all_fields(text)} if isinstance(data, dict) else {}
    )
    if not texts:
        fields = " ".join(f"{{{name}}}" for name in PROMPT_FIELDS)
        raise InputError(f"{directory / template.name}: expected an object of texts with {fields}")
    name = _find_text_name(model or "", texts)
    if name is None:
        lack = f"has no prompt for {model!r}" if model else "has a prompt for each of several models"
        hint = did_you_mean(model or "", texts, f"it has {', '.join(texts)}")
        raise InputError(f"{directory / template.name} {lack}: name one with --prompts-for; {hint}")
    return Template(name, _undouble_braces(texts[name]), template.sha256)


def _has_all_fields(text: object) -> bool:
    return isinstance(text, str) and all(f"{{{name}}}" in text for name in PROMPT_FIELDS)


def _find_text_name(model: str, texts: Mapping[str, str]) -> str | None:
    bare = model.rpartition("/")[2].lower()
    family = "llama-3.1" if _LLAMA.match(bare) else bare
    by_lower = {name.lower(): name for name in texts}
    return by_lower.get(bare) or by_lower.get(family)


def _undouble_braces(text: str) -> str:
    """A text whose braces are doubled where they are meant, with single ones; another as it is."""
    bare = re.sub(r"\{(?:" + "|".join(PROMPT_FIELDS) + r")\}", "", text)
    if set("{}") & set(_DOUBLED_BRACES.sub("", bare)):
        return text
    return _DOUBLED_BRACES.sub(lambda match: match[0][0], text)


def messages_of(text: str, *, tools: str, examples: str, query: str) -> list[Message]:
    r"""The messages that a text stands for, filled in.

    >>> text = "<|im_start|>system\nA {FUNCTION_STR}{ICL_EXAMPLES}<|im_end|><|im_start|>user\n{QUERY}"
    >>> messages_of(text, tools="[]", examples="", query="{QUERY}?")
    [{'role': 'system', 'content': 'A []'}, {'role': 'user', 'content': '{QUERY}?'}]
    """
    values = dict(zip(PROMPT_FIELDS, (tools, examples, query), strict=True))
    marks = list(_TURN_START.finditer(text))
    starts = [("user", 0)] if not marks else []
    starts += [(_role(mark), mark.end()) for mark in marks]
    ends = [*(mark.start() for mark in marks[1:]), len(text)] if marks else [len(text)]
    messages: list[Message] = []
    for (role, start), end in zip(starts, ends, strict=True):
        content = fill(_TURN_TOKENS.sub("", text[start:end]).strip(), values)
        if role != "assistant":
            messages.append({"role": role, "content": content})
    return messages


def _role(mark: re.Match[str]) -> str:
    named = next(group for group in mark.groups() if group)
    return _ROLES.get(named.lower(), "user")


def format_answer(answer: str, name: str) -> str:
    """A demonstration's calls in the form in which a model is shown them.

    Args:
        answer: The calls as JSON.
        name: The model, as the file names it.

    >>> (
    ...     format_answer('[{"name": "f"}]', "xLAM-1b-fc-r"),
    ...     format_answer('[{"name": "f"}]', "Hermes-2-Pro-Mistral-7B")
    ... )
    ('{"tool_calls": [{"name": "f"}] }', '<tool_call> {"name": "f"} </tool_call>')
    """
    if name in ("xLAM-7b-fc-r", "xLAM-1b-fc-r"):
        return f'{{"tool_calls": {answer} }}'
    if name == "Hermes-2-Pro-Mistral-7B":
        return " ".join(f"<tool_call> {json.dumps(call)} </tool_call>" for call in json.loads(answer))
    return answer
