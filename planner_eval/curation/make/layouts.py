"""The layouts that made records are written in."""

from __future__ import annotations

from collections.abc import Mapping

LAYOUTS: Mapping[str, str] = {
    "planeval": "our own: id, query, gold as interchange JSON, tools as a catalog, what it came to",
    "nestful": "NESTful's second version",
    "appbench": "AppBench's, of which the tools are a catalogue of their own",
    "functionchat": "FunctionChat-Bench's single calls, with lists of tools",
    "complexfuncbench": "ComplexFuncBench's conversations, with what each call came to",
}
"""Name → what it is."""

OWN_LAYOUT = "planeval"
"""Our own layout, which has a place for everything that is known of a record."""

SINGLE_ANSWER_LAYOUTS = frozenset(("nestful",))
"""Those whose gold answer is the value of one call, the last."""

JSON_LIST_LAYOUTS = frozenset(("appbench",))
"""Those whose file is one list."""
