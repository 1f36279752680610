"""What a plan scorer must answer: 38 pairs, for ours or any other that reads two plans and says yes or no."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from planner_eval.base.errors import NAMES, SECONDS, InputError, expect_or_none
from planner_eval.base.resources import read
from planner_eval.base.text import JsonObject
from planner_eval.comparison.diff import diff
from planner_eval.comparison.policy.policy import DEFAULT_POLICY, Policy
from planner_eval.comparison.policy.resolve import AnyPolicy, policy_of
from planner_eval.reading.dialects.read import parse
from planner_eval.reading.files.recorded_runs import NO_WORDS, YES_WORDS

# ----------------------------------------------------------------------
# What a plan scorer must answer: 38 pairs, for ours or any other that reads two plans and says yes or no.


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """What a scorer says of one pair.

    Args:
        id: The pair's number.
        what: What the two plans differ in.
        same: What is right: they do the same thing.
        disputed: The answer hangs on a policy of values; none is wrong.
        answer: What the scorer says; None when it gives no verdict.
        error: Why it gives none.
    """

    id: str
    what: str
    same: bool
    disputed: bool
    answer: bool | None
    error: str = ""

    @property
    def right(self) -> bool:
        """Whether the answer is the right one."""
        return self.answer is self.same


def compare_pairs(policy: Policy = DEFAULT_POLICY) -> Iterator[PairVerdict]:
    """Put our own comparison to the pairs.

    >>> sum(answer.right for answer in compare_pairs() if not answer.disputed)
    30
    """
    for pair in pairs():
        verdict = diff(parse(pair["pred"], dialect="plan"), parse(pair["gold"], dialect="plan"), policy).same
        yield PairVerdict(pair["id"], pair["what"], pair["same"], pair["policy_dependent"], verdict)


def run_scorer(command: Sequence[str], *, timeout: float = 60.0) -> Iterator[PairVerdict]:
    """Put another scorer to the pairs.

    Args:
        command: A program and its arguments; ``{pred}`` and ``{gold}`` are replaced by the names of two
            JSON files, which are added at the end where neither is there. Its verdict is the first
            word or the last line that it prints, one of :data:`YES_WORDS` or :data:`NO_WORDS`; where neither
            is,
            its exit code: 0 for the same, 1 for different.
        timeout: Seconds for one pair.
    """
    named = any("{pred}" in argument or "{gold}" in argument for argument in command)
    with TemporaryDirectory() as folder:
        files = {role: Path(folder) / f"{role}.json" for role in ("pred", "gold")}
        for pair in pairs():
            for role, file in files.items():
                file.write_text(json.dumps(pair[role]), encoding="utf-8")
            pred_file, gold_file = map(str, files.values())
            filled = [a.replace("{pred}", pred_file).replace("{gold}", gold_file) for a in command]
            verdict, error = _read_verdict(filled if named else [*filled, pred_file, gold_file], timeout)
            yield PairVerdict(
                pair["id"], pair["what"], pair["same"], pair["policy_dependent"], verdict, error
            )


def _read_verdict(command: Sequence[str], timeout: float) -> tuple[bool | None, str]:
    try:
        process = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        return None, f"no verdict within {timeout:g} seconds"
    except OSError as error:
        return None, f"{command[0]}: {error.strerror or error}"
    printed = process.stdout.decode("utf-8", "replace").strip().casefold()
    for line in (printed.rpartition("\n")[2], printed.partition("\n")[0].partition(" ")[0]):
        word = line.strip(" .:!,\"'")
        if word in YES_WORDS or word in NO_WORDS:
            return word in YES_WORDS, ""
    if process.returncode in (0, 1):
        return process.returncode == 0, ""
    tail = process.stderr.decode("utf-8", "replace").strip().splitlines()
    return None, f"exit code {process.returncode}" + (f": {tail[-1][:100]}" if tail else "")


def pairs() -> list[JsonObject]:
    """The pairs as data: ``{id, what, same, policy_dependent, pred, gold}``."""
    plan_pairs: list[JsonObject] = json.loads(read("data/selftest/plan_pairs.json"))
    return plan_pairs


# ----------------------------------------------------------------------
# A scorer put to the 38 pairs.
def selftest(
    scorer: Sequence[str] | None = None, *, policy: AnyPolicy = DEFAULT_POLICY, timeout: float | None = None
) -> tuple[PairVerdict, ...]:
    """Put the comparison, or another scorer, to 38 pairs of plans of which the right answer is known.

    Args:
        scorer: Another scorer's program and its arguments, see
            :func:`planner_eval.results.selftest.run_scorer`; our own comparison when left out.
        policy: How values compare in ours.
        timeout: Seconds for one pair of the other's; 60 when left out.

    Raises:
        InputError: the command is a text, or there is no such policy.

    >>> sum(answer.right for answer in selftest() if not answer.disputed)
    30
    """
    if isinstance(scorer, str):
        raise InputError(f"the scorer is {scorer!r}, expected its words: {scorer.split()!r}")
    expect_or_none(NAMES, scorer=scorer)
    expect_or_none(SECONDS, timeout=timeout)
    if scorer is None:
        return tuple(compare_pairs(policy_of(policy)))
    return tuple(run_scorer(scorer, timeout=timeout or 60.0))
