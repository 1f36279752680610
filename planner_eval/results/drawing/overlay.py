"""From a plan, two plans laid over one another, or a plan as it ran, to the scene that is drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from planner_eval.comparison.diff import CallRole, Diff, EdgeRole
from planner_eval.comparison.explanation.edits import Edit
from planner_eval.comparison.explanation.names import call_number
from planner_eval.plan.model import (
    Arguments,
    Call,
    Edge,
    Path,
    Plan,
    Ref,
    Template,
    Unresolved,
    Value,
    contains_kind,
    references,
)
from planner_eval.results.drawing.scene import (
    ArgumentLine,
    Arrow,
    Box,
    Scene,
    name_text,
    path_text,
    reference_text,
    unique_titles,
    value_text,
    visible_text,
)

if TYPE_CHECKING:
    from planner_eval.comparison.rows import Row
    from planner_eval.execution.trace import CallTrace, Trace
    from planner_eval.reading.files.record import Record


# ----------------------------------------------------------------------
# Which call a box of a diff is, where it stands among the others, and what its mistakes are.
DIFF_ROLES = ("kept", "missing", "extra", "changed", "wrong")
"""The five roles of a diff, in the legend's order."""

FIRST_MARK = "first mistake"
CAUSE_MARK = "cause"


def sort_calls_as_written(calls: Sequence[CallRole]) -> list[CallRole]:
    """Calls as the prediction writes them; what it lacks stands behind the partner of gold's call before.

    Args:
        calls: The calls of both plans, gold's in gold's order.

    >>> [call.role for call in sort_calls_as_written([CallRole("missing", None, 0), CallRole("kept", 1, 1),
    ...                                          CallRole("extra", 0, None)])]
    ['missing', 'extra', 'kept']
    """
    after: dict[int | None, list[CallRole]] = {}
    before = None
    for call in calls:
        if call.pred is None:
            after.setdefault(before, []).append(call)
        elif call.gold is not None:
            before = call.pred
    written = sorted((call for call in calls if call.pred is not None), key=lambda call: call.pred or 0)
    behind = (member for call in written for member in (call, *after.get(call.pred, ())))
    return [*after.get(None, ()), *behind]


def marks(edits: Sequence[Edit], positions: Sequence[int], boxes: Sequence[Box]) -> dict[int, str]:
    """Of each box with a mistake: whether that is a cause, the first of them, or follows from another.

    Args:
        edits: What differs, causes before consequences.
        positions: The position of the box that each is about.
        boxes: The boxes.
    """
    texts: dict[int, str] = {}
    root: list[int] = []
    for index, edit in enumerate(edits):
        root.append(index if edit.cause is None else root[edit.cause])
        if edit.cause is None:
            texts.setdefault(positions[index], CAUSE_MARK if texts else FIRST_MARK)
    for index, position in enumerate(positions):
        cause = boxes[positions[root[index]]]
        texts.setdefault(position, f"follows from {cause.title}{cause.after}")
    return texts


def summary_of(boxes: Sequence[Box], arrows: Sequence[Arrow]) -> str:
    """How many calls and references have which role."""
    calls = Counter(box.role for box in boxes)
    edges = Counter(arrow.role for arrow in arrows)
    if not boxes:
        return "no calls in either plan"
    if not (calls.keys() | edges.keys()) - {"kept", "inferred"}:
        return "the same plan"
    counts = [f"{calls[role]} {role}" for role in ("kept", "changed", "missing", "extra") if calls[role]]
    summary = f"calls: {', '.join(counts)}"
    return summary + (f"; wrong references: {edges['wrong']}" if edges["wrong"] else "")


# ----------------------------------------------------------------------
# From a plan, or from two plans laid over one another, to the scene that is drawn.
ANSWER = "answer"
CallNamer = Callable[[int], str]
KeyedArguments = dict[tuple[str, int], Value]


def plan_scene(plan: Plan) -> Scene:
    """The scene of one plan.

    >>> from planner_eval.plan.model import Call
    >>> plan_scene(Plan((Call("c1", "search", (("city", "Rome"),)),))).boxes[0].rows[0].text
    'city = "Rome"'
    """
    titles = _titles(plan.calls)
    guessed = _guessed_sources(plan, titles)
    boxes = [
        _box(call, titles[i], "plain", _plain_rows(call.arguments, "plain", titles.__getitem__, guessed[i]))
        for i, call in enumerate(plan.calls)
    ]
    own = range(len(boxes) + 1)
    arrows = [_arrow(plan, e, "inferred" if e.inferred else "plain", own) for e in plan.edges]
    if plan.answer is not None:
        rows = _plain_rows(plan.answer, "plain", titles.__getitem__)
        arrows += [_arrow(plan, e, "plain", own) for e in _answer_edges(plan)]
        boxes.append(Box(ANSWER, "plain", ANSWER, rows=rows))
    legend = ("inferred",) if any(e.inferred for e in plan.edges) else ()
    summary = "" if boxes else "no calls"
    return Scene(tuple(boxes), tuple(arrows), summary, legend, steps=plan.steps)


def lanes_scene(scene: Scene, lanes: Sequence[str]) -> Scene:
    """A scene whose calls are made turn by turn in a conversation: a frame a turn, below one another.

    Args:
        scene: The scene.
        lanes: The title of each call's frame, those of a turn alike.

    >>> from planner_eval.plan.model import Call
    >>> scene = plan_scene(Plan((Call("c1", "search"), Call("c2", "book"))))
    >>> [box.app for box in lanes_scene(scene, ("turn 1", "turn 2")).boxes]
    ['turn 1', 'turn 2']
    """
    lanes = [visible_text(lane) for lane in lanes]  # they hold what users said
    boxes = [replace(box, app=lane, panel=LANES) for box, lane in zip(scene.boxes, lanes, strict=False)]
    numbers = {lane: number for number, lane in enumerate(dict.fromkeys(lanes))}
    steps = tuple(numbers[lane] for lane in lanes)
    return replace(scene, boxes=(*boxes, *scene.boxes[len(boxes) :]), steps=steps)


def conversation_scene(row: Row, records: Sequence[Record | None]) -> Diff | Scene:
    """Two conversations laid over one another, with the turns as lanes that say which are wrong.

    Args:
        row: What became of the pair.
        records: The prediction's record and gold's.

    Returns:
        The comparison itself where the user does not speak several times.
    """
    diff, turns = row.diff, row.turns
    assert diff is not None
    if turns is None or turns.unit != "turn":
        return diff
    from planner_eval.reading.conversation import find_lanes

    turn_of: list[dict[int, int]] = []
    titles: dict[int, str] = {}
    for record, plan, compared in zip(records, (row.pred, row.gold), (diff.pred, diff.gold), strict=True):
        assert record is not None
        assert plan is not None
        lanes = find_lanes(record, plan)
        by_id = dict(zip((call.id for call in plan.calls), lanes.turns, strict=False))
        turn_of.append({i: by_id[call.id] for i, call in enumerate(compared.calls) if call.id in by_id})
        titles |= {turn: max(title, titles.get(turn, ""), key=len) for turn, title in lanes.titles.items()}
    if not titles:
        return diff
    numbers, last = [], min(titles)
    for role in sort_calls_as_written(list(diff.calls())):
        last = turn_of[0].get(role.pred, turn_of[1].get(role.gold, last))  # type: ignore[arg-type]
        numbers.append(last)
    for number in turns.wrong:
        mark = "first wrong" if number == turns.first else "follows" if number in turns.follow else "wrong"
        titles[number] = f"{titles.get(number, f'turn {number}')} – {mark}"
    return lanes_scene(diff_scene(diff), [titles[number] for number in numbers])


LANES = "conversation"
"""The panel around the turns of a conversation."""


def _guessed_sources(plan: Plan, titles: Sequence[str]) -> list[dict[str, str]]:
    """For each call its arguments that inferred edges lead to, with where the values may come from."""
    guesses: list[dict[str, str]] = [{} for _ in plan.calls]
    for edge in plan.edges:
        if edge.inferred:
            own, source = guesses[edge.consumer], reference_text(titles[edge.producer], edge.path)
            own[edge.argument] = f"{own[edge.argument]}, {source}" if edge.argument in own else source
    return guesses


def diff_scene(diff: Diff) -> Scene:
    """The scene of two plans laid over one another, each call and reference with its role."""
    return _Overlay(diff).scene()


class _Overlay:
    """Knows which box stands for which call of either plan."""

    def __init__(self, diff: Diff) -> None:
        self.diff = diff
        self.calls = sort_calls_as_written(list(diff.calls()))
        self.edges = list(diff.edges())
        shown_calls = [self.shown(role.pred, role.gold) for role in self.calls]
        repeated = Counter((call.app, call.name) for call in shown_calls)
        self.several = [repeated[call.app, call.name] > 1 for call in shown_calls]
        # of a diff the place tells calls of one name apart, not a number of its own
        self.titles = [
            title.rpartition("#")[0] if is_repeated else title
            for title, is_repeated in zip(_titles(shown_calls), self.several, strict=True)
        ]
        self.of_pred = {role.pred: i for i, role in enumerate(self.calls) if role.pred is not None}
        self.of_gold = {role.gold: i for i, role in enumerate(self.calls) if role.gold is not None}
        # the answer takes values as a call behind all others
        self.of_pred[len(diff.pred.calls)] = self.of_gold[len(diff.gold.calls)] = len(self.calls)
        self.answered = diff.pred.answer is not None or diff.gold.answer is not None
        self.renamed: dict[tuple[int | None, str], str] = {}
        self.early = {e.pred.call for e in diff.edits if e.code == "order.broken" and e.pred is not None}
        for edit in diff.edits:
            if edit.code.endswith(".renamed") and edit.pred is not None and edit.gold is not None:
                self.renamed[edit.pred.call, edit.pred.argument or ""] = edit.gold.argument or ""
        location_pairs = [pair for e in diff.edits for pair in e.places]
        self.wrong = {(e.pred.consumer, e.pred.argument) for e in self.edges if e.role == "wrong" and e.pred}
        self.touched_pred = {(p.call, p.argument) for p, _ in location_pairs if p is not None}
        self.touched_gold = {(g.call, g.argument) for _, g in location_pairs if g is not None}

    def shown(self, pred: int | None, gold: int | None) -> Call:
        """The call whose name and arguments a box shows: the prediction's where there is one."""
        if pred is not None:
            return self.diff.pred.calls[pred]
        assert gold is not None
        return self.diff.gold.calls[gold]

    def pred_name(self, position: int) -> str:
        box = self.of_pred[position]
        return self.titles[box] + f" (call {position + 1})" * self.several[box]

    def gold_name(self, position: int) -> str:
        """What a call of gold is called: as its box is, or by its own name where the box has another."""
        box, call = self.of_gold[position], self.diff.gold.calls[position]
        box_call = self.shown(self.calls[box].pred, position)
        if (box_call.app, box_call.name) != (call.app, call.name):
            return name_text(call.tool)
        return self.titles[box] + f" (gold's call {position + 1})" * self.several[box]

    def scene(self) -> Scene:
        boxes = [self.box(i) for i in range(len(self.calls))]
        arrows = [arrow for role in self.edges for arrow in self.arrows(role)]
        if self.answered:
            boxes.append(self.answer())
            arrows += self.answer_arrows()
        mark_texts = marks(self.diff.edits, [self.mistaken(edit) for edit in self.diff.edits], boxes)
        boxes = [replace(box, mark=mark_texts.get(i, "")) for i, box in enumerate(boxes)]
        # A line of a box shows no role that has no sign.
        used = {row.role for box in boxes for row in box.rows} - {"kept"}
        used |= {box.role for box in boxes} | {arrow.role for arrow in arrows}
        legend = tuple(role for role in (*DIFF_ROLES, "inferred") if role in used)
        return Scene(tuple(boxes), tuple(arrows), summary=summary_of(boxes, arrows), legend=legend)

    def mistaken(self, edit: Edit) -> int:
        """The position of the box that an edit is about; the answer stands behind all calls."""
        if edit.pred is not None and edit.pred.call is not None:
            return self.of_pred[edit.pred.call]
        if edit.gold is not None and edit.gold.call is not None:
            return self.of_gold[edit.gold.call]
        return len(self.calls)

    def box(self, i: int) -> Box:
        role = self.calls[i]
        call, place = self.shown(role.pred, role.gold), call_number(role.pred, role.gold)
        if role.pred is None or role.gold is None:
            name_of = self.gold_name if role.pred is None else self.pred_name
            rows = _plain_rows(call.arguments, role.role, name_of)
            return _box(call, self.titles[i], role.role, rows, place=place)
        gold = self.diff.gold.calls[role.gold]
        rows = self.rows(call.arguments, gold.arguments, (role.pred, role.gold))
        other = "" if (gold.app, gold.name) == (call.app, call.name) else name_text(gold.tool)
        if role.pred in self.early:
            rows += (ArgumentLine("changed", "written before a call that it needs"),)
        seen = "kept" if not other and all(row.role == "kept" for row in rows) else "changed"
        return _box(call, self.titles[i], seen if role.role == "kept" else role.role, rows, other, place)

    def rows(
        self, pred: Arguments, gold: Arguments, positions: tuple[int | None, int | None]
    ) -> tuple[ArgumentLine, ...]:
        """The arguments of a call that both plans have: the prediction's, then what gold has besides."""
        pred_call, gold_call = positions
        pred_arguments, gold_arguments = _key_arguments(pred), _key_arguments(gold)
        rows = []
        for (name, nth), value in pred_arguments.items():
            text = _row_text(name, value, self.pred_name)
            if (pred_call, name) not in self.touched_pred and (gold_call, name) not in self.touched_gold:
                rows.append(ArgumentLine("kept", text))
            elif (pred_call, name) in self.renamed:
                note = f"gold's name: {name_text(self.renamed[pred_call, name])}"
                rows.append(ArgumentLine("changed", text, note))
            elif (name, nth) not in gold_arguments:
                rows.append(ArgumentLine("extra", text))
            else:
                gold_text = f"gold: {value_text(gold_arguments[name, nth], self.gold_name)}"
                wrong = (pred_call, name) in self.wrong or contains_kind(value, Unresolved)
                rows.append(ArgumentLine("wrong" if wrong else "changed", text, gold_text))
        new_names = {new_name for (call, _), new_name in self.renamed.items() if call == pred_call}
        for (name, nth), value in gold_arguments.items():
            if (name, nth) not in pred_arguments and name not in new_names:
                role = "missing" if (gold_call, name) in self.touched_gold else "kept"
                rows.append(ArgumentLine(role, _row_text(name, value, self.gold_name)))
        return tuple(rows)

    def arrows(self, role: EdgeRole) -> Iterator[Arrow]:
        """The arrow of a reference; a wrong one comes with the arrow that gold has in its place."""
        if role.pred is not None:
            yield _arrow(self.diff.pred, role.pred, role.role, self.of_pred)
        if role.gold is not None and (role.role == "wrong" or (role.pred is None and role.role != "kept")):
            arrow_role = role.role if role.role == "inferred" else "missing"
            yield _arrow(self.diff.gold, role.gold, arrow_role, self.of_gold)

    def answer(self) -> Box:
        pred, gold = self.diff.pred.answer, self.diff.gold.answer
        if pred is None or gold is None:
            role = "missing" if pred is None else "extra"
            name_of = self.gold_name if pred is None else self.pred_name
            return Box(ANSWER, role, ANSWER, rows=_plain_rows(pred or gold or (), role, name_of))
        rows = self.rows(pred, gold, (None, None))
        role = "kept" if all(row.role == "kept" for row in rows) else "changed"
        return Box(ANSWER, role, ANSWER, rows=rows)

    def answer_arrows(self) -> Iterator[Arrow]:
        pred = {(e.argument, e.at): e for e in _answer_edges(self.diff.pred)}
        gold = {(e.argument, e.at): e for e in _answer_edges(self.diff.gold)}
        for key, edge in pred.items():
            other = gold.get(key)
            box = self.of_pred[edge.producer]
            if other is not None and box == self.of_gold[other.producer] and edge.path == other.path:
                yield _arrow(self.diff.pred, edge, "kept", self.of_pred)
                del gold[key]
            else:
                yield _arrow(self.diff.pred, edge, "extra" if other is None else "wrong", self.of_pred)
        for edge in gold.values():
            yield _arrow(self.diff.gold, edge, "missing", self.of_gold)


def _titles(calls: Iterable[Call]) -> list[str]:
    return [name_text(title) for title in unique_titles([(call.app, call.name) for call in calls])]


def _box(
    call: Call, title: str, role: str, rows: tuple[ArgumentLine, ...], gold: str = "", place: str = ""
) -> Box:
    app = visible_text(call.app) if call.app else None
    return Box(title, role, name_text(call.name), app, visible_text(call.id), rows, gold, place=place)


def _arrow(plan: Plan, edge: Edge, role: str, boxes: Mapping[int, int] | Sequence[int]) -> Arrow:
    path = edge.at
    if path:
        calls = plan.calls
        arguments = calls[edge.consumer].arguments if edge.consumer < len(calls) else plan.answer or ()
        path = _shorten_path(next((value for name, value in arguments if name == edge.argument), None), path)
    label = f"{visible_text(path_text(edge.path))} → {name_text(reference_text(edge.argument, path))}"
    return Arrow(boxes[edge.producer], boxes[edge.consumer], role, label.strip())


def _shorten_path(value: Value, path: Path) -> Path:
    """The way into a value, ended at a template: the numbers of its parts say nothing to a reader."""
    for number, step in enumerate(path):
        if isinstance(value, Template):
            return path[:number]
        inside = (isinstance(value, list) and isinstance(step, int) and step < len(value)) or (
            isinstance(value, dict) and step in value
        )
        if not inside:
            return path
        value = value[step]
    return path


def _row_text(name: str, value: Value, name_of: CallNamer) -> str:
    text = value_text(value, name_of)
    return f"{name_text(name)} {text}" if text.startswith("←") else f"{name_text(name)} = {text}"


def _plain_rows(
    arguments: Arguments, role: str, name_of: CallNamer, guessed: Mapping[str, str] = MappingProxyType({})
) -> tuple[ArgumentLine, ...]:
    rows = []
    for name, value in arguments:
        text = _row_text(name, value, name_of)
        rows.append(ArgumentLine(role, f"{text} ≈ {guessed[name]}" if name in guessed else text))
    return tuple(rows)


def _key_arguments(arguments: Arguments) -> KeyedArguments:
    """Arguments by name and by how often the name came before."""
    seen: Counter[str] = Counter()
    keyed: KeyedArguments = {}
    for name, value in arguments:
        keyed[name, seen[name]] = value
        seen[name] += 1
    return keyed


def _answer_edges(plan: Plan) -> Iterator[Edge]:
    """The references of a plan's answer, as edges to a consumer beyond its calls."""
    for name, value in plan.answer or ():
        for path, ref in references(value):
            if isinstance(ref, Ref):
                yield Edge(ref.call, len(plan.calls), name, path, ref.path)


# ----------------------------------------------------------------------
# A plan as it ran: which calls gave a value, which failed, and which were skipped for their sake.
RUN_ROLES = ("ok", "failed", "skipped")
"""The roles of a run, in the legend's order."""


def run_scene(plan: Plan, trace: Trace, *, times: bool = False) -> Scene:
    """The scene of a plan and its run; :func:`planner_eval.render` draws it.

    Args:
        plan: The plan that was run.
        trace: Its run, with one entry a call in the plan's order.
        times: Whether to show how long each call took; two runs then never look the same.

    >>> from planner_eval.execution.trace import CallTrace, Trace
    >>> from planner_eval.plan.model import Call
    >>> run = Trace((CallTrace("c1", "add", "ok", 3),))
    >>> [row.text for row in run_scene(Plan((Call("c1", "add", (("a", 1),)),)), run).boxes[0].rows]
    ['a = 1', '→ 3']
    """
    scene = plan_scene(plan)
    status = [call.status for call in trace.calls]
    boxes = [_run_box(box, call, times) for box, call in zip(scene.boxes, trace.calls, strict=False)]
    boxes += [_answer_box(box, trace) for box in scene.boxes[len(trace.calls) :]]
    arrows = [replace(a, role="plain" if status[a.tail] == "ok" else "skipped") for a in scene.arrows]
    counts = Counter(status)
    summary = ", ".join(f"{counts[role]} {role}" for role in RUN_ROLES if counts[role]) or "none"
    ended = f"; ended early: {visible_text(str(trace.ended))}" if trace.ended is not None else ""
    return Scene(tuple(boxes), tuple(arrows), f"calls: {summary}{ended}", RUN_ROLES)


def _run_box(box: Box, call: CallTrace, times: bool) -> Box:
    role = call.status if call.status in RUN_ROLES else "failed"
    rows = [replace(row, role="plain") for row in box.rows]
    if call.error is None:
        rows.append(ArgumentLine(role, f"→ {value_text(call.value, str)}"))
    else:
        rows.append(ArgumentLine(role, visible_text(str(call.error))))
    if times:
        tried = f", {call.attempts} attempts" if call.attempts > 1 else ""
        rows.append(ArgumentLine("plain", f"{call.seconds * 1000:.1f} ms{tried}"))
    return replace(box, role=role, rows=tuple(rows))


def _answer_box(box: Box, trace: Trace) -> Box:
    if trace.answer is None:
        return replace(box, role="skipped")
    rows = tuple(
        ArgumentLine("ok", f"{visible_text(name)} → {value_text(value, str)}") for name, value in trace.answer
    )
    return replace(box, role="ok", rows=rows)
