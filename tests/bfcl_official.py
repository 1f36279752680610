"""BFCL's own code, run beside ours: an installed ``bfcl_eval``, without what its checks do not need.

The package imports the clients of all providers for one table of names; stand-ins take their place.
"""

import os
import sys
import tempfile
from functools import cache
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import MagicMock

import tree_sitter

_ABSENT = ("openai", "tenacity", "filelock", "dotenv", "tqdm", "numpy", "pandas", "overrides")


class _Parser:
    """tree-sitter's parser as the published code, which asks for an older one, uses it."""

    def set_language(self, language: Any) -> None:
        self.parser = tree_sitter.Parser(language)

    def parse(self, source: bytes) -> Any:
        root = self.parser.parse(source).root_node
        return SimpleNamespace(root_node=_Root(root))


class _Root:
    def __init__(self, node: tree_sitter.Node) -> None:
        self.node = node

    def sexp(self) -> str:
        return str(self.node)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.node, name)


_OLD_PARSER: Any = SimpleNamespace(Parser=_Parser, Language=lambda grammar, _: tree_sitter.Language(grammar))


class _StandIn(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in ("retry", "final", "override"):
            return lambda *given, **named: (
                given[0] if given and callable(given[0]) else (lambda function: function)
            )
        return MagicMock()


class _Finder(MetaPathFinder, Loader):
    """Finds stand-ins for packages that are not installed, and for the table of models."""

    def __init__(self, names: set[str]) -> None:
        self.names = names

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname in self.names else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        return None


class _Model(NamedTuple):
    underscore_to_dot: bool


class Described(NamedTuple):
    """A model as the published tables describe one."""

    underscore_to_dot: bool = True
    display_name: str = "m"
    url: str = "u"
    org: str = "o"
    license: str = "l"
    input_price: float | None = None
    output_price: float | None = None


class Official(NamedTuple):
    """The package's modules."""

    runner: Any
    helper: Any
    enums: Any
    handler_class: Any
    utils: Any

    def handler(self, *, calls: bool) -> Any:
        """What decodes answers of a model that calls functions, or is prompted."""
        handler = self.handler_class.__new__(self.handler_class)
        handler.is_fc_model = calls
        return handler


@cache
def official() -> Official | None:
    """The package's code; None where it is not installed."""
    if find_spec("bfcl_eval") is None:
        return None
    absent = {name for name in _ABSENT if find_spec(name) is None} | {"bfcl_eval.constants.model_config"}
    before = set(sys.modules)
    os.environ["BFCL_PROJECT_ROOT"] = tempfile.mkdtemp(prefix="bfcl")  # it makes folders where it is imported
    finder = _Finder(absent)
    sys.meta_path.insert(0, finder)
    sys.modules["tree_sitter"] = _OLD_PARSER
    try:
        models: Any = import_module("bfcl_eval.constants.model_config")

        models.MODEL_CONFIG_MAPPING = {"calls": _Model(True), "prompt": _Model(False)}
        enums = import_module("bfcl_eval.constants.enums")
        runner = import_module("bfcl_eval.eval_checker.eval_runner")
        helper = import_module("bfcl_eval.eval_checker.eval_runner_helper")
        clients = import_module("bfcl_eval.model_handler.api_inference.openai_completion")
        utils = import_module("bfcl_eval.utils")
    finally:
        sys.modules["tree_sitter"] = tree_sitter
        sys.meta_path.remove(finder)
        for name in set(sys.modules) - before:
            if name in absent and not name.startswith("bfcl_eval"):
                del sys.modules[name]
    return Official(runner, helper, enums, clients.OpenAICompletionsHandler, utils)


class Answered(NamedTuple):
    """What the published code says: valid, kind of error, messages; or the exception that it ends with."""

    valid: bool
    kind: str | None
    messages: Any


def judge(code: Official, sample: Any, result: Any, *, calls: bool) -> Answered:
    """The published verdict on one answer to a single turn, web search or memory."""
    entry = {**sample.extra["question"], "function": sample.tools}
    handler, model = code.handler(calls=calls), "calls" if calls else "prompt"
    category, truth = sample.category, sample.extra["ground_truth"]
    name = sample.id
    languages, forms = code.enums.Language, code.enums.ReturnFormat
    try:
        if "relevance" in category:
            said = code.runner._evaluate_single_relevance_entry(handler, name, result, entry, model, category)
        elif code.utils.is_agentic(category):
            said = code.runner._evaluate_single_agentic_entry(
                handler, name, result, truth, entry, model, category
            )
        else:
            language, form, tag = languages.PYTHON, forms.PYTHON, False
            if category == "simple_java":
                language, form = languages.JAVA, forms.JAVA
            elif category == "simple_javascript":
                language, form = languages.JAVASCRIPT, forms.JAVASCRIPT
            elif category == "format_sensitivity":
                parsed = code.runner.parse_prompt_variation_params(sample.extra["config"])
                form, tag = forms(parsed[0]), parsed[1]
            said = code.runner._evaluate_single_ast_entry(
                handler, name, result, truth, entry, model, category, language, form, tag
            )
    except Exception as error:
        return Answered(False, "raised", [f"{type(error).__name__}: {error}"])
    if said["valid"]:
        return Answered(True, None, [])
    inner = said["error"]
    if isinstance(inner, dict):
        return Answered(False, inner["error_type"], inner["error_message"])
    return Answered(False, said["error_type"], inner)
