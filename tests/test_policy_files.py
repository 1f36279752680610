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
from planner_eval.policy.rule import COMPARE, Rule
from tests.test_cli import planeval

X = '[[rule]]\nargument = "x"\n'

WRONG = [
    # a wrong word
    (f'{X}compare = "casefolded"', "line 3, rule 1: compare is 'casefolded', expected one of exact, typed"),
    (f'{X}compare = ["date", "nmbers"]', "line 3, rule 1: compare 2 is 'nmbers', expected one of exact"),
    (f"{X}tolerence = 1", "line 3, rule 1: there is no key 'tolerence'; did you mean 'tolerance'?"),
    ('\norder = "any"', "line 2: order is 'any', expected one of data, free, written, flat"),
    ('\nextends = "lenientt"', "line 2: extends: there is no policy 'lenientt'"),
    ('\ncatalog = "gone.json"', "line 2: catalog: gone.json: no such file"),
    (f'{X}aliases = "planets"', "line 1, rule 1: there is no table of aliases 'planets'; known are cities"),
    (f'\n{X}function = "os:nothing"', "line 2, rule 1: function 'os:nothing' cannot be had"),
    (f'\n\n{X}pattern = "("', "line 3, rule 1: the pattern '(' does not compile"),
    (
        '[[rule]]\nargument = "z"\ncompare = "date"',
        "line 1, rule 1: no plan gives the argument 'z'; they give x, y",
    ),
    (
        f'{X}compare = "date"\n[[rule]]\ntool = "ff"\ncompare = "date"',
        "line 4, rule 2: no plan calls the tool 'ff'",
    ),
    # a wrong type
    (f"{X}compare = 5", "line 3, rule 1: compare is 5, expected one of exact"),
    (f'{X}tolerance = "0.1"', "line 3, rule 1: tolerance is '0.1', expected a number"),
    (f"{X}tolerance = inf", "line 3, rule 1: tolerance is inf, expected a finite number"),
    (f"{X}relative = nan", "line 3, rule 1: relative is nan, expected a finite number"),
    (f"{X}accepted = 5", "line 3, rule 1: accepted is 5, expected a list"),
    (
        f"{X}default = 2024-05-01",
        "line 3, rule 1: default is datetime.date(2024, 5, 1), expected text: dates",
    ),
    (
        f'{X}accepted = ["a", [07:00:00]]',
        "line 3, rule 1: accepted 2 is [datetime.time(7, 0)], expected text",
    ),
    ("wildcards = [2024-05-01T07:00:00]", "line 1: wildcards 1 is datetime.datetime(2024, 5, 1, 7, 0)"),
    ('[rule]\nargument = "x"', "line 1: rule is {'argument': 'x'}, expected a list"),
    # a rule that changes nothing
    (X, "line 1, rule 1: the rule says nothing; expected compare, tolerance, relative"),
    (f"{X}accepted = []", "line 1, rule 1: the rule says nothing"),
    (
        f'{X}compare = "date"\n\n[[rule]]\ncompare = "time"',
        "line 1, rule 1: the rule never holds: rule 2 comes later and fits all that it fits; write it",
    ),
    (f'{X}compare = "date"\n{X}compare = "time"', "line 1, rule 1: the rule never holds: rule 2 comes later"),
    (
        f'[[rule]]\ncompare = "date"\n{X}tool = "f"\ncompare = "time"\n[[rule]]\nargument = "?"\nrelative=1',
        "line 3, rule 2: the rule never holds: rule 3 comes later",
    ),
    (
        f'{X}compare = ["ignore", "date"]',
        "line 1, rule 1: the rule ignores the argument, which leaves 'date' without",
    ),
    (
        f'{X}compare = "ignore"\ntolerance = 1',
        "the rule ignores the argument, which leaves the rest of it without",
    ),
    (
        f'{X}compare = ["any", "time", "extra", "date"]',
        "the rule takes any value, which leaves 'date', 'time'",
    ),
    (
        f'{X}compare = "any"\npattern = "a"',
        "the rule takes any value, which leaves the rest of it without effect",
    ),
    (
        f'{X}compare = ["exact", "numbers"]',
        "the rule compares exactly, which leaves 'numbers' without effect",
    ),
]


@pytest.mark.more
@pytest.mark.parametrize(("text", "said"), WRONG)
def test_it_is_told_by_file_and_place(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "own.toml").write_text(text, encoding="utf-8")
    for name in ("pred", "gold"):
        call = {"name": "f", "arguments": {"x": 1, "y": 2}}
        (tmp_path / f"{name}.json").write_text(json.dumps([call]), encoding="utf-8")
    files = (str(tmp_path / name) for name in ("pred.json", "gold.json"))
    done = planeval("diff", *files, "--policy", str(tmp_path / "own.toml"))
    assert (done.returncode, done.stdout) == (2, "")
    where = f"{tmp_path}/own.toml, {said}" if said.startswith("line") else said
    assert where.replace("gone.json", f"{tmp_path}/gone.json") in done.stderr
    assert f"planeval: {tmp_path}/own.toml, line " in done.stderr
    assert "Traceback" not in done.stderr


def test_the_place_in_a_pyproject(tmp_path: Path) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text('[project]\nname = "a"\n[[tool.planeval.rule]]\nargument = "x"\npattern = "("\n')
    with pytest.raises(PolicyError, match=r"pyproject\.toml, line 3, rule 1: the pattern"):
        load_policy(str(file))


@pytest.mark.parametrize(
    "rules",
    [
        [{"argument": "x", "compare": word} for word in COMPARE][:1],
        [{"argument": "x", "compare": ["any", "optional"], "default": 1}],
        [{"argument": "x", "compare": ["exact", "extra"], "tolerance": 1}],
        # the later one is for less, or for something else
        [{"compare": "date"}, {"argument": "x"}],
        [{"argument": "x*", "compare": "date"}, {"argument": "x?", "compare": "time"}],
        [{"tool": "f", "compare": "date"}, {"argument": "x", "compare": "time"}],
        [{"tool": "A.f", "compare": "date"}, {"tool": "f", "compare": "time"}],
    ],
)
def test_what_changes_something_is_taken(rules: list[dict[str, object]]) -> None:
    assert len(policy_of({"rule": rules}).rules) == len(rules)


def test_a_rule_may_take_back_what_another_file_says(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text('[[rule]]\nargument = "x"\ncompare = "date"\n')
    (tmp_path / "own.toml").write_text('extends = "base.toml"\n[[rule]]\n')
    assert len(load_policy(str(tmp_path / "own.toml")).rules) == 2


def test_presets_have_no_idle_rule() -> None:
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
