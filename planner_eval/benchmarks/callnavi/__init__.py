"""CallNavi: choosing APIs from a long list, in order, and filling in their parameters.

Source: paper "CallNavi: A Study and Challenge on Function Calling Routing and Invocation in Large
Language Models"; data and code: repository Etamin/CallNavi at 520e280.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from planner_eval.base.resources import deferred, deferred_names
from planner_eval.benchmarks.benchmark import Benchmark, Option, as_json, has_keys, scorers_in

if TYPE_CHECKING:
    from planner_eval.benchmarks.answers import Scorer
    from planner_eval.benchmarks.callnavi.corrected import score_corrected
    from planner_eval.benchmarks.callnavi.official import score_official


__all__ = ["BENCHMARK", "score_corrected", "score_official"]

_OPTIONS = (
    Option("task", "parameters", ("parameters", "routing", "stability"), "What the answers were asked for."),
    Option("notation", "json", ("json", "yaml"), "How the answers were asked to be written."),
)


__getattr__ = deferred_names(__name__, score_official="official", score_corrected="corrected")
_scorer = scorers_in("callnavi")


def _answer_text(content: Any) -> str:
    # Its scorer turns apostrophes into quotes and deletes fences in texts; an object was washed before.
    return as_json(content).replace("'", "\\u0027").replace("`", "\\u0060")


def _has_repeats(options: Mapping[str, str]) -> bool:
    return options.get("task") == "stability"


def _find_scorer(variant: str, options: Mapping[str, Any]) -> Scorer | None:
    return None if _has_repeats(options) else _scorer(variant, options)


BENCHMARK = Benchmark(
    name="callnavi",
    apart=_find_scorer,
    title="CallNavi",
    read=deferred("planner_eval.benchmarks.callnavi.data:read_callnavi"),
    read_file=deferred("planner_eval.benchmarks.callnavi.data:read_domain_file"),
    fits=has_keys("API"),
    signs=("API",),
    paper=deferred("planner_eval.benchmarks.callnavi.tables:paper_cells"),
    difference="the paper takes an answer as written, and added parameters are wrong",
    options=_OPTIONS,
    judged=True,
    prompt_files=deferred("planner_eval.benchmarks.callnavi.data:PROMPT_FILES"),
    details=deferred("planner_eval.benchmarks.callnavi.tables:tables"),
    charts=deferred("planner_eval.benchmarks.callnavi.tables:CHARTS"),
    gold_of=deferred("planner_eval.benchmarks.callnavi.reading:gold_of"),
    notations=frozenset({"json", "callnavi", "callnavi-yaml"}),
    answer_text=_answer_text,
    several=_has_repeats,
)
