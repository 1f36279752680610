"""What a benchmark is: all that the common code asks of one.

Each package of this folder exports its own as ``BENCHMARK``; :mod:`.registry` lists the packages. The
functions of a benchmark import what they run when they are called: looking at one costs next to nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from planner_eval.base.errors import (
    FUNCTION,
    MAPPING,
    NAME,
    PATH,
    InputError,
    expect,
    expect_or_none,
    instance_of,
)
from planner_eval.base.errors import NAMES as LIST_OF_NAMES
from planner_eval.base.resources import deferred, load
from planner_eval.base.text import closest_name

if TYPE_CHECKING:
    import os
    from contextlib import AbstractContextManager

    from planner_eval.benchmarks.asking import Asking
    from planner_eval.benchmarks.datasets.published import Sample
    from planner_eval.benchmarks.judging import Judge, PromptFile
    from planner_eval.benchmarks.layouts import ChartSpec
    from planner_eval.benchmarks.report import Cell, Records, Report, Run, Scorer
    from planner_eval.benchmarks.score import Scored
    from planner_eval.catalogs.catalog import Catalog
    from planner_eval.plan.model import Plan
    from planner_eval.reading.files.files import PlanFile


VARIANTS = ("official", "corrected")
"""As the published code computes it; as the paper defines it."""


class Table(NamedTuple):
    """A further table: its title and its rows, cells by column."""

    title: str
    rows: Sequence[Mapping[str, Any]]


Details: TypeAlias = Iterator[Table]


class Explanation(NamedTuple):
    """What a page shows of an answer beside its verdicts and figures; see :mod:`.page`.

    Args:
        pred: The plan that was answered, where there is one.
        gold: The gold plan that it is compared with.
        question: A text, or messages; the sample's query when None.
        message: What the published code says of it, in full where the row has the first of several messages.
        fields: What answers can be chosen by, beside their category.
        sections: What else is shown, as JSON data: a ``title``, with ``text``, or ``heads`` and ``rows`` of a
            mark and cells, or ``turns``.
        reply: The answer as it was recorded, beside plan and sections; None where its text is the plan's.
    """

    pred: Plan | None = None
    gold: Plan | None = None
    question: Any = None
    message: str = ""
    fields: Mapping[str, str] = {}
    sections: Sequence[Mapping[str, Any]] = ()
    reply: str | None = None


class Option(NamedTuple):
    """A setting that changes how answers are scored, given as text.

    Args:
        name: The keyword of the scoring functions.
        default: What holds when it is left out.
        choices: What it may be; where empty the benchmark itself refuses what it does not know.
        help: One line for a person.
        variants: The variants that know it; the others do without.
    """

    name: str
    default: str
    choices: tuple[str, ...]
    help: str
    variants: tuple[str, ...] = VARIANTS


_ENCODER = json.JSONEncoder(ensure_ascii=False)  # json.dumps makes one each time


def has_keys(*keys: str) -> Callable[[Any], bool]:
    """Whether gold is an object with all of these keys.

    >>> has_keys("API")({"API": [], "parameters": []}), has_keys("API")([])
    (True, False)
    """
    return lambda gold: isinstance(gold, dict) and all(key in gold for key in keys)


def all_have_keys(*keys: str) -> Callable[[Any], bool]:
    """Whether gold is a list, not empty, of objects with all of these keys."""
    fits = has_keys(*keys)
    return lambda gold: isinstance(gold, list) and bool(gold) and all(map(fits, gold))


def as_json(content: Any) -> str:
    """A structured answer as the text that a scorer reads: JSON."""
    return _ENCODER.encode(content)


class Benchmark(NamedTuple):
    """One benchmark.

    Args:
        name: Its package in this folder.
        title: As its paper spells it.
        read: The samples that a folder of the published files holds, of every part that is there;
            DatasetError where the files are not there or cannot be read.
        read_file: The samples of one of the published files.
        fits: Whether a sample's gold has the shape of this benchmark's.
        signs: Fields one of which stands in the beginning of each of its files of gold.
        scorer: How a variant scores answers, given the variant and its options, ``judge`` where the benchmark
            is judged, and ``run`` where it has a runner; the function of this name in the package's
            ``official`` or ``corrected`` where left out.
        paper: The cells of the paper's tables of the data, in its order.
        difference: Why figures of the two variants differ where neither's own note says so.
        options: What scoring can be told.
        judged: A judge decides what rules cannot; what it is asked stands in the package's ``prompts``.
        prompt_files: Gives of each task of the judge the file of prompts that takes our wording's place.
        runner: Opens what runs answers, from a specification of tools and a ``level`` of isolation; None
            where answers are not run.
        details: What the paper shows beside its main figures; None where there is nothing.
        charts: Its charts by name, the first is made when none is named; None where there are none.
        result_file: Its published code's own result file of answers, given the judge; None where it is not
            written.
        gold_text: The answer that repeats a sample's gold; None where the right answer is free text.
        gold_of: The gold of a sample whose right answer would be another plan; None where it holds more than
            a plan.
        notations: The notations that answers are asked for in; any where empty.
        nothing: The text that says that a model answered nothing.
        gold_beside: Fields in which its own files keep gold: always, or where the field named beside them
            stands in the file too.
        answer_text: A structured answer as the text that the scorer reads.
        answer_beside: Fields of an answer's record that say more of it; `answer_text` gets them, and the
            answer as ``text``, where an answer in words has one of them beside it.
        reads_messages: Its scorers take messages themselves; those of others get a message's words.
        catalog: Reads its tools, from decoded JSON and a name, where :mod:`planner_eval.catalogs` does not
            know their format.
        read_results: Reads a path that is its own runner's folder of results, or a file in there; gives None
            for all others. None where its results are files as any others are.
        explain: Of each record, in order, what a page shows of it; takes the options. None where plans and
            figures say it all.
        answer_texts: All answers of a file as such texts, where only the file shows how they were asked for:
            what it holds is scored as it is written, turns and words about failures included. Takes the
            answers, and of each record the field ``mode``, which runs of ``predict`` have.
        answer_content: What its own runner leaves of an answer in messages, given that and the sample's id;
            AnswerError where there is none. None where `answer_texts` is.
        asking: How its own runner asks a model; None where the pipelines of ``models`` ask.
        read_asked: The samples of a folder that count where these ids were answered; all where None.
        several: Whether these options have every sample answered several times.
        lower: The figures of which less is better, as patterns of their names.
        result_files: What its own runner calls its files, as a pattern, by which ``score`` and ``compare``
            know whose they are; "" where they are called anything.
        pipelines: The pipelines that ask by its own rules, the first where none is named; see `asking`.
        sampling: What its own runner asks with; None where :mod:`planner_eval.models` says it.
        turned: Its rows have the figures of :mod:`.turns`.
    """

    name: str
    title: str
    read: Callable[[Path], Iterator[Sample]]
    read_file: Callable[[Path], Iterator[Sample]]
    fits: Callable[[Any], bool]
    signs: tuple[str, ...]
    paper: Callable[[Sequence[Sample]], Iterator[Cell]]
    difference: str
    scorer: Callable[..., Scorer] | None = None
    options: tuple[Option, ...] = ()
    judged: bool = False
    prompt_files: Callable[[], Mapping[str, PromptFile]] | None = None
    runner: Callable[..., AbstractContextManager[Run]] | None = None
    details: Callable[[Scored, Run | None], Details] | None = None
    charts: Callable[[], Mapping[str, ChartSpec]] | None = None
    result_file: Callable[[Records, Judge | None], str] | None = None
    gold_text: Callable[[Sample], str | None] = lambda sample: as_json(sample.gold)
    gold_of: Callable[[Sample, Plan], Any] | None = None
    notations: frozenset[str] = frozenset()
    nothing: str = ""
    gold_beside: Mapping[str, str] = {}
    answer_text: Callable[[Any], str] = as_json
    answer_beside: tuple[str, ...] = ()
    reads_messages: bool = False
    catalog: Callable[[Any, str], Catalog] | None = None
    read_results: Callable[[str], PlanFile | None] | None = None
    explain: Callable[..., Iterator[Explanation]] | None = None
    answer_texts: Callable[[Sequence[Any], Sequence[Any]], list[str]] | None = None
    answer_content: Callable[[Any, str | None], Any] | None = None
    asking: Callable[[], Asking] | None = None
    read_asked: Callable[[Path, Collection[str]], Iterator[Sample]] | None = None
    several: Callable[[Mapping[str, str]], bool] = lambda options: False
    lower: tuple[str, ...] = ()
    result_files: str = ""
    pipelines: tuple[str, ...] = ()
    sampling: Mapping[str, Any] | None = None
    turned: bool = False

    @property
    def executed(self) -> bool:
        """Answers can be run."""
        return self.runner is not None

    def less_is_better(self, figure: str) -> bool:
        """Whether a figure counts what is wrong, so that less of it is better."""
        return any(fnmatchcase(figure, pattern) for pattern in self.lower)

    def score(
        self,
        variant: str,
        records: Records,
        *,
        judge: Judge | None = None,
        run: Run | None = None,
        **options: str,
    ) -> Report:
        """Score answers under one variant.

        Args:
            variant: One of :data:`VARIANTS`.
            records: Samples of this benchmark's reader, each with the text that a model answered.
            judge: Decides what rules cannot, where :attr:`judged`; passed over elsewhere.
            run: Runs answers, where :attr:`executed`; passed over elsewhere.
            options: By name, see :attr:`options`; those that only the other variant knows are passed over.

        Raises:
            InputError: no such variant or option, or a value that an option cannot have.
        """
        if variant not in VARIANTS:
            raise InputError(f"there is no variant {variant!r}; expected {' or '.join(VARIANTS)}")
        chosen: dict[str, Any] = self.checked(variant, options)
        if self.judged:
            chosen["judge"] = judge
        if self.executed:
            chosen["run"] = run
        return self.scorer_of(variant, **chosen).report(self.name, variant, records)

    def scorer_of(self, variant: str, **options: Any) -> Scorer:
        """How a variant scores answers, with options that it knows."""
        make = self.scorer or partial(make_scorer, self.name)
        return make(variant, **options)

    def scorers(self, variants: Iterable[str], settings: Mapping[str, str]) -> dict[str, Scorer] | None:
        """How variants score answers in parts; None where one of them needs all together."""
        scorers = {name: self.scorer_of(name, **self.checked(name, settings)) for name in variants}
        return scorers if all(scorer.apart for scorer in scorers.values()) else None

    def checked(self, variant: str, options: Mapping[str, str]) -> dict[str, Any]:
        """The options that a variant knows, by name.

        Raises:
            InputError: no such option, or a value that an option cannot have.
        """
        declared = {option.name: option for option in self.options}
        chosen = {}
        for name, value in options.items():
            if name not in declared:
                allowed = f"expected one of {', '.join(declared)}" if declared else "it has none"
                raise InputError(f"{self.title} has no option {name!r}; {allowed}")
            option = declared[name]
            if option.choices and value not in option.choices:
                allowed = ", ".join(option.choices)
                raise InputError(f"{self.title}'s option {name!r} is one of {allowed}, not {value!r}")
            if variant in option.variants:
                chosen[name] = value
        return chosen

    def tables(self, samples: Iterable[Sample]) -> list[Cell]:
        """The paper's tables of the data, each printed cell beside the one that samples give.

        Args:
            samples: Of this benchmark's reader; any part of the data.
        """
        return list(self.paper(list(samples)))


def deferred_fields(package: str, **targets: str) -> dict[str, Any]:
    """Fields of a benchmark that stand in modules of its package, imported when they are called.

    Args:
        package: The package.
        targets: Of each field its module and name there, as ``"module:name"``.

    >>> deferred_fields("os", read="path:basename")["read"]("a/b")
    'b'
    """
    return {field: deferred(f"{package}.{target}") for field, target in targets.items()}


# ----------------------------------------------------------------------
# The benchmarks by name, each with the same entries: read its data, score answers, give its paper's tables.
#
#     benchmark("callnavi").read(folder)                                 samples
#     benchmark("callnavi").score("official", records, task="routing")   what the published code says of them
#     benchmark("callnavi").score("corrected", records)                  what the paper says
#     benchmark("callnavi").tables(samples)                              the paper's cells beside our own
#
# A new benchmark is a package of this folder that exports ``BENCHMARK``, and its name in :data:`NAMES`.
_FOLDER = "planner_eval.benchmarks"
NAMES = ("appbench", "nestful", "callnavi", "complexfuncbench", "functionchat", "bfcl")
"""The packages of this folder that hold a benchmark."""


def make_scorer(name: str, variant: str, **options: Any) -> Scorer:
    """What the function ``scorer`` of a variant gives, in the package of a benchmark; imported now."""
    scorer: Scorer = load(f"{_FOLDER}.{name}.{variant}:scorer")(**options)
    return scorer


def score_functions(name: str) -> tuple[Callable[..., Report], Callable[..., Report]]:
    """The functions ``score_official`` and ``score_corrected`` of a package: reports of records.

    They take the options of the package's scorers.

    Args:
        name: Its package in this folder.
    """

    def score(variant: str, records: Records, **options: Any) -> Report:
        return make_scorer(name, variant, **options).report(name, variant, records)

    return partial(score, "official"), partial(score, "corrected")


class _Benchmarks(Mapping[str, Benchmark]):
    """The benchmarks by name; a package is imported when its benchmark is asked for."""

    def __getitem__(self, name: str) -> Benchmark:
        if name not in NAMES:
            raise KeyError(name)
        loaded = import_module(f"{_FOLDER}.{name}").BENCHMARK
        assert isinstance(loaded, Benchmark)
        return loaded

    def __contains__(self, name: object) -> bool:
        return name in NAMES

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)


BENCHMARKS: Mapping[str, Benchmark] = _Benchmarks()
"""The benchmarks by name."""


def result_files() -> dict[str, str]:
    """What the runners of benchmarks call their files, by benchmark, as patterns."""
    return {name: entry.result_files for name, entry in BENCHMARKS.items() if entry.result_files}


def asking_of(name: str) -> Asking | None:
    """How a benchmark's own runner asks; None where no benchmark of that name has rules of its own."""
    make = BENCHMARKS[name].asking if name in BENCHMARKS else None
    return None if make is None else make()


def catalog_reader(name: str) -> Callable[[Any, str], Catalog] | None:
    """How a benchmark's own catalog format is read; None where no benchmark of that name has one."""
    return BENCHMARKS[name].catalog if name in BENCHMARKS else None


def benchmark(name: str) -> Benchmark:
    """The benchmark of a name.

    Raises:
        InputError: there is none; names the closest.

    >>> benchmark("appbench").title
    'AppBench'
    """
    expect(NAME, benchmark=name)
    if name in BENCHMARKS:
        return BENCHMARKS[name]
    close = closest_name(name.lower().replace("-", ""), BENCHMARKS)
    hint = f"did you mean {close}?" if close else f"expected one of {', '.join(BENCHMARKS)}"
    raise InputError(f"there is no benchmark {name!r}; {hint}")


# ----------------------------------------------------------------------
# How a benchmark judges answers: what the public functions of benchmarks take as ``rules``.
class BenchmarkRules(NamedTuple):
    """How a published benchmark judges answers.

    Args:
        variants: ``"official"``, as its code computes, ``"corrected"``, as its paper means, or both; of
            several the last counts where there is room for one.
        judge: Decides what rules cannot, where the benchmark knows a judge.
        prompts: The folder of the prompts that the judge is asked with; when left out the published ones
            where they lie beside the data, else our own.
        run: Runs answers, where the benchmark does: a :class:`planner_eval.execution.NestfulRunner`.
        settings: The benchmark's own options, e.g. ``{"task": "routing"}``.

    >>> import planner_eval as pe
    >>> rules = pe.BenchmarkRules(["corrected"], settings={"task": "routing"})
    >>> answers, gold = "data/samples/answers/callnavi.jsonl", "data/samples/callnavi"
    >>> [*pe.score_benchmark(answers, gold, "callnavi", rules=rules).reports]
    ['corrected']
    """

    variants: Sequence[str] = VARIANTS
    judge: Judge | None = None
    prompts: str | os.PathLike[str] | None = None
    run: Any = None
    settings: Mapping[str, str] = {}


DEFAULT_RULES = BenchmarkRules()
"""Both variants, without a judge."""


def check_rules(rules: Any) -> BenchmarkRules:
    """The rules, a single variant as a list of one; what says nothing of how a benchmark judges is refused.

    Raises:
        InputError: says what is expected.
    """
    expect(instance_of(BenchmarkRules, "pe.BenchmarkRules(…)"), rules=rules)
    expect(LIST_OF_NAMES, variants=rules.variants)
    variants = (rules.variants,) if isinstance(rules.variants, str) else rules.variants
    for variant in variants:
        if variant not in VARIANTS:
            raise InputError(f"there is no variant {variant!r}; expected {' or '.join(VARIANTS)}")
    expect_or_none(PATH, prompts=rules.prompts)
    expect_or_none(FUNCTION, run=rules.run)
    expect(MAPPING, settings=rules.settings)
    checked: BenchmarkRules = rules
    return checked if variants is checked.variants else checked._replace(variants=variants)
