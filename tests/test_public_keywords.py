"""The public functions take the same keywords: one name, one type, one default, and groups in one order."""

import inspect
import re
from collections import defaultdict

import planner_eval as pe

GROUPS = {
    "reading": (
        "reading dialect id_field text_field verdict_field gold_field turn cache folder role positive "
        "id ids number repair compute infer prose reader limits pipeline benchmark catalog tools setup "
        "shots choice categories limit query answer preset like fill trace repetition store loss"
    ),
    "judging": (
        "gold policy terms rules code command shows differs figure settings metrics by way across "
        "cluster causes effects located names level select ignore confidence runs baseline weights "
        "per_call unreadable judge most least against examples fixes max_calls calls depth width "
        "components reuse pattern scope single join distinct distractors offer"
    ),
    "running": (
        "seed facts isolation timeout options allow_read binding initial record fetching endpoint "
        "router sampling repeat concurrency messages steps tries deadline try_deadline jobs running "
        "progress seen tell"
    ),
    "writing": ("to format theme force color layout common shown out name"),
}
"""What is read, how it is judged, how the work is done, and what is written; a new keyword goes into one."""

OTHERWISE = {
    ("tool_source", "seed"): "worlds are made from texts too",
    ("write", "tools"): "a plan is written without a catalog being read",
}

FUNCTIONS = {name: getattr(pe, name) for name in pe.__all__ if inspect.isfunction(getattr(pe, name))}


def keywords(name: str) -> list[inspect.Parameter]:
    """Those that have to be named, and what stands in every comparison."""
    parameters = inspect.signature(FUNCTIONS[name]).parameters.values()
    return [p for p in parameters if p.kind is p.KEYWORD_ONLY or p.name in ("policy", "terms")]


def test_a_keyword_has_one_type_and_one_default() -> None:
    """None as a default is what is usual for the function, so it may stand beside another."""
    types, defaults = defaultdict[str, dict[str, str]](dict), defaultdict[str, dict[str, str]](dict)
    for name in FUNCTIONS:
        for keyword in keywords(name):
            if (name, keyword.name) in OTHERWISE:
                continue
            types[keyword.name].setdefault(re.sub(r" \| None$", "", str(keyword.annotation)), name)
            if keyword.default not in (None, inspect.Parameter.empty):
                defaults[keyword.name].setdefault(repr(keyword.default), name)
    assert {k: v for k, v in types.items() if len(v) > 1} == {}
    assert {k: v for k, v in defaults.items() if len(v) > 1} == {}


def test_groups_of_keywords_stand_in_one_order() -> None:
    order = [name for group in GROUPS.values() for name in group.split()]
    assert len(order) == len({*order})
    used = {keyword.name for name in FUNCTIONS for keyword in keywords(name)}
    assert used == {*order}
    for name in FUNCTIONS:
        places = [order.index(k.name) for k in keywords(name) if k.kind is k.KEYWORD_ONLY]
        assert places == sorted(places), name
        documented = re.findall(r"^        (\w+): ", inspect.getdoc(FUNCTIONS[name]) or "", re.MULTILINE)
        named = [word for word in documented if word in {k.name for k in keywords(name)}]
        assert named == [k.name for k in keywords(name) if k.name in named], name


def test_no_function_takes_what_nobody_named() -> None:
    for name, function in FUNCTIONS.items():
        kinds = {p.kind for p in inspect.signature(function).parameters.values()}
        assert inspect.Parameter.VAR_KEYWORD not in kinds, name
