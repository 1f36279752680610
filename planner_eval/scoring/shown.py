"""Which figures are shown to people: those that the data can have, and why others are left out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from planner_eval.scoring.report import Estimate

_SAID = {
    "calls": "no gold plan has calls",
    "app": "no gold plan names an app",
    "arguments": "no gold plan has arguments",
    "references": "no gold plan has references",
}
_OF = {
    "app": ("apps",),
    "arguments": ("argument_names", "argument_values", "independent_arguments", "independent_errors"),
    "references": (
        "dependent_arguments", "dependent_errors", "references", "dependencies", "order_tau", "precedences",
        "component_pairs", "transitive_dependencies", "taskbench_links",
    ),
}  # fmt: skip
_NEEDS = {name: what for what, names in _OF.items() for name in names}


def shown(estimates: Sequence[Estimate], always_shown: Collection[str] = ()) -> list[Estimate]:
    """The figures that exist, and those of `always_shown` that do not."""
    return [figure for figure in estimates if figure.value is not None or figure.name in always_shown]


def left_out_lines(names: Iterable[str], lacks: Collection[str]) -> list[str]:
    """Which figures are left out, and why, as one line; none where nothing is.

    >>> left_out_lines(["references", "same_depth"], ["references"])
    ['no gold plan has references: references; nothing to count: same_depth; left out, --all shows them']
    """
    reasons: dict[str, list[str]] = {}
    for name in names:
        need = "calls" if "calls" in lacks else _NEEDS.get(name, "calls")
        reasons.setdefault(_SAID[need] if need in lacks else "nothing to count", []).append(name)
    message = "; ".join(f"{reason}: {', '.join(left)}" for reason, left in reasons.items())
    return [f"{message}; left out, --all shows them"] if message else []
