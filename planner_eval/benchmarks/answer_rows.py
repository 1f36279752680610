"""Answers to a benchmark as rows: which answers which sample, what was found out, and what that comes to."""

from __future__ import annotations

import json
import sys
from array import array
from binascii import a2b_base64, b2a_base64
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from planner_eval.benchmarks.answers import Answer, answers_of
from planner_eval.benchmarks.benchmark import Benchmark, benchmark
from planner_eval.benchmarks.datasets.published import Sample
from planner_eval.benchmarks.report import Outcome, SampleScore, Scorer, Stream, make_row
from planner_eval.benchmarks.score import guess_notation
from planner_eval.reading.files.record import Record, is_lazy
from planner_eval.results.runs.model import LazyPairs, Pair

NO_RESULT = 2**32 - 1
"""Stands for what was found out where nothing could be: the sample itself ends the program, or hangs."""


class AnswerPairs(LazyPairs):
    """Each sample with the record of its answer, then the records that answer none; read when asked for.

    A record beside a sample that is known by its id alone repeats an answer.

    Args:
        records: The file of answers.
        samples: What was asked.
        positions: Of each sample which record answers it; -1 for none.
        unmatched: The other records.
        repeated: Those of them whose sample has an answer.
    """

    def __init__(
        self,
        records: Sequence[Record],
        samples: Sequence[Sample],
        positions: array[int],
        unmatched: array[int],
        repeated: frozenset[int],
    ) -> None:
        self.records, self.samples, self.places = records, samples, positions
        self.rest, self.repeated = unmatched, repeated
        super().__init__(len(samples) + len(unmatched))

    def __iter__(self) -> Iterator[Pair]:
        count = len(self.samples)
        positions = self.places[self.first : self.end]
        unmatched = self.rest[max(0, self.first - count) : max(0, self.end - count)]
        answering = [*(p for p in positions if p >= 0), *unmatched]
        records = iter(
            self.records.of(answering) if is_lazy(self.records) else map(self.records.__getitem__, answering)
        )
        for number, position in enumerate(positions, self.first):
            sample = self.samples[number]
            yield next(records) if position >= 0 else None, Record("", number, sample.id, sample)
        for position in unmatched:
            record = next(records)
            yield record, Record("", -1, record.id, None) if position in self.repeated else None


class ResultStore:
    """What was found out about answers, in order; the same is held once.

    Args:
        scorer: Whose it is.
        data: What :meth:`data` gave.
    """

    def __init__(self, scorer: Scorer, data: Mapping[str, Any] | None = None) -> None:
        self.scorer = scorer
        self.texts: list[str] = list(data["found"]) if data else []
        self.numbers = {text: number for number, text in enumerate(self.texts)}
        self.codes = array("I")
        if data:
            self.codes.frombytes(a2b_base64(data["codes"]))
            if sys.byteorder == "big":
                self.codes.byteswap()
        self._rows: dict[int, SampleScore] = {}
        self._row_texts: dict[int, str] = {}
        self._encode = json.JSONEncoder(separators=(",", ":")).encode

    def add(self, outcome: Outcome) -> int:
        """Add what was found out about the next answer; gives the number of its like."""
        code = self._number(self._encode(outcome))
        self.codes.append(code)
        if code not in self._rows:
            self._rows[code] = make_row("", outcome)
        return code

    def _number(self, text: str) -> int:
        number = self.numbers.setdefault(text, len(self.texts))
        if number == len(self.texts):
            self.texts.append(text)
        return number

    def extend(self, other: ResultStore) -> None:
        """Add what was found out about the answers that come next."""
        numbers = {number: self._number(text) for number, text in enumerate(other.texts)}
        numbers[NO_RESULT] = NO_RESULT
        self.codes.extend(numbers[code] for code in other.codes)

    def data(self) -> dict[str, Any]:
        """As JSON data."""
        codes = array("I", self.codes)
        if sys.byteorder == "big":
            codes.byteswap()
        return {"found": self.texts, "codes": b2a_base64(codes.tobytes(), newline=False).decode()}

    @cached_property
    def known(self) -> list[Any]:
        """What there is, each once; asked for when all is added."""
        return [self.scorer.load(json.loads(text)) for text in self.texts]

    def row(self, code: int) -> SampleScore:
        """The row of what has a number, without its id."""
        if code == NO_RESULT:
            return SampleScore("", False, error="the program itself failed at its gold")
        row = self._rows.get(code)
        if row is None:
            row = self._rows[code] = make_row("", self.known[code])
        return row

    def row_text(self, code: int) -> str:
        """What the row of what has a number says beside its id, as JSON."""
        if code not in self._row_texts:
            row = self.row(code)
            figures = {
                figure.name: {"value": figure.value}
                | (
                    {}
                    if figure.denominator is None
                    else {"numerator": figure.numerator, "denominator": figure.denominator}
                )
                | ({"error": figure.error} if figure.error else {})
                for figure in row.figures
            }
            self._row_texts[code] = json.dumps({"ok": row.ok, "error": row.error, "figures": figures})
        return self._row_texts[code]


class AnswerSums:
    """What answers come to.

    Args:
        scorers: One a variant.
        data: What :meth:`data` gave.
    """

    def __init__(self, scorers: Mapping[str, Scorer], data: Mapping[str, Any] | None = None) -> None:
        stored: Mapping[str, Any] = data or {}
        seen_data = stored.get("seen", {})
        self.seen = {name: ResultStore(scorer, seen_data.get(name)) for name, scorer in scorers.items()}
        self.answers: int = stored.get("answers", 0)
        self.records: int = stored.get("records", 0)
        self.missing: list[str] = list(stored.get("missing", ()))
        self.lost: list[str] = list(stored.get("lost", ()))
        listed = ("unknown", "repeated", "broken")
        self.lists = {what: list(map(tuple, stored.get(what, ()))) for what in listed}
        self.looks: Counter[str] = Counter(stored.get("looks"))

    def extend(self, other: AnswerSums) -> None:
        """Add those of the answers that come next."""
        for name, seen in self.seen.items():
            seen.extend(other.seen[name])
        self.answers += other.answers
        self.records += other.records
        self.missing += other.missing
        self.lost += other.lost
        for what, entries in self.lists.items():
            entries += other.lists[what]
        self.looks.update(other.looks)

    def data(self) -> dict[str, Any]:
        """As JSON data."""
        return {
            "seen": {name: seen.data() for name, seen in self.seen.items()},
            "answers": self.answers,
            "records": self.records,
            "missing": self.missing,
            "lost": self.lost,
            **self.lists,
            "looks": dict(self.looks),
        }

    def listed(self, what: str) -> tuple[str, ...]:
        """Answers that are ``unknown``, ``repeated`` or ``broken``, in their file's order."""
        return tuple(message for _, message in sorted(self.lists[what], key=lambda entry: entry[0]))


@dataclass(frozen=True)
class AnswersJob:
    """How answers are scored.

    Args:
        benchmark: By which benchmark.
        variants: Under which of its variants.
        settings: Its own options.
        many: A list of texts is several answers.
        about: How answers and samples came together, which a report says.
        told: Rows say what was found out; else only whose they are.
    """

    benchmark: str
    variants: tuple[str, ...]
    settings: Mapping[str, str]
    many: bool
    about: Mapping[str, Any]
    told: bool

    @property
    def kind(self) -> str:
        """What the run is called."""
        return "score"

    def options(self) -> dict[str, Any]:
        """All that decides what the rows are, as JSON data."""
        return {
            "benchmark": self.benchmark,
            "variants": list(self.variants),
            "settings": dict(self.settings),
            "many": self.many,
            "about": dict(self.about),
        }

    def fold(self, data: Any = None) -> AnswerSums:
        """Sums over no answers, or those that were kept as data."""
        return AnswerSums(self.scorers, data)

    @cached_property
    def bench(self) -> Benchmark:
        """The benchmark."""
        return benchmark(self.benchmark)

    @cached_property
    def scorers(self) -> dict[str, Scorer]:
        """How each variant scores."""
        scorers = self.bench.scorers(self.variants, self.settings)
        assert scorers is not None
        return scorers

    def __reduce__(self) -> tuple[Any, ...]:
        values = (self.benchmark, self.variants, self.settings, self.many, self.about, self.told)
        return AnswersJob, values

    def rows(self, pairs: Iterable[Pair], fold: AnswerSums) -> Iterator[str]:
        """A row a pair, in order, as JSON; adds each to the sums."""
        for pred, sample_record in pairs:
            answers = [] if pred is None else answers_of(pred, self.bench, many=self.many)
            fold.answers += len(answers)
            fold.lists["broken"] += [
                (pred.position, f"{answer.where}: {answer.error}")
                for answer in answers
                if pred and answer.error
            ]
            if sample_record is None or sample_record.position < 0:
                assert pred is not None
                state = "unknown" if sample_record is None else "repeated"
                if pred.id is not None:
                    fold.lists[state] += [(pred.position, pred.id)] * len(answers)
                yield json.dumps({"id": pred.id, "state": state, "line": pred.line})
                continue
            if pred is not None and pred.id is not None:
                fold.lists["repeated"] += [(pred.position, pred.id)] * (len(answers) - 1)
            yield self._row(sample_record, answers, fold)

    def _row(self, sample_record: Record, answers: list[Answer], fold: AnswerSums) -> str:
        """The row of a sample."""
        fold.records += 1
        sample, answer = sample_record.source, answers[0] if answers else None
        state = "missing" if answer is None else "broken" if answer.error else "answered"
        if answer is None:
            fold.missing.append(sample_record.id or "")
        head = f'{{"id": {json.dumps(sample_record.id)}, "state": '
        if sample is None:
            fold.lost.append(sample_record.id or "")
            for seen in fold.seen.values():
                seen.codes.append(NO_RESULT)
            return f'{head}"lost", "error": {json.dumps(str(sample_record.error))}}}'
        text = self.bench.nothing if answer is None or answer.text is None else answer.text
        fragments, solved = [], False
        for name, seen in fold.seen.items():
            code = seen.add(self.scorers[name].judge(sample, text))
            solved = solved or (name == "official" and seen.row(code).ok)
            if self.told:
                fragments.append(f', "{name}": {seen.row_text(code)}')
        # What the published code solves is in the benchmark's own notation.
        if not solved and (look := guess_notation(self.bench, text)) is not None:
            fold.looks[look] += 1
        return f'{head}"{state}"{"".join(fragments)}}}'


# ---------------------------------------------------------------- read when they are asked for
class SampleIds(Stream[str]):
    """The ids of a run's samples, read from its rows when they are asked for.

    Args:
        path: The file, a line a row; those of samples come first.
        size: How many samples there are.
        keeps: What keeps the file there.
    """

    def __init__(self, path: str, size: int, keeps: object = None) -> None:
        self.path, self.size, self.keeps = path, size, keeps

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[str]:
        decode, start = json.JSONDecoder().raw_decode, len('{"id": ')
        with open(self.path, encoding="utf-8") as lines:
            for line in islice(lines, self.size):
                yield decode(line, start)[0]


class SampleResults(Stream[tuple[str, Any]]):
    """What was found out about each sample that could be scored, with its id."""

    def __init__(self, ids: Sequence[str], seen: ResultStore) -> None:
        self.ids, self.seen = ids, seen

    def __len__(self) -> int:
        return len(self.seen.codes) - self.seen.codes.count(NO_RESULT)

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        values = self.seen.known
        for name, code in zip(self.ids, self.seen.codes, strict=True):
            if code != NO_RESULT:
                yield name, values[code]


class SampleRows(Stream[SampleScore]):
    """The row of each sample."""

    def __init__(self, ids: Sequence[str], seen: ResultStore) -> None:
        self.ids, self.seen = ids, seen

    def __len__(self) -> int:
        return len(self.seen.codes)

    def __iter__(self) -> Iterator[SampleScore]:
        row = self.seen.row
        for name, code in zip(self.ids, self.seen.codes, strict=True):
            like = row(code)
            yield SampleScore(name, like.ok, like.figures, like.error)
