"""What ``score`` and ``compare`` write as JSON, for those who read it; both write it without these models."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, create_model

from planner_eval.base.schema_models import Described, OneOf, describe_expected, optional_key
from planner_eval.comparison.rows import STATES
from planner_eval.results.drawing.scene import ROLES


class _Written(Described):
    mapping: ClassVar[str] = "an object"


class CountsData(_Written):
    """What both plans have, what each has, and F1 of it."""

    hit: float
    pred: float
    gold: float
    f1: float | None


class ShareData(_Written):
    """A part of a whole."""

    part: float
    whole: float
    value: float | None


class IntervalData(_Written):
    """A confidence interval of 95 %."""

    low: float
    high: float
    method: str


_Tally = CountsData | ShareData | None


class FigureData(_Written):
    """One metric over many pairs."""

    value: float | None = Field(description="The metric from summed counts (micro).")
    macro: float | None = Field(description="The mean of the metric over pairs.")
    n: int = Field(description="The number of pairs that have the metric.")
    counts: _Tally
    precision: float | None = None
    recall: float | None = None
    interval: IntervalData = optional_key("The 95 % interval of the value from summed counts.")


class CauseData(_Written):
    """A root cause of one pair, and what it costs."""

    code: str = Field(description="The cause's code, or the state of a pair without a prediction to compare.")
    tool: str = optional_key("The tool: gold's if gold has the call, else the prediction's.")
    argument: str = optional_key("The argument.")
    depth: int = optional_key("The topological generation of the call concerned, from 1.")
    exact: float = Field(description="The cause's share of the pair's loss in exact.")
    similarity: float = Field(description="The cause's share of the pair's loss in similarity.")


class CreditsData(_Written):
    """What the root causes of one pair cost, as --causes says; it sums to 1 less the pair's score."""

    how: Literal["shapley", "alone", "even"] = Field(description="The method of attribution.")
    causes: list[CauseData]
    right: list[list[str]] = Field(
        description="The groups of causes that make the pair right if fixed alone: a kind and a name."
    )


class CauseSumData(_Written):
    """What one group of root causes costs over all pairs."""

    kind: Literal["code", "tool", "argument", "call", "depth"]
    name: str
    pairs: int = Field(description="The number of pairs that have the cause.")
    exact: float = Field(description="How much the cause lowers exact.")
    similarity: float = Field(description="How much the cause lowers the mean similarity of the pairs.")
    gain: float = Field(description="How much exact would rise if the cause were fixed in all pairs.")


class FixData(CauseSumData):
    """A group whose mending would gain much."""

    words: str = Field(description="The gain, as a sentence.")


class CausesData(_Written):
    """What root causes cost over all pairs."""

    pairs: int
    exact: float | None
    similarity: float | None = Field(description="The mean of the pairs' similarity.")
    how: dict[str, int] = Field(description="How many pairs used each method of attribution.")
    causes: list[CauseSumData]
    fixes: list[FixData]


class RecordedData(_Written):
    """A verdict that a run recorded of an answer."""

    field: str
    value: float = Field(description="From 0 (wrong) to 1 (right).")


class TurnsData(_Written):
    """A conversation held against gold turn by turn."""

    unit: Literal["turn", "step"] = Field(description="The user's turns, or the assistant's messages.")
    total: int
    wrong: list[int] = Field(description="The turns in which something differs.")
    follow: list[int] = Field(description="The wrong turns that follow from the first wrong one.")
    late: int = Field(description="Right calls that are made in a different turn than in gold.")
    asked: str = Field(description="What the user said in the first wrong turn.")
    first: int | None = Field(description="The first wrong turn.")


class RowData(_Written):
    """One pair of a prediction and a gold plan."""

    id: str
    state: Annotated[str, OneOf(STATES)]
    metrics: dict[str, _Tally]
    codes: list[str] = Field(description="Root causes, as dotted codes.")
    reason: str
    proved: bool = Field(description="Whether the pairing of calls is proved optimal.")
    keys: dict[str, str] = optional_key("The keys that scores can be broken down by.")
    repaired: bool = optional_key("Whether the prediction was readable only after repair.")
    choices: bool = optional_key(
        "Whether the prediction's record held several choices, of which the first was read."
    )
    unread: bool = optional_key("Whether no call was read although the prediction may contain one.")
    credits: CreditsData = optional_key("What the pair's root causes cost, with --causes.")
    task: str = optional_key("The task, if the prediction is one of several trials of it.")
    recorded: RecordedData = optional_key("The verdict that the agent's run recorded.")
    turns: TurnsData = optional_key("The differences by turn, for a conversation of several turns.")
    costs: dict[str, float] = optional_key("The run's costs, as far as the record has them.")


class EffectsData(_Written):
    """What the plans of a pair come to when they are run: the key effects of diff --execute --format json."""

    verdict: Literal["same", "different", "unknown"]
    results_same: bool = Field(description="Whether the outputs are known to be the same.")
    state_same: bool | None = Field(
        description="Whether the final states are the same; null if the tools report none."
    )
    outputs_seen: bool | None = Field(
        description="Whether some call returned each value of gold; null if gold fails."
    )
    reached: bool | None = Field(
        description="Whether gold's final state was reached and outputs_seen is true; null if unknown."
    )
    said: str = Field(description="The verdict in words.")


class ReportData(_Written):
    """A report of planeval score --format json."""

    format: Literal["planeval.report/1"] = Field(alias="schema")
    signature: str = Field(description="How the scores were computed, in one line.")
    answers: str = optional_key("Which field was read as the answers.")
    gold: str = optional_key("Which field was read as gold.")
    pairs: int
    judged: int = Field(description="The number of pairs that were scored.")
    states: dict[str, int]
    strictly_same: int = Field(description="Pairs that are the same, read without repair.")
    figures: dict[str, FigureData]
    breakdown: dict[str, dict[str, dict[str, FigureData]]] = Field(
        description="Scores by key and value of the breakdown."
    )
    without: dict[str, int] = optional_key(
        "By key, the number of scored pairs without a value; keys that all pairs have are left out."
    )
    causes: dict[str, int] = Field(description="How often each code is a root cause.")
    attribution: CausesData = optional_key("What root causes cost, with --causes.")
    trials: dict[str, Any] = optional_key("pass^k, pass@k and recorded verdicts, where there are any.")
    turns: dict[str, dict[str, Any]] = optional_key(
        "By unit, which turns are the first wrong ones, and how many."
    )
    costs: dict[str, dict[str, float | None]] = optional_key(
        "By kind of cost: the sum, the mean, and the cost per right answer."
    )
    rows: list[RowData] = optional_key("One row per pair; a stored run has them in rows.jsonl.")


class RecordsData(_Written):
    """What became of the records of one system."""

    records: int
    read: int
    repaired: int
    same: int
    strictly_same: int
    unreadable: int
    cut: int
    refused: int
    failed: int
    absent: int
    gold_unreadable: int
    gold_absent: int
    repeated: int
    repairable: int | None = Field(
        description="Predictions readable only after repair; null if repair was not tried."
    )


class RecordsOfBoth(_Written):
    """What became of the records of both."""

    first: RecordsData
    second: RecordsData


class NumberOfBoth(_Written):
    """A number of each."""

    first: int
    second: int


class ContrastLine(_Written):
    """One metric under both systems."""

    first: float | None
    second: float | None
    n: int = Field(description="The number of samples with the metric in the first system.")
    n_second: int = Field(description="The number of samples with the metric in the second system.")
    value: float | None = Field(description="The second system's value minus the first's.")
    low: float | None
    high: float | None
    p: float | None
    test: str
    p_holm: float | None = Field(
        description="p with Holm's correction for all metrics, or for all scores of the breakdown."
    )
    sure: bool = Field(description="Whether p_holm is 0.05 or less.")


class UnreadableData(_Written):
    """How many predictions of a system cannot be read."""

    as_written: int
    once_repaired: int | None = Field(
        description="The number after repair of small syntax errors; null if repair was not tried."
    )


class UnreadableOfBoth(_Written):
    """How many predictions of each cannot be read."""

    first: UnreadableData
    second: UnreadableData


class CausesOfBoth(_Written):
    """How often each code is a root cause under each."""

    first: dict[str, int]
    second: dict[str, int]


class BothReadData(_Written):
    """The two systems over the samples that both answered readably."""

    samples: int
    figures: dict[str, ContrastLine] = Field(description="The metrics; p_holm is corrected for these alone.")
    causes: CausesOfBoth


class ReadOfBoth(_Written):
    """Which fields were read."""

    first: str
    second: str
    gold: str


class ContrastData(_Written):
    """A comparison of planeval compare --format json."""

    format: Literal["planeval.contrast/1"] = Field(alias="schema")
    verdict: str = Field(description="Whether the second is better than the first, in one sentence.")
    signature: str
    first: str = Field(description="The first system's name.")
    second: str
    read: ReadOfBoth
    records: RecordsOfBoth
    samples: int = Field(description="The number of samples scored for both systems.")
    unanswered: NumberOfBoth
    unreadable: UnreadableOfBoth = Field(
        description="The number of unreadable predictions in all records; cut-off ones count too."
    )
    holm_over: int = Field(
        description="The number of metrics, over all systems, that p_holm is corrected for."
    )
    figures: dict[str, ContrastLine]
    breakdown: dict[str, dict[str, dict[str, ContrastLine]]]
    only_first: list[str] = Field(description="Ids of samples that only the first system gets right.")
    only_second: list[str]
    causes: CausesOfBoth
    mistaken: list[dict[str, Any]] = Field(
        description="Confused tools in readable predictions: gold's, the predicted one, and counts."
    )
    both_read: BothReadData = optional_key(
        "The comparison over samples readable in both, if those are not all."
    )


class ComparisonData(_Written):
    """A comparison of planeval compare --format json of three systems or more."""

    format: Literal["planeval.comparison/1"] = Field(alias="schema")
    unreadable: str = Field(description="How many predictions of each system cannot be read; empty if none.")
    verdicts: list[str] = Field(description="One sentence for each system but the first.")
    systems: list[str] = Field(
        description="The systems' names; the first is the one that the others are compared with."
    )
    contrasts: list[ContrastData] = Field(description="The comparison of each other system with the first.")


# ----------------------------------------------------------------------
# What a theme's file has to say, for checking users' files and for editors.
_Attributes = dict[str, str]


class RoleEntry(Described):
    """How the calls and references of one role look."""

    sign: str = optional_key("The sign before labels of this role, one character; empty for none.")
    word: str = optional_key("The role's name in the legend.")
    meaning: str = optional_key("What it means, in the legend.")
    text: str = Field(description="Text colour.")
    ansi: Annotated[
        Annotated[str, Field(pattern=r"^(\d{1,3}(;\d{1,3})*)?$")], describe_expected("numbers such as '1;31'")
    ] = optional_key("SGR parameters of its text in a terminal.")
    box: _Attributes = Field(description="DOT attributes of a call.")
    line: _Attributes = Field(description="DOT attributes of a reference.")


_role_fields: dict[str, Any] = {role: (RoleEntry, ...) for role in ROLES}
Roles = create_model(
    "Roles", __base__=Described, __doc__="The roles that every theme must define.", **_role_fields
)


class ThemeFile(Described):
    """Colours and DOT attributes by role; viz/themes/default.toml is one to copy."""

    width: int = Field(description="Characters of one line in a box.")
    label_width: int = Field(description="Characters of a reference's label.")
    text: str = Field(description="Text colour outside roles.")
    muted: str = Field(description="Colour of secondary text.")
    graph: _Attributes = Field(description="DOT attributes of the drawing.")
    box: _Attributes = Field(description="DOT attributes of every call.")
    line: _Attributes = Field(description="DOT attributes of every reference.")
    cluster: _Attributes = Field(description="DOT attributes of every app.")
    roles: Roles = Field(description="How each role looks.")  # type: ignore[valid-type]
