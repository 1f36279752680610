"""What the words of structure figures mean, a sentence each: the one source of what commands and docs say."""

from __future__ import annotations

from collections.abc import Iterable

FIGURES = {
    "total": "the sum of a figure over all plans; mean, median and max are over plans, too",
    "plans": "plans that were read",
    "unread": "plans that could not be read; they are in no other figure",
    "calls": "calls of tools",
    "apps": "different apps that the calls name",
    "tools": "different tools that are called; tools of one name in two apps are two",
    "arguments": "arguments of all calls",
    "references": "places in arguments that take another call's output, each counted",
    "edges": "pairs of calls of which one takes the other's output, counted once however often it does",
    "components": "groups of calls that hang together by references; a call that stands alone is one",
    "depth": "calls of the longest chain, each taking the output of the one before; a circle is one link",
    "width": "calls of the largest generation: they need only earlier ones and, circles aside, run at once",
    "max fan in": "the largest number of other calls whose output one call takes",
    "max fan out": "the largest number of other calls that take one call's output",
    "reused": "calls whose output more than one call takes",
    "parallel scale": "AppBench's word for the number of components: parts that need nothing of one another",
    "sequential scale": "AppBench's word for the number of calls in the largest component",
    "roots": "calls that take no other call's output",
    "sinks": "calls whose output no other call takes",
    "critical path": "the calls of the longest chain, by their ids; the earliest of several",
    "inferred": "references that nobody wrote; all figures count them, depth and width also written steps",
    "fan in": "how many calls take the output of so many others: 0 ×2 is two calls that take none",
    "fan out": "how many calls have so many others take their output",
    "scope": "AppBench's word for one or several apps (S, M), and one or several calls of an app",
}
"""The figures and their column, as reports spell them and in their order."""

KINDS = {
    "reference": "the whole argument is another call's output",
    "ref in text": "a text that holds another call's output",
    "ref in values": "a list or an object that holds another call's output",
    "unresolved": "a reference that no other call answers, alone or inside of a value",
    "string": "a text",
    "integer": "a whole number",
    "number": "a number with a fraction",
    "boolean": "true or false",
    "null": "nothing: JSON's null",
    "array": "a list without references",
    "object": "an object without references",
}
"""What an argument holds; of the kinds that fit, the first."""

PATTERNS = {
    "A": "a call that stands alone",
    "A→B": "a call that takes the output of one call, which serves no other",
    "{A,B}→C": "a call that takes the output of several, one a letter",
    "A→{B,C}": "a call whose output several take, one a letter",
}
"""How calls hang together, by the form of what is counted; one call can be part of several."""

SCOPES = {
    "SS": "one call",
    "SM": "several calls of one app",
    "MS": "calls of several apps, one each",
    "MM": "calls of several apps, of one of them more than one",
}
"""AppBench's words for plans whose calls name their apps."""

_PLAIN_NAMES = {"parallel scale": "independent parts", "sequential scale": "calls in the largest part"}
"""Plain names for figures that a paper has named."""

SHAPES = {
    "(()())": "brackets are a call around those whose output it takes; * ends a circle",
    "() + ()": "parts that nothing joins",
    "(a:()) (a)": "a: names a call that serves several, and a is that call again",
    "(()×2)": "in parts of many calls, or with a circle: a call that serves two, written again for each",
}
"""How the shape of a plan is written, by examples; the first is always explained."""

_SHAPE_SIGNS = {"() + ()": "+", "(a:()) (a)": ":", "(()×2)": "×"}


def plain_figure(figure: str) -> str:
    """A figure's name for people: beside a paper's word the plain one.

    >>> plain_figure("parallel scale"), plain_figure("depth")
    ('parallel scale (independent parts)', 'depth')
    """
    return f"{figure} ({_PLAIN_NAMES[figure]})" if figure in _PLAIN_NAMES else figure


def plain_scope(scope: str) -> str:
    """A scope for people.

    >>> plain_scope("SM"), plain_scope("none")
    ('SM (several calls of one app)', 'none')
    """
    return f"{scope} ({SCOPES[scope]})" if scope in SCOPES else scope


def pattern_form(pattern: str) -> str:
    """The key of :data:`PATTERNS` that says what a pattern means.

    >>> pattern_form("{A,B,C}→D"), pattern_form("A→{7 calls}"), pattern_form("A")
    ('{A,B}→C', 'A→{B,C}', 'A')
    """
    if pattern in PATTERNS:
        return pattern
    return "{A,B}→C" if pattern.startswith("{") else "A→{B,C}"


def explain_words(
    figures: Iterable[str],
    kinds: Iterable[str],
    patterns: Iterable[str],
    *,
    shapes: Iterable[str],
    scopes: Iterable[str] = (),
) -> dict[str, str]:
    """The words that a report shows, each with its sentence, in the order of the tables.

    Args:
        figures: The figures that are shown.
        kinds: The kinds of arguments.
        patterns: The patterns, however many letters they have.
        shapes: The shapes, however many calls they have.
        scopes: The scopes.

    Raises:
        KeyError: a word has no sentence.

    >>> explain_words(["depth"], [], ["{A,B,C}→D"], shapes=[])["{A,B}→C"]
    'a call that takes the output of several, one a letter'
    """
    words = {name: FIGURES[name] for name in figures} | {name: KINDS[name] for name in kinds}
    forms = {pattern_form(pattern) for pattern in patterns}
    words |= {name: sentence for name, sentence in PATTERNS.items() if name in forms}
    drawn = "".join(shapes)
    words |= {
        name: sentence for name, sentence in SHAPES.items() if drawn and _SHAPE_SIGNS.get(name, "") in drawn
    }
    return words | {name: sentence for name, sentence in SCOPES.items() if name in set(scopes)}
