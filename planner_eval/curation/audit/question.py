"""What a question and its record say: whether a value or a name is said, and where."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import accumulate, islice, pairwise

from planner_eval.base.limits import Span
from planner_eval.comparison.policy.values import normalise_boolean, normalise_number
from planner_eval.curation.audit.dates import Moments, date_of, moment_ground, moments, read_moment
from planner_eval.curation.audit.literals import (
    MIN_DIGITS,
    Amount,
    amounts,
    find_conversion,
    find_stated_number,
    find_sum_of_counts,
    find_whole_code,
    is_code,
    is_composed,
    is_within_code,
)
from planner_eval.curation.audit.quantities import find_difference, find_implied_number, find_quantity
from planner_eval.curation.audit.words import (
    FUNCTION_WORDS,
    MAX_MENTIONS,
    OPPOSITES,
    Ground,
    Word,
    aliases,
    are_related_forms,
    find_telling_words,
    is_denied,
    is_english,
    is_readable,
    is_subsequence,
    words,
)
from planner_eval.plan.model import Value

# ----------------------------------------------------------------------
# Whether a question says a value, and where: the question prepared once, asked of many values.
_MAX_QUESTION_CHARACTERS = 200_000
"""Of a question no more characters are looked at."""
_MAX_VALUE_CHARACTERS = 20_000
"""Of a value no more characters are looked at."""
_MAX_VALUE_WORDS = 200
"""Of a value no more words are looked for one by one."""
_MAX_NUMBER = 1e300
_MIN_JOINED_CHARACTERS = 4
"""Of fewer characters words are not looked for across others."""
_ADDRESS = re.compile(
    r"^\s*(?:[\w.+-]{1,100}@[\w-]{1,100}(?:\.[\w-]{1,100}){1,6}|(?:https?://|www\.)\S+)\s*$"
)
"""An address of mail or of the web."""
_DOTTED_INITIALS = re.compile(r"\b[A-Z](?:\.[A-Z]){1,5}+\b")
"""Initials with points."""
_MIN_WRITTEN_TIME = 12
"""A day and time of so many characters is said where it stands as it is written."""
_CITY_AND_STATE = re.compile(r"([A-Z][\w .'’-]{2,40}), ?[A-Z]{2}")
_SHIFT = re.compile(r"(?i)\b(?:ago|earlier|later|older|younger|before|after|more than|less than|since)\b")
_RANGE = re.compile(r"\d{1,9}\s?[-–]\s?\d{1,9}")
_MONTH_OF_YEAR = re.compile(r"(0?[1-9]|1[0-2])/(?:20)?(\d\d)")
"""A month of a year, as cards write it: "12/25"."""
_MAX_KINDRED_WORDS = 100
"""Of words that begin alike no more are tried for one family."""


class Question:
    """A question, read once.

    Args:
        text: What is asked; of a conversation, all that is said in it.

    >>> question = Question("Tickets from NYC for me and my wife, March 5th at half past six in the evening")
    >>> [bool(question.grounds(one)) for one in (2, "New York", "2019-03-05", "18:30", "Boston")]
    [True, True, True, True, False]
    """

    def __init__(self, text: str) -> None:
        self.text = text[:_MAX_QUESTION_CHARACTERS]
        self._cut = len(text) > _MAX_QUESTION_CHARACTERS

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """Its words."""
        return tuple(words(self.text))

    @cached_property
    def spaced(self) -> str:
        """Its text with single blanks."""
        return " ".join(self.text.split())

    @cached_property
    def amounts(self) -> tuple[Amount, ...]:
        """The numbers that it says; digits within a code are none."""
        outside_codes = (
            amount for amount in amounts(self.text) if not is_within_code(self.text, amount.span)
        )
        first_amounts = tuple(islice(outside_codes, MAX_MENTIONS + 1))
        self._cut = self._cut or len(first_amounts) > MAX_MENTIONS
        return first_amounts[:MAX_MENTIONS]

    @cached_property
    def moments(self) -> Moments:
        """The days and times that it says."""
        return moments(self.text)

    @cached_property
    def english(self) -> bool:
        """Whether its numbers, days and inflections can be read."""
        return is_readable(self.words)

    @cached_property
    def plain(self) -> bool:
        """Whether it is English beyond doubt, so that what it lacks may be held against gold."""
        return is_english(self.words)

    def grounds(self, value: Value, name: str = "") -> Ground | None:
        """What grounds a literal.

        Args:
            value: A text, a number, a flag or None.
            name: The argument's name, whose words ground a flag.

        Returns:
            None where the question does not mention it.
        """
        if value is None:
            return Ground("empty", sure=False)
        flag = normalise_boolean(value)
        if isinstance(value, bool) or flag != value:
            ground = self._flag(bool(flag), name)
            written = list(words(value)) if isinstance(value, str) and ground is None else []
            span = self._verbatim(written) if written else None
            return ground if span is None else Ground("text", span)
        read = normalise_number(value) if isinstance(value, str) else value
        ground = self._number(read, value) if isinstance(read, (int, float)) else self._text(str(value))
        return Ground("unread", sure=False) if ground is None and self._cut else ground

    def _text(self, value: str) -> Ground | None:
        text = value[:_MAX_VALUE_CHARACTERS]
        value_words = list(words(text))
        if not any(word.form.isalnum() for word in value_words):
            return Ground("empty", sure=False)
        if _ADDRESS.search(text):
            return self._whole(text)
        moment = read_moment(text)
        if (written := self._written_time(text, moment)) is not None:
            return Ground("text", written)
        if moment is None and is_code(text) and not (is_composed(text) and self._has_part(text)):
            code_span = find_whole_code(text, self.text)  # it is said as a whole or not at all
            return Ground("text", code_span) if code_span is not None else self._unread(text)
        span = self._verbatim(value_words)
        if span is not None and (moment is None or not self._is_timed(span)):
            return Ground("text", span)
        if not self.english:
            return self._unread(text)
        if moment is not None:
            return moment_ground(moment, self.moments, self.amounts)
        return self._other(text, value_words)

    def _written_time(self, text: str, moment: Moments | None) -> Span | None:
        """Where a day and time stands as a program writes it, or the month of a card: "12/25"."""
        if moment is not None and len(text) >= _MIN_WRITTEN_TIME and (start := self.text.find(text)) >= 0:
            return (start, start + len(text))
        month = _MONTH_OF_YEAR.fullmatch(text.strip())
        if month is None:
            return None
        short = re.search(rf"(?<![\d/])0?{int(month[1])} ?[/-] ?(?:20)?{month[2]}(?![\d/])", self.text)
        return short.span() if short is not None else None

    def _whole(self, text: str) -> Ground | None:
        """Where an address stands, which is said as a whole or not at all."""
        spoken = re.sub(r"\s*+@\s*+", " at ", text.strip()).replace(".", " dot ")
        for spelling in (text.strip(), spoken):
            match = re.search(rf"(?<![\w@.+-]){re.escape(spelling)}(?![\w@]|[.-]\w)", self.text, re.I | re.A)
            if match is not None:
                return Ground("text", match.span())
        return None

    def _has_part(self, text: str) -> bool:
        """Whether a number that a text holds is said by itself, or both ends of a range are."""
        if _RANGE.fullmatch(text.strip()):
            ends = [float(end) for end in re.findall(r"\d+", text)]
            return all(any(amount.value == end for amount in self.amounts) for end in ends)
        text_numbers = {float(digits) for digits in re.findall(r"\d{3,}", text)}
        return any(amount.value in text_numbers for amount in self.amounts)

    def _is_timed(self, span: Span) -> bool:
        """Whether a time of day is said there, of which "pm" may be a part that the value lacks."""
        return any(
            clock.span[0] < span[1] and span[0] < clock.span[1] < span[1] + 6 for clock in self.moments.clocks
        )

    # ------------------------------------------------------------ words
    @cached_property
    def _forms(self) -> tuple[str, list[int]]:
        """The forms of the words in one line, and where each begins in it."""
        return _join([word.form for word in self.words], " ")

    @cached_property
    def _letters(self) -> tuple[str, list[int]]:
        """The words without anything between them, and where each begins."""
        return _join([word.plain for word in self.words], "")

    def _span(self, first: int, last: int) -> Span:
        return (self.words[first].span[0], self.words[last].span[1])

    @cached_property
    def _dotted(self) -> dict[str, Span]:
        """Initials with points, as one word: "D.C."."""
        return {
            match[0].replace(".", "").casefold(): match.span()
            for match in _DOTTED_INITIALS.finditer(self.text)
        }

    def _find(self, forms: Sequence[str]) -> Span | None:
        """Where words stand behind one another."""
        line, starts = self._forms
        offset = line.find(f" {' '.join(forms)} ") if any(forms) else -1
        if offset < 0:
            return self._dotted.get(forms[0]) if len(forms) == 1 else None
        first = bisect_right(starts, offset + 1) - 1
        return self._span(first, first + len(forms) - 1)

    def _verbatim(self, value_words: Sequence[Word]) -> Span | None:
        """Where a value's words stand, however they are divided."""
        if (span := self._find([word.form for word in value_words])) is not None:
            return span
        compact, (line, starts) = "".join(word.plain for word in value_words), self._letters
        offset = line.find(compact) if len(compact) >= _MIN_JOINED_CHARACTERS else -1
        if offset < 0:
            return None
        first, last = (bisect_right(starts, position) - 1 for position in (offset, offset + len(compact) - 1))
        is_numbered = len(value_words) < _MIN_JOINED_CHARACTERS and re.search(r"^[^\W\d_].*\d", compact)
        ends = self.words[last].plain == compact[starts[last] - offset :]
        is_inside = first == last and len(compact) > _MIN_JOINED_CHARACTERS and not is_numbered
        return self._span(first, last) if (starts[first] == offset and ends) or is_inside else None

    def _word(self, word: Word) -> Span | None:
        """Where a word stands, one of its family, a number that it says, or another name of it."""
        if (span := self._find((word.form,))) is not None:
            return span
        if word.plain.isalpha() and (span := self._verbatim([word])) is not None:
            return span
        if word.form.isdecimal() and len(word.form) < 15:
            return next((amount.span for amount in self.amounts if amount.value == int(word.form)), None)
        relatives = (
            candidate.span
            for candidate in self.words
            if candidate.form[:4] == word.form[:4] and are_related_forms(candidate.form, word.form)
        )
        return next(relatives, None) or self._alias((word.form,))

    def _alias(self, forms: tuple[str, ...]) -> Span | None:
        return next((span for other in aliases().get(forms, ()) if (span := self._find(other))), None)

    def _other(self, text: str, value_words: Sequence[Word]) -> Ground | None:
        """All of its words somewhere, another name of it, its initials, or a good part of it."""
        whole_span = self._alias(tuple(word.form for word in value_words)) if len(value_words) < 6 else None
        whole_span = whole_span or self._initials(text, value_words)
        if whole_span is not None:
            return Ground("words", whole_span)
        if len(text.split()) == 1 and text[:1].isalpha() and sum(c.isdecimal() for c in text) >= MIN_DIGITS:
            return None
        matter = ([word for word in value_words if word.plain not in FUNCTION_WORDS] or list(value_words))[
            :_MAX_VALUE_WORDS
        ]
        times = self._stated_times(text)
        spans = [span for word in matter if (span := times.get(word.span[0]) or self._word(word)) is not None]
        if not spans or 2 * len(spans) < len(matter):
            place = _CITY_AND_STATE.fullmatch(text)
            ground = self._text(place[1]) if place is not None else None
            return None if ground is None else ground._replace(how="part")
        hull = (min(span[0] for span in spans), max(span[1] for span in spans))
        if len(spans) == len(matter):
            return Ground("words", hull)
        # "A7B9C" does not say A7B8C, nor "5 adults" 3 adults.
        stated = self.text[max(0, hull[0] - len(text)) : hull[1] + len(text)]
        return None if _has_other_digits(text, stated) else Ground("part", hull)

    def _stated_times(self, text: str) -> dict[int, Span]:
        """Where the question says the times of day of a text in another form, by the text's offset: "3pm"."""
        stated = {t: clock.span for clock in self.moments.clocks for t in clock.times}
        clocks = moments(text, written=True).clocks if stated else ()
        return {
            offset: stated[time]
            for clock in clocks
            for time in clock.times
            if time in stated
            for offset in range(*clock.span)
        }

    def _initials(self, text: str, value_words: Sequence[Word]) -> Span | None:
        """Where a name stands in short (LA, KLIA, ATL), or what a short name stands for."""
        name, first = "".join(word.plain for word in value_words), "".join(w.plain[:1] for w in value_words)
        if len(value_words) > 1 or (name.isalpha() and len(name) > 5):
            for word in self._capitals:
                begins = len(first) > 1 and word.plain.startswith(first)
                is_initials = begins and len(word.plain) <= len(first) + 2
                abbreviates = word.plain[0] == name[:1] and is_subsequence(word.plain, name)
                if is_initials or (len(word.plain) == 3 and abbreviates):
                    return word.span
        elif 2 <= len(name) <= 5 and name.isalpha() and text.strip().isupper():
            named, letters = self._begins
            for match in islice(re.finditer(f"(?={name})", letters), _MAX_KINDRED_WORDS):
                run = named[match.start() : match.start() + len(name)]
                if all(self.text[word.span[0]].isupper() for word in run):
                    return (run[0].span[0], run[-1].span[1])
        return None

    @cached_property
    def _begins(self) -> tuple[list[Word], str]:
        """The words that initials are made of, and those."""
        named = [word for word in self.words if word.plain and word.plain not in ("of", "the", "and")]
        return named, "".join(word.plain[0] for word in named)

    @cached_property
    def _capitals(self) -> list[Word]:
        """The words in capitals, and initials with points, few of them."""
        upper = (
            word for word in self.words if len(word.plain) > 1 and self.text[slice(*word.span)].isupper()
        )
        short = (Word(name, span, name) for name, span in self._dotted.items())
        return [*islice(upper, MAX_MENTIONS), *islice(short, MAX_MENTIONS)]

    # ------------------------------------------------------------ flags, numbers
    def _flag(self, on: bool, name: str) -> Ground | None:
        if not self.english:
            return Ground("unread", sure=False)
        denied, telling = None, find_telling_words(name)
        for word in telling:
            span, other = self._word(word), self._find((OPPOSITES.get(word.plain, ""),))
            if other is not None:
                return Ground("flag", other, sure=span is None) if span or not on else None
            if span is None:
                continue
            if is_denied(self.text, span) != on or (on and "free" in name.casefold()):
                return Ground("flag", span)
            denied = span
        if not on and (denied is None or self._word(telling[0]) is None):
            return Ground("absent", sure=False)  # "a fee for entry" does not speak of a free entry
        return None

    def _number(self, read: int | float, value: Value) -> Ground | None:
        if not -_MAX_NUMBER < read < _MAX_NUMBER:
            return Ground("empty", sure=False)
        number, question_amounts = float(read), self.amounts
        if (ground := find_stated_number(number, question_amounts)) is not None:
            return ground
        written = str(value).strip().removeprefix("+")
        if written.isdecimal() and len(written) >= MIN_DIGITS:
            if (span := find_whole_code(written, self.text)) is not None:
                return Ground("text", span)
        elif (
            isinstance(value, str) and (span := self._find([word.form for word in words(value)])) is not None
        ):
            return Ground("text", span)
        if not self.english:
            return Ground("unread", sure=False)
        if number in (0, 1):
            return Ground("one", sure=False)
        ground = (
            find_sum_of_counts(number, question_amounts, self.text)
            or find_conversion(number, question_amounts, self.text)
            or find_quantity(number, self.text)
            or find_implied_number(number, self.text)
        )
        if ground is None and find_difference(number, *self._ordinals):
            return Ground("sum", sure=False)
        return ground or self._computed(number)

    def _computed(self, number: float) -> Ground | None:
        """A number that is an hour that is said, so many years from one, or a product: "2 pi"."""
        for clock in self.moments.clocks[:20]:
            if number in [time / 60 for time in clock.times]:
                return Ground("time", clock.span)
        for amount, other in pairwise(self.amounts):
            span = (amount.span[0], other.span[1])
            between = self.text[amount.span[1] : other.span[0]]
            if between in ("", " ", "*", " * ") and abs(amount.value * other.value - number) <= 1e-5 * abs(
                number
            ):
                return Ground("sum", span)
            if _SHIFT.search(self.text) and number in (
                other.value - amount.value,
                other.value + amount.value,
            ):
                return Ground("sum", span, sure=False)
        return None

    @cached_property
    def _ordinals(self) -> tuple[list[float], list[float]]:
        """Its days as ordinals, those of no year in one, and its times in minutes."""
        year = next((day.year for day in self.moments.days[:20] if day.year is not None), 2024)
        dates = (
            date_of(day._replace(year=day.year or year))
            for day in self.moments.days[:20]
            if day.day is not None and day.month is not None
        )
        times = [float(time) for clock in self.moments.clocks[:20] for time in clock.times]
        return [float(when.toordinal()) for when in dates if when is not None], times

    def _unread(self, text: str) -> Ground | None:
        """What cannot be judged of a question in another language: all but codes and addresses."""
        if self.english:
            return None
        digits = [run.strip("0") for run in re.findall(r"\d++", text)]
        code = text.isascii() and (len("".join(digits)) >= 3 or "@" in text) and read_moment(text) is None
        if code and not all(run in self.text for run in digits):
            return None
        return Ground("unread", sure=False)


def _has_other_digits(value: str, text: str) -> bool:
    """Whether a text says a value with other digits in it.

    >>> _has_other_digits("A7B8C", "cancel A7B9C"), _has_other_digits("A7B8C", "cancel A7")
    (True, False)
    """
    spellings = r"\d".join(map(re.escape, re.split(r"\d", value)))
    return spellings != re.escape(value) and bool(re.search(rf"(?<!\w){spellings}(?!\w)", text, re.I))


def _join(texts: Sequence[str], between: str) -> tuple[str, list[int]]:
    """Texts in one line, with what parts them around each, and where each begins."""
    starts = accumulate((len(text) + len(between) for text in texts), initial=len(between))
    return f"{between}{between.join(texts)}{between}", [*starts][:-1]


@lru_cache(maxsize=2)
def read_question(text: str) -> Question:
    """A question, read once for all that ask what it says."""
    return Question(text)
