"""How values are read under a policy: the table of docs/values.md, and laws that hold for every form."""

import calendar
import json
import re
import unicodedata
from datetime import date, time, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from planner_eval.base.tables import TEXT
from planner_eval.comparison.diff import diff
from planner_eval.comparison.policy.dates import normalise_date, normalise_time
from planner_eval.comparison.policy.file import load_policy
from planner_eval.comparison.policy.policy import Policy
from planner_eval.comparison.policy.values import (
    COMPARE,
    LEAF_NORMALISERS,
    Rule,
    casefold,
    normalise_number,
    remove_blanks,
)
from planner_eval.plan.model import Call, Plan
from tests.conftest import ROOT, AsKept, examples, tabled, tables
from tests.inside import planeval

TABLES = tables(__file__)

CASES = [
    json.loads(line)
    for line in (ROOT / "tests" / "cases" / "values.jsonl").read_text(encoding="utf-8").splitlines()
]
PAIRS = ROOT / "tests" / "cases" / "value_pairs.jsonl"
PAGE = ROOT / "docs" / "values.md"


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['compare']} {shown(case['written'])}")
def test_a_form_is_read_as_the_table_says(case: dict[str, Any]) -> None:
    read, wanted = LEAF_NORMALISERS[case["compare"]](case["written"]), case.get("read", case["written"])
    if case.get("exact"):
        assert read == Decimal(wanted)
    else:
        assert (type(read), read) == (type(wanted), wanted)


@tabled("compare, written, wanted")
def test_a_form_at_a_bound_is_read_or_left_as_it_is(compare: str, written: Any, wanted: Any) -> None:
    read = LEAF_NORMALISERS[compare](written)
    assert (type(read), read) == (type(wanted), wanted)


def test_what_is_said_of_a_value_beside_another(as_kept: AsKept) -> None:
    """The rules by which they are equal, and what differs where one call, and where three, have them."""
    rows = []
    for pred, gold in (line[:2] for line in map(json.loads, PAIRS.read_text("utf-8").splitlines())):
        sides = [[Call(f"c{at}", name, (("x", value), ("y", at))) for at, name in enumerate("fgh")]
                 for value in (pred, gold)]  # fmt: skip
        first, every = ([Plan(tuple(calls[:count])) for calls in sides] for count in (1, 3))
        rules = [
            name for name in COMPARE if diff(*first, policy=Policy(rules=(Rule("*", compare=(name,)),))).same
        ]
        rows.append(
            [pred, gold, " ".join(rules), *(str(diff(*plans)).split("\n", 1)[1:] for plans in (first, every))]
        )
    as_kept(PAIRS, rows)


def test_the_page_has_the_table(request: pytest.FixtureRequest) -> None:
    text = page = PAGE.read_text(encoding="utf-8")
    for word in dict.fromkeys(case["compare"] for case in CASES):
        cases = [case for case in CASES if case["compare"] == word]
        rows = [
            {"written": shown(case["written"]), "read as": answer(case), "why": case.get("why", "")}
            for case in cases
        ]
        section = re.compile(rf"(^## {word}\n(?:(?!## |```).*\n)*```text\n)(?:(?!```).*\n)*", re.MULTILINE)
        text = section.sub(lambda match, rows=rows: f"{match[1]}{TEXT.table(rows)}\n", text)
    if request.config.getoption("--update-cases"):
        PAGE.write_text(text, encoding="utf-8")
    else:
        assert text == page, "run: pytest tests/test_values.py --update-cases"


def answer(case: dict[str, Any]) -> str:
    """What a form is read as, for the page."""
    if "read" not in case:
        return "as it is"
    return str(case["read"]) if case.get("exact") else shown(case["read"])


def shown(value: Any) -> str:
    """A value as JSON, with what cannot be seen as escapes."""
    text = json.dumps(value, ensure_ascii=False)
    seen = (c if c.isprintable() and not unicodedata.combining(c) else f"\\u{ord(c):04x}" for c in text)
    return "".join(seen)


def test_the_command_reads_them(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text('[[rule]]\ncompare = "date"\n')
    assert not equal("1e400", "1e999", "numbers")
    for name, value in (("pred", "May 1,2024"), ("gold", "2024-05-01")):
        (tmp_path / f"{name}.json").write_text(json.dumps([{"name": "f", "arguments": {"x": value}}]))
    done = planeval("diff", "pred.json", "gold.json", "--policy", "own.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def one(value: object) -> Plan:
    return Plan((Call("c", "f", (("x", value),)),))


def equal(ours: object, theirs: object, *words: str) -> bool:
    """Whether two values are equal under a rule, as users learn it."""
    return diff(one(ours), one(theirs), Policy(rules=(Rule(compare=words),))).same


NEAR: dict[str, list[Any]] = TABLES["NEAR"]
RELATIONS = [*LEAF_NORMALISERS, "set", "unordered", "any", "ignore"]


@pytest.mark.more
@pytest.mark.parametrize("word", RELATIONS)
@pytest.mark.parametrize("pool", NEAR)
def test_being_equal_is_an_equivalence(word: str, pool: str) -> None:
    values = [*NEAR[pool], [*NEAR[pool][:2]], {"k": NEAR[pool][0]}]
    found = [[equal(ours, theirs, word) for theirs in values] for ours in values]
    for at, ours in enumerate(found):
        assert ours[at], values[at]
        for other, said in enumerate(ours):
            assert said == found[other][at], (values[at], values[other])
            if said:  # two that are equal are equal to the same values
                assert ours == found[other], (values[at], values[other])


@pytest.mark.more
@pytest.mark.parametrize("pool", NEAR)
def test_a_word_takes_nothing_for_another_that_was_the_same(pool: str) -> None:
    """Of floats that are integers in the quadrillions `numbers` takes the digits; they stand for several."""
    values = [value for value in NEAR[pool] if value != 1e23]
    for word in RELATIONS:
        for ours in values:
            for theirs in values:
                if word != "typed" and equal(ours, theirs, "exact"):
                    assert equal(ours, theirs, word), (word, ours, theirs)


@pytest.mark.parametrize("pool", NEAR)
def test_lenient_lets_pass_what_each_of_its_words_does(pool: str) -> None:
    lenient = load_policy("lenient")
    words = [word for word in lenient.rules[0].compare if word in LEAF_NORMALISERS]
    for ours in NEAR[pool]:
        for theirs in NEAR[pool]:
            loose = [word for word in words if equal(ours, theirs, word)]
            assert not loose or diff(one(ours), one(theirs), lenient).same, (loose, ours, theirs)


@examples(200)
@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["", "0", "00"]),
       st.integers(2**53, 2**200), st.integers(1, 100))  # fmt: skip
def test_a_number_is_itself_as_text_and_no_other(number: float, zeros: str, large: int, step: int) -> None:
    point = "" if type(number) is int or "e" in repr(number) else zeros
    assert equal(f"{number!r}{point}", number, "numbers")
    assert equal(f"{large}.0", large, "numbers")
    assert not equal(f"{large + step}.0", large, "numbers")
    assert not equal(f"{large}.0", f"{large + step}.0", "numbers")


decimals = st.from_regex(r"\A[+-]?(?:[0-9]{1,4}(?:\.[0-9]{0,3})?|\.[0-9]{1,3})(?:[eE][+-]?[0-9]{1,2})?\Z")


@examples(400)
@given(decimals, decimals)
@example("1e22", "10000000000000000000000")
def test_numbers_are_equal_when_their_decimals_are(ours: str, theirs: str) -> None:
    assert equal(ours, theirs, "numbers") is (Fraction(ours) == Fraction(theirs))


def test_no_power_is_written_out() -> None:
    for text in (
        "1e999999999", "-1e999999999999", "1e-999999999", "1e" + "9" * 4000, "1e-" + "9" * 4000,
        "0e" + "9" * 4000, "0." + "0" * 4000 + "1", "9" * 4301, "9" * 1_000_000, "1" + "0" * 4000 + "e300",
    ):  # fmt: skip
        assert len(repr(normalise_number(text))) <= len(text) + 20
        assert equal(text, text, "numbers")
        assert not equal(text, "7", "numbers")


@examples(300)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), st.sampled_from(["NFC", "NFD"]))
def test_canonical_forms_and_case_do_not_count(text: str, form: Any) -> None:
    other = unicodedata.normalize(form, text)
    for fold in (casefold, remove_blanks):
        assert fold(other) == fold(text)
        assert fold(fold(text)) == fold(text)
        assert fold(text.casefold()) == fold(text)


def test_every_blank_is_a_blank() -> None:
    for blank in filter(str.isspace, map(chr, range(0x110000))):
        assert equal(f"New{blank}York", "new york", "casefold"), blank
        assert equal(f"New{blank}York", "NewYork", "blankless"), blank


DAYS, MONTHS = [*calendar.day_name], [*calendar.month_name][1:]
ENDINGS = {1: "st", 21: "st", 31: "st", 2: "nd", 22: "nd", 3: "rd", 23: "rd"}
FORMS = TABLES["FORMS"]
ALONE = ("", "T00:00:00", " 00:00:00", "T00:00", "T00:00:00.000Z", " 00:00:00 GMT", "T00:00:00+00:00")
day = st.dates(date(1000, 1, 1))


def written(day: date, form: str) -> str:
    month, th = MONTHS[day.month - 1], ENDINGS.get(day.day, "th")
    return form.format(y=day.year, m=day.month, d=day.day, month=month, short=month[:3], th=th)


@examples(300)
@given(day, st.sampled_from(FORMS), st.sampled_from(["", "{}, ", "{} ", "{:.3} ", "{:.3}., "]),
       st.sampled_from(ALONE), st.sampled_from([str, str.upper, str.lower]), st.integers(1, 6))  # fmt: skip
def test_a_date_reads_back_in_every_form_and_of_another_weekday_is_none(
    day: date, form: str, named: str, midnight: str, case: Any, off: int
) -> None:
    text = named.format(DAYS[day.weekday()]) + written(day, form) + midnight
    assert normalise_date(case(text)) == day.isoformat()
    text = f"{DAYS[(day.weekday() + off) % 7]}, {written(day, form)}"
    assert normalise_date(text) == text


@examples(100)
@given(day, st.sampled_from(["{d}/{m}/{y}", "{m}/{d}/{y}", "{d:02}.{m:02}.{y}", "{m}-{d}-{y}"]))
def test_a_day_and_a_month_are_never_guessed(day: date, form: str) -> None:
    text = written(day, form)
    certain = day.day > 12 or day.day == day.month
    assert normalise_date(text) == (day.isoformat() if certain else text)


def test_only_days_that_there_are_are_dates() -> None:
    """Every text of eight digits around the ends of months, against the calendar."""
    for year in (1900, 2000, 2023, 2024):
        there = {(date(year, 1, 1) + timedelta(at)).isoformat() for at in range(366)}
        for month in range(14):
            for number in range(33):
                iso = f"{year}-{month:02}-{number:02}"
                wanted = iso if iso in there and iso[:4] == str(year) else iso.replace("-", "")
                assert normalise_date(iso.replace("-", "")) == wanted


def test_an_ordinal_has_its_own_ending() -> None:
    for ending in ("st", "nd", "rd", "th"):
        for number in range(1, 32):
            text = f"{number}{ending} May 2024"
            right = ENDINGS.get(number, "th") == ending
            assert normalise_date(text) == (f"2024-05-{number:02}" if right else text)


CLOCKS = [
    "{h:02}:{m:02}", "{h}:{m:02}:00", "{h12}:{m:02} {half}", "{h12:02}:{m:02}:00 {half}",
    "{h12}:{m:02}{half}",
]  # fmt: skip
HALVES = [("am", "pm"), ("a.m.", "p.m."), ("AM", "PM"), ("a", "p"), ("A.M", "P.M")]


@examples(200)
@given(st.times(), st.sampled_from(CLOCKS), st.sampled_from(HALVES))
def test_a_time_reads_back_in_every_form(at: time, form: str, halves: tuple[str, str]) -> None:
    text = form.format(h=at.hour, m=at.minute, h12=(at.hour + 11) % 12 + 1, half=halves[at.hour > 11])
    assert normalise_time(text) == f"{at:%H:%M}"


@examples(300)
@given(st.sampled_from([case["written"] for case in CASES if type(case["written"]) is str]), st.data())
def test_a_form_is_read_alike_when_it_is_read_again(text: str, data: st.DataObject) -> None:
    """Forms are fixed points, of damaged text as well."""
    at = data.draw(st.integers(0, len(text)))
    piece = data.draw(st.sampled_from(["", "0", "T", " ", ".", "\u00a0", "-", "é"]))
    for name in ("casefold", "blankless", "numbers", "booleans", "date", "time"):
        read = LEAF_NORMALISERS[name](text[:at] + piece + text[at + 1 :])
        assert LEAF_NORMALISERS[name](read) == read
