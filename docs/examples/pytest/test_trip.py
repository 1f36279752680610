import pytest

import planner_eval as pe

GOLD = """
trains = search_train(start="Rome", to="Milan")
book(ticket=trains[0], seats=2)
"""


def plan_of(question: str) -> str:
    """Stand-in for your agent: returns its answer."""
    return 't = search_train(to="Milan", start="Rome")\nbook(seats=2, ticket=t[0])'


def test_the_plan_means_the_same_as_gold() -> None:
    pe.assert_same(plan_of("Two seats from Rome to Milan, please"), GOLD)


@pytest.mark.parametrize("city", ["Milan", "Turin"])
def test_the_plan_is_the_one_that_was_kept(golden_plan, city: str) -> None:
    golden_plan(plan_of(f"Two seats from Rome to {city}, please"))


def test_most_plans_are_right() -> None:
    pe.assert_scores([plan_of("…")] * 3, [GOLD, GOLD, "cancel()"], {"exact": 0.6, "calls": 0.5})
