"""The worlds under the benchmarks' own plans: all but broken gold runs to the end without a failed call."""

import json
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from planner_eval.catalogs.formats import read_catalog_file
from planner_eval.execution.run import execute_many, execute_plan
from planner_eval.execution.worlds.definition import CallError, Definition
from planner_eval.execution.worlds.facts import facts_of
from planner_eval.execution.worlds.generic import extend
from planner_eval.execution.worlds.reading import load, verify
from planner_eval.execution.worlds.world import World, world_source
from planner_eval.plan.model import Call, Plan
from tests.real_plans import real_plans

BROKEN = {("mm", n) for n in (12, 16, 36, 49, 58, *range(169, 200))}
"""Calls that take arguments from themselves or from later ones, or are given what they do not take."""


@cache
def gold(reference: Path) -> dict[tuple[str, int], Plan]:
    """AppBench's gold plans by set and position."""
    places = [(part, at) for part in ("ss", "sm", "ms", "mm") for at in range(201 if part == "ms" else 200)]
    return dict(zip(places, real_plans(reference), strict=False))


@cache
def base(seed: int = 1) -> World:
    return World("appbench", seed=seed)


@pytest.mark.more
def test_every_gold_plan_runs_to_the_end_and_twice_to_the_same_state(reference: Path) -> None:
    plans = gold(reference)
    assert len(plans) == 801
    failed = {}
    for key, plan in plans.items():
        facts = facts_of([plan])
        with base().copy(facts) as one, base().copy(facts) as other:
            before = one.dump()
            trace = execute_plan(plan, one)
            execute_plan(plan, other)
            after = one.dump()
            assert after == other.dump(), f"{key}: the same seed and plan, another state"
            if any(call.status != "ok" for call in trace.calls):
                failed[key] = [(call.tool, call.status, str(call.error)) for call in trace.calls]
                continue
            assert all(call.value for call in trace.calls), f"{key}: a search of gold finds nothing"
            acts = any(base().definition.find(call.name, call.app).acts for call in plan.calls)
            assert acts == (after != before), f"{key}: the state changes exactly when a call acts"
    assert failed.keys() == BROKEN, {key: failed[key] for key in failed.keys() - BROKEN}


@pytest.mark.more
def test_one_world_holds_the_facts_of_all_plans(reference: Path) -> None:
    plans = gold(reference)
    with base().copy(facts_of(plans.values())) as world:
        source = world_source(world)
    traces = zip(plans, execute_many(plans.values(), source, isolation="inline"), strict=True)
    assert {key for key, trace in traces if not trace.ok} == BROKEN


def test_the_world_offers_what_the_catalogue_lists(reference: Path) -> None:
    catalogue = read_catalog_file(reference / "datasets/appbench/catalogue.json")
    world = load("appbench")
    assert len(world.apis) == len(catalogue) == 81
    listed = json.loads((reference / "datasets/appbench/catalogue.json").read_text())["apps"]
    apps = {app["app"]: app["apis"] for app in listed if app["listed_in_benchmark"]}
    ours = {f"{app}.{api['name']}" for app, apis in apps.items() for api in apis}
    assert len(ours) == 33
    for tool in catalogue.tools:
        api = world.apis[tool.full_name]
        needed = [p.name for p in tool.parameters if p.required]
        assert [a.name for a in api.arguments if a.required] == needed
        assert {a.name for a in api.arguments} == {p.name for p in tool.parameters}, tool.full_name
        assert {name for name, _ in api.returns} == {p.name for p in tool.returns.fields}, tool.full_name
    called = {call.tool for plan in gold(reference).values() for call in plan.calls}
    never = {
        "Homes.findhomebyarea", "Homes.schedulevisit", "Media.findmovies", "Media.playmovie",
        "Services.find_stylist_provider", "Services.book_stylist_appointment",
        "Services.find_therapist_provider", "Services.book_therapist_appointment",
    }  # fmt: skip
    assert ours - called == never, "these have tests of their own in test_worlds.py"


def test_the_bank_has_the_functions_of_its_catalogue(reference: Path) -> None:
    bank, catalogue = load("bank"), read_catalog_file(reference / "datasets/callnavi/APIs/bank.json")
    assert set(bank.apis) == {tool.name for tool in catalogue.tools}
    for tool in catalogue.tools:
        api = bank.apis[tool.name]
        assert {p.name for p in tool.parameters} <= {a.name for a in api.arguments}, tool.name
        assert {name for name, _ in api.returns} == {p.name for p in tool.returns.fields}, tool.name


def test_all_of_callnavi_as_generic_worlds(reference: Path) -> None:
    """All 1,084 gold calls against worlds derived from the catalogues alone, placeholders as they stand."""
    done: Counter[str] = Counter()
    for path in sorted((reference / "datasets/callnavi/Questions").glob("*.json")):
        catalogue = read_catalog_file(path.parents[1] / "APIs" / path.name)
        world = World(extend(Definition(path.stem), catalogue), seed=2)
        for truth in (question["ground_truth"] for question in json.loads(path.read_text())):
            calls = list(zip(truth["API"], truth["parameters"] or [{}] * len(truth["API"]), strict=True))
            made = (Call(str(n), name, tuple(given.items())) for n, (name, given) in enumerate(calls))
            facts = facts_of([Plan(tuple(made))])
            for name, given in calls:
                with world.copy(facts) as copy:
                    try:
                        copy.call(None, name, given)
                        done["answered"] += 1
                    except CallError as error:
                        done[type(error).__name__] += 1
    faults = {"UnknownArgument": 31, "MissingArgument": 3, "UnknownApi": 6, "NotFound": 13, "WrongType": 7}
    assert done == faults | {"answered": 1024}


def test_every_published_catalog_makes_a_world(reference: Path) -> None:
    data = reference / "datasets"
    files = [data / "appbench/catalogue.json", *sorted((data / "nestful/v1").rglob("*-spec.json"))]
    files += [data / "nestful/v2/nestful_v2_collected.jsonl"]
    files += sorted((data / "complexfuncbench").glob("[te]*.json"))
    files += sorted((data / "functionchat").glob("*.jsonl"))
    files += sorted((data / "callnavi").glob("A*/*.json"))
    apis = 0
    for file in files:
        definition = load(f"catalog:{file}")
        verify(definition)
        with World(definition) as world:
            apis += len(definition.apis)
            assert world.dump().count("\n") > len(definition.tables)
    assert (len(files), apis) == (31, 3372)
