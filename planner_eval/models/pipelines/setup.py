"""What a run is set up with: prompts, sampling, and how tools are listed."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from planner_eval.base.errors import InputError, ParseError
from planner_eval.base.json_files import read_json
from planner_eval.base.resources import folder
from planner_eval.base.text import close_names, did_you_mean, shorten
from planner_eval.benchmarks.benchmark import BENCHMARKS
from planner_eval.benchmarks.judging import PromptFile, Template, fill, find_template
from planner_eval.catalogs.grammars.grammar import grammar, refuse_unknown
from planner_eval.models.pipelines.pipeline import Fields, Message
from planner_eval.models.pipelines.tool_lists import catalog_of

if TYPE_CHECKING:
    from planner_eval.models.pipelines.pipeline import Task


# ----------------------------------------------------------------------
# NESTful's published prompts: one a model, as texts with the tokens that part a conversation's turns.
#
# A server puts such tokens in by itself, so each text is taken apart into the messages that it stands for.
# What comes after the start of the model's own turn is left out, and so are the tokens around a text of one
# turn.
#
# Source: IBM/NESTFUL, ``src/PROMPTS.json`` and ``src/instruct_data_prep.py``.
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
    texts = {
        key: text
        for key, text in (data.items() if isinstance(data, dict) else ())
        if isinstance(text, str) and all(f"{{{name}}}" in text for name in PROMPT_FIELDS)
    }
    if not texts:
        fields = " ".join(f"{{{name}}}" for name in PROMPT_FIELDS)
        raise InputError(f"{directory / template.name}: expected an object of texts with {fields}")
    name = _find_text_name(model or "", texts)
    if name is None:
        lack = f"has no prompt for {model!r}" if model else "has a prompt for each of several models"
        hint = did_you_mean(model or "", texts, f"expected one of {', '.join(texts)}")
        raise InputError(f"{directory / template.name} {lack}: name one with --run prompts-for; {hint}")
    return Template(name, _undouble_braces(texts[name]), template.sha256)


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
    roles = (next(group for group in mark.groups() if group) for mark in marks)
    starts = [(_ROLES.get(role.lower(), "user"), mark.end()) for role, mark in zip(roles, marks, strict=True)]
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    messages: list[Message] = []
    for (role, start), end in zip(starts or [("user", 0)], ends, strict=True):
        content = fill(_TURN_TOKENS.sub("", text[start:end]).strip(), values)
        if role != "assistant":
            messages.append({"role": role, "content": content})
    return messages


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


# ----------------------------------------------------------------------
# Grammars for what a model answers: made of the tools that its prompt shows, and sent with the request.
SERVERS: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "vllm": lambda text: {"structured_outputs": {"grammar": text}},
    "vllm-guided": lambda text: {"guided_grammar": text},
    "sglang": lambda text: {"ebnf": text},
    "llama.cpp": lambda text: {"grammar": text},
}
"""The field of a request in which a server takes a grammar, as GBNF. ``vllm-guided`` is vLLM until 0.11."""

SERVED_PIPELINES = (("flat", "own"), ("flat", "nestful"), ("flat", "appbench"), ("hierarchical", "appbench"))
"""The pipelines, with the data sets, of which one answer is a whole plan."""

_DIALECTS = {"nestful": "nestful", "appbench": "appbench"}


class Constraint(NamedTuple):
    """What holds the model's answers.

    Args:
        by: ``"schema"``, sent as ``response_format``; or ``"grammar"``, sent as the server takes it.
        server: With a grammar: the server, one of :data:`SERVERS`.
        max_calls: How many calls a plan may have.
    """

    by: str
    server: str = "vllm"
    max_calls: int = 8

    @property
    def target(self) -> str:
        """The form of the grammar."""
        return "json-schema" if self.by == "schema" else "gbnf"


def refuse_unserved(constraint: Constraint, pipeline: str, form: str, dialect: str) -> None:
    """Refuse what cannot be held, before anything is asked.

    Raises:
        InputError: the pipeline's answers are no whole plans, or their notation has no such grammar.
    """
    if (pipeline, form) not in SERVED_PIPELINES:
        able = " or ".join(dict.fromkeys(name for name, _ in SERVED_PIPELINES))
        tasks = "tasks of your own" if form == "own" else f"tasks of {form}"
        raise InputError(
            f"--constrain needs an answer that is a whole plan, which {pipeline} does not ask "
            f"for with {tasks}: it applies to {able}, with AppBench, NESTful or tasks of your own"
        )
    if constraint.server not in SERVERS:
        hint = did_you_mean(constraint.server, SERVERS, f"expected one of {', '.join(SERVERS)}")
        raise InputError(f"unknown server {constraint.server!r}: {hint}")
    refuse_unknown(_DIALECTS.get(form, dialect), constraint.target, constraint.max_calls)


def request_fields(task: Task, setup: Setup) -> dict[str, Any]:
    """What a request for a plan says beside, so that the answer is one.

    Args:
        task: What may be seen of the sample; its tools are those of the prompt.
        setup: What the pipeline is told.

    Raises:
        InputError: no grammar can be made of the tools.
    """
    if setup.constrain is None:
        return {}
    options: dict[str, Any] = {
        "dialect": _DIALECTS.get(task.form, setup.notation),
        "max_calls": setup.constrain.max_calls,
        "to": setup.constrain.target,
    }
    try:
        plans = _cached_grammar(catalog_of(task), **options)
    except TypeError:  # a listed value that is a list has no hash
        plans = grammar(catalog_of(task), **options)
    if plans.schema is None:
        return SERVERS[setup.constrain.server](plans.text)
    json_schema = {"name": "plan", "schema": dict(plans.schema), "strict": plans.strict}
    return {"response_format": {"type": "json_schema", "json_schema": json_schema}}


_cached_grammar = lru_cache(maxsize=16)(grammar)
"""The grammar of a catalog that many samples share."""


def unwrap_answer(text: str, task: Task, setup: Setup) -> str:
    """An answer in its notation: without the object that a schema puts around a list of calls.

    >>> from planner_eval.models.pipelines.setup import Setup
    >>> from planner_eval.models.pipelines.pipeline import Task
    >>> unwrap_answer('{"calls": []}', Task("own", "?", (), ()), Setup(constrain=Constraint("schema")))
    '[]'
    """
    if setup.constrain is None or setup.constrain.by != "schema":
        return text
    if _DIALECTS.get(task.form, setup.notation) == "plan":
        return text
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):  # it was cut, or the server held it to nothing
        return text
    if isinstance(data, dict) and data.keys() == {"calls"} and isinstance(data["calls"], list):
        return json.dumps(data["calls"], ensure_ascii=False)
    return text


# ----------------------------------------------------------------------
# What a run is set up with: prompts, sampling, and how tools are listed.
_PUBLISHED_FILES: Mapping[str, PromptFile] = {
    "appbench/plan": PromptFile("code/prompts/appbench/api_for_all_agent.txt", ("app_api_list",), True),
    "appbench/agent": PromptFile("code/prompts/appbench/api_for_single_agent.txt", ("app_api_list",), True),
    "appbench/agent-again": PromptFile(
        "code/prompts/appbench/dependency_api_for_single_agent.txt",
        ("app_api_list", "returned_arguments"),
        True,
    ),
    "functionchat/system": PromptFile("data/system_prompt.txt", ()),
}
"""The texts that a benchmark publishes as a file of its own, which may take the place of ours."""

_PROMPT_FIELDS: Mapping[str, tuple[str, ...]] = {
    "appbench/apps": ("apps",),
    "appbench/plan": ("app_api_list", "today"),
    "appbench/agent": ("app_api_list", "today"),
    "appbench/agent-again": ("app_api_list", "returned_arguments"),
    "nestful/plan": ("tools", "examples"),
    "nestful/react": ("tools",),
    "callnavi/route": ("tools", "query"),
    "callnavi/plan": ("tools", "query"),
    "callnavi/fill": ("tools", "query"),
    "callnavi/backward": ("tools", "query"),
    "callnavi/backward-again": (),
    "functionchat/system": (),
    "own/plan": ("tools", "notation", "examples"),
    "own/react": ("tools",),
}
"""Our texts, ``data/prompts/NAME.txt``, and what is filled into each."""

SAMPLING: Mapping[str, Fields] = {
    "appbench": {"temperature": 0.0, "max_tokens": 1024},
    "nestful": {"temperature": 0.0, "max_tokens": 1000},
    "functionchat": {"temperature": 0.1, "max_tokens": 2048},
}
"""What the published code asks with, where the benchmark itself does not say it; others get
:data:`DEFAULT_SAMPLING`."""

MAX_STEPS, MAX_TURNS = 10, 200
"""The most replies of a sample whose calls are made, and of a recorded conversation that ends by itself."""

DEFAULT_SAMPLING: Fields = {"temperature": 0.0, "max_tokens": 2048}


@dataclass(frozen=True, slots=True)
class Prompts:
    """Texts by name, with where each comes from.

    Args:
        texts: Name → text.
        origins: Name → ``"own"``, or the file's name and sha256.
        published_for: The model that NESTful's published text is for; "" for our own text.
        folder: Where texts of the user's come from; "" for ours alone.
        broken: Name → why the user's text cannot be used, of those that cannot.
        notes: Which files of the folder are read by nobody, in words.
    """

    texts: Mapping[str, str]
    origins: Mapping[str, str]
    published_for: str = ""
    folder: str = ""
    broken: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def fill(self, name: str, **fields: str) -> str:
        """A text with its fields filled in, in one pass: what is put in is never looked at again."""
        return fill(self.texts[name], fields)

    def with_templates(self, templates: Mapping[str, Template]) -> Prompts:
        """The same with other texts in place of those of their names."""
        texts = {name: template.text for name, template in templates.items()}
        origins = {name: f"{template.name} {template.sha256}" for name, template in templates.items()}
        return replace(self, texts={**self.texts, **texts}, origins={**self.origins, **origins})


def our_prompts(names: Iterable[str] = _PROMPT_FIELDS) -> Prompts:
    """The texts that come along.

    Args:
        names: Which of them.

    >>> our_prompts().origins["callnavi/route"]
    'own'
    """
    prompt_folder = folder("data") / "prompts"
    texts = {name: (prompt_folder / f"{name}.txt").read_text(encoding="utf-8").strip() for name in names}
    return Prompts(texts, dict.fromkeys(texts, "own"))


def read_prompts(directory: Path, model: str | None = None) -> Prompts:
    """Our texts, with those of a folder in place of them.

    The folder is a clone of a benchmark's repository, holds such files directly, or holds files named as
    ours, ``callnavi/route.txt``, which need the same fields. A file that cannot be used is refused by
    :func:`refuse_texts`, where a pipeline asks with it.

    Args:
        directory: The folder.
        model: The model whose text of NESTful's is meant, which has one for each.

    Raises:
        InputError: the folder holds none of these files.
    """
    if not directory.is_dir():
        raise InputError(f"{directory} is not a folder of prompts")
    files = dict(_PUBLISHED_FILES) | {
        name: PromptFile(f"{name}.txt", fields)
        for name, fields in _PROMPT_FIELDS.items()
        if (directory / f"{name}.txt").is_file()
    }
    read = {name: _try_read(partial(find_template, directory, file)) for name, file in files.items()}
    nestful = _try_read(partial(read_published, directory, model))
    read |= {} if nestful is None else {"nestful/plan": nestful}
    templates = {name: template for name, template in read.items() if isinstance(template, Template)}
    broken = {name: str(problem) for name, problem in read.items() if isinstance(problem, InputError)}
    if not templates and not broken:
        names = ", ".join(sorted({file.name for file in (*_PUBLISHED_FILES.values(), PROMPTS_FILE)}))
        raise InputError(
            f"{directory} holds no prompt: expected {names}, or our own names, such as callnavi/route.txt"
        )
    return replace(
        our_prompts().with_templates(templates),
        published_for=nestful.name if isinstance(nestful, Template) else "",
        folder=str(directory),
        broken=broken,
        notes=tuple(_unread_messages(directory)),
    )


def _try_read(read: Callable[[], Template | None]) -> Template | InputError | None:
    try:
        return read()
    except InputError as problem:
        return problem


def _unread_messages(directory: Path) -> Iterator[str]:
    """Says of files that are called nearly as a prompt is, or lie beside ours, that nobody reads them."""
    own_files = [f"{name}.txt" for name in _PROMPT_FIELDS]
    names = [*own_files, *(file.name for file in (*_PUBLISHED_FILES.values(), PROMPTS_FILE))]
    folders = dict.fromkeys(name.partition("/")[0] for name in _PROMPT_FIELDS)
    for parent in (directory, *(directory / subfolder for subfolder in folders)):
        for path in sorted(parent.glob("*")):
            name = path.relative_to(directory).as_posix()
            similar = close_names(
                path.name, [file_name.rpartition("/")[2] for file_name in names], 1, cutoff=0.8
            )
            in_prompt_folder = parent != directory and path.suffix == ".txt"
            if name in names or not path.is_file() or not (similar or in_prompt_folder):
                continue
            like = [file_name for file_name in names if file_name.rpartition("/")[2] in similar]
            like = [file_name for file_name in like if (directory / file_name).parent == parent] or like
            hint = f"; did you mean {' or '.join(like)}?" if like else ""
            yield f"{path} is not used: there is no prompt {name}{hint}"


def refuse_texts(prompts: Prompts, pipeline: str, form: str, used: Sequence[str]) -> None:
    """Refuse texts of the user's that a pipeline cannot ask with, and a folder that has none for it.

    Args:
        prompts: The texts.
        pipeline: The pipeline's name.
        form: The data set.
        used: The names of the texts that it asks with.

    Raises:
        InputError: says which file, or which would be read.
    """
    for name in used:
        if name in prompts.broken:
            raise InputError(prompts.broken[name])
    if prompts.folder and all(prompts.origins[name] == "own" for name in used):
        whose = "tasks of your own" if form == "own" else form
        file_names = [f"{name}.txt" for name in used] + [
            _PUBLISHED_FILES[name].name for name in used if name in _PUBLISHED_FILES
        ]
        file_names += [PROMPTS_FILE.name] if "nestful/plan" in used else []
        expected = f"expected {' or '.join(file_names)}" if file_names else "it has no text for them"
        raise InputError(f"{prompts.folder} holds no prompt that {pipeline} asks {whose} with: {expected}")


@dataclass(frozen=True, slots=True)
class Example:
    """A demonstration: a question and its answer as it should be written.

    Args:
        query: The question.
        answer: The answer.
    """

    query: str
    answer: str


@dataclass(frozen=True, slots=True)
class Setup:
    """What a pipeline is told beside its sample.

    Args:
        prompts: The texts it asks with.
        listing: How tools are listed, a name of :mod:`.listing`; "" for the data set's usual way.
        dialect: The notation asked for, of one's own tasks, and read as first; None asks for JSON, and
            whatever notation an answer is in is recognised.
        official: Keep those oddities of the published code that change its figures.
        explain_references: Say how results of earlier calls are referred to, where the published texts leave
            that to the examples.
        today: The date that instructions are read on.
        steps: The most replies of a sample whose calls are made; None for the usual: :data:`MAX_STEPS`, of
            ``stepwise`` :data:`MAX_TURNS`.
        rounds: The most rounds of ``backward`` and ``isolated``.
        examples: Demonstrations, in order; for ``isolated`` all that there are, the closest last.
        shots: How many of them an agent of one app is shown.
        history: Whose the earlier turns of a recorded conversation are: gold's, or the model's ``"own"``.
        makes_calls: The calls of one's own tasks are made.
        constrain: What holds answers to the plans of the tools that are shown; None for nothing.
    """

    prompts: Prompts = field(default_factory=our_prompts)
    listing: str = ""
    dialect: str | None = None
    official: bool = False
    explain_references: bool = False
    today: str = "2019-03-01"
    steps: int | None = None
    rounds: int = 5
    examples: tuple[Example, ...] = ()
    shots: int = 0
    history: str = "gold"
    makes_calls: bool = False
    constrain: Constraint | None = None

    @property
    def notation(self) -> str:
        """The notation asked for."""
        return self.dialect or "json"


def sampling_of(form: str, changes: Fields) -> dict[str, Any]:
    """What requests for a data set ask with; a change to None leaves something out.

    >>> sampling_of("nestful", {"seed": 7, "max_tokens": None})
    {'temperature': 0.0, 'seed': 7}
    """
    published = BENCHMARKS[form].sampling if form in BENCHMARKS else None
    chosen = {**(published or SAMPLING.get(form, DEFAULT_SAMPLING)), **changes}
    return {name: value for name, value in chosen.items() if value is not None}


# ----------------------------------------------------------------------
# What users may have requests say: fields of sampling, each of a value that it can have.
_RESERVED_FIELDS: Mapping[str, str] = {
    "model": "--model names the model, --run router-model the one that routes",
    "messages": "the pipeline writes the messages",
    "tools": "the pipeline offers the tools of the samples",
    "tool_choice": "the pipeline offers the tools of the samples",
    "functions": "the pipeline offers the tools of the samples",
    "function_call": "the pipeline offers the tools of the samples",
    "n": "one answer of a reply is read; --repeat N asks N times",
    "stream": "answers are read whole",
    "stream_options": "answers are read whole",
    "router": "--run router-model names the model that routes",
    "repetition": "--repeat N asks N times",
    "self": "no server has such a field",
}
"""Fields that are not the user's to set, and who sets them."""

_CONSTRAINT_FIELDS = (
    "response_format",
    "structured_outputs",
    "guided_grammar",
    "guided_json",
    "ebnf",
    "grammar",
)
"""Fields in which servers take what holds an answer."""


def _number_check(low: float, high: float = math.inf) -> Callable[[Any], bool]:
    return lambda value: type(value) in (int, float) and math.isfinite(value) and low <= value <= high


def _integer_check(low: float = -math.inf) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and low <= value


def _is_texts(value: Any) -> bool:
    listed = value if isinstance(value, list) else [value]
    return all(isinstance(entry, str) for entry in listed)


_KNOWN_FIELDS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "temperature": (_number_check(0), "a number from 0"),
    "top_p": (_number_check(0, 1), "a number from 0 to 1"),
    "min_p": (_number_check(0, 1), "a number from 0 to 1"),
    "top_k": (_integer_check(-1), "a whole number, -1 or more"),
    "max_tokens": (_integer_check(1), "a whole number, 1 or more, or none"),
    "max_completion_tokens": (_integer_check(1), "a whole number, 1 or more, or none"),
    "seed": (_integer_check(), "a whole number"),
    "presence_penalty": (_number_check(-2, 2), "a number from -2 to 2"),
    "frequency_penalty": (_number_check(-2, 2), "a number from -2 to 2"),
    "repetition_penalty": (_number_check(0), "a number from 0"),
    "stop": (_is_texts, "a text or a list of texts"),
    "logprobs": (lambda value: isinstance(value, bool), "true or false"),
    "top_logprobs": (_integer_check(0), "a whole number, 0 or more"),
}
"""Fields of sampling that the protocol knows: what they can be, and that in words."""


def refuse_sampling(sampling: Fields, pipeline: str, *, constrained: bool) -> None:
    """Refuse what requests cannot say: fields that the run itself sets, and values that no field takes.

    What is not known here passes: servers have fields of their own.

    Args:
        sampling: What is asked for, by name; None leaves something out.
        pipeline: The name of the pipeline.
        constrained: Whether answers are held to a grammar.

    Raises:
        InputError: names the field, and what it can be or who sets it.

    >>> refuse_sampling({"temperature": 0.5, "seed": None, "mirostat": 2}, "flat", constrained=False)
    """
    owned = dict(_RESERVED_FIELDS)
    if constrained:
        owned |= dict.fromkeys(_CONSTRAINT_FIELDS, "--constrain sets what constrains the answers")
    if pipeline == "react":
        owned["stop"] = "the pipeline react stops at the words of its own notation"
    for name, value in sampling.items():
        if name in owned:
            raise InputError(f"--set {name} cannot be set: {owned[name]}")
        if value is not None and name in _KNOWN_FIELDS and not _KNOWN_FIELDS[name][0](value):
            raise InputError(f"--set {name} is {shorten(repr(value), 60)}, expected {_KNOWN_FIELDS[name][1]}")
