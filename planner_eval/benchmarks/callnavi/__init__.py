"""CallNavi: choosing APIs from a long list, in order, and filling in their parameters.

Source: paper "CallNavi: A Study and Challenge on Function Calling Routing and Invocation in Large
Language Models"; data and code: repository Etamin/CallNavi at 520e280.
"""

from __future__ import annotations

from planner_eval.benchmarks.benchmark import (
    Benchmark,
    Option,
    as_json,
    deferred_fields,
    has_keys,
    score_functions,
)

__all__ = ["BENCHMARK", "score_corrected", "score_official"]

_OPTIONS = (
    Option("task", "parameters", ("parameters", "routing", "stability"), "What the answers were asked for."),
    Option("notation", "json", ("json", "yaml"), "How the answers were asked to be written."),
)

score_official, score_corrected = score_functions("callnavi")


BENCHMARK = Benchmark(
    name="callnavi",
    title="CallNavi",
    fits=has_keys("API"),
    signs=("API",),
    difference="the paper takes an answer as written, and added parameters are wrong",
    options=_OPTIONS,
    judged=True,
    notations=frozenset({"json", "callnavi", "callnavi-yaml"}),
    # Its scorer turns apostrophes into quotes and deletes fences in texts; an object was washed before.
    answer_text=lambda content: as_json(content).replace("'", "\\u0027").replace("`", "\\u0060"),
    several=lambda options: options.get("task") == "stability",
    **deferred_fields(
        __name__,
        read="data:read_callnavi",
        read_file="data:read_domain_file",
        paper="tables:paper_cells",
        prompt_files="data:PROMPT_FILES",
        details="tables:tables",
        charts="tables:CHARTS",
        gold_of="reading:gold_of",
    ),
)
