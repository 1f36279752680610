"""How calls, places and values are named in sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from operator import add, itemgetter, mul, sub, truediv
from typing import TYPE_CHECKING, Any
from unicodedata import name as character_name
from unicodedata import normalize

from planner_eval.base.named_tuple import NamedTuple
from planner_eval.base.text import one_line, one_line_json
from planner_eval.plan.model import Call, Path, Plan, Ref, Template, Unresolved, Value, fold
from planner_eval.reading.dialects.dialect import DEPENDENCY_ARGUMENT

if TYPE_CHECKING:
    from fractions import Fraction

MAX_RUNS = 8
"""So many runs of calls are told by number, and of further calls how many there are."""

MAX_VALUE_LENGTH = 80
"""The longest value that a sentence shows in full."""

MAX_TEXT_LENGTH = 240
"""The longest text that one shows in full beside a text that differs."""


MAX_LISTED = 4
"""So many values, calls or names are told one by one."""


def cut_list(texts: list[str]) -> list[str]:
    """The first of many, and how many more there are."""
    more = len(texts) - MAX_LISTED
    return [*texts[:MAX_LISTED], f"{more} more"] if more > 1 else texts


def format_list(texts: Iterable[str]) -> str:
    """Things in a row: ``a, b, c, d and 2 more``."""
    *first, last = cut_list([*texts])
    return f"{', '.join(first)} and {last}" if first else last


def call_number(pred: int | None, gold: int | None) -> str:
    """A call's place among the prediction's calls, and among gold's where that is another.

    >>> call_number(1, 1), call_number(1, 2), call_number(1, None), call_number(None, 2)
    ('call 2', "call 2, gold's 3", 'call 2', "gold's call 3")
    """
    if pred is None:
        return f"gold's call {(gold or 0) + 1}"
    return f"call {pred + 1}" if gold is None or gold == pred else f"call {pred + 1}, gold's {gold + 1}"


class CallNames:
    """How the calls of two compared plans are named: by tool and number, of one call always the same.

    Args:
        pred: The prediction.
        gold: The gold plan.
        to_gold: The partner of each call of the prediction; negative or not there for none.
        to_pred: The partner of each call of gold, likewise.
    """

    def __init__(self, pred: Plan, gold: Plan, to_gold: Sequence[int], to_pred: Sequence[int]) -> None:
        self.pred, self.gold, self.to_gold, self.to_pred = pred, gold, to_gold, to_pred

    @classmethod
    def of(cls, pred: Plan, gold: Plan, pairs: Iterable[tuple[int, int]]) -> CallNames:
        """The names where pairs of positions (in the prediction, in gold) are partners."""
        to_gold, to_pred = [-1] * len(pred.calls), [-1] * len(gold.calls)
        for pred_position, gold_position in pairs:
            to_gold[pred_position], to_pred[gold_position] = gold_position, pred_position
        return cls(pred, gold, to_gold, to_pred)

    def our_number(self, position: int) -> str:
        """A call of the prediction without its tool: ``call 2, gold's 3``."""
        partner = self.to_gold[position]
        return call_number(position, partner if partner >= 0 else None)

    def their_number(self, position: int) -> str:
        """A call of gold without its tool: as its partner is called, or ``gold's call 3``."""
        partner = self.to_pred[position]
        return call_number(partner if partner >= 0 else None, position)

    def ours(self, position: int | None) -> str:
        """A call of the prediction: ``book_trip (call 2, gold's 3)``; the answer for None."""
        if position is None:
            return "the answer"
        return f"{tool_label(self.pred.calls[position])} ({self.our_number(position)})"

    def theirs(self, position: int | None) -> str:
        """A call of gold: ``book_trip (call 2, gold's 3)``; the answer for None."""
        if position is None:
            return "the answer"
        return f"{tool_label(self.gold.calls[position])} ({self.their_number(position)})"

    def gold_twin(self, position: int) -> int | None:
        """Gold's call that a call of the prediction equals, where another call is its partner."""
        return self._paired_gold_calls.get(_call_text(self.pred.calls[position]))

    @cached_property
    def _paired_gold_calls(self) -> dict[tuple[str, ...], int]:
        return {
            _call_text(self.gold.calls[gold]): gold for gold, pred in enumerate(self.to_pred) if pred >= 0
        }

    def labelled(self, value: Value) -> str:
        """What a text is that is the bare label of a call of the prediction; empty for any other value."""
        if type(value) is not str or _GENERATED_LABEL.fullmatch(value):
            return ""
        position = next((position for position, call in enumerate(self.pred.calls) if value == call.id), None)
        return "" if position is None else f", the label of {self.ours(position)} as a text"


def _call_text(call: Call) -> tuple[str, ...]:
    """What two calls have in common that take the same."""
    return (call.tool, *sorted(map(repr, call.arguments)))


def tell_apart(first: str, second: str) -> tuple[str, str]:
    r"""Two texts; what is not ASCII in them as escapes where they differ and look alike.

    >>> tell_apart("caf\u00e9", "cafe\u0301"), tell_apart("a\xa0b", "a b"), tell_apart("\u00e9", "e")
    (('caf\\xe9', 'cafe\\u0301'), ('a\\xa0b', 'a b'), ('é', 'e'))
    """
    if first == second or (first.isascii() and second.isascii()) or _look(first) != _look(second):
        return first, second
    shown = [text.encode("ascii", "backslashreplace").decode() for text in (first, second)]
    return shown[0], shown[1]


def name_odd_character(pred_text: str, gold_text: str | None) -> str:
    r"""Which character it is that looks like gold's, as the end of a sentence; empty where none does.

    Args:
        pred_text: A text of the prediction.
        gold_text: The text in its place; None where gold has none, and ASCII is expected.

    >>> name_odd_character("R\u043eme", "Rome"), name_odd_character("\u00e9", "e")
    ('; character 2 is CYRILLIC SMALL LETTER O', '')
    >>> name_odd_character(" \u043e", "\u043e"), name_odd_character("R\u043eme", None)
    ('', '; character 2 is CYRILLIC SMALL LETTER O')
    """
    letters = _look(pred_text).translate(_LOOK_ALIKE)
    expected = gold_text if gold_text is not None else letters if letters.isascii() else pred_text
    if pred_text == expected or letters != _look(expected).translate(_LOOK_ALIKE):
        return ""
    for whose, text, other in (("", pred_text, expected), ("gold's ", expected, pred_text)):
        for position, character in enumerate(text):
            if not character.isascii() and character not in other:
                return f"; {whose}character {position + 1} is {character_name(character, repr(character))}"
    return ""


def _look(text: str) -> str:
    return normalize("NFC", _UNSEEN.sub("", " ".join(text.split())))


_UNSEEN = re.compile("[\u00ad\u200b-\u200d\u2060\ufe00-\ufe0f]")
"""Soft hyphens, joiners, blanks without width and variation selectors."""

_LOOK_ALIKE = str.maketrans(
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0406\u0408\u0405"
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501"
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf",
    "ABEKMHOPCTXIJSaeopcyxijshdABEZHIKMNOPTYXo",
)
"""Cyrillic and Greek letters and the Latin ones that they look like."""

_GENERATED_LABEL = re.compile(r"c[0-9]+")
"""Labels that calls get that have none."""


def _plain_call_number(position: int) -> str:
    return f"call {position + 1}"


def find_runs(positions: Iterable[int], key: Callable[[int], Any] = lambda _: None) -> list[list[int]]:
    """Positions in a row, those that follow one another and are of one key together."""
    runs: list[list[int]] = []
    for position in positions:
        if runs and position == runs[-1][-1] + 1 and key(position) == key(runs[-1][-1]):
            runs[-1].append(position)
        else:
            runs.append([position])
    return runs


def calls_numbers(positions: Iterable[int | None], whose: str = "") -> str:
    """Calls by their numbers; empty where only the answer, None, is meant.

    Args:
        positions: The calls.
        whose: What stands before.

    >>> calls_numbers([0, 1, 2, 6]), calls_numbers([0, 1]), calls_numbers([2], "gold's ")
    ('calls 1–3, 7', 'calls 1, 2', "gold's call 3")
    """
    numbers = sorted({position + 1 for position in positions if position is not None})
    runs = find_runs(numbers)
    texts = [f"{run[0]}–{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs]
    if len(texts) > MAX_RUNS:
        return (
            f"{whose}calls {', '.join(texts[:MAX_RUNS])} and "
            f"{len(numbers) - sum(map(len, runs[:MAX_RUNS])):,} more"
        )
    return f"{whose}call{'s' * (len(numbers) > 1)} {', '.join(texts)}" if texts else ""


def calls_name(plan: Plan) -> str:
    """All calls of a plan on one line, as far as it reaches.

    >>> from planner_eval.plan.model import Call
    >>> calls_name(Plan((Call("a", "f", (("x", [1, True]),)), Call("b", "g", (("y", Ref(0)),)))))
    'f(x=[1, true]); g(y=‹call 1›)'
    """
    return (
        one_line("; ".join(map(call_name, plan.calls[:MAX_VALUE_LENGTH])), 2 * MAX_VALUE_LENGTH) or "no call"
    )


def tool_label(call: Call) -> str:
    """The tool of a call as a sentence names it; an empty name in quotes."""
    return call.tool or '""'


def call_name(call: Call) -> str:
    """A call as one writes it: ``f(x=[1, true])``."""
    arguments_text = ", ".join(f"{name}={value_name(value)}" for name, value in call.arguments)
    return f"{tool_label(call)}({arguments_text})"


# ----------------------------------------------------------------------
# Plans that compute with numbers.
_OPERATIONS: dict[str, Callable[..., Any]]
_OPERATIONS = {"add": add, "subtract": sub, "multiply": mul, "divide": truediv}
"""What tools that compute do."""


def is_commutative(tool: str) -> bool:
    """Whether a tool, by its name, comes to the same with its arguments in another order.

    >>> is_commutative("add"), is_commutative("math.gcd"), is_commutative("divide")
    (True, True, False)
    """
    return tool in ("add", "multiply") or tool.lower().endswith(("gcd", "hcf", "lcm"))


def is_computed(call: Call) -> bool:
    """Whether a call computes with numbers: by its tool's name and by those of its arguments."""
    return _operands(call) is not None


_OPERAND_NAMES = {("arg_0", "arg_1"), ("0", "1"), ("a", "b"), ("x", "y")}
"""What the arguments of tools that compute are called: only of such names is it known which comes first."""


def _operands(call: Call) -> list[Value] | None:
    """The two values that a call computes with, in their order; None of any other call."""
    arguments = sorted(call.arguments, key=itemgetter(0))
    is_operation = call.app is None and call.name in _OPERATIONS
    if not is_operation or tuple(name for name, _ in arguments) not in _OPERAND_NAMES:
        return None
    return [value for _, value in arguments]


def compute_results(plan: Plan) -> list[int | float | None]:
    """What each call of a plan comes to that computes with numbers, to nine digits; None of others.

    >>> calls = Call("a", "divide", (("y", 100), ("x", 25))), Call("b", "f", (("x", Ref(0)),))
    >>> compute_results(Plan(calls))
    [0.25, None]
    """
    return [None if result is None else round_number(result) for result in _compute_exactly(plan)]


def _compute_exactly(plan: Plan) -> list[Fraction | None]:
    if not any(map(is_computed, plan.calls)):
        return [None] * len(plan.calls)
    from fractions import Fraction

    results: list[Fraction | None] = []
    for call in plan.calls:
        numbers = [
            results[v.call] if type(v) is Ref and v.call < len(results) else v for v in _operands(call) or ()
        ]
        result = None
        if numbers and {*map(type, numbers)} <= {int, float, Fraction}:
            try:
                result = _OPERATIONS[call.name](*(Fraction(str(number)) for number in numbers))
            except (ArithmeticError, ValueError):  # by zero, of infinite ones
                result = None
        is_known = result is not None and result.limit_denominator(_MOST) == result and abs(result) < _MOST
        results.append(result if is_known else None)
    return results


_MOST = 10**60
"""Numbers that are multiplied again and again grow without end: greater ones are not followed."""


def round_number(number: Fraction) -> int | float:
    """A number to nine digits; a whole one of few digits as it is."""
    if number.denominator == 1 and abs(number) < 10**15:
        return int(number)
    rounded = float(f"{float(number):.9g}")
    return int(rounded) if rounded.is_integer() else rounded


class Formula(NamedTuple):
    """What a plan computes, as one writes it, and the number that it comes to, where that is known."""

    text: str
    result: Fraction | None

    def __str__(self) -> str:
        return self.text if self.result is None else f"{self.text} = {round_number(self.result)}"


_SIGNS = {"add": ("+", 1), "subtract": ("-", 1), "multiply": ("*", 2), "divide": ("/", 2)}
"""Each operation as it is written, and how tightly it binds."""

_TIGHTEST = 3
"""How tightly a number binds, and what stands in brackets."""


def find_formulas(pred: Plan, gold: Plan) -> list[Formula]:
    """Both plans as formulas where gold computes one, of which its last call is the end; else none.

    The prediction's is what its last call that takes a result comes to.

    >>> from planner_eval.plan.linking import build_plan
    >>> calls = Call("a", "add", (("x", 6), ("y", 2))), Call("b", "divide", (("x", 4), ("y", Ref(0))))
    >>> [str(formula) for formula in find_formulas(build_plan(calls), build_plan(calls[:1]))]
    ['4 / (6 + 2) = 0.5', '6 + 2 = 8']
    """
    used = {edge.producer for edge in gold.edges}
    if not pred.calls or len(used) != len(gold.calls) - 1:
        return []
    if not all(any(map(is_computed, plan.calls)) for plan in (gold, pred)):
        return []
    end = max((edge.consumer for edge in pred.edges), default=len(pred.calls) - 1)
    is_last = not any(map(is_computed, pred.calls[end + 1 :]))
    result = _compute_exactly(pred)[end] if is_last else None
    return [
        Formula(_write_formulas(pred)[end], result),
        Formula(_write_formulas(gold)[-1], _compute_exactly(gold)[-1]),
    ]


def find_common_result(formulas: list[Formula]) -> Fraction | None:
    """The number that formulas come to exactly, where that is known and one."""
    results = {formula.result for formula in formulas}
    return results.pop() if len(results) == 1 else None


def _write_formulas(plan: Plan) -> list[str]:
    """What each call of a plan computes; what is too long, cut off."""
    terms: list[tuple[str, int]] = []
    for call in plan.calls:
        operands = _operands(call)
        values = [
            terms[value.call]
            if type(value) is Ref and value.call < len(terms)
            else (value_name(value), _TIGHTEST)
            for value in operands or [value for _, value in call.arguments]
        ]
        text, binding = f"{tool_label(call)}({', '.join(text for text, _ in values)})", _TIGHTEST
        if operands is not None:
            sign, binding = _SIGNS[call.name]
            least = binding, binding + (sign in "-/")
            text = f" {sign} ".join(
                operand if own >= needed else f"({operand})"
                for (operand, own), needed in zip(values, least, strict=True)
            )
        terms.append((one_line(text, 2 * MAX_VALUE_LENGTH), binding))
    return [text for text, _ in terms]


def path_name(path: Path) -> str:
    """A path as one writes it: ``tone.len``, ``rows[0].id``.

    >>> path_name(("rows", 0, "id"))
    'rows[0].id'
    """
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")


def output_name(reference: Ref | Unresolved, name: Callable[[int], str]) -> str:
    """What a reference takes: ``output id of book_trip (call 3)``.

    Args:
        reference: The reference.
        name: The name of the call at a position.
    """
    producer = name(reference.call) if isinstance(reference, Ref) else repr(reference.name)
    return (
        f"output {path_name(reference.path)!r} of {producer}"
        if reference.path
        else f"the result of {producer}"
    )


def value_name(
    value: Value, number: Callable[[int], str] = _plain_call_number, longest: int = MAX_VALUE_LENGTH
) -> str:
    """A value on one line: JSON, references as ``‹call 3: id›``.

    Args:
        value: The value.
        number: The number of the call at a position.
        longest: So many characters are shown.

    >>> value_name({"x": [Ref(2, ("id",)), True]})
    '{"x": [‹call 3: id›, true]}'
    """
    if type(value) is str and _PLAIN_TEXT.fullmatch(value):  # as most are
        return f'"{value}"'
    if type(value) is int and -_MAX_PLAIN_NUMBER < value < _MAX_PLAIN_NUMBER:
        return str(value)

    def plain(leaf: Value) -> Any:
        return _format_leaf(leaf, number)

    def text(segments: tuple[Value, ...]) -> str:
        return "".join(map(str, map(plain, segments)))

    return _unquote_references(one_line_json(fold(value, plain, text=text), longest))


def links_of(argument: str, value: Value) -> list[Ref]:
    """The calls after which a call comes without an argument that says so; none where it is an argument.

    >>> links_of("", Ref(2)), links_of("", 5), links_of("of", Ref(2))
    ([Ref(call=2, path=())], [], [])
    """
    refs = value if type(value) is list else [value]
    return refs if argument == DEPENDENCY_ARGUMENT and all(type(ref) is Ref for ref in refs) else []


_QUOTED_REFERENCE = re.compile(r'"(‹[^"›]*›)"')

_PLAIN_TEXT = re.compile(rf"[\w .,:;/@#+=()-]{{0,{MAX_VALUE_LENGTH - 2}}}", re.ASCII)
"""Texts that are shown as they are."""

_MAX_PLAIN_NUMBER = 10**15
"""Whole numbers below it are shown as they are."""


def text_name(value: str | Template, number: Callable[[int], str]) -> str:
    """A text in full, without quotes; references in it as in :func:`value_name`."""
    return (
        value
        if isinstance(value, str)
        else "".join(str(_format_leaf(segment, number)) for segment in value.parts)
    )


def place_name(call: str | None, argument: Any, path: Path = ()) -> str:
    """A place: ``book_trip (call 3): argument 'opts' at tone.len``.

    Args:
        call: The name of the call; None for the answer.
        argument: The argument's name, and which of several of that name.
        path: The way into its value.
    """
    name = argument if isinstance(argument, str) else argument[0]
    within = f" at {path_name(path)}" if path else ""
    of = "the answer: value" if call is None else f"{call}: argument"
    return f"{of} {name!r}{within}"


def _format_leaf(leaf: Value, number: Callable[[int], str]) -> Any:
    if isinstance(leaf, Ref):
        return _format_reference(number(leaf.call), leaf.path)
    return _format_reference(f"{leaf.name}?", leaf.path) if isinstance(leaf, Unresolved) else leaf


def _format_reference(name: str, path: Path) -> str:
    return f"‹{name}: {path_name(path)}›" if path else f"‹{name}›"


def _unquote_references(text: str) -> str:
    """References without the quotes around them, unless a text goes on beside them."""
    return _QUOTED_REFERENCE.sub(r"\1", text) if "‹" in text else text


def no_call_suffix(pred: Plan, gold: Plan) -> str:
    """What the reader found in a prediction without calls where gold makes some, as the end of a sentence.

    >>> no_call_suffix(Plan(()), Plan((Call("a", "f"),)))
    '; the prediction holds no call'
    """
    if pred.calls or not gold.calls:
        return ""
    why = [note.message for note in pred.diagnostics if note.code == "plan.no_call"][:1]
    failed = [f"{', '.join(texts)} failed"] if (texts := failed_calls(pred)) else []
    doubts = (n for n in pred.diagnostics if n.code in ("find.text", "find.unread"))
    warnings = [n.message for n in doubts if n.severity == "warning"][:1]
    reason = next(iter(why), "no call")
    lead = "calls no tool" if reason.endswith("calls no tool") else f"holds {reason}"
    return f"; the prediction {'; '.join([lead, *failed, *warnings])}"


def failed_calls(pred: Plan) -> list[str]:
    """The tools of calls that failed and do not count, each with how often: ``book ×3``."""
    return [note.message for note in pred.diagnostics if note.code == "plan.failed"]
