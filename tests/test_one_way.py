"""What is done in one way: topological sorting, hints at the closest name, cutting texts, a record's way."""

import re

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_eval.base.text import closest_name, did_you_mean, one_line, shorten
from planner_eval.plan.graph import blocked_positions, circles, generations
from tests.conftest import ROOT, tabled
from tests.inside import planeval

PACKAGE = ROOT / "planner_eval"

WORKER = ("execution/core.py", "execution/sandbox/wire.py")
"""They run in the confined worker, which may import neither our modules nor json."""


def sources(pattern: str) -> set[str]:
    """The files of the package, below it, that hold a pattern."""
    files = PACKAGE.rglob("*.py")
    return {str(f.relative_to(PACKAGE)) for f in files if re.search(pattern, f.read_text(encoding="utf-8"))}


NEEDS = st.integers(0, 7).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, max(n - 1, 0)), max_size=3), min_size=n, max_size=n)
)


def graph(needs: list[list[int]]) -> nx.DiGraph:
    made = nx.DiGraph((producer, user) for user, needed in enumerate(needs) for producer in needed)
    made.add_nodes_from(range(len(needs)))
    return made


@pytest.mark.parametrize(("pattern", "files"), [
    (r"heappop\(|waiting\[\w+\] -= 1|waits\[\w+\] -= 1|\blow\[\w+\] =", {"plan/graph.py"}),
    ("get_close_matches", {"base/text.py", WORKER[0]}), (r"\] \+ [\"']…[\"']", {"base/text.py", WORKER[1]}),
    (r'(?m)^(?! *>>>).*"(jsonl|csv|md|junit|sarif|svg|png|pdf|mermaid|tex|html|parquet)"', {
        "base/formats.py", "results/runs/model.py", "reading/files/opening.py",
        "reading/files/disk_records.py",
    }),
], ids=["sorts", "looks for close names", "cuts with an ellipsis", "knows a format's name"])  # fmt: skip
def test_nobody_else(pattern: str, files: set[str]) -> None:
    assert sources(pattern) == files


@given(NEEDS)
def test_generations_are_those_of_networkx(needs: list[list[int]]) -> None:
    wanted = graph(needs)
    circle = {node for part in nx.strongly_connected_components(wanted) if len(part) > 1 for node in part}
    circle |= set(nx.nodes_with_selfloops(wanted))
    behind = circle.union(*(nx.descendants(wanted, node) for node in circle))
    assert blocked_positions(needs) == sorted(behind)
    free = wanted.subgraph(set(wanted) - behind)
    assert list(generations(needs)) == [sorted(g) for g in nx.topological_generations(free)]
    singly = [position for (position,) in generations(needs, singly=True)]
    assert singly == list(nx.lexicographical_topological_sort(free))


@given(NEEDS)
def test_circles_are_those_of_networkx_needed_ones_first(needs: list[list[int]]) -> None:
    found = circles(needs)
    assert sorted(found) == sorted(map(sorted, nx.strongly_connected_components(graph(needs))))
    place = {position: number for number, group in enumerate(found) for position in group}
    assert all(place[p] <= place[user] for user, needed in enumerate(needs) for p in needed)


def test_hints_take_long_names_and_none() -> None:
    assert did_you_mean("a" * 100_000, ["a" * 200]) == f"did you mean {'a' * 200!r}?"
    found = (did_you_mean("x", []), did_you_mean("x", [], "none"), closest_name("", ["a"]))
    assert found == ("", "none", None)


@given(st.text(), st.integers(1, 30))
def test_cut_texts_have_their_width(text: str, width: int) -> None:
    cut = shorten(text, width)
    assert len(cut) == min(len(text), width)
    assert cut == text or (text.startswith(cut[:-1]) and cut.endswith("…"))
    assert len(one_line(text, width)) <= width


@tabled("argv, choice")
def test_each_command_writes_what_it_wrote(argv: tuple[str, ...], choice: str) -> None:
    assert choice in "".join(planeval(*argv, "--help-all").stdout.split())


def test_users_files_are_decoded_by_one_reader() -> None:
    places = ("reading/files/", "reading/parse", "catalogs/", "comparison/", "execution/worlds/", "results/")
    places += ("benchmarks/datasets/", "curation/")
    own_files = ("results/runs/", "results/drawing/", "curation/make/writing.py")
    plain = {file for file in sources(r"json\.loads?\(") if file.startswith(places)}
    plain = {file for file in plain if not file.startswith(own_files)}
    ours = {
        "benchmarks/datasets/published.py",
        "results/scored.py",
        "results/selftest.py",
        "results/report.py",
        "results/stats.py",
    }
    ours |= {
        "reading/files/record_index.py",
        "reading/files/disk_records.py",
    }  # an index, and rows that were written down
    assert plain == ours, "files of our own"
