"""The one door in: text of any dialect → dialect → raw calls → linked plan."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

from planner_eval.base.errors import (
    AnswerError,
    InputError,
    LimitError,
    ParseError,
    WriteError,
    strip_traceback,
)
from planner_eval.base.frozen import replace
from planner_eval.base.json_text import (
    LARK_CHARS,
    Decoded,
    check_depth,
    is_data_nested_too_deep,
    is_nested_too_deep,
    loads_if_json,
    unwrap_single,
)
from planner_eval.base.limits import DEFAULT_LIMITS, Limits
from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import INVISIBLE
from planner_eval.plan.linking import link
from planner_eval.plan.model import Diagnostic, Plan, RawPlan, Value, no_call_remark
from planner_eval.reading import dialects
from planner_eval.reading.dialects.conversations.answers import resolve_repeated_keys
from planner_eval.reading.dialects.conversations.messages import find_call_candidates, part_texts
from planner_eval.reading.dialects.conversations.wrappers import to_json_data
from planner_eval.reading.dialects.dialect import (
    Dialect,
    RecognisedPlan,
    TurnChoice,
    check_options,
    check_turn,
)
from planner_eval.reading.dialects.finding.edited_text import (
    TextView,
    blank_byte_order_mark,
    drop_chat_tokens,
    remove_call_spans,
)
from planner_eval.reading.dialects.finding.whole_texts import (
    may_be_printed,
    read_plain_text,
    read_whole_text,
    refuse_too_many_calls,
)
from planner_eval.reading.dialects.repairs import repairs

if TYPE_CHECKING:
    from planner_eval.plan.inference import Signatures
    from planner_eval.reading.dialects.conversations.turns import ConversationSource
    from planner_eval.reading.dialects.round_trip import ToolTypes


def parse(  # noqa: PLR0913 - each says one thing about how a text is read
    source: Any,
    *,
    dialect: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
    repair: bool = False,
    tools: ToolTypes | None = None,
    infer: bool | Signatures = False,
    compute: str | None = None,
    reader: str = "fast",
    turn: TurnChoice = None,
) -> Plan:
    """Read a plan from a text or data; :func:`planner_eval.parse`, which calls this, also reads files.

    Args:
        source: What that reads, but for files and records; or a text that was decoded on the way here.
        dialect: This and all below as there, but for `tools`.
        limits: Bounds.
        repair: Mend small faults.
        tools: Tool → parameter → JSON type.
        infer: Guess edges; what is known of tools says which call fills a hole.
        compute: How expressions become numbers.
        reader: The fast one, or the grammar's.
        turn: Which turn is read.

    Returns:
        As there.

    Raises:
        ParseError: as there.
        AnswerError: as there.
        InputError: unknown notation of that name, or no grammar for it; or no such way to compute.

    >>> [d.code for d in parse("I cannot help with that.").diagnostics]
    ['plan.no_call']
    """
    if isinstance(source, Plan):
        return source
    check_options(dialect, limits, tools)
    how = dialect, limits, repair, tools, infer, compute, reader, turn
    is_text = isinstance(source, (str, Decoded))
    try:
        if is_text:
            text, values = (source, None) if isinstance(source, str) else source
            return _parse(text, values, how)
        return _parse(to_json_data(source), None, how)
    except RecursionError:
        kind = "text" if is_text else "data"
        raise LimitError(f"the {kind} nests deeper than {limits.depth} levels") from None
    except (TypeError, ValueError) as error:  # what an object gives may be anything, be it a circle or a set
        if is_text:
            raise
        raise ParseError(f"the data is not JSON data: {error}", code="parse.shape") from None


_ReadOptions: TypeAlias = (
    "tuple[str | None, Limits, bool, ToolTypes | None, bool | Signatures, str | None, str, TurnChoice]"
)
"""How a text is read: the options of :func:`parse`; a bare tuple, for one is made for each text."""


def _parse(source: Any, values: list[Any] | None, how: _ReadOptions) -> Plan:
    """Read a plan's text, of which the JSON values may be known, or its data."""
    dialect, limits, repair, tools, infer, compute, reader, turn = how
    if isinstance(source, str) and source[:1] in INVISIBLE:
        source = blank_byte_order_mark(source)
    text = source if isinstance(source, str) else None
    name: str | None
    if turn is not None:
        check_turn(turn)
    if reader != "fast":
        if turn is not None:
            raise InputError("the grammar reads a text as it is: drop --turn or --grammar")
        name, raw, text = _read_by_grammar(source, dialect, limits, reader, repair=repair)
    elif isinstance(source, str):
        name, raw = _read_text(source, values, how)
    else:
        name, raw = _read_data(source, dialect, limits, repair=repair, turn=turn)
    if not raw.calls:
        _refuse_deep(source, limits)
    raw = _normalize_calls(name, raw, limits, tools)
    plan = link(raw, dialect=name, text=text, depth=limits.depth, compute=_compute_function(compute))
    if infer is False:
        return plan
    from planner_eval.plan.inference import infer_edges
    from planner_eval.reading.dialects.conversations.turns import read_user_text

    data = source
    if isinstance(source, str):
        read = values if values is not None else loads_if_json(source, limits) or []
        data = unwrap_single(read)
    return infer_edges(plan, None if infer is True else infer, read_user_text(data))


def _read_text(source: str, values: list[Any] | None, how: _ReadOptions) -> RecognisedPlan:
    """The calls of a text, which may be of objects of clients that Python printed."""
    dialect, limits, repair, tools, *_, turn = how
    if len(source) > limits.chars or not may_be_printed(source):
        return _read(source, dialect, limits, values, repair=repair, located=False, turn=turn)
    from planner_eval.reading.dialects.conversations.printed import note_printed, read_printed

    try:
        data = read_printed(source, tools or ())
        if data is not None:
            name, raw = _read_data(data, dialect, limits, repair=repair, turn=turn)
            return RecognisedPlan(name, raw._replace(reason=raw.reason or "objects that Python printed"))
    except AnswerError:
        raise
    except ParseError as error:
        error.text = error.text or source
        raise
    name, raw = _read(source, dialect, limits, values, repair=repair, located=False, turn=turn)
    return RecognisedPlan(name, note_printed(raw, tools or ()))


def _refuse_deep(source: Any, limits: Limits) -> None:
    """What nests past the limit is not looked through to its end: nothing says that it calls no tool.

    Raises:
        LimitError: it nests so deeply.
    """
    if not isinstance(source, str):
        if is_data_nested_too_deep(source, limits):
            raise LimitError(f"the data nests deeper than {limits.depth} levels")
    elif source.lstrip()[:1] in ("[", "{") and is_nested_too_deep(source, limits):
        check_depth(source, limits)


def _normalize_calls(
    name: str | None, raw: RawPlan, limits: Limits, tools: ToolTypes | None = None
) -> RawPlan:
    """The calls without chat tokens in names, their values typed and their results checked."""
    odd = [call for call in raw.calls if call.has_result or "<|" in call.name]  # few: asked of each text once
    if odd and any("<|" in call.name for call in odd):
        raw = drop_chat_tokens(raw)
    dialect = None if name is None else dialects.get(name)
    if dialect and dialect.check is not None:
        raw = dialect.check(raw)
    if dialect and not dialect.typed:
        from planner_eval.reading.dialects.round_trip import apply_types

        raw = apply_types(raw, tools, dialect=dialect.name)
    return resolve_repeated_keys(raw, limits) if odd and any(call.has_result for call in odd) else raw


class UnlinkedPlan(NamedTuple):
    """A text that was read, and its calls before their references are followed."""

    dialect: str
    raw: RawPlan
    text: str

    def linked(self) -> Plan:
        """What :func:`parse` makes of the text.

        Raises:
            LimitError: a value nests too deeply, or is an integer of too many digits.
        """
        return link(self.raw, dialect=self.dialect, text=self.text, depth=DEFAULT_LIMITS.depth)


def unlinked(text: str) -> UnlinkedPlan:
    """A text as :func:`parse` reads it without further word, up to where references are followed.

    Raises:
        ParseError: it holds no readable plan.
        AnswerError: as for :func:`parse`.

    >>> unlinked("a = f(#x='1')").linked() == parse("a = f(#x='1')")
    True
    """
    if text[:1] in INVISIBLE:
        text = blank_byte_order_mark(text)
    how = None, DEFAULT_LIMITS, False, None, False, None, "fast", None
    name, raw = _read_text(text, None, how)
    return UnlinkedPlan(name, _normalize_calls(name, raw, DEFAULT_LIMITS), text)


def _compute_function(name: str | None) -> Callable[[str], Value] | None:
    """What computes the expressions that stand where values should."""
    if name is None:
        return None
    if name != "arithmetic":
        raise InputError(f"compute is {name!r}, expected 'arithmetic'")
    from planner_eval.plan.arithmetic import compute

    return compute


def _read_by_grammar(
    source: Any, dialect: str | None, limits: Limits, reader: str, *, repair: bool
) -> tuple[str, RawPlan, str]:
    from planner_eval.reading.dialects import reference_reading

    if reader not in reference_reading.READERS:
        raise InputError(
            f"unknown reader {reader!r}; expected one of {' and '.join(reference_reading.READERS)}"
        )
    if repair:
        raise InputError("the grammar reads a text as it is: drop --repair or --grammar")
    if isinstance(source, str):
        _refuse_size(source, dialect, limits)
    try:
        return reference_reading.read(source, dialect, limits)
    except ParseError as error:
        error.text = error.text or (
            source if isinstance(source, str) else reference_reading.format_json(source)
        )
        error.dialect = error.dialect or dialect
        raise


def _refuse_size(source: str, dialect: str | None, limits: Limits) -> None:
    if len(source) > limits.chars:
        raise LimitError(f"the text has {len(source):,} characters, more than the limit of {limits.chars:,}")
    if not source or source.isspace():
        raise ParseError(
            "the text is empty, expected a plan", text=source, code="parse.empty", dialect=dialect
        )


def _read(
    source: str,
    dialect: str | None,
    limits: Limits,
    values: list[Any] | None = None,
    *,
    repair: bool,
    located: bool,
    turn: TurnChoice = None,
) -> RecognisedPlan:
    _refuse_size(source, dialect, limits)
    try:
        refuse_too_many_calls(source, limits)
        is_json = source.lstrip()[:1] in ("[", "{")
        if not located and dialect is None:
            values = loads_if_json(source, limits) if is_json and values is None else values
            if is_json and values is None:
                values, is_json = [], False
            whole_read = read_whole_text(source, limits, values)
            if whole_read is None and not is_json:
                whole_read = read_plain_text(source, limits)
            if whole_read is not None:
                return whole_read
        talk = _find_conversation(source, limits, values, located=located) if is_json else None
        if talk is not None:
            return _read_turns(talk, dialect, limits, repair=repair, turn=turn)
        if turn is not None:
            source = _keep_turn(source, turn)
        if dialect is not None:
            raw = _read_named_dialect(dialects.get(dialect), source, limits, repair=repair, located=located)
            if not raw.calls:
                from planner_eval.reading.dialects.finding.find import refuse_cut

                refuse_cut(source, limits)
            return RecognisedPlan(dialect, raw)
        from planner_eval.reading.dialects.finding.find import find_plan

        return find_plan(source, limits, repair=repair, located=located, values=values)
    except AnswerError:
        raise
    except ParseError as error:
        error.text = error.text or source
        error.dialect = error.dialect or dialect
        raise


def _find_conversation(
    source: str, limits: Limits, values: list[Any] | None, *, located: bool
) -> ConversationSource | None:
    """The conversation or answer that a text is as a whole; None where it is none."""
    from planner_eval.reading.dialects.conversations.wrappers import (
        may_be_conversation,
        may_hold_conversation,
    )

    if values is not None and not may_be_conversation(unwrap_single(values)):
        return None
    if not may_hold_conversation(source):
        return None
    from planner_eval.reading.dialects.conversations.turns import find_conversation

    return find_conversation(source, limits, values, located=located)


def _read_turns(
    conversation: ConversationSource, dialect: str | None, limits: Limits, *, repair: bool, turn: TurnChoice
) -> RecognisedPlan:
    """The calls of a conversation or an API's answer."""
    from planner_eval.reading.dialects.conversations.turns import read_whole_answer

    def words(text: str) -> RecognisedPlan:
        try:
            return _read(text, dialect, limits, repair=repair, located=False)
        except ParseError:
            if dialect is None or not _is_prose(text, dialect, limits):
                raise
            return RecognisedPlan(dialect, RawPlan(()))

    try:
        return read_whole_answer(conversation, turn, dialect, limits, words)
    except AnswerError:
        raise
    except ParseError as error:
        error.beyond_repair = False  # that was said of one turn's text
        for mended, notes in repairs(TextView(conversation.text)) if repair else ():
            fresh = _find_conversation(mended.text, limits, None, located=False)
            with suppress(ParseError):
                if fresh is not None:
                    name, raw = read_whole_answer(fresh, turn, dialect, limits, words)
                    raw = mended.place(raw)
                    return RecognisedPlan(name, raw._replace(notes=(*raw.notes, *notes)))
        raise


def _keep_turn(source: str, turn: TurnChoice) -> str:
    """A text with speakers or chat tokens with all but one turn of the assistant as white space."""
    from planner_eval.reading.dialects.conversations.turns import select_turns
    from planner_eval.reading.dialects.finding.speakers import assistant_turns, blank_around

    turns = assistant_turns(source)
    return blank_around(source, select_turns(turns, turn)) if turns else source


def _is_prose(text: str, dialect: str, limits: Limits) -> bool:
    """Whether what a turn says is no plan in the dialect that the user named, nor meant to be one."""
    if dialects.get(dialect).read_data is not None:
        return text.lstrip()[:1] not in ("[", "{")  # the notation is one of data
    try:
        return not _read(text, None, limits, repair=False, located=False)[1].calls
    except ParseError:
        return False


def _read_named_dialect(
    dialect: Dialect, source: str, limits: Limits, *, repair: bool, located: bool
) -> RawPlan:
    """Read in a dialect that the user named: the whole text, else the blocks found in it."""
    from planner_eval.reading.dialects.finding.speakers import blank_other_turns

    read = dialect.read
    if located and dialect.read_data is not None and len(source) <= LARK_CHARS:
        read = dialect.reference or read  # the fast reader of data keeps no places
    answer = blank_other_turns(source)
    refusal: ParseError | None = None
    try:
        raw = read(answer.text, limits)
    except LimitError:
        raise
    except ParseError as error:
        refusal = strip_traceback(error)
    else:
        if not answer.notes:
            return raw
    from planner_eval.reading.dialects.finding.find import find_in_dialect

    raw_blocks = find_in_dialect(dialect, source, limits, repair=repair)
    if raw_blocks is not None and (raw_blocks.calls or refusal is not None or not raw.calls):
        return raw_blocks
    if refusal is not None:
        raise refusal
    return raw._replace(notes=(*raw.notes, *answer.notes))


def _read_data(
    data: Any, dialect: str | None, limits: Limits, *, repair: bool, turn: TurnChoice
) -> RecognisedPlan:
    """Read structure; where repairs are wanted and it is refused, by its text."""
    from planner_eval.reading.dialects.conversations.wrappers import may_be_conversation

    talk = None
    if may_be_conversation(data):
        from planner_eval.reading.dialects.conversations.turns import ConversationSource, read_conversation

        talk = read_conversation(data)
    try:
        if talk is None:
            return _read_structure(data, dialect, limits)
        return _read_turns(ConversationSource(talk), dialect, limits, repair=repair, turn=turn)
    except (AnswerError, LimitError):
        raise
    except ParseError as error:
        if not repair or not isinstance(data, (list, dict)):  # what is no text and no structure is no answer
            raise
        first = strip_traceback(error)
    from planner_eval.reading.dialects.reference_reading import format_json

    try:
        name, raw = _read(format_json(data), dialect, limits, repair=True, located=False, turn=turn)
    except (ParseError, TypeError, ValueError, RecursionError):
        raise first from None
    return RecognisedPlan(name, remove_call_spans(raw))


def _read_structure(data: Any, dialect: str | None, limits: Limits) -> RecognisedPlan:
    notes: list[Diagnostic] = []
    if is_data_nested_too_deep(data, limits, lists=True):
        raise LimitError(f"the data nests deeper than {limits.depth} levels")
    if dialect is None:
        from planner_eval.reading.dialects.detect import ambiguity_error, detect_data, is_schema

        if isinstance(data, list) and data and all(isinstance(item, str) for item in data):
            return _read_texts(json.dumps(data, ensure_ascii=False), limits)
        texts = part_texts(data)
        if texts is not None:
            return _read_texts("\n".join(texts), limits)
        if data in ([], {}):
            return _empty_plan(f"an empty {'list' if data == [] else 'object'}")
        if is_schema(data):
            problem = ambiguity_error(data)
            if problem is not None:
                raise problem
            return _empty_plan("a schema of tools or parameters")
        data, notes = find_call_candidates(data)
        if data == []:
            return _empty_plan("a list without calls", *notes)
        dialect = detect_data(data).dialect
    reader = dialects.get(dialect).read_data
    if reader is None:
        raise ParseError(
            f"the dialect {dialect!r} is text, found {type(data).__name__}",
            code="parse.shape",
            dialect=dialect,
        )
    raw = reader(data, limits, None)
    return RecognisedPlan(dialect, raw._replace(notes=(*raw.notes, *notes)) if notes else raw)


def _read_texts(text: str, limits: Limits) -> RecognisedPlan:
    """Data that is texts alone as text is read: AppBench's results, calls, or a model's words."""
    from planner_eval.reading.dialects.finding.find import find_plan

    result = find_plan(text, limits)
    return result._replace(raw=remove_call_spans(result.raw))


def _empty_plan(why: str, *notes: Diagnostic) -> RecognisedPlan:
    return RecognisedPlan("json", RawPlan((), None, (*notes, no_call_remark(why))))


def locate(plan: Plan, *, limits: Limits = DEFAULT_LIMITS) -> Plan:
    """The same plan with the places of its calls and arguments in its text.

    The fast JSON path keeps no places; this reads the text once more by the grammar to find them.

    Args:
        plan: A plan from :func:`parse`.
        limits: As for :func:`parse`.

    Returns:
        The plan with ``span`` and ``spans`` on its calls; as it was where no text is known.

    >>> locate(parse('[{"name": "f", "arguments": {"a": 12}}]')).calls[0].spans
    ((34, 36),)
    """
    if plan.text is None or plan.dialect is None or all(call.span for call in plan.calls):
        return plan
    repaired = any(note.code.startswith("repair.") for note in plan.diagnostics)
    try:
        _, raw = _read(plan.text, None, limits, repair=repaired, located=True)
        if len(raw.calls) != len(plan.calls):
            _, raw = _read(plan.text, plan.dialect, limits, repair=repaired, located=True)
    except ParseError:
        return plan
    if [c.name for c in raw.calls] != [c.name for c in plan.calls]:
        return plan
    calls = tuple(
        replace(call, span=located.span, spans=located.spans)
        for call, located in zip(plan.calls, raw.calls, strict=True)
    )
    return replace(plan, calls=calls)


def write(plan: Plan, dialect: str, *, tools: ToolTypes | None = None) -> str:
    """Write a plan in a dialect.

    The text is read again before it is given, its notation named and not: what the dialect cannot say is
    an error, never a plan that means something else.

    Args:
        plan: The plan.
        dialect: The dialect's name.
        tools: What types the values where the text is read, in dialects that write them without types:
            tool → parameter → JSON type. Without it they are read as texts, so that nothing else can be
            said in these.

    Raises:
        WriteError: the dialect cannot say what the plan says, or is only read.
        InputError: unknown notation of that name, or what is given is no plan.

    >>> write(parse("a = f(#x='1')"), "json")
    '[{"name": "f", "arguments": {"x": "1"}}]'
    """
    return write_text(plan, dialect, tools=tools, recognised=True)


def write_text(plan: Plan, dialect: str, *, tools: ToolTypes | None = None, recognised: bool) -> str:
    """The same, and where the text need not be recognised it may read as another plan unless it is named.

    Args:
        plan: The plan.
        dialect: The dialect's name.
        tools: As for :func:`write`.
        recognised: Whether the text has to read as the plan where its notation is not named, too.

    Raises:
        WriteError: as there.
        InputError: as there.
    """
    value: Any = plan
    if not isinstance(value, Plan):
        kind = type(value).__name__
        raise InputError(f"found a {kind}, expected a plan: pe.parse reads one, pe.convert both")
    target = dialects.get(dialect)
    for call in plan.calls:
        value = call.arguments
        if not isinstance(value, tuple):
            kind = type(value).__name__
            raise InputError(f"the arguments of call {call.id} are a {kind}, expected pairs: (('a', 1), …)")
    if target.write is None:
        raise WriteError(f"the dialect {dialect!r} is read, not written")
    if plan.answer is not None and not target.answers:
        raise WriteError(
            f"the plan states a final answer, which {dialect!r} cannot express: use --to plan or nestful"
        )
    text = target.write(plan)
    from planner_eval.reading.dialects.round_trip import check

    check(plan, text, target, tools, parse, recognised=recognised)
    return text
