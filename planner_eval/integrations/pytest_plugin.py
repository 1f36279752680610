"""The plugin of pytest: golden plans beside the tests, and a hint where plans are compared with ``==``.

It is loaded into every run of pytest where planner_eval is installed, so nothing of ours is imported before
it is used.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import planner_eval as pe

if TYPE_CHECKING:
    from planner_eval.comparison.policy.resolve import AnyPolicy
    from planner_eval.reading.parse import Source


FLAG = "--planeval-update"
_WRITTEN_PROPERTY = "planeval_golden"
_MAX_NAME_BYTES = 100
"""The longest name of a golden file, which some systems' limits need."""
_MAX_HINT_LINES = 20
"""Lines of the comparison that a hint shows."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--planeval-update``."""
    parser.getgroup("planeval", "plans of tool calls").addoption(
        FLAG, action="store_true", help="write the golden plans of the tests that run, instead of comparing"
    )


class GoldenPlan:
    """Compares a plan with the one that is kept beside the test: the fixture ``golden_plan``.

    The file is ``test_trip.plans/test_books.json`` for ``test_books`` of ``test_trip.py``: the plan in
    planner_eval's own notation, which people can read and change.

    Args:
        request: The test that asks.
    """

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._node = request.node
        self._update = bool(request.config.getoption(FLAG))
        self._seen: set[Path] = set()

    def __call__(self, pred: Source, policy: AnyPolicy = "default", *, name: str = "") -> None:
        """Fail unless a plan means the same as the golden one; with ``--planeval-update`` keep it as that.

        Args:
            pred: The prediction: its text or data, a plan, a record, or the path of its file.
            policy: How values compare.
            name: Tells several plans of one test apart.

        Raises:
            AssertionError: they do not mean the same, the prediction cannot be read, or there is no golden
                plan yet: it says what to type.
        """
        __tracebackhide__ = True
        file = self.file(name)
        if file in self._seen:
            pytest.fail(
                f"a second plan is compared with {_relative_path(file)}: give each plan "
                f"{'another' if name else 'a'} name, golden_plan(…, name='…')"
            )
        self._seen.add(file)
        if self._update:
            self._keep(pred, file, policy)
        elif not file.is_file():
            reason = _refusal_reason(pred, policy, file) or f"{self._command} writes it"
            pytest.fail(f"there is no golden plan yet, {_relative_path(file)}: {reason}")
        else:
            self._compare(pred, file, policy)

    def _compare(self, pred: Source, file: Path, policy: AnyPolicy) -> None:
        __tracebackhide__ = True
        from planner_eval.base.errors import InputError
        from planner_eval.integrations.verdict import compare_pair

        try:
            pe.assert_same(pred, file, policy)
        except AssertionError as error:
            hint = (
                f"golden plan: {_relative_path(file)}; if the prediction is right, {self._command} keeps it"
            )
            raise AssertionError(f"{error}\n{hint}") from None
        except InputError as error:
            compare_pair(pred, "[]", policy)  # raises where it is no fault of the golden plan's
            raise InputError(
                f"{error}\ngolden plan: {_relative_path(file)}; {self._command} updates it"
            ) from None

    def file(self, name: str = "") -> Path:
        """Where the golden plan lies.

        Args:
            name: Tells several plans of one test apart.
        """
        head, bracket, parameters = self._node.nodeid.partition("::")[2].partition("[")
        base_name = f"{head.replace('::', '.')}{bracket}{parameters}" or self._node.name
        plans_folder: Path = self._node.path.with_suffix(".plans")
        return plans_folder / f"{_file_name(f'{base_name}.{name}' if name else base_name)}.json"

    @property
    def _command(self) -> str:
        return f"`pytest {shlex.quote(self._node.nodeid)} {FLAG}`"

    def _keep(self, pred: Source, file: Path, policy: AnyPolicy) -> None:
        """Write the golden plan, unless it says the same already."""
        __tracebackhide__ = True
        from planner_eval.base.errors import InputError
        from planner_eval.base.output_files import find_write_problem, write
        from planner_eval.integrations.verdict import compare_pair

        plan = compare_pair(pred, "[]", policy).pred
        if file.is_dir():
            raise InputError(f"{_relative_path(file)} is a directory in the golden plan's place: remove it")
        if plan is not None and file.is_file() and _is_stored_already(plan, file, policy):
            return
        reason = _refusal_reason(pred, policy, file)
        if plan is None or reason is not None:
            raise AssertionError(f"no golden plan was written: {reason}")
        try:
            file.parent.mkdir(exist_ok=True)
        except OSError as error:
            raise InputError(
                f"the folder {_relative_path(file.parent)} cannot be made: {error.strerror or error}"
            ) from None
        problem = find_write_problem(_relative_path(file))
        if problem is not None:
            raise InputError(problem)
        write(file, pe.write(plan, "plan"))
        self._node.user_properties.append((_WRITTEN_PROPERTY, _relative_path(file)))


def _refusal_reason(pred: Source, policy: AnyPolicy, file: Path) -> str | None:
    """Why a prediction cannot be kept as the golden plan; None where it can."""
    from planner_eval.comparison.gold_alternatives import describe_prose_gold
    from planner_eval.integrations.verdict import compare_pair, failure_message

    row = compare_pair(pred, "[]", policy)
    if row.pred is None:
        return failure_message(row)
    if describe_prose_gold(pred, row.pred) is None:
        return None
    return f"the prediction is prose without calls; if that is right, write [] into {_relative_path(file)}"


def _is_stored_already(plan: Any, file: Path, policy: AnyPolicy) -> bool:
    """Whether a golden file says the same; what cannot be used as such is written anew."""
    from planner_eval.base.errors import InputError
    from planner_eval.integrations.verdict import compare_pair

    try:
        return compare_pair(plan, file, policy).state == "same"
    except InputError:
        return False


@pytest.fixture
def golden_plan(request: pytest.FixtureRequest) -> GoldenPlan:
    """Compare a plan with the golden one that is kept beside the test; --planeval-update writes it."""
    return GoldenPlan(request)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say which golden plans were written; workers of xdist send theirs with the reports."""
    reports = [report for group in terminalreporter.stats.values() for report in group]
    properties = [item for report in reports for item in getattr(report, "user_properties", ())]
    files = sorted({str(file) for name, file in properties if name == _WRITTEN_PROPERTY})
    if files:
        terminalreporter.section("golden plans written")
        for file in files:
            terminalreporter.write_line(file)


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Say of two plans that are not equal whether they mean the same, and what compares that."""
    model = sys.modules.get("planner_eval.plan.model")  # without it there are no plans
    if op != "==" or model is None:
        return None
    are_plans = [isinstance(operand, model.Plan) for operand in (left, right)]
    if not any(are_plans):
        return None
    if not all(are_plans):
        other = type(right if are_plans[0] else left).__name__
        return [
            f"a plan is compared with a {other}, which is never equal to it",
            "planner_eval.assert_same(pred, gold) also compares a plan with a text",
        ]
    if pe.same(left, right):
        return [
            "plans that mean the same but are written differently",
            "== compares labels, order and written values too: planner_eval.assert_same(pred, gold) compares "
            "what plans mean, planner_eval.same(pred, gold) says whether that is the same",
        ]
    lines = str(pe.diff(left, right)).splitlines()
    more = [f"… {len(lines) - _MAX_HINT_LINES} more lines"] if len(lines) > _MAX_HINT_LINES else []
    return [
        "plans that do not mean the same (the right side is gold)",
        *lines[:_MAX_HINT_LINES],
        *more,
        "planner_eval.assert_same(pred, gold) also shows both plans",
    ]


def _file_name(text: str) -> str:
    """A name that every file system takes, another one for each text."""
    safe = re.sub(r"[^\w.,=+\[\]-]", _escape_bytes, text)
    if len(safe.encode()) <= _MAX_NAME_BYTES:
        return safe
    from hashlib import sha256

    start = safe.encode()[: _MAX_NAME_BYTES - 17].decode(errors="ignore")
    return f"{start}-{sha256(text.encode()).hexdigest()[:16]}"


def _escape_bytes(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode(errors="surrogatepass"))


def _relative_path(file: Path) -> str:
    """A file as one types it here."""
    try:
        return os.path.relpath(file)
    except ValueError:  # on another drive
        return str(file)
