"""A policy's file that is wrong, or has a rule that changes nothing, is told by file and place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_eval.base.errors import PolicyError
from planner_eval.policy import fits
from planner_eval.policy.file import load_policy, policy_of, presets
from planner_eval.policy.idle import idle
from planner_eval.policy.rule import Rule
from tests.inside import planeval

X = '[[rule]]\nargument = "x"\n'

WRONG = [
    # a wrong word
    (f'{X}compare = "casefolded"', "line 3, rule 1: compare is 'casefolded', expected one of exact, typed"),
    (f'{X}compare = ["date", "nmbers"]', "line 3, rule 1: compare 2 is 'nmbers', expected one of exact"),
    (f'{X}compare = ["casefolded"]', "optional, extra; did you mean 'casefold'?"),
    (f"{X}tolerence = 1", "line 3, rule 1: there is no key 'tolerence'; did you mean 'tolerance'?"),
    ('ordr = "free"', "there is no key 'ordr'; did you mean 'order'?"),
    ('metrics = "exact"', "there is no key 'metrics'"),
    ('\norder = "any"', "line 2: order is 'any', expected one of data, free, written, flat"),
    ('\nextends = "lenientt"', "line 2: extends: there is no policy 'lenientt'"),
    ('extends = "own.toml"', "own.toml: extends leads back to the file: "),
    ('\ncatalog = "gone.json"', "line 2: catalog: {}/gone.json: no such file"),
    (f'{X}aliases = "planets"', "line 1, rule 1: there is no table of aliases 'planets'; known are cities"),
    (f"{X}aliases = {{a = 1}}", "rule 1, aliases: a is 1, expected text"),
    (f'\n{X}function = "os:nothing"', "line 2, rule 1: function 'os:nothing' cannot be had"),
    (f'\n\n{X}pattern = "("', "line 3, rule 1: the pattern '(' does not compile"),
    ("order = 1 2", "at line 1, column"),
    # a wrong type
    (f"{X}compare = 5", "line 3, rule 1: compare is 5, expected one of exact"),
    (f"{X}compare = []", "compare is empty"),
    (f'{X}tolerance = "0.1"', "line 3, rule 1: tolerance is '0.1', expected a number"),
    (f"{X}tolerance = -1", "rule 1: tolerance is -1, expected a number from 0 on"),
    (f"{X}tolerance = true", "tolerance is True"),
    (f"{X}tolerance = inf", "line 3, rule 1: tolerance is inf, expected a finite number"),
    (f"{X}relative = nan", "line 3, rule 1: relative is nan, expected a finite number"),
    (f"{X}accepted = 5", "line 3, rule 1: accepted is 5, expected a list"),
    (f"{X}default = 2024-05-01", "rule 1: default is datetime.date(2024, 5, 1), expected text: dates"),
    (f'{X}accepted = ["a", [07:00:00]]', "rule 1: accepted 2 is [datetime.time(7, 0)], expected text"),
    ("wildcards = [2024-05-01T07:00:00]", "line 1: wildcards 1 is datetime.datetime(2024, 5, 1, 7, 0)"),
    ('[rule]\nargument = "x"', "line 1: rule is {'argument': 'x'}, expected a list"),
    # a rule that changes nothing
    (X, "line 1, rule 1: the rule says nothing; expected compare, tolerance, relative"),
    (f"{X}accepted = []", "line 1, rule 1: the rule says nothing"),
    (f'{X}compare = "date"\n\n[[rule]]\ncompare = "time"', "the rule never holds: rule 2 comes later"),
    (f'{X}compare = "date"\n{X}compare = "time"', "line 1, rule 1: the rule never holds: rule 2 comes later"),
    (f'[[rule]]\ncompare = "date"\n{X}tool = "f"\ncompare = "time"\n[[rule]]\nargument = "?"\nrelative=1',
     "line 3, rule 2: the rule never holds: rule 3 comes later"),
    (f'{X}compare = ["ignore", "date"]', "the rule ignores the argument, which leaves 'date' without"),
    (f'{X}compare = "ignore"\ntolerance = 1', "ignores the argument, which leaves the rest of it without"),
    (f'{X}compare = ["any", "time", "extra", "date"]', "the rule takes any value, which leaves 'date', "),
    (f'{X}compare = "any"\npattern = "a"', "takes any value, which leaves the rest of it without effect"),
    (f'{X}compare = ["exact", "numbers"]', "compares exactly, which leaves 'numbers' without effect"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), WRONG)
def test_it_is_told_by_file_and_place(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "own.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(PolicyError) as caught:
        load_policy(str(file))
    told = str(caught.value)
    assert (f"{file}, {said}" if said.startswith("line") else said).replace("{}", str(tmp_path)) in told
    assert str(file) in told
    assert told.count("rule 1") <= 1


@pytest.mark.parametrize(("text", "said"), [
    (f'{X}pattern = "("', "line 1, rule 1: the pattern '(' does not compile"),
    ('[[rule]]\nargument = "z"\ncompare = "date"', "line 1, rule 1: no plan gives the argument 'z'"),
    (f'{X}compare = "date"\n[[rule]]\ntool = "ff"\ntolerance=1', "line 4, rule 2: no plan calls the tool"),
    (f'{X}function = "math:sqrt"', "line 1, rule 1: 'sqrt' failed on 2 (the prediction's) and 1 (gold's)"),
    (f'{X}function = "leaving:out"', "rule 1: 'out' failed on 2 (the prediction's) and 1 (gold's): SystemE"),
])  # fmt: skip
def test_the_command_tells_it_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "leaving.py").write_text("def out(ours, theirs):\n    raise SystemExit(0)\n")
    (tmp_path / "own.toml").write_text(text)
    for name, value in (("pred", 2), ("gold", 1)):
        (tmp_path / name).write_text(json.dumps([{"name": "f", "arguments": {"x": value}}]))
    done = planeval("diff", tmp_path / "pred", tmp_path / "gold", "--policy", tmp_path / "own.toml")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{tmp_path}/own.toml, " in done.stderr
    assert said in " ".join(done.stderr.split())


def test_the_place_in_a_pyproject(tmp_path: Path) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text('[project]\nname = "a"\n[[tool.planeval.rule]]\nargument = "x"\npattern = "("\n')
    with pytest.raises(PolicyError, match=r"pyproject\.toml, line 3, rule 1: the pattern"):
        load_policy(str(file))


@pytest.mark.parametrize("rules", [
    [{"argument": "x", "compare": ["any", "optional"], "default": 1}],
    [{"argument": "x", "compare": ["exact", "extra"], "tolerance": 1}],
    [{"compare": "date"}, {"argument": "x"}],
    [{"argument": "x*", "compare": "date"}, {"argument": "x?", "compare": "time"}],
    [{"tool": "f", "compare": "date"}, {"argument": "x", "compare": "time"}],
    [{"tool": "A.f", "compare": "date"}, {"tool": "f", "compare": "time"}],
])  # fmt: skip
def test_what_changes_something_is_taken(rules: list[dict[str, object]], tmp_path: Path) -> None:
    assert len(policy_of({"rule": rules}).rules) == len(rules)
    (tmp_path / "base.toml").write_text('[[rule]]\nargument = "x"\ncompare = "date"\n')
    (tmp_path / "own.toml").write_text('extends = "base.toml"\n[[rule]]\n')  # which takes that back
    assert len(load_policy(str(tmp_path / "own.toml")).rules) == 2
    for name in presets():
        assert idle(load_policy(name).rules) is None


NAMED = st.sampled_from(["*", "f", "g", "f*", "?", "?*"])


@given(st.lists(st.builds(Rule, tool=NAMED, argument=NAMED, compare=st.just(("date",))), max_size=8))
def test_a_rule_is_idle_where_one_that_comes_later_fits_all_that_it_fits(rules: list[Rule]) -> None:
    def over(later: str, text: str) -> bool:
        return later in ("*", text) or ("*" not in text and "?" not in text and fits(later, text))

    covered = [
        at
        for at, rule in enumerate(rules)
        if any(over(one.tool, rule.tool) and over(one.argument, rule.argument) for one in rules[at + 1 :])
    ]
    found = idle(rules)
    assert (found.at if found else None) == next(iter(covered), None)


def test_many_rules_are_looked_at_in_time_that_grows_with_them() -> None:
    """Rules are looked up by what they name; only patterns are gone through."""
    rules = [Rule(argument=f"x{at}", compare=("date",)) for at in range(20_000)]
    assert idle(rules) is None
    assert idle([*rules, rules[7]]) == (7, idle([rules[7], rules[7]]).words.replace("rule 2", "rule 20001"))  # type: ignore[union-attr]
