"""The structure that the published AppBench code reads off a gold record (its Table 2).

Source: repository ruleGreen/AppBench at 81539ee, ``utils.topo_relations``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_NEED = re.compile(r"#\w+=(?:'[^']*'|(\w+))")


def official_components(gold: Mapping[str, Any]) -> list[list[int]]:
    """The components of a gold plan, as the published depth-first search lists them.

    Every call that returns a needed name is linked, later ones too, and the search walks from
    producer to consumer only: two producers of one consumer lie in two components.

    Args:
        gold: A gold record's ``output``.

    Returns:
        Positions of calls, one list a component, in the order in which they are found.

    >>> lines = ["a = f(#x='1')", "b = g(#y='2')", "c = h(#a=a, #b=b)"]
    >>> official_components({"used_app": ["A", "A", "A"], "api_results": lines})
    [[0, 2], [1]]
    """
    lines = [line for line, _ in zip(gold["api_results"], gold["used_app"], strict=False)]
    returned: list[set[str]] = []
    needs: list[set[str]] = []
    for line in lines:
        names, _, call = line.partition("=")
        returned.append({name.strip() for name in names.split(",")})
        needs.append({name for name in _NEED.findall(call) if name})
    n = len(lines)
    # As published: the first call's needs and, as a producer, the last call are never looked at.
    consumers: list[list[int]] = [
        [i for i in range(n - 1, 0, -1) if i != j and j < n - 1 and not needs[i].isdisjoint(returned[j])]
        for j in range(n)
    ]
    components: list[list[int]] = []
    visited: set[int] = set()
    for start in range(n):
        component: list[int] = []
        stack = [start]
        while stack:
            node = stack.pop()
            if node not in visited:
                visited.add(node)
                component.append(node)
                stack.extend(reversed(consumers[node]))
        if component:
            components.append(component)
    return components
